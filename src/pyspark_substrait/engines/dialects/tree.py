"""Helpers for syntax trees of sqlglot: brackets, templates, and generators that leave nothing to defaults."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final, TypeVar, cast

from sqlglot import Dialect, exp
from sqlglot.errors import ParseError

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import UnsupportedPlanError

__all__ = [
    "all_of",
    "any_of",
    "as_outer",
    "column",
    "filled",
    "is_column",
    "is_longer",
    "number",
    "operand",
    "repeated",
    "sql_text",
    "type_tree",
]

_OPERATORS: Final = (exp.Binary, exp.Unary, exp.Between, exp.In, exp.AtTimeZone)


def operand(node: exp.Expression) -> exp.Expression:
    """Return an expression as an operand of an operator: in brackets, unless it needs none."""
    if isinstance(node, _OPERATORS) and not isinstance(node, exp.Paren | exp.Dot):
        return exp.Paren(this=node)
    return node


def all_of(*conditions: exp.Expression) -> exp.Expression:
    """Return the condition that all of two or more conditions are true."""
    return cast("exp.Expression", exp.and_(*conditions, copy=False))


def any_of(*conditions: exp.Expression) -> exp.Expression:
    """Return the condition that some of two or more conditions is true."""
    return cast("exp.Expression", exp.or_(*conditions, copy=False))


def number(value: int) -> exp.Expression:
    """Return an integer as it is written."""
    found = exp.Literal.number(abs(value))
    return exp.Neg(this=found) if value < 0 else found


def column(table: str, name: str) -> exp.Column:
    """Return a reference to a column of a table's alias."""
    return exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(table, quoted=True))


def as_outer(node: exp.Expression) -> exp.Expression:
    """Return a column of an enclosing query, which :func:`is_column` tells from those of the query itself."""
    node.meta["outer"] = True
    return node


def is_column(node: exp.Expression) -> bool:
    """Whether an expression is a column of a table of the query in which it stands."""
    return isinstance(node, exp.Column) and not node.meta.get("outer")


def is_longer(node: exp.Expression, most: int) -> bool:
    """Whether a tree has more than some number of nodes; 1024 characters of a constant count as one more."""
    size = 0
    for one in node.walk():
        size += 1 + (len(one.name) // 1024 if isinstance(one, exp.Literal | exp.HexString) else 0)
        if size > most:
            return True
    return False


#: the most nodes of a value that is written again
_MOST_REPEATED: Final = 2000
_Tree = TypeVar("_Tree", bound=exp.Expression)


def repeated(node: _Tree) -> _Tree:
    """Return a copy of a value, which the text needs again.

    Raises:
        UnsupportedPlanError: it is long; with each such call around it, the text would grow by a factor.
    """
    if is_longer(node, _MOST_REPEATED):
        raise UnsupportedPlanError(
            "the text would need a long value several times here",
            hint="Compute the value in a projection below this relation",
            code=Code.TARGET_EXPRESSION,
        )
    return node.copy()


_AGGREGATES: Final = frozenset(
    {"APPROX_QUANTILE", "ARGMAX", "ARGMIN", "ARG_MAX", "ARG_MIN", "GROUP_CONCAT", "JSON_AGG", "JSON_OBJECTAGG"}
    | {"LISTAGG", "MAX", "MAX_BY", "MIN", "MIN_BY", "QUANTILE", "QUANTILE_CONT", "QUANTILE_DISC", "STRINGAGG"}
    | {"STRING_AGG"}
)


@cache
def _exact(dialect: str) -> type[Dialect]:
    """Return a dialect that keeps functions as they are written, and always writes where nulls stand in an order."""
    base = Dialect.get_or_raise(dialect).__class__
    parser: Any = base.parser_class
    generator: Any = base.generator_class

    class Exact(base):  # type: ignore[misc, valid-type]
        class Parser(parser):  # type: ignore[misc]
            FUNCTIONS: Final[dict[str, Any]] = {}
            # nodes of sqlglot's own, whose arguments are no list: an aggregate couldn't get DISTINCT or ORDER BY
            FUNCTION_PARSERS: Final[dict[str, Any]] = {
                name: made for name, made in parser.FUNCTION_PARSERS.items() if name not in _AGGREGATES
            }
            STRICT_CAST = True

        class Generator(generator):  # type: ignore[misc]
            # SELECT as it is: sqlglot's own rewrites are for clauses that aren't used here
            TRANSFORMS: Final[dict[Any, Any]] = {
                kind: made for kind, made in generator.TRANSFORMS.items() if kind is not exp.Select
            }

            def ignorenulls_sql(self, expression: exp.IgnoreNulls) -> str:
                return f"{self.sql(expression, 'this')} IGNORE NULLS"  # of functions that sqlglot doesn't know, too

            def ordered_sql(self, expression: exp.Ordered) -> str:
                direction = " DESC" if expression.args.get("desc") else ""
                nulls = "FIRST" if expression.args.get("nulls_first") else "LAST"
                return f"{self.sql(expression, 'this')}{direction} NULLS {nulls}"

    return Exact


def sql_text(tree: exp.Expression, dialect: str, *, formatted: bool) -> str:
    """Return the text of a statement.

    Args:
        tree: the statement.
        dialect: sqlglot's name of the dialect.
        formatted: whether the text is indented, with a clause a line.
    """
    text: str = _exact(dialect)().generate(tree, pretty=formatted, max_text_width=100, normalize_functions=False)
    return text


@cache
def _parsed(text: str, dialect: str) -> exp.Expression:
    try:
        (query,) = _exact(dialect)().parse(f"SELECT {text}")
    except ParseError as error:
        raise AssertionError(f"{text}: {error}") from error
    assert isinstance(query, exp.Select)
    (tree,) = query.expressions
    found: exp.Expression = tree.pop()
    return found


@cache
def type_tree(text: str, dialect: str) -> exp.Expression:
    """Return a type, as the dialect writes it."""
    found: exp.Expression = _parsed(f"CAST(x AS {text})", dialect).args["to"]
    return found


def filled(template: str, operands: Sequence[exp.Expression], dialect: str) -> exp.Expression:
    """Return a template as a tree: ``{0}`` is the first operand, which may occur several times.

    Raises:
        UnsupportedPlanError: one that occurs several times is long.
    """
    for position in range(len(operands)):
        template = template.replace(f"{{{position}}}", f"_operand_{position}")
    tree = _parsed(template, dialect).copy()
    used: set[int] = set()
    for place in list(tree.find_all(exp.Column)):
        if not place.name.startswith("_operand_"):
            continue
        position = int(place.name.removeprefix("_operand_"))
        value = repeated(operands[position]) if position in used else operands[position]
        used.add(position)
        if place is tree:
            return value
        parent = place.parent
        inside = isinstance(parent, _OPERATORS) and not isinstance(parent, exp.Paren)
        place.replace(operand(value) if inside or isinstance(parent, exp.Bracket) else value)
    return tree

"""Building plans in Python: with names while building, with positions in the plan.

    >>> from pyspark_substrait.builder import read, sum_
    >>> orders = read("orders", {"product_id": "i64", "quantity": "i32", "price": "decimal?<10, 2>"})
    >>> cheap = orders.filter(lambda o: o.price < 10).group_by("product_id")
    >>> plan = cheap.agg(total=sum_(lambda o: o.quantity * o.price)).to_plan("product_id", "total")

Functions of the extensions are attributes of :data:`fn`, and names of this module: ``fn.upper``, ``sum_``. A trailing
underscore distinguishes a name from a keyword or a built-in of Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pyspark_substrait.builder import frames
from pyspark_substrait.builder.aggregates import Aggregated, Windowed, following, preceding
from pyspark_substrait.builder.choices import (
    among,
    array,
    current_date,
    current_timestamp,
    current_timezone,
    dictionary,
    parameter,
    struct,
    switch,
    when,
)
from pyspark_substrait.builder.columns import Column, lit
from pyspark_substrait.builder.functions import call, enum, fn, function, invoke, lambda_
from pyspark_substrait.builder.physical import switching
from pyspark_substrait.builder.records import Record
from pyspark_substrait.builder.schemas import SchemaLike
from pyspark_substrait.builder.subqueries import all_of, any_of, exists, scalar, unique
from pyspark_substrait.builder.subqueries import isin as is_in
from pyspark_substrait.documents import ExtendedExpression, Plan, as_document
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.walk import expression_children, relation_expressions, subquery_relation

if TYPE_CHECKING:
    from pyspark_substrait.model import plan as model
    from pyspark_substrait.model.expressions import Expression
    from pyspark_substrait.model.relations import Relation

#: The depth of nesting that fits the usual stack.
_USUAL_DEPTH = 40

__all__ = [
    "Aggregated",
    "Column",
    "Frame",
    "Record",
    "Windowed",
    "all_of",
    "among",
    "any_of",
    "array",
    "call",
    "current_date",
    "current_timestamp",
    "current_timezone",
    "ddl",
    "dictionary",
    "enum",
    "exists",
    "extended_expression",
    "fn",
    "following",
    "invoke",
    "is_in",
    "lambda_",
    "lit",
    "parameter",
    "preceding",
    "read",
    "read_extension",
    "read_files",
    "read_iceberg",
    "relation",
    "scalar",
    "struct",
    "switch",
    "switching",
    "unique",
    "update",
    "values",
    "when",
]


class Frame(frames.Frame):
    """A relation with names for its columns; see :class:`pyspark_substrait.builder.frames.Frame` for the steps.

    Examples:
        >>> orders = read("orders", {"id": "i64", "price": "fp64?"})
        >>> orders.filter(lambda o: o.price > 10).sort("price").limit(3)
        <Frame: id: i64, price: fp64?>
    """

    def to_plan(self, *names: str) -> Plan:
        """Return the plan.

        Args:
            names: the columns that it puts out, in this order; all if none are given.

        Raises:
            InvalidPlanError: there is no such column, or the frame refers to a record outside of it.
        """
        return _plan(self.plan(*names))

    def to_expressions(self, *columns: Any, **named: Any) -> ExtendedExpression:
        """Return an extended expression over records of this frame's schema; arguments as for ``select``."""
        return _expressions(self.expressions(*columns, **named))


read = Frame.read
values = Frame.values
read_files = Frame.read_files
read_iceberg = Frame.read_iceberg
read_extension = Frame.read_extension
relation = Frame.of_relation
ddl = Frame.ddl
update = Frame.update


def extended_expression(
    schema: SchemaLike, expressions: Any, *, registry: Registry | None = None
) -> ExtendedExpression:
    """Return an extended expression, which isn't part of a plan.

    Args:
        schema: the schema of the records, in any form that :func:`read` takes.
        expressions: functions of the record by name; or a function of the record that gives columns by name.
        registry: the extensions.

    Raises:
        InvalidPlanError: an expression is invalid.

    Examples:
        >>> made = extended_expression({"a": "i32"}, {"twice": lambda r: r.a * 2})
        >>> print(substrait.explain(made))
        Expressions (0.108.0 by pyspark-substrait)
          over (a: i32)
          twice: i32 = a * 2
    """
    return _expressions(frames.extended_expression(schema, expressions, registry=registry))


def _plan(made: model.Plan) -> Plan:
    trees = made.trees
    document = as_document(made, deep=_deep(trees))
    assert isinstance(document, Plan)
    return document


def _expressions(made: model.ExtendedExpression) -> ExtendedExpression:
    document = as_document(made, deep=False)
    assert isinstance(document, ExtendedExpression)
    return document


def _deep(trees: Sequence[Relation]) -> bool:
    """Whether relations are nested so deeply that recursive functions need a larger stack."""
    relations: list[tuple[Relation, int]] = [(tree, 0) for tree in trees]
    expressions: list[tuple[Expression, int]] = []
    while relations or expressions:
        if relations:
            relation, depth = relations.pop()
            relations += [(input, depth + 1) for input in relation.inputs]
            expressions += [(one, depth + 1) for one in relation_expressions(relation)]
        else:
            expression, depth = expressions.pop()
            query = subquery_relation(expression)
            if query is not None:
                relations.append((query, depth + 1))
            expressions += [(one, depth + 1) for one in expression_children(expression)]
        if depth > _USUAL_DEPTH:
            return True
    return False


def __getattr__(name: str) -> Callable[..., Any]:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return function(name)

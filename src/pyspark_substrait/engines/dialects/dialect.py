"""The description of a dialect of SQL: its types, literals, clauses, and the rows of its functions.

A row is one meaning of a function: ``row("modulus", "{0} % {1}", division_type="TRUNCATE")`` means that ``modulus`` is
the dialect's ``%`` if the option ``division_type`` is TRUNCATE. The first row that fits a call is used, so the order of
rows determines the default of an unstated option. A call that no row fits is refused.

A body is a template over the arguments by their positions, or a function of the :class:`Call`. Its value has exactly
the type that the extension derives. In the body of an aggregate, ``agg(…)`` is around the call that DISTINCT, FILTER
and OVER belong to; without it, that is the whole body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, cast

from sqlglot import exp

from pyspark_substrait.codes import Code
from pyspark_substrait.engines.dialects.tree import filled, operand, type_tree
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import ContextVariable, Expression, FailureBehavior, Function
from pyspark_substrait.model.literals import Literal as Constant
from pyspark_substrait.model.types import FP32, FP64, Type, concrete

__all__ = ["Body", "Call", "Dialect", "Functions", "Row", "functions", "refuse", "row"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The view of a call that a body gets.

    Args:
        function: the function that is called.
        operands: the arguments in order; of an enumeration argument its value.
        nodes: the same arguments in the plan; None for an enumeration argument.
        output: the type that the extension derives for the result.
        options: the option values that apply, by option name; only those that the plan states.
        dialect: the dialect.
        ordered: whether the window or the aggregate has sort keys.
        distinct: whether the aggregate merges equal arguments.
    """

    function: Function
    operands: tuple[exp.Expression | str, ...]
    nodes: tuple[Expression | None, ...]
    output: Type
    dialect: Dialect
    options: Mapping[str, str] = field(default_factory=dict)
    ordered: bool = False
    distinct: bool = False

    def type(self, position: int) -> Type:
        """Return the type of the value argument at a position."""
        node = self.nodes[position]
        assert node is not None
        return node.type

    def literal(self, position: int) -> object:
        """Return the value of an argument that is a literal; None for a null, and for any other expression."""
        node = self.nodes[position] if position < len(self.nodes) else None
        return node.value if isinstance(node, Constant) else None

    def filled(self, template: str, *others: exp.Expression) -> exp.Expression:
        """Return a template over the value arguments, followed by others; ``{output}`` is the type of the result."""
        values = [item for item in self.operands if isinstance(item, exp.Expression)]
        if "{output}" in template:
            template = template.replace("{output}", self.dialect.type_text(self.output))
        if "{*}" in template:
            template = template.replace("{*}", ", ".join(f"{{{place}}}" for place in range(len(values))))
        return filled(template, [*values, *others], self.dialect.sqlglot)


Body: TypeAlias = str | Callable[[Call], exp.Expression]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One meaning of a function.

    Args:
        name: the function's name.
        body: the template, or the function that makes the tree.
        options: the option values under which the row is exact, by option name; an option that isn't named doesn't
            affect it.
        enums: the same for enumeration arguments, by position.
        least: the least values of arguments that have to be constants, by position.
        signatures: the overloads it is for; empty for all.
        plain: whether literals among its arguments may be of another type that has the same value.
        refusal: the reason why these values are refused; empty for a row with a body.
    """

    name: str
    body: Body
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    enums: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    least: Mapping[int, int] = field(default_factory=dict)
    signatures: tuple[str, ...] = ()
    plain: bool = False
    refusal: str = ""

    def fits(self, call: Call, options: Mapping[str, str]) -> bool:
        """Whether the row is for the call under these option values."""
        if self.signatures and call.function.signature not in self.signatures:
            return False
        if any(name in options and options[name] not in values for name, values in self.options.items()):
            return False
        constants = ((call.literal(position), least) for position, least in self.least.items())
        if not all(isinstance(value, int) and value >= least for value, least in constants):
            return False
        return all(call.operands[position] in values for position, values in self.enums.items())

    def made(self, call: Call) -> exp.Expression:
        """Return the tree of a call."""
        return call.filled(self.body) if isinstance(self.body, str) else self.body(call)


def _tuple(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def row(
    name: str,
    body: Body,
    *,
    signatures: Sequence[str] = (),
    enums: Mapping[int, str | Sequence[str]] = MappingProxyType({}),
    least: Mapping[int, int] = MappingProxyType({}),
    plain: bool = False,
    **options: str | Sequence[str],
) -> Row:
    """Return a row: the function ``name`` is ``body`` if the options and enumeration arguments have these values.

    Args:
        name, body, signatures, enums, least, plain, options: the fields of :class:`Row`.
    """
    return Row(
        name=name,
        body=body,
        signatures=tuple(signatures),
        enums={position: _tuple(values) for position, values in enums.items()},
        options={option: _tuple(values) for option, values in options.items()},
        least=least,
        plain=plain,
    )


def refuse(name: str, reason: str, *, signatures: Sequence[str] = (), **options: str | Sequence[str]) -> Row:
    """Return a refusal: these values can't be delivered exactly; ``reason`` is a sentence for users."""
    values = {option: _tuple(values) for option, values in options.items()}
    return Row(name=name, body="", signatures=tuple(signatures), options=values, refusal=reason)


#: The rows of functions, by extension and name.
Functions: TypeAlias = Mapping[str, Mapping[str, tuple[Row, ...]]]


def functions(*tables: Mapping[str, Sequence[Row]]) -> Functions:
    """Return the rows of some tables by extension and name. Rows of a name in an earlier table replace later ones."""
    found: dict[str, dict[str, tuple[Row, ...]]] = {}
    for table in tables:
        for urn, rows in table.items():
            known = found.setdefault(urn, {})
            new: dict[str, tuple[Row, ...]] = {}
            for item in rows:
                if item.name not in known:
                    new[item.name] = (*new.get(item.name, ()), item)
            known.update(new)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """A dialect of SQL.

    Args:
        name: the name by which users select it.
        engine: the engine, and the release that its texts were run on, for messages.
        sqlglot: sqlglot's name of the dialect that it is written in.
        functions: the rows of its functions.
        types: returns its type for a type of a plan; None if it has none with the same values.
        literal: returns a constant that isn't null; ``plain`` allows another type with the same value. None if it has
            no form for it.
        cast: returns a cast between different types; None if it has none with exactly these values.
        was_run: whether texts were run in the engine; if not, they say so.
        text_order: how a text is written where its order counts; ``{0}`` if it is compared by code points anyway.
        float_equality: how a floating-point number is written where it is compared; ``{0}`` if zeros are equal, and
            each NaN is the largest number.
        nan_in_order: where NaN is sorted: as the ``largest`` number, as the ``smallest``, or ``beside nulls``, that is
            as the smallest where nulls come first.
        compares_floats: returns a comparison of floating-point numbers by an operator; None if the operator alone takes
            each NaN for the largest number.
        outer_column: how a column of an enclosing query is written; ``{0}`` if outer joins make nulls of it.
        equality: the operator template by which two values are equal or both null.
        filters: whether aggregates have FILTER; if not, the argument is null where the condition isn't true.
        grouping_sets: whether it has GROUPING SETS, also for empty inputs.
        multiplicities: whether it has INTERSECT ALL and EXCEPT ALL.
        laterals: whether it has LATERAL.
        values: whether it has VALUES in FROM, with names for the columns.
        named_type: returns a type whose structs have fields of some names, which are those of a schema; None if it has
            no structs.
        list_element: the template of an element of a list, by its position from 1, or from -1 at the end; null where
            there is none. Empty if there is no such form.
        struct_field: the template of a field of a struct, by its position from 1; empty if there are no structs.
        map_value: the template of the value of a key in a map; null where there is none. Empty if there are no maps.
        nested_equality: whether lists and structs are equal there as here.
        nested_order: returns the template of a list or a struct where its order counts; None if there is none.
        unnests: whether it has UNNEST in FROM, also of lists of structs, and with the positions.
        lambdas: whether its functions of lists take lambdas.
        variables: the templates of variables of the execution, by the variable.
        single_rows: whether a subquery with several records is an error where one is needed.
        exact_frames: whether floating-point numbers are summed anew for each frame; if not, those that leave it are
            subtracted from the sum, which may have lost the others, or be infinite.
        unknown_in: whether IN of a query is null where that is unknown; if not, it is false there.
        keeps_conditions: whether a condition without columns stays above an aggregate; if not, it is tested below, and
            an aggregate of no records still has one.
        keeps_offsets: whether an offset without a count skips records before a sort above it.
        joined_operands: whether an operand of UNION ALL may be a RIGHT or FULL join with a condition above it.
        null_keys: whether nulls are equal only in those keys of a join that say so.
        case_sensitive: whether quoted names that differ in case only are different names.
        longest_name: how many bytes of a name it keeps; None if all.
        replaces_views: whether it has CREATE OR REPLACE VIEW.
        names_view_columns: whether CREATE VIEW has a list of the columns' names; if not, they are those of the query.
    """

    name: str
    engine: str
    sqlglot: str
    functions: Functions
    types: Callable[[Type], str | None]
    literal: Callable[[Constant, bool], exp.Expression | None]
    cast: Callable[[Cast], exp.Expression | None]
    was_run: bool = True
    text_order: str = "{0}"
    float_equality: str = "{0}"
    nan_in_order: Literal["largest", "smallest", "beside nulls"] = "largest"
    compares_floats: Callable[[type[exp.Binary], exp.Expression, exp.Expression], exp.Expression] | None = None
    outer_column: str = "{0}"
    equality: str = "{0} IS NOT DISTINCT FROM {1}"
    filters: bool = True
    grouping_sets: bool = True
    multiplicities: bool = True
    laterals: bool = True
    values: bool = True
    named_type: Callable[[Type, Iterator[str]], str] | None = None
    list_element: str = ""
    struct_field: str = ""
    map_value: str = ""
    nested_equality: bool = False
    nested_order: Callable[[Type], str] | None = None
    unnests: bool = False
    lambdas: bool = False
    variables: Mapping[ContextVariable, str] = field(default_factory=dict)
    single_rows: bool = True
    exact_frames: bool = True
    unknown_in: bool = True
    keeps_conditions: bool = True
    keeps_offsets: bool = True
    joined_operands: bool = True
    null_keys: bool = True
    case_sensitive: bool = False
    longest_name: int | None = None
    replaces_views: bool = True
    names_view_columns: bool = True

    def type_text(self, type: Type) -> str:
        """Return the dialect's type.

        Raises:
            UnsupportedPlanError: it has none with the same values.
        """
        found = self.types(type)
        if found is None:
            raise UnsupportedPlanError(f"{self.engine} has no type for {type}", code=Code.TARGET_FEATURE)
        return found

    def typed(self, value: exp.Expression, type: Type) -> exp.Expression:
        """Return a value cast to the dialect's type."""
        return exp.Cast(this=value, to=type_tree(self.type_text(type), self.sqlglot).copy())

    def filled(self, template: str, *operands: exp.Expression) -> exp.Expression:
        """Return a template over some values."""
        return operands[0] if template == "{0}" else filled(template, operands, self.sqlglot)

    def compared(
        self, operator: type[exp.Binary], left: exp.Expression, right: exp.Expression, type: Type
    ) -> exp.Expression:
        """Return a comparison of two values of a type, each written as it is compared."""
        if isinstance(concrete(type), FP32 | FP64) and self.compares_floats is not None:
            return self.compares_floats(operator, left, right)
        return cast("exp.Expression", operator(this=operand(left), expression=operand(right)))

    def row(self, call: Call, preferences: Sequence[tuple[str, Sequence[str]]]) -> tuple[Row, Mapping[str, str]]:
        """Return the row of a call, and the option values that it delivers: the first of those that are preferred.

        Raises:
            UnsupportedPlanError: no row fits, or the one that fits refuses.
        """
        rows = self.functions.get(call.function.urn, {}).get(call.function.name, ())
        reason = ""
        for options in _combinations(preferences):
            fitting = next((item for item in rows if item.fits(call, options)), None)
            if fitting is None:
                continue
            if not fitting.refusal:
                return fitting, options
            reason = reason or fitting.refusal
        wanted = [f"{name}={'|'.join(values)}" for name, values in preferences]
        wanted += [item for item in call.operands if isinstance(item, str)]
        under = f" with {', '.join(wanted)}" if wanted else ""
        code = Code.TARGET_OPTION if preferences else Code.TARGET_FUNCTION
        what = f"{call.function.key}{under}"
        if reason:
            raise UnsupportedPlanError(f"{what} cannot be exact in {self.engine}: {reason}", code=code)
        raise UnsupportedPlanError(
            f"{what} of `{call.function.urn}` has no form in {self.engine}",
            hint="Run the plan on Spark, or express it by other functions",
            code=code,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """A cast between two different types: the value, the types, and what becomes of a value that doesn't fit."""

    value: exp.Expression
    source: Type
    target: Type
    failure: FailureBehavior
    dialect: Dialect

    @property
    def null(self) -> bool:
        """Whether it gives null for a value that doesn't fit."""
        return self.failure is FailureBehavior.RETURN_NULL

    def plain(self, value: exp.Expression | None = None) -> exp.Expression:
        """Return the dialect's cast of the value, or of another one in its place; TRY_CAST where it must not fail."""
        made = exp.TryCast if self.null else exp.Cast
        to = type_tree(self.dialect.type_text(self.target), self.dialect.sqlglot).copy()
        return made(this=self.value if value is None else value, to=to)


#: the only combination of no options
_UNSTATED: Final[Mapping[str, str]] = MappingProxyType({})


def _combinations(preferences: Sequence[tuple[str, Sequence[str]]]) -> Iterator[Mapping[str, str]]:
    """Yield every choice of one value per option, the most preferred first."""
    if not preferences:
        yield _UNSTATED
        return
    names = [name for name, _ in preferences]
    for values in product(*(values for _, values in preferences)):
        yield dict(zip(names, values, strict=True))

"""The casts that DataFusion's analyzer puts around arguments, for plans that it wrote before analysis.

``SessionContext.sql(…).logical_plan()`` has the calls with the arguments of the query; DataFusion casts them when it
optimizes the plan, as ``optimized_logical_plan()`` and ``Serde.serialize_bytes`` do. The rules are those of release 55;
the tests compare such plans with its results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple, cast

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.extensions.producers import Producer
from pyspark_substrait.extensions.resolution import Resolved
from pyspark_substrait.model.expressions import (
    Argument,
    EnumArgument,
    Expression,
    FieldReference,
    RootReference,
    StructField,
    TypeArgument,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.plan import ExtensionDeclaration
from pyspark_substrait.model.relations import Project, Relation
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I64,
    Boolean,
    Date,
    List,
    OpenStruct,
    PrecisionTimestamp,
    String,
    Struct,
    Type,
    concrete,
    same_type,
    with_nullability,
)
from pyspark_substrait.proto.read.context import Reading, invalid, located
from pyspark_substrait.proto.read.habits import datafusion as habits
from pyspark_substrait.proto.read.habits import datafusion_lists, datafusion_values
from pyspark_substrait.proto.read.habits.datafusion_argument_types import (
    DIGITS,
    RULES,
    Rule,
    Wanted,
    alternative_types,
    comparison_types,
    is_null,
    of_comparisons,
    of_predicates,
)
from pyspark_substrait.proto.read.type_checks import as_type

__all__ = ["coerced_alternatives", "coerced_condition", "coerced_members", "coerced_needles", "understood"]


def understood(
    declared: ExtensionDeclaration, arguments: list[Argument], reading: Reading, path: Path
) -> tuple[ExtensionDeclaration, list[Argument]]:
    """Return the function and the arguments that DataFusion means by a call; note what differs for some values."""
    treatment = _treatment(declared.name)
    if treatment.is_noted:
        name, arguments = datafusion_values.call(declared.name, arguments, reading, path)
        if name != declared.name:
            declared, treatment = replace(declared, name=name), _treatment(name)
    if declared.name == "array_concat" and not reading.strict:
        arguments = datafusion_lists.of_one_depth(arguments)
    if treatment.rule is not None and not reading.strict:
        arguments = _coerced(declared.name, treatment.rule, arguments, reading, path)
    if treatment.is_compared:
        datafusion_values.float_comparison(declared.name, arguments, reading, path)
    return declared, arguments


class _Treatment(NamedTuple):
    """The handling of the calls of a function.

    Args:
        is_noted: whether there is something to note about them, or to change.
        rule: the rule for the types of their arguments.
        is_compared: whether they compare their arguments.
    """

    is_noted: bool
    rule: Rule | None
    is_compared: bool


@lru_cache(maxsize=1000)
def _treatment(name: str) -> _Treatment:
    rule = RULES.get(name.partition(":")[0].lower())
    return _Treatment(datafusion_values.is_noted(name), rule, datafusion_values.is_compared(name))


#: arguments that aren't values
_NO_VALUES: Final = frozenset({EnumArgument, TypeArgument})


def _coerced(name: str, rule: Rule, arguments: list[Argument], reading: Reading, path: Path) -> list[Argument]:
    """Return the arguments of a call as DataFusion casts them before it runs."""
    if not _NO_VALUES.isdisjoint(map(type, arguments)):
        return arguments
    values = cast(list[Expression], arguments)
    wanted = rule(values)
    if wanted is None:
        return arguments
    if rule in (of_predicates, of_comparisons):
        _check_structs([concrete(value.type) for value in values], reading, path)
    what = f"the arguments of `{name.partition(':')[0].lower()}`"
    return [*_casts(values, wanted, what, reading, path)]


def coerced_alternatives(
    values: Sequence[Expression], reading: Reading, path: Path, *, compared: bool = False
) -> tuple[Expression, ...]:
    """Return values of which one is taken, or that are compared with the first, as DataFusion casts them."""
    if reading.meaning is not None:
        with located(path):
            return reading.meaning.alternatives(values)
    if reading.strict or reading.made_by is not Producer.DATAFUSION or len(values) < 2:
        return tuple(values)
    types = [concrete(value.type) for value in values]
    _check_structs(types, reading, path)
    wanted = comparison_types(values, types) if compared else alternative_types(values, types)
    return _casts(values, wanted, "the values of a CASE, an IN or a set operation", reading, path)


def nulls_that_fit(
    arguments: list[Argument], resolve: Callable[[Sequence[Argument]], Resolved | None], stated: Type | None
) -> list[Argument]:
    """Return the arguments of a call, its nulls with a type that the function takes if it takes no text there.

    Args:
        arguments: the arguments; a null without a type is one of the type string.
        resolve: finds the function for arguments.
        stated: the type that the call is stated to have.
    """
    if not [item for item in arguments if item.__class__ is Literal and item.value is None and _is_text(item.type)]:
        return arguments
    for type in (None, *_NULLS):
        typed = [
            Literal(type=type, value=None)
            if type is not None and isinstance(item, Literal) and item.value is None and _is_text(item.type)
            else item
            for item in arguments
        ]
        try:
            found = resolve(typed)
        except SubstraitError:
            continue
        if found is None or found.output_type is None or stated is None:
            return typed
        if concrete(found.output_type).__class__ is concrete(stated).__class__:
            return typed
    return arguments


#: the types that are tried for a null
_NULLS: Final = (
    FP64(nullable=True),
    I64(nullable=True),
    Boolean(nullable=True),
    PrecisionTimestamp(precision=9, nullable=True),
    Date(nullable=True),
)


def _is_text(type: Type) -> bool:
    return isinstance(concrete(type), String)


def _check_structs(types: Sequence[Type], reading: Reading, path: Path) -> None:
    """Refuse structs that meet and may have their fields in different orders: DataFusion takes these by their names.

    Raises:
        InvalidPlanError: structs of these types have several names.
    """
    structs = [type for type in types if isinstance(type, Struct)]
    if len(structs) < 2:
        return
    orders = {names for known, names in reading.struct_names if any(same_type(known, type) for type in structs)}
    if len(orders) > len({frozenset(names) for names in orders}):
        fault = f"{structs[0]} meets {structs[1]}, whose fields may be in another order"
        raise invalid(fault, path, "Compare their fields one by one", Code.EXPRESSION_REFERENCE)


_AS_CONDITIONS: Final = frozenset({*DIGITS, FP32, FP64, String})


def coerced_condition(value: Expression, reading: Reading, path: Path) -> Expression:
    """Return a condition; a null without a type is one of the type boolean, and a number or a text is cast to it."""
    if reading.meaning is not None:
        with located(path):
            return reading.meaning.condition(value)
    if reading.made_by is not Producer.DATAFUSION or isinstance(concrete(value.type), Boolean):
        return value
    if reading.strict or not (is_null(value) or concrete(value.type).__class__ in _AS_CONDITIONS):
        return value
    return _casts([value], [Boolean()], "a condition", reading, path)[0]


def coerced_members(members: tuple[Relation, ...], reading: Reading, path: Path) -> tuple[Relation, ...]:
    """Return the inputs of a set operation with the types to which DataFusion casts their columns."""
    schemas = [member.schema for member in members]
    if (
        reading.strict
        or reading.made_by is not Producer.DATAFUSION
        or len({len(schema.types) for schema in schemas}) != 1
    ):
        return members
    if any(isinstance(schema, OpenStruct) for schema in schemas):
        return members
    columns = []
    for position in range(len(schemas[0].types)):
        values = [_column(member, position) for member in members]
        columns.append(coerced_alternatives(values, reading, path))
    made = []
    for number, member in enumerate(members):
        values = [column[number] for column in columns]
        changed = [position for position, value in enumerate(values) if not isinstance(value, FieldReference | Literal)]
        typed = all(same_type(value.type, type) for value, type in zip(values, schemas[number].types, strict=True))
        made.append(member if typed and not changed else Project.only(member, values))
    return tuple(made)


def coerced_needles(
    needles: tuple[Expression, ...], haystack: Relation, reading: Reading, path: Path
) -> tuple[tuple[Expression, ...], Relation]:
    """Return values and the query that they are compared with, in the types in which DataFusion or a dialect does."""
    if reading.meaning is None and (reading.strict or reading.made_by is not Producer.DATAFUSION):
        return needles, haystack
    if isinstance(haystack.schema, OpenStruct):
        return needles, haystack
    pairs = [
        coerced_alternatives((needle, _column(haystack, position)), reading, path, compared=True)
        for position, needle in enumerate(needles)
    ]
    columns = [column for _, column in pairs]
    changed = any(not isinstance(column, FieldReference) for column in columns)
    return tuple([needle for needle, _ in pairs]), Project.only(haystack, columns) if changed else haystack


def _column(member: Relation, position: int) -> Expression:
    """A column of an input; a null, if it is nothing else."""
    if isinstance(member, Project) and not isinstance(member.input.schema, OpenStruct):
        width = len(member.input.schema.types)
        source = position if member.common.emit is None else member.common.emit[position]
        if source >= width and is_null(value := member.expressions[source - width]):
            return value
    return FieldReference(root=RootReference(), reference=(StructField(position),), type=member.schema.types[position])


def _casts(
    values: Sequence[Expression], wanted: Wanted, what: str, reading: Reading, path: Path
) -> tuple[Expression, ...]:
    made: list[Expression] = []
    for value, type in zip(values, wanted, strict=True):
        if type is None or same_type(value.type, type):
            made.append(value)
            continue
        target = with_nullability(type, value.type.nullable)
        reading.plain = False
        if is_null(value):
            made.append(Literal(type=with_nullability(type, True), value=None))
            continue
        if isinstance(value, Literal) and value.value == () and isinstance(target, List):
            made.append(Literal(type=target, value=()))
            continue
        before, after = f"{what}: {with_nullability(concrete(value.type), False)}", f"cast to {type}"
        habits.COERCION.note_once(reading, path, before, after, key=f"{before} {after}")
        made.append(as_type(datafusion_values.different_cast(value, target, reading, path), target))
    return tuple(made)

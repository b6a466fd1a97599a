"""Calls of functions, chosen from the extension registry by the type that they return.

A *signature* is an overload with concrete argument types. Which of them run on Spark, and with which values of their
options, is found by compiling one call of each: random plans are not to be refused because of most of their calls.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

import pyspark_substrait as ps
from fuzz.literals import constant
from fuzz.tables import rooted_names
from pyspark_substrait.documents import Plan
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.extensions import definitions
from pyspark_substrait.extensions.calls import ResolvedCall, resolved
from pyspark_substrait.extensions.definitions import FunctionDefinition, Kind
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.extensions.signatures import given, pattern_short_name
from pyspark_substrait.model import types as t
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    Argument,
    EnumArgument,
    Expression,
    FieldReference,
    RootReference,
    ScalarFunction,
    SortDirection,
    SortField,
    StructField,
    WindowFunction,
)
from pyspark_substrait.model.plan import RelRoot, Version
from pyspark_substrait.model.relations import Aggregate, Grouping, Measure, NamedTable, Project, Read
from pyspark_substrait.model.types import NamedStruct, Struct, Type, same_type, with_nullability

__all__ = [
    "TYPES",
    "Signature",
    "call_of",
    "options_of",
    "plan_of",
    "signatures",
    "signatures_of",
    "telling_options",
    "wants_constant",
]

_DECIMAL = t.Decimal(precision=10, scale=2)
#: the types that parameters of functions take, by their names in signatures
_CANDIDATES: Final[Mapping[str, tuple[Type, ...]]] = {
    "bool": (t.Boolean(),),
    "i8": (t.I8(),),
    "i16": (t.I16(),),
    "i32": (t.I32(),),
    "i64": (t.I64(),),
    "fp32": (t.FP32(),),
    "fp64": (t.FP64(),),
    "str": (t.String(),),
    "vchar": (t.VarChar(length=10),),
    "fchar": (t.FixedChar(length=3),),
    "vbin": (t.Binary(),),
    "dec": (_DECIMAL, t.Decimal(precision=38, scale=6)),
    "date": (t.Date(),),
    "pt": (t.PrecisionTime(precision=6),),
    "pts": (t.PrecisionTimestamp(precision=6),),
    "ptstz": (t.PrecisionTimestampTZ(precision=6),),
    "iyear": (t.IntervalYear(),),
    "iday": (t.IntervalDay(precision=6),),
    "icompound": (t.IntervalCompound(precision=6),),
    "list": (t.List(type=t.I32(nullable=True)), t.List(type=t.String(nullable=True))),
    "any": (
        t.I32(),
        t.I64(),
        t.String(),
        t.FP64(),
        t.Boolean(),
        t.Date(),
        _DECIMAL,
        t.Binary(),
        t.PrecisionTimestamp(precision=6),
        t.List(type=t.I32(nullable=True)),
        t.Struct(types=(t.I32(nullable=True), t.String(nullable=True))),
    ),
}

TYPES: Final[tuple[Type, ...]] = (
    *_CANDIDATES["any"],
    t.I8(),
    t.I16(),
    t.FP32(),
    t.VarChar(length=10),
    t.FixedChar(length=3),
    t.Decimal(precision=38, scale=6),
    t.PrecisionTimestampTZ(precision=6),
    t.PrecisionTime(precision=6),
    t.IntervalYear(),
    t.IntervalDay(precision=6),
    t.UUID(),
    t.FixedBinary(length=2),
    t.Map(key=t.String(), value=t.I64(nullable=True)),
)
"""The types of random expressions, all required; what is inside a list, struct or map is nullable."""

_LEFT_OUT: Final = frozenset({"any_value", "approx_count_distinct", "quantile", "median", "string_agg", "mode"})
_ROUGH: Final = frozenset({"std_dev", "variance", "corr", "skewness", "kurtosis"})
"""Aggregates of floats that depend on the order of their records."""
_ONE_VALUE: Final = frozenset({"first_value", "last_value", "nth_value"})


@dataclass(frozen=True)
class Signature:
    """An overload with concrete types. An argument is a type, or the words of an enumeration argument."""

    definition: FunctionDefinition
    arguments: tuple[Type | tuple[str, ...], ...]
    type: Type

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arguments in the extension file."""
        return tuple(self.definition.argument(position).name for position in range(len(self.arguments)))


def wants_constant(signature: Signature, position: int) -> bool:
    """Whether an argument has to be a literal, or makes sense for few values only."""
    argument = signature.definition.argument(position)
    type = signature.arguments[position]
    declared = isinstance(argument, definitions.ValueArgument) and argument.constant
    stem = signature.definition.urn.rpartition(":")[2]
    counts = isinstance(type, t.I8 | t.I16 | t.I32 | t.I64) and (
        stem in ("functions_string", "functions_rounding", "functions_rounding_decimal", "functions_datetime")
        or signature.definition.name in ("factorial", "power", "shift_left", "shift_right", "shift_right_unsigned")
    )
    return declared or counts or argument.name in (
        "pattern", "match", "format", "timestamp_format", "date_string", "timezone", "characters",
    )  # fmt: skip


def _concrete(definition: FunctionDefinition, number: int) -> tuple[Type | tuple[str, ...], ...] | None:
    """The ``number``-th choice of argument types of an overload; None where a type has no values here."""
    taken: list[Type | tuple[str, ...]] = []
    count = len(definition.arguments)
    if definition.variadic is not None:
        count = max(1, count - 1 + max(definition.variadic.minimum, 2 if number % 2 else 1))
    for position in range(count):
        argument = definition.argument(position)
        if isinstance(argument, definitions.EnumArgument):
            taken.append(argument.options)
        elif isinstance(argument, definitions.ValueArgument):
            types = _CANDIDATES.get(pattern_short_name(argument.pattern), ())
            if not types:
                return None
            taken.append(types[number % len(types)])
        else:
            return None
    return tuple(taken)


def signatures_of(definition: FunctionDefinition) -> Iterator[Signature]:
    """Yield the signatures of an overload; none where a type has no values here."""
    registry = Registry.default()
    seen = set()
    for number in range(len(_CANDIDATES["any"])):
        arguments = _concrete(definition, number)
        if arguments is None or arguments in seen:
            continue
        seen.add(arguments)
        values = [EnumArgument(item[0]) if isinstance(item, tuple) else _column(0, item) for item in arguments]
        try:
            made = resolved(registry, definition.urn, definition.key, values, {}, definition.kind)
        except SubstraitError:
            continue
        yield Signature(definition, arguments, with_nullability(made.type, False))


def _column(position: int, type: Type) -> FieldReference:
    return FieldReference(root=RootReference(), reference=(StructField(position),), type=type)


def _determined(definition: FunctionDefinition) -> bool:
    if definition.name in _LEFT_OUT or not definition.deterministic or definition.session_dependent:
        return False
    return definition.kind == "scalar" or not definition.ordered or definition.name in _ONE_VALUE


@cache
def signatures(kind: Kind) -> tuple[tuple[Signature, ...], Mapping[Type, tuple[Signature, ...]]]:
    """The signatures of a kind that run on Spark, all of them and by the required type that they return."""
    found: dict[Type, list[Signature]] = defaultdict(list)
    for _, _, overloads in Registry.default().functions():
        for definition in overloads:
            if definition.kind == kind and _determined(definition):
                for signature in signatures_of(definition):
                    if _sound(signature) and _runs(signature, {}):
                        found[signature.type].append(signature)
    made = {type: tuple(items) for type, items in found.items()}
    return tuple(item for items in made.values() for item in items), made


def _sound(signature: Signature) -> bool:
    """Whether the result of an aggregate doesn't depend on the order of the records by rounding."""
    floats = any(isinstance(type, t.FP32 | t.FP64) for type in signature.arguments)
    return signature.definition.kind == "scalar" or not (floats and signature.definition.name in _ROUGH)


@cache
def options_of(signature: Signature) -> Mapping[str, tuple[str, ...]]:
    """The options of a function, each with the values that run on Spark."""
    found = {}
    for name, values in signature.definition.options:
        possible = tuple(value for value in values if _runs(signature, {name: value}))
        if possible:
            found[name] = possible
    return found


@cache
def telling_options(signature: Signature) -> Mapping[str, tuple[str, ...]]:
    """The options with the values that make the statement of a call another one than no option does."""
    plain = ps.to_sql(plan_of(signature, {}))
    found = {
        name: tuple(value for value in values if ps.to_sql(plan_of(signature, {name: value})) != plain)
        for name, values in options_of(signature).items()
    }
    return {name: values for name, values in found.items() if values}


def call_of(
    signature: Signature,
    arguments: list[Argument],
    options: Mapping[str, str],
    *,
    partitions: tuple[Expression, ...] = (),
    sorts: tuple[SortField, ...] = (),
) -> ScalarFunction | AggregateFunction | WindowFunction:
    """Return a call of a function; its type is the one that the extension derives."""
    definition = signature.definition
    call = resolved(Registry.default(), definition.urn, definition.key, arguments, options, definition.kind)
    parts = {
        "function": call.function,
        "arguments": call.arguments,
        "options": call.options,
        "output_type": call.type,
        "derived_type": _derived(signature, call),
    }
    if definition.kind == "scalar":
        return ScalarFunction(**parts)  # type: ignore[arg-type]
    if definition.kind == "aggregate":
        return AggregateFunction(**parts)  # type: ignore[arg-type]
    return WindowFunction(**parts, partitions=partitions, sorts=sorts)  # type: ignore[arg-type]


def _derived(signature: Signature, call: ResolvedCall) -> Type:
    """The type that the extension derives: that of the call, but where the file overlooks that it may be null."""
    definition = signature.definition
    values = tuple(map(given, call.arguments))
    found = Registry.default().resolve(definition.urn, definition.key, values, definition.kind, strict=True)
    return found.output_type or call.type


def _runs(signature: Signature, options: Mapping[str, str]) -> bool:
    """Whether a call compiles for Spark, over columns where it doesn't want constants."""
    try:
        made = plan_of(signature, options)
        ps.to_sql(made)
    except SubstraitError:
        return False
    return not any(same_type(type, t.Unbound()) for type in made.relations[0].input.schema.types)  # type: ignore[union-attr]


def plan_of(signature: Signature, options: Mapping[str, str], *, texts: bool = False) -> Plan:
    """Return a plan of one call, over columns where it doesn't want constants.

    Args:
        signature: the signature.
        options: the values of its options.
        texts: whether strings are constants, too.

    Raises:
        SubstraitError: the function can't be called so.
    """
    chance = random.Random(0)
    types = tuple(with_nullability(type, True) for type in signature.arguments if not isinstance(type, tuple))
    struct = Struct(types=types or (t.I32(),))
    read = Read(base_schema=NamedStruct(names=rooted_names(struct), struct=struct), read_type=NamedTable(names=("t",)))
    arguments: list[Argument] = []
    column = 0
    for position, type in enumerate(signature.arguments):
        if isinstance(type, tuple):
            arguments.append(EnumArgument(type[0]))
            continue
        nullable = with_nullability(type, True)
        wanted = wants_constant(signature, position) or (texts and isinstance(type, t.String))
        arguments.append(constant(signature.names[position], type, chance) if wanted else _column(column, nullable))
        column += 1
    sorts = (SortField(expr=_column(0, struct.types[0]), sort_kind=SortDirection.ASC_NULLS_LAST),)
    call = call_of(signature, arguments, options, sorts=sorts)
    relation: Project | Aggregate
    if isinstance(call, AggregateFunction):
        relation = Aggregate(input=read, groupings=(Grouping(()),), measures=(Measure(measure=call),))
    else:
        relation = Project(input=read, expressions=(call,))
    root = RelRoot(input=relation, names=rooted_names(relation.schema))
    return Plan(relations=(root,), version=Version.current("fuzz"))

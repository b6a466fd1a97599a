"""The casts that DataFusion's analyzer puts around arguments, for plans that it wrote before analysis.

``SessionContext.sql(…).logical_plan()`` has the calls with the arguments of the query; DataFusion casts them when it
optimizes the plan, as ``optimized_logical_plan()`` and ``Serde.serialize_bytes`` do. The rules are those of release 55;
the tests compare such plans with its results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias, cast

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.extensions.coercion import common_decimal
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
    I8,
    I16,
    I32,
    I64,
    Binary,
    Boolean,
    Date,
    Decimal,
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    List,
    Map,
    OpenStruct,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Struct,
    Type,
    VarChar,
    concrete,
    same_type,
    with_nullability,
)
from pyspark_substrait.proto.read.context import Reading, invalid
from pyspark_substrait.proto.read.habits import datafusion as habits
from pyspark_substrait.proto.read.habits import datafusion_lists, datafusion_values
from pyspark_substrait.proto.read.type_checks import as_type

__all__ = ["coerced_alternatives", "coerced_condition", "coerced_members", "understood"]


_Wanted: TypeAlias = Sequence[Type | None]
#: the types in which the arguments of a call are computed, None for one that stays; or None if all stay
_Rule: TypeAlias = Callable[[Sequence[Expression]], _Wanted | None]

#: how many digits an integer is taken to have where it meets a decimal
_DIGITS: Final[dict[type[Type], int]] = {I8: 3, I16: 5, I32: 10, I64: 20}
_AS_DECIMAL: Final[dict[type[Type], Decimal]] = {
    FP32: Decimal(precision=14, scale=7),
    FP64: Decimal(precision=30, scale=15),
    **{kind: Decimal(precision=digits, scale=0) for kind, digits in _DIGITS.items()},
}
_EXACT: Final = frozenset({Decimal, *_DIGITS})
#: classes of types that have no parameters
_PLAIN: Final = frozenset({Boolean, Date, FP32, FP64, I8, I16, I32, I64, String})


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
    rule: _Rule | None
    is_compared: bool


@lru_cache(maxsize=1000)
def _treatment(name: str) -> _Treatment:
    rule = _RULES.get(name.partition(":")[0].lower())
    return _Treatment(datafusion_values.is_noted(name), rule, datafusion_values.is_compared(name))


#: arguments that aren't values
_NO_VALUES: Final = frozenset({EnumArgument, TypeArgument})


def _coerced(name: str, rule: _Rule, arguments: list[Argument], reading: Reading, path: Path) -> list[Argument]:
    """Return the arguments of a call as DataFusion casts them before it runs."""
    if not _NO_VALUES.isdisjoint(map(type, arguments)):
        return arguments
    values = cast(list[Expression], arguments)
    wanted = rule(values)
    if wanted is None:
        return arguments
    if rule in (_of_predicates, _of_comparisons):
        _check_structs([concrete(value.type) for value in values], reading, path)
    what = f"the arguments of `{name.partition(':')[0].lower()}`"
    return [*_casts(values, wanted, what, reading, path)]


def coerced_alternatives(
    values: Sequence[Expression], reading: Reading, path: Path, *, compared: bool = False
) -> tuple[Expression, ...]:
    """Return values of which one is taken, or that are compared with the first, as DataFusion casts them."""
    if reading.strict or reading.made_by is not Producer.DATAFUSION or len(values) < 2:
        return tuple(values)
    types = [concrete(value.type) for value in values]
    _check_structs(types, reading, path)
    wanted = _compared(values, types) if compared else _alternatives(values, types)
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


def _alternatives(values: Sequence[Expression], types: Sequence[Type]) -> Sequence[Type | None]:
    """The types of values of which one is taken; None for those that stay."""
    known = [type for value, type in zip(values, types, strict=True) if not datafusion_lists.is_unknown(value)]
    return [_alternative(known)] * len(values) if known else [None] * len(values)


def _alternative(types: Sequence[Type]) -> Type | None:
    """The type of values of which one is taken: texts, if some are."""
    lists = [type for type in types if isinstance(type, List)]
    if len(lists) == len(types):
        element = _alternative([concrete(list.type) for list in lists])
        return None if element is None else List(type=with_nullability(element, True))
    if all(isinstance(type, PrecisionTimestamp | PrecisionTimestampTZ) for type in types):
        return _finest(types)
    texts = [isinstance(type, String | VarChar) for type in types]
    return String() if any(texts) and not all(texts) else _common(types)


def _finest(types: Sequence[Type]) -> Type:
    """The type of timestamps: instants if some are, with the digits of the finest."""
    made = PrecisionTimestampTZ if any(isinstance(type, PrecisionTimestampTZ) for type in types) else PrecisionTimestamp
    return made(precision=max(getattr(type, "precision", 0) for type in types))


def _common(types: Sequence[Type]) -> Type | None:
    found: Type | None = types[0]
    for type in types[1:]:
        found = None if found is None else _comparison_type(found, type)
    return found


_AS_CONDITIONS: Final = frozenset({*_DIGITS, FP32, FP64, String})


def coerced_condition(value: Expression, reading: Reading, path: Path) -> Expression:
    """Return a condition; a null without a type is one of the type boolean, and a number or a text is cast to it."""
    if reading.made_by is not Producer.DATAFUSION or isinstance(concrete(value.type), Boolean):
        return value
    if reading.strict or not (_is_null(value) or concrete(value.type).__class__ in _AS_CONDITIONS):
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


def _column(member: Relation, position: int) -> Expression:
    """A column of an input; a null, if it is nothing else."""
    if isinstance(member, Project) and not isinstance(member.input.schema, OpenStruct):
        width = len(member.input.schema.types)
        source = position if member.common.emit is None else member.common.emit[position]
        if source >= width and _is_null(value := member.expressions[source - width]):
            return value
    return FieldReference(root=RootReference(), reference=(StructField(position),), type=member.schema.types[position])


def _moments(types: Sequence[Type]) -> _Wanted:
    """The types in which two dates or timestamps are subtracted; None for those that stay."""
    match types:
        case [Date(), PrecisionTimestamp() | PrecisionTimestampTZ()]:
            return [types[1], None]
        case [PrecisionTimestamp() | PrecisionTimestampTZ(), Date()]:
            return [None, types[0]]
        case [PrecisionTimestamp(precision=one), PrecisionTimestamp(precision=other)] if one != other:
            common = PrecisionTimestamp(precision=max(one, other))
            return [common, common]
        case [Date(), I8() | I16() | I32()]:
            return [None, I64()]
        case [PrecisionTimestamp() | PrecisionTimestampTZ() as moment, IntervalDay()]:
            return [None, IntervalDay(precision=moment.precision)]
        case [IntervalDay(), PrecisionTimestamp() | PrecisionTimestampTZ() as moment]:
            return [IntervalDay(precision=moment.precision), None]
        case [IntervalDay(precision=one), IntervalDay(precision=other)] if one == other:
            return [None, None]
        case [IntervalDay() | IntervalYear() | IntervalCompound(), IntervalDay() | IntervalYear() | IntervalCompound()]:
            return [IntervalCompound(precision=9)] * 2
        case _:
            return [None, None]


def _casts(
    values: Sequence[Expression], wanted: _Wanted, what: str, reading: Reading, path: Path
) -> tuple[Expression, ...]:
    made: list[Expression] = []
    for value, type in zip(values, wanted, strict=True):
        if type is None or _are_alike({value.type.__class__, type.__class__}) or same_type(concrete(value.type), type):
            made.append(value)
            continue
        target = with_nullability(type, value.type.nullable)
        reading.plain = False
        if _is_null(value):
            made.append(Literal(type=with_nullability(type, True), value=None))
            continue
        if isinstance(value, Literal) and value.value == () and isinstance(target, List):
            made.append(Literal(type=target, value=()))
            continue
        before, after = f"{what}: {with_nullability(concrete(value.type), False)}", f"cast to {type}"
        habits.COERCION.note_once(reading, path, before, after, key=f"{before} {after}")
        made.append(as_type(datafusion_values.different_cast(value, target, reading, path), target))
    return tuple(made)


def _is_day(type: Type) -> bool:
    """Whether a date, or a text of one, is taken for a timestamp."""
    return isinstance(type, String | VarChar | Date)


def _is_number(type: Type) -> bool:
    return isinstance(type, Decimal) or type.__class__ in _AS_DECIMAL


def _types(values: Sequence[Expression]) -> list[Type]:
    return [concrete(value.type) for value in values]


def _classes(values: Sequence[Expression]) -> set[type[Type]]:
    return {value.type.__class__ for value in values}


def _are_alike(classes: set[type[Type]]) -> bool:
    """Whether types of these classes are the same but for nullability."""
    return len(classes) == 1 and classes <= _PLAIN


def _compared(values: Sequence[Expression], types: Sequence[Type]) -> _Wanted:
    """The types in which values are compared with each other; None for those that stay."""
    known = [type for value, type in zip(values, types, strict=True) if not datafusion_lists.is_unknown(value)]
    if not known:
        return [None] * len(types)
    return [_common(known)] * len(types)


def _is_null(value: Expression) -> bool:
    return isinstance(value, Literal) and value.value is None


def _comparison_type(left: Type, right: Type) -> Type | None:
    left, right = with_nullability(left, False), with_nullability(right, False)
    if left == right:
        return left
    for one, other in ((left, right), (right, left)):
        match one, other:
            case String() | VarChar(), Date() | PrecisionTime() | PrecisionTimestamp() | PrecisionTimestampTZ():
                return other
            case String() | VarChar(), Binary():
                return other
            case String() | VarChar(), _ if _is_number(other):
                return other
            case Date(), PrecisionTimestamp() | PrecisionTimestampTZ():
                return other
            case PrecisionTimestamp(), PrecisionTimestampTZ():
                return _finest((one, other))
            case Decimal(), _ if other.__class__ in _AS_DECIMAL:
                return common_decimal(one, _AS_DECIMAL[other.__class__])
            case FP64(), _ if other.__class__ in _AS_DECIMAL:
                return one
            case FP32(), _ if other.__class__ in _DIGITS:
                return one
            case List(type=ours), List(type=theirs):
                element = _comparison_type(concrete(ours), concrete(theirs))
                return None if element is None else List(type=with_nullability(element, True))
            case _:
                continue
    return _wider(left, right)


def _wider(left: Type, right: Type) -> Type | None:
    match left, right:
        case Decimal(), Decimal():
            return common_decimal(left, right)
        case _ if left.__class__ in _DIGITS and right.__class__ in _DIGITS:
            return left if _DIGITS[left.__class__] >= _DIGITS[right.__class__] else right
        case _:
            return None


def _computed(values: Sequence[Expression], types: Sequence[Type]) -> _Wanted:
    """The types in which two numbers are added, multiplied and so on; None for those that stay."""
    if _is_null(values[0]) is not _is_null(values[1]):
        return [types[1], None] if _is_null(values[0]) else [None, types[0]]
    if not all(map(_is_number, types)):
        return _moments(types)
    classes = {type.__class__ for type in types}
    if len(classes) == 1:
        return [None, None]
    for real in (FP64, FP32):
        if real in classes:
            return [real(), real()]
    if Decimal in classes:
        return [_AS_DECIMAL.get(type.__class__) for type in types]
    widest = max(types, key=lambda type: _DIGITS[type.__class__])
    return [widest, widest]


# the rules, by the names of functions ---------------------------------------------------------------------------------


def _of_predicates(values: Sequence[Expression]) -> _Wanted | None:
    # of integers and decimals, the casts that reading makes by itself compare the same
    return None if _classes(values) <= _EXACT else _of_comparisons(values)


def _of_comparisons(values: Sequence[Expression]) -> _Wanted | None:
    return None if len(values) < 2 or _are_alike(_classes(values)) else _compared(values, _types(values))


def _of_arithmetic(values: Sequence[Expression]) -> _Wanted | None:
    return None if len(values) != 2 or _are_alike(_classes(values)) else _computed(values, _types(values))


def _of_floats(values: Sequence[Expression]) -> _Wanted:
    return [
        FP64() if isinstance(type, Decimal) or type.__class__ in _DIGITS or _is_null(value) else None
        for value, type in zip(values, _types(values), strict=True)
    ]


def _of_conditions(values: Sequence[Expression]) -> _Wanted | None:
    return None if _classes(values) == {Boolean} else [Boolean() if _is_null(value) else None for value in values]


def _of_nulls(values: Sequence[Expression]) -> _Wanted | None:
    if not any(map(_is_null, values)):
        return None
    common = _compared(values, _types(values))
    return [type if _is_null(value) else None for value, type in zip(values, common, strict=True)]


def _of_defaults(values: Sequence[Expression]) -> _Wanted | None:
    known = [type for value, type in zip(values, _types(values), strict=True) if not _is_null(value)]
    if not known:
        return None
    common: Type | None = known[0]
    if any(isinstance(type, Decimal) for type in known) and all(map(_is_number, known)):
        common = FP64()
    elif all(map(_is_number, known)):
        common = _common(known)
    elif len({type.__class__ for type in known}) > 1:
        common = String()
    return None if common is None else [common] * len(values)


def _of_bins(values: Sequence[Expression]) -> _Wanted:
    moments = _types(values[1:])
    if len(moments) == 2 and isinstance(moments[0], PrecisionTimestampTZ) and _is_day(moments[1]):
        return [None, *[PrecisionTimestampTZ(precision=9)] * 2]
    if len(moments) == 2 and all(isinstance(type, PrecisionTimestamp | PrecisionTimestampTZ) for type in moments):
        common = _finest(moments)
        return [None, *([None, None] if isinstance(common, PrecisionTimestamp) else [common] * 2)]
    return [None, *(PrecisionTimestamp(precision=9) if _is_day(type) else None for type in _types(values[1:]))]


def _of_maps(values: Sequence[Expression]) -> _Wanted | None:
    type = concrete(values[0].type) if values else None
    return [None, concrete(type.key)] if isinstance(type, Map) and len(values) == 2 else None


def _of_moments(values: Sequence[Expression]) -> _Wanted | None:
    if len(values) != 2 or not isinstance(concrete(values[1].type), String | VarChar):
        return None
    return [None, PrecisionTimestamp(precision=9)]


def _of_numbers(values: Sequence[Expression]) -> _Wanted:
    return [I64() if type.__class__ in _DIGITS else None for type in _types(values)]


def _of_counts(values: Sequence[Expression]) -> _Wanted:
    return [I64() if _is_number(type) else None for type in _types(values)]


def _of_seconds(values: Sequence[Expression]) -> _Wanted:
    return [I64() if type.__class__ in _DIGITS else FP64() if _is_number(type) else None for type in _types(values)]


def _of_unix_times(values: Sequence[Expression]) -> _Wanted | None:
    if len(values) > 1:
        return None
    texts = (isinstance(type, String | VarChar) for type in _types(values))
    return [
        PrecisionTimestamp(precision=9) if text else type for text, type in zip(texts, _of_counts(values), strict=True)
    ]


def _of_integers(values: Sequence[Expression]) -> _Wanted:
    return [I64()] * len(values)


def _of_texts(values: Sequence[Expression]) -> _Wanted | None:
    types = _types(values)
    if not any(isinstance(type, String | VarChar) for type in types):
        return None
    return [String() if _is_number(type) or isinstance(type, Boolean | Binary | Date) else None for type in types]


def _of_binaries(values: Sequence[Expression]) -> _Wanted:
    return [String() if isinstance(type, Binary) else None for type in _types(values)]


def _of_places(values: Sequence[Expression]) -> _Wanted | None:
    types = _types(values)
    return [None, I32()] if len(types) == 2 and types[1].__class__ in _DIGITS else None


def _of_common_decimals(values: Sequence[Expression]) -> _Wanted:
    types = _types(values)
    if not any(isinstance(type, Decimal) for type in types):
        return [I64() if type.__class__ in _DIGITS else None for type in types]
    return _compared(values, types)


def _of_logarithms(values: Sequence[Expression]) -> _Wanted:
    number, *base = _types(values)
    return [FP64() if number.__class__ in _DIGITS else None, *(FP64() if _is_number(one) else None for one in base)]


def _of_elements(values: Sequence[Expression]) -> _Wanted | None:
    return _compared(values, _types(values)) if len(values) > 1 else None


def _of_lists(name: str, values: Sequence[Expression]) -> _Wanted | None:
    return datafusion_lists.wanted(name, values, _types(values), _comparison_type)


def _of_series(name: str, values: Sequence[Expression]) -> _Wanted | None:
    types = _types(values)
    if not types or not isinstance(types[0], Date | PrecisionTimestamp):
        return _of_lists(name, values)
    return [
        PrecisionTimestamp(precision=9)
        if isinstance(type, PrecisionTimestamp)
        else IntervalCompound(precision=9)
        if isinstance(type, IntervalYear | IntervalDay)
        else None
        for type in types
    ]


def _by_name(rule: _Rule, names: str) -> dict[str, _Rule]:
    return dict.fromkeys(names.split(), rule)


_RULES: Final[Mapping[str, _Rule]] = MappingProxyType(
    _by_name(_of_predicates, "equal not_equal lt lte gt gte is_distinct_from is_not_distinct_from between")
    | _by_name(_of_comparisons, "nullif greatest least coalesce")
    | _by_name(_of_arithmetic, "add subtract multiply divide modulus")
    | _by_name(
        _of_floats,
        """
        sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp ln log10 log2 degrees radians cbrt cot signum
        atan2 isnan is_nan iszero nanvl
        """,
    )
    | _by_name(_of_conditions, "and or not")
    | _by_name(_of_moments, "date_trunc date_part")
    | _by_name(_of_seconds, "to_timestamp")
    | _by_name(_of_counts, "to_timestamp_seconds to_timestamp_millis to_timestamp_micros to_timestamp_nanos to_date")
    | _by_name(_of_unix_times, "to_unixtime")
    | _by_name(_of_numbers, "from_unixtime")
    | _by_name(_of_integers, "make_date make_time")
    | _by_name(_of_bins, "date_bin")
    | _by_name(_of_nulls, "nvl2")
    | _by_name(_of_defaults, "nvl ifnull")
    | _by_name(_of_maps, "map_extract")
    | _by_name(_of_elements, "make_array")
    | {name: partial(_of_lists, name) for name in datafusion_lists.ROLES}
    | {name: partial(_of_series, name) for name in ("range", "generate_series")}
    | _by_name(_of_binaries, "character_length like ilike regexp_replace reverse")
    | _by_name(_of_logarithms, "logb")
    | _by_name(_of_places, "round trunc")
    | _by_name(_of_common_decimals, "gcd lcm")
    | _by_name(_of_texts, "concat concat_ws str_concat ||")
)

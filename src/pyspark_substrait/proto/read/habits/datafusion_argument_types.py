"""The types in which DataFusion computes the arguments of its functions, and values of which one is taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Final, TypeAlias

from pyspark_substrait.extensions.coercion import common_decimal
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.literals import Literal
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
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Type,
    VarChar,
    concrete,
    with_nullability,
)
from pyspark_substrait.proto.read.habits import datafusion_lists

__all__ = [
    "DIGITS",
    "RULES",
    "Rule",
    "Wanted",
    "alternative_types",
    "comparison_types",
    "is_null",
    "of_comparisons",
    "of_predicates",
]

#: the types in which the arguments of a call are computed; None for one that stays
Wanted: TypeAlias = Sequence[Type | None]
#: finds these types; None if all stay
Rule: TypeAlias = Callable[[Sequence[Expression]], Wanted | None]

#: how many digits an integer is taken to have where it meets a decimal
DIGITS: Final[dict[type[Type], int]] = {I8: 3, I16: 5, I32: 10, I64: 20}
_AS_DECIMAL: Final[dict[type[Type], Decimal]] = {
    FP32: Decimal(precision=14, scale=7),
    FP64: Decimal(precision=30, scale=15),
    **{kind: Decimal(precision=digits, scale=0) for kind, digits in DIGITS.items()},
}
_EXACT: Final = frozenset({Decimal, *DIGITS})
#: classes of types that have no parameters
_PLAIN: Final = frozenset({Boolean, Date, FP32, FP64, I8, I16, I32, I64, String})


def alternative_types(values: Sequence[Expression], types: Sequence[Type]) -> Sequence[Type | None]:
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


def _moments(types: Sequence[Type]) -> Wanted:
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


def comparison_types(values: Sequence[Expression], types: Sequence[Type]) -> Wanted:
    """The types in which values are compared with each other; None for those that stay."""
    known = [type for value, type in zip(values, types, strict=True) if not datafusion_lists.is_unknown(value)]
    if not known:
        return [None] * len(types)
    return [_common(known)] * len(types)


def is_null(value: Expression) -> bool:
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
            case FP32(), _ if other.__class__ in DIGITS:
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
        case _ if left.__class__ in DIGITS and right.__class__ in DIGITS:
            return left if DIGITS[left.__class__] >= DIGITS[right.__class__] else right
        case _:
            return None


def _computed(values: Sequence[Expression], types: Sequence[Type]) -> Wanted:
    """The types in which two numbers are added, multiplied and so on; None for those that stay."""
    if is_null(values[0]) is not is_null(values[1]):
        return [types[1], None] if is_null(values[0]) else [None, types[0]]
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
    widest = max(types, key=lambda type: DIGITS[type.__class__])
    return [widest, widest]


# the rules, by the names of functions ---------------------------------------------------------------------------------


def of_predicates(values: Sequence[Expression]) -> Wanted | None:
    # of integers and decimals, the casts that reading makes by itself compare the same
    return None if _classes(values) <= _EXACT else of_comparisons(values)


def of_comparisons(values: Sequence[Expression]) -> Wanted | None:
    return None if len(values) < 2 or _are_alike(_classes(values)) else comparison_types(values, _types(values))


def _of_arithmetic(values: Sequence[Expression]) -> Wanted | None:
    return None if len(values) != 2 or _are_alike(_classes(values)) else _computed(values, _types(values))


def _of_floats(values: Sequence[Expression]) -> Wanted:
    return [
        FP64() if isinstance(type, Decimal) or type.__class__ in DIGITS or is_null(value) else None
        for value, type in zip(values, _types(values), strict=True)
    ]


def _of_conditions(values: Sequence[Expression]) -> Wanted | None:
    return None if _classes(values) == {Boolean} else [Boolean() if is_null(value) else None for value in values]


def _of_nulls(values: Sequence[Expression]) -> Wanted | None:
    if not any(map(is_null, values)):
        return None
    common = comparison_types(values, _types(values))
    return [type if is_null(value) else None for value, type in zip(values, common, strict=True)]


def _of_defaults(values: Sequence[Expression]) -> Wanted | None:
    known = [type for value, type in zip(values, _types(values), strict=True) if not is_null(value)]
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


def _of_bins(values: Sequence[Expression]) -> Wanted:
    moments = _types(values[1:])
    if len(moments) == 2 and isinstance(moments[0], PrecisionTimestampTZ) and _is_day(moments[1]):
        return [None, *[PrecisionTimestampTZ(precision=9)] * 2]
    if len(moments) == 2 and all(isinstance(type, PrecisionTimestamp | PrecisionTimestampTZ) for type in moments):
        common = _finest(moments)
        return [None, *([None, None] if isinstance(common, PrecisionTimestamp) else [common] * 2)]
    return [None, *(PrecisionTimestamp(precision=9) if _is_day(type) else None for type in _types(values[1:]))]


def _of_maps(values: Sequence[Expression]) -> Wanted | None:
    type = concrete(values[0].type) if values else None
    return [None, concrete(type.key)] if isinstance(type, Map) and len(values) == 2 else None


def _of_moments(values: Sequence[Expression]) -> Wanted | None:
    if len(values) != 2 or not isinstance(concrete(values[1].type), String | VarChar):
        return None
    return [None, PrecisionTimestamp(precision=9)]


def _of_numbers(values: Sequence[Expression]) -> Wanted:
    return [I64() if type.__class__ in DIGITS else None for type in _types(values)]


def _of_counts(values: Sequence[Expression]) -> Wanted:
    return [I64() if _is_number(type) else None for type in _types(values)]


def _of_seconds(values: Sequence[Expression]) -> Wanted:
    return [I64() if type.__class__ in DIGITS else FP64() if _is_number(type) else None for type in _types(values)]


def _of_unix_times(values: Sequence[Expression]) -> Wanted | None:
    if len(values) > 1:
        return None
    texts = (isinstance(type, String | VarChar) for type in _types(values))
    return [
        PrecisionTimestamp(precision=9) if text else type for text, type in zip(texts, _of_counts(values), strict=True)
    ]


def _of_integers(values: Sequence[Expression]) -> Wanted:
    return [I64()] * len(values)


#: what becomes a text beside another one
_WRITTEN: Final = (
    Binary, Boolean, Date, IntervalCompound, IntervalDay, IntervalYear, PrecisionTime, PrecisionTimestamp,
    PrecisionTimestampTZ,
)  # fmt: skip


def _of_pairs(values: Sequence[Expression]) -> Wanted | None:
    """Floating-point numbers where one of the two is a decimal."""
    return [FP64()] * len(values) if any(isinstance(type, Decimal) for type in _types(values)) else None


def _of_texts(values: Sequence[Expression]) -> Wanted | None:
    types = _types(values)
    return _as_texts(types) if any(isinstance(type, String | VarChar) for type in types) else None


def _of_values(values: Sequence[Expression]) -> Wanted | None:
    types = _types(values)
    return _of_texts(values) if any(isinstance(type, Binary) for type in types) else _as_texts(types)


def _as_texts(types: Sequence[Type]) -> Wanted:
    return [String() if _is_number(type) or isinstance(type, _WRITTEN) else None for type in types]


def _of_binaries(values: Sequence[Expression]) -> Wanted:
    return [String() if isinstance(type, Binary) else None for type in _types(values)]


def _of_places(values: Sequence[Expression]) -> Wanted | None:
    types = _types(values)
    return [None, I32()] if len(types) == 2 and types[1].__class__ in DIGITS else None


def _of_common_decimals(values: Sequence[Expression]) -> Wanted:
    types = _types(values)
    if not any(isinstance(type, Decimal) for type in types):
        return [I64() if type.__class__ in DIGITS else None for type in types]
    return comparison_types(values, types)


def _of_logarithms(values: Sequence[Expression]) -> Wanted:
    number, *base = _types(values)
    return [FP64() if number.__class__ in DIGITS else None, *(FP64() if _is_number(one) else None for one in base)]


def _of_elements(values: Sequence[Expression]) -> Wanted | None:
    return comparison_types(values, _types(values)) if len(values) > 1 else None


def _of_lists(name: str, values: Sequence[Expression]) -> Wanted | None:
    return datafusion_lists.wanted(name, values, _types(values), _comparison_type)


def _of_series(name: str, values: Sequence[Expression]) -> Wanted | None:
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


def _by_name(rule: Rule, names: str) -> dict[str, Rule]:
    return dict.fromkeys(names.split(), rule)


RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    _by_name(of_predicates, "equal not_equal lt lte gt gte is_distinct_from is_not_distinct_from between")
    | _by_name(of_comparisons, "nullif greatest least coalesce")
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
    | _by_name(
        _of_pairs,
        """
        corr covar_samp covar_pop regr_slope regr_intercept regr_count regr_r2 regr_avgx regr_avgy regr_sxx regr_syy
        regr_sxy
        """,
    )
    | _by_name(_of_texts, "concat_ws str_concat ||")
    | _by_name(_of_values, "concat")
)

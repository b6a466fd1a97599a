"""Parts of DataFusion's plans that it computes otherwise than Spark for some values: each leaves a note."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions.engines import ENGINES
from pyspark_substrait.extensions.producers import Producer
from pyspark_substrait.extensions.signatures import short_name
from pyspark_substrait.model.expressions import (
    Argument,
    EnumArgument,
    Expression,
    Function,
    ScalarFunction,
    TypeArgument,
)
from pyspark_substrait.model.literals import Compound, DayTime, Literal
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    Boolean,
    Date,
    Decimal,
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    List,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Struct,
    Type,
    VarChar,
    concrete,
    with_nullability,
)
from pyspark_substrait.model.unbound import LEAVES
from pyspark_substrait.proto.read.context import Reading, invalid
from pyspark_substrait.proto.read.habits import datafusion as habits
from pyspark_substrait.proto.read.habits.meant import cast

__all__ = [
    "NUMBERS",
    "anti_join",
    "call",
    "different_cast",
    "float_comparison",
    "float_keys",
    "is_compared",
    "is_noted",
    "nested_keys",
    "not_counted",
    "note_date64",
]

_DATE: Final = r"\d{4}-\d{2}-\d{2}"
#: the texts that mean the same in both, by the type that they are cast to
_SAME_TEXTS: Final[tuple[tuple[type[Type], re.Pattern[str]], ...]] = (
    (Boolean, re.compile(r"\s*(t|f|true|false|y|n|yes|no|1|0)\s*", re.IGNORECASE)),
    (Decimal, re.compile(r"\s*[+-]?\d+(\.\d*)?\s*")),
    (Date, re.compile(_DATE)),
    (PrecisionTime, re.compile(r"\d{2}:\d{2}:\d{2}(\.\d{1,9})?")),
    (PrecisionTimestamp, re.compile(rf"{_DATE}([ T]\d{{2}}:\d{{2}}:\d{{2}}(\.\d{{1,6}})?)?")),
    (PrecisionTimestampTZ, re.compile(rf"{_DATE}([ T]\d{{2}}:\d{{2}}:\d{{2}}(\.\d{{1,6}})?)?")),
)
_OF_TEXTS: Final[dict[type[Type], tuple[str, str]]] = {
    Boolean: ("all that begins true or false, on and off", "true, false, yes, no, t, f, y, n, 1 and 0"),
    Decimal: ("no exponents", "exponents, too"),
    Date: ("any offset or zone behind the time", "neither, but a month or day of one digit with a time"),
    PrecisionTime: ("numbers, AM and PM", "hours, minutes and seconds only"),
    PrecisionTimestamp: ("any offset or zone, and the instant is that in UTC", "no offset or zone"),
    PrecisionTimestampTZ: ("names of zones", "offsets only"),
}


_DATE64: Final = "Date64"


def note_date64(schema: Any, reading: Reading) -> None:
    """Remember that a table has a column of Date64, which DataFusion writes as a date with the variation 1."""
    if reading.made_by is Producer.DATAFUSION and not reading.variations:
        dates = (type.date for type in schema.struct.types if type.WhichOneof("kind") == "date")
        if any(date.type_variation_reference == 1 for date in dates):
            reading.traits[_DATE64] = True


def not_counted(path: Path) -> InvalidPlanError:
    """Return the refusal of a Date64 as a number."""
    fault = "a Date64 as a number counts milliseconds, and a date here has no such count"
    return invalid(fault, path, "Cast it to a timestamp", Code.TYPE_UNKNOWN)


def different_cast(input: Expression, type: Type, reading: Reading, path: Path, *, date64: bool = False) -> Expression:
    """Return the input of a cast so that it gives the value that DataFusion gives; note where it can't.

    Args:
        input: the value.
        type: the type to which it is cast.
        reading: the reading of the plan.
        path: the path of the cast.
        date64: whether the type is a Date64, which counts milliseconds.

    Returns:
        the value; a literal text as one that means the same in both; or a call of a function of DataFusion's that gives
        what the cast means, of its type or of one that is cast to it.
    """
    if reading.made_by is not Producer.DATAFUSION:
        return input
    if date64:
        input = _in_milliseconds(input, reading, path)
    source, target = concrete(input.type), concrete(type)
    if isinstance(source, Date) and target.__class__ in NUMBERS and reading.traits.get(_DATE64):
        raise not_counted(path)  # it may be that column
    if isinstance(source, String | VarChar):
        if isinstance(target, IntervalYear | IntervalDay | IntervalCompound):
            return _interval_of_text(input, target)
        return _of_text(input, target, reading, path)
    if source.__class__ in NUMBERS and isinstance(target, Date | PrecisionTimestamp | IntervalDay):
        return _of_number(input, target, reading, path)
    if isinstance(source, _WITH_TEXTS) and isinstance(target, String | VarChar):
        return _as_text(input, reading, path)
    if isinstance(source, PrecisionTimestamp) and isinstance(target, PrecisionTimestamp | PrecisionTimestampTZ):
        input = _coarser(input, source, target.precision, reading, path)
    _note_difference(source, target, reading, path)
    return input


_WITH_TEXTS: Final = (FP32, FP64, PrecisionTime, PrecisionTimestamp, PrecisionTimestampTZ)


def _as_text(input: Expression, reading: Reading, path: Path) -> Expression:
    """Return the text that DataFusion casts a number with a fraction, a time or a timestamp to."""
    source = with_nullability(concrete(input.type), False)
    before, after = f"a cast of {source} to a text", "`to_text`"
    if isinstance(source, FP32 | FP64):
        habits.CAST.note_once(reading, path, before, f"{after}, in the digits that Java writes", key=before)
    else:
        habits.TIMESTAMP.note_once(reading, path, before, after, key=before)
    if isinstance(source, PrecisionTimestampTZ):
        habits.ZONE.note_once(reading, path, "a cast of an instant to a text, whose zone isn't written", "in UTC")
    return _own_call("to_text", input, String())


def _coarser(input: Expression, source: PrecisionTimestamp, precision: int, reading: Reading, path: Path) -> Expression:
    """Return a timestamp that is cast to one of fewer digits, which DataFusion cuts towards 1970."""
    name = _OF_UNITS.get(precision)
    if source.precision <= precision or name is None:
        return input
    target = PrecisionTimestamp(precision=precision)
    before = f"a cast of {with_nullability(source, False)} to {target}, cut towards 1970"
    habits.TIMESTAMP.note_once(reading, path, before, f"`{name}`", key=before)
    return _own_call(name, input, target)


def _own_call(name: str, input: Expression, result: Type) -> Expression:
    """Return a call of a function of DataFusion's."""
    made = with_nullability(result, input.type.nullable)
    function = Function(ENGINES[Producer.DATAFUSION].urn, name, short_name(concrete(input.type)))
    return ScalarFunction(function=function, arguments=(input,), output_type=made, derived_type=made)


_INTEGERS: Final = frozenset({I8, I16, I32, I64})
NUMBERS: Final = frozenset({*_INTEGERS, FP32, FP64, Decimal})
#: functions of integers, by the digits of the seconds that they count
_OF_UNITS: Final = {
    0: "to_timestamp_seconds", 3: "to_timestamp_millis", 6: "to_timestamp_micros", 9: "to_timestamp_nanos"
}  # fmt: skip


_DURATIONS: Final = {digits: name.replace("timestamp", "duration") for digits, name in _OF_UNITS.items()}


def _of_number(
    input: Expression, target: Date | PrecisionTimestamp | IntervalDay, reading: Reading, path: Path
) -> Expression:
    """A number of days, or of the units of a timestamp since 1970 or of a duration, as one; a fraction is cut."""
    match target:
        case Date():
            name: str | None = "to_date"
        case IntervalDay(precision=precision):
            name = _DURATIONS.get(precision) if concrete(input.type).__class__ in _INTEGERS else None
        case PrecisionTimestamp(precision=precision):
            name = _OF_UNITS.get(precision)
    if name is None:
        return input
    before = f"a cast of {with_nullability(concrete(input.type), False)} to {with_nullability(target, False)}"
    habits.NUMBER.note(reading, path, before, f"`{name}`")
    count = input if isinstance(concrete(input.type), I64) else cast(input, I64())
    return _own_call(name, count, target)


def _in_milliseconds(input: Expression, reading: Reading, path: Path) -> Expression:
    """Return what becomes a Date64 as a timestamp, if it is a number, and note the time of day that a date has not."""
    source = concrete(input.type)
    if source.__class__ in NUMBERS:
        input = _of_number(input, PrecisionTimestamp(precision=3), reading, path)
    elif not isinstance(source, PrecisionTimestamp | PrecisionTimestampTZ):
        return input
    before, after = f"a cast of {source} to Date64, which has a time of day", "to a date, which has none"
    habits.CAST.note_once(reading, path, before, after, key=before)
    reading.plain = False
    return input


def _note_difference(source: Type, target: Type, reading: Reading, path: Path) -> None:
    match source, target:
        case FP32() | FP64(), Decimal():
            before, after = f"a cast of {source} to a decimal, which rounds 0.285 to 0.28", "to 0.29"
            habits.DECIMAL.note_once(reading, path, before, after, key=before)
        case PrecisionTimestamp(), PrecisionTimestampTZ():
            before, after = f"a cast of {source} to {target}, whose zone isn't written", "UTC"
            habits.ZONE.note_once(reading, path, before, after, key=before)
        case IntervalYear() | IntervalDay() | IntervalCompound(), String() | VarChar():
            before, after = f"a cast of {source} to a text, like 1 days", "P1D"
            habits.CAST.note_once(reading, path, before, after, key=before)
        case PrecisionTimestampTZ(precision=fine), PrecisionTimestampTZ(precision=coarse) if fine > coarse:
            before, after = f"a cast of {source} to {target}, cut towards 1970", "cut towards the past"
            habits.CAST.note_once(reading, path, before, after, key=before)
        case _:
            return
    reading.plain = False


_ZONED: Final = frozenset(
    {
        "date_part",
        "date_trunc",
        "date_bin",
        "extract",
        "add",
        "subtract",
        "to_char",
        "to_date",
        "to_local_time",
        "to_time",
    }
)
_MAKING_MOMENTS: Final = ("to_timestamp", "to_date", "to_time", "to_unixtime", "from_unixtime")
_CORRELATING: Final = ("corr", "regr_", "covar_")
_NOTED: Final = (*_MAKING_MOMENTS, *_CORRELATING, "approx_")


def is_noted(name: str) -> bool:
    """Whether there is something to note about the calls of a function, or to change in them."""
    return name in _ZONED or name in _OFFSETS or name in _OF_INTERVALS or name == _WRITTEN or name.startswith(_NOTED)


_OF_INTERVALS: Final = frozenset({"add", "subtract", "negate", "sum"})
_WRITTEN: Final = "array_to_string"
_OFFSETS: Final = ("lead", "lag")
#: no partition has as many records
_FARTHEST: Final = (1 << 31) - 1


def call(name: str, arguments: list[Argument], reading: Reading, path: Path) -> tuple[str, list[Argument]]:
    """Return the name and the arguments by which a call is looked up, if :func:`is_noted`; note what it doesn't say."""
    types = [concrete(item.type) for item in arguments if not isinstance(item, EnumArgument | TypeArgument)]
    if name in _ZONED and any(isinstance(type, PrecisionTimestampTZ) for type in types):
        reading.plain = False
        habits.ZONE.note_once(reading, path, f"`{name}` of an instant, whose zone isn't written", "in UTC")
    if name == _WRITTEN and types and _holds_float(types[0]):
        reading.plain = False
        before, after = "`array_to_string` of floating-point numbers, in as few digits as tell them apart", "as in Java"
        habits.CAST.note_once(reading, path, before, after, key=before)
    if name in _OF_INTERVALS and types and all(isinstance(type, IntervalCompound) for type in types):
        reading.plain = False
        habits.INTERVAL.note_once(reading, path, f"`{name}` of intervals, whose days and hours are two numbers", "one")
    if name.startswith("approx_"):
        reading.plain = False
        habits.APPROXIMATE.note_once(reading, path, f"`{name}`, an estimate", "exact, or another estimate", key=name)
    if name.startswith(_CORRELATING):
        float_keys(types, reading, path)
    if name.startswith(_MAKING_MOMENTS) and types and name not in ("to_time", "from_unixtime"):
        if not isinstance(types[0], String):
            arguments = arguments[:1]  # formats are those of texts
        elif len(types) == 1:
            target = Date() if name == "to_date" else PrecisionTimestamp(precision=9)
            (value,) = arguments
            assert not isinstance(value, EnumArgument | TypeArgument)
            arguments = [_of_text(value, target, reading, path)]
    if name == "from_unixtime" and len(types) > 1:
        reading.plain = False
        habits.ZONE.note_once(reading, path, f"`{name}` in a zone, which its type doesn't have", "in UTC")
    if name in _OFFSETS and len(arguments) == len(types) == 3:
        arguments = [*arguments[:2], _default(arguments[2], types[0], reading, path)]
    match name, arguments:
        case "date_part", [Literal(value=str(part)), value] if part.strip().lower() == "epoch":
            reading.plain = False
            reading.note_once("engine-function", path, "`date_part` of the epoch", "`epoch`")
            return "epoch", [value]
        case "date_part", [Literal(value=str(part)), value] if part.strip(" '\"").lower() in _NANOSECONDS:
            reading.plain = False
            reading.note_once("engine-function", path, "`date_part` of the nanoseconds", "`nanoseconds`")
            return "nanoseconds", [value]
        case "lead" | "lag", [value, Literal(value=int(count)) as offset, *others] if abs(count) > _FARTHEST:
            farthest = _FARTHEST if count > 0 else -_FARTHEST
            return name, [value, replace(offset, value=farthest), *others]
        case "date_bin", [Literal(value=str(text)), *others] if (stride := _interval(text)) is not None:
            return name, [stride, *others]
        case _:
            return name, arguments


def _default(value: Argument, type: Type, reading: Reading, path: Path) -> Argument:
    """Return the default of ``lead`` and ``lag`` as a value of the first argument's type, to which it is cast."""
    if not isinstance(value, Literal) or with_nullability(concrete(value.type), False) == with_nullability(type, False):
        return value
    return cast(different_cast(value, type, reading, path), type)


_NANOSECONDS: Final = frozenset({"nanosecond", "nanoseconds"})

#: months, days and nanoseconds
_UNITS: Final = {
    "century": (1200, 0, 0), "decade": (120, 0, 0), "year": (12, 0, 0), "month": (1, 0, 0), "week": (0, 7, 0),
    "day": (0, 1, 0), "hour": (0, 0, 3600 * 10**9), "minute": (0, 0, 60 * 10**9), "second": (0, 0, 10**9),
    "millisecond": (0, 0, 10**6), "microsecond": (0, 0, 1000), "nanosecond": (0, 0, 1),
}  # fmt: skip


def _interval(text: str) -> Literal | None:
    """The interval of a text like `1 day 2 hours`; None for one of another form."""
    if not re.fullmatch(rf"\s*(-?\d+\s+({'|'.join(_UNITS)})s?(\s+|$))+", text):
        return None
    found = re.findall(r"(-?\d+)\s+(\w+?)s?(?=\s|$)", text)
    months, days, nanos = (sum(int(count) * _UNITS[unit][part] for count, unit in found) for part in (0, 1, 2))
    return Literal(type=IntervalCompound(precision=9), value=Compound(months, days, *divmod(nanos, 10**9)))


def _interval_of_text(input: Expression, target: IntervalYear | IntervalDay | IntervalCompound) -> Expression:
    """The interval of a literal text, if there is one; another value as it is."""
    found = _interval(input.value) if isinstance(input, Literal) and isinstance(input.value, str) else None
    if found is None:
        return input
    value = found.value
    assert isinstance(value, Compound)
    match target:
        case IntervalCompound():
            return found
        case IntervalYear() if value[1:] == (0, 0, 0):
            return Literal(type=target, value=value.months)
        case IntervalDay(precision=precision) if value.months == 0 and value.subseconds % 10 ** (9 - precision) == 0:
            part = DayTime(value.days, value.seconds, value.subseconds // 10 ** (9 - precision))
            return Literal(type=target, value=part)
        case _:
            return input


def _of_text(input: Expression, target: Type, reading: Reading, path: Path) -> Expression:
    texts = _OF_TEXTS.get(target.__class__)
    if texts is None:
        return input
    if isinstance(input, Literal):
        if isinstance(input.value, str) and isinstance(target, PrecisionTimestamp):
            input = replace(input, value=_in_utc(input.value))
        same = next(pattern for kind, pattern in _SAME_TEXTS if isinstance(target, kind))
        if input.value is None or (isinstance(input.value, str) and same.fullmatch(input.value)):
            return input
    reading.plain = False
    before, after = texts
    before = f"a cast of a text to {target.__class__.keyword}, which takes {before}"
    habits.TEXT.note_once(reading, path, before, f"taken: {after}", key=before)
    return input


_WITH_OFFSET: Final = re.compile(
    rf"({_DATE})[ T](\d{{2}}:\d{{2}}:\d{{2}})(\.\d+)?\s?(?:([Zz])|([+-]\d{{2}}):?(\d{{2}})?)"
)


def _in_utc(text: str) -> str:
    """The text of a timestamp with an offset as one without, which is the instant in UTC; any other text as it is."""
    found = _WITH_OFFSET.fullmatch(text)
    if found is None:
        return text
    date, time, fraction, _, hours, minutes = found.groups()
    try:
        moment = datetime.fromisoformat(f"{date} {time}")
        offset = timedelta(hours=int(hours or 0), minutes=int(f"{(hours or '+')[0]}{minutes or 0}"))
        return f"{(moment - offset).isoformat(' ')}{fraction or ''}"
    except (ValueError, OverflowError):
        return text


def float_keys(types: Iterable[Type], reading: Reading, path: Path) -> None:
    """Note floating-point numbers whose order or equality decides: there DataFusion distinguishes signs."""
    if reading.made_by is Producer.DATAFUSION and any(map(_holds_float, types)):
        reading.plain = False
        before = (
            "floating-point numbers that are sorted, grouped, joined, looked up or correlated; -0.0 comes before 0.0 "
            "there, and what NaN gives depends on the other numbers"
        )
        after = "-0.0 equals 0.0, and NaN is the largest number"
        habits.FLOAT.note_once(reading, path, before, after)


def anti_join(condition: Expression | None, reading: Reading, path: Path) -> None:
    """Note an anti join of keys that may be null; DataFusion makes one of NOT IN, and writes it like NOT EXISTS."""
    if condition is not None and condition.type.nullable and reading.made_by is Producer.DATAFUSION:
        reading.plain = False
        before = (
            "an anti join on keys that may be null; if it was NOT IN, no record with such a key or beside one is left"
        )
        habits.ANTI_JOIN.note_once(reading, path, before, "NOT EXISTS: keys that are null match nothing")


def nested_keys(types: Iterable[Type], reading: Reading, path: Path) -> None:
    """Note lists and structs that are ordered and may have nulls in them."""
    if reading.made_by is Producer.DATAFUSION and any(map(_may_hold_null, types)):
        reading.plain = False
        before = "lists or structs that are ordered, with nulls in them that come first or last as the sort says"
        habits.NESTED.note_once(reading, path, before, "such a null is the smallest value")


def _may_hold_null(type: Type) -> bool:
    match concrete(type):
        case List(type=element):
            return element.nullable or _may_hold_null(element)
        case Struct(types=types):
            return any(one.nullable or _may_hold_null(one) for one in types)
        case _:
            return False


_ALONE: Final = frozenset({"min", "max", "distinct", "array_sort"})
_COMPARED: Final = _ALONE | frozenset(
    {
        "equal",
        "is_not_distinct_from",
        *("array_has", "array_has_all", "array_has_any", "array_position", "array_positions"),
        *("array_remove", "array_remove_n", "array_remove_all", "array_except", "array_intersect"),
        *("array_replace", "array_replace_n", "array_replace_all", "array_union"),
    }
)


def is_compared(name: str) -> bool:
    """Whether a function compares its arguments, or the values of a group."""
    return name in _COMPARED or name in _ORDERED


_ORDERED: Final = frozenset({"array_min", "array_max", "array_sort"})


def float_comparison(name: str, arguments: Sequence[Argument], reading: Reading, path: Path) -> None:
    """Note a comparison of columns that may become the key of a join, and the extreme or distinct values of a group."""
    if reading.made_by is not Producer.DATAFUSION or not is_compared(name):
        return
    if _NO_FLOATS.issuperset([getattr(item, "type", None).__class__ for item in arguments]):
        return
    values = [item for item in arguments if not isinstance(item, EnumArgument | TypeArgument)]
    types = [concrete(value.type) for value in values]
    if name in _ORDERED:
        nested_keys([type.type for type in types if isinstance(type, List)], reading, path)
    if name in ("min", "max"):
        nested_keys([type for type in types if isinstance(type, Struct)], reading, path)
    columns = [value for value in values if not isinstance(value, Literal)]
    if name in _COMPARED and (len(columns) > 1 or name in _ALONE):
        float_keys([value.type for value in columns], reading, path)


#: the classes of the most frequent types without a float in them, for a quick check
_NO_FLOATS: Final = LEAVES - {FP32, FP64}


def _holds_float(type: Type) -> bool:
    if type.__class__ in _NO_FLOATS:
        return False
    match concrete(type):
        case FP32() | FP64():
            return True
        case List(type=element):
            return _holds_float(element)
        case Struct(types=types):
            return any(map(_holds_float, types))
        case _:
            return False

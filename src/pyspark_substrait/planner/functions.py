"""The scalar functions of Spark SQL by name: their parameters, and the expression of Catalyst that each stands for.

A line is ``name(parameter, …) result = Class``. A parameter is a type that arguments are cast to, or ``any``, or
``same`` for arguments that are cast to the widest of their types; ``*`` repeats it, ``=`` gives the value of one that
is left out. The result tells DataFusion's planner a type, where it is always the same; the plan has that of the call.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from pyspark_substrait.planner.words import AGGREGATES, AGGREGATES_AS_THEY_ARE, CASES, NATIVE, OTHERS

__all__ = ["ALIASES", "Parameter", "Signature", "planned_functions", "signatures"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter.

    Args:
        type: its type.
        default: the value of one that is left out, as a text; None if it is required.
        repeated: whether any number of arguments follow.
    """

    type: str
    default: str | None
    repeated: bool


@dataclass(frozen=True, slots=True)
class Signature:
    """A function.

    Args:
        name: its name.
        parameters: its parameters.
        result: the type of the result, empty if it depends on the arguments.
        node: the class of Catalyst.
    """

    name: str
    parameters: tuple[Parameter, ...]
    result: str
    node: str

    def takes(self, count: int) -> bool:
        """Whether a number of arguments is possible."""
        least = sum(1 for one in self.parameters if one.default is None and not one.repeated)
        most = None if any(one.repeated for one in self.parameters) else len(self.parameters)
        return least <= count and (most is None or count <= most)

    def parameter(self, position: int) -> Parameter:
        """Return the parameter of an argument."""
        return self.parameters[min(position, len(self.parameters) - 1)]


_TABLE: Final = """
year(date) int = Year
month(date) int = Month
quarter(date) int = Quarter
day(date) int = DayOfMonth
dayofyear(date) int = DayOfYear
dayofweek(date) int = DayOfWeek
weekday(date) int = WeekDay
weekofyear(date) int = WeekOfYear
hour(timestamp) int = Hour
minute(timestamp) int = Minute
second(timestamp) int = Second
date_add(date, int) date = DateAdd
date_sub(date, int) date = DateSub
datediff(date, date) int = DateDiff
add_months(date, int) date = AddMonths
months_between(timestamp, timestamp, boolean=true) double = MonthsBetween
last_day(date) date = LastDay
next_day(date, string) date = NextDay
trunc(date, string) date = TruncDate
date_trunc(string, timestamp) timestamp = TruncTimestamp
date_format(timestamp, string) string = DateFormatClass
from_unixtime(long, string='yyyy-MM-dd HH:mm:ss') string = FromUnixTime
unix_timestamp(any, string='yyyy-MM-dd HH:mm:ss') long = UnixTimestamp
unix_date(date) int = UnixDate
make_date(int, int, int) date = MakeDate
upper(string) string = Upper
lower(string) string = Lower
initcap(string) string = InitCap
length(string) int = Length
octet_length(string) int = OctetLength
bit_length(string) int = BitLength
concat(string*) string = Concat
concat_ws(string, string*) string = ConcatWs
substring(string, int, int=2147483647) string = Substring
left(string, int) string = Left
right(string, int) string = Right
lpad(string, int, string=' ') string = StringLPad
rpad(string, int, string=' ') string = StringRPad
repeat(string, int) string = StringRepeat
replace(string, string, string='') string = StringReplace
reverse(string) string = Reverse
translate(string, string, string) string = StringTranslate
instr(string, string) int = StringInstr
locate(string, string, int=1) int = StringLocate
ascii(string) int = Ascii
chr(long) string = Chr
space(int) string = StringSpace
soundex(string) string = SoundEx
levenshtein(string, string) int = Levenshtein
overlay(string, string, int, int=-1) string = Overlay
split_part(string, string, int) string = SplitPart
substring_index(string, string, int) string = SubstringIndex
startswith(string, string) boolean = StartsWith
endswith(string, string) boolean = EndsWith
contains(string, string) boolean = Contains
rlike(string, string) boolean = RLike
regexp_replace(string, string, string, int=1) string = RegExpReplace
regexp_extract(string, string, int=1) string = RegExpExtract
regexp_count(string, string) int = RegExpCount
md5(binary) string = Md5
sha1(binary) string = Sha1
sha2(binary, int) string = Sha2
crc32(binary) long = Crc32
abs(number) = Abs
sqrt(double) double = Sqrt
cbrt(double) double = Cbrt
exp(double) double = Exp
expm1(double) double = Expm1
ln(double) double = Log
log10(double) double = Log10
log2(double) double = Log2
log1p(double) double = Log1p
power(double, double) double = Pow
sin(double) double = Sin
cos(double) double = Cos
tan(double) double = Tan
cot(double) double = Cot
asin(double) double = Asin
acos(double) double = Acos
atan(double) double = Atan
atan2(double, double) double = Atan2
sinh(double) double = Sinh
cosh(double) double = Cosh
tanh(double) double = Tanh
degrees(double) double = ToDegrees
radians(double) double = ToRadians
sign(double) double = Signum
rint(double) double = Rint
hypot(double, double) double = Hypot
factorial(int) long = Factorial
pi() double = Pi
e() double = EulerNumber
round(number, int=0) = Round
bround(number, int=0) = BRound
ceil(whole) = Ceil
floor(whole) = Floor
greatest(same, same, same*) = Greatest
least(same, same, same*) = Least
coalesce(same, same*) = Coalesce
isnull(any) boolean = IsNull
isnotnull(any) boolean = IsNotNull
isnan(double) boolean = IsNaN
nanvl(double, double) double = NaNvl
bit_count(long) int = BitwiseCount
current_date() date = CurrentDate
current_timestamp() timestamp = CurrentTimestamp
"""
#: other names of functions
ALIASES: Final[Mapping[str, str]] = {
    "dayofmonth": "day",
    "dateadd": "date_add",
    "date_diff": "datediff",
    "ucase": "upper",
    "lcase": "lower",
    "len": "length",
    "char_length": "length",
    "character_length": "length",
    "substr": "substring",
    "position": "locate",
    "char": "chr",
    "regexp_like": "rlike",
    "regexp": "rlike",
    "sha": "sha1",
    "pow": "power",
    "signum": "sign",
    "ceiling": "ceil",
    "ifnull": "coalesce",
    "nvl": "coalesce",
    "now": "current_timestamp",
    "curdate": "current_date",
}
_LINE: Final = re.compile(r"(\w+)\((.*)\) ?(\w*) = (\w+)")
_PARAMETER: Final = re.compile(r"(\w+)(\*?)(?:=('[^']*'|[^,]*))?(?:, |$)")


@cache
def signatures() -> Mapping[str, Signature]:
    """Return the functions by name."""
    found: dict[str, Signature] = {}
    for line in _TABLE.strip().splitlines():
        match = _LINE.fullmatch(line)
        assert match is not None, line
        name, parameters, result, node = match.groups()
        listed = tuple(
            Parameter(one[1], None if one[3] is None else one[3].strip("'"), bool(one[2]))
            for one in _PARAMETER.finditer(parameters)
        )
        found[name] = Signature(name, listed, result, node)
    found.update({alias: found[name] for alias, name in ALIASES.items()})
    return found


def planned_functions() -> str:
    """Return the names of all functions that are planned, as a paragraph of the documentation."""
    scalar = {*signatures(), *OTHERS, *CASES, *NATIVE}
    aggregate = {*AGGREGATES, *AGGREGATES_AS_THEY_ARE}

    def listed(names: set[str]) -> str:
        return ", ".join(f"`{name}`" for name in sorted(names))

    return f"Of values: {listed(scalar)}. Of groups and windows: {listed(aggregate)}."

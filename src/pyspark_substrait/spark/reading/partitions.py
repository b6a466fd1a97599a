"""Partition columns, whose values are in the paths of files: ``…/year=2024/month=1/part-0.parquet``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal as Number
from decimal import InvalidOperation
from urllib.parse import unquote

from pyspark_substrait.errors import TableError, UnsupportedPlanError
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
    FixedChar,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Type,
    VarChar,
    concrete,
)

__all__ = ["NULL", "Partition", "check_value", "partition_of"]

#: the text for null in a path
NULL = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True, slots=True)
class Partition:
    """The innermost folders of a file's path that have the form ``name=value``, without a gap.

    Args:
        base: the folder that contains the first of them.
        values: the values as texts, by name, from the outermost.
        above: the names in folders further up, which aren't used.
    """

    base: str
    values: Mapping[str, str]
    above: frozenset[str] = frozenset()


def partition_of(path: str) -> Partition:
    """Return the partition of a file."""
    scheme, colon, rest = path.rpartition("://")
    folders = rest.split("/")[:-1]
    start = len(folders)
    while start and _NAMED.fullmatch(folders[start - 1]):
        start -= 1
    values = dict(_pair(folder) for folder in folders[start:])
    above = frozenset(_pair(folder)[0] for folder in folders[:start] if _NAMED.fullmatch(folder))
    return Partition(scheme + colon + ("/".join(folders[:start]) or "/"), values, above)


_NAMED = re.compile("[^=]+=.+")


def _pair(folder: str) -> tuple[str, str]:
    name, _, value = folder.partition("=")
    return unquote(name), value if value == NULL else unquote(value)


def check_value(name: str, value: str, type: Type, path: str) -> None:
    """Refuse a value that doesn't fit the plan's type.

    Raises:
        TableError: it doesn't fit.
        UnsupportedPlanError: values of the type aren't written in paths.
    """
    if value == NULL:
        if not type.nullable:
            raise TableError(f"the path {path} says that {name} is null, but the plan says it never is")
        return
    fits = _FORMS.get(concrete(type).__class__)
    if fits is None:
        raise UnsupportedPlanError(f"the column {name} stands only in the paths of files, where no {type} is read from")
    if not fits(value, concrete(type)):
        raise TableError(f"the path {path} says {name}={value}, which is no {type}")


def _whole(bits: int) -> Callable[[str, Type], bool]:
    def fits(value: str, type: Type) -> bool:
        return bool(re.fullmatch(r"[+-]?[0-9]{1,19}", value)) and -(1 << bits - 1) <= int(value) < 1 << bits - 1

    return fits


def _is_decimal(value: str, type: Type) -> bool:
    assert isinstance(type, Decimal)
    try:
        number = Number(value)
    except InvalidOperation:
        return False
    if not number.is_finite() or not re.fullmatch(r"[+-]?[0-9]*\.?[0-9]*", value):
        return False
    scaled = number.scaleb(type.scale)
    return scaled == int(scaled) and abs(int(scaled)) < 10**type.precision


def _is_float(value: str, type: Type) -> bool:
    return bool(re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", value))


def _is_date(value: str, type: Type) -> bool:
    return bool(re.fullmatch(r"\d{4}-\d\d-\d\d", value)) and _parses(date.fromisoformat, value)


def _is_local(value: str, type: Type) -> bool:
    assert isinstance(type, PrecisionTimestamp | PrecisionTimestampTZ)
    found = re.fullmatch(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d{1,6})?", value)
    if found is None or len((found[1] or ".").rstrip("0")) - 1 > type.precision:
        return False
    return _parses(datetime.fromisoformat, value[:19])


def _parses(parse: Callable[[str], object], value: str) -> bool:
    try:
        parse(value)
    except ValueError:
        return False
    return True


def _is_text(value: str, type: Type) -> bool:
    return not isinstance(type, VarChar | FixedChar) or len(value) <= type.length


_FORMS: Mapping[type, Callable[[str, Type], bool]] = {
    String: _is_text,
    VarChar: _is_text,
    FixedChar: _is_text,
    Boolean: lambda value, type: value.lower() in ("true", "false"),
    I8: _whole(8),
    I16: _whole(16),
    I32: _whole(32),
    I64: _whole(64),
    Decimal: _is_decimal,
    FP32: _is_float,
    FP64: _is_float,
    Date: _is_date,
    PrecisionTimestamp: _is_local,
}


def needed(names: Iterable[str], partition: Partition, fold: Callable[[str], str], path: str) -> Sequence[str]:
    """Return those of the columns missing in a file that its path has values for.

    Raises:
        UnsupportedPlanError: only a folder further up has one.
    """
    known = {fold(name): name for name in partition.values}
    above = {fold(name) for name in partition.above}
    found = []
    for name in names:
        if fold(name) in known:
            found.append(known[fold(name)])
        elif fold(name) in above:
            raise UnsupportedPlanError(
                f"{path} has no column {name}, and its folder {name}=… has folders without a value below it",
                hint="Spark takes values from folders that lie one in the other, down to the file",
            )
    return found

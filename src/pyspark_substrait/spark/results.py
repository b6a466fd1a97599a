"""The rows of a result: shown as a table, written to one file."""

from __future__ import annotations

import base64
import datetime
import decimal
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from pyspark_substrait.errors import TableError

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["FileFormat", "as_table", "write_file"]

FileFormat = Literal["parquet", "csv", "json"]


def as_table(rows: pa.Table, *, types: bool = False) -> Table:
    """Rows as an aligned table for a terminal.

    Args:
        rows: few enough to look at.
        types: write the Arrow type of each column under its name.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for field in rows.schema:
        title = Text(field.name, style="bold")
        if types:
            title.append(f"\n{field.type}{'' if field.nullable else ' not null'}", style="dim not bold")
        numeric = pa.types.is_integer(field.type) or pa.types.is_floating(field.type) or pa.types.is_decimal(field.type)
        table.add_column(title, justify="right" if numeric else "left", overflow="fold")
    for row in zip(*(_values(column) for column in rows.columns), strict=True):
        table.add_row(*(Text("null", style="dim") if value is None else Text(_cell(value)) for value in row))
    return table


def write_file(rows: pa.Table, path: Path, form: FileFormat) -> None:
    """Write rows to one file, replacing what is there.

    JSON is one object a line; decimals, dates and times are text in it, so that no digit is lost, and binary is base64.

    Raises:
        TableError: the format can't hold a column.
    """
    if form == "parquet":
        import pyarrow.parquet

        try:
            pyarrow.parquet.write_table(rows, path)
        except pa.ArrowNotImplementedError as error:
            raise TableError(f"Parquet can't hold the rows: {error}", hint="Choose json") from error
    elif form == "csv":
        import pyarrow.csv

        for field in rows.schema:
            if pa.types.is_nested(field.type) or pa.types.is_binary(field.type):
                raise TableError(
                    f"CSV can't hold the column {field.name!r} of type {field.type}", hint="Choose parquet or json"
                )
        try:
            pyarrow.csv.write_csv(rows, path)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise TableError(f"CSV can't hold the rows: {error}", hint="Choose parquet or json") from error
    else:
        names = rows.column_names
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise TableError(f"JSON can't hold two columns with the name {twice[0]!r}", hint="Choose parquet or csv")
        columns = [_values(column) for column in rows.columns]
        with path.open("w", encoding="utf-8") as file:
            for row in zip(*columns, strict=True):
                record = {name: _plain(value) for name, value in zip(names, row, strict=True)}
                file.write(json.dumps(record, ensure_ascii=False) + "\n")


def _values(column: pa.ChunkedArray) -> list[Any]:
    """The values as Python has them; as text where it has no such time."""
    return [_value(scalar) for scalar in column]


def _value(scalar: pa.Scalar) -> Any:
    if not scalar.is_valid:
        return None
    match scalar:
        case pa.StructScalar():
            return {name: _value(part) for name, part in scalar.items()}
        case pa.MapScalar():
            return [(_value(pair["key"]), _value(pair["value"])) for pair in scalar.values]
        case pa.ListScalar():
            return [_value(item) for item in scalar.values]
        case pa.MonthDayNanoIntervalScalar():
            months, days, nanos = scalar.as_py()
            return f"{months} months, {_days(days * _NANOS_OF_DAY + nanos, 9)}"
        case pa.DurationScalar():
            digits = _DIGITS[scalar.type.unit]
            return _days(scalar.value, digits)
        case pa.TimestampScalar() | pa.Time64Scalar() if scalar.type.unit == "ns":
            return _moment(scalar)
        case pa.TimestampScalar() | pa.Date32Scalar():
            try:
                return scalar.as_py()
            except (OverflowError, ValueError):
                return _moment(scalar)
        case _:
            return scalar.as_py()


_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
_NANOS_OF_DAY = 86_400 * 10**9


def _moment(scalar: pa.Scalar) -> str:
    """A date or time in Arrow's words, in the form of ``isoformat``."""
    text = str(scalar.cast(pa.string()).as_py()).replace(" ", "T")
    return f"{text[:-1]}+00:00" if text.endswith("Z") else text


def _days(units: int, digits: int) -> str:
    """A span of time in units of ``10**-digits`` seconds, in the form that Python writes one."""
    seconds, rest = divmod(units, 10**digits)
    text = str(datetime.timedelta(seconds=seconds)) if abs(seconds) < _MOST_SECONDS else f"{seconds} s"
    return f"{text}.{rest:0{digits}d}" if rest else text


_MOST_SECONDS = 10**13


def _cell(value: Any) -> str:
    """A value as a reader writes it; nested ones as JSON."""
    plain = _plain(value)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """A Python value of Arrow as one that JSON has."""
    match value:
        case float() if not math.isfinite(value):
            return str(value)
        case None | bool() | int() | float() | str():
            return value
        case bytes():
            return base64.b64encode(value).decode("ascii")
        case decimal.Decimal():
            return format(value, "f")
        case datetime.date() | datetime.time():
            return value.isoformat()
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case _:
            return str(value)

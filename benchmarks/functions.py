"""``make bench-functions``: what a function costs a row where Spark has no one call for it, beside the nearest one.

A function's Spark SQL is timed over rows that Spark makes up, and the same rows without the function are taken off.
"""

from __future__ import annotations

import platform
import re
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

import click
from rich.console import Console

from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.extensions.definitions import FunctionDefinition
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.types import Func, Type, UserDefined, concrete
from pyspark_substrait.sql import functions
from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.fragment import Atom, Name
from pyspark_substrait.sql.functions.catalog import Combination, combinations, example_call

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_REGISTRY = Registry.default()
#: a value of each Spark type for the row ``id``; small, positive and of many kinds
_VALUES = {
    "BOOLEAN": "id % 3 = 0",
    "TINYINT": "CAST(id % 5 + 1 AS TINYINT)",
    "SMALLINT": "CAST(id % 11 + 1 AS SMALLINT)",
    "INT": "CAST(id % 11 + 1 AS INT)",
    "BIGINT": "id % 11 + 1",
    "FLOAT": "CAST((id % 1000 + 1) / 1001D AS FLOAT)",
    "DOUBLE": "(id % 1000 + 1) / 1001D",
    "STRING": "concat('Some text ', id % 1000)",
    "BINARY": "CAST(CAST(id AS STRING) AS BINARY)",
    "DATE": "date_from_unix_date(CAST(id % 30000 AS INT))",
    "TIMESTAMP_NTZ": "CAST(timestamp_micros(id * 1000003) AS TIMESTAMP_NTZ)",
    "TIMESTAMP": "timestamp_micros(id * 1000003)",
    "TIME(6)": "CAST(CAST(timestamp_micros(id * 1000003) AS TIMESTAMP_NTZ) AS TIME(6))",
    "INTERVAL DAY TO SECOND": "make_dt_interval(CAST(id % 10 AS INT), CAST(id % 20 AS INT))",
    "INTERVAL YEAR TO MONTH": "make_ym_interval(CAST(id % 10 AS INT), CAST(id % 12 AS INT))",
    "ARRAY<BIGINT>": "array(id % 7, id % 5, id % 3)",
    "ARRAY<STRING>": "array(concat('a', id % 7), 'b')",
}
#: what stands for text that has to be a constant, by the name of the argument
_CONSTANTS = {
    "timezone": "Europe/Berlin",
    "format": "%Y-%m-%d %H:%M:%S",
    "pattern": "t[ae]x+",
    "separator": " ",
    "replacement": "x",
}
#: a native call near each function that has none of its own
_NEAREST = {
    "regexp_match_substring": "regexp_extract(STRING_a, 't[ae]x+', 0)",
    "regexp_match_substring_all": "regexp_extract_all(STRING_a, 't[ae]x+', 0)",
    "regexp_strpos": "regexp_instr(STRING_a, 't[ae]x+')",
    "regexp_count_substring": "regexp_count(STRING_a, 't[ae]x+')",
    "regexp_replace": "regexp_replace(STRING_a, 't[ae]x+', 'x')",
    "regexp_string_split": "split(STRING_a, 't[ae]x+')",
    "strftime": "date_format(TIMESTAMP_a, 'yyyy-MM-dd HH:mm:ss')",
    "strptime_timestamp": "try_to_timestamp(STRING_a, 'yyyy-MM-dd HH:mm:ss')",
    "strptime_date": "try_to_date(STRING_a, 'yyyy-MM-dd')",
    "strptime_time": "try_to_time(STRING_a, 'HH:mm:ss')",
    "round_temporal": "date_trunc('HOUR', TIMESTAMP_a)",
    "round_calendar": "date_trunc('HOUR', TIMESTAMP_a)",
    "extract": "extract(HOUR FROM TIMESTAMP_a)",
    "extract_boolean": "dayofyear(DATE_a)",
    "assume_timezone": "to_utc_timestamp(TIMESTAMP_a, 'Europe/Berlin')",
    "local_timestamp": "from_utc_timestamp(TIMESTAMP_a, 'Europe/Berlin')",
    "round": "round(DOUBLE_a, 2)",
    "ceil": "ceil(DOUBLE_a)",
    "floor": "floor(DOUBLE_a)",
    "divide": "DOUBLE_a / DOUBLE_b",
    "power": "pow(DOUBLE_a, DOUBLE_b)",
    "factorial": "factorial(INT_a)",
    "center": "lpad(STRING_a, 30, ' ')",
    "title": "initcap(STRING_a)",
    "swapcase": "upper(STRING_a)",
    "capitalize": "upper(STRING_a)",
    "replace_slice": "overlay(STRING_a PLACING 'x' FROM 2 FOR 3)",
    "count_substring": "regexp_count(STRING_a, 'e')",
    "index_in": "array_position(`ARRAY<BIGINT>_a`, BIGINT_a)",
    "logb": "log(DOUBLE_b, DOUBLE_a)",
    **{name: f"{name}(DOUBLE_a)" for name in ("ln", "log10", "log2", "log1p", "sqrt")},
}
_NATIVE = re.compile(r"(CAST\()?(\w+\([^()]*\)|[~\w`.() ,<>]+ [-+*/%&|^<>=]+ [\w`.() ,<>]+)( AS [\w(), ]+\))?")
_FEW = 100_000
_LINE = "{:34.34} {:44.44} {:>12} {:>9}  {:46.46} {:>8} {:>7}"
_SECONDS = 5.0
#: nanoseconds a row; less than that isn't told from noise, so that ratios are taken to it
_SEEN = 5.0


@dataclass(frozen=True)
class _Text:
    """One Spark SQL of a function, with the columns it reads."""

    function: str
    values: str
    sql: str
    columns: tuple[str, ...]
    aggregate: bool


@click.command()
@click.option("--rows", default=10_000_000, help="Rows of each measurement; fewer where that would take long.")
@click.option("--rounds", default=3, help="How often each is measured; the median counts.")
@click.option("--most", default=4, help="The most texts of a function, spread over its overloads and options.")
@click.option("--function", "names", multiple=True, help="Only these functions; repeatable.")
@click.option("--master", default="local[*]")
def main(rows: int, rounds: int, most: int, names: tuple[str, ...], master: str) -> None:
    """Measure what functions cost a row."""
    from pyspark_substrait.spark.session_start import embedded_session

    spark = embedded_session(master, **{"spark.driver.memory": "4g"})
    console = Console(width=170)
    console.print(
        f"{date.today()}, {platform.machine()}, {master}, Spark {spark.version}, Python {platform.python_version()}"
    )
    console.print(_LINE.format("function", "values", "rows", "ns/row", "native", "ns/row", "ratio"))
    timing = _Timing(spark, rows, rounds)
    for name, texts in _texts(names):
        composed = [item for item in texts if not _NATIVE.fullmatch(item.sql) and (item.columns or item.aggregate)]
        for text in _spread(composed, most):
            native = _nearest(name, text, texts)
            try:
                count, own = timing.per_row(text.sql, text.columns)
                other = timing.per_row(native, _read(native))[1] if native else None
            except Exception as error:
                console.print(f"{text.function} {text.values}: {str(error).splitlines()[0][:200]}", markup=False)
                continue
            ratio = "" if other is None else f"{own / max(other, _SEEN):.1f}"
            beside = "" if other is None else f"{other:.1f}"
            line = _LINE.format(text.function, text.values, f"{count:,}", f"{own:.1f}", native or "", beside, ratio)
            console.print(line, markup=False, highlight=False, soft_wrap=True)


def _spread(items: list[_Text], most: int) -> list[_Text]:
    """At most so many of the items, the first and the last among them."""
    if len(items) <= most:
        return items
    return [items[round(position * (len(items) - 1) / max(most - 1, 1))] for position in range(most)]


class _Timing:
    """Times expressions over rows that Spark makes up."""

    def __init__(self, spark: SparkSession, rows: int, rounds: int) -> None:
        self.spark, self.rows, self.rounds = spark, rows, rounds
        self._known: dict[tuple[str, int], float] = {}

    def per_row(self, sql: str, columns: tuple[str, ...]) -> tuple[int, float]:
        """Over how many rows an expression was timed, and its nanoseconds a row, at least a half."""
        few = self._seconds(sql, columns, _FEW)
        count = self.rows if few / _FEW * self.rows < _SECONDS else max(_FEW, int(_SECONDS / few * _FEW))
        count = min(count, self.rows)
        bare = self._seconds(", ".join(f"`{name}`" for name in columns) or "1", columns, count)
        return count, max((self._seconds(sql, columns, count) - bare) / count * 1e9, 0.5)

    def _seconds(self, sql: str, columns: tuple[str, ...], rows: int) -> float:
        known = self._known.get((sql, rows))
        if known is None:
            source = ", ".join(f"{_value(name)} AS `{name}`" for name in columns) or "id"
            frame = self.spark.sql(f"SELECT {sql} AS v FROM (SELECT {source} FROM range({rows}))")
            taken = []
            for _ in range(self.rounds + 1):
                start = time.perf_counter()
                frame.write.format("noop").mode("overwrite").save()
                taken.append(time.perf_counter() - start)
            known = self._known[sql, rows] = statistics.median(taken[1:])
        return known


def _value(column: str) -> str:
    """How a column is made."""
    kind, _, letter = column.rpartition("_")
    found = _VALUES.get(kind)
    text = found if found is not None else f"CAST(id % 1000 + 1 AS {kind})"
    return text if letter == "a" else text.replace("id %", "(id + 3) %")


def _read(sql: str) -> tuple[str, ...]:
    """The columns that stand in a text."""
    return tuple(dict.fromkeys(re.findall(r"`([^`]+_[ab])`", sql) + re.findall(r"\b([A-Z]+_[ab])\b", sql)))


def _texts(names: tuple[str, ...]) -> Iterator[tuple[str, list[_Text]]]:
    """Each function with its different texts."""
    for urn, name, definitions in _REGISTRY.functions():
        if (names and name not in names) or urn.endswith("geometry"):
            continue
        found: dict[str, _Text] = {}
        for definition in definitions:
            if definition.kind == "window":
                continue
            for item in combinations(definition, functions.table(urn)):
                text = _text(definition, item)
                if text is not None:
                    found.setdefault(text.sql, text)
        yield name, list(found.values())


def _text(definition: FunctionDefinition, item: Combination) -> _Text | None:
    if item.row is None or item.refusal is not None or not callable(item.row.body):
        return None
    named = [_CONSTANTS[argument.name] for argument in definition.arguments if argument.name in _CONSTANTS]
    for constant in (*named, None, "a"):
        columns: dict[str, str] = {}

        def column(name: str, type: Type, columns: dict[str, str] = columns) -> Atom:
            type = concrete(type)
            if isinstance(type, Func):
                return Atom("p -> p > 3" if spark_type(type.return_type) == "BOOLEAN" else "p -> p + 1")
            kind = spark_type(type)
            taken = [own for other, own in columns.items() if other != name]
            letter = "b" if f"{kind}_a" in taken else "a"
            columns[name] = f"{kind}_{letter}"
            return Name(f"`{kind}_{letter}`")

        try:
            call = example_call(item, _REGISTRY, constant, column)
            if any(isinstance(operand.type, UserDefined) for operand in call.operands):
                return None
            sql = item.row.body(call)
        except SubstraitError:
            continue
        values = ", ".join({**item.enums, **item.options}.values())
        used = tuple(name for name in dict.fromkeys(columns.values()) if f"`{name}`" in sql)
        return _Text(definition.key, values, sql, used, definition.kind == "aggregate")
    return None


def _nearest(name: str, text: _Text, texts: list[_Text]) -> str | None:
    """A native call near a function: its own for the same types, else of the list, else any of its own."""
    own = [other for other in texts if other.columns and _NATIVE.fullmatch(other.sql)]
    same = next((other.sql for other in own if other.columns == text.columns), None)
    return same or _NEAREST.get(name) or (own[0].sql if own else None)


if __name__ == "__main__":
    main()

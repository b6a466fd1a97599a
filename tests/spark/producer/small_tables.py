"""Small tables with what goes wrong most: nulls, equal rows, empty texts, NaN, extremes, names that need quotes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["small_tables"]

_TABLES: Mapping[str, tuple[str, str]] = {
    "t": (
        "i INT, d DECIMAL(5,2), s STRING",
        "(1, 1.50, 'a'), (2, NULL, 'b'), (2, 0.50, ''), (NULL, 2.25, NULL), (3, -1.00, 'c'), (3, -1.00, 'c')",
    ),
    "u": (
        "k INT NOT NULL, x STRING, v BIGINT",
        "(1, 'a', 10), (2, NULL, 20), (2, 'b', NULL), (5, '1', 9223372036854775807), (0, '', -1)",
    ),
    "w": (
        "i INT, s STRING, z DOUBLE",
        "(1, 'a', 'NaN'), (2, 'b', '0.0'), (2, 'x', '-0.0'), (NULL, 'c', NULL), (7, NULL, '1e300')",
    ),
    "e": ("i INT, s STRING", "(0, '')"),
    "emp": (
        "id INT NOT NULL, name STRING, dept INT, boss INT, pay INT",
        "(1, 'Ann', 1, NULL, 100), (2, 'Bob', 1, 1, 80), (3, 'Cyd', 2, 1, 80), (4, 'Dan', NULL, 2, 60), "
        "(5, NULL, 2, 3, NULL), (6, 'Eve', 3, 2, 120)",
    ),
    "dept": ("id INT NOT NULL, name STRING", "(1, 'Ops'), (2, 'Dev'), (4, 'Law'), (5, NULL)"),
}
_EMPTY = ("e",)


def small_tables(spark: SparkSession) -> Mapping[str, DataFrame]:
    """The tables, by their names; they are temporary views as well."""
    made = {name: _table(spark, name, *parts) for name, parts in _TABLES.items()}
    for name, frame in made.items():
        frame.createOrReplaceTempView(name)
    return made


def _table(spark: SparkSession, name: str, columns: str, values: str) -> DataFrame:
    """A table of the given types; a column that is not null must not be in the values either."""
    definitions = [definition.strip().removesuffix(" NOT NULL").rsplit(" ", 1) for definition in columns.split(", ")]
    casts = ", ".join(f"CAST({column} AS {type}) AS {column}" for column, type in definitions)
    names = ", ".join(column for column, _ in definitions)
    kept = " WHERE false" if name in _EMPTY else ""
    return spark.sql(f"SELECT {casts} FROM VALUES {values} AS v ({names}){kept}")

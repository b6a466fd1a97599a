"""Spark's SQL as DuckDB's, by sqlglot, and what sqlglot leaves as it is though DuckDB takes it otherwise."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import sqlglot

__all__ = ["MACROS", "duckdb_sql"]

#: functions of Spark that DuckDB hasn't got, and one that writes a whole number as a decimal with so many places
MACROS: Final = (
    "CREATE MACRO raise_error(message) AS error(message)",
    "CREATE MACRO monotonically_increasing_id() AS row_number() OVER ()",
    "CREATE MACRO negative(number) AS -number",
    "CREATE MACRO rint(number) AS round_even(number, 0)",
    "CREATE MACRO padded_digits(text, places) AS "
    "lpad(ltrim(text, '-'), greatest(length(ltrim(text, '-')), places + 1)::INTEGER, '0')",
    "CREATE MACRO with_places(text, places) AS CASE WHEN text LIKE '-%' THEN '-' ELSE '' END "
    "|| left(padded_digits(text, places), length(padded_digits(text, places)) - places) || '.' "
    "|| right(padded_digits(text, places), places)",
)
_EXPONENT: Final = re.compile(r"E-(\d+)")


def duckdb_sql(text: str) -> str:
    """Return a query of Spark's SQL, in ANSI mode, as one of DuckDB's over the same tables, with :data:`MACROS`."""
    from sqlglot import exp, parse_one

    tree = parse_one(text, read=_ansi_spark())
    for group in tree.find_all(exp.Group):
        if group.args.get("grouping_sets"):  # GROUP BY a, b GROUPING SETS (…), where the sets alone count
            group.set("expressions", None)
    for interval in tree.find_all(exp.Interval):
        if isinstance(interval.unit, exp.IntervalSpan):  # INTERVAL '1 02:03:04' DAY TO SECOND
            days, _, clock = interval.this.name.lstrip("-").partition(" ")
            sign = "-" if interval.this.name.startswith("-") else ""
            interval.replace(parse_one(f"CAST('{sign}{days} days {sign}{clock}' AS INTERVAL)", read="duckdb"))
    for concat in tree.find_all(exp.Concat):
        exponent = _EXPONENT.fullmatch(concat.expressions[-1].name)
        if exponent and len(concat.expressions) == 2:  # '1234567E-6', which is no decimal to DuckDB
            places = exp.Literal.number(exponent[1])
            concat.replace(exp.Anonymous(this="with_places", expressions=[concat.expressions[0], places]))
    return str(tree.sql(dialect="duckdb"))


def _ansi_spark() -> type[sqlglot.Dialect]:
    """Return the dialect in which a CAST that fails is an error."""
    from sqlglot.dialects.spark import Spark

    base: Any = Spark.Parser

    class AnsiSpark(Spark):
        class Parser(base):  # type: ignore[misc]
            STRICT_CAST = True

    return AnsiSpark

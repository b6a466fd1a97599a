"""Regular expressions, there and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import pyspark_substrait as ps
from tests.spark.producer.round_trips import assert_round_trip
from tests.spark.producer.texts_and_times import texts_and_times

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: patterns as Java has them
PATTERNS = (
    "a",
    "a,b",
    "[a-c]+",
    "[^a-c]",
    "^a",
    "b$",
    "two$",
    "^line$",
    "(?m)^line$",
    "a.b",
    "(?s)line.line",
    "(?i)HELLO",
    "(?i)WÖRLD",
    r"\\d",
    r"\\w+",
    r"\\W",
    r"\\s+",
    r"\\bW",
    r"\\.",
    r"a\\%b",
    r"[\\w%]+",
    r"[\\s,]",
    "a|b|",
    "x*",
    "(a)(,)?",
    "(?:ab)+",
    "A.*?b",
    "(a|A)b{1,2}",
    "[a-z&&[^b]]",
    r"\\p{Lu}",
    "(?<=a).",
    "a++",
    "",
    "😀",
    ".",
    "[aä-ö]",
    r"\\R",
    r"(.)\\1",
)

EXPRESSIONS = (
    "regexp_replace(s, '[a-c]', '<$0>')",
    "regexp_replace(s, '([a-c])(,?)', '$2$1')",
    "regexp_replace(s, 'a', '')",
    "regexp_replace(s, 'a', 'z', 2)",
    "regexp_replace(s, ',', '\\\\\\\\')",
    "regexp_replace(s, 'b', '\\\\$')",
    "regexp_replace(s, 'a', s)",
    "regexp_replace(s, s, 'x') IS NULL",
    "regexp_extract(s, '([a-z])([,%])', 2)",
    "regexp_extract(s, '([a-z])([,%])')",
    "regexp_extract(s, 'a(x)?', 1)",
    "regexp_extract(s, 'zz', 0)",
    "regexp_extract_all(s, '([a-c])', 1)",
    "regexp_extract_all(s, '[A-Z]', 0)",
    "regexp_extract_all(s, 'a(x)?', 1)",
    "regexp_count(s, 'a|b'), regexp_count(s, '')",
    "regexp_instr(s, 'b'), regexp_instr(s, 'b', 1), regexp_instr(s, 'b', NULL), regexp_instr(s, '')",
    "regexp_substr(s, '[b-c]+')",
    "split(s, ',')",
    "split(s, ', ?')",
    "split(s, 'X', 2)",
    "split(s, '')",
    "split(s, '[ab]', -1)",
    "split(s, '\\\\|')",
    "split(s, ',', 0)",
    "split(s, 'a*')",
    "split(s, s) IS NULL",
    "s RLIKE concat('^', left(s, 1))",
    "regexp(s, 'a'), regexp_like(s, 'b'), NOT s RLIKE 'a'",
    "s RLIKE NULL",
)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_mean_the_same(spark: SparkSession, pattern: str) -> None:
    query = (
        f"SELECT s RLIKE '{pattern}' AS found, regexp_count(s, '{pattern}') AS count, split(s, '{pattern}') AS pieces, "
        f"regexp_replace(s, '{pattern}', '_') AS other, regexp_substr(s, '{pattern}') AS first, "
        f"regexp_instr(s, '{pattern}') AS place FROM texts"
    )
    assert_round_trip(spark, query, tables=texts_and_times(spark))


@pytest.mark.parametrize("expressions", EXPRESSIONS)
def test_functions_with_patterns(spark: SparkSession, expressions: str) -> None:
    assert_round_trip(spark, f"SELECT {expressions} FROM texts", tables=texts_and_times(spark))


@pytest.mark.parametrize(
    ("expression", "function"),
    [
        ("s RLIKE '^[a-c]+'", "regexp_strpos"),
        ("regexp_replace(s, '[0-9]+', '')", "regexp_replace"),
        ("regexp_count(s, 'a|b')", "regexp_count_substring"),
        ("regexp_instr(s, 'ab?')", "regexp_strpos"),
        ("split(s, ',')", "string_split"),
        ("split(s, '[,;]')", "regexp_string_split"),
    ],
)
def test_patterns_that_mean_the_same_in_icu_are_standard(spark: SparkSession, expression: str, function: str) -> None:
    tables = texts_and_times(spark)
    plan = ps.to_substrait(spark.sql(f"SELECT {expression} AS x FROM texts"), tables=tuple(tables))
    text = plan.to_json()
    assert f'"{function}:' in text
    assert "pyspark_substrait:functions" not in text

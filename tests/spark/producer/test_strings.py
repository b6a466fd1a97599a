"""Functions of texts and binary values, there and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import UnsupportedPlanError
from tests.spark.producer.round_trips import assert_round_trip
from tests.spark.producer.texts_and_times import texts_and_times

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.sweep

EXPRESSIONS = (
    "upper(s), lower(s), ucase(s), lcase(s)",
    pytest.param("initcap(s)", marks=pytest.mark.since("4.0", "an error where a title case has several letters")),
    "substr(s, 2), substring(s, 1, 2), substring(s, -3)",
    "substring(s, -30, 28), substring(s, 0, 2), substring(s, 3, -1)",
    "substring(s, i), substring(s, i, 2), substring(s, 2, i), substr(s, -2147483648)",
    "substring(b, 2), substring(b, -1, 1), left(b, 1), substring(b, i)",
    "left(s, 3), left(s, i), right(s, 3), right(s, i), left(s, -1), right(s, 0)",
    "concat(s, 'x', s), s || '!' || s, concat(s), concat(s, b), concat(b, X'00', b), s || i",
    "concat_ws(',', s, 'a', s), concat_ws(s, 'a', 'b'), concat_ws(NULL, s), concat_ws(','), concat_ws('-', s, NULL)",
    "concat_ws(',', array(s, 'a', NULL), s), concat_ws(',', CAST(NULL AS ARRAY<STRING>), s), concat_ws('', array())",
    "trim(s), ltrim(s), rtrim(s), btrim(s), trim(BOTH 'a ' FROM s), trim(s FROM 'a,b,a')",
    "trim(LEADING 'aA' FROM s), trim(TRAILING '0c' FROM s)",
    "ltrim('ab', s), rtrim('ab', s), btrim(s, 'ab'), trim('' FROM s)",
    "lpad(s, 5), rpad(s, 5), lpad(s, 12, 'xy'), rpad(s, i, 'xy'), lpad(s, -1, 'x'), rpad(s, 9, '')",
    "lpad(b, 5), rpad(b, 2, X'00FF'), lpad(b, 4, X'0102')",
    pytest.param("rpad(b, i)", marks=pytest.mark.since("4.0", "Spark itself fails for a negative length")),
    "length(s), char_length(s), len(s), octet_length(s), bit_length(s)",
    "length(b), octet_length(b), bit_length(b)",
    "repeat(s, 2), repeat(s, i), repeat(s, 0), repeat('ab', i), space(i), space(2)",
    "locate('a', s), locate('b', s, 3), locate('b', s, i), locate('', s), locate('a', s, 0), locate('a', s, NULL)",
    "position('b' IN s), position('b', s, 2), instr(s, 'b'), instr(s, s), instr(s, ''), instr(s, 'b', 1, 2)",
    "contains(s, 'a'), startswith(s, 'a'), endswith(s, 'b'), contains(s, s), contains(s, ''), startswith(s, NULL)",
    "contains(b, X'61'), startswith(b, X'61'), endswith(b, b)",
    "replace(s, 'a', 'zz'), replace(s, 'a'), replace(s, '', 'x'), replace(s, s, i), translate(s, 'ab', 'x')",
    "reverse(s), ascii(s), chr(i), chr(i + 300), char(65), soundex(s)",
    "reverse(b)",
    "levenshtein(s, 'abc'), levenshtein(s, 'abc', 2), levenshtein(s, s)",
    "overlay(s PLACING '_' FROM 2), overlay(s PLACING '_' FROM 2 FOR 0)",
    "overlay(s, 'xyz', i, 1), overlay(b PLACING X'00' FROM 1)",
    "format_number(i, 2), format_number(i * 12345.678, 1)",
    "format_number(i, '#,###.00'), format_number(1e10 * i, 3), format_number(i, -1)",
    "format_string('%d-%s|%5.2f', i, s, 1.5D), printf('%s', b IS NULL)",
    "format_string('%s %s', s, i), format_string('%05d', i)",
    "base64(b), unbase64(base64(b)), to_binary('abc', 'utf-8'), to_binary('ff'), to_binary(base64(b), 'base64')",
    "base64(CAST(repeat(s, 20) AS BINARY))",
    "try_to_binary(s, 'base64'), try_to_binary(s, 'hex'), try_to_binary(s, 'utf-8')",
    "encode(s, 'utf-8'), encode(s, 'UTF-16'), decode(b, 'iso-8859-1')",
    "decode(i, 5, 'five', 'other'), encode('x', 'us-ascii')",
    "to_number('1,234.50', '9,999.99') + i, try_to_number(s, '99.9'), to_number(CAST(i AS STRING), 'S99')",
    "to_char(i, 'S999'), to_varchar(12.5 * i, '999.9'), to_char(i, '$99')",
    "to_char(b, 'hex'), to_char(b, 'base64'), to_char(CAST(s AS BINARY), 'utf-8')",
    "elt(1, s, 'a'), elt(2, 'x', s), elt(1, b, X'00')",
    "find_in_set('b', s), find_in_set(s, 'a,b,c'), find_in_set('', s)",
    "sentences(s), sentences('Hello there. How are you?', 'en', 'US')",
    "mask(s), mask(s, 'Q', 'q', 'd', 'o'), mask(s, NULL, 'q'), mask('AbCD123-@$#')",
    "split_part(s, ',', 1), split_part(s, 'X', -1), split_part(s, ',', i + 4)",
    "substring_index(s, ',', 1), substring_index(s, 'X', -1), substring_index(s, '', 1), substring_index(s, ',', 0)",
    "quote(s)",
    "s = 'a,b', s < 'b', s <=> NULL, s >= upper(s), b = X'61', b < X'62'",
    "s BETWEEN 'A' AND 'b', s IN ('a,b', ''), b IN (X'', X'61'), greatest(s, 'b'), least(s, 'b')",
    "CASE s WHEN '' THEN 'empty' WHEN 'a,b' THEN s END, nvl(s, '?')",
    "nullif(s, ''), coalesce(s, CAST(i AS STRING), 'x')",
)

LIKES = (
    "s LIKE 'a%'",
    "s LIKE 'a_b'",
    "s LIKE '%\\\\%%'",
    "s LIKE '%\\\\\\\\%'",
    "s LIKE '%!%%' ESCAPE '!'",
    "s LIKE '%a%' ESCAPE 'x'",
    "s LIKE s",
    "s LIKE concat('%', s, '%')",
    "s LIKE ''",
    "s LIKE NULL",
    "s NOT LIKE '%b'",
    "s ILIKE 'HELLO%'",
    "s ILIKE '%!%%' ESCAPE '!'",
    "s LIKE ANY ('a%', '%😀')",
    "s LIKE ALL ('a%', '%b')",
    "s LIKE ANY ('a%', NULL)",
    "s LIKE ALL ('a%', NULL)",
    "s NOT LIKE ANY ('a%', '%b')",
    "s NOT LIKE ALL ('a%', '%b')",
    "s NOT LIKE ALL ('a%', NULL)",
    "s LIKE ANY ('a\\\\%%', s)",
    "s LIKE '%\\n%'",
)


@pytest.mark.parametrize("expressions", EXPRESSIONS)
def test_functions_of_texts(spark: SparkSession, expressions: str) -> None:
    assert_round_trip(spark, f"SELECT {expressions} FROM texts", tables=texts_and_times(spark))


@pytest.mark.parametrize("condition", LIKES)
def test_like(spark: SparkSession, condition: str) -> None:
    tables = texts_and_times(spark)
    assert_round_trip(spark, f"SELECT s, {condition} AS found FROM texts", tables=tables)
    assert_round_trip(spark, f"SELECT s FROM texts WHERE {condition}", tables=tables)


@pytest.mark.parametrize(
    ("expression", "function"),
    [
        ("upper(s)", "upper"),
        ("substr(s, 2)", "substring"),
        ("s LIKE 'a%'", "like"),
        ("s LIKE ANY ('a%', 'b%')", "or"),
        ("instr(s, 'a')", "strpos"),
        ("locate('a', s)", "strpos"),
        ("trim(s)", "trim"),
        ("repeat(s, 2)", "repeat"),
        ("length(s)", "char_length"),
        ("concat_ws(',', s, s)", "concat_ws"),
    ],
)
def test_what_the_standard_has_is_the_standard(spark: SparkSession, expression: str, function: str) -> None:
    tables = texts_and_times(spark)
    plan = ps.to_substrait(spark.sql(f"SELECT {expression} AS x FROM texts"), tables=tuple(tables))
    text = plan.to_json()
    assert f'"{function}:' in text
    assert "pyspark_substrait:functions" not in text


@pytest.mark.since("4.0", "no legacy settings of character sets")
def test_legacy_character_sets_are_refused(spark: SparkSession) -> None:
    tables = texts_and_times(spark)
    spark.conf.set("spark.sql.legacy.javaCharsets", "true")
    try:
        frame = spark.sql("SELECT encode(s, 'cp1252') FROM texts")
        with pytest.raises(UnsupportedPlanError, match="legacy settings"):
            ps.to_substrait(frame, tables=tuple(tables))
    finally:
        spark.conf.unset("spark.sql.legacy.javaCharsets")


@pytest.mark.parametrize("expression", ["elt(5, s)", "to_number(s, '9')", "unbase64('!')", "chr(i)"])
def test_errors_are_errors_there_too(spark: SparkSession, expression: str) -> None:
    tables = texts_and_times(spark)
    frame = spark.sql(f"SELECT {expression} AS x FROM texts")
    plan = ps.to_substrait(frame, tables=tuple(tables))
    outcomes = []
    for one in (frame, ps.from_substrait(ps.load(plan.to_bytes()), spark, tables=tables)):
        try:
            outcomes.append(repr(sorted(map(repr, one.collect()))))
        except Exception:  # Spark's own, whatever it is
            outcomes.append("an error")
    assert outcomes[0] == outcomes[1]

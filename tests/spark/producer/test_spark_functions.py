"""What only Spark has, there and back by our own extensions: the results are those of the query itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from pyspark.sql import functions as F

import pyspark_substrait as ps
from pyspark_substrait.errors import ExecutionError, UnsupportedPlanError
from tests.spark.producer.round_trips import assert_round_trip

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.sweep

_ROWS: Final = """VALUES
  (1, 10L, 1.5D, 'a', '{"a": 1, "b": [1, 2], "c": {"d": "x"}}', X'CAFE', DATE'2020-02-29',
   TIMESTAMP'2020-02-29 12:34:56.789'),
  (2, -5L, double('NaN'), '', '{"a": null, "b": []}', X'', DATE'1969-12-31', TIMESTAMP'1969-12-31 23:59:59.999999'),
  (3, 9223372036854775807L, double('Infinity'), 'Ünïcode ✓', '[1, {"a": 2}]', X'00FF', DATE'9999-12-31',
   TIMESTAMP'2038-01-19 03:14:07'),
  (3, 10L, -0.0D, 'a', 'no json', X'CAFE', DATE'2020-02-29',
   TIMESTAMP'2020-02-29 12:34:56.789'),
  (4, -9223372036854775808L, 1e300D, 'O''Brien, "x"', '', X'01', DATE'0001-01-01', TIMESTAMP'1900-01-01 00:00:00'),
  (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
  AS t (i, l, d, s, j, b, day, ts)"""

SCALAR: Final = (
    # hashes and ciphers
    "md5(b), sha1(b), sha(b), crc32(b), md5(s)",
    "sha2(b, 224), sha2(b, 256), sha2(b, 0), sha2(b, i), sha2(s, 512)",
    "hash(i, l, d, s, b, day, ts), hash(struct(i, s)), hash(array(s, 'x')), hash(CAST(i AS DECIMAL(20, 3)))",
    "xxhash64(i, l, d, s, b, day, ts), xxhash64(struct(i, s)), xxhash64(array(s))",
    "hmac(CAST('key' AS BINARY), b, 'SHA-256')",
    "hex(aes_encrypt(b, CAST('0000111122223333' AS BINARY), 'ECB', 'PKCS'))",
    "try_aes_decrypt(b, CAST('0000111122223333' AS BINARY))",
    "aes_decrypt(aes_encrypt(s, '0000111122223333', 'CBC'), '0000111122223333', 'CBC')",
    # digits and bits
    "bin(l), bin(i), hex(l), hex(s), hex(b)",
    "unhex(s), unhex('abc'), unhex(hex(l))",
    "conv(CAST(i AS STRING), 10, 2), conv(s, 16, -10), conv('zz', 36, i + 7)",
    "bit_count(i), bit_count(l), bit_count(i > 1), bit_get(l, 3), getbit(i, 0)",
    "bitmap_bit_position(l), bitmap_bucket_number(l), bitmap_count(b)",
    # JSON, CSV and XML
    "get_json_object(j, '$.a'), get_json_object(j, '$.b[1]'), get_json_object(j, '$.c.d'), get_json_object(j, s)",
    "json_array_length(j), json_object_keys(j), json_array_length('[1,2]')",
    "from_json(j, 'a INT, b ARRAY<INT>, c STRUCT<d: STRING>')",
    "from_json(j, 'a STRING, `odd name` DATE'), from_json(j, 'ARRAY<STRUCT<a: INT>>')",
    "from_json(j, 'MAP<STRING, STRING>'), from_json(j, 'a INT, bad STRING', map('columnNameOfCorruptRecord', 'bad'))",
    "from_json('{\"t\": \"26/10/2015 05\"}', 't TIMESTAMP', map('timestampFormat', 'dd/MM/yyyy HH'))",
    "to_json(struct(i, l, d, s, b, day, ts))",
    "to_json(struct(i AS `odd ``name`, struct(s AS a, array(struct(l AS x)) AS y) AS inner))",
    "to_json(array(struct(i, s), struct(i, s))), to_json(struct(i, s), map('ignoreNullFields', 'false'))",
    "to_json(struct(ts), map('timestampFormat', 'dd/MM/yyyy HH:mm', 'timeZone', 'Asia/Tokyo'))",
    "schema_of_json('{\"a\": [1, 2.5]}'), schema_of_json('{a: 1}', map('allowUnquotedFieldNames', 'true'))",
    "from_csv('1,x,2020-01-01', 'a INT, b STRING, c DATE'), from_csv(s, 'a STRING', map('sep', ';'))",
    "to_csv(struct(i, d, s, ts)), to_csv(struct(i, s), map('delimiter', '|', 'nullValue', '-'))",
    "schema_of_csv('1,abc'), schema_of_csv('1|abc', map('sep', '|'))",
    "from_xml('<p><a>1</a><b>x</b></p>', 'a INT, b STRING'), to_xml(struct(1 AS a, 'x' AS b))",
    "schema_of_xml('<p><a>1</a></p>')",
    "xpath('<a><b>b1</b><b>b2</b></a>', 'a/b/text()'), xpath_string('<a><b>b1</b></a>', 'a/b')",
    "xpath_int('<a><b>1</b><b>2</b></a>', 'sum(a/b)'), xpath_long('<a/>', 'a/b'), xpath_short('<a>7</a>', 'a')",
    "xpath_float('<a>x</a>', 'a'), xpath_double('<a>2.5</a>', 'a'), xpath_boolean('<a><b>1</b></a>', 'a/b')",
    # URLs and texts
    "parse_url('http://u@h:8080/p?q=1&r=2#f', 'HOST'), parse_url('http://h/p?q=1', 'QUERY', 'q')",
    "try_parse_url(s, 'HOST'), try_parse_url('http://h/p', upper('path'))",
    "url_encode(s), url_decode(url_encode(s)), try_url_decode('%zz'), try_url_decode(s)",
    "luhn_check(s), luhn_check('8112189876'), is_valid_utf8(s), make_valid_utf8(s)",
    "validate_utf8(s), try_validate_utf8(s)",
    "typeof(i), typeof(struct(i, s)), typeof(array(l))",
    # what the session knows
    "current_user(), current_catalog(), current_database(), version()",
    "monotonically_increasing_id() >= 0, spark_partition_id() >= 0, input_file_name()",
    "CASE WHEN i < 0 THEN raise_error('negative') ELSE i END",
    # sketches of single values, vectors
    "vector_inner_product(array(1F, 2F), array(3F, 4F)), vector_norm(array(3F, 4F), 2F)",
    "vector_cosine_similarity(array(1F, 0F), array(0F, 1F)), vector_l2_distance(array(1F), array(4F))",
    "vector_normalize(array(3F, 4F), 2F)",
    # random numbers: the seed is in the plan
    "rand(42), rand(1) + 1, randn(7), uuid(3), randstr(5, 0)",
    "uniform(10, 20, 0), uniform(1.5D, 2.5D, 1), uniform(1, 20L, 3)",
)

AGGREGATES: Final = (
    "sort_array(collect_list(s)), sort_array(collect_set(i)), size(collect_list(struct(i, s)))",
    "collect_list(i) FILTER (WHERE i > 1), collect_list(DISTINCT i)",
    "first(s), first(s, true), last(s) IGNORE NULLS, any_value(7)",
    "listagg(s), string_agg(s, ', '), listagg(s, '|') WITHIN GROUP (ORDER BY s DESC)",
    "listagg(DISTINCT s, ',') WITHIN GROUP (ORDER BY s), hex(listagg(b, X'00') WITHIN GROUP (ORDER BY b))",
    "percentile(i, 0.5), percentile(l, 0.25), percentile(i, array(0.1, 0.9)), percentile(i, 0.3, 2)",
    "percentile_cont(0.4) WITHIN GROUP (ORDER BY i), percentile_cont(0.4) WITHIN GROUP (ORDER BY i DESC)",
    "percentile_cont(0.4) WITHIN GROUP (ORDER BY i) FILTER (WHERE i > 1), mode(i) FILTER (WHERE l = 10)",
    "percentile_disc(0.4) WITHIN GROUP (ORDER BY i), percentile_disc(0.4) WITHIN GROUP (ORDER BY d DESC)",
    "percentile_approx(i, 0.5), percentile_approx(l, array(0.2, 0.8), 50), approx_percentile(d, 0.5, 10)",
    "percentile_approx(day, 0.5), percentile_approx(ts, 0.5)",
    "median(i), median(d), median(ts - ts)",
    "mode() WITHIN GROUP (ORDER BY i), mode() WITHIN GROUP (ORDER BY s DESC), mode(b)",
    "kurtosis(i), skewness(i), covar_pop(i, l), covar_samp(i, d)",
    pytest.param("corr(i, i)", marks=pytest.mark.since("4.3", "an error where all values are equal")),
    "regr_count(i, l), regr_avgx(i, l), regr_avgy(i, l), regr_slope(i, i + 1)",
    "regr_intercept(i, i + 1), regr_r2(i, i * 2), regr_sxx(i, i), regr_sxy(i, i), regr_syy(i, i)",
    "bit_and(i), bit_or(i), bit_xor(l), bit_and(CAST(i AS TINYINT))",
    "max_by(s, l), min_by(s, i), max_by(s, l) FILTER (WHERE i < 3), max_by(i, l, 2), min_by(i, l, 3)",
    "count_if(i > 1), try_sum(l), try_sum(i), try_sum(CAST(i AS DECIMAL(38, 0))), try_avg(i), try_sum(d)",
    "approx_count_distinct(i), approx_count_distinct(s, 0.2)",
    "histogram_numeric(i, 3), approx_top_k(i, 1)",
    "bitmap_count(bitmap_construct_agg(bitmap_bit_position(i))), md5(bitmap_or_agg(b)), md5(bitmap_and_agg(b))",
    "hll_sketch_estimate(hll_sketch_agg(i)), hll_sketch_estimate(hll_sketch_agg(s, 10))",
    "hll_sketch_estimate(hll_union(hll_sketch_agg(i), hll_sketch_agg(l, 8), true))",
    "theta_sketch_estimate(theta_union(theta_sketch_agg(i), theta_sketch_agg(s, 10)))",
    "theta_sketch_estimate(theta_intersection(theta_sketch_agg(i), theta_sketch_agg(i + 1)))",
    "kll_sketch_get_n_bigint(kll_sketch_agg_bigint(l))",
    "length(kll_sketch_to_string_bigint(kll_sketch_agg_bigint(l, 300))) > 0",
    "tuple_sketch_estimate_double(tuple_sketch_agg_double(i, 1.5D))",
    "hex(count_min_sketch(i, 0.5D, 0.5D, 1))",
    "vector_sum(array(CAST(i AS FLOAT), 1F)), vector_avg(array(CAST(i AS FLOAT), 1F))",
)


@pytest.fixture(autouse=True, scope="module")
def view(spark: SparkSession) -> None:
    spark.sql(f"SELECT * FROM {_ROWS}").createOrReplaceTempView("spark_functions")


@pytest.mark.parametrize("columns", SCALAR)
def test_a_function_of_values(spark: SparkSession, columns: str) -> None:
    assert_round_trip(spark, f"SELECT i, {columns} FROM spark_functions")


@pytest.mark.parametrize("columns", AGGREGATES)
def test_an_aggregate_function(spark: SparkSession, columns: str) -> None:
    assert_round_trip(spark, f"SELECT {columns} FROM spark_functions", tolerance=1e-12)
    assert_round_trip(spark, f"SELECT {columns} FROM spark_functions WHERE false", tolerance=1e-12)
    assert_round_trip(spark, f"SELECT i, {columns} FROM spark_functions GROUP BY i", tolerance=1e-12)


@pytest.mark.parametrize(
    "function", ["collect_list(s)", "collect_set(i)", "max_by(s, l)", "kurtosis(i)", "bit_or(i)", "skewness(d)"]
)
def test_an_aggregate_function_over_a_window(spark: SparkSession, function: str) -> None:
    over = "OVER (PARTITION BY i ORDER BY l ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    assert_round_trip(spark, f"SELECT i, l, {function} {over} FROM spark_functions", tolerance=1e-12)


@pytest.mark.parametrize(
    "columns",
    [
        "kll_sketch_get_quantile_bigint(kll_sketch_agg_bigint(l), 0.5)",
        "kll_sketch_get_quantile_float(kll_sketch_agg_float(CAST(i AS FLOAT)), array(0.1D, 0.9D))",
        "kll_sketch_get_rank_double(kll_sketch_agg_double(CAST(i AS DOUBLE), 100), 2D)",
        "kll_sketch_get_rank_bigint(kll_sketch_agg_bigint(i), array(1L, 3L))",
        "kll_sketch_get_n_double(kll_sketch_merge_double(kll_sketch_agg_double(d), kll_sketch_agg_double(d)))",
        "tuple_sketch_summary_integer(tuple_sketch_agg_integer(i, i))",
        "tuple_sketch_theta_integer(tuple_sketch_agg_integer(i, i))",
    ],
)
def test_sketches_of_some_values(spark: SparkSession, columns: str) -> None:
    assert_round_trip(spark, f"SELECT {columns} FROM spark_functions WHERE i IS NOT NULL AND NOT isnan(d)")


@pytest.mark.parametrize(
    "columns",
    [
        "to_base32(b), from_base32(to_base32(b)), jaro_winkler_similarity(s, 'a')",
        "time_from_seconds(i), time_from_seconds(1.5), time_from_millis(l % 1000), time_from_micros(i)",
        "time_to_seconds(TIME'10:00:01.5'), time_to_millis(TIME'10:00:01.5'), time_to_micros(TIME'23:59:59')",
        "vector_normalize(array(3F, CAST(i AS FLOAT)), 2F), vector_norm(array(CAST(i AS FLOAT)), 1F)",
    ],
)
def test_functions_of_few_values(spark: SparkSession, columns: str) -> None:
    assert_round_trip(spark, f"SELECT {columns} FROM spark_functions WHERE l = 10 OR i IS NULL")


def test_functions_of_the_dataframe_api(spark: SparkSession) -> None:
    frame = spark.table("spark_functions")
    assert_round_trip(
        spark, frame.select(F.md5("b"), F.from_json("j", "a INT"), F.to_json(F.struct("i", "s")), F.xxhash64("i", "s"))
    )
    assert_round_trip(
        spark, frame.groupBy("i").agg(F.sort_array(F.collect_list("s")), F.first("b", True), F.percentile("l", 0.5))
    )


def test_an_error_is_raised_where_spark_raises_it(spark: SparkSession) -> None:
    for query in (
        "SELECT raise_error('no ' || s) = 1 FROM spark_functions WHERE i = 1",
        "SELECT parse_url('inva lid://x', 'HOST') FROM spark_functions",
        "SELECT url_decode('%zz') FROM spark_functions",
        "SELECT aes_decrypt(b, CAST('0000111122223333' AS BINARY)) FROM spark_functions",
    ):
        plan = ps.to_substrait(spark.sql(query))
        with pytest.raises(ExecutionError):
            ps.run_query(plan.to_bytes(), spark=spark)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("SELECT reflect('java.util.UUID', 'randomUUID')", "arbitrary Java methods"),
        pytest.param("SELECT parse_json('1')", "VARIANT", marks=pytest.mark.since("4.0", "no VARIANT")),
        pytest.param(
            "SELECT hex(st_asbinary(st_geogfromwkb(X'0101000000000000000000F03F0000000000000040')))",
            "GEOGRAPHY",
            marks=pytest.mark.since("4.2", "no GEOGRAPHY"),
        ),
        ("SELECT to_json(struct(INTERVAL '1' YEAR AS a))", "INTERVAL YEAR TO MONTH"),
        pytest.param(
            "SELECT approx_top_k_estimate(approx_top_k_accumulate(i)) FROM spark_functions",
            "approx_top_k",
            marks=pytest.mark.since("4.1", "no approx_top_k"),
        ),
    ],
)
def test_what_cannot_go_out_says_why(spark: SparkSession, query: str, words: str) -> None:
    with pytest.raises(UnsupportedPlanError, match=words):
        ps.to_substrait(spark.sql(query))


def test_the_names_in_a_plan_are_data(spark: SparkSession) -> None:
    """A name with everything in it that could end a quoted one."""
    frame = spark.sql("SELECT to_json(struct(i AS `a``b'\"\\\\>,:`)) FROM spark_functions")
    assert_round_trip(spark, frame)

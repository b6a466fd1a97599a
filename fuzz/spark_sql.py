"""Random queries in Spark's SQL, over the tables of :mod:`tests.peers.random_sql`.

``query(seed)`` is the same for a seed, today and in every process. The rows of a query are determined: where an order
counts, ``id`` makes it one. Errors of data are rare, because numbers at the edges aren't computed with.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import ClassVar

from tests.peers.random_sql import TABLES, Maker, Scope

__all__ = ["TABLES", "query"]

_CONSTANTS: Mapping[str, tuple[str, ...]] = {
    "int": ("0", "1", "2", "7", "-3", "100", "5L", "CAST(NULL AS INT)", "3S", "2Y"),
    "float": ("0.5D", "1.25D", "-2D", "3e2", "0.1F"),
    "decimal": ("1.25", "2.50BD", "CAST(0 AS DECIMAL(10, 2))", "-3.0"),
    "text": ("'abc'", "''", "'äÖü'", "'x'", "'%'", "'a'", "'it''s'", "r'a\\b'"),
    "bool": ("true", "false", "CAST(NULL AS BOOLEAN)"),
    "date": ("DATE'2000-01-31'", "DATE'1582-10-15'", "DATE'2024-02-29'", "DATE'9999-12-31'"),
    "stamp": ("TIMESTAMP_NTZ'2000-01-01 12:00:00'", "TIMESTAMP_NTZ'1969-12-31 23:59:59.5'"),
    "list": (
        "array(1, 2, 3)",
        "CAST(array() AS ARRAY<INT>)",
        "array(1, NULL)",
        "CAST(NULL AS ARRAY<INT>)",
        "sequence(1, 4)",
    ),
    "texts": ("array('a', 'b')", "split('a,b,,c', ',')", "array('x', NULL, 'abc')"),
    "map": (
        "map('a', 1, 'b', 2)",
        "CAST(map() AS MAP<STRING, INT>)",
        "map('x', CAST(NULL AS INT))",
        "CAST(NULL AS MAP<STRING, INT>)",
    ),
    "struct": ("named_struct('p', 1, 'q', 'x')", "named_struct('p', CAST(NULL AS INT), 'q', 'abc')"),
}
_CALLS: Mapping[str, tuple[str, ...]] = {
    "int": (
        "{@int} % 10 + {@int} % 7", "{@int} % 5", "abs({@int} % 100)", "length({text})", "ascii({text})",
        "coalesce({@int}, 0)", "CASE WHEN {bool} THEN {@int} ELSE 0 END", "year({date})", "month({date})",
        "dayofweek({date})", "weekday({date})", "weekofyear({date})", "quarter({stamp})", "hour({stamp})",
        "minute({stamp})", "octet_length({text})", "nullif({@int}, 1)", "instr({text}, 'b')", "locate('b', {text}, 2)",
        "position('b' IN {text})", "CAST(round({float}) AS BIGINT)", "-({@int} % 50)", "if({bool}, {@int}, 3)",
        "CASE {@int} WHEN 1 THEN 10 WHEN 2 THEN 20 END", "greatest({@int}, 3)", "least({@int}, {@int}, 7)",
        "{@int} % 16 & 5", "{@int} % 8 | 1", "{@int} % 8 ^ 3", "~({@int} % 8)", "levenshtein({text}, 'abd')",
        "{@int} div 3", "pmod({@int}, 7)", "shiftleft({@int} % 8, 2)", "shiftright({@int} % 100, 1)",
        "bit_count({@int})",
        "datediff({date}, DATE'2000-01-01')", "try_add({@int}, 1)", "try_divide({@int}, 0)", "nvl({@int}, 7)",
        "nvl2({@int}, 1, 2)", "ifnull({@int}, {@int})", "size({list})", "cardinality({list})", "array_max({list})",
        "array_position({list}, 2)", "element_at({list}, -1)", "try_element_at({list}, 9)", "{list}[0]",
        "get({list}, 5)", "aggregate({list}, 0, (a, x) -> a + coalesce(x, 1))", "array_size({texts})", "{map}['a']",
        "element_at({map}, 'b')", "{struct}.p", "hash({text})", "xxhash64({@int})", "crc32(CAST({text} AS BINARY))",
        "regexp_count({text}, '[a-c]')", "regexp_instr({text}, 'b')", "find_in_set({text}, 'a,abc,x')", "sign({@int})",
        "CAST({@decimal} AS INT)", "TRY_CAST({text} AS INT)", "CAST({bool} AS INT)", "bigint({@int} % 9) * 3",
        "extract(DAY FROM {stamp})", "date_part('DOY', {date})", "unix_date({date})", "char_length({text})",
        "CAST(months_between({date}, DATE'2000-01-31') AS INT)", "bit_length({text})",
        "width_bucket({float}, 0D, 10D, 5)",
        "{@int}::bigint % 3", "(SELECT max(k) FROM u)", "array_min(array({@int}, 3))", "factorial(abs({@int} % 5))",
        "try_to_number({text}, '999')", "CASE WHEN {bool} THEN 1 WHEN {bool} THEN 2 END", "ceil({float})",
        "floor({@decimal})", "nullifzero({@int})", "zeroifnull({@int})", "equal_null({@int}, 1)::int",
    ),
    "float": (
        "{float} + {float}", "{float} * 2", "{float} - {@int} % 10", "abs({float})", "round({float}, 1)",
        "bround({float}, 0)", "sqrt(abs({float}))", "{float} / 4", "CAST({@int} % 10 AS DOUBLE)", "exp({float} / 100)",
        "power(abs({float}), 2)", "CASE WHEN {bool} THEN {float} END", "coalesce({float}, 0.5D)", "sin({float})",
        "CAST({@decimal} AS DOUBLE)", "ln(abs({float}) + 1)", "sign({float})", "nanvl({float}, 0D)",
        "log1p(abs({float}))",
        "atan2({float}, 2D)", "log10(abs({float}) + 1)", "cbrt({float})", "degrees({float})", "{float} % 3D",
        "greatest({float}, 1D)", "nullif({float}, 0.5D)", "{@int} % 7 / 2", "log(2D, abs({float}) + 1)",
        "radians({float})",
        "-{float}", "+{float}", "pi()", "e()", "hypot({float}, 1D)", "rint({float})", "expm1({float} / 100)", "cot(1D)",
        "tanh({float})", "pmod({float}, 3D)", "try_divide({float}, 0D)", "TRY_CAST({text} AS DOUBLE)",
        "float({@int} % 5)",
        "if({bool}, 1D, {float})", "aggregate({list}, 0D, (a, x) -> a + x, a -> a / 2)",
        "months_between({date}, DATE'2000-01-15')",
    ),
    "decimal": (
        "{@decimal} + {@decimal}", "{@decimal} - 1", "{@decimal} * 2", "abs({@decimal})", "-{@decimal}",
        "coalesce({@decimal}, CAST(0 AS DECIMAL(10, 2)))", "{@decimal} / 3", "{@decimal} * {@decimal}",
        "CAST({@int} % 100 AS DECIMAL(10, 2))", "CASE WHEN {bool} THEN {@decimal} END", "nullif({@decimal}, 3)",
        "greatest({@decimal}, {@decimal})", "{@decimal} + {@int} % 10", "CAST({@decimal} AS DECIMAL(12, 1))",
        "least({@decimal}, 5)", "round({@decimal}, 1)", "bround({@decimal}, 0)", "{@decimal} % 2",
        "ceil({@decimal}, 1)",
        "floor({@decimal})", "TRY_CAST({text} AS DECIMAL(6, 2))", "round({@decimal}, -1)", "{@decimal} / 7.25",
        "0.1 + 0.20",
    ),
    "text": (
        "upper({text})", "lower({text})", "trim({text})", "{text} || {text}", "concat({text}, '-', {text})",
        "substr({text}, 2, 2)", "substring({text}, -2)", "replace({text}, 'b', 'xx')", "reverse({text})",
        "lpad({text}, 5, '*')", "rpad({text}, 4)", "left({text}, 2)", "right({text}, 1)", "coalesce({text}, 'none')",
        "CASE WHEN {bool} THEN {text} ELSE 'y' END", "CAST({@int} AS STRING)", "CAST({date} AS STRING)",
        "split_part({text}, 'b', 1)", "initcap({text})", "CAST({@decimal} AS STRING)", "repeat({text}, 2)",
        "nullif({text}, 'abc')", "concat_ws(',', {text}, {text})", "concat_ws('-', {texts})", "CAST({bool} AS STRING)",
        "regexp_replace({text}, '[a-c]', 'z')", "regexp_extract({text}, '(a)(b)', 2)", "md5({text})",
        "sha2({text}, 256)",
        "translate({text}, 'ab', 'x')", "date_format({stamp}, 'yyyy-MM-dd HH:mm')",
        "overlay({text} PLACING 'X' FROM 2 FOR 1)",
        "substring_index({text}, 'b', 1)", "greatest({text}, 'b')", "CASE {text} WHEN 'abc' THEN 'one' END",
        "hex({@int} % 100)",
        "chr(65 + {@int} % 5)", "btrim({text}, 'a')", "ltrim({text})", "trim(TRAILING 'c' FROM {text})", "space(2)",
        "base64(CAST({text} AS BINARY))", "bin({@int} % 9)", "elt(2, {text}, 'z')", "format_number({float}, 2)",
        "element_at({texts}, 1)", "array_join({texts}, '+', '?')", "{struct}.q", "map_keys({map})[0]",
        "soundex({text})",
        "regexp_substr({text}, 'b.')", "CAST({stamp} AS STRING)", "conv(CAST({@int} % 9 AS STRING), 10, 2)", "'it''s'",
        "mask({text})", "format_string('%s-%d', {text}, {@int})", "dayname({date})", "monthname({date})",
        "quote({text})",
        "to_json({struct})", "string({list})", "CAST({float} AS STRING)", "array_sort({texts})[0]",
        "url_encode({text})",
    ),
    "bool": (
        "{@int} > {@int}", "{@int} = 1", "{float} < {float}", "{text} = {text}", "{text} LIKE '%b%'", "{@int} IS NULL",
        "{text} IS NOT NULL", "{date} >= {date}", "{@decimal} <= 3", "NOT {bool}", "{bool} AND {bool}",
        "{bool} OR {bool}",
        "{@int} IN (1, 2, 7)", "{text} IN ('abc', 'x')", "{@int} BETWEEN 0 AND 5", "{@int} NOT BETWEEN 0 AND 5",
        "{@int} <=> {@int}", "{@int} IS DISTINCT FROM {@int}", "startswith({text}, 'a')", "endswith({text}, 'c')",
        "{stamp} > {stamp}", "{float} IS NULL", "{bool} IS TRUE", "{text} ILIKE '%B%'", "{text} RLIKE '^a.c'",
        "{@int} NOT IN (1, 100)", "{@decimal} > {@int}", "{float} > {@int}", "regexp_like({text}, '[a-c]+')",
        "{date} BETWEEN DATE'1970-01-01' AND DATE'2024-01-01'", "contains({text}, 'b')", "{text} < {text}",
        "{bool} IS NOT FALSE", "{bool} = {bool}", "{date} IN (DATE'1970-01-01')", "coalesce({bool}, false)",
        "{@int} IN (NULL, 1)", "nullif({bool}, true)", "{text} NOT LIKE '_b%'", "{text} LIKE ANY ('a%', '%c')",
        "{text} LIKE ALL ('a%', '%c')", "{text} LIKE 'a!%%' ESCAPE '!'", "array_contains({list}, 2)",
        "exists({list}, x -> x > 2)",
        "forall({list}, x -> x > 0)", "arrays_overlap({list}, {list})", "isnan({float})",
        "map_contains_key({map}, 'a')",
        "{struct} = {struct}", "(bigint({@int}), {text}) = (1L, 'abc')",
        "(bigint({@int}), {text}) IN ((1L, 'abc'), (2L, 'x'))",
        "{date} + INTERVAL '1' YEAR > {date}", "{text} <=> NULL", "{list} = {list}", "{list} < {list}",
        "{@int} = {@decimal}", "{text} >= 'b'",
        "if({bool}, {bool}, false)", "{@int} != {@int}", "{@int} <> 3", "isnull({text})", "!{bool}",
    ),
    "date": (
        "{@date}", "CAST({stamp} AS DATE)", "coalesce({@date}, DATE'2000-01-01')", "{some_date} + INTERVAL '1' MONTH",
        "{some_date} - INTERVAL '3' DAY", "CASE WHEN {bool} THEN {@date} END", "nullif({@date}, DATE'1970-01-01')",
        "date_add({some_date}, 30)", "date_sub({some_date}, 3)", "add_months({some_date}, CAST({@int} % 5 AS INT))",
        "last_day({some_date})",
        "next_day({some_date}, 'MO')", "trunc({date}, 'MONTH')", "make_date(2020, 1, 31)", "to_date('2020-01-31')",
        "TRY_CAST({text} AS DATE)", "greatest({date}, DATE'2000-01-01')",
        "date_from_unix_date(CAST({@int} % 100 AS INT))",
        "{some_date} + CAST({@int} % 9 AS INT)",
    ),
    "stamp": (
        "{@stamp}", "CAST({date} AS TIMESTAMP_NTZ)", "{@stamp} + INTERVAL '1' DAY",
        "coalesce({@stamp}, TIMESTAMP_NTZ'2000-01-01')",
        "{@stamp} - INTERVAL '1' MONTH", "{@stamp} + INTERVAL '1 02:03:04.5' DAY TO SECOND",
        "CASE WHEN {bool} THEN {@stamp} END",
        "greatest({@stamp}, TIMESTAMP_NTZ'2000-01-01')", "make_timestamp_ntz(2020, 1, 31, 1, 2, 3.5)",
    ),
    "list": (
        "array({@int}, 2, {@int})", "array_distinct({list})", "array_union({list}, {list})",
        "array_except({list}, {list})",
        "array_intersect({list}, {list})", "array_remove({list}, 2)", "sort_array({list}, false)", "array_sort({list})",
        "slice({list}, 1, 2)", "reverse({list})", "concat({list}, {list})", "filter({list}, x -> x > 1)",
        "array_compact({list})",
        "transform({list}, x -> x + 1)", "transform({list}, (x, i) -> x * i)", "array_repeat({@int}, 2)",
        "flatten(array({list}, {list}))",
        "zip_with({list}, {list}, (x, y) -> coalesce(x, 0) - coalesce(y, 0))", "array_append({list}, 9)",
        "array_prepend({list}, 0)",
        "array_insert({list}, 2, 5)", "map_values({map})", "if({bool}, {list}, NULL)", "sequence(1, 3)",
        "coalesce({list}, array(0))",
        "array_sort({list}, (x, y) -> CASE WHEN x < y THEN 1 WHEN x > y THEN -1 ELSE 0 END)",
        "transform({texts}, x -> length(x))",
    ),
    "texts": (
        "split({text}, 'b')", "array({text}, 'b')", "map_keys({map})", "transform({texts}, x -> upper(x))",
        "array_distinct({texts})",
        "filter({texts}, x -> x LIKE 'a%')", "regexp_extract_all({text}, '([a-c])', 1)", "array_sort({texts})",
        "sentences('a b. c')[0]",
    ),
    "map": (
        "map({some_text}, {@int})", "map_concat(map('y', 1), map('z', 2))",
        "map_from_arrays(array('a', 'b'), array(1, {@int}))",
        "map_filter({map}, (k, v) -> v > 1)", "transform_values({map}, (k, v) -> v + 1)",
        "map_from_entries(array(struct('a', {@int})))", "if({bool}, {map}, map('q', 4))",
    ),
    "struct": (
        "named_struct('p', {@int}, 'q', {text})", "struct({@int} AS p, {text} AS q)", "if({bool}, {struct}, NULL)",
        "coalesce({struct}, named_struct('p', 0, 'q', ''))", "array({struct})[0]",
        "CASE WHEN {bool} THEN {struct} ELSE {struct} END",
    ),
}  # fmt: skip
_SPECIAL: Mapping[str, tuple[str, ...]] = {
    "some_date": ("DATE'2000-01-31'", "DATE'2024-02-29'", "DATE'1970-01-01'"),
    "some_text": ("'a'", "'b'", "'x y'"),
}
_AGGREGATES = (
    "count(*)", "count({@int})", "count(DISTINCT {@int})", "sum({@int})", "sum({float})", "sum({@decimal})",
    "avg({@int})",
    "avg({@decimal})", "avg({float})", "min({@int})", "max({text})", "min({date})", "max({@decimal})", "min({stamp})",
    "bool_and({bool})", "bool_or({bool})", "every({bool})", "count(DISTINCT {text})", "sum(DISTINCT {@int} % 5)",
    "stddev({float})", "var_pop({float})", "median({@int})", "bit_or({@int} % 8)", "bit_xor({@int} % 8)",
    "max({float})",
    "min({bool})", "corr({float}, {float})", "covar_samp({float}, {float})", "count({text}) FILTER (WHERE {bool})",
    "sum({@int}) FILTER (WHERE {bool})", "percentile({float}, 0.5)", "array_sort(collect_list({@int}))",
    "array_sort(collect_set({text}))", "count_if({bool})", "skewness({float})", "kurtosis({float})",
    "max_by({text}, t.id)",
    "min_by({@int}, t.id)", "regr_slope({float}, {float})", "count({@int}, {text})", "count(DISTINCT {@int}, {text})",
    "percentile_cont(0.25) WITHIN GROUP (ORDER BY {float})", "mode({@int} % 1)", "sum({@int}) + count(*)",
    "max(struct({@int}, {text}))", "avg(DISTINCT {@int} % 7)", "listagg({text}, ',') WITHIN GROUP (ORDER BY t.id)",
    "try_sum({@int})", "grouping_id()", "max({list})", "any_value({@int} % 1)",
    "histogram_numeric({@int} % 1, 2) IS NULL",
)  # fmt: skip
_WINDOWED = (
    "row_number()", "rank()", "dense_rank()", "ntile(3)", "lag({@int})", "lead({text}, 2, 'none')", "percent_rank()",
    "first_value({@int})", "last_value({text})", "sum({@int})", "count(*)", "avg({@decimal})", "max({date})",
    "min({text})",
    "cume_dist()", "nth_value({@int}, 2)", "count({text})", "first({@int}) IGNORE NULLS", "lag({@int}, 1) IGNORE NULLS",
    "sum({@int}) FILTER (WHERE {bool})", "collect_list({@int})", "last({text}, true)", "stddev_pop({float})",
    "max(struct({@int}))",
)  # fmt: skip
#: {test}, {inner} and {on} are conditions over t, u and both; {value} and {text} are the same at each use
_SHAPES = (
    "SELECT t.id FROM t WHERE {test} OR t.g NOT IN (SELECT u.g FROM u WHERE {inner})",
    "SELECT t.id FROM t WHERE t.g NOT IN (SELECT u.g FROM u WHERE u.m > t.n)",
    "SELECT t.id FROM t WHERE NOT (t.g IN (SELECT u.g FROM u WHERE {inner}) AND {test})",
    "SELECT t.id FROM t WHERE CASE WHEN t.g IN (SELECT u.g FROM u WHERE {inner}) THEN {test} ELSE t.id > 3 END",
    "SELECT t.id FROM t WHERE coalesce(t.g IN (SELECT u.g FROM u), {test})",
    "SELECT t.id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.g = t.g AND (u.k > 103 OR u.m NOT IN (SELECT n FROM t)))",
    "SELECT t.b, min(array({value})) AS c, max({cells}) AS d FROM t GROUP BY t.b",
    "SELECT t.id, {cells} AS c FROM t WHERE {test} ORDER BY c DESC, t.id LIMIT 3",
    "SELECT t.id, e.x FROM t LATERAL VIEW explode({cells}) e AS x WHERE {test}",
    "SELECT t.id, e.* FROM t LATERAL VIEW OUTER posexplode({cells}) e AS p, x",
    "SELECT t.id, explode({cells}) AS x FROM t",
    "SELECT t.id, inline(array(struct({value}, {text}), struct(1, 'x'))) AS (a, b) FROM t",
    "SELECT t.id, stack(2, bigint({value}), {text}, 0L, 'y') AS (a, b) FROM t",
    "SELECT t.id, q.m FROM t, LATERAL (SELECT max(u.m) AS m FROM u WHERE u.g = t.g AND {inner}) q",
    "SELECT t.id, q.k FROM t LEFT JOIN LATERAL (SELECT u.k FROM u WHERE u.g = t.g AND {inner}) q ON true",
    "SELECT * FROM (SELECT t.g, t.b, t.id FROM t WHERE {test}) PIVOT (count(*) AS n, max(id) AS m FOR b IN "
    "(true, false))",
    "SELECT * FROM (SELECT t.id, t.g, bigint({value}) AS x FROM t) UNPIVOT INCLUDE NULLS (v FOR c IN (g, x))",
    "SELECT t.g, t.b, {measure} AS c FROM t WHERE {test} GROUP BY ALL",
    "SELECT t.g, t.b, grouping_id() AS i, {measure} AS c, {other} AS d FROM t GROUP BY t.g, t.b WITH ROLLUP",
    "SELECT t.g, {measure} AS c, {other} AS d FROM t GROUP BY t.g HAVING min({value}) > 2 OR count(*) > 1",
    "SELECT t.g AS k, {value} AS x FROM t WHERE {test} ORDER BY t.id LIMIT 5 OFFSET 1",
    "SELECT a, a + 1 AS b, b * 2 AS c FROM (SELECT {value} % 100 AS a FROM t)",
    "SELECT {value} % 50 AS a, a + 1 AS b FROM t WHERE {test}",
    "SELECT {joined} FROM t LEFT JOIN u ON t.g = u.g AND {on}",
    "SELECT {joined} FROM t FULL JOIN u ON t.g = u.g WHERE {on}",
    "SELECT {joined} FROM t JOIN u ON t.g <=> u.g AND t.id < u.k AND {on}",
    "SELECT t.id FROM t LEFT ANTI JOIN u ON t.g = u.g AND {on}",
    "SELECT t.id FROM t LEFT SEMI JOIN u ON {on}",
    "SELECT t.id, w1, w2 FROM (SELECT t.id, sum(t.id) OVER w AS w1, count({value}) OVER w AS w2 FROM t "
    "WINDOW w AS (PARTITION BY t.b ORDER BY t.id)) t",
    "SELECT t.id, sum(t.id) OVER (ORDER BY t.day RANGE BETWEEN INTERVAL '400' DAY PRECEDING AND CURRENT ROW) "
    "AS c FROM t WHERE {test}",
    "SELECT t.id, count(*) OVER (ORDER BY t.v RANGE BETWEEN 1D PRECEDING AND 2D FOLLOWING) AS c FROM t WHERE {test}",
    "SELECT t.id, max({text}) OVER (PARTITION BY t.g ORDER BY t.n DESC NULLS LAST RANGE BETWEEN 5 PRECEDING "
    "AND UNBOUNDED FOLLOWING) AS c FROM t",
    "WITH q AS (SELECT t.g, {measure} AS x FROM t GROUP BY t.g) SELECT a.g, b.x FROM q a JOIN q b ON a.g <=> "
    "b.g WHERE a.g > 1 OR b.g IS NULL",
    "SELECT t.id FROM t WHERE (t.g, t.s) IN (SELECT u.g, u.z FROM u WHERE {inner}) OR {test}",
    "SELECT t.id FROM t WHERE (t.g, t.s) NOT IN (SELECT u.g, u.z FROM u WHERE {inner})",
    "SELECT t.id, t.g IN (SELECT u.g FROM u WHERE {inner}) AS c, EXISTS (SELECT 1 FROM u WHERE u.g = t.g) AS "
    "d FROM t",
    "SELECT t.id, CASE WHEN EXISTS (SELECT 1 FROM u WHERE u.g = t.g AND {inner}) THEN {value} ELSE -1 END AS "
    "c FROM t",
    "SELECT t.id, (SELECT count(*) FROM u WHERE u.g = t.g AND u.m > {value}) AS c FROM t",
    "SELECT t.g, {measure} AS c FROM t GROUP BY t.g HAVING max(t.id) > (SELECT avg(u.g) FROM u WHERE {inner})",
    "SELECT t.g, sum(t.id) AS s FROM t WHERE t.id > (SELECT min(x.id) FROM t x WHERE x.g = t.g) GROUP BY t.g",
    "FROM t |> WHERE {test} |> AGGREGATE {measure} AS c GROUP BY t.g",
    "FROM t |> EXTEND {value} AS x |> WHERE x IS NOT NULL |> SELECT t.id, x |> ORDER BY id |> LIMIT 4",
    "SELECT * EXCEPT (f, big, ts) FROM t WHERE {test}",
    "SELECT DISTINCT {value} AS c, {text} AS d FROM t",
    "SELECT count(*) AS c, {measure} AS d, {other} AS e FROM t WHERE {test}",
    "SELECT first(q.x) AS c FROM (SELECT {value} AS x FROM t WHERE t.id = 3) q",
    "SELECT x.c, count(*) AS n FROM (SELECT {text} AS c FROM t UNION ALL SELECT u.z FROM u) x GROUP BY x.c",
    "(SELECT {value} AS c FROM t) UNION (SELECT u.m FROM u) EXCEPT (SELECT 5)",
    "SELECT t.id, named_struct('a', {value}, 'b', array({text})) AS c, map('k', {value}) AS d FROM t",
    "SELECT * FROM VALUES (1, 'a', 2.5), (2, NULL, 3.25), (NULL, 'c', NULL) AS v(a, b, c) WHERE v.a > 1 OR "
    "v.b IS NOT NULL",
    "SELECT id % 3 AS r, sum(id) AS s FROM range(1, 20, 2) GROUP BY id % 3",
    "SELECT t.g, {measure} AS c FROM t GROUP BY GROUPING SETS ((t.g), ()) ORDER BY c NULLS FIRST, t.g LIMIT 50",
    "SELECT t.b, transform(array_sort(collect_list({value})), x -> x + 1) AS c FROM t GROUP BY t.b",
    "SELECT t.id, u.k, {on} AS c FROM t CROSS JOIN u WHERE t.id < 2",
    "SELECT * FROM t NATURAL JOIN (SELECT g, k FROM u) WHERE {test}",
    "SELECT {value} AS c, {measure} AS d FROM t GROUP BY {value}",
    "SELECT {value} AS c, {measure} AS d FROM t GROUP BY 1",
    "SELECT t.id, {test} AS c FROM t WHERE NOT ({test})",
    "SELECT t.g, count(DISTINCT t.s) AS c, sum(DISTINCT t.n % 9) AS d, {measure} AS e FROM t GROUP BY t.g",
)  # fmt: skip


class _Spark(Maker):
    calls: ClassVar[Mapping[str, tuple[str, ...]]] = _CALLS
    constants: ClassVar[Mapping[str, tuple[str, ...]]] = _CONSTANTS
    special: ClassVar[Mapping[str, tuple[str, ...]]] = _SPECIAL
    aggregates: ClassVar[tuple[str, ...]] = tuple(text for text in _AGGREGATES if "grouping" not in text)
    windowed: ClassVar[tuple[str, ...]] = _WINDOWED
    kinds: ClassVar[Mapping[str, int]] = {
        "scalar": 6, "join": 3, "aggregate": 4, "grouping_sets": 1, "window": 3, "sets": 2, "subquery": 3, "shaped": 8,
    }  # fmt: skip

    def some(self, scope: Scope, most: int = 3) -> list[tuple[str, str]]:
        types = [self.random.choice((*_CONSTANTS, "int", "text", "bool")) for _ in range(self.random.randint(1, most))]
        return [(self.expression(type, scope), type) for type in types]

    def scalar(self) -> str:
        scope = Scope.of(t="t")
        return f"SELECT t.id, {self.listed(self.some(scope, 4))} FROM t{self.where(scope)}"

    def shaped(self) -> str:
        """Clauses that only Spark has, and shapes that queries of several levels have."""
        scope, both = Scope.of(t="t"), Scope.of(t="t", u="u")
        filled = self.random.choice(_SHAPES)
        parts: Mapping[str, Callable[[], str]] = {
            "test": lambda: self.condition(scope),
            "inner": lambda: self.condition(Scope.of(u="u")),
            "on": lambda: self.condition(both),
            "value": lambda: self.expression("int", scope),
            "text": lambda: self.expression("text", scope),
            "cells": lambda: self.expression(self.random.choice(("list", "texts")), scope),
            "measure": lambda: self.filled(self.random.choice(self.aggregates), scope),
            "other": lambda: self.filled(self.random.choice(self.aggregates), scope),
            "joined": lambda: self.listed(self.some(both)),
        }
        for name, made in parts.items():
            if f"{{{name}}}" in filled:
                filled = filled.replace(f"{{{name}}}", made())
        return filled


def query(seed: int) -> str:
    """Return the random query of a seed."""
    return _Spark(random.Random(f"Spark {seed}")).query()

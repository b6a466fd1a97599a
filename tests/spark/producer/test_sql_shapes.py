"""SQL of awkward shapes, there and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

from tests.spark.producer.round_trips import assert_round_trip
from tests.spark.producer.small_tables import small_tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.sweep

QUERIES = (
    # correlation in unusual places
    "SELECT name, (SELECT count(*) FROM emp o WHERE o.pay > emp.pay) + 1 AS place FROM emp WHERE pay IS NOT NULL",
    "SELECT name, (SELECT b.name FROM emp b WHERE b.id = emp.boss) IS NULL AS top FROM emp",
    "SELECT name, pay - (SELECT avg(pay) FROM emp o WHERE o.dept = emp.dept) AS above FROM emp",
    "SELECT name FROM emp WHERE (SELECT count(*) FROM emp o WHERE o.boss = emp.id) > 1",
    "SELECT name FROM emp WHERE pay >= (SELECT max(pay) FROM emp o WHERE o.dept = emp.dept) OR dept IS NULL",
    "SELECT name FROM emp WHERE EXISTS (SELECT 1 FROM dept d WHERE d.id = emp.dept OR d.name = emp.name)",
    "SELECT name FROM emp WHERE NOT EXISTS (SELECT 1 FROM dept d WHERE d.id = emp.dept) AND pay > 50",
    "SELECT CASE WHEN EXISTS (SELECT 1 FROM emp o WHERE o.boss = emp.id) THEN 'boss' ELSE 'none' END AS r, count(*) "
    "FROM emp GROUP BY 1",
    "SELECT CASE (SELECT count(*) FROM emp o WHERE o.boss = emp.id) WHEN 0 THEN 'none' WHEN 1 THEN 'one' END FROM emp",
    "SELECT dept, sum(pay) FROM emp GROUP BY dept HAVING sum(pay) > (SELECT avg(pay) FROM emp)",
    "SELECT dept, max(pay) FROM emp GROUP BY dept HAVING EXISTS (SELECT 1 FROM dept WHERE dept.id = emp.dept)",
    "SELECT dept, count(*) FROM emp GROUP BY dept HAVING count(*) = (SELECT max(c) FROM "
    "(SELECT count(*) AS c FROM emp GROUP BY dept))",
    "SELECT id FROM emp WHERE (dept, pay) IN (SELECT dept, max(pay) FROM emp GROUP BY dept)",
    "SELECT id FROM emp WHERE (dept, pay) NOT IN (SELECT dept, max(pay) FROM emp WHERE dept IS NOT NULL GROUP BY dept)",
    "SELECT id FROM emp WHERE dept NOT IN (SELECT id FROM dept WHERE name IS NULL)",
    "SELECT id FROM emp WHERE boss NOT IN (SELECT boss FROM emp)",
    "SELECT id FROM emp WHERE id NOT IN (SELECT boss FROM emp WHERE boss IS NOT NULL)",
    "SELECT id FROM emp WHERE dept IN (1, NULL)",
    "SELECT id FROM emp WHERE dept NOT IN (1, NULL)",
    "SELECT id FROM emp WHERE (dept, boss) IN ((1, 1), (2, 1))",
    "SELECT id, dept IN (1, NULL) FROM emp",
    # aggregates in subqueries, subqueries in aggregates
    "SELECT max(m) FROM (SELECT dept, max(pay) AS m FROM emp GROUP BY dept)",
    "SELECT avg(c) FROM (SELECT count(*) AS c FROM (SELECT dept, boss FROM emp GROUP BY dept, boss) GROUP BY dept)",
    "SELECT sum(CASE WHEN dept IN (SELECT id FROM dept) THEN 1 ELSE 0 END) FROM emp",
    "SELECT max((SELECT min(pay) FROM emp o WHERE o.dept = emp.dept)) FROM emp",
    "SELECT (SELECT max(pay) FROM emp) - (SELECT min(pay) FROM emp) AS spread",
    "SELECT count(*) FILTER (WHERE pay > 80), sum(pay) FILTER (WHERE dept = 1) FROM emp",
    "SELECT dept, count(DISTINCT boss), count(boss), count(*) FROM emp GROUP BY dept",
    "SELECT count(*) FROM emp HAVING count(*) > 100",
    "SELECT 1 FROM emp HAVING max(pay) > 100",
    "SELECT dept + 1 AS d, count(*) FROM emp GROUP BY dept + 1",
    "SELECT dept + 1 AS d, sum(pay) + dept + 1 FROM emp GROUP BY dept",
    "SELECT dept AS d, count(*) AS c FROM emp GROUP BY ALL",
    "SELECT dept, boss, sum(pay) FROM emp GROUP BY ALL HAVING sum(pay) IS NOT NULL",
    "SELECT dept FROM emp GROUP BY dept HAVING min(pay) < 80 OR min(pay) IS NULL",
    "SELECT count(*) FROM e",
    "SELECT sum(i), max(i) FROM e",
    "SELECT i, count(*) FROM e GROUP BY i",
    "SELECT dept, count(*) AS c FROM emp GROUP BY 1 ORDER BY c DESC, dept",
    "SELECT DISTINCT dept, max(pay) OVER (PARTITION BY dept) FROM emp",
    # windows under and over other things
    "SELECT * FROM (SELECT id, row_number() OVER (PARTITION BY dept ORDER BY pay DESC, id) AS n FROM emp) WHERE n = 1",
    "SELECT dept, rank() OVER (ORDER BY sum(pay) DESC NULLS LAST) AS r FROM emp GROUP BY dept",
    "SELECT dept, sum(sum(pay)) OVER (ORDER BY dept) AS s FROM emp GROUP BY dept",
    "SELECT id FROM (SELECT id, count(*) OVER (PARTITION BY dept) AS c FROM emp) WHERE c > 1",
    "SELECT id, pay - avg(pay) OVER (PARTITION BY dept) AS diff FROM emp WHERE pay > (SELECT min(pay) FROM emp)",
    "SELECT max(n) FROM (SELECT row_number() OVER (ORDER BY id) AS n FROM emp WHERE dept IN (SELECT id FROM dept))",
    # common table expressions
    "WITH a AS (SELECT 1 AS n), b AS (SELECT n + 1 AS n FROM a), c AS (SELECT n + 1 AS n FROM b), "
    "d AS (SELECT n + 1 AS n FROM c), e AS (SELECT n + 1 AS n FROM d) SELECT * FROM a, b, c, d, e",
    "WITH a AS (WITH b AS (WITH c AS (SELECT i FROM t) SELECT i FROM c) SELECT i FROM b) SELECT * FROM a",
    "WITH m AS (SELECT dept, max(pay) AS top FROM emp GROUP BY dept) "
    "SELECT name FROM emp JOIN m ON emp.dept <=> m.dept AND emp.pay = m.top",
    "WITH m AS (SELECT dept, sum(pay) AS s FROM emp GROUP BY dept) SELECT a.dept, b.dept FROM m a, m b WHERE a.s > b.s",
    "WITH r AS (SELECT id, pay FROM emp WHERE pay > (SELECT avg(pay) FROM emp)) "
    "SELECT (SELECT count(*) FROM r), (SELECT max(pay) FROM r)",
    "WITH emp AS (SELECT * FROM emp WHERE dept = 1) SELECT * FROM emp",
    "WITH a (x, y) AS (VALUES (1, 2), (3, 4)) SELECT y, x FROM a WHERE x IN (SELECT y - 1 FROM a)",
    "SELECT * FROM (WITH a AS (SELECT 1 AS n) SELECT n, n + 1 AS m FROM a) q JOIN (WITH a AS (SELECT 2 AS n) "
    "SELECT n FROM a) r ON q.m = r.n",
    "WITH a AS (SELECT k FROM u UNION SELECT i FROM t) SELECT k FROM a INTERSECT SELECT i FROM w UNION ALL TABLE a",
    # queries in queries in queries
    "SELECT i FROM t WHERE i IN (SELECT max(k) FROM u WHERE u.x = t.s GROUP BY v HAVING count(*) > (SELECT 0))",
    "SELECT i FROM t WHERE EXISTS (SELECT 1 FROM (SELECT k FROM u WHERE x = t.s UNION SELECT 2) q WHERE q.k > 0)",
    "SELECT dept FROM emp GROUP BY dept HAVING count(*) > (SELECT count(*) FROM dept WHERE dept.id < max(emp.id))",
    "SELECT dept FROM emp GROUP BY dept HAVING dept IN (SELECT id FROM dept WHERE id <= max(emp.pay))",
    "SELECT * FROM emp a WHERE EXISTS "
    "(SELECT 1 FROM emp b, LATERAL (SELECT b.pay + 1 AS p) q WHERE b.id = a.boss AND q.p > a.pay)",
    "SELECT * FROM t WHERE (SELECT count(*) FROM u WHERE k = i) IN (SELECT count(*) FROM w GROUP BY i)",
    "SELECT i FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE NOT (k <> t.i OR x IS NULL))",
    "SELECT (SELECT a.i FROM t b WHERE b.i = a.i LIMIT 1) FROM t a",
    "SELECT i FROM t WHERE (i, s) IN (SELECT k, x FROM u) OR (i, s) NOT IN (SELECT i, s FROM w)",
    "SELECT * FROM t JOIN u ON (t.i IN (SELECT k FROM u)) = (u.k > 1)",
    "SELECT dept, (SELECT max(id) FROM dept), grouping(dept) FROM emp GROUP BY ROLLUP (dept)",
    "SELECT array(1, 2, 3)[(SELECT min(k) FROM u)]",
    # names
    "SELECT 1 AS a, 2 AS a, 3 AS A",
    "SELECT a.i, b.i, a.i FROM t a JOIN t b ON a.i = b.i",
    "SELECT * FROM (SELECT i AS a, s AS b FROM t) JOIN (SELECT k AS a, x AS b FROM u) USING (a)",
    "SELECT `a.b`, `c``d`, `e f` FROM (SELECT i AS `a.b`, s AS `c``d`, d AS `e f` FROM t)",
    "SELECT q.`a.b`.`c.d` FROM (SELECT struct(i AS `c.d`) AS `a.b` FROM t) q",
    "SELECT `ключ`, `值` + 1 AS `ß∑` FROM (SELECT s AS `ключ`, i AS `值` FROM t)",
    "SELECT `select`, `from` FROM (SELECT i AS `select`, s AS `from` FROM t) `where`",
    "SELECT `'` , `\"`, `--` FROM (SELECT i AS `'`, s AS `\"`, d AS `--` FROM t)",
    "SELECT `c1`, `c2`, `_1` FROM (SELECT s AS c1, i AS c2, d AS _1 FROM t)",
    "SELECT I, T.S, t.D AS d FROM T",
    "SELECT t.i AS `t.i`, `t`.`s` FROM t",
    "SELECT count(*), sum(i) + 1, 'x' || s FROM t GROUP BY s",
    "SELECT struct(1 AS a, 2 AS b).b, named_struct('x y', 1).`x y`",
    # lateral column aliases
    "SELECT i AS a, a + 1 AS b, b + a AS c FROM t",
    "SELECT dept AS d, sum(pay) AS s, s / 2 AS h FROM emp GROUP BY dept",
    "SELECT i * 2 AS i, i FROM t",
    "SELECT struct(i) AS r, r.i AS n FROM t",
    # stars and joins
    "SELECT * FROM t JOIN w USING (i)",
    "SELECT t.*, w.* FROM t JOIN w USING (i)",
    "SELECT * FROM t NATURAL FULL JOIN w",
    "SELECT * EXCEPT (i) FROM t JOIN w USING (i)",
    "SELECT * FROM t JOIN w USING (i) JOIN (SELECT k AS i, v FROM u) USING (i)",
    "SELECT a.*, b.z FROM t a LEFT JOIN w b ON a.i = b.i AND b.z IS NOT NULL WHERE b.i IS NULL OR a.d > 0",
    "SELECT * FROM t, LATERAL (SELECT i + 1 AS j), LATERAL (SELECT j + 1 AS k)",
    "SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT i, s FROM t) a) b) c) d WHERE d.i = 2",
    "SELECT * FROM ((SELECT i FROM t) a JOIN (SELECT i FROM w) b ON a.i = b.i) JOIN u ON u.k = a.i",
    "SELECT * FROM t a CROSS JOIN (SELECT max(i) AS m FROM t) b WHERE a.i = b.m",
    "SELECT a.i FROM t a, t b, t c WHERE a.i = b.i AND b.i = c.i AND a.s < c.s",
    "SELECT count(*) FROM t a FULL JOIN w b ON a.i = b.i AND a.i > 1 AND b.s <> 'q'",
    # rows made on the spot
    "SELECT * FROM VALUES (1, 'a'), (2, NULL) AS v (n, c)",
    "VALUES (1, 'a', true), (2, 'b', CAST(NULL AS BOOLEAN))",
    "SELECT col1 + 1, col2 FROM VALUES (1, 'a'), (2, 'b')",
    "SELECT * FROM (VALUES (1), (2)) a (n) JOIN (VALUES (2), (3)) b (n) USING (n)",
    "SELECT * FROM (VALUES (1, 2.5), (3, 4)) v (a, b) WHERE a IN (SELECT i FROM t)",
    "SELECT id FROM range(5) WHERE id NOT IN (SELECT k FROM u)",
    "SELECT 1 WHERE 1 = 0",
    "SELECT 'x' AS c UNION ALL SELECT CAST(NULL AS STRING)",
    # pipes
    "FROM t |> WHERE i > 1 |> SELECT s, i",
    "FROM t |> EXTEND i + 1 AS j |> WHERE j > 2 |> DROP d",
    "FROM t |> SET i = i * 2 |> AS q |> SELECT q.i",
    "FROM emp |> AGGREGATE sum(pay) AS s, count(*) AS c GROUP BY dept |> WHERE c > 1 |> ORDER BY dept",
    "FROM emp |> JOIN dept ON emp.dept = dept.id |> SELECT emp.name, dept.name AS d |> ORDER BY d, name |> LIMIT 2",
    "FROM t |> SELECT i |> UNION ALL (FROM u |> SELECT k) |> AGGREGATE count(*) GROUP BY i",
    "TABLE t |> WHERE EXISTS (FROM u |> WHERE k = t.i) |> SELECT i",
    "FROM t SELECT i WHERE i IS NOT NULL",
    # ORDER BY and LIMIT inside
    "SELECT * FROM (SELECT id, pay FROM emp ORDER BY pay DESC NULLS LAST, id LIMIT 3) ORDER BY id",
    "SELECT name FROM emp WHERE id IN (SELECT id FROM emp ORDER BY pay DESC NULLS LAST, id LIMIT 2)",
    "SELECT (SELECT name FROM emp ORDER BY pay DESC NULLS LAST LIMIT 1) AS top, (SELECT count(*) FROM emp) AS n",
    "SELECT id FROM emp ORDER BY CASE WHEN dept IS NULL THEN 0 ELSE dept END, (SELECT max(pay) FROM emp) - pay, id",
    "SELECT name AS n FROM emp ORDER BY length(n) DESC, n NULLS FIRST",
    "(SELECT i FROM t ORDER BY i DESC NULLS LAST LIMIT 1) UNION ALL (SELECT max(k) FROM u)",
    "SELECT i, s FROM t ORDER BY ALL LIMIT 3",
    # sets in sets
    "SELECT i FROM t EXCEPT ALL (SELECT k FROM u INTERSECT ALL SELECT i FROM w)",
    "SELECT i FROM (SELECT i FROM t UNION SELECT k FROM u) WHERE i IN (SELECT i FROM w EXCEPT SELECT 7)",
    "SELECT count(*) FROM (TABLE t UNION ALL TABLE t) a JOIN (SELECT k FROM u MINUS SELECT 5) b ON a.i = b.k",
    "SELECT max(n) FROM (SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT NULL)",
    # conditions
    "SELECT i FROM t WHERE i BETWEEN (SELECT min(k) FROM u) AND (SELECT max(i) FROM w) - 5",
    "SELECT i FROM t WHERE (SELECT true)",
    "SELECT i FROM t WHERE NOT (i > 1 AND s = 'b') OR d IS NULL",
    "SELECT i FROM t WHERE i = i AND NOT s <> s",
    "SELECT i FROM t WHERE true OR i = 1",
    "SELECT i FROM t WHERE CAST(NULL AS BOOLEAN)",
    "SELECT if(i > 1, s, (SELECT max(name) FROM dept)) FROM t",
    "SELECT i FROM t WHERE if((SELECT count(*) FROM u) > 3, i = 1, i = 2)",
    "SELECT nullif(i, 2), nvl(i, 0), nvl2(s, 1, 2), coalesce(NULL, i, 9) FROM t",
)


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Mapping[str, DataFrame]:
    return small_tables(spark)


@pytest.mark.parametrize("query", QUERIES)
def test_awkward_shapes(spark: SparkSession, tables: Mapping[str, DataFrame], query: str) -> None:
    assert_round_trip(spark, query, tables=tables)


@pytest.mark.since("4.0", "no variables, no functions in SQL")
def test_parameters_variables_and_functions_in_sql(spark: SparkSession, tables: Mapping[str, DataFrame]) -> None:
    assert_round_trip(spark, spark.sql("SELECT s FROM t WHERE i = :wanted", args={"wanted": 2}))
    spark.sql("DECLARE OR REPLACE VARIABLE least INT DEFAULT 2")
    spark.sql("CREATE OR REPLACE TEMPORARY FUNCTION more(a INT) RETURNS INT RETURN a + 1")
    spark.sql("CREATE OR REPLACE TEMPORARY FUNCTION best(a INT) RETURNS BIGINT RETURN SELECT max(v) FROM u WHERE k = a")
    spark.sql(
        "CREATE OR REPLACE TEMPORARY FUNCTION of_u(a INT) RETURNS TABLE (k INT, x STRING) "
        "RETURN SELECT k, x FROM u WHERE k = a"
    )
    try:
        for query in (
            "SELECT i + least FROM t WHERE i >= least",
            "SELECT more(i) FROM t WHERE more(i) > 1",
            "SELECT i, best(i) FROM t",
            "SELECT * FROM of_u(2)",
            "SELECT * FROM t, LATERAL of_u(t.i)",
        ):
            assert_round_trip(spark, query, tables=tables)
    finally:
        spark.sql("DROP TEMPORARY VARIABLE least")
        for name in ("more", "best", "of_u"):
            spark.sql(f"DROP TEMPORARY FUNCTION {name}")


def test_views_of_queries(spark: SparkSession, tables: Mapping[str, DataFrame]) -> None:
    query = "WITH c AS (SELECT i FROM t) SELECT a.i FROM c a JOIN c b ON a.i = b.i"
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW of_t AS {query}")
    assert_round_trip(spark, "SELECT * FROM of_t WHERE i IN (SELECT i FROM of_t)", tables=tables)


@pytest.mark.since("4.0", "pyspark has no outer()")
def test_a_table_within_a_query_about_itself(spark: SparkSession, tables: Mapping[str, DataFrame]) -> None:
    from pyspark.sql import functions

    t = tables["t"]
    assert_round_trip(spark, t.where(t.where(functions.col("i") == functions.col("i").outer()).exists()))
    assert_round_trip(spark, "SELECT * FROM t, LATERAL (SELECT * FROM t b WHERE b.i = t.i)", tables=tables)

"""A table of small values of many types, and queries over it in Spark SQL, for which a plan has Spark's own answer."""

from __future__ import annotations

import datetime
import decimal
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

__all__ = ["EXPRESSIONS", "QUERIES", "SCHEMA", "TABLES"]

_UTC: Final = datetime.timezone.utc
SCHEMA: Final = pa.schema(
    [
        pa.field("id", pa.int32(), nullable=False),
        ("tiny", pa.int8()),
        ("i", pa.int32()),
        ("b", pa.int64()),
        ("f", pa.float32()),
        ("x", pa.float64()),
        ("d", pa.decimal128(7, 2)),
        ("e", pa.decimal128(20, 6)),
        ("s", pa.string()),
        ("n", pa.string()),
        ("flag", pa.bool_()),
        ("day", pa.date32()),
        ("at", pa.timestamp("us", "UTC")),
        ("local", pa.timestamp("us")),
    ]
)


def _rows() -> pa.Table:
    decimals = [decimal.Decimal(text) for text in ("1.50", "-2.25", "0.00", "99999.99")]
    longer = [decimal.Decimal(text) for text in ("1.500000", "-2.250001", "3.000000", "12345678.654321")]
    days = [
        datetime.date(2024, 1, 31),
        datetime.date(1999, 12, 31),
        datetime.date(2023, 2, 28),
        datetime.date(2024, 2, 29),
    ]
    times = [datetime.datetime(2024, 3, 31, 1, 30, 15, 123456), datetime.datetime(1970, 1, 1)]
    times += [datetime.datetime(2000, 2, 29, 23, 59, 59, 999999), datetime.datetime(2010, 7, 15, 12)]
    columns: dict[str, list[Any]] = {
        "tiny": [1, -2, 3, 100],
        "i": [7, -7, 2, 1000],
        "b": [3, 10, -4, 4000000000],
        "f": [1.5, -0.25, 2.0, 100.5],
        "x": [2.5, -3.5, 1.005, 1e10],
        "d": decimals,
        "e": longer,
        "s": ["Hello World", "  ab  ", "a%b_c", "Ünïcode"],
        "n": ["12", "-3", "40", "7"],
        "flag": [True, False, True, False],
        "day": days,
        "at": [time.replace(tzinfo=_UTC) for time in times],
        "local": times,
    }
    values = {name: [*column, None] for name, column in columns.items()}
    return pa.table({"id": [1, 2, 3, 4, 5], **values}, schema=SCHEMA)


def _named() -> pa.Table:
    """A table with names in both cases, of a keyword, and of fields."""
    inner = pa.struct([("w", pa.float64())])
    struct = pa.struct([("x", pa.int32()), ("Y", pa.string()), ("z", inner)])
    structs = [{"x": 1, "Y": "b", "z": {"w": 0.5}}, {"x": 2, "Y": "a", "z": None}, None]
    return pa.table(
        {
            "K": pa.array([1, 2, None], pa.int32()),
            "range": pa.array([1, 5, 2], pa.int32()),
            "st": pa.array(structs, struct),
        }
    )


TABLES: Final = {"t": _rows(), "u": _named()}


def _expressions() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    subject = ""
    for line in Path(__file__).with_name("expressions.sql").read_text(encoding="utf-8").splitlines()[1:]:
        if line.startswith("-- "):
            subject = line[3:]
            found[subject] = []
        elif line:
            found[subject].append(line)
    return found


#: expressions over the table, in groups of a subject; the last group is of aggregates
EXPRESSIONS: Final = _expressions()
#: whole queries
QUERIES: Final = (
    "SELECT flag, count(*) AS n, sum(d) AS total FROM t GROUP BY flag ORDER BY flag",
    "SELECT flag AS k, i % 2, count(*) AS n FROM t GROUP BY 1, 2 HAVING count(*) > 0 ORDER BY n DESC, k, 2",
    "SELECT flag, i > 0 AS positive, grouping(flag) AS g, sum(i) AS s FROM t GROUP BY ROLLUP (flag, i > 0)",
    "SELECT flag, tiny, sum(i) AS s, avg(d) AS a FROM t GROUP BY GROUPING SETS ((flag), (tiny), ())",
    "SELECT flag, count(*) AS n FROM t GROUP BY CUBE (flag)",
    "SELECT ID, Day AS `The Day`, T.S FROM T WHERE `Flag` ORDER BY iD",
    "SELECT * FROM t WHERE i > 0",
    "SELECT DISTINCT flag FROM t",
    "SELECT i, i, a.I, (i) FROM t a ORDER BY i",
    "SELECT *, i, i + 1, i + 1 FROM t",
    "SELECT n, cast(n AS INT), try_cast(n AS BIGINT), n FROM t",
    "SELECT flag, sum(i), sum(i) FROM t GROUP BY flag ORDER BY sum(i)",
    "SELECT i, i FROM t UNION ALL SELECT id, ID FROM t",
    "SELECT i FROM t ORDER BY i",
    "SELECT i FROM t ORDER BY i DESC LIMIT 3",
    "SELECT i FROM t ORDER BY i DESC NULLS FIRST, s LIMIT 2 OFFSET 1",
    "SELECT i FROM t UNION SELECT b FROM t",
    "SELECT i AS v FROM t UNION ALL SELECT d FROM t UNION ALL SELECT NULL",
    "SELECT tiny FROM t INTERSECT SELECT tiny FROM t WHERE flag",
    "SELECT i FROM t MINUS SELECT i FROM t WHERE flag",
    "SELECT a.id, b.s FROM t a JOIN t b ON a.id = b.tiny",
    "SELECT a.id, b.s FROM t a LEFT JOIN t b ON a.id = b.tiny AND b.flag",
    "SELECT a.id, b.id AS other FROM t a FULL OUTER JOIN t b ON a.id = b.tiny",
    "SELECT a.id, b.id AS other FROM t a CROSS JOIN t b WHERE a.i > b.i",
    "SELECT a.id FROM t a LEFT SEMI JOIN t b ON a.id = b.tiny",
    "SELECT a.id FROM t a LEFT ANTI JOIN t b ON a.id = b.tiny",
    "SELECT a.id FROM t a, t b WHERE a.id = b.n OR a.id = b.tiny",
    "SELECT id FROM t WHERE i = (SELECT max(i) FROM t)",
    "SELECT id, (SELECT avg(d) FROM t) AS a FROM t",
    "SELECT id FROM t WHERE id IN (SELECT tiny FROM t)",
    "SELECT id FROM t WHERE id NOT IN (SELECT tiny FROM t WHERE tiny IS NOT NULL)",
    "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM t WHERE i > 100)",
    "SELECT id FROM t a WHERE EXISTS (SELECT 1 FROM t b WHERE b.tiny = a.id)",
    "SELECT id FROM t a WHERE NOT EXISTS (SELECT * FROM t b WHERE b.tiny = a.id AND b.i > a.i)",
    "SELECT id FROM t a WHERE i >= (SELECT avg(i) FROM t b WHERE b.flag = a.flag)",
    "SELECT id, (SELECT max(b.s) FROM t b WHERE b.tiny = a.id) AS other FROM t a",
    "SELECT id FROM t a WHERE d IN (SELECT e FROM t b WHERE b.id = a.id)",
    "SELECT id FROM t a WHERE d NOT IN (SELECT e FROM t b WHERE b.id = a.id AND e IS NOT NULL)",
    "WITH c AS (SELECT flag, sum(i) AS total FROM t GROUP BY flag) "
    "SELECT a.flag FROM c a WHERE a.total > (SELECT avg(total) * 0.5 FROM c b WHERE a.flag = b.flag)",
    "WITH c AS (SELECT id, i FROM t WHERE flag) SELECT c.i, d.i AS other FROM c JOIN c d ON c.id = d.id",
    "SELECT s, row_number() OVER (PARTITION BY flag ORDER BY i DESC) AS r FROM t",
    "SELECT * FROM (SELECT flag, rank() OVER (ORDER BY sum(i)) AS r FROM t GROUP BY flag) WHERE r = 1",
    "SELECT v.x, v.y FROM (VALUES (1, 'a'), (2, NULL)) AS v(x, y)",
    "SELECT 1 AS one, 'x' AS text",
    "SELECT count(*) AS n FROM t WHERE day BETWEEN '2000-01-01' AND '2024-02-01'",
    "SELECT sum(i) OVER w AS s FROM t WINDOW w AS (PARTITION BY flag ORDER BY id)",
    "SELECT flag, collect_list(n) AS l FROM (SELECT * FROM t ORDER BY id LIMIT 1) GROUP BY flag",
    "SELECT id, flag IS DISTINCT FROM flag OR i > 0 AS c, i IS NOT DISTINCT FROM 7 AND flag AS e FROM t",
    "SELECT id, NOT i IS DISTINCT FROM 7 AS c, i = 7 IS DISTINCT FROM flag AS e, flag IS DISTINCT FROM i = 7 f FROM t",
    "SELECT id FROM t a WHERE i IS DISTINCT FROM (SELECT max(i) FROM t b WHERE a.flag = b.flag) AND id > 1",
    "SELECT id, CASE WHEN i IS DISTINCT FROM CASE WHEN flag THEN 1 ELSE 7 END AND flag THEN 1 ELSE 2 END AS c FROM t",
    "SELECT id, i IS DISTINCT FROM 7 x, day IS DISTINCT FROM day + INTERVAL 1 DAY AS z, i BETWEEN 1 AND 5 y FROM t",
    "SELECT id, flag BETWEEN false AND true = false AS c, i NOT BETWEEN 1 + 1 AND b * 2 OR flag AS e FROM t",
    "SELECT id, d * CAST(5 AS BIGINT) AS a, d * 5Y AS c, CAST(5 AS INT) * d AS e, d / 3L AS g, "
    "d / CAST('3' AS BIGINT) AS h FROM t",
    "SELECT d * -(1) AS a, d * -1 AS b, -(2147483648) AS c, -2147483648 AS e, -(1.5) AS g, -(5L) AS h FROM t",
    "SELECT -128Y AS a, -9223372036854775808L AS b, -32768S AS c",
    "SELECT v.* FROM (VALUES (1, 'a')) v UNION ALL VALUES (2, 'b')",
    "SELECT id -- a comment \\\n, i\n FROM t",
    "SELECT bin || 'x' AS b, upper(bin) AS c FROM (SELECT X'61' AS bin)",
    "SELECT -NULL AS a, -CAST(NULL AS INT) AS b",
    "SELECT concat() AS a, concat_ws('-', 'a', NULL) AS b",
    "SELECT st.x, st.y AS q, u.st.Z.w FROM u WHERE st.x > 0 ORDER BY st.y",
    "SELECT st.Y, sum(st.x) AS s FROM u GROUP BY st.y",
    "SELECT st AS pair, k + 1 AS c FROM u",
    "SELECT a.k, (SELECT max(b.st.x) FROM u b WHERE b.st.x = a.st.x) AS m FROM u a",
    "SELECT * FROM u a JOIN (SELECT id AS k, s FROM t) b ON a.k = b.k",
    "SELECT b.*, a.range AS r FROM u a JOIN (SELECT id AS k FROM t) b ON a.k = b.k",
    "SELECT range AS x, sum(range) OVER (ORDER BY range ROWS 1 PRECEDING) AS s FROM u WHERE range > 1",
    "SELECT first(i, true) AS a, last(s, true) AS b, any_value(d, false) AS c FROM (SELECT * FROM t WHERE id = 1)",
    "SELECT id, first(i, true) OVER (ORDER BY id DESC) AS a, last_value(s, true) OVER w AS b, "
    "nth_value(i, 2) OVER w AS c FROM t WINDOW w AS (ORDER BY id)",
    "SELECT sum(i) AS b, flag FROM t GROUP BY b, flag HAVING b > 5",
    "SELECT flag AS k, sum(i) AS Total FROM t GROUP BY k HAVING total > 5 ORDER BY TOTAL",
    "SELECT * FROM VALUES (1, 'a'), (2, NULL)",
    "-- a comment\nSELECT /* another */ i -- a third\nFROM t;",
)

"""Formatted SQL has the tokens of the compact text, and only other white space."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import pyspark_substrait as ps
from pyspark_substrait import samples
from pyspark_substrait.cli import main
from pyspark_substrait.documents import as_document
from pyspark_substrait.sql.formatting import formatted, tokens
from tests.samples import PLANS

#: texts that a formatter could break: strings, names and comments with what looks like SQL or the end of one
TEXTS = {
    "strings": r"SELECT 'a  FROM  b', 'it\'s  (', 'c''d  AND', \"e  )  SELECT\" FROM t".replace(r"\"", '"'),
    "backslashes": r"SELECT '\\', 'FROM  x', '\\\'  ', a FROM t",
    "raw strings": r"""SELECT r'\', 'FROM  x', R"a\", "FROM  y", xr'z' FROM t""",
    "names": "SELECT `a  FROM`, `b``  (SELECT`, `c'` FROM `t  WHERE`",
    "block comments": "SELECT a /* FROM  x /* '  nested */ ( */ , b FROM t",
    "hints": "SELECT /*+ BROADCAST(a),  REPARTITION(1) */ a FROM (SELECT /*+ COALESCE(1000000) */ a FROM t)",
    "line comments": "SELECT a -- it's  (\n, b -- )\nFROM t -- the end",
    "a continued line comment": "SELECT a -- one \\\n 'two'  (\n, b FROM t",
    "operators": "SELECT a<=>b, a->b, x -> x + 1, 1e-5, .5, 5L, 1.5BD, X'1F', a.b.c, m['k'], -  -1 FROM t",
    "no white space": "SELECT(a)FROM(SELECT(1)AS(a))",
    "other white space": "SELECT\ta\r\nFROM\u00a0t\n\n\nWHERE\fb",
    "not SQL": "'open ( FROM `",
    "brackets that don't match": ")) SELECT ( FROM (((",
    "nothing": "",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize(
    "around", ["{}", "SELECT x, {} FROM (SELECT 1 WHERE f({}, " + "y, " * 60 + "z)) WHERE a AND b"]
)
def test_only_white_space_changes(text: str, around: str) -> None:
    text = around.replace("{}", text + "\n")
    made = formatted(text)
    assert list(tokens(made)) == list(tokens(text))
    assert re.sub(r"\s", "", made) == re.sub(r"\s", "", text)
    assert formatted(made) == made


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("'a b'", ["'a b'"]),
        (r"'\''  r'\'  'x'", [r"'\''", r"r'\'", "'x'"]),
        ("`a``b`c", ["`a``b`", "c"]),
        ("a/* x /* y */ z */b", ["a", "/* x /* y */ z */", "b"]),
        ("a--b\nc", ["a", "--b", "c"]),
        ("f(1, b2)", ["f", "(", "1", ",", "b2", ")"]),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert list(tokens(text)) == expected


def _the_same(source: object, **options: object) -> None:
    compact = ps.to_sql(source, formatted=False, **options)  # type: ignore[arg-type]
    made = ps.to_sql(source, **options)  # type: ignore[arg-type]
    assert list(tokens(made)) == list(tokens(compact))
    assert re.sub(r"\s", "", made) == re.sub(r"\s", "", compact)


def test_the_samples() -> None:
    count = 0
    for plan in PLANS.values():
        document = as_document(plan, deep=False)
        for root in (None, 0, 1):
            try:
                ps.to_sql(document, root=root, formatted=False)
            except ps.SubstraitError:
                continue
            _the_same(document, root=root)
            count += 1
    assert count > 100


def test_plans_of_other_systems(shared: Path) -> None:
    count = 0
    for path in sorted(path for path in (shared / "plans").rglob("*") if path.is_file()):
        try:
            ps.to_sql(path, formatted=False)
        except ps.SubstraitError:
            continue
        _the_same(path)
        count += 1
    assert count > 80


def test_the_layout() -> None:
    text = (
        "WITH t1 AS (SELECT a FROM u WHERE a > 1), t2 AS (SELECT 2) SELECT /*+ BROADCAST(x) */ DISTINCT a AS `first`, "
        "coalesce((SELECT max(b) FROM v), 0) AS `second`, CAST(c AS DECIMAL(10, 2)) AS `third` FROM t1 LEFT OUTER JOIN "
        "(SELECT a, count(*) OVER (PARTITION BY b ORDER BY c) AS n FROM t2 WHERE a IS DISTINCT FROM b AND b = 'x AND y'"
        " GROUP BY a) ON (d = e) WHERE a BETWEEN 1 AND 2 AND CASE WHEN b AND c THEN d ELSE e END AND a IN (SELECT 1) "
        "ORDER BY a DESC NULLS FIRST LIMIT 5"
    )
    assert (
        formatted(text)
        == """\
WITH t1 AS (SELECT a FROM u WHERE a > 1),
t2 AS (SELECT 2)
SELECT /*+ BROADCAST(x) */ DISTINCT
  a AS `first`,
  coalesce(
    (SELECT max(b) FROM v),
    0
  ) AS `second`,
  CAST(c AS DECIMAL(10, 2)) AS `third`
FROM t1
LEFT OUTER JOIN (
  SELECT a, count(*) OVER (PARTITION BY b ORDER BY c) AS n
  FROM t2
  WHERE a IS DISTINCT FROM b AND b = 'x AND y'
  GROUP BY a
) ON (d = e)
WHERE a BETWEEN 1 AND 2
  AND CASE WHEN b AND c THEN d ELSE e END
  AND a IN (SELECT 1)
ORDER BY a DESC NULLS FIRST
LIMIT 5"""
    )


def test_a_short_statement_is_one_line() -> None:
    assert formatted("SELECT  a   FROM t WHERE b > 5") == "SELECT a FROM t WHERE b > 5"


@pytest.mark.parametrize(
    "made",
    [
        lambda n: f"SELECT {', '.join(f'abs(c{k}) AS d{k}' for k in range(n))} FROM t",
        lambda n: "SELECT a FROM " + "(SELECT a FROM " * n + "t" + ")" * n,
        lambda n: "SELECT " + "(" * n + "a + b" + ", c)" * n,
        lambda n: "/* " * n + "*/ " * n,
        lambda n: "CASE WHEN x THEN " * n + "END " * n,
    ],
)
def test_the_size_grows_with_the_text(made: object) -> None:
    assert callable(made)
    text = made(20_000)
    assert len(formatted(text)) < 50 * len(text)


def test_the_command() -> None:
    plan = str(samples.plan_2023())
    compact = CliRunner().invoke(main, ["sql", plan, "--compact"]).stdout
    made = CliRunner().invoke(main, ["sql", plan]).stdout
    assert compact.count("\n") == 1 and compact.startswith("SELECT ")
    assert made == formatted(compact.strip()) + "\n"
    assert made.startswith("SELECT\n  ")

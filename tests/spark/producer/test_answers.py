"""What the JVM is asked for a plan: in two calls, and what it answers is what Spark itself says of the plan."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

import pyspark_substrait as ps
from pyspark_substrait.spark.producer.catalyst import Node, plan_of, query_of
from pyspark_substrait.spark.producer.transfer import query_json, tree_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = "VALUES (1, 1.50, '1', DATE '2020-02-29'), (2, NULL, '2', NULL) AS t (i, d, s, day)"
QUERIES = (
    "SELECT i + 1, try_add(i, 2), d * 2.0 - d, try_divide(d, 3), CAST(s AS INT), try_cast(s AS DATE) FROM t",
    "SELECT sum(d), try_sum(i), avg(d) FROM t GROUP BY s HAVING sum(i) > 1 ORDER BY s LIMIT 3",
    "SELECT * FROM t WHERE day BETWEEN '2020-01-01' AND date('2021-01-01') AND i + 0 BETWEEN 1 AND 3",
    "SELECT s LIKE 'a!_%' ESCAPE '!', s LIKE 'b%' FROM t",
    "SELECT CASE WHEN i = 1 THEN 'one' WHEN i = 2 THEN \"q'uo\\\"te\" END FROM t",
    "SELECT i, (SELECT max(o.d) FROM t o WHERE o.i = t.i) FROM t WHERE EXISTS (SELECT 1 FROM t u WHERE u.i > t.i)",
    "SELECT s, row_number() OVER (PARTITION BY i ORDER BY d DESC), sum(i) OVER (ORDER BY i ROWS 2 PRECEDING) FROM t",
    "SELECT i, s, count(*) FROM t GROUP BY GROUPING SETS ((i), (s), ()) UNION ALL SELECT 1, 'x', 2",
    "WITH a AS (SELECT i FROM t) SELECT a.i, b.i FROM a JOIN a b ON a.i = b.i AND a.i IN (1, 2, 3)",
    "SELECT transform(array(i, 2), x -> x + 1), map('k', i), named_struct('a', d).a, explode(array(1, 2)) FROM t",
    "SELECT 'é€😀\t\n\\\\', X'00FF', INTERVAL '1' DAY, TIMESTAMP '2020-01-01 00:00:00', CAST(NULL AS STRING)",
)
#: fields of ``toJSON`` that the producer reads nothing from
UNREAD = {"branches", "qualifier", "metadata", "explicitMetadata", "nonInheritableMetadataKeys", "resultId"}
#: of these products it reads these fields only
READ = {"ExprId": {"id"}, "CatalogTable": {"identifier", "schema"}}


@pytest.fixture(scope="module", autouse=True)
def table(spark: SparkSession) -> Iterator[None]:
    spark.sql(f"SELECT * FROM {ROWS}").createOrReplaceTempView("t")
    yield
    spark.catalog.dropTempView("t")


@contextmanager
def calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, int]]]:
    """The calls of py4j that this thread makes meanwhile, and how long each answer was."""
    from py4j.clientserver import ClientServerConnection

    found: list[tuple[str, int]] = []
    ours, send = threading.get_ident(), ClientServerConnection.send_command

    def command(self: Any, text: str) -> Any:
        answer = send(self, text)
        if threading.get_ident() == ours and not text.startswith("m\nd\n"):  # which releases an object
            found.append((text, len(answer)))
        return answer

    with monkeypatch.context() as patch:
        patch.setattr(ClientServerConnection, "send_command", command)
        yield found


def execution_of(spark: SparkSession, query: str) -> Any:
    frame: Any = spark.sql(query)
    return frame._jdf.queryExecution()


_ARITHMETIC = pytest.mark.since("4.1", "before, arithmetic does not keep the setting of decimals, and it is asked for")


@pytest.mark.parametrize(
    "query",
    [*(pytest.param(query, marks=_ARITHMETIC) for query in QUERIES[:2]), *QUERIES[2:4], QUERIES[5]],
)
def test_a_plan_takes_two_calls(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, query: str) -> None:
    frame = spark.sql(query)
    plan = ps.to_substrait(frame, tables=["t"])
    with calls(monkeypatch) as found:
        again = ps.to_substrait(frame, tables=["t"])
    assert [text.split("\n")[2] for text, _ in found] == ["queryExecution", "query"]
    assert again.to_bytes() == plan.to_bytes()


def test_calls_dont_grow_with_expressions(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = []
    for width in (5, 50):
        sums = ", ".join(f"sum(d * {n}.5 - try_add(i, {n})) FILTER (WHERE s LIKE '{n}%')" for n in range(width))
        frame = spark.sql(f"SELECT {sums} FROM t WHERE day > CAST('2020-01-01' AS DATE) GROUP BY s")
        ps.to_substrait(frame, tables=["t"])
        with calls(monkeypatch) as found:
            ps.to_substrait(frame, tables=["t"])
        counts.append(len(found))
    assert counts[1] - counts[0] <= 2, "a longer answer comes in a few more parts"


def test_no_answer_is_longer_than_a_packet(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = ", ".join(f"i + {number * number} AS `{hash(('column', number)):x}`" for number in range(1500))
    frame: Any = spark.sql(f"SELECT {columns} FROM t")
    with calls(monkeypatch) as found:
        answer = query_json(frame._jdf.queryExecution(), optimized=False)
    assert [field["name"] for field in answer["schema"]["fields"]] == frame.columns
    assert len(found) > 4
    assert max(length for _, length in found) < 8192


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("optimized", [False, True])
def test_a_tree_says_what_spark_says(spark: SparkSession, query: str, optimized: bool) -> None:
    execution = execution_of(spark, query)
    plan = execution.optimizedPlan() if optimized else execution.analyzed()
    answer = query_json(execution, optimized=optimized)
    assert answer["schema"] == json.loads(plan.schema().json())
    assert answer["plan"] == tree_json(plan)
    assert_within(json.loads(plan.toJSON()), answer["plan"])


def assert_within(spark: Any, ours: Any) -> None:
    """All that Spark's JSON says is in ours; lists that it leaves out, or writes as text, may be there.

    Of children that are equal, Spark's JSON has the number of the first; ours has that of each.
    """
    match spark:
        case dict():
            read = READ.get(str(spark.get("product-class")).rsplit(".", 1)[-1], spark.keys() - UNREAD)
            for key, value in spark.items():
                if key in read and value is not None:
                    assert_within(value, ours[key])
        case list():
            assert len(spark) == len(ours)
            for one, other in zip(spark, ours, strict=True):
                assert_within(one, other)
        case str() if isinstance(ours, list):
            assert spark == f"[{', '.join(ours)}]"
        case _:
            assert spark == ours


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_modes_are_those_of_the_objects(spark: SparkSession, ansi: str) -> None:
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        executions = [execution_of(spark, query) for query in QUERIES]
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)  # type: ignore[arg-type]
    modes = set()
    for execution in executions:
        for node in expressions_in(query_of(execution, optimized=False)[0]):
            if "evalContext" in node.fields:
                context = node.java.evalContext()
                assert node.mode == context.evalMode().toString()
                allowed = node.value("evalContext")["allowDecimalPrecisionLoss"]
                assert allowed == context.allowDecimalPrecisionLoss()
                modes.add(node.mode)
            elif "evalMode" in node.fields:
                assert node.mode == node.java.evalMode().toString()
                modes.add(node.mode)
            if node.name == "Cast":
                assert node.value("nullable") == node.java.nullable()
                if "folded" in node.fields:
                    assert node.value("folded") == node.java.eval(None)
    assert modes == {"TRY", "ANSI" if ansi == "true" else "LEGACY"}


def expressions_in(node: Node) -> Iterator[Node]:
    """The expressions of a plan's projections, aggregates and filters."""
    for relation in node.walk():
        for name in ("projectList", "aggregateExpressions"):
            for tree in relation.trees(name) if relation.value(name) else ():
                yield from tree.walk()
        if relation.name == "Filter" and (condition := relation.tree("condition")) is not None:
            yield from condition.walk()


def test_a_choice_in_a_choice_is_said_once(spark: SparkSession) -> None:
    """Spark's own JSON says it at each level twice."""
    lengths = []
    for depth in (5, 10, 15):
        text = "d"
        for level in range(depth):
            text = f"CASE WHEN i = {level} THEN {text} ELSE 0 END"
        lengths.append(len(json.dumps(query_json(execution_of(spark, f"SELECT {text} AS x FROM t"), optimized=False))))
    assert lengths[2] - lengths[1] < 1.5 * (lengths[1] - lengths[0])


def test_the_object_of_each_node_of_an_expression_is_found(spark: SparkSession) -> None:
    execution = execution_of(spark, QUERIES[0])
    for node in expressions_in(plan_of(execution.analyzed())):
        assert node.java.getClass().getSimpleName() == node.name
        assert node.java.children().size() == len(node.children)

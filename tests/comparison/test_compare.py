"""Plans on several engines: what agrees, what differs, and the part of the plan on which it does."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import pyspark_substrait as ps
from pyspark_substrait.analysis.comparison import difference
from pyspark_substrait.api import compare as module
from pyspark_substrait.builder import avg, count, read, sum_
from pyspark_substrait.cli import main
from pyspark_substrait.engines import sessions
from pyspark_substrait.model.expressions import ScalarFunction
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import (
    Aggregate,
    Fetch,
    Filter,
    Join,
    JoinType,
    Project,
    Relation,
    Set,
    SetOp,
)
from pyspark_substrait.model.walk import with_children, with_expressions, with_inputs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("datafusion")
duckdb = pytest.importorskip("duckdb")
pytest.importorskip("sqlglot")

ITEMS = pa.table(
    {
        "id": pa.array([1, 2, 3, 4, 5, 6], pa.int64()),
        "kind": pa.array(["a", "b", "a", None, "c", "b"]),
        "price": pa.array([1.5, 2.5, None, 4.5, 0.5, 6.5]),
    }
)
KINDS = pa.table({"kind": ["a", "b", "d"], "label": ["first", "second", "none"]})
TABLES = {"items": ITEMS, "kinds": KINDS}
ITEM = {"id": "i64?", "kind": "string?", "price": "fp64?"}
KIND = {"kind": "string?", "label": "string?"}


def items() -> Any:
    return read("items", ITEM)


def joined() -> Any:
    return items().join(read("kinds", KIND), on=lambda a, b: a.kind == b.kind)


# a difference on purpose ----------------------------------------------------------------------------------------------


def other_constants(node: Relation) -> Relation:
    """The relation with other constants in its expressions."""

    def changed(expression: Any) -> Any:
        if isinstance(expression, Literal) and isinstance(expression.value, int | float):
            return replace(expression, value=expression.value + 2)
        return with_children(expression, changed)

    return with_expressions(node, changed)


def other_functions(node: Relation) -> Relation:
    """The relation with each call of ``gt`` turned into one of ``lte``."""

    def changed(expression: Any) -> Any:
        if isinstance(expression, ScalarFunction) and expression.function.name == "gt":
            return replace(expression, function=replace(expression.function, name="lte"))
        return with_children(expression, changed)

    return with_expressions(node, changed)


def other_measure(node: Relation) -> Relation:
    assert isinstance(node, Aggregate)
    first = node.measures[0]
    wrong = replace(first.measure, function=replace(first.measure.function, name="max"))
    return replace(node, measures=(replace(first, measure=wrong), *node.measures[1:]))


#: plans, the class of the relation that a faulty engine runs in another way, and that way
FAULTS: dict[str, tuple[Callable[[], Any], type, Callable[[Any], Any]]] = {
    "a filter": (lambda: items().filter(lambda t: t.id > 2), Filter, other_constants),
    "a filter below an aggregate": (
        lambda: items().filter(lambda t: t.price > 1.0).group_by("kind").agg(count().alias("n")),
        Filter,
        other_functions,
    ),
    "a computation": (lambda: items().select(lambda t: (t.price * 2.0).alias("twice")), Project, other_constants),
    "a computation below others": (
        lambda: (
            items()
            .select("kind", lambda t: (t.price + 1.0).alias("more"))
            .filter(lambda t: t.more > 2.5)
            .group_by("kind")
            .agg(sum=lambda t: sum_(t.more))
            .sort("kind")
        ),
        Project,
        other_constants,
    ),
    "an aggregate": (
        lambda: items().group_by("kind").agg(sum=lambda t: sum_(t.price)).filter(lambda t: t.sum > 1.0),
        Aggregate,
        other_measure,
    ),
    "a join": (joined, Join, lambda node: replace(node, type=JoinType.LEFT)),
    "a join below a limit": (
        lambda: joined().sort("id").limit(5),
        Join,
        lambda node: replace(node, type=JoinType.LEFT),
    ),
    "a limit": (lambda: items().sort("id").limit(3), Fetch, lambda node: replace(node, count_expr=_number(4))),
    "a set operation": (
        lambda: items().select("kind").union(read("kinds", KIND).select("kind")),
        Set,
        lambda node: replace(node, op=SetOp.UNION_ALL if node.op is not SetOp.UNION_ALL else SetOp.UNION_DISTINCT),
    ),
    "one side of a join": (
        lambda: items().filter(lambda t: t.id > 1).join(read("kinds", KIND), on=lambda a, b: a.kind == b.kind),
        Filter,
        other_constants,
    ),
}


def _number(value: int) -> Literal:
    from pyspark_substrait.model.types import I64

    return Literal(type=I64(), value=value)


@pytest.mark.parametrize("name", FAULTS)
def test_the_part_with_the_fault_is_found(name: str, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """DataFusion gets a plan of which one relation is another one than the plan says."""
    make, kind, wrong = FAULTS[name]
    rows = module._Running._rows

    def faulty(node: Relation) -> Relation:
        node = with_inputs(node, faulty)
        return wrong(node) if isinstance(node, kind) else node

    def with_fault(self: Any, engine: str, session: Any, plan: Any) -> pa.Table:
        if engine == "datafusion":
            (root,) = plan.relations
            plan = replace(plan, relations=(replace(root, input=faulty(root.input)),))
        return rows(self, engine, session, plan)

    plan = make().to_plan()
    fine = ps.compare(plan, ["datafusion", "duckdb"], tables=TABLES)
    assert fine.agree, str(fine)
    monkeypatch.setattr(module._Running, "_rows", with_fault)
    found = ps.compare(plan, ["duckdb", "datafusion"], tables=TABLES)
    assert not found.agree
    (disagreement,) = found.disagreements
    assert disagreement.part is not None
    assert not disagreement.part.unknown
    expected = _path_of(plan, kind)
    assert disagreement.part.path == expected, str(found)


def _path_of(plan: Any, kind: type) -> str:
    """The path of the relation of a class: the fields of ``Rel`` from the root down."""
    message = json.loads(plan.to_json())["relations"][0]["root"]["input"]
    path = "relations[0].root.input"
    while True:
        (name,) = message
        path += f".{name}"
        if name == kind.info.field:  # type: ignore[attr-defined]
            return path
        side = "left" if "left" in message[name] else "input"
        path, message = f"{path}.{side}", message[name][side]


# reports --------------------------------------------------------------------------------------------------------------


def test_three_engines_agree(spark: SparkSession) -> None:
    plan = joined().group_by("label").agg(sum=lambda t: sum_(t.price), n=count()).sort("label").to_plan()
    found = ps.compare(plan, ["spark", "datafusion", "duckdb"], tables=TABLES, spark=spark)
    assert found.agree, str(found)
    assert [(result.engine, result.rows) for result in found.results] == [
        ("spark", 2),
        ("datafusion", 2),
        ("duckdb", 2),
    ]
    assert str(found).endswith("the rows are the same")
    assert json.loads(found.to_json())["agree"] is True
    assert "The rows are the same." in found.to_html()


def test_what_an_engine_refuses_is_said() -> None:
    plan = items().select(lambda t: (t.price * 2.0).alias("twice")).to_plan()
    found = ps.compare(plan, ["acero", "datafusion"], tables={"items": ITEMS})
    assert found.results[1].rows == 6
    with pytest.raises(ps.UnsupportedPlanError, match="there is no engine `sqlite`"):
        ps.compare(plan, ["sqlite"], tables=TABLES)
    nobody = ps.compare(plan, ["datafusion"], tables={"ITEMS": ITEMS})
    assert not nobody.agree and nobody.results[0].rows == 6


def test_no_engine_reads_other_files(tmp_path: Path) -> None:
    pq.write_table(ITEMS, tmp_path / "other.parquet")
    plan = read(str(tmp_path / "other.parquet"), ITEM).to_plan()
    with pytest.raises(ps.TableError, match="there is no table"):
        ps.compare(plan, ["duckdb"], tables=TABLES)
    session = sessions.session("duckdb", {"items": ITEMS})
    with pytest.raises(duckdb.Error, match="disabled by configuration"):
        session.run(f"SELECT * FROM `{tmp_path / 'other.parquet'}`")


def test_the_command(tmp_path: Path) -> None:
    pq.write_table(ITEMS, tmp_path / "items.parquet")
    plan = tmp_path / "plan.json"
    items().filter(lambda t: t.id > 2).to_plan().save(plan)
    command = ["compare", str(plan), "--engine", "datafusion", "--engine", "duckdb"]
    done = CliRunner().invoke(main, [*command, "--table", f"items={tmp_path / 'items.parquet'}"])
    assert done.exit_code == 0, done.output
    assert "the rows are the same" in done.stdout
    page = tmp_path / "report.html"
    done = CliRunner().invoke(main, [*command, "--table", f"items={tmp_path / 'items.parquet'}", "-o", str(page)])
    assert done.exit_code == 0 and "<h1>" in page.read_text(encoding="utf-8")
    done = CliRunner().invoke(main, [*command[:4], "--table", f"items={tmp_path / 'items.parquet'}"])
    assert done.exit_code == 1  # one engine has nobody to agree with


# rows -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ([1, 2, None], [None, 2, 1], True),
        ([1, 1, 2], [1, 2, 2], False),
        ([1.0, float("nan"), 0.0], [float("nan"), -0.0, 1.0], True),
        ([0.1 + 0.2, 1.0], [1.0, 0.3], True),
        ([0.3001], [0.3], False),
        ([Decimal("0.98")], [0.975], True),
        ([Decimal("0.98")], [0.9699], False),
        ([Decimal("0.98")], [Decimal("0.975")], False),
        ([True], [1], False),
        (["a"], ["b"], False),
        ([[1.0, None]], [[1.0, None]], True),
        ([{"a": 1, "b": 0.1 + 0.2}], [{"x": 1, "y": 0.3}], True),
        ([b"\x01"], [b"\x02"], False),
    ],
)
def test_values(first: list[Any], second: list[Any], same: bool) -> None:
    found = difference(pa.table({"c": first}), pa.table({"d": second}))
    assert (found is None) is same


def test_rows_that_differ_are_counted() -> None:
    found = difference(pa.table({"c": list(range(50))}), pa.table({"c": list(range(25, 60))}), shown=3)
    assert found is not None
    assert (found.first_count, found.second_count, len(found.first), len(found.second)) == (25, 10, 3, 3)
    assert difference(pa.table({"c": [1]}), pa.table({"c": [1], "d": [1]})) is not None


# DuckDB's SQL ---------------------------------------------------------------------------------------------------------


def in_duckdb(frame: Any) -> list[tuple[Any, ...]]:
    found = sessions.session("duckdb", TABLES).run(ps.to_sql(frame.to_plan(), dialect="duckdb"))
    return sorted(zip(*(column.to_pylist() for column in found.columns), strict=True), key=repr)


def test_grouping_sets_in_duckdb() -> None:
    frame = items().filter(lambda t: t.kind != "c").rollup("kind").agg(count().alias("n")).select("kind", "n")
    assert in_duckdb(frame) == [("a", 2), ("b", 2), (None, 4)]


def test_a_shared_part_in_duckdb() -> None:
    shared = items().group_by("kind").agg(count().alias("n")).shared()
    assert in_duckdb(shared.union_all(shared).filter(lambda t: t.kind == "a")) == [("a", 2), ("a", 2)]


def test_a_mean_of_decimals_in_duckdb() -> None:
    cents = items().select(cents=lambda t: t.price.cast("decimal<9,2>"))
    assert in_duckdb(cents.agg(mean=lambda t: avg(t.cents))) == [(Decimal("3.10"),)]
    debts = items().select(cents=lambda t: (t.price * -1.0).cast("decimal<9,2>"))
    assert in_duckdb(debts.agg(mean=lambda t: avg(t.cents))) == [(Decimal("-3.10"),)]


def test_a_cast_that_fails_is_an_error_in_duckdb() -> None:
    with pytest.raises(duckdb.ConversionException):
        in_duckdb(items().select(number=lambda t: t.kind.cast("i32")))

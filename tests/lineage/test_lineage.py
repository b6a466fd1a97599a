"""What lineage says of whole plans: worked out by hand, up and down, as text, however broken or deep they are."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import pyspark_substrait as ps
from pyspark_substrait.analysis.lineage import Lineage, Source, lineage
from pyspark_substrait.cli import main
from pyspark_substrait.documents import as_document
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model import types as t
from pyspark_substrait.model.plan import Plan, RelRoot
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.relations.generate import Generator, GeneratorKind
from pyspark_substrait.model.types import NamedStruct, Struct
from tests.explain.test_never_fails import MUTATIONS
from tests.lineage.small import ONE, by, col, emit, f, measure, outer, plan, short, table
from tests.samples import EXTENDED_EXPRESSIONS, PLANS

TUTORIAL = Path("plans", "tutorial", "final_plan.0.101.json")
#: the tutorial's plan: Aggregate(Join(orders, Filter(products))), by hand from its text
TUTORIAL_TEXT = """\
product_name: products.product_name
product_id: orders.product_id
sales: orders.quantity, orders.price
records by: orders.product_id, products.product_id, products.categories, products.product_name"""


def test_the_tutorial(shared: Path) -> None:
    found = ps.lineage(shared / TUTORIAL)
    aggregate, join, orders, filter, products = found.relations
    assert [type(item).__name__ for item in found.relations] == ["Aggregate", "Join", "Read", "Filter", "Read"]
    assert [found.number(item) for item in (aggregate, join, orders, filter, products)] == [0, 1, 2, 3, 4]
    assert found.outputs == (((0, 0), (0, 1), (0, 2)),)
    (output,) = found.results()
    assert output.names == ("product_name", "product_id", "sales")
    # orders has product_id, quantity, order_date, price; products has product_id, categories, details, product_name
    assert found.upstream((0, 0)) == {(0, 0), (1, 7), (3, 3), (4, 3)}
    assert found.upstream((0, 2)) == {(0, 2), (1, 1), (1, 3), (2, 1), (2, 3)}
    decided = {(1, 0), (1, 7), (2, 0), (3, 0), (3, 3), (4, 0), (4, 1), (4, 3)}
    assert found.upstream((0, 2), conditions=True) == {(0, 2), (1, 1), (1, 3), (2, 1), (2, 3)} | decided
    assert found.downstream((4, 1)) == {(4, 1), (3, 1), (1, 5)}
    assert found.downstream((4, 1), conditions=True) >= {*found.ports(0), *found.ports(1), *found.ports(3)}
    assert found.downstream((2, 2), conditions=True) == {(2, 2), (1, 2)}
    assert found.sources((0, 2)) == (Source(2, "orders", "quantity"), Source(2, "orders", "price"))
    assert [found.fed_by(number) for number in range(5)] == [(1,), (2, 3), (), (4,), ()]
    assert str(found) == TUTORIAL_TEXT


# --- all at once ------------------------------------------------------------------------------------------------------

SHARED = r.Filter(input=table("s", 2), condition=col(1))
QUERIED = r.Filter(input=table("q", 2), condition=f(col(0), outer(1, steps=1)))
#: a relation that two references mean, a subquery that refers to what is around it, a bare tree that nobody uses
WHOLE = Plan(
    relations=(
        SHARED,
        RelRoot(
            input=r.Project(
                input=r.Cross(
                    left=r.Reference(subtree_ordinal=0, subtree=SHARED),
                    right=r.Filter(
                        input=r.Reference(subtree_ordinal=0, subtree=SHARED),
                        condition=e.SetPredicate(predicate_op=e.PredicateOp.EXISTS, tuples=QUERIED),
                    ),
                ),
                expressions=(f(col(0), col(3)), ONE),
                common=emit(4, 1, 5),
            ),
            names=("sum", "one\u202e\n", "a column"),
        ),
        table("b", 1),
    )
)


def test_a_shared_relation_is_there_once_and_subqueries_stand_behind_inputs() -> None:
    found = lineage(WHOLE)
    kinds = [type(item).__name__ for item in found.relations]
    assert kinds == ["Filter", "Read", "Project", "Cross", "Reference", "Filter", "Reference", "Filter", "Read", "Read"]
    # the other side of the EXISTS, its own filter, and that of the shared relation decide, too
    decided = {short(found, port) for port in found.upstream((2, 2), conditions=True)}
    assert decided >= {"s1", "q0"} and "q1" not in decided
    assert [output.names for output in found.results()] == [("sum", "one\u202e\n", "a column"), ("x0",)]
    assert (
        found.text()
        == """\
sum: s.x0, s.x1
"one\\u202e\\n": s.x1
"a column": no column

x0: b.x0""".replace('"one\\u202e\\n"', '"one\\\\u202e\\\\n"')
    )
    assert found.fed_by(5) == (6, 7)
    with pytest.raises(KeyError, match="not a relation of the document"):
        found.number(table("x"))
    for wrong, said in {(2, 3): "puts out no column 3", (0, -1): "no column -1", (99, 0): "no relation 99"}.items():
        with pytest.raises(KeyError, match=said):
            found.origins(wrong)
    with pytest.raises(KeyError, match="there is no relation -1"):
        found.conditions(-1)


def test_conditions_as_text() -> None:
    grouped = r.Aggregate(
        input=table("a", filter=col(2), common=emit(0, 1)),
        groupings=(r.Grouping((0,)),),
        grouping_expressions=(col(0),),
        measures=(r.Measure(measure=measure(col(1), sorts=by(col(1))), filter=f(col(0))), r.Measure(measure=measure())),
    )
    window = e.WindowFunction(
        function=measure().function, arguments=(), partitions=(col(1),), output_type=t.I64(), derived_type=t.I64()
    )
    found = lineage(plan(r.Project(input=grouped, expressions=(window,))))
    # the column that only the read filters by isn't put out, but it decides
    assert (
        found.text(conditions=True)
        == """\
x0: a.x0
$1: a.x1
$2: no column
$3: no column; by a.x1
records by: a.x0, a.x2"""
    )
    assert found.text() == "x0: a.x0\n$1: a.x1\n$2: no column\n$3: no column"
    (result,) = json.loads(found.to_json(column="x0", conditions=True))["results"]
    source = {"relation": 2, "table": "a"}
    assert result == {
        "columns": [
            {
                "name": "x0",
                "relation": 0,
                "column": 0,
                "sources": [{**source, "column": "x0"}],
                "conditions": [{**source, "column": "x2"}],
            }
        ],
        "records_by": [{**source, "column": "x0"}, {**source, "column": "x2"}],
    }
    with pytest.raises(KeyError):
        found.text(column="x9")


def listed(sources: tuple[Source, ...]) -> str:
    return " ".join(f"{source.table}.{source.column}" for source in sources)


def test_what_is_written() -> None:
    schema = NamedStruct(names=("u", "v"), struct=Struct(types=(t.I64(), t.I64())))
    target = r.NamedObjectWrite(names=("db", "t"))
    scalar = e.ScalarSubquery(input=table("q", 1))
    a = table("a", 4, filter=col(3))
    into = {"write_type": target, "table_schema": schema}

    def of(relation: Relation) -> list[tuple[str, str, str, str]]:
        return [
            (one.table, one.column, listed(one.sources), listed(one.conditions))
            for one in lineage(plan(relation)).written()
        ]

    def write(op: r.WriteOp, input: Relation) -> Relation:
        return r.Write(op=op, input=input, **into)  # type: ignore[arg-type]

    two = r.Filter(input=a, condition=col(2), common=emit(1, 0))
    decided = "a.x2 a.x3"
    assert of(write(r.WriteOp.INSERT, two)) == [("db.t", "u", "a.x1", decided), ("db.t", "v", "a.x0", decided)]
    # of an update, the new values stand behind the old ones
    assert of(write(r.WriteOp.UPDATE, a)) == [("db.t", "u", "a.x2", "a.x3"), ("db.t", "v", "a.x3", "")]
    assert of(write(r.WriteOp.DELETE, two)) == []
    view = {"write_type": target, "object": r.DdlObject.VIEW, "op": r.DdlOp.CREATE}
    assert of(r.Ddl(view_definition=two, **view)) == [("db.t", "x1", "a.x1", decided), ("db.t", "x0", "a.x0", decided)]  # type: ignore[arg-type]
    update = r.Update(
        update_type=r.NamedTable(names=("db", "t")),
        table_schema=schema,
        condition=f(col(0)),
        transformations=(r.TransformExpression(transformation=f(col(1), scalar), column_target=1),),
    )
    assert of(update) == [("db.t", "v", "db.t.v q.x0", "db.t.u")]
    assert (
        lineage(plan(update)).text(conditions=True)
        == """\
$0: no column
records by: db.t.u

written:
db.t.v: db.t.v, q.x0; by db.t.u"""
    )


# --- broken, deep, wide -----------------------------------------------------------------------------------------------


def everything(found: Lineage) -> None:
    """Ask for all there is."""
    for number in range(len(found.relations)):
        found.conditions(number)
        found.fed_by(number)
        for port in found.ports(number):
            assert {origin.port for origin in found.origins(port)} <= found.upstream(port, conditions=True)
            assert port in found.downstream(port)
    assert found.text(conditions=True).replace("\n", "").isprintable()
    json.loads(found.to_json(conditions=True))


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__)
def test_broken_plans_have_lineage(mutate: Any) -> None:
    for name, document in (PLANS | EXTENDED_EXPRESSIONS).items():
        message = as_document(document, deep=False).to_message()
        mutate(message, random.Random(f"lineage {mutate.__name__} {name}"))
        seen = ps.validate(message).document
        if seen is not None:
            everything(lineage(seen))


def chain(length: int) -> Relation:
    node: Relation = table("a")
    for number in range(length):
        if number % 2:
            node = r.Filter(input=node, condition=col(1))
        else:
            node = r.Project(input=node, expressions=(f(col(0), col(2)),), common=emit(3, 1, 2))
    return node


def test_deep_plans_need_no_stack() -> None:
    found = lineage(Plan(relations=(RelRoot(input=chain(5_000), names=("sum", "one", "two")),)))
    assert len(found.relations) == 5_001
    assert found.text(conditions=True) == "sum: a.x0, a.x2\none: a.x1\ntwo: a.x2\nrecords by: a.x1"
    assert len(found.downstream((5_000, 2))) == 1 + 2 * 5_000
    # a generator needs the types of what is below it
    listed = r.Project(input=chain(5_000), expressions=(e.NestedList(values=(col(0),)),), common=emit(1, 3))
    made = r.Generate(input=listed, generator=Generator(kind=GeneratorKind.POSEXPLODE, arguments=1))
    assert lineage(plan(made)).text() == "x1: a.x1\n$1: a.x0, a.x2\n$2: a.x0, a.x2"
    expression: e.Expression = col(1)
    query: Relation = r.Filter(input=table("b"), condition=outer(0, steps=1_500))
    for level in range(1, 1_501):
        expression = e.Cast(type=t.I64(), input=expression)
        exists = e.SetPredicate(predicate_op=e.PredicateOp.EXISTS, tuples=query)
        query = r.Filter(input=table("top" if level == 1_500 else "c"), condition=exists)
    both = r.Project(input=query, expressions=(expression,), common=emit(3))
    assert lineage(plan(both)).text(conditions=True) == "$0: top.x1\nrecords by: top.x0"


def test_what_is_there_often_is_seen_once() -> None:
    """Each level uses the one below it twice: by references, in expressions, in subqueries."""
    node: Relation = table("a")
    value: e.Expression = col(0)
    for _ in range(60):
        reference = r.Reference(subtree_ordinal=0, subtree=node)
        value = f(e.DetachedExpression(expression=value), e.DetachedExpression(expression=value))
        node = r.Filter(
            input=r.Cross(left=reference, right=reference, common=emit(0, 4, 5)),
            condition=f(value, e.SetPredicate(predicate_op=e.PredicateOp.EXISTS, tuples=node)),
        )
    found = lineage(plan(node))
    assert len(found.relations) == 1 + 3 * 60
    assert found.text() == "x0: a.x0\nx1: a.x1\nx2: a.x2"


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command(shared: Path) -> None:
    path = str(shared / TUTORIAL)

    def call(*options: str) -> tuple[int, str]:
        result = CliRunner().invoke(main, ["lineage", path, *options])
        return result.exit_code, result.output

    without = TUTORIAL_TEXT.rpartition("\n")[0] + "\n"
    assert call() == (0, without)
    assert call("--conditions") == (0, TUTORIAL_TEXT + "\n")
    assert call("--column", "product_id") == (0, "product_id: orders.product_id\n")
    code, text = call("--json", "--column", "sales")
    assert code == 0 and [column["name"] for column in json.loads(text)["results"][0]["columns"]] == ["sales"]
    code, text = call("--column", "nothing")
    assert code == 2 and "there is no column 'nothing'; there are product_name, product_id, sales" in " ".join(
        text.split()
    )

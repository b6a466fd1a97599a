"""Hints: the alias and the output names of a relation are in Spark's plan, and nothing else changes by any hint."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle
from typing import TYPE_CHECKING, Any

import pyspark_substrait as ps
from pyspark_substrait.model.expressions import ScalarSubquery, SortDirection
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations import (
    AdvancedExtension,
    ComputationType,
    Fetch,
    Hint,
    JoinType,
    LoadedComputation,
    Relation,
    RelCommon,
    SavedComputation,
    Set,
    SetOp,
    Sort,
    Stats,
)
from pyspark_substrait.model.types import Struct
from tests.spark.plans import (
    INT,
    INT_,
    TEXT,
    aggregate,
    answers,
    both,
    call,
    col,
    group,
    join,
    long,
    number,
    ordered,
    outer,
    plan,
    project,
    rows,
    run,
    sort,
    values,
    where,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = values([INT, TEXT], [(1, "a"), (2, "b"), (3, "a")])

#: names that try to be more than names
EVIL = (
    "a`b",
    "``; DROP TABLE t; --",
    'it\'s "so" \\ /*+ BROADCAST */',
    "x" * 10_000,
    "line\nbreak\tand {brace} {} %s",
    "é☃😀 İı",
    "SELECT",
    "*",
    "c1",
    "C2",
    "r1",
    "${env:HOME}",
    "nul\x00",
    "half \ud800",
    "",
    " ",
)


def hinted(node: Any, alias: str = "", *names: str, **more: Any) -> Any:
    return replace(node, common=replace(node.common, hint=Hint(alias=alias, output_names=names, **more)))


def analysed(spark: SparkSession, node: Relation) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        ps.from_substrait(plan(node), spark).explain(extended=True)
    return out.getvalue().split("== Optimized")[0].split("== Analyzed Logical Plan ==")[1]


def small(input: Relation) -> Relation:
    return where(input, call("lt", col(input, 0), number(3)))


def test_names_are_in_the_analysed_plan(spark: SparkSession) -> None:
    found = analysed(spark, small(hinted(TABLE, "orders", "o_id", "o_kind")))
    assert "SubqueryAlias orders" in found and "AS o_id#" in found and "AS o_kind#" in found
    only_names = analysed(spark, hinted(small(TABLE), "", "o_id", "o_kind"))
    assert "AS o_id#" in only_names
    only_alias = analysed(spark, hinted(small(TABLE), "my `orders`"))
    assert "my ``orders``" in only_alias or "my `orders`" in only_alias


def test_names_change_no_result(spark: SparkSession) -> None:
    """Whatever they are: on all relations of a plan, the same on both sides of a join, like internal names."""

    def built(evil: Sequence[str]) -> Any:
        names = cycle(evil) if evil else None

        def h(node: Any) -> Any:
            if names is None:
                return node
            return hinted(node, next(names), *(next(names) for _ in node.schema.types))

        left = h(small(h(TABLE)))
        right = h(project(TABLE, col(TABLE, 0), call("add", col(TABLE, 0), number(1))))
        record = both(left, right)
        joined = h(join(left, right, call("equal", col(record, 0), col(record, 2)), JoinType.INNER))
        grouped = h(group(joined, [col(joined, 1)], [aggregate("sum", col(joined, 3))]))
        united = h(Set(members=(grouped, h(grouped)), op=SetOp.UNION_ALL))
        back = h(Sort(input=united, sorts=(sort(col(united, 0), SortDirection.DESC_NULLS_LAST),)))
        return h(Fetch(input=h(replace(back, common=replace(back.common, emit=(1, 0)))), count_expr=long(3)))

    plans = [
        built(evil) for evil in ((), EVIL, EVIL[5:] + EVIL[:5], EVIL[10:] + EVIL[:10], ("c1",), ("c2", "c1", "c3"))
    ]
    found = answers(spark, plans)
    assert found == [[(3, "b"), (3, "b"), (2, "a")]] * len(plans)


def test_names_in_correlated_subqueries(spark: SparkSession) -> None:
    same = hinted(where(TABLE, call("lt", col(TABLE, 0), outer(TABLE, 0, steps_out=1))), "c1", "c2", "c1")
    most = hinted(group(same, [], [aggregate("max", col(same, 0))]), "m", "m")
    node = project(hinted(TABLE, "m", "c1", "m"), col(TABLE, 0), ScalarSubquery(input=most))
    assert ordered(rows(spark, node)) == [(1, None), (2, 1), (3, 2)]


def test_nested_names_and_names_of_another_number(spark: SparkSession) -> None:
    """Nested fields have names too; a hint that doesn't fit says nothing."""
    pair = Struct(types=(INT_, INT))
    table = values([pair, INT], [((1, 2), 3)])
    fits = hinted(table, "", "p", "p_one", "p_two", "n")
    assert "AS p#" in analysed(spark, fits) and "AS n#" in analysed(spark, fits)
    for names in (("p", "n"), ("p", "p_one", "p_two", "n", "more")):
        wrong = hinted(table, "", *names)
        assert ps.to_sql(plan(wrong)) == ps.to_sql(plan(table))
        assert run(spark, wrong).to_pylist() == run(spark, fits).to_pylist()
    none = replace(small(TABLE), common=RelCommon(emit=(), hint=Hint(alias="nothing")))
    assert len(rows(spark, none)) == 2


def test_other_hints_are_kept_and_change_nothing() -> None:
    """Statistics, constraints and computations: in the model, in the message, and not in the text."""
    message = AdvancedExtension(
        optimization=(AnyMessage("type.googleapis.com/google.protobuf.StringValue", b"\n\x01x"),)
    )
    whole = Hint(
        stats=Stats(row_count=5.0, record_size=2.5, advanced_extension=message),
        constraint=message,
        advanced_extension=message,
        saved_computations=(SavedComputation(computation_id=1, type=ComputationType.BLOOM_FILTER),),
        loaded_computations=(LoadedComputation(computation_id_reference=1, type=ComputationType.HASHTABLE),),
    )
    plain = plan(small(TABLE))
    node = replace(small(TABLE), common=RelCommon(hint=whole))
    assert ps.to_sql(plan(node)) == ps.to_sql(plain)
    named = replace(node, common=RelCommon(hint=replace(whole, alias="a", output_names=("b", "c"))))
    for relation in (node, named):
        for again in (ps.load(plan(relation).to_bytes()), ps.load(plan(relation).to_json())):
            assert again.relations[0].input.common.hint == relation.common.hint  # type: ignore[union-attr]


def test_plans_without_hints_have_no_level_more() -> None:
    text = ps.to_sql(plan(small(TABLE)))
    assert text.count("SELECT") == 1 and "SELECT *" not in text
    assert ps.to_sql(plan(hinted(small(TABLE)))) == text
    for unusable in ("", "${x}", "\x00"):
        assert ps.to_sql(plan(hinted(small(TABLE), unusable, unusable, unusable))) == text

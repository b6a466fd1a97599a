"""Every kind of change is named, with both paths, and nothing else is: what is built on a change isn't one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

import pyspark_substrait as ps
from pyspark_substrait.analysis.diff import Kind
from pyspark_substrait.documents import Plan
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model import types as t
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.plan import RelRoot, VariableEvaluationMode
from tests.diff.plans import (
    ASCENDING,
    CUSTOMERS,
    DESCENDING,
    I64,
    NULLABLE,
    STRING,
    at,
    both,
    call,
    edited,
    emitted,
    measure,
    number,
    orders,
    plus,
    read,
    renamed,
    schema,
    text,
    times,
)

SORT = "relations[0].root.input.fetch.input.sort"
AGGREGATE = f"{SORT}.input.aggregate"
PROJECT = f"{AGGREGATE}.input.project"
JOIN = f"{PROJECT}.input.join"
FILTER = f"{JOIN}.left.filter"
READ = f"{FILTER}.input.read"

ABOVE_10, OF_F = call("gt", at(2), number(10)), call("equal", at(3, STRING), text("F"))


@dataclass(frozen=True, slots=True)
class Case:
    """A change to the plan of orders, and what is to be said about it: kind, words, paths."""

    change: Callable[[Plan], Plan]
    kind: Kind
    what: str
    path_a: str
    path_b: str


def on(kind: type, change: Callable[[Any], Any], which: int = 0) -> Callable[[Plan], Plan]:
    return lambda plan: edited(plan, kind, change, which)


def parts(kind: type, which: int = 0, **given: Any) -> Callable[[Plan], Plan]:
    """A change of some fields of a relation."""
    return on(kind, lambda node: replace(node, **given), which)


def options(*values: str) -> e.ScalarFunction:
    return replace(times(at(2), number(2)), options=(e.FunctionOption("overflow", values),))


CASES = {
    "a literal": Case(
        parts(r.Filter, condition=both(call("gt", at(2), number(20)), OF_F)),
        Kind.CONDITION,
        "the condition `price > 10` of the Filter over orders became `price > 20`",
        f"{FILTER}.condition.scalar_function.arguments[0].value",
        f"{FILTER}.condition.scalar_function.arguments[0].value",
    ),
    "a function": Case(
        parts(r.Filter, condition=both(call("gte", at(2), number(10)), OF_F)),
        Kind.CONDITION,
        "the condition `price > 10` of the Filter over orders became `price >= 10`",
        f"{FILTER}.condition.scalar_function.arguments[0].value",
        f"{FILTER}.condition.scalar_function.arguments[0].value",
    ),
    "a condition more": Case(
        parts(r.Filter, condition=both(ABOVE_10, OF_F, call("lt", at(0), number(7)))),
        Kind.CONDITION,
        "the condition `id < 7` was added to the Filter over orders",
        FILTER,
        f"{FILTER}.condition.scalar_function.arguments[2].value",
    ),
    "a condition less": Case(
        parts(r.Filter, condition=OF_F),
        Kind.CONDITION,
        "the condition `price > 10` of the Filter over orders was removed",
        f"{FILTER}.condition.scalar_function.arguments[0].value",
        FILTER,
    ),
    "an option": Case(
        parts(r.Project, expressions=(options("ERROR"),)),
        Kind.COLUMN,
        "the column `price * 2` of the Project over orders, customers became `multiply(price, 2)[overflow: ERROR]`: "
        "the option overflow of multiply is ERROR, it was not set",
        f"{PROJECT}.expressions[0]",
        f"{PROJECT}.expressions[0]",
    ),
    "a computed column": Case(
        parts(r.Project, expressions=(times(at(2), number(3)),)),
        Kind.COLUMN,
        "the column `price * 2` of the Project over orders, customers became `price * 3`",
        f"{PROJECT}.expressions[0]",
        f"{PROJECT}.expressions[0]",
    ),
    "the column that is computed with": Case(
        parts(r.Project, expressions=(times(at(0), number(2)),)),
        Kind.COLUMN,
        "the column `price * 2` of the Project over orders, customers became `id * 2`",
        f"{PROJECT}.expressions[0]",
        f"{PROJECT}.expressions[0]",
    ),
    "a computed column more": Case(
        on(
            r.Project,
            lambda node: emitted(replace(node, expressions=(*node.expressions, plus(at(0), at(1)))), 5, 2, 6, 7),
        ),
        Kind.COLUMN,
        "the column `id + customer` was added to the Project over orders, customers",
        PROJECT,
        f"{PROJECT}.expressions[1]",
    ),
    "a measure": Case(
        parts(r.Aggregate, measures=(measure("min", 2), measure("max", 1))),
        Kind.MEASURE,
        "the measure `sum($2)` of the Aggregate over orders, customers became `min($2)`",
        f"{AGGREGATE}.measures[0].measure",
        f"{AGGREGATE}.measures[0].measure",
    ),
    "what is merged before": Case(
        parts(
            r.Aggregate,
            measures=(
                r.Measure(measure=replace(measure("sum", 2).measure, invocation=e.AggregationInvocation.DISTINCT)),
                measure("max", 1),
            ),
        ),
        Kind.MEASURE,
        "the measure `sum($2)` of the Aggregate over orders, customers became `sum(DISTINCT $2)`: "
        "the invocation of sum is distinct, it was all",
        f"{AGGREGATE}.measures[0].measure",
        f"{AGGREGATE}.measures[0].measure",
    ),
    "the filter of a measure": Case(
        parts(
            r.Aggregate,
            measures=(replace(measure("sum", 2), filter=call("gt", at(1), number(5))), measure("max", 1)),
        ),
        Kind.MEASURE,
        "the measure `sum($2)` of the Aggregate over orders, customers became `sum($2) where price > 5`: "
        "the filter `price > 5` was added",
        f"{AGGREGATE}.measures[0].measure",
        f"{AGGREGATE}.measures[0].measure",
    ),
    "a grouping key": Case(
        parts(
            r.Aggregate, grouping_expressions=(call("concat", at(0, STRING), text("!"), file="string", kinds="str"),)
        ),
        Kind.GROUPING,
        "the grouping key `name` of the Aggregate over orders, customers became `name || '!'`",
        f"{AGGREGATE}.grouping_expressions[0]",
        f"{AGGREGATE}.grouping_expressions[0]",
    ),
    "a direction": Case(
        parts(
            r.Sort,
            sorts=(
                e.SortField(expr=at(1, NULLABLE), sort_kind=ASCENDING),
                e.SortField(expr=at(0, STRING), sort_kind=ASCENDING),
            ),
        ),
        Kind.SORT,
        "the sort key `$1 descending, nulls last` of the Sort over orders, customers became `$1 ascending, nulls last`",
        f"{SORT}.sorts[0]",
        f"{SORT}.sorts[0]",
    ),
    "the order of sort keys": Case(
        parts(
            r.Sort,
            sorts=(
                e.SortField(expr=at(0, STRING), sort_kind=ASCENDING),
                e.SortField(expr=at(1, NULLABLE), sort_kind=DESCENDING),
            ),
        ),
        Kind.SORT,
        "the sort keys of the Sort over orders, customers stand in another order: name ascending, nulls last, "
        "$1 descending, nulls last; it was $1 descending, nulls last, name ascending, nulls last",
        SORT,
        SORT,
    ),
    "a count": Case(
        parts(r.Fetch, count_expr=number(5)),
        Kind.FETCH,
        "the count `3` of the Fetch over orders, customers became `5`",
        "relations[0].root.input.fetch.count_expr",
        "relations[0].root.input.fetch.count_expr",
    ),
    "an offset": Case(
        parts(r.Fetch, offset_expr=number(1)),
        Kind.FETCH,
        "the offset `1` was added to the Fetch over orders, customers",
        "relations[0].root.input.fetch",
        "relations[0].root.input.fetch.offset_expr",
    ),
    "a join type": Case(
        parts(r.Join, type=r.JoinType.LEFT),
        Kind.JOIN,
        "the join type of the Join over orders, customers became left; it was inner",
        JOIN,
        JOIN,
    ),
    "a join condition": Case(
        parts(r.Join, expression=call("equal", at(0), at(4))),
        Kind.CONDITION,
        "the condition `customer = key` of the Join over orders, customers became `id = key`",
        f"{JOIN}.expression",
        f"{JOIN}.expression",
    ),
    "another join": Case(
        on(r.Join, lambda node: r.Cross(left=node.left, right=node.right)),
        Kind.RELATION,
        "the Join `inner; customer = key` over orders, customers became a Cross",
        JOIN,
        f"{PROJECT}.input.cross",
    ),
    "a table": Case(
        parts(r.Read, read_type=r.NamedTable(names=("archive", "orders"))),
        Kind.TABLE,
        "the table orders became archive.orders",
        READ,
        READ,
    ),
    "the type of a column": Case(
        parts(r.Read, base_schema=schema(("id", t.I32()), ("customer", I64), ("price", I64), ("status", STRING))),
        Kind.SCHEMA,
        "the column id of the read of orders is i32; it was i64",
        READ,
        READ,
    ),
    "the nullability of a column": Case(
        parts(r.Read, base_schema=schema(("id", NULLABLE), ("customer", I64), ("price", I64), ("status", STRING))),
        Kind.SCHEMA,
        "the column id of the read of orders may be null now: i64?; it was i64",
        READ,
        READ,
    ),
    "the name of a column": Case(
        parts(r.Read, base_schema=schema(("number", I64), ("customer", I64), ("price", I64), ("status", STRING))),
        Kind.SCHEMA,
        "the column id of the read of orders is called number now",
        READ,
        READ,
    ),
    "the name of a column that is used": Case(
        parts(r.Read, base_schema=schema(("id", I64), ("customer", I64), ("cost", I64), ("status", STRING))),
        Kind.SCHEMA,
        "the column price of the read of orders is called cost now",
        READ,
        READ,
    ),
    "a filter in a read": Case(
        parts(r.Read, filter=call("gt", at(0), number(1))),
        Kind.CONDITION,
        "the filter `id > 1` was added to the read of orders",
        READ,
        f"{READ}.filter",
    ),
    "a best-effort filter": Case(
        parts(r.Read, best_effort_filter=call("gt", at(0), number(1))),
        Kind.CONDITION,
        "the best-effort filter `id > 1` was added to the read of orders",
        READ,
        f"{READ}.best_effort_filter",
    ),
    "a relation more": Case(
        on(r.Read, lambda node: r.Filter(input=node, condition=call("lt", at(0), number(9)))),
        Kind.RELATION,
        "a Filter `id < 9` was added above the read of orders",
        READ,
        f"{FILTER}.input.filter",
    ),
    "a relation less": Case(
        on(r.Filter, lambda node: node.input),
        Kind.RELATION,
        "the Filter `price > 10 AND status = 'F'` above the read of orders was removed",
        FILTER,
        f"{JOIN}.left.read",
    ),
    "a relation less at the top": Case(
        on(r.Fetch, lambda node: node.input),
        Kind.RELATION,
        "the Fetch `count 3` above the Sort over orders, customers was removed",
        "relations[0].root.input.fetch",
        "relations[0].root.input.sort",
    ),
    "a join more": Case(
        on(
            r.Read,
            lambda node: emitted(
                r.Join(
                    left=node,
                    right=read("notes", ("order", I64)),
                    type=r.JoinType.LEFT_SEMI,
                    expression=call("equal", at(0), at(4)),
                ),
                0,
                1,
                2,
                3,
            ),
        ),
        Kind.RELATION,
        "a Join `left semi; id = order` with the read of notes was added above the read of orders",
        READ,
        f"{FILTER}.input.join",
    ),
    "a name": Case(
        lambda plan: renamed(plan, "name", "total", "highest"),
        Kind.NAMES,
        "the output column spent is called total now",
        "relations[0]",
        "relations[0]",
    ),
    "the order of columns": Case(
        lambda plan: renamed(edited(plan, r.Fetch, lambda node: emitted(node, 0, 2, 1)), "name", "highest", "spent"),
        Kind.COLUMN,
        "the output columns stand in another order: name, highest, spent; it was name, spent, highest",
        "relations[0]",
        "relations[0]",
    ),
    "columns under each other's names": Case(
        on(r.Fetch, lambda node: emitted(node, 0, 1, 1)),
        Kind.COLUMN,
        "the output column highest is another column now",
        "relations[0]",
        "relations[0]",
    ),
    "a column less": Case(
        lambda plan: renamed(edited(plan, r.Fetch, lambda node: emitted(node, 0, 1)), "name", "spent"),
        Kind.COLUMN,
        "the output column highest was removed",
        "relations[0]",
        "relations[0]",
    ),
    "an enhancement": Case(
        parts(r.Filter, advanced_extension=r.AdvancedExtension(enhancement=AnyMessage("example.com/Twice", b"12"))),
        Kind.EXTENSION,
        "the enhancement `example.com/Twice (2 bytes)` was added to the Filter over orders",
        FILTER,
        FILTER,
    ),
    "how often variables are evaluated": Case(
        lambda plan: replace(plan, execution_behavior=VariableEvaluationMode.PER_RECORD),
        Kind.PLAN,
        "the evaluation of context variables of the plan became per record; it was per plan",
        "",
        "",
    ),
    "another result": Case(
        lambda plan: replace(plan, relations=(*plan.relations, RelRoot(input=CUSTOMERS, names=("key", "name")))),
        Kind.RESULT,
        "the result key, name was added",
        "",
        "relations[1]",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_change_is_named(name: str) -> None:
    case = CASES[name]
    before = orders()
    found = ps.diff(before, case.change(before))
    assert [change.what for change in found] == [case.what]
    assert (found[0].kind, found[0].path_a, found[0].path_b) == (case.kind, case.path_a, case.path_b)
    assert not found.same


@pytest.mark.parametrize("name", CASES)
def test_the_other_way_around_there_is_as_much(name: str) -> None:
    before = orders()
    found = ps.diff(CASES[name].change(before), before)
    assert [change.kind for change in found] == [CASES[name].kind]
    assert (found[0].path_a, found[0].path_b) == (CASES[name].path_b, CASES[name].path_a)

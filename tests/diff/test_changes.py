"""Every kind of change is named, with both paths, and nothing else is: what is built on a change isn't one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

import pyspark_substrait as ps
from pyspark_substrait.analysis.diff import Kind
from pyspark_substrait.documents import Plan
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model import types as t
from pyspark_substrait.model.literals import AnyMessage, Literal
from pyspark_substrait.model.plan import DynamicParameterBinding, RelRoot, VariableEvaluationMode
from tests.diff.plans import (
    ASCENDING,
    CUSTOMERS,
    DESCENDING,
    I64,
    ORDERS,
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
    rooted,
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
NULLABLE = t.I64(nullable=True)


@dataclass(frozen=True, slots=True)
class Case:
    """A change to the plan of orders, and what is to be said about it: kind, words, paths."""

    change: Callable[[Plan], Plan]
    kind: Kind
    what: str
    path_a: str
    path_b: str


def on(kind: type, change: Callable[[object], object], which: int = 0) -> Callable[[Plan], Plan]:
    return lambda plan: edited(plan, kind, change, which)


def parts(kind: type, which: int = 0, **given: object) -> Callable[[Plan], Plan]:
    """A change of some fields of a relation."""
    return on(kind, lambda node: replace(node, **given), which)


def schema(*columns: tuple[str, t.Type]) -> t.NamedStruct:
    return read("", *columns).base_schema


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


def changed(before: object, after: object) -> list[str]:
    """What is said of two relations, as the only ones of a plan."""
    width = [len(item.schema.types) for item in (before, after)]
    plans = [
        rooted(item, *(f"c{at}" for at in range(count))) for item, count in zip((before, after), width, strict=True)
    ]
    return [change.what for change in ps.diff(*plans)]


LINES = read("lines", ("item", I64), ("day", t.Date()))


def window(function: str, bounds: e.Bound) -> r.ConsistentPartitionWindow:
    return r.ConsistentPartitionWindow(
        input=ORDERS,
        window_functions=(
            r.WindowRelFunction(
                function=e.Function("extension:io.substrait:functions_arithmetic", function, "i64"),
                arguments=(at(2),),
                output_type=NULLABLE,
                derived_type=NULLABLE,
                bounds_type=e.BoundsType.ROWS,
                upper_bound=bounds,
            ),
        ),
        partition_expressions=(at(1),),
    )


def subquery(limit: int) -> r.Filter:
    query = r.Filter(input=CUSTOMERS, condition=call("gt", at(0), number(limit)))
    exists = e.SetPredicate(predicate_op=e.PredicateOp.EXISTS, tuples=query)
    return r.Filter(input=ORDERS, condition=exists)


def correlated(position: int) -> r.Filter:
    outer = e.FieldReference(root=e.OuterReference(steps_out=1), reference=(e.StructField(position),), type=I64)
    query = r.Filter(input=CUSTOMERS, condition=call("equal", at(0), outer))
    return r.Filter(input=ORDERS, condition=e.SetPredicate(predicate_op=e.PredicateOp.EXISTS, tuples=query))


def virtual(*rows: int) -> r.Read:
    records = tuple(e.NestedStruct(fields=(number(row),)) for row in rows)
    return r.Read(base_schema=schema(("n", I64)), read_type=r.VirtualTable(expressions=records))


def written(op: r.WriteOp, *columns: int) -> r.Write:
    target = read("target", ("a", I64), ("b", I64)).base_schema
    return r.Write(
        write_type=r.NamedObjectWrite(names=("target",)), table_schema=target, op=op, input=emitted(ORDERS, *columns)
    )


def key(comparison: r.SimpleComparisonType) -> r.HashJoin:
    keys = (r.ComparisonJoinKey(left=at(1), right=at(0), comparison=comparison),)
    return r.HashJoin(left=ORDERS, right=CUSTOMERS, type=r.JoinType.INNER, keys=keys)


def cast(type: t.Type, failure: e.FailureBehavior = e.FailureBehavior.THROW_EXCEPTION) -> r.Project:
    return r.Project(input=LINES, expressions=(e.Cast(type=type, input=at(0), failure_behavior=failure),))


IN_TURN = r.Exchange(input=ORDERS, exchange_kind=r.RoundRobin(), partition_count=4)

PAIRS: dict[str, tuple[object, object, list[str]]] = {
    "a window function": (
        window("sum", e.CurrentRow()),
        window("max", e.CurrentRow()),
        [
            "the window function `sum(price) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)` of the "
            "ConsistentPartitionWindow over orders became "
            "`max(price) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)`"
        ],
    ),
    "the bounds of a window": (
        window("sum", e.CurrentRow()),
        window("sum", e.Unbounded()),
        [
            "the window function `sum(price) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)` of the "
            "ConsistentPartitionWindow over orders became "
            "`sum(price) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)`: "
            "the upper bound of sum is unbounded, it was the current row"
        ],
    ),
    "inside a subquery": (
        subquery(1),
        subquery(2),
        ["the condition `key > 1` of the Filter over customers became `key > 2`"],
    ),
    "an outer column": (
        correlated(0),
        correlated(1),
        ["the condition `key = outer.id` of the Filter over customers became `key = outer.customer`"],
    ),
    "a record": (
        virtual(1, 2, 3),
        virtual(1, 5, 3),
        ["the record `struct(2)` of the read of a virtual table became `struct(5)`"],
    ),
    "a record more": (
        virtual(1, 2),
        virtual(1, 7, 2),
        ["the record `struct(7)` was added to the read of a virtual table"],
    ),
    "what a write does": (
        written(r.WriteOp.INSERT, 0, 1),
        written(r.WriteOp.DELETE, 0, 1),
        ["the operation of the Write over orders became delete; it was insert"],
    ),
    "which columns are written": (
        written(r.WriteOp.INSERT, 0, 1),
        written(r.WriteOp.INSERT, 1, 0),
        ["the columns written of the Write over orders stand in another order: customer, id; it was id, customer"],
    ),
    "how keys are compared": (
        key(r.SimpleComparisonType.EQ),
        key(r.SimpleComparisonType.IS_NOT_DISTINCT_FROM),
        [
            "the join key `customer = key` of the HashJoin over orders, customers became "
            "`customer is not distinct from key`"
        ],
    ),
    "the type of a cast": (
        cast(t.I32()),
        cast(t.I16()),
        [
            "the column `item::i32` of the Project over lines became `item::i16`: the cast to i32 became one to i16",
        ],
    ),
    "the failure of a cast": (
        cast(t.I32(nullable=True)),
        cast(t.I32(nullable=True), e.FailureBehavior.RETURN_NULL),
        [
            "the column `item::i32?` of the Project over lines became `item::i32?[on failure: NULL]`: on failure the "
            "cast to i32? does this: return null; it was: throw exception"
        ],
    ),
    "the type of a literal": (
        r.Project(input=LINES, expressions=(number(1),)),
        r.Project(input=LINES, expressions=(Literal(type=t.I16(), value=1),)),
        ["in the column `1` of the Project over lines: `1` is of type i16, it was i64"],
    ),
    "a set operation": (
        r.Set(members=(ORDERS, ORDERS), op=r.SetOp.UNION_ALL),
        r.Set(members=(ORDERS, ORDERS), op=r.SetOp.UNION_DISTINCT),
        ["the operation of the Set over orders became union distinct; it was union all"],
    ),
    "an input more": (
        r.Set(members=(ORDERS, ORDERS), op=r.SetOp.UNION_ALL),
        r.Set(
            members=(ORDERS, ORDERS, read("more", *zip(ORDERS.base_schema.names, ORDERS.schema.types, strict=True))),
            op=r.SetOp.UNION_ALL,
        ),
        ["the input `Read more` was added to the Set over orders, more"],
    ),
    "what is taken from what": (
        r.Set(members=(emitted(LINES, 0), emitted(CUSTOMERS, 0)), op=r.SetOp.MINUS_PRIMARY),
        r.Set(members=(emitted(CUSTOMERS, 0), emitted(LINES, 0)), op=r.SetOp.MINUS_PRIMARY),
        ["the inputs of the Set over customers, lines stand in another order"],
    ),
    "a number of partitions": (
        IN_TURN,
        replace(IN_TURN, partition_count=8),
        ["the number of partitions of the Exchange over orders became 8; it was 4"],
    ),
    "another table": (
        ORDERS,
        virtual(1),
        [
            "the output column c1 was removed",
            "the output column c2 was removed",
            "the output column c3 was removed",
            "the table orders became a virtual table",
            "the column id of the read of a virtual table is called n now",
            "the column customer (i64) of the read of a virtual table was removed",
            "the column price (i64) of the read of a virtual table was removed",
            "the column status (string) of the read of a virtual table was removed",
            "the record `struct(1)` was added to the read of a virtual table",
        ],
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_two_relations(name: str) -> None:
    before, after, words = PAIRS[name]
    found = changed(before, after)
    assert found == words


def test_a_column_that_a_filter_of_the_read_uses_got_another_name() -> None:
    above = replace(ORDERS, filter=call("gt", at(2), number(1)))
    columns = zip(("id", "customer", "cost", "status"), ORDERS.schema.types, strict=True)
    assert changed(above, replace(above, base_schema=schema(*columns))) == [
        "the column price of the read of orders is called cost now"
    ]


def test_enhancements_of_a_relation_and_of_its_common_part() -> None:
    def enhanced(own: bytes, common: bytes) -> r.Read:
        parts = [r.AdvancedExtension(enhancement=AnyMessage("example.com/Twice", content)) for content in (own, common)]
        return replace(ORDERS, advanced_extension=parts[0], common=r.RelCommon(advanced_extension=parts[1]))

    assert changed(enhanced(b"1", b"2"), enhanced(b"12", b"2"))
    assert changed(enhanced(b"1", b"2"), enhanced(b"1", b"21"))
    assert not changed(enhanced(b"1", b"2"), enhanced(b"1", b"2"))


def test_the_value_of_a_parameter() -> None:
    plans = [
        replace(orders(), parameter_bindings=(DynamicParameterBinding(parameter_anchor=1, value=number(value)),))
        for value in (1, 2)
    ]
    assert [change.what for change in ps.diff(*plans)] == ["the parameter `1` of the plan became `2`"]


def test_a_plan_is_no_extended_expression() -> None:
    from tests.samples import EXTENDED_EXPRESSIONS

    other = next(iter(EXTENDED_EXPRESSIONS.values()))
    from pyspark_substrait.documents import as_document

    found = ps.diff(orders(), as_document(other, deep=False))
    assert [change.what for change in found] == ["the first is a plan, the second an extended expression"]

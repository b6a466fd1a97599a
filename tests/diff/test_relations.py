"""Changes of single relations, expressions and parameters, by pairs that differ in one thing."""

from __future__ import annotations

from dataclasses import replace

import pytest

import pyspark_substrait as ps
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model import types as t
from pyspark_substrait.model.literals import AnyMessage, Literal
from pyspark_substrait.model.plan import DynamicParameterBinding
from pyspark_substrait.model.relations import Relation
from tests.diff.plans import (
    CUSTOMERS,
    I64,
    NULLABLE,
    ORDERS,
    at,
    call,
    emitted,
    number,
    orders,
    read,
    rooted,
    schema,
)


def changed(before: Relation, after: Relation) -> list[str]:
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

PAIRS: dict[str, tuple[Relation, Relation, list[str]]] = {
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

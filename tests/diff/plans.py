"""A plan to compare others with, and ways to make others of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from pyspark_substrait.documents import Plan
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model import types as t
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.relations import Relation, RelationBase
from pyspark_substrait.model.types import NamedStruct, Struct, Type
from pyspark_substrait.model.walk import with_inputs

Node = TypeVar("Node")
Rel = TypeVar("Rel", bound=RelationBase)

I64, STRING, BOOLEAN = t.I64(), t.String(), t.Boolean()
NULLABLE = t.I64(nullable=True)


def number(value: int) -> Literal:
    return Literal(type=I64, value=value)


def text(value: str) -> Literal:
    return Literal(type=STRING, value=value)


def at(position: int, type: Type = I64) -> e.FieldReference:
    """The column at a position."""
    return e.FieldReference(root=e.RootReference(), reference=(e.StructField(position),), type=type)


def call(name: str, *arguments: e.Expression, file: str = "comparison", kinds: str = "any_any") -> e.ScalarFunction:
    """A call of a standard function; a boolean, unless it computes."""
    function = e.Function(f"extension:io.substrait:functions_{file}", name, kinds)
    types: dict[str, Type] = {"arithmetic": I64, "string": STRING}
    type = types.get(file, BOOLEAN)
    return e.ScalarFunction(function=function, arguments=arguments, output_type=type, derived_type=type)


def both(*conditions: e.Expression) -> e.ScalarFunction:
    return call("and", *conditions, file="boolean", kinds="bool")


def plus(left: e.Expression, right: e.Expression) -> e.ScalarFunction:
    return call("add", left, right, file="arithmetic", kinds="i64_i64")


def times(left: e.Expression, right: e.Expression) -> e.ScalarFunction:
    return call("multiply", left, right, file="arithmetic", kinds="i64_i64")


def measure(name: str, position: int) -> r.Measure:
    type = t.I64(nullable=True)
    return r.Measure(
        measure=e.AggregateFunction(
            function=e.Function("extension:io.substrait:functions_arithmetic", name, "i64"),
            arguments=(at(position),),
            output_type=type,
            derived_type=type,
        )
    )


def schema(*columns: tuple[str, Type]) -> NamedStruct:
    names = tuple(name for name, _ in columns)
    return NamedStruct(names=names, struct=Struct(types=tuple(type for _, type in columns)))


def read(table: str, *columns: tuple[str, Type]) -> r.Read:
    return r.Read(base_schema=schema(*columns), read_type=r.NamedTable(names=(table,)))


def emitted(relation: Rel, *columns: int) -> Rel:
    return replace(relation, common=replace(relation.common, emit=columns))


def rooted(relation: Relation, *names: str) -> Plan:
    return Plan(relations=(RelRoot(input=relation, names=names),))


ORDERS = read("orders", ("id", I64), ("customer", I64), ("price", I64), ("status", STRING))
CUSTOMERS = read("customers", ("key", I64), ("name", STRING))

ASCENDING, DESCENDING = e.SortDirection.ASC_NULLS_LAST, e.SortDirection.DESC_NULLS_LAST


def orders() -> Plan:
    """The three customers that spent most: their names, what they spent, and the highest price."""
    filtered = r.Filter(
        input=ORDERS, condition=both(call("gt", at(2), number(10)), call("equal", at(3, STRING), text("F")))
    )
    joined = r.Join(left=filtered, right=CUSTOMERS, type=r.JoinType.INNER, expression=call("equal", at(1), at(4)))
    computed = emitted(r.Project(input=joined, expressions=(times(at(2), number(2)),)), 5, 2, 6)
    grouped = r.Aggregate(
        input=computed,
        groupings=(r.Grouping(expression_references=(0,)),),
        grouping_expressions=(at(0, STRING),),
        measures=(measure("sum", 2), measure("max", 1)),
    )
    nullable = t.I64(nullable=True)
    keys = (
        e.SortField(expr=at(1, nullable), sort_kind=DESCENDING),
        e.SortField(expr=at(0, STRING), sort_kind=ASCENDING),
    )
    sorted_ = r.Sort(input=grouped, sorts=keys)
    return rooted(r.Fetch(input=sorted_, count_expr=number(3)), "name", "spent", "highest")


def edited(plan: Plan, kind: type[Node], change: Callable[[Node], Any], which: int = 0) -> Plan:
    """A plan with one relation of a kind changed: the first from the top down, or a later one."""
    left = [which]

    def walk(node: Relation) -> Relation:
        if isinstance(node, kind):
            left[0] -= 1
            if left[0] < 0:
                left[0] = 1_000
                return change(node)  # type: ignore[no-any-return]
        return with_inputs(node, walk)

    root = plan.relations[0]
    assert isinstance(root, RelRoot)
    return replace(plan, relations=(replace(root, input=walk(root.input)), *plan.relations[1:]))


def renamed(plan: Plan, *names: str) -> Plan:
    root = plan.relations[0]
    assert isinstance(root, RelRoot)
    return replace(plan, relations=(replace(root, names=names), *plan.relations[1:]))

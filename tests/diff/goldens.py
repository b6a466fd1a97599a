"""The golden pages of differences; ``python -m tests.diff.goldens`` writes them anew."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyspark_substrait as ps
from pyspark_substrait.documents import Plan, as_document
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model import types as t
from pyspark_substrait.model.plan import ExpressionReference, RelRoot
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
from tests.samples import EXTENDED_EXPRESSIONS, PLANS

PAGES = Path(__file__).parent / "pages"
DOCS = Path(__file__).parents[2] / "docs" / "comparing.md"


def filtered(limit: int, status: str) -> r.Filter:
    return r.Filter(
        input=ORDERS, condition=both(call("gt", at(2), number(limit)), call("equal", at(3, STRING), text(status)))
    )


def two_conditions() -> tuple[Plan, Plan]:
    """Two conditions changed, one was added, and a filter below."""
    condition = both(
        call("equal", at(3, STRING), text("O")),
        call("gte", at(2), number(10)),
        call("lt", at(0), number(1_000)),
    )
    below = edited(orders(), r.Read, lambda node: r.Filter(input=node, condition=call("gt", at(1), number(0))))
    return orders(), edited(below, r.Filter, lambda node: replace(node, condition=condition))


def join_added() -> tuple[Plan, Plan]:
    """A join with another table in the middle, whose columns are dropped again; a measure more above."""
    regions = read("regions", ("region", I64), ("label", STRING))

    def change(node: Any) -> Any:
        joined = r.Join(left=node, right=regions, type=r.JoinType.LEFT, expression=call("equal", at(0), at(6)))
        return emitted(joined, 0, 1, 2, 3, 4, 5)

    more = edited(orders(), r.Join, change)
    more = edited(more, r.Aggregate, lambda node: replace(node, measures=(*node.measures, measure("min", 1))))
    return orders(), renamed(more, "name", "spent", "highest", "lowest")


def join_removed() -> tuple[Plan, Plan]:
    before, after = join_added()
    return after, before


def table_changed() -> tuple[Plan, Plan]:
    """Another table with another schema under the same plan."""
    columns = (("id", I64), ("buyer", I64), ("price", I64), ("status", STRING), ("note", t.String(nullable=True)))
    table = read("archive", *columns)
    moved = edited(orders(), r.Read, lambda node: emitted(table, 0, 1, 2, 3))
    return orders(), moved


def sorted_otherwise() -> tuple[Plan, Plan]:
    keys = (
        e.SortField(expr=at(0, STRING), sort_kind=DESCENDING),
        e.SortField(expr=at(2, t.I64(nullable=True)), sort_kind=ASCENDING),
    )
    other = edited(orders(), r.Sort, lambda node: replace(node, sorts=keys))
    return orders(), edited(other, r.Fetch, lambda node: replace(node, count_expr=number(10), offset_expr=number(5)))


def join_changed() -> tuple[Plan, Plan]:
    """A join became one by hash, of another type, and its inputs changed places."""

    def change(node: Any) -> Any:
        key = r.ComparisonJoinKey(left=at(0), right=at(1))
        joined = r.HashJoin(left=node.right, right=node.left, type=r.JoinType.RIGHT, keys=(key,))
        return emitted(joined, 2, 3, 4, 5, 0, 1)

    return orders(), edited(orders(), r.Join, change)


def subqueries() -> tuple[Plan, Plan]:
    def plan(limit: int, table: str) -> Plan:
        customers = replace(CUSTOMERS, read_type=r.NamedTable(names=(table,)))
        outer = e.FieldReference(root=e.OuterReference(steps_out=1), reference=(e.StructField(1),), type=I64)
        query = r.Filter(input=customers, condition=both(call("equal", at(0), outer), call("gt", at(0), number(limit))))
        exists = e.SetPredicate(predicate_op=e.PredicateOp.EXISTS, tuples=query)
        condition = both(exists, call("gt", at(2), number(limit)))
        return rooted(r.Filter(input=ORDERS, condition=condition), "id", "customer", "price", "status")

    return plan(1, "customers"), plan(2, "people")


def unions() -> tuple[Plan, Plan]:
    members = tuple(filtered(limit, "F") for limit in (10, 20, 30))
    more = (filtered(20, "F"), filtered(10, "F"), filtered(35, "F"), filtered(40, "O"))
    names = ("id", "customer", "price", "status")
    before = r.Set(members=members, op=r.SetOp.UNION_ALL)
    return rooted(before, *names), rooted(r.Set(members=more, op=r.SetOp.UNION_ALL), *names)


def unlike() -> tuple[Plan, Plan]:
    """Plans that have next to nothing in common."""
    return orders(), rooted(r.Sort(input=CUSTOMERS, sorts=(e.SortField(expr=at(0), sort_kind=ASCENDING),)), "k", "n")


def several_results() -> tuple[Plan, Plan]:
    other = RelRoot(input=CUSTOMERS, names=("key", "name"))
    first = replace(orders(), relations=(*orders().relations, other))
    changed = replace(CUSTOMERS, filter=call("gt", at(0), number(5)))
    return first, replace(first, relations=(*orders().relations, RelRoot(input=changed, names=("key", "title"))))


def other_clothes() -> tuple[Plan, Plan]:
    """The same in other clothes; operands, and inputs, in another order."""

    def change(node: Any) -> Any:
        joined = r.Join(left=node.right, right=node.left, type=node.type, expression=call("equal", at(0), at(3)))
        return emitted(joined, 2, 3, 4, 5, 0, 1)

    return orders(), edited(orders(), r.Join, change)


def expressions() -> tuple[Any, Any]:
    def extended(price: str, *values: tuple[str, e.Expression]) -> Any:
        from pyspark_substrait.documents import ExtendedExpression

        schema = read("", ("id", I64), (price, I64)).base_schema
        referred = tuple(ExpressionReference(expr=value, output_names=(name,)) for name, value in values)
        return ExtendedExpression(referred_expr=referred, base_schema=schema)

    before = extended("price", ("sum", plus(at(0), at(1))), ("twice", times(at(1), number(2))))
    return before, extended("cost", ("total", plus(at(0), at(1))), ("twice", times(at(1), number(3))))


PAIRS: dict[str, Callable[[], tuple[Any, Any]]] = {
    made.__name__.replace("_", "-"): made
    for made in (
        two_conditions,
        join_added,
        join_removed,
        table_changed,
        sorted_otherwise,
        join_changed,
        subqueries,
        unions,
        unlike,
        several_results,
        other_clothes,
        expressions,
    )
}


def pages() -> dict[str, str]:
    """The text of each page, by the name of its file."""
    found = {f"{name}.txt": f"{ps.diff(*made())}\n" for name, made in PAIRS.items()}
    found["samples.txt"] = samples()
    return found


def samples() -> str:
    """What is said of each sample beside the one before it."""
    parts = []
    for documents in (PLANS, EXTENDED_EXPRESSIONS):
        names = list(documents)
        for name, other in pairwise(names):
            found = ps.diff(as_document(documents[name], deep=False), as_document(documents[other], deep=False))
            said = [str(change) for change in found] + [f"remark: {change}" for change in found.remarks]
            parts.append("\n".join([f"== {name} | {other}", *(said or ["the same"]), ""]))
    return "\n".join(parts)


_EXAMPLE = re.compile(r"(?<=<!-- page: )([\w-]+)( -->\n```text\n).*?(?=```)", re.DOTALL)


def documented() -> str:
    """The page of the documentation, with its examples as they are now."""
    made = pages()
    return _EXAMPLE.sub(
        lambda found: f"{found[1]}{found[2]}{made[f'{found[1]}.txt']}", DOCS.read_text(encoding="utf-8")
    )


if __name__ == "__main__":
    DOCS.write_text(documented(), encoding="utf-8")
    for name, page in pages().items():
        (PAGES / name).write_text(page, encoding="utf-8")

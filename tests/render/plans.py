"""Plans to look at: large ones, and ones whose names want to be something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark_substrait import samples
from pyspark_substrait.builder import Frame, read, sum_
from pyspark_substrait.documents import ExtendedExpression, Plan, as_document
from tests.explain.plans import PLANS
from tests.explain.rarer_plans import rarer
from tests.report.plans import HOSTILE, plan

__all__ = ["ROOT", "TUTORIAL", "by_hand", "chain", "hostile", "large"]

ROOT = Path(__file__).resolve().parent.parent.parent
TUTORIAL = samples.plan_2023()


def hostile() -> list[dict[str, Any]]:
    """A plan for each name that wants to be markup, or to break the page; the last has all of them as columns."""
    more = (
        "</script><script>document.title='taken'</script>",
        "${document.title='taken'}",
        "\u2028\u2029",
        "\ud800",
        "a-->b",
    )
    plans = [plan(names=(name, f"{name}2"), table=name, producer=name) for name in (*HOSTILE, *more)]
    return [*plans, _wide((*HOSTILE, *more))]


def by_hand() -> dict[str, Plan | ExtendedExpression]:
    """The plans of the tests of the text, which are made as models: every kind of relation and expression."""
    made = {**PLANS, "rarer": rarer}
    return {name: as_document(plan(), deep=False) for name, plan in made.items() if name != "broken"}


def _wide(names: tuple[str, ...]) -> dict[str, Any]:
    made = plan()
    schema = made["relations"][0]["root"]["input"]["filter"]["input"]["read"]["baseSchema"]
    schema["names"] = [*names]
    schema["struct"]["types"] = [{"string": {"nullability": "NULLABILITY_NULLABLE"}} for _ in names]
    made["relations"][0]["root"]["names"] = [*names]
    return made


def large(relations: int) -> Plan:
    """A plan of at least so many relations: filtered and joined tables, aggregated, in a tree of unions."""
    schema: dict[str, Any] = {"id": "i64", "day": "date", "amount": "decimal?<10, 2>"}
    schema.update({f"c{position}": "string?" for position in range(5)})
    parts: list[Frame] = []
    while len(parts) * 7 < relations:
        number = len(parts)
        table = read(f"table_{number}", schema).filter(lambda o: o.amount > 10)
        other = read(f"other_{number}", {"id": "i64", "name": "string?"})
        joined = table.with_columns(twice=lambda o: o.amount * 2).join(other, "id")
        parts.append(joined.group_by("id", "name").agg(total=sum_(lambda o: o.twice), amount=sum_(lambda o: o.amount)))
    while len(parts) > 1:
        parts.append(parts.pop(0).union_all(parts.pop(0)))
    return parts[0].sort("id").limit(100).to_plan()


def chain(depth: int) -> Plan:
    """A plan of so many filters, one above the other."""
    frame = read("orders", {"id": "i64", "amount": "i64?"})
    for bound in range(depth):
        frame = frame.filter(lambda o, bound=bound: o.amount > bound)
    return frame.to_plan()

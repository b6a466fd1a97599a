"""Every kind of expression in every place: it gives what it means there, or is refused with a reason.

The table in docs/expressions.md says which; it is compared with what happens here.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import pyspark_substrait as ps
from pyspark_substrait.documents import Plan
from pyspark_substrait.proto import messages
from tests.coverage.kinds import BINDING, KINDS, SHARED_LAMBDA, Kind
from tests.coverage.places import PLACES, Place
from tests.spark.plans import answers, ordered, plan

pytestmark = pytest.mark.sweep

#: the pairs that are refused, with a part of the reason
REFUSED: dict[tuple[str, str], str] = {
    ("window_function", "join expression"): "a window function cannot stand here",
}
#: the pairs that the specification forbids
FORBIDDEN = {("window_function", "window_function bounds")}


def _means_something(kind: Kind, place: Place) -> bool:
    return (kind.constant is not None or not place.constant) and (kind.name, place.name) not in FORBIDDEN


def _refused(kind: Kind, place: Place) -> str | None:
    for (of_kind, at_place), reason in REFUSED.items():
        if kind.name.startswith(of_kind) and place.name.startswith(at_place):
            return reason
    return None


def _plan(kind: Kind, place: Place) -> Plan:
    return plan(place.build(kind), named_lambdas=(SHARED_LAMBDA,), parameter_bindings=(BINDING,))


def test_every_kind_is_there() -> None:
    current = {field.name for field in messages.Expression.DESCRIPTOR.oneofs_by_name["rex_type"].fields}
    assert {kind.rex_type for kind in KINDS} == current


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
def test_every_kind_stands_in(place: Place, spark: SparkSession) -> None:
    kinds = [kind for kind in KINDS if _means_something(kind, place) and _refused(kind, place) is None]
    found = answers(spark, [_plan(kind, place) for kind in kinds])
    for kind, rows in zip(kinds, found, strict=True):
        assert ordered(rows) == ordered(place.expected(kind)), f"{kind.name} in {place.name}"


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
def test_what_does_not_is_refused_with_a_reason(place: Place) -> None:
    for kind in KINDS:
        reason = _refused(kind, place)
        if reason is not None and _means_something(kind, place):
            with pytest.raises(ps.UnsupportedPlanError, match=reason) as caught:
                ps.to_sql(_plan(kind, place))
            assert caught.value.path, f"{kind.name} in {place.name}"


def table() -> str:
    """The table of the documentation, with the list of its columns."""
    numbers = range(1, len(PLACES) + 1)
    lines = [f"{number}. {place.name}" for number, place in zip(numbers, PLACES, strict=True)]
    lines += ["", "| | " + " | ".join(map(str, numbers)) + " |", "|---|" + ":-:|" * len(PLACES)]
    for kind in KINDS:
        cells = [
            "·" if not _means_something(kind, place) else "✓" if _refused(kind, place) is None else "–"
            for place in PLACES
        ]
        lines.append(f"| {kind.name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def test_the_documentation_says_so() -> None:
    page = (Path(__file__).parents[2] / "docs" / "expressions.md").read_text(encoding="utf-8")
    assert table() in page, f"docs/expressions.md should have\n{table()}"
    for reason in REFUSED.values():
        assert reason in page

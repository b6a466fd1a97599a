"""A plan that was just loaded is validated without being written and read again, and the findings are the same."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import pyspark_substrait
from pyspark_substrait import documents
from pyspark_substrait.analysis.report import Report
from pyspark_substrait.api import validate as checking
from pyspark_substrait.api.loaded_plans import forget_plans
from pyspark_substrait.api.loading import message_of
from pyspark_substrait.documents import Plan, keep_source, source_of
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.extensions import Registry
from pyspark_substrait.proto import write
from tests.validation import mutations
from tests.validation.origins import origins


def of_report(report: Report) -> tuple[Any, ...]:
    """All that a report says; the registry is no part of a document's value."""
    places = [(node, path) for node, path in report.places]
    return report.findings, report.document, [path for _, path in places], [node for node, _ in places]


def sources() -> Iterator[tuple[str, Any]]:
    for origin in origins():
        yield origin.name, origin.message
    for number, outcome in enumerate(mutations.run(600, seed=9)):
        yield f"{number} {outcome.kind} {outcome.origin}", outcome.message


def loaded(source: Any) -> Plan | None:
    try:
        plan = pyspark_substrait.load(source)
    except SubstraitError:
        return None
    return plan if isinstance(plan, Plan) else None


@pytest.mark.sweep
def test_the_report_is_that_of_the_plan_written_and_read_again() -> None:
    kept = 0
    for name, source in sources():
        plan = loaded(source)
        if plan is None:
            continue
        kept += source_of(plan) is not None
        stranger = replace(plan)
        assert source_of(stranger) is None
        assert of_report(checking.validate(plan)) == of_report(checking.validate(stranger)), name
    assert kept > 20


def test_so_is_that_for_an_engine_and_what_is_explained(shared: Path) -> None:
    for path in sorted((shared / "plans" / "tpch").glob("*/q*.*")):
        if path.suffix not in (".pb", ".json"):
            continue
        plan = pyspark_substrait.load(path)
        assert isinstance(plan, Plan)
        stranger = replace(plan)
        assert of_report(checking.validate(plan, "spark")) == of_report(checking.validate(stranger, "spark"))
        assert pyspark_substrait.explain(plan, proto_paths=True) == pyspark_substrait.explain(
            stranger, proto_paths=True
        )
        assert pyspark_substrait.lint(plan).findings == pyspark_substrait.lint(stranger).findings


def test_nothing_is_written_and_nothing_read(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tpch = shared / "plans" / "tpch"
    paths = [*(tpch / "isthmus").glob("q0[1356].json"), *(tpch / "datafusion").glob("q*.pb")]
    plans = [pyspark_substrait.load(path) for path in paths]
    monkeypatch.setattr(write, "plan", None)
    monkeypatch.setattr(checking, "message_of", None)
    kept = [checking.validate(plan).ok for plan in plans if source_of(plan) is not None]
    assert all(kept) and len(kept) > 15  # the last few that were loaded


@pytest.fixture
def simple(shared: Path) -> Plan:
    plan = pyspark_substrait.load(shared / "plans/tpch/isthmus/q06.json")
    assert isinstance(plan, Plan)
    assert source_of(plan) is not None
    return plan


def test_a_changed_plan_is_looked_at_itself(simple: Plan) -> None:
    root = simple.relations[0]
    assert checking.validate(simple).ok
    changed = replace(simple, relations=(replace(root, names=("a", "b", "c")),))  # type: ignore[arg-type]
    assert source_of(changed) is None
    assert not checking.validate(changed).ok


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda plan: pickle.loads(pickle.dumps(plan))])
def test_a_copy_is_looked_at_itself(simple: Plan, copied: Any) -> None:
    other = copied(simple)
    assert source_of(other) is None
    assert checking.validate(other).findings == checking.validate(simple).findings


def test_another_registry_is_asked(simple: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Any] = []

    def counted(*args: Any, **kwargs: Any) -> Any:
        read.append(1)
        return message_of(*args, **kwargs)

    monkeypatch.setattr(checking, "message_of", counted)
    checking.validate(simple)
    assert read == []
    other = Registry()
    report = checking.validate(simple, registry=other)
    assert read == [1]
    assert isinstance(report.document, Plan)
    assert report.document.registry is other


def test_what_is_kept_is_bounded(simple: Plan, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = (shared / "plans/tpch/isthmus/q06.json").read_bytes()

    def loaded() -> object:
        forget_plans()
        return pyspark_substrait.load(content)

    plans = [loaded() for _ in range(40)]
    assert all(isinstance(plan, Plan) for plan in plans)
    assert sum(source_of(plan) is not None for plan in plans) <= documents._KEPT_SOURCES  # type: ignore[arg-type]
    assert source_of(plans[-1]) is not None  # type: ignore[arg-type]
    del plans
    loaded()
    assert sum(known() is not None for known, _ in documents._sources.values()) <= documents._KEPT_SOURCES
    found = source_of(simple) or documents.Source(b"", checking.validate(simple).places)
    monkeypatch.setattr(documents, "_KEPT_NODES", 3)
    other = replace(simple)
    keep_source(other, found)
    assert source_of(other) is None


def test_strict_reading_keeps_nothing(shared: Path) -> None:
    plan = pyspark_substrait.load(shared / "plans/tpch/datafusion/q06.pb")
    again = pyspark_substrait.load(plan.to_bytes(), strict=True)
    assert isinstance(again, Plan)
    assert source_of(again) is None


def test_threads_that_load_different_plans_get_what_one_gets(shared: Path) -> None:
    contents = [path.read_bytes() for path in sorted((shared / "plans/tpch/datafusion").glob("q*.pb"))]
    expected = [of_report(checking.validate(pyspark_substrait.load(content))) for content in contents]

    def checked(content: bytes) -> tuple[Any, ...]:
        return of_report(checking.validate(pyspark_substrait.load(content)))

    with ThreadPoolExecutor(16) as pool:
        for _ in range(4):
            assert list(pool.map(checked, contents)) == expected

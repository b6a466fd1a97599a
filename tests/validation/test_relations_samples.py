"""Valid plans have no error."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pyspark_substrait import validate
from pyspark_substrait.documents import as_document
from pyspark_substrait.model.plan import ExtendedExpression, Plan
from tests.samples import EXTENDED_EXPRESSIONS, PLANS

SAMPLES: dict[str, Plan | ExtendedExpression] = {**PLANS, **EXTENDED_EXPRESSIONS}
SHARED = Path(os.environ.get("SUBSTRAIT_PLANS", Path(__file__).resolve().parents[3] / "shared" / "plans"))
OTHERS = sorted(path for path in SHARED.rglob("*") if path.suffix in (".json", ".pb") and path.name != "queries.json")


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_samples(name: str) -> None:
    report = validate(as_document(SAMPLES[name], deep=False).to_bytes())
    found = [(int(error.code), error.path) for error in report.errors]
    # "A plan to be run has at least one root": the sample without relations shows what else a plan may hold
    assert found == ([(5001, "relations")] if name == "nothing" else [])


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.name)
def test_plans_of_other_producers(path: Path) -> None:
    assert [str(error) for error in validate(path).errors] == []

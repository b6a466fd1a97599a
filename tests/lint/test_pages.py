"""What lint finds in every sample, as it was looked through: ``pages/<kind>.txt``.

``UPDATE_PAGES=1 python -m pytest tests/lint/test_pages.py`` writes the pages anew.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import pyspark_substrait
from pyspark_substrait.documents import as_document
from pyspark_substrait.model.plan import ExtendedExpression, Plan
from tests.lint.cases import CASES
from tests.samples import EXTENDED_EXPRESSIONS, PLANS

PAGES = Path(__file__).parent / "pages"
KINDS: dict[str, dict[str, Plan | ExtendedExpression]] = {
    "cases": {name: case.plan for name, case in CASES.items()},
    "extended_expressions": dict(EXTENDED_EXPRESSIONS),
    "plans": {name: plan for name, plan in PLANS.items() if name.partition(" ")[0] not in ("expression", "relation")},
    "expressions": {name: plan for name, plan in PLANS.items() if name.startswith("expression ")},
    "relations": {name: plan for name, plan in PLANS.items() if name.startswith("relation ")},
}


def page(kind: str) -> str:
    parts = []
    for name, document in KINDS[kind].items():
        found = "\n".join(map(str, pyspark_substrait.lint(as_document(document, deep=False)).findings))
        parts.append(f"## {name}\n\n{found or 'nothing'}\n")
    return "\n".join(parts)


@pytest.mark.parametrize("kind", KINDS)
def test_page(kind: str) -> None:
    path, made = PAGES / f"{kind}.txt", page(kind)
    if os.environ.get("UPDATE_PAGES"):
        path.write_text(made, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == made

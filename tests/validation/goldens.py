"""The golden pages of findings; ``python -m tests.validation.goldens`` writes them anew.

Look at what changed before you keep it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyspark_substrait as ps
from pyspark_substrait.codes import Code
from pyspark_substrait.documents import as_document
from pyspark_substrait.model.plan import ExtendedExpression, Plan
from tests.explain.faulty_plans import FAULTY
from tests.samples import EXTENDED_EXPRESSIONS, PLANS

PAGES = Path(__file__).parent / "pages"


def pages() -> dict[str, str]:
    """The text of each page, by the name of its file."""
    samples: dict[str, Plan | ExtendedExpression] = {**PLANS, **EXTENDED_EXPRESSIONS}
    return {
        "samples.txt": _page((name, as_document(document, deep=False)) for name, document in samples.items()),
        "faulty.txt": _page((name, make()) for name, make in FAULTY.items()),
    }


def _page(documents: Iterable[tuple[str, Any]]) -> str:
    """The findings of each document, and what Spark can't run of it. What was said of one before is left out."""
    known: set[tuple[Code, str]] = set()
    parts = []
    for name, document in documents:
        found = ps.validate(document, "spark")
        new = [str(finding) for finding in found if (finding.code, finding.what) not in known]
        known.update((finding.code, finding.what) for finding in found)
        parts.append("\n".join([f"== {name}", *(new or ["nothing new" if found.findings else "nothing"]), ""]))
    return "\n".join(parts)


if __name__ == "__main__":
    PAGES.mkdir(exist_ok=True)
    for name, page in pages().items():
        (PAGES / name).write_text(page, encoding="utf-8")

"""Writes the golden pages, and those in the documentation, anew: ``python -m tests.explain.goldens``.

Look at what changed before you keep it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pyspark_substrait as ps
from pyspark_substrait.documents import as_document
from pyspark_substrait.text.explain import explain
from tests.explain import plans
from tests.explain.faulty_plans import FAULTY
from tests.explain.rarer_plans import rarer, unreadable
from tests.samples import EXTENDED_EXPRESSIONS, PLANS

PAGES = Path(__file__).parent / "pages"
DOCS = Path(__file__).parents[2] / "docs" / "explain.md"
BY_HAND = {**plans.PLANS, "rarer": rarer, "unreadable": unreadable}

#: Columns of the samples' table that pass unchanged: they would make most of the pages.
_PASSED = re.compile(r"c0: i32 = id, .* c13: map<string, struct<c14: i16, c15: i8>> = codes(?=[,\]])")


def pages() -> dict[str, str]:
    """What each golden file has to hold, by its name."""
    found = {f"{name}.txt": explain(make()) + "\n" for name, make in BY_HAND.items()}
    found.update({f"faulty_{name}.txt": ps.explain(make(), proto_paths=True) + "\n" for name, make in FAULTY.items()})
    found["samples.txt"] = samples()
    return found


def samples() -> str:
    """A page for each sample, with findings. Lines that stand on the page of an earlier one are left out."""
    known: set[str] = set()
    parts: list[str] = []
    for name, document in (PLANS | EXTENDED_EXPRESSIONS).items():
        page = [_PASSED.sub("…", line) for line in ps.explain(as_document(document, deep=False)).splitlines()]
        parts.append("\n".join([f"== {name}", *(line for line in page if line not in known), ""]))
        known.update(page)
    return "\n".join(parts)


_EXAMPLE = re.compile(r"(?<=<!-- page: )(\w+)( -->\n```text\n).*?(?=```)", re.DOTALL)


def documented() -> str:
    """The page of the documentation, with its examples as they are now."""
    return _EXAMPLE.sub(lambda found: f"{found[1]}{found[2]}{_example(found[1])}\n", DOCS.read_text(encoding="utf-8"))


def _example(name: str) -> str:
    return explain(BY_HAND[name](), width=130) if name in BY_HAND else ps.explain(FAULTY[name](), width=130)


if __name__ == "__main__":
    DOCS.write_text(documented(), encoding="utf-8")
    for name, text in pages().items():
        (PAGES / name).write_text(text, encoding="utf-8")

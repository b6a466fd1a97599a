"""CONTRIBUTING's table names files that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

SOURCE = ROOT / "src" / "pyspark_substrait"
LINES = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()
NEW_RELATION = LINES.index("## A new relation")
ROWS = [line.strip("|").split("|") for line in LINES[:NEW_RELATION] if line.startswith("| ") and "…" not in line]
FILE = re.compile(r"[\w*./-]+(?:\.(?:py|md|css|js|yaml|yml|proto)|/)")


def named(cell: str) -> list[str]:
    """The files and folders in a cell: what stands in backquotes and looks like one."""
    return [text for text in re.findall(r"`([^`]+)`", cell) if FILE.fullmatch(text)]


def missing(cell: str, home: Path) -> Iterator[str]:
    """The names of a cell that are neither below ``home`` or the repository nor beside the file named before."""
    folder = home
    for name in named(cell):
        above = [parent for parent in folder.parents if parent.is_relative_to(ROOT)]
        found = [path for base in (folder, home, home / "tests", ROOT, *above) for path in base.glob(name)]
        if not found:
            yield name
            continue
        folder = found[0] if found[0].is_dir() else found[0].parent


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip())
def test_files_exist(row: list[str]) -> None:
    _, look, test = row[:3]
    assert [*missing(look, SOURCE), *missing(test, ROOT)] == []


def test_the_table_is_read() -> None:
    assert len(ROWS) > 50
    assert [name for _, look, *_ in ROWS for name in named(look)]


def test_a_new_relation_is_in_the_listed_files() -> None:
    section = LINES[NEW_RELATION : LINES.index("## House rules")]
    rows = [line.strip("|").split("|") for line in section if line.startswith("| `")]
    listed = {name for cells in rows for cell in cells for name in named(cell)}
    matching = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if re.search(r"\bTopN\b", path.read_text(encoding="utf-8"))
    }
    assert listed - {"proto/read/forms.py", "proto/write/forms.py"} == matching

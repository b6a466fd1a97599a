"""docs/types.md has every type and every literal of the current release."""

from __future__ import annotations

import re
from pathlib import Path

from pyspark_substrait.proto import messages

PAGE = (Path(__file__).parent.parent / "docs" / "types.md").read_text(encoding="utf-8")


def _first_column(title: str) -> set[str]:
    """The names at the beginning of each row of the table under a title."""
    _, _, below = PAGE.partition(f"{title}\n")
    rows = [line.split("|")[1] for line in re.split(r"\n#+ ", below)[0].splitlines() if line.startswith("|")]
    return {name for cell in rows[2:] for name in re.findall(r"`(\w+)`", cell)}


def test_every_type_is_there() -> None:
    current = {field.name for field in messages.Type.DESCRIPTOR.oneofs_by_name["kind"].fields}
    assert _first_column("# Types") - {"u8", "u64", "unsigned_integers"} == current


def test_every_literal_is_there() -> None:
    current = {field.name for field in messages.Expression.Literal.DESCRIPTOR.oneofs_by_name["literal_type"].fields}
    assert _first_column("## Literals") == current

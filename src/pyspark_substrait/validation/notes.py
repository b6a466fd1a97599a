"""What was upgraded or assumed while a plan was read, as findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyspark_substrait.codes import Code
from pyspark_substrait.model.findings import Finding
from pyspark_substrait.model.notes import Note

__all__ = ["assumed", "upgraded"]


def upgraded(notes: Sequence[Note]) -> Iterator[Finding]:
    """A finding for each rewrite of an older form."""
    for note in notes:
        yield Finding.of(Code.UPGRADED, note.path, f"{note.rule}: {note.before} → {note.after}")


def assumed(notes: Sequence[Note]) -> Iterator[Finding]:
    """A finding for each assumption, where the plan is looser than the specification."""
    for note in notes:
        yield Finding.of(Code.ASSUMPTION, note.path, f"{note.rule}: {note.before} → {note.after}")

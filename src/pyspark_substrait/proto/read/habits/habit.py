"""A row of the table of habits."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark_substrait.extensions.producers import Producer
from pyspark_substrait.model.paths import Path
from pyspark_substrait.proto.read.context import Reading

__all__ = ["Habit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Habit:
    """A form that a producer writes with another meaning than the specification gives it, or without any there.

    Args:
        rule: the name of its notes.
        producers: who writes it; empty if the form has no other meaning, whoever wrote it.
        versions: their versions, as far as they are known.
        writes: the form.
        means: its meaning.
        evidence: where that is documented: a public issue, a file of a public repository, or the producer's behaviour.
        strict: whether strict reading refuses it. If not, it is by the specification, and only noted.
    """

    rule: str
    producers: tuple[Producer, ...]
    versions: str
    writes: str
    means: str
    evidence: str
    strict: bool = True

    def of(self, reading: Reading) -> bool:
        """Whether the producer of a plan has the habit."""
        return not self.producers or reading.made_by in self.producers

    def note(self, reading: Reading, path: Path, before: str, after: str) -> None:
        """Record that the habit was met, or refuse it when reading is strict.

        Raises:
            InvalidPlanError: reading is strict.
        """
        reading.plain = False
        if self.strict:
            reading.loose(self.rule, path, before, after)
        else:
            reading.note(self.rule, path, before, after)

    def note_once(self, reading: Reading, path: Path, before: str, after: str, key: str = "") -> None:
        """Like :meth:`note` for what strict reading takes too; only at the first place (for one ``key``)."""
        reading.plain = False
        reading.note_once(self.rule, path, before, after, key=key)

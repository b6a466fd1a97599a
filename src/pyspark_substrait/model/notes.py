"""Changes and assumptions made while a plan was read."""

from __future__ import annotations

from functools import partial
from typing import Any

from pyspark_substrait.errors import LONGEST_PATH
from pyspark_substrait.message_text import escaped, message_text, shortened
from pyspark_substrait.model.paths import Path, render

__all__ = ["Note"]


class Note:
    """A change or an assumption made by reading. Immutable.

    Args:
        rule: a short stable name of the rule, in kebab-case, like ``uri-to-urn``.
        path: the path in the plan, like ``relations[0].root.input.fetch``; or its segments, which become text on first
            access.
        before: the original form, in a few words.
        after: the form that it was read as.
    """

    __slots__ = ("_path", "after", "before", "rule")

    rule: str
    before: str
    after: str

    def __init__(self, *, rule: str, path: str | Path, before: str, after: str) -> None:
        self.rule = rule
        self.before = message_text(before)
        self.after = message_text(after)
        self._path = path

    @property
    def path(self) -> str:
        """The path in the plan."""
        if not isinstance(self._path, str):
            self._path = render(self._path)
        return self._path

    def _facts(self) -> dict[str, str]:
        return {"rule": self.rule, "path": self.path, "before": self.before, "after": self.after}

    def __eq__(self, other: object) -> bool:
        return self._facts() == other._facts() if isinstance(other, Note) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self._facts().values()))

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Note, **self._facts()), ()

    def __repr__(self) -> str:
        return f"Note({', '.join(f'{name}={value!r}' for name, value in self._facts().items())})"

    def __str__(self) -> str:
        place = shortened(escaped(self.path), LONGEST_PATH) or "plan"
        return f"{self.rule} at {place}: {self.before} → {self.after}"

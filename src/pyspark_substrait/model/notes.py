"""What was changed or assumed while a plan was read."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Note"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One thing that reading did to a plan.

    Args:
        rule: a short stable name of the rule, in kebab-case, like ``uri-to-urn``.
        path: where in the plan, like ``relations[0].root.input.fetch``.
        before: what stood there, in a few words.
        after: what it was read as.
    """

    rule: str
    path: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.rule} at {self.path or 'plan'}: {self.before} → {self.after}"

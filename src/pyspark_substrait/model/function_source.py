"""Functions that are generated as source code, so that what they are made of isn't looked up when they run."""

from __future__ import annotations

from typing import Any

__all__ = ["FunctionSource"]

_UNBOUND = object()


class FunctionSource:
    """The source of a function: its lines, and the objects that it refers to. No text of a plan may be part of it."""

    def __init__(self, **objects: Any) -> None:
        self.lines: list[str] = []
        self.objects = objects
        self.count = 0

    def name(self, thing: Any = _UNBOUND) -> str:
        """Return a new name, bound to ``thing`` if one is given."""
        self.count += 1
        name = f"v{self.count}"
        if thing is not _UNBOUND:
            self.objects[name] = thing
        return name

    def function(self, head: str, end: str) -> Any:
        """Return the function of the lines with parameters ``head`` that returns the expression ``end``."""
        text = "\n".join([f"def made({head}):", *self.lines, f"    return {end}"])
        exec(text, self.objects)
        return self.objects["made"]

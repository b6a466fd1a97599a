"""The page of the model's classes, from what its modules say is public."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

from pyspark_substrait.model import expressions, literals, plan, relations, types

_PARTS: tuple[tuple[str, ModuleType], ...] = (
    ("Plans", plan),
    ("Relations", relations),
    ("Expressions", expressions),
    ("Types", types),
    ("Literals", literals),
)


def markdown() -> str:
    """The page."""
    lines = [
        "# Model",
        "",
        "What a loaded plan is made of: frozen dataclasses, whose names and fields are those of the protobuf messages.",
        "A relation has a `schema`, an expression a `type`, and both are derived.",
        "",
    ]
    for title, module in _PARTS:
        lines += [f"## {title}", "", *_classes(module)]
    return "\n".join(lines)


def _classes(module: ModuleType) -> Iterator[str]:
    for name in module.__all__:
        if isinstance(getattr(module, name), type):
            yield f"::: {module.__name__}.{name}"
            yield "    options: {heading_level: 3, members: false}"
            yield ""

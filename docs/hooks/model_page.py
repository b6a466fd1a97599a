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
        "The classes of a loaded plan: frozen dataclasses with the names and fields of the protobuf messages.",
        "A relation has a derived `schema`, and an expression a derived `type`.",
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

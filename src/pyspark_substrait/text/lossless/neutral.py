"""The parser's nodes for the parts of a line whose meaning isn't known yet.

``10`` may be a literal or the value of a field, ``price`` a name or an enumeration's value, ``list(…)`` a literal or a
call: the meaning depends on the position.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

__all__ = [
    "Call",
    "Equated",
    "ExpressionValue",
    "Hex",
    "LiteralValue",
    "MessageValue",
    "Name",
    "Number",
    "Object",
    "Ordered",
    "RelationValue",
    "Tuple",
    "TypeValue",
    "Value",
]


@dataclass(slots=True)
class Name:
    """A name, or several with dots between them; ``quoted``: it was in backticks."""

    parts: tuple[str, ...]
    quoted: bool

    @property
    def text(self) -> str:
        return ".".join(self.parts)


@dataclass(slots=True)
class Number:
    text: str


@dataclass(slots=True)
class Hex:
    value: bytes


@dataclass(slots=True)
class LiteralValue:
    message: dict[str, Any]


@dataclass(slots=True)
class ExpressionValue:
    message: dict[str, Any]


@dataclass(slots=True)
class TypeValue:
    """A type, and the names of the fields of its structs, if they have names."""

    message: dict[str, Any]
    names: list[str] = field(default_factory=list)


@dataclass(slots=True)
class RelationValue:
    """A block below the line; its message is filled in when the block is read."""

    message: dict[str, Any]


@dataclass(slots=True)
class Object:
    """Fields with their names: the options of a call, the properties of a relation."""

    pairs: list[tuple[str, Value]]


@dataclass(slots=True)
class MessageValue:
    """A message that was written field by field."""

    message: dict[str, Any]


@dataclass(slots=True)
class Tuple:
    items: list[Value]


@dataclass(slots=True)
class Call:
    function: Name
    items: list[Value]
    pairs: list[tuple[str, Value]]
    options: Object | None
    nullable: bool
    output: TypeValue | None


@dataclass(slots=True)
class Equated:
    left: Value
    right: Value


@dataclass(slots=True)
class Cast:
    """``input as type``: only within ``cast(…)``."""

    input: Value
    type: TypeValue


@dataclass(slots=True)
class Ordered:
    """An expression and how it is sorted: a word for the direction, or a function that compares."""

    value: Value
    direction: Name | None
    function: Name | None


Value: TypeAlias = (
    "Name | Number | Hex | LiteralValue | ExpressionValue | TypeValue | RelationValue | MessageValue | Tuple | Call"
    " | Equated | Cast | Ordered | str | list[Any]"
)

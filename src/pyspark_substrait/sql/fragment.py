"""Fragments of Spark SQL that know what they are.

A plain ``str`` is the text of some expression. An :class:`Atom` can be an operand of anything as it is; it also knows
whether repeating it is cheap, and the value if it is a constant. What formats a text into a longer one makes a plain
``str`` of it, and whoever knows better says so: ``Atom(f"abs({x})")``.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from typing import Final, TypeAlias

__all__ = ["UNKNOWN", "Atom", "Constant", "Name", "Unknown", "Value", "atom", "filled", "is_atomic"]


class Unknown(Enum):
    """The type of :data:`UNKNOWN`."""

    UNKNOWN = "unknown"


#: the value of a fragment that is no constant, or of one whose value has no use
UNKNOWN: Final = Unknown.UNKNOWN

#: the value of a string or an integer, or None for a null
Value: TypeAlias = "str | int | Unknown | None"

#: constants with more characters are computed once instead of being repeated
_SHORT: Final = 64


class Atom(str):
    """An expression that needs no brackets, whatever it is an operand of: a call, or anything in brackets."""

    __slots__ = ()

    @property
    def cheap(self) -> bool:
        """Whether repeating it is cheap."""
        return False

    @property
    def value(self) -> Value:
        """The value of a constant."""
        return UNKNOWN


class Name(Atom):
    """A column, a variable of a lambda, or a field of one."""

    __slots__ = ()

    @property
    def cheap(self) -> bool:
        """Whether repeating it is cheap."""
        return True


class Constant(Atom):
    """A literal.

    >>> Constant("5L", 5).value
    5
    """

    __slots__ = ("_value",)
    _value: Value

    def __new__(cls, text: str, value: Value = UNKNOWN) -> Constant:
        """Return the fragment of a literal and, where it is a string, an integer or null, its value."""
        made = super().__new__(cls, text)
        made._value = value
        return made

    @property
    def cheap(self) -> bool:
        """Whether repeating it is cheap."""
        return len(self) <= _SHORT

    @property
    def value(self) -> Value:
        """The value of the literal."""
        return self._value


def atom(text: str) -> Atom:
    """Return an expression as an operand: in brackets, unless it needs none.

    Nested brackets are very expensive for Spark's parser.
    """
    return text if isinstance(text, Atom) else Atom(f"({text})")


def filled(template: str, *operands: Atom, **named: str) -> str:
    """Return a template of :meth:`str.format` with its fields; an :class:`Atom` if the template is one.

    >>> filled("abs({x})", x=Name("c1"))
    'abs(c1)'
    """
    text = template.format(*operands, **named)
    return Atom(text) if is_atomic(template) else text


@lru_cache(maxsize=4096)
def is_atomic(template: str) -> bool:
    """Whether a template, whose fields are operands, is one call, one thing in brackets, or one operand."""
    head, bracket, _ = template.partition("(")
    if not bracket:
        return template.isalnum() or (template[:1] == "{" and template.find("}") == len(template) - 1)
    depth, in_string = 0, False
    for position, character in enumerate(template):
        in_string ^= character == "'"
        if not in_string and character in "()":
            depth += 1 if character == "(" else -1
            if depth == 0 and position < len(template) - 1:
                return False
    return template.endswith(")") and (not head or head.isidentifier())

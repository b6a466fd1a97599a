"""Fragments of Spark SQL that the tables of string functions share."""

from __future__ import annotations

from collections.abc import Callable

from pyspark_substrait.model.types import String, concrete
from pyspark_substrait.sql.compiler.casts import cast
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.fragment import Atom, atom, filled
from pyspark_substrait.sql.functions.table import Call

__all__ = ["ASCII_LOWER", "ASCII_SWAPPED", "ASCII_UPPER", "applied", "fitted", "quoted_pattern"]

_UPPER, _LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
#: a string with its letters A to Z, and no others, in lower case, in upper case, with swapped case
ASCII_LOWER = f"translate({{}}, '{_UPPER}', '{_LOWER}')"
ASCII_UPPER = f"translate({{}}, '{_LOWER}', '{_UPPER}')"
ASCII_SWAPPED = f"translate({{}}, '{_LOWER}{_UPPER}', '{_UPPER}{_LOWER}')"

#: the characters that are special in a regular expression
_REGULAR = frozenset(r"\^$.|?*+()[]{}-&#~")


def applied(template: str) -> Callable[[Call], str]:
    """Return the body that inserts the arguments, by position, into a template."""
    return lambda call: filled(template, *[operand.sql for operand in call.operands])


def fitted(body: str | Callable[[Call], str]) -> Callable[[Call], str]:
    """Return a body whose value may be too long for its type; a template is one for :func:`applied`.

    For a varchar or fixedchar, the value is cast: excess blanks are cut off, any other excess characters fail, and a
    fixedchar is padded with blanks.
    """
    text = applied(body) if isinstance(body, str) else body

    def fitting(call: Call) -> str:
        written = text(call)
        return written if isinstance(concrete(call.output), String) else cast(atom(written), String(), call.output)

    return fitting


def quoted_pattern(text: str, known: str | int | None = None) -> str:
    """Return a regular expression that matches a string only; ``known`` is its value if it is a literal."""
    if isinstance(known, str):
        return string_literal("".join(f"\\{character}" if character in _REGULAR else character for character in known))
    ends = rf"replace({text}, '\\E', '\\E\\\\E\\Q')"
    return Atom(rf"concat('\\Q', {ends}, '\\E')")

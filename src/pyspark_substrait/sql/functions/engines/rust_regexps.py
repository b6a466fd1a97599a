"""Regular expressions of Rust as ICU's, which the translation to Java's starts from.

The two mean the same by most of what patterns are made of: characters, sets of them, groups, alternatives, quantifiers,
``\\d``, ``\\w`` and ``\\s``. The dot stands for all characters but the line feed in Rust, and ``$`` for the end of the
text alone; that is written out. Anything else is refused.
"""

from __future__ import annotations

import re

from pyspark_substrait.errors import UnsupportedPlanError

__all__ = ["icu_pattern", "icu_replacement"]

_ESCAPED = r"\\[dDwWsS\\.$^\[\](){}*+?|/#&~-]"
#: a part of a pattern: the dot, the end, a set, or one that is written alike
_PART = re.compile(
    rf"(?P<dot>\.)|(?P<end>\$)|(?P<set>\[\^?(?:{_ESCAPED}|[^\\\[\]&~^#\s-]-[^\\\[\]&~^#\s-]|[^\\\[\]&~^#-])+\])"
    rf"|(?P<quantifier>(?:[*+?]|\{{\d+(?:,\d*)?\}})\??(?![*+?{{]))|\((?:\?:)?(?!\?)|[)|^]|{_ESCAPED}|[^\\.$\[\](){{}}*+?|^]"
)
_REPLACEMENT = re.compile(r"(?:[^\\$]|\\[1-9](?![0-9]))*")


def icu_pattern(pattern: str) -> str:
    """The pattern as ICU has it.

    Raises:
        UnsupportedPlanError: there is something in it that ICU has otherwise.
    """
    parts = []
    position = 0
    while position < len(pattern):
        found = _PART.match(pattern, position)
        if found is None:
            raise UnsupportedPlanError(
                f"the regular expression has something at character {position + 1} that Rust and Java read differently"
            )
        match found.lastgroup:
            case "dot":
                parts.append("[^\n]")
            case "end":
                parts.append(r"\z")
            case _:
                parts.append(found.group())
        position = found.end()
    return "".join(parts)


def icu_replacement(text: str) -> str:
    """The replacement, which is the same in both, or refused.

    Raises:
        UnsupportedPlanError: it has a dollar sign, or a backslash that isn't that of a group.
    """
    if _REPLACEMENT.fullmatch(text) is None:
        raise UnsupportedPlanError("the replacement has a dollar sign, or a backslash without the number of a group")
    return text

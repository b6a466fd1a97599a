"""Translation of Rust's regular expressions to ICU's, which are then translated to Java's.

Most parts of patterns have the same meaning in both: characters, sets of them, groups, alternatives, quantifiers,
``\\d``, ``\\w`` and ``\\s``. In Rust, the dot matches all characters but the line feed, and ``$`` only the end of the
text; these are written explicitly. Anything else is refused.
"""

from __future__ import annotations

import re

from pyspark_substrait.errors import UnsupportedPlanError

__all__ = ["icu_pattern", "icu_replacement"]

_ESCAPED = r"\\[dDwWsS\\.$^\[\](){}*+?|/#&~-]"
#: a part of a pattern: the dot, the end, a set, or a part with the same notation
_PART = re.compile(
    rf"(?P<dot>\.)|(?P<end>\$)|(?P<set>\[\^?(?:{_ESCAPED}|[^\\\[\]&~^#\s-]-[^\\\[\]&~^#\s-]|[^\\\[\]&~^#-])+\])"
    rf"|(?P<quantifier>(?:[*+?]|\{{\d+(?:,\d*)?\}})\??(?![*+?{{]))|\((?:\?:)?(?!\?)|[)|^]|{_ESCAPED}|[^\\.$\[\](){{}}*+?|^]"
)
_REPLACEMENT = re.compile(r"(?:[^\\$]|\\[1-9](?![0-9]))*")


def icu_pattern(pattern: str) -> str:
    """Return the pattern in ICU's syntax.

    Raises:
        UnsupportedPlanError: it has a part that ICU interprets differently.
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
    """Return the replacement, which is the same in both, or refuse it.

    Raises:
        UnsupportedPlanError: it has a dollar sign, or a backslash that isn't followed by the number of a group.
    """
    if _REPLACEMENT.fullmatch(text) is None:
        raise UnsupportedPlanError("the replacement has a dollar sign, or a backslash without the number of a group")
    return text

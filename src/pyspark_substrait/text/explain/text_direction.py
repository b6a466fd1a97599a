"""Text whose every character is visible, and whose right-to-left parts can be isolated from the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pyspark_substrait.text.explain.columns import escaped

__all__ = ["pieces"]

#: Letters that run from right to left, and the spaces between words of them.
_RIGHT_TO_LEFT = re.compile(
    r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]+"
    r"(?:\s[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]+)*"
)


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text, each with whether it runs from right to left and would reorder the text around it.

    Characters that are invisible, or change the display of others, are escaped.
    """
    shown, done = escaped(text), 0
    for match in _RIGHT_TO_LEFT.finditer(shown):
        if match.start() > done:
            yield shown[done : match.start()], False
        yield match.group(), True
        done = match.end()
    if done < len(shown):
        yield shown[done:], False

"""Text whose every character shows, and whose parts from right to left can be kept apart from the rest."""

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
    """The parts of a text, and of each whether it runs from right to left, so that it would turn what stands around it.

    What doesn't show, or changes how the rest shows, is written as an escape.
    """
    shown, done = escaped(text), 0
    for match in _RIGHT_TO_LEFT.finditer(shown):
        if match.start() > done:
            yield shown[done : match.start()], False
        yield match.group(), True
        done = match.end()
    if done < len(shown):
        yield shown[done:], False

"""Line breaks in long lines: at commas and before AND rather than inside an operand."""

from __future__ import annotations

import re

__all__ = ["folded"]

#: Parts of a line that are never broken: quoted text and the word before it, the parameters of a decimal, a name and
#: its type, a name and the equals sign after it.
_TOKEN = re.compile(
    r"""(?:(?:DATE|TIME|TIMESTAMP|INTERVAL|UUID)\ ' # goes on as a quoted text
        (?:[^'\\]|\\.)*'
    | '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*"
    | \d+,\ \d+> | :\ (?=\S) | \ =(?=\ ) | \S)+""",
    re.VERBOSE,
)
_QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")
_LEADING = {"AND", "OR", "=>", "WHEN", "ELSE", "THEN", "OVER", "PARTITION", "ORDER", "ROWS", "RANGE", "FILTER", "@"}
_OPENING, _CLOSING = "([{<", ")]}>"
_OPERATORS = {"<", "<=", "<>", ">", ">=", "->", "=>"}
_HANGING = "    "
_NARROWEST = 30


def folded(indent: str, line: str, width: int | None) -> list[str]:
    """Return a line, broken at spaces if it is longer than ``width``; continuation lines are indented by four more."""
    if width is None or len(indent) + len(line) <= width:
        return [indent + line]
    hanging = indent + _HANGING
    limit = max(width, len(hanging) + _NARROWEST)
    tokens: list[str] = _TOKEN.findall(line)
    ranks = _ranks(tokens)
    lines, start, prefix = [], 0, indent
    while start < len(tokens):
        end, ends = start, []
        length = len(prefix) - 1
        while end < len(tokens) and (end == start or length + 1 + len(tokens[end]) <= limit):
            length += 1 + len(tokens[end])
            end += 1
            ends.append(length)
        if end < len(tokens):
            half = len(prefix) + (limit - len(prefix)) // 2
            good = [place for place, column in enumerate(ends, start + 1) if column >= half] or [end]
            end = min(good, key=lambda place: (ranks[place], -place))
        lines.append(prefix + " ".join(tokens[start:end]))
        start, prefix = end, hanging
    return lines


def _ranks(tokens: list[str]) -> list[tuple[bool, int]]:
    """Rank a break before each token: whether it is inside an operand, and in how many brackets."""
    ranks, depth = [], 0
    previous = ""
    for token in tokens:
        inside = not (previous.endswith((",", ";")) or token in _LEADING)
        ranks.append((inside, depth))
        bare = "" if token in _OPERATORS else _QUOTED.sub("", token)
        depth += sum(bare.count(mark) for mark in _OPENING) - sum(bare.count(mark) for mark in _CLOSING)
        previous = token
    return ranks

"""Lines and their indentation: the source of the grammar's ``_NL``, ``_INDENT`` and ``_DEDENT``."""

from __future__ import annotations

from collections.abc import Iterator

from lark import Token
from lark.lark import PostLex

__all__ = ["BadIndentation", "Layout"]

_OPEN = frozenset({"LPAR", "LSQB", "LBRACE"})
_CLOSED = frozenset({"RPAR", "RSQB", "RBRACE"})


class BadIndentation(Exception):
    """A line whose indentation fits none of the lines around it."""

    def __init__(self, token: Token) -> None:
        super().__init__("indentation")
        self.token = token


class Layout(PostLex):
    """Drops the line ends between brackets, and turns indentation into tokens elsewhere.

    A line that starts with its depth in parentheses, ``(31)``, is indented by that many levels of two spaces.
    """

    always_accept = ("_NL",)

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        """Yield the tokens that the grammar knows."""
        levels = [0]
        nesting = 0
        started = False
        for token in stream:
            if token.type == "_NL":
                if nesting:
                    continue
                yield token
                if not started:
                    continue
                width = _width(token)
                if width > levels[-1]:
                    levels.append(width)
                    yield Token.new_borrow_pos("_INDENT", "", token)
                while width < levels[-1]:
                    levels.pop()
                    yield Token.new_borrow_pos("_DEDENT", "", token)
                if width != levels[-1]:
                    raise BadIndentation(token)
                continue
            started = True
            if token.type in _OPEN:
                nesting += 1
            elif token.type in _CLOSED:
                nesting -= 1
            yield token
        if not nesting:
            yield from (Token("_DEDENT", "") for _ in levels[1:])


def _width(token: Token) -> int:
    start = token[token.rindex("\n") + 1 :]
    if start.endswith(") "):
        return 2 * int(start.strip(" ()"))
    return len(start)

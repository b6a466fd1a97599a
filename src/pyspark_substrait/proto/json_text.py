"""JSON text to values, at any nesting depth, with errors that state the line and column."""

from __future__ import annotations

import json
import re
import sys
import threading
from itertools import accumulate
from typing import Any

from pyspark_substrait.errors import PlanFormatError
from pyspark_substrait.proto.depth import MAX_NESTING, too_deep

__all__ = ["fits_the_stack", "parse_text"]

_DECODER = json.JSONDecoder()
# The standard library parses JSON recursively, and Python frees the result recursively. Both stop at limits that suit
# the main thread, unless the limits were raised.
_SAFE_RECURSION = 10_000
_SAFE_NESTING = 500
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_NOT_BRACKETS = bytes(set(range(256)) - set(b"{}[]"))
_BRACKETS = {ord("{"): 1, ord("["): 1, ord("}"): -1, ord("]"): -1}
_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORDS = {"true": True, "false": False, "null": None}


def parse_text(text: str) -> Any:
    """Parse a JSON text of any nesting depth.

    Raises:
        PlanFormatError: the text is not JSON; the message has the line and the column.
    """
    try:
        if fits_the_stack(text):
            return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise _syntax_error(error.msg, text, error.pos) from error
    except ValueError as error:
        raise PlanFormatError("the JSON text has a number of too many digits") from error
    except RecursionError:
        pass
    return _parse_deep(text)


def fits_the_stack(text: str) -> bool:
    """Whether a text can be parsed, and its value freed, without overflowing the stack of this thread."""
    if threading.current_thread() is threading.main_thread() and sys.getrecursionlimit() <= _SAFE_RECURSION:
        return True
    brackets = _STRING.sub("", text).encode(errors="replace").translate(None, _NOT_BRACKETS)
    return max(accumulate(map(_BRACKETS.__getitem__, brackets)), default=0) <= _SAFE_NESTING


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise PlanFormatError(f"the JSON text has the name {twice!r} twice in one object")
    return found


def _syntax_error(problem: str, text: str, position: int) -> PlanFormatError:
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    place = f"line {line}, column {column}"
    if problem == "Extra data":
        return PlanFormatError(
            f"the JSON text goes on after its end, in {place}", hint="A plan is one JSON object; leave the rest out"
        )
    if not text[position:].strip() or problem.startswith("Unterminated string"):
        return PlanFormatError(
            f"the JSON text ends too early: a value that is open in {place} isn't closed",
            hint="A copy or a download may be incomplete; get the file again",
        )
    return PlanFormatError(f"the JSON text has a syntax error in {place}: {problem}")


def _parse_deep(text: str) -> Any:
    """Like ``json.loads``, but with a list as the stack instead of recursion."""

    def skip(position: int) -> int:
        match = _SPACE.match(text, position)
        assert match is not None
        return match.end()

    open_values: list[Any] = []
    names: list[str | None] = []
    position = skip(0)
    while True:
        # one value starts at `position`
        char = text[position : position + 1]
        value: Any
        if char == "{" or char == "[":
            container: Any = {} if char == "{" else []
            position = skip(position + 1)
            if text[position : position + 1] == ("}" if char == "{" else "]"):
                position += 1
                value = container
            else:
                open_values.append(container)
                names.append(None)
                if len(open_values) > 4 * MAX_NESTING:
                    raise too_deep()
                if char == "{":
                    names[-1], position = _name(text, position, skip)
                continue
        else:
            value, position = _scalar(text, position)
        # the value is complete: put it where it belongs, and close what ends here
        while True:
            position = skip(position)
            if not open_values:
                if position != len(text):
                    raise _syntax_error("Extra data", text, position)
                return value
            container, name = open_values[-1], names[-1]
            if name is None:
                container.append(value)
            elif name in container:
                raise PlanFormatError(f"the JSON text has the name {name!r} twice in one object")
            else:
                container[name] = value
            end = text[position : position + 1]
            if end == ",":
                position = skip(position + 1)
                if name is not None:
                    names[-1], position = _name(text, position, skip)
                break
            if end != ("]" if name is None else "}"):
                raise _syntax_error("Expecting ',' delimiter", text, position)
            position += 1
            value = open_values.pop()
            names.pop()


def _name(text: str, position: int, skip: Any) -> tuple[str, int]:
    if text[position : position + 1] != '"':
        raise _syntax_error("Expecting property name enclosed in double quotes", text, position)
    name, position = _string(text, position)
    position = skip(position)
    if text[position : position + 1] != ":":
        raise _syntax_error("Expecting ':' delimiter", text, position)
    return name, skip(position + 1)


def _string(text: str, position: int) -> tuple[str, int]:
    try:
        found, end = _DECODER.raw_decode(text, position)
    except json.JSONDecodeError as error:
        raise _syntax_error(error.msg, text, error.pos) from error
    return str(found), int(end)


def _scalar(text: str, position: int) -> tuple[Any, int]:
    if text[position : position + 1] == '"':
        return _string(text, position)
    for word, value in _WORDS.items():
        if text.startswith(word, position):
            return value, position + len(word)
    match = _NUMBER.match(text, position)
    if match is None:
        raise _syntax_error("Expecting value", text, position)
    number = match.group()
    try:
        return (int(number) if number.lstrip("-").isdigit() else float(number)), match.end()
    except ValueError as error:
        raise PlanFormatError("the JSON text has a number of too many digits") from error

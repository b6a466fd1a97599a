"""Error messages for text that can't be parsed: the position, the unexpected token and the expected ones."""

from __future__ import annotations

from collections.abc import Iterable

from lark import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from pyspark_substrait.errors import PlanFormatError
from pyspark_substrait.message_text import escaped

__all__ = ["fault_error", "syntax_error"]

_SAID = {
    "_NL": "the end of the line",
    "_INDENT": "an indented line",
    "_DEDENT": "the end of the indented lines",
    "NAME": "a name",
    "SIGNED": "a function",
    "KEY": "a `key: `",
    "CONST": "`null:type`",
    "TYPE": "a type",
    "USER_TYPE": "a user-defined type",
    "STRING": 'a text like "this"',
    "TEXT": "a text like 'this'",
    "HEX": "bytes like x'00ff'",
    "NUMBER": "a number",
    "COLUMN": "a column like $0",
    "FIELD": "a field like .0",
    "BLOCK": "a block like #1",
    "VERSION": "a version like 0.108.0",
    "DECLARES": "declarations",
    "NULLABLE": "`?`",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "LESSTHAN": "`<`",
    "MORETHAN": "`>`",
    "COMMA": "`,`",
    "COLON": "`:`",
    "DOT": "`.`",
    "EQUAL": "`=`",
    "AS": "`as`",
    "BY": "`by`",
    "EXTENSION": "`extension`",
    "SUBSTRAIT": "`substrait`",
    "__ANON_0": "`=>`",
    "__ANON_1": "`->`",
    "$END": "the end of the text",
}
_VALUE = frozenset({"COLUMN", "NUMBER", "TEXT"})
_STARTS_OF_VALUES = _VALUE | {"NAME", "SIGNED", "CONST", "TYPE", "USER_TYPE", "STRING", "HEX", "BLOCK"}
_STARTS_OF_VALUES |= {"LPAR", "LSQB", "LBRACE"}
_SHOWN = 100


class _TextError(PlanFormatError):
    """An error whose message is followed by the faulty line and a pointer to the fault."""

    def __init__(self, message: str, line: str, pointer: str) -> None:
        super().__init__(message)
        self.line = line
        self.pointer = pointer

    def __str__(self) -> str:
        return f"{super().__str__()}\n  {self.line}\n  {self.pointer}"


def syntax_error(error: UnexpectedInput, text: str) -> PlanFormatError:
    """The error for a text that doesn't follow the grammar."""
    line, column = max(error.line or 1, 1), max(error.column or 1, 1)
    match error:
        case UnexpectedToken() if error.token.type == "$END" or line > text.count("\n") + 1:
            what, expected = "the text ends too early", error.accepts or error.expected
            lines = text.split("\n")
            line, column = len(lines), len(lines[-1]) + 1
        case UnexpectedToken() if error.token.type in ("_INDENT", "_DEDENT"):
            what, expected = "the indentation is not what it can be here", error.accepts or error.expected
        case UnexpectedToken() if error.token.type == "_NL":
            what, expected = "the line ends too early", error.accepts or error.expected
        case UnexpectedToken():
            what, expected = f"{_quoted(str(error.token))} cannot stand here", error.accepts or error.expected
        case UnexpectedCharacters() if error.char in "'\"`":
            what, expected = f"what starts with {error.char} is not closed in its line", set()
        case UnexpectedCharacters():
            what, expected = f"{_quoted(error.char)} cannot stand here", error.allowed or set()
        case _:
            what, expected = "the text ends too early", set()
    wanted = _list(expected)
    return fault_error(f"{what}; expected {wanted}" if wanted else what, text, line, column)


def fault_error(what: str, text: str, line: int, column: int) -> PlanFormatError:
    """Return the error for a fault at a position in a text, with the line shown."""
    lines = text.split("\n")
    content = lines[line - 1].rstrip("\r") if line <= len(lines) else ""
    start = max(0, column - 1 - _SHOWN // 2) if len(content) > _SHOWN else 0
    shown = content[start : start + _SHOWN]
    before = "…" if start else ""
    after = "…" if start + _SHOWN < len(content) else ""
    pointer = " " * len(before + escaped(content[start : column - 1])) + "^"
    return _TextError(f"line {line}, column {column}: {what}", f"{before}{escaped(shown)}{after}", pointer)


def _quoted(text: str) -> str:
    shown = text if len(text) <= 40 else f"{text[:39]}…"
    return f"`{shown}`"


def _list(expected: Iterable[str]) -> str:
    names = set(expected)
    found: list[str] = []
    if names >= _VALUE:
        names -= _STARTS_OF_VALUES
        found.append("a value")
    found.extend(sorted({_SAID.get(name, name.lower()) for name in names}))
    if len(found) < 2:
        return "".join(found)
    return f"{', '.join(found[:-1])} or {found[-1]}"

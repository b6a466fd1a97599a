"""Split a record of delimited text, by SQL over the column with its text.

The grammar is strict, so that nothing is guessed: a value is either quoted from its first character to its last, or
contains no quote. An escape character makes the next character literal, inside quotes and outside. A record of another
form isn't split completely, which :meth:`Syntax.is_whole` detects.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.model.relations import DelimiterSeparatedTextReadOptions
from pyspark_substrait.sql.compiler.literals import string_literal

__all__ = ["Syntax", "syntax"]


@dataclass(frozen=True, slots=True)
class Syntax:
    """The delimiter, quote and escape of a text file; ``quote`` and ``escape`` are empty if there is none.

    ``escape`` is one character, or the quote itself: then a quote inside a value is doubled.
    """

    delimiter: str
    quote: str
    escape: str

    @property
    def doubled(self) -> bool:
        """Whether a quote inside quotes is doubled."""
        return self.quote != "" and self.escape == self.quote

    @property
    def escaped(self) -> bool:
        """Whether there is an escape character other than the quote."""
        return self.escape != "" and not self.doubled

    def split(self, text: str) -> str:
        """Return the expression for the array of a record's values, with their quotes and escapes."""
        if not self.quote and not self.escape:
            return f"split({text}, {string_literal(_pattern(self.delimiter))}, -1)"
        value = f"{self._quoted()}|{self._unquoted()}" if self.quote else self._unquoted()
        pattern = rf"(?s)\G{_pattern(self.delimiter)}({value})"
        return f"regexp_extract_all(concat({string_literal(self.delimiter)}, {text}), {string_literal(pattern)}, 1)"

    def is_whole(self, parts: str, text: str) -> str:
        """Return the expression for whether :meth:`split` has split the whole record."""
        if not self.quote and not self.escape:
            return rf"instr({text}, '\r') = 0"
        return f"array_join({parts}, {string_literal(self.delimiter)}) = {text}"

    def value(self, part: str) -> str:
        """Return the expression for a value without its quotes and escapes."""
        inner = self._without_quotes(part)
        if self.escaped:
            return f"regexp_replace({inner}, {string_literal(f'(?s){_pattern(self.escape)}(.)')}, '$1')"
        return inner

    def is_null(self, part: str, marker: str) -> str:
        """Return the expression for whether a value, without its quotes, is the marker for null."""
        return f"{self._without_quotes(part)} = {string_literal(marker)}"

    def quotes(self, text: str) -> str:
        """Return the expression for the number of quotes in a text that aren't escaped."""
        if self.escaped:
            text = f"regexp_replace({text}, {string_literal(f'(?s){_pattern(self.escape)}.')}, '')"
        gone = f"char_length(replace({text}, {string_literal(self.quote)}, ''))"
        return f"((char_length({text}) - {gone}) DIV {len(self.quote)})"

    def _without_quotes(self, part: str) -> str:
        if not self.quote:
            return part
        length, quote = len(self.quote), string_literal(self.quote)
        inner = f"substr({part}, {length + 1}, char_length({part}) - {2 * length})"
        if self.doubled:
            inner = f"replace({inner}, {string_literal(self.quote * 2)}, {quote})"
        return f"if(startswith({part}, {quote}), {inner}, {part})"

    def _quoted(self) -> str:
        quote = _pattern(self.quote)
        plain = _none_of(self.quote, self.escape)
        if self.doubled:
            return f"{quote}{plain}(?:{quote}{quote}{plain})*+{quote}"
        if self.escaped:
            return f"{quote}{plain}(?:{_pattern(self.escape)}.{plain})*+{quote}"
        return f"{quote}{plain}{quote}"

    def _unquoted(self) -> str:
        plain = _none_of(self.delimiter, self.quote, self.escape, "\r", "\n")
        return f"{plain}(?:{_pattern(self.escape)}[^\\r\\n]{plain})*+" if self.escaped else plain


def syntax(options: DelimiterSeparatedTextReadOptions) -> Syntax:
    """Return the syntax that a plan states.

    Raises:
        InvalidPlanError: it contradicts itself, or lacks a delimiter.
        UnsupportedPlanError: it is ambiguous.
    """
    delimiter, quote, escape = options.field_delimiter, options.quote, options.escape
    if not delimiter:
        raise InvalidPlanError(
            "text without a delimiter between its fields", path="field_delimiter", hint='Set it, for example to ","'
        )
    for name, mark in (("field_delimiter", delimiter), ("quote", quote), ("escape", escape)):
        if "\n" in mark or "\r" in mark:
            raise UnsupportedPlanError("a line break cannot be a mark inside a line", path=name)
    if len(escape) > 1 and escape != quote:
        raise InvalidPlanError(f"the escape {escape!r} is not one character", path="escape")
    if quote and (quote in delimiter or delimiter in quote):
        raise InvalidPlanError(f"the quote {quote!r} and the delimiter {delimiter!r} overlap", path="quote")
    if escape and escape != quote and (escape in delimiter or escape in quote):
        raise InvalidPlanError(f"the escape {escape!r} is part of the delimiter or the quote", path="escape")
    return Syntax(delimiter, quote, escape)


def _pattern(text: str) -> str:
    """Return a regular expression of Java that matches a text literally."""
    return "".join(f"\\{character}" if re.match(r"[!-/:-@\[-`{-~]", character) else character for character in text)


def _none_of(*texts: str) -> str:
    """Return a pattern for all characters before the first of the texts, without backtracking."""
    given = list(dict.fromkeys(text for text in texts if text))
    if all(len(text) == 1 for text in given):
        return f"[^{''.join(map(_pattern, given))}]*+"
    return f"(?:(?!{'|'.join(map(_pattern, given))}).)*+"

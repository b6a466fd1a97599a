"""DataFusion's functions of regular expressions, which are Rust's.

Rust doesn't find an empty match at the end of the match before it, or within a character; Java does, so that a pattern
that may be empty is written with both conditions.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.arithmetic.float_rounding import let
from pyspark_substrait.sql.functions.common_expressions import any_null, bound, raised
from pyspark_substrait.sql.functions.engines.datafusion.calls import (
    as_specified,
    bounded_int,
    integer_operand,
    text_operand,
)
from pyspark_substrait.sql.functions.engines.rust_regexps import icu_pattern, icu_replacement, optional_groups
from pyspark_substrait.sql.functions.regexp.java import java
from pyspark_substrait.sql.functions.regexp.nodes import Pattern
from pyspark_substrait.sql.functions.regexp.parser import Flags, parsed
from pyspark_substrait.sql.functions.regexp.replacement import groups_in, java_replacement
from pyspark_substrait.sql.functions.table import Call, Operand, row

__all__ = ["ROWS"]

_NONE = "it isn't a literal, so it can't be translated from Rust's dialect to Java's"


def _flags(call: Call, position: int) -> str:
    """Return the flags that an argument states, none if there is no such argument."""
    if len(call.operands) <= position:
        return ""
    flags = call.operands[position].literal
    if not isinstance(flags, str):
        raise UnsupportedPlanError("the flags of a regular expression that aren't a literal")
    return flags


def _pattern(call: Call, flags: str) -> Pattern:
    pattern = call.operands[1].literal
    if not isinstance(pattern, str):
        raise UnsupportedPlanError(f"the regular expression: {_NONE}", path="arguments[1]")
    return parsed(icu_pattern(pattern, flags), Flags())


def _every(pattern: Pattern) -> str:
    """The pattern in Java's syntax, with the matches that Rust finds one after the other."""
    text = java(pattern)
    return string_literal(rf"(?>{text})(?:\A|(?!\G))(?!\p{{Cs}})" if pattern.may_be_empty else text)


def _unless_null(body: Callable[[Call], str]) -> Callable[[Call], str]:
    """Return a body for calls whose pattern isn't the constant null."""

    def nothing_or(call: Call) -> str:
        if call.operands[1].is_null:
            return Atom(f"CAST(NULL AS {spark_type(call.output)})")
        return body(call)

    return nothing_or


def matching(flags: str = "", *, negative: bool = False) -> Callable[[Call], str]:
    """Return the body of an operator like ``~*``, or of ``regexp_like``."""

    def body(call: Call) -> str:
        # no flags may be written as null
        stated = "" if len(call.operands) > 2 and call.operands[2].is_null else _flags(call, 2)
        pattern = _pattern(call, flags + stated)
        found = f"{call.sql(0)} RLIKE {string_literal(java(pattern))}"
        return Atom(f"(NOT {found})") if negative else found

    return body


def _from(call: Call, position: int, found: Callable[[str], str]) -> str:
    """Search in the rest of a text from the character that an argument states; none is found behind the text."""
    text = call.sql(0)
    start = call.operands[position] if len(call.operands) > position else integer_operand(1)
    if start.literal == 1:
        return found(text)
    rest = f"substring({text}, {bounded_int(start.sql, 1, f'char_length({text}) + 1')})"
    missing = f"WHEN {start.sql} < 1 AND {text} IS NOT NULL THEN {raised(call, 'the start is less than 1')}"
    behind = f"WHEN {start.sql} > char_length({text}) + 1L THEN 0L"
    return f"CASE {missing} {behind} ELSE {found(rest)} END"


def count(call: Call) -> str:
    pattern = _every(_pattern(call, _flags(call, 3)))
    return _from(call, 2, lambda text: Atom(f"CAST(regexp_count({text}, {pattern}) AS BIGINT)"))


def position(call: Call) -> str:
    if len(call.operands) > 5 and call.operands[5].literal != 0:
        raise UnsupportedPlanError("regexp_instr of a group")
    pattern = _pattern(call, _flags(call, 4))
    if len(call.operands) > 3 and pattern.may_be_empty and call.operands[3].literal != 1:
        raise UnsupportedPlanError("a later match of a regular expression that matches the empty text")
    found = as_specified("functions_string", "regexp_strpos", **_OPTIONS)
    occurrence = call.operands[3] if len(call.operands) > 3 else integer_operand(1)
    skipped = f"{call.sql(2)} - 1L" if len(call.operands) > 2 else "0L"

    def place(text: str) -> str:
        operands = (
            Operand(Atom(text), call.operands[0].type),
            text_operand(icu_pattern(str(call.operands[1].literal), _flags(call, 4))),
            integer_operand(1),
            occurrence,
        )
        names = ("input", "pattern", "position", "occurrence")
        text = found(replace(call, operands=operands, names=names))
        return text if skipped == "0L" else bound(text, "p", f"if(p = 0, 0L, p + {skipped})")

    return _from(call, 2, place)


def match(call: Call) -> str:
    """Return the groups of the first match, or the match of a pattern that has none."""
    pattern = _pattern(call, _flags(call, 2))
    if pattern.stale or (pattern.groups and optional_groups(str(call.operands[1].literal))):
        raise UnsupportedPlanError("regexp_match with groups that may take no part in a match")
    text, found = call.sql(0), string_literal(java(pattern))
    numbers = range(1, pattern.groups + 1) if pattern.groups else (0,)
    groups = ", ".join(f"regexp_extract({text}, {found}, {number})" for number in numbers)
    return Atom(f"if({text} RLIKE {found}, array({groups}), NULL)")


_OPTIONS = {
    "case_sensitivity": "CASE_SENSITIVE",
    "multiline": "MULTILINE_DISABLED",
    "dotall": "DOTALL_DISABLED",
}


#: what isn't a character that stands for itself, in a pattern and in a replacement
_SPECIAL = r"[\\.+*?()|\[\]{}^$]"
_SPECIAL_REPLACEMENT = r"[\\$]"


def _replaced_text(call: Call, flags: str) -> str:
    """Replace a pattern that isn't a literal: all its characters stand for themselves, or it is an error."""
    if flags not in ("", "g"):
        raise UnsupportedPlanError(f"the regular expression with the flags {flags!r}: {_NONE}", path="arguments[1]")

    def plain(position: int, special: str) -> str:
        fault = raised(call, "of what isn't a literal, only characters that stand for themselves are replaced")
        return f"if({call.sql(position)} RLIKE {string_literal(special)}, {fault}, {call.sql(position)})"

    fields = {"t": call.sql(0), "p": plain(1, _SPECIAL), "r": plain(2, _SPECIAL_REPLACEMENT)}
    if flags == "g":
        fault = raised(call, "every empty match of a pattern that isn't a literal")
        found = f"CASE WHEN v.p <> '' THEN replace(v.t, v.p, v.r) WHEN v.t = '' THEN v.r ELSE {fault} END"
    else:
        place = bound("instr(v.t, v.p)", "i", "if(i = 0, v.t, overlay(v.t PLACING v.r FROM i FOR char_length(v.p)))")
        found = f"if(v.p = '', concat(v.r, v.t), {place})"
    return let("v", fields, f"if({any_null('v.t', 'v.p', 'v.r')}, NULL, {found})")


def regexp_replace(call: Call) -> str:
    text, pattern, replacement = call.operands[:3]
    if pattern.is_null or replacement.is_null:
        return Atom(f"CAST(NULL AS {spark_type(call.output)})")
    flags = _flags(call, 3)
    if not isinstance(pattern.literal, str) or not isinstance(replacement.literal, str):
        return _replaced_text(call, flags)
    own = flags.replace("g", "")
    known = _pattern(call, own)
    # a group that the pattern doesn't have is empty
    wanted = re.sub(
        r"\\([1-9])(?![0-9])", lambda group: group[0] if int(group[1]) <= known.groups else "", replacement.literal
    )
    found, instead = icu_pattern(pattern.literal, own), icu_replacement(wanted)
    if "g" in flags and known.may_be_empty and not known.stale & set(groups_in(instead)):
        replaced = string_literal(java_replacement(instead, known.groups))
        return Atom(f"regexp_replace({text.sql}, {_every(known)}, {replaced})")
    occurrence = 0 if "g" in flags else 1
    operands = (
        text,
        text_operand(found),
        text_operand(instead),
        integer_operand(1),
        integer_operand(occurrence),
    )
    names = ("input", "pattern", "replacement", "position", "occurrence")
    return as_specified("functions_string", **_OPTIONS)(replace(call, operands=operands, names=names))


ROWS = (
    row("regex_match", _unless_null(matching())),
    row("regex_not_match", _unless_null(matching(negative=True))),
    row("regex_imatch", _unless_null(matching("i"))),
    row("regex_not_imatch", _unless_null(matching("i", negative=True))),
    row("regexp_like", _unless_null(matching())),
    row("regexp_count", _unless_null(count)),
    row("regexp_instr", _unless_null(position)),
    row("regexp_match", _unless_null(match)),
    row("regexp_replace", regexp_replace),
)

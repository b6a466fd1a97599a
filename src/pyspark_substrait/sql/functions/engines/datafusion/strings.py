"""DataFusion's functions of strings, except those with regular expressions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import String
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.common_expressions import raised
from pyspark_substrait.sql.functions.engines.datafusion.calls import as_specified, bounded_int, text_operand
from pyspark_substrait.sql.functions.functions_string import trimmed
from pyspark_substrait.sql.functions.sizes import bounded_length
from pyspark_substrait.sql.functions.strings.folding import folded, folded_text, folding_for
from pyspark_substrait.sql.functions.strings.string_expressions import quoted_pattern
from pyspark_substrait.sql.functions.table import Call, Operand, refuse, row

__all__ = ["ROWS"]

#: between two words: after the last character that isn't a letter or digit
_GAP = string_literal(r"(?<=[^\p{IsAlphabetic}\p{N}])(?=[\p{IsAlphabetic}\p{N}])")


def initcap(call: Call) -> str:
    """Capitalize words, each character by itself: there is no final sigma."""
    lower = "lower(translate(substring(w, 2), 'Σ', 'σ'))"
    return Atom(f"array_join(transform(split({call.sql(0)}, {_GAP}), w -> concat(upper(left(w, 1)), {lower})), '')")


# parts ---------------------------------------------------------------------------------------------------------------


def part(name: str) -> Callable[[Call], str]:
    """``left`` or ``right``."""

    def body(call: Call) -> str:
        text, count = call.sql(0), call.sql(1)
        known = call.operands[1].literal
        if isinstance(known, int) and 0 <= known < 1 << 31:
            return Atom(f"{name}({text}, {known})")
        length = f"char_length({text})"
        kept = f"CASE WHEN {count} < -{length} THEN 0 WHEN {count} < 0 THEN {length} + {count} WHEN {count} > {length}"
        return Atom(f"{name}({text}, CAST({kept} THEN {length} ELSE {count} END AS INT))")

    return body


def substring(call: Call) -> str:
    text, start = call.sql(0), call.sql(1)
    known = [operand.literal for operand in call.operands[1:] if isinstance(operand.literal, int)]
    if len(known) == len(call.operands) - 1 and max(map(abs, known)) <= _MOST and min(known[1:], default=0) >= 0:
        return Atom(f"substring({text}, {', '.join(map(str, _place(*known)))})")
    length = f"char_length({text})"
    first = f"CAST(CASE WHEN {start} < 1 THEN 1 WHEN {start} > {length} THEN {length} + 1 ELSE {start} END AS INT)"
    if len(call.operands) == 2:
        return Atom(f"substring({text}, {first})")
    count = call.sql(2)
    # a sum of a number below 1 and one above 0 can't overflow
    taken = f"if({start} < 1, {start} - 1 + {count}, {count})"
    bounded = f"CAST(CASE WHEN {taken} < 0 THEN 0 WHEN {taken} > {length} THEN {length} ELSE {taken} END AS INT)"
    found = f"substring({text}, {first}, {bounded})"
    least = call.operands[2].literal
    if isinstance(least, int) and least >= 0:
        return found
    negative = raised(call, "negative count not allowed")
    return Atom(f"if({count} < 0 AND {text} IS NOT NULL AND {start} IS NOT NULL, {negative}, {found})")


_MOST = (1 << 31) - 1


def _place(start: int, count: int | None = None) -> tuple[int, ...]:
    """The place and number of characters from a start on, of which those before the first don't exist."""
    if count is None:
        return (max(start, 1),)
    return max(start, 1), max(count if start >= 1 else start - 1 + count, 0)


def _int(number: Operand) -> str:
    """Return a number of parts as an INT; larger ones, of either sign, have no other meaning."""
    if isinstance(number.literal, int):
        return str(max(min(number.literal, _MOST), -_MOST))
    return bounded_int(number.sql, -_MOST, _MOST)


def from_either_end(forward: Callable[[str, Operand, str], str]) -> Callable[[Call], str]:
    """Return a body that counts parts between separators, from the end of the text if the number is negative.

    Separators may overlap, as in ``XXX``; from the end on, the last one counts.
    """

    def body(call: Call) -> str:
        text, separator, number = call.operands
        known, count = number.literal, _int(number)
        if isinstance(known, int) and known >= 0:
            return forward(text.sql, separator, count)
        if isinstance(separator.literal, str):
            turned = text_operand(separator.literal[::-1])
        else:
            turned = Operand(Atom(f"reverse({separator.sql})"), String())
        backward = str(-int(count)) if isinstance(known, int) else f"negative({count})"
        last = Atom(f"reverse({forward(f'reverse({text.sql})', turned, backward)})")
        if isinstance(known, int):
            return last
        return Atom(f"if({number.sql} < 0, {last}, {forward(text.sql, separator, count)})")

    return body


def _nth(text: str, separator: Operand, number: str) -> str:
    return Atom(f"split_part({text}, {separator.sql}, {number})")


def _first_parts(text: str, separator: Operand, number: str) -> str:
    """The text in front of a separator; an empty separator has nothing in front of it."""
    # a slice of a negative length is an error, and this one isn't used
    parts = f"slice(split({text}, {quoted_pattern(separator.sql, separator.literal)}, -1), 1, abs({number}))"
    found = Atom(f"array_join({parts}, {separator.sql})")
    if separator.literal:
        return found
    return Atom(f"if({separator.sql} = '' AND {text} IS NOT NULL AND {number} IS NOT NULL, '', {found})")


def overlay(call: Call) -> str:
    text, instead, start = (operand.sql for operand in call.operands[:3])
    count = call.sql(3) if len(call.operands) > 3 else Atom(f"char_length({instead})")
    length = f"char_length({text})"
    suffix = f"substring({text}, {bounded_int(f'(CAST({start} AS DECIMAL(20, 0)) + {count})', 1, f'{length} + 1')})"
    prefix = f"left({text}, {bounded_int(f'({start} - 1L)', 0, length)})"
    found = f"concat({prefix}, {instead}, {suffix})"
    known = call.operands[2].literal
    if isinstance(known, int) and known >= 1:
        return Atom(found)
    wrong = f"{start} < 1 AND concat({text}, {instead}) IS NOT NULL AND {count} IS NOT NULL"
    return Atom(f"if({wrong}, {raised(call, 'the start is less than 1')}, {found})")


def padded(name: str) -> Callable[[Call], str]:
    """``lpad`` or ``rpad``, to a length that may be negative."""

    def body(call: Call) -> str:
        characters = call.sql(2) if len(call.operands) > 2 else "' '"
        length, known = bounded_length(call, 1), call.operands[1].literal
        whole = str(max(known, 0)) if isinstance(known, int) else bounded_int(length, 0, _MOST)
        return Atom(f"{name}({call.sql(0)}, {whole}, {characters})")

    return body


# patterns ------------------------------------------------------------------------------------------------------------


def like(call: Call) -> str:
    """Return the specification's ``like`` with the backslash as the escape character."""
    # a null stands for no other escape character
    if len(call.operands) > 2 and call.operands[2].sql.value not in ("\\", None):
        raise UnsupportedPlanError("DataFusion has no other escape character in LIKE than the backslash")
    operands, names = (*call.operands[:2], text_operand("\\")), ("input", "match", "escape")
    return as_specified("functions_string", "like", case_sensitivity="CASE_SENSITIVE")(
        replace(call, operands=operands, names=names)
    )


def ilike(call: Call) -> str:
    """Return ``like`` of the two texts with their case folded, each character by itself."""
    text, pattern = call.operands[:2]
    if isinstance(pattern.literal, str):
        known = folded(pattern.literal)
        operands = [Operand(folding_for(known, text.sql), String()), text_operand(known)]
    else:
        operands = [Operand(folded_text(operand.sql), String()) for operand in (text, pattern)]
    return like(replace(call, operands=(*operands, *call.operands[2:])))


def negated(body: Callable[[Call], str]) -> Callable[[Call], str]:
    return lambda call: Atom(f"(NOT {body(call)})")


# characters ----------------------------------------------------------------------------------------------------------


def character(call: Call) -> str:
    code = call.sql(0)
    # the first four bytes say which end of a number is first
    found = Atom(f"decode(unhex(concat('0000FEFF', lpad(hex({code}), 8, '0'))), 'UTF-32')")
    known = call.operands[0].literal
    if isinstance(known, int) and (0 <= known < 0xD800 or 0xE000 <= known < 0x110000):
        return found
    valid = f"({code} BETWEEN 0 AND {0x10FFFF} AND NOT {code} BETWEEN {0xD800} AND {0xDFFF})"
    return Atom(f"if(NOT {valid}, {raised(call, 'this is the number of no character')}, {found})")


def translate(call: Call) -> str:
    """Return Spark's ``translate``, in which the character 0 stands for none in the replacements."""
    instead = call.operands[2]
    found = Atom(f"translate({call.sql(0)}, {call.sql(1)}, {instead.sql})")
    if isinstance(instead.literal, str):
        if "\0" in instead.literal:
            raise UnsupportedPlanError("translate to the character 0, which Spark leaves out")
        return found
    unknown = raised(call, "the replacements have the character 0, which Spark leaves out")
    return Atom(f"if(contains({instead.sql}, decode(X'00', 'UTF-8')), {unknown}, {found})")


# binary --------------------------------------------------------------------------------------------------------------

_DIGESTS = {"md5": "md5({})", **{f"sha{bits}": f"sha2({{}}, {bits})" for bits in (224, 256, 384, 512)}}


def hashed(name: str) -> Callable[[Call], str]:
    return lambda call: Atom(f"unhex({_DIGESTS[name].format(call.sql(0))})")


def digest(call: Call) -> str:
    name = call.operands[1].literal
    if not isinstance(name, str) or name not in _DIGESTS:
        raise UnsupportedPlanError(f"Spark has no digest for {name or 'an algorithm that is not a literal'}")
    return hashed(name)(call)


_HEX = string_literal(r"^(?:[0-9A-Fa-f]{2})*\z")
#: the last character has no bits that are left over
_BASE64 = string_literal(r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]={0,2}|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=?)?\z")


def _encoding(call: Call) -> str:
    name = call.operands[1].literal
    if name not in ("hex", "base64", "base64pad"):
        raise UnsupportedPlanError("an encoding that isn't one of the literals hex, base64 and base64pad")
    return str(name)


def encode(call: Call) -> str:
    value, name = call.sql(0), _encoding(call)
    if name == "hex":
        return Atom(f"lower(hex({value}))")
    # a setting may put line breaks into base 64
    removed = string_literal("\r\n" if name == "base64pad" else "\r\n=")
    return Atom(f"translate(base64({value}), {removed}, '')")


def decode(call: Call) -> str:
    text, name = call.sql(0), _encoding(call)
    if not isinstance(call.type(0), String):
        text = Atom(f"decode({text}, 'ISO-8859-1')")
    form, found = (_HEX, "unhex") if name == "hex" else (_BASE64, "unbase64")
    return Atom(f"if(NOT {text} RLIKE {form}, {raised(call, f'the text is no {name}')}, {found}({text}))")


_RANDOM = "it makes values by chance, which nobody can compute again"

ROWS = (
    row("concat", as_specified("functions_string", null_handling="IGNORE_NULLS")),
    row("str_concat", "concat({0}, {1})"),
    row("initcap", initcap),
    row("left", part("left")),
    row("right", part("right")),
    row("substring", substring),
    row("split_part", from_either_end(_nth)),
    row("substr_index", from_either_end(_first_parts)),
    row("overlay", overlay),
    row("like", like),
    row("ilike", ilike),
    row("like_match", like),
    row("like_imatch", ilike),
    row("like_not_match", negated(like)),
    row("like_not_imatch", negated(ilike)),
    row("ltrim", trimmed("LEADING")),
    row("rtrim", trimmed("TRAILING")),
    row("btrim", trimmed("BOTH")),
    row("lpad", padded("lpad")),
    row("rpad", padded("rpad")),
    row("character_length", "char_length({0})"),
    row("find_in_set", "find_in_set({0}, {1})"),
    row("levenshtein", "levenshtein({0}, {1})"),
    row("ascii", "ascii({0})"),
    row("chr", character),
    row("translate", translate),
    row("to_hex", "lower(hex({0}))"),
    row("md5", "md5({0})"),
    *(row(name, hashed(name)) for name in _DIGESTS if name != "md5"),
    row("digest", digest),
    row("encode", encode),
    row("decode", decode),
    refuse("uuid", _RANDOM),
    refuse("random", _RANDOM),
)

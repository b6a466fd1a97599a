"""The functions of functions_string, but for those of regular expressions, which follow another program (ICU)."""

from __future__ import annotations

import re
from typing import Final

from tests.reference.functions.registry import Call, scalar

_HERE: Final = "functions_string"


def _ascii_lower(text: str) -> str:
    return "".join(character.lower() if character.isascii() else character for character in text)


def _folded(call: Call, text: str) -> str:
    """The text as it is compared. Without the option, the cases distinguish capitals."""
    match call.options.get("case_sensitivity", "CASE_SENSITIVE"):
        case "CASE_SENSITIVE":
            return text
        case "CASE_INSENSITIVE_ASCII":
            return _ascii_lower(text)
        case _:
            return "".join(_one_to_one(call, character, character.lower()) for character in text)


def _one_to_one(call: Call, character: str, other: str) -> str:
    """Another case of a character, where the two cases are one character each which lead to each other, so that every
    rule agrees."""
    low, high = character.lower(), character.upper()
    if len(low) != 1 or len(high) != 1 or low.upper() != high or high.lower() != low or low == "σ":
        raise call.open(f"the case of {character!r}")
    return other


def _changed(call: Call, text: str, upper: bool) -> str:
    ascii_only = call.options.get("char_set") == "ASCII_ONLY"
    return "".join(
        character
        if ascii_only and not character.isascii()
        else _one_to_one(call, character, character.upper() if upper else character.lower())
        for character in text
    )


@scalar(_HERE, "lower")
def _lower(call: Call, text: str) -> str:
    return _changed(call, text, upper=False)


@scalar(_HERE, "upper")
def _upper(call: Call, text: str) -> str:
    return _changed(call, text, upper=True)


@scalar(_HERE, "swapcase")
def _swapcase(call: Call, text: str) -> str:
    if any(character not in (character.lower(), character.upper()) for character in text):
        raise call.open("a character in title case")
    return "".join(_changed(call, character, upper=character.islower()) for character in text)


@scalar(_HERE, "concat", nulls=True)
def _concat(call: Call, *texts: str | None) -> str | None:
    known = [text for text in texts if text is not None]
    if len(known) == len(texts):
        return "".join(known)
    match call.options.get("null_handling"):
        case "ACCEPT_NULLS":
            return None
        case "IGNORE_NULLS":
            return "".join(known)
        case _:
            raise call.open("a null, without the option null_handling")


@scalar(_HERE, "concat_ws", nulls=True)
def _concat_ws(call: Call, separator: str | None, *texts: str | None) -> str | None:
    # by its cases: without a separator null, and nulls are left out
    if separator is None:
        return None
    return separator.join(text for text in texts if text is not None)


@scalar(_HERE, "char_length")
def _char_length(call: Call, text: str) -> int:
    return len(text)


@scalar(_HERE, "octet_length")
def _octet_length(call: Call, text: str) -> int:
    return len(text.encode())


@scalar(_HERE, "bit_length")
def _bit_length(call: Call, text: str) -> int:
    return 8 * len(text.encode())


@scalar(_HERE, "like")
def _like(call: Call, text: str, pattern: str) -> bool:
    if "\\" in pattern:
        raise call.open("an escape character")
    parts = {"%": ".*", "_": "."}
    regular = "".join(parts.get(character) or re.escape(character) for character in _folded(call, pattern))
    return re.fullmatch(regular, _folded(call, text), re.DOTALL) is not None


@scalar(_HERE, "starts_with")
def _starts_with(call: Call, text: str, part: str) -> bool:
    return _folded(call, text).startswith(_folded(call, part))


@scalar(_HERE, "ends_with")
def _ends_with(call: Call, text: str, part: str) -> bool:
    return _folded(call, text).endswith(_folded(call, part))


@scalar(_HERE, "contains")
def _contains(call: Call, text: str, part: str) -> bool:
    return _folded(call, part) in _folded(call, text)


def _not_empty(call: Call, part: str) -> str:
    if not part:
        raise call.open("an empty text to search for")
    return part


@scalar(_HERE, "strpos")
def _strpos(call: Call, text: str, part: str) -> int:
    return _folded(call, text).find(_folded(call, _not_empty(call, part))) + 1


@scalar(_HERE, "count_substring")
def _count_substring(call: Call, text: str, part: str) -> int:
    return _folded(call, text).count(_folded(call, _not_empty(call, part)))


@scalar(_HERE, "replace")
def _replace(call: Call, text: str, part: str, other: str) -> str:
    if call.options.get("case_sensitivity", "CASE_SENSITIVE") == "CASE_SENSITIVE":
        return text.replace(_not_empty(call, part), other)
    where, sought = _folded(call, text), _folded(call, _not_empty(call, part))
    made, at = "", 0
    while (found := where.find(sought, at)) >= 0:
        made += text[at:found] + other
        at = found + len(sought)
    return made + text[at:]


@scalar(_HERE, "substring")
def _substring(call: Call, text: str, start: int, length: int | None = None) -> str:
    if length is not None and length < 0:
        raise call.open("a negative length")
    if start >= 1:
        first = start - 1
    else:
        match call.options.get("negative_start"):
            case "WRAP_FROM_END" if -len(text) <= start < 0:
                first = len(text) + start
            case "LEFT_OF_BEGINNING":
                first = start - 1
            case _:
                raise call.open(f"the start {start} in a text of {len(text)} characters")
    stop = len(text) if length is None else first + length
    return text[max(first, 0) : max(stop, 0)]


@scalar(_HERE, "left")
def _left(call: Call, text: str, count: int) -> str:
    if count < 0:
        raise call.open("a negative count")
    return text[:count]


@scalar(_HERE, "right")
def _right(call: Call, text: str, count: int) -> str:
    if count < 0:
        raise call.open("a negative count")
    return text[max(len(text) - count, 0) :]


@scalar(_HERE, "repeat")
def _repeat(call: Call, text: str, count: int) -> str:
    if count < 0:
        raise call.open("a negative count")
    if len(text) * count > 10_000_000:
        raise call.uncovered("a text of more than ten million characters")
    return text * count


@scalar(_HERE, "reverse")
def _reverse(call: Call, text: str) -> str:
    return text[::-1]


@scalar(_HERE, "replace_slice")
def _replace_slice(call: Call, text: str, start: int, length: int, other: str) -> str | None:
    if not 1 <= start <= len(text) or length < 0:
        return None
    return text[: start - 1] + other + text[start - 1 + length :]


@scalar(_HERE, "ltrim")
def _ltrim(call: Call, text: str, characters: str = " ") -> str:
    return text.lstrip(characters) if characters else text


@scalar(_HERE, "rtrim")
def _rtrim(call: Call, text: str, characters: str = " ") -> str:
    return text.rstrip(characters) if characters else text


@scalar(_HERE, "trim")
def _trim(call: Call, text: str, characters: str = " ") -> str:
    return text.strip(characters) if characters else text


def _padding(call: Call, characters: str, length: int) -> str:
    """So many characters, taken from the text over and over again."""
    if not characters:
        raise call.open("nothing to pad with")
    if length > 10_000_000:
        raise call.uncovered("a text of more than ten million characters")
    return (characters * (length // len(characters) + 1))[:length]


@scalar(_HERE, "lpad")
def _lpad(call: Call, text: str, length: int, characters: str = " ") -> str:
    # by its case, a negative length is as 0
    if length <= len(text):
        return text[: max(length, 0)]
    return _padding(call, characters, length - len(text)) + text


@scalar(_HERE, "rpad")
def _rpad(call: Call, text: str, length: int, characters: str = " ") -> str:
    if length <= 0:
        return ""
    if length < len(text):
        # characters are removed from the left by the text of the extension, from the right by its case
        raise call.open("a text that is longer than the length")
    return text + _padding(call, characters, length - len(text))


@scalar(_HERE, "center")
def _center(call: Call, text: str, length: int, character: str) -> str:
    if len(character) != 1:
        raise call.open("a padding that isn't one character")
    if length < len(text):
        raise call.open("a text that is longer than the length")
    missing = length - len(text)
    less, more = missing // 2, missing - missing // 2
    left, right = (more, less) if call.options.get("padding") == "LEFT" else (less, more)
    return _padding(call, character, left) + text + _padding(call, character, right)


@scalar(_HERE, "string_split", nulls=True)
def _string_split(call: Call, text: str | None, separator: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    if separator is None:
        # by its case; the text of the extension says nothing
        return (text,)
    return tuple(text.split(_not_empty(call, separator)))

"""Regular expressions of ICU as Java's: the translation, what is refused, and whether both match alike.

Where ICU itself is installed, it is asked. The package's function cases have values worked out by hand.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import random
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.model.expressions import Function
from pyspark_substrait.model.types import I64, List, String, Type
from pyspark_substrait.sql import functions
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.fragment import Constant, Name
from pyspark_substrait.sql.functions.regexp.folding import Case
from pyspark_substrait.sql.functions.regexp.java import java
from pyspark_substrait.sql.functions.regexp.parser import Flags, parsed
from pyspark_substrait.sql.functions.regexp.replacement import java_replacement
from pyspark_substrait.sql.functions.table import Call, Operand

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

URN = "extension:io.substrait:functions_string"
INSENSITIVE = Flags(case=Case.UNICODE)


def translated(pattern: str, flags: Flags = Flags()) -> str:  # noqa: B008
    return java(parsed(pattern, flags))


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("abc", "abc"),
        (r"a\.b", r"a\.b"),
        ("[a-c-e]", r"[\-a-ce]"),
        ("[a-z&&[^aeiou]]", "[b-df-hj-np-tv-z]"),
        (r"\d+", r"\p{Nd}+"),
        (r"[^\d]", r"[^\p{Nd}]"),
        (r"[\p{L}--\p{sc=Latin}]", r"[[\p{L}]&&[^\p{sc=Latn}]]"),
        ("^a", "^a"),
        ("(?<year>[0-9]{4})-(?:0?[1-9])", r"([0-9]{4})\-(?:0?[1-9])"),
        (r"(a)\10", r"(a)\1(?:)0"),
        ("(?i)k", "[Kk\u212a]"),
        ("(?i)ss", "(?:[Ssſ][Ssſ]|[ßẞ])"),
        ("(?i)a(?-i)b", "[Aa]b"),
        ("(?s)a.*", r"a(?:(?s:.)+(?!(?<=\r)\n))?"),
        ("a*", r"(?!\p{Cs})(?:a*)"),
        (r"\Qa.b\E+", r"a\.b+"),
    ],
)
def test_text(pattern: str, expected: str) -> None:
    assert translated(pattern) == expected


@pytest.mark.parametrize(
    ("pattern", "position"),
    [
        ("a(b", 2),
        ("a)b", 2),
        ("ab[c", 3),
        ("a**", 3),
        ("+a", 1),
        ("a{,2}", 2),
        ("a{2,1}", 2),
        ("}", 1),
        (r"(a)\2", 4),
        (r"a\x{110000}", 2),
        (r"\p{Nonsense}", 1),
        (r"x\p{Age=3.0}", 2),
        (r"\N{NO SUCH THING}", 1),
        ("[z-a]", 4),
        ("[a&&]", 5),
        ("(?<=a+)b", 1),
        ("(?P<n>a)", 1),
        ("(?<n>a)(?<n>b)", 8),
        ("a\\", 2),
    ],
)
def test_what_is_wrong_is_said_with_its_place(pattern: str, position: int) -> None:
    with pytest.raises(InvalidPlanError, match=rf"character {position}\b"):
        translated(pattern)


@pytest.mark.parametrize(
    ("pattern", "flags", "reason"),
    [
        (r"(?w)\bx", Flags(), "UAX 29"),
        (r"(a)\1", INSENSITIVE, "refers back"),
        ("s" * 30, INSENSITIVE, "too many"),
        (r"\p{blk=Greek}", INSENSITIVE, "case is ignored"),
        ("(?<=(a){2})b", Flags(), "look-behind"),
        ("(^)*a", Flags(), "repeated"),
        (r"(?:(?=(a))b|a)\1", Flags(), "from a failed attempt"),
        (r"(?<=a\R)b", Flags(), "CR LF"),
    ],
)
def test_what_java_has_no_equal_for_is_refused(pattern: str, flags: Flags, reason: str) -> None:
    with pytest.raises(UnsupportedPlanError, match=reason):
        translated(pattern, flags)


@pytest.mark.parametrize(
    ("text", "groups", "before", "expected"),
    [
        (r"\1e", 1, 0, "$1e"),
        (r"\12", 1, 0, r"$1\2"),
        (r"\0", 0, 0, "$0"),
        (r"\2\1", 2, 2, "$4$3"),
        ("$1", 1, 0, r"\$1"),
        (r"\\1", 1, 0, r"\\1"),
        (r"\$\a", 1, 0, r"\$a"),
    ],
)
def test_replacements(text: str, groups: int, before: int, expected: str) -> None:
    assert java_replacement(text, groups, before) == expected


@pytest.mark.parametrize("text", [r"\2", "\\"])
def test_replacements_that_are_wrong(text: str) -> None:
    with pytest.raises(InvalidPlanError):
        java_replacement(text, 1)


def test_a_pattern_must_be_a_constant() -> None:
    with pytest.raises(UnsupportedPlanError, match="constant"):
        compiled("regexp_count_substring", I64(), input=column("x"), pattern=column("p"))


# on Spark ------------------------------------------------------------------------------------------------------------


def column(name: str, type: Type = String()) -> Operand:  # noqa: B008
    return Operand(Name(name), type)


def constant(value: str | int) -> Operand:
    if isinstance(value, str):
        return Operand(Constant(string_literal(value), value), String())
    return Operand(Constant(f"{value}L", value), I64())


def compiled(name: str, output: Type, options: dict[str, str] | None = None, **arguments: Operand) -> str:
    table = functions.table(URN)
    assert table is not None
    call = Call(
        function=Function(URN, name, ""),
        operands=tuple(arguments.values()),
        names=tuple(arguments),
        output=output,
    )
    return table.text(call, [(option, (value,)) for option, value in (options or {}).items()])


NUMBERS = ("aXbXc", "Xab", "", "bbX😀X", "no", "X")


def pieces(name: str, text: str, position: int, occurrence: int) -> str | int:
    """What a function gives for the pattern ``(?<![b])(X)|(😀)``, by Python's ``re``, which agrees with ICU in it."""
    found = list(re.compile(r"(?<!b)(X)|(😀)").finditer(text, position - 1))
    match = found[occurrence - 1] if 0 < occurrence <= len(found) else None
    if name == "regexp_match_substring":
        return match[0] if match else ""
    if name == "regexp_strpos":
        return match.start() + 1 if match else 0
    chosen = found if occurrence == 0 else [match] if match else []
    for item in reversed(chosen):
        text = f"{text[: item.start()]}<{item[1] or ''}>{text[item.end() :]}"
    return text


@pytest.mark.parametrize("constants", [(), ("position",), ("occurrence",), ("position", "occurrence")])
def test_positions_and_occurrences_may_be_columns(spark: SparkSession, constants: tuple[str, ...]) -> None:
    rows = [
        (text, position, occurrence) for text in NUMBERS for position in (1, 2, 4, 9) for occurrence in (0, 1, 2, 3)
    ]
    for fixed in ((1, 1), (2, 2), (4, 1)):
        given = dict(zip(("position", "occurrence"), fixed, strict=True))
        numbers: dict[str, Any] = {
            name: constant(given[name]) if name in constants else column(name[0], I64())
            for name in ("position", "occurrence")
        }
        pattern = constant("(?<![b])(X)|(😀)")
        texts = {
            "regexp_match_substring": compiled(
                "regexp_match_substring", String(), input=column("x"), pattern=pattern, **numbers, group=constant(0)
            ),
            "regexp_strpos": compiled("regexp_strpos", I64(), input=column("x"), pattern=pattern, **numbers),
            "regexp_replace": compiled(
                "regexp_replace", String(), input=column("x"), pattern=pattern, replacement=column("r"), **numbers
            ),
        }
        replacement = string_literal(r"<\1>")
        values = ", ".join(f"({string_literal(x)}, {p}L, {o}L, {replacement})" for x, p, o in rows)
        for name, text in texts.items():
            least = 0 if name == "regexp_replace" else 1
            found = spark.sql(
                f"SELECT x, p, o, {text} AS v FROM VALUES {values} AS t(x, p, o, r) WHERE o >= {least}"
            ).collect()
            for x, position, occurrence, value in found:
                wanted = given | {
                    key: number
                    for key, number in (("position", position), ("occurrence", occurrence))
                    if key not in constants
                }
                assert value == pieces(name, x, wanted["position"], wanted["occurrence"]), (text, x, wanted)


# against ICU ---------------------------------------------------------------------------------------------------------


def _icu() -> Callable[[str], Callable[..., int]] | None:
    """The functions of ICU's library by name; None where it isn't installed."""
    name = ctypes.util.find_library("icui18n")
    version = re.search(r"so\.(\d+)", name or "")
    if name is None or version is None:
        return None
    library, suffix = ctypes.CDLL(name), version[1]

    def function(called: str) -> Callable[..., int]:
        found = getattr(library, f"{called}_{suffix}")
        if called == "uregex_open":
            found.restype = ctypes.c_void_p
        return found  # type: ignore[no-any-return]

    return function


def matches_of_icu(icu: Callable[[str], Callable[..., int]], pattern: str, text: str) -> Iterator[str]:
    """The matches and first groups that ICU finds, as their texts."""
    units, status = text.encode("utf-16-le"), ctypes.c_int(0)
    buffer, source = ctypes.create_string_buffer(units + b"\0\0"), pattern.encode("utf-16-le")
    found = ctypes.c_void_p(icu("uregex_open")(source, len(source) // 2, 0, None, ctypes.byref(status)))
    icu("uregex_setText")(found, buffer, len(units) // 2, ctypes.byref(status))
    while icu("uregex_findNext")(found, ctypes.byref(status)) & 0xFF:
        start, end = (icu(f"uregex_{side}")(found, 0, ctypes.byref(status)) for side in ("start", "end"))
        yield units[2 * start : 2 * end].decode("utf-16-le")
    icu("uregex_close")(found)
    assert status.value <= 0, f"{pattern}: {status.value}"


PATTERNS = (
    r"\w+|\W",
    r"\b.",
    r"\B",
    r"(?s).",
    r"(?m)^.?",
    r"(?m).?$",
    r".$",
    r"\R|\X",
    r"(?i)ss|k|i",
    r"(?i)[^a-kß]",
    r"(?i)\p{Lu}",
    r"(?i)\P{Ll}",
    r"[\p{L}--[a-c]&&\w]",
    r"[[:alpha:]-[a]]",
    r"[^\p{Alphabetic}\d]",
    r"(?<=[^a]{1,2})b?",
    r"(?<!\w|😀)[^a]",
    r"(.)(?=.?\1)",
    r"(?:a|b+?)+?c",
    r"[[:xdigit:]]|\p{Hex_Digit}",
    r"(?:.*.){2,}+|b",
    r"\G[ab]",
    r"\s|\h|\v",
    r"",
    r"x*",
)
LETTERS = (
    *"aabbcABkKsSß1_ -",
    "ſ",
    "é",
    "😀",
    "\r",
    "\n",
    "\r\n",
    "\x0b",
    "\x85",
    "\u0301",
    "\u00ad",
    "ı",
    "İ",
    "K",
    "Ⅷ",
)


def test_patterns_match_as_in_icu(spark: SparkSession) -> None:
    icu = _icu()
    if icu is None:
        pytest.skip("ICU isn't installed")
    chance = random.Random(4)
    texts = ["".join(chance.choice(LETTERS) for _ in range(chance.randint(0, 9))) for _ in range(150)]
    values = ", ".join(f"({string_literal(text)})" for text in texts)
    columns = [
        compiled(
            "regexp_match_substring_all",
            List(type=String()),
            input=column("x"),
            pattern=constant(pattern),
            position=constant(1),
            group=constant(0),
        )
        for pattern in PATTERNS
    ]
    for text, *found in spark.sql(f"SELECT x, {', '.join(columns)} FROM VALUES {values} AS t(x)").collect():
        for pattern, value in zip(PATTERNS, found, strict=True):
            assert value == list(matches_of_icu(icu, pattern or "(?:)", text)), (pattern, text)

"""Work on a regular expression is bounded by its length, whatever it says. Calls are counted, never time."""

from __future__ import annotations

import sys
import unicodedata
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from pyspark_substrait.errors import InvalidPlanError, SubstraitError, UnsupportedPlanError
from pyspark_substrait.sql.functions.regexp import folding, properties
from pyspark_substrait.sql.functions.regexp.backtracking import slowness
from pyspark_substrait.sql.functions.regexp.folding import Case, cased_points
from pyspark_substrait.sql.functions.regexp.java import java
from pyspark_substrait.sql.functions.regexp.parser import Flags, parsed
from pyspark_substrait.sql.functions.regexp.sets import of


def work(pattern: str, flags: Flags) -> None:
    """All that is done with a pattern, without what is kept of an earlier time."""
    try:
        tree = parsed.__wrapped__(pattern, flags)
    except SubstraitError:
        return
    slowness.__wrapped__(tree)
    try:
        java(tree)
    except SubstraitError:
        return


def calls(function: Callable[[], object]) -> int:
    """How many functions Python calls while one runs, generators' turns and those written in C included."""
    seen = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal seen
        seen += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(before)
    return seen


#: patterns of some length, by what they are made of
GROWING: dict[str, Callable[[int], str]] = {
    "a property again and again": lambda size: r"\p{L}" * size,
    "a property, spelled in many ways": lambda size: "".join(rf"\p{{L{'_' * number}}}" for number in range(size // 8)),
    "numeric values": lambda size: "".join(rf"\p{{nv={number}}}" for number in range(size)),
    "a set of many properties": lambda size: "[" + r"\p{L}\p{Greek}" * size + "]*",
    "sets side by side": lambda size: "[a]" * size,
    "a set of many characters": lambda size: "[" + "".join(chr(0x4E00 + 2 * number) for number in range(size)) + "]+",
    "two sets of many characters": lambda size: "[{0}&&{0}]".format(
        "".join(chr(0x4E00 + 2 * number) for number in range(size))
    ),
    "openings of sets": lambda size: "[:" * size,
    "operators of sets": lambda size: "[a" + "&&b" * size + "]",
    "differences of properties": lambda size: r"[\p{L}" + r"--\p{M}" * size + "]",
    "alternations": lambda size: "|".join(f"w{number}" for number in range(size)),
    "a loop of alternations": lambda size: f"({'|'.join(chr(97 + number % 26) for number in range(size))})*X",
    "sets in a loop": lambda size: f"({'|'.join(f'[{chr(0x4E00 + number)}b]' for number in range(size))})*X",
    "loops in a row": lambda size: "a*" * size + "b",
    "loops of any character in a row": lambda size: ".*," * size,
    "groups in a row": lambda size: "(a)" * size,
    "references": lambda size: "(a)" + r"\1" * size,
    "references and digits": lambda size: "(a)" + r"\12" * size,
    "look-behinds": lambda size: "(?<=a)" * size,
    "bits of text": lambda size: "a" * size,
    "flags": lambda size: "(?i)a(?-i)" * size,
}


@pytest.mark.parametrize("case", [Case.EXACT, Case.UNICODE])
@pytest.mark.parametrize("kind", sorted(GROWING))
def test_work_grows_with_the_length(kind: str, case: Case) -> None:
    made = GROWING[kind]
    flags = Flags(case=case)
    work(made(40), flags)  # tables are made once
    small, large = (calls(lambda size=size: work(made(size), flags)) for size in (600, 2400))  # type: ignore[misc]
    # what is bounded by a limit of its own is less than a million steps
    assert large < 6 * small or large < 1_500_000, (small, large)


#: patterns that say much in few characters
DENSE: dict[str, str] = {
    "counts in counts": "(" * 20 + "a" + "{1000})" * 20,
    "small counts in small counts": "(?:" * 60 + "^" + "{3})" * 60,
    "empty groups": "(?:" * 60 + "(?:){3}" + "){3}" * 60,
    "counts in a look-behind": "(?<=" + "(?:" * 20 + "a" + "){50}" * 20 + ")",
    "few in a look-behind": "(?<=" + "(?:" * 60 + "a" + "){0,2}" * 60 + ")",
    "stars in stars": "(" * 60 + "a|b|c" + ")*" * 60,
    "a reference to every letter": r"([\x{1}-\x{10FFFE}])" + r"\1" * 40,
    "runs of letters": "f" * 12 + "s" * 11,
}


@pytest.mark.parametrize("case", [Case.EXACT, Case.UNICODE])
@pytest.mark.parametrize("kind", sorted(DENSE))
def test_few_characters_are_little_work(kind: str, case: Case) -> None:
    work("a", Flags(case=case))
    assert calls(lambda: work(DENSE[kind], Flags(case=case))) < 1_500_000


def test_depth_is_bounded() -> None:
    for deep in ("({})", "(?:{})", "(?={})", "(?i:{})"):
        opened, closed = deep.split("{}")
        work(opened * 90 + "a" + closed * 90, Flags())
        parsed(opened * 90 + "a" + closed * 90, Flags())
        with pytest.raises(UnsupportedPlanError, match="deep"):
            parsed(opened * 50_000 + "a" + closed * 50_000, Flags())
    parsed("[" * 90 + "a" + "]" * 90, Flags())
    for text in ("[" * 50_000 + "a" + "]" * 50_000, "[a" + r"&&\p{L}" * 50_000 + "]", "[[a]" + "-[b]" * 50_000 + "]"):
        with pytest.raises(UnsupportedPlanError, match="deep"):
            parsed(text, Flags())
    # those beside each other aren't in each other
    parsed("([a&&[b]])" * 300, Flags())


def test_numbers_of_many_digits() -> None:
    for text in ("a{" + "9" * 6000 + "}", "a{1," + "9" * 6000 + "}"):
        with pytest.raises(InvalidPlanError, match="too large"):
            parsed(text, Flags())
    parsed(r"\p{nv=" + "9" * 6000 + "}", Flags())
    parsed(r"\p{nv=1/" + "9" * 6000 + "}", Flags())


def test_tables_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every code point is looked at once for numbers, and for case only in blocks that have some."""
    asked: Counter[str] = Counter()

    class Asked:
        def __getattr__(self, name: str) -> Any:
            asked[name] += 1
            return getattr(unicodedata, name)

    monkeypatch.setattr(properties, "unicodedata", Asked())
    tables = (properties._numeric_points, properties._category_set, folding.variants, folding.unfolded, cased_points)
    for kept in (*tables, folding._cased, properties._named_sets, properties.property_set):
        kept.cache_clear()
    assert calls(lambda: parsed.__wrapped__(r"\p{L}", Flags())) < 200_000
    for number in range(50):
        parsed.__wrapped__(rf"\p{{nv={number}}}\p{{L{' ' * number}}}", Flags())
    assert asked["numeric"] == sys.maxunicode + 1
    assert asked["category"] < 10_000


def test_case_tables_are_those_of_every_code_point() -> None:
    folded = [point for point in range(sys.maxunicode + 1) if chr(point).casefold() != chr(point)]
    assert folding._cased() == tuple(map(chr, folded))
    # a letter that is folded to one other is a variant of that; one that becomes several stands for itself
    cased = {*folded, *(ord(chr(point).casefold()) for point in folded if len(chr(point).casefold()) == 1)}
    assert {*cased_points()} == cased


def test_sets_in_common() -> None:
    from pyspark_substrait.sql.functions.regexp.sets import _common

    left, right = of([(1, 5), (8, 9), (20, 30), (40, 40)]), of([(3, 8), (9, 21), (25, 50)])
    points = [set().union(*(range(low, high + 1) for low, high in item.ranges)) for item in (left, right)]
    assert _common(left, right) == of((point, point) for point in points[0] & points[1])

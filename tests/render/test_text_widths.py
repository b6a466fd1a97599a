"""How many cells texts take, where they are cut and where they are broken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyspark_substrait.render.text_widths import cells, fitted, is_plain, wrapped


@pytest.mark.parametrize(
    ("text", "width", "plain"),
    [
        ("", 0, True),
        ("price", 5, True),
        ("naïve Größe", 11, True),
        ("Ж Ω → ≤ …", 9, True),
        ("e\u0301", 1, False),  # an accent stands on the letter before it
        ("a\u200bb", 2, False),  # a space without width
        ("日本", 4, False),
        ("ｆｕ", 4, False),
        ("😀", 2, False),
        ("שלום", 8, False),  # not every monospace font has it
        ("ﷺ", 2, False),
    ],
)
def test_cells(text: str, width: int, plain: bool) -> None:
    assert (cells(text), is_plain(text)) == (width, plain)


@pytest.mark.parametrize(
    ("text", "most", "cut"),
    [
        ("price", 5, "price"),
        ("prices", 5, "pric…"),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),  # half a character is none
        ("e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),  # the accent stays with its letter
        ("abc", 1, "…"),
        ("", 4, ""),
    ],
)
def test_what_is_too_long_is_cut(text: str, most: int, cut: str) -> None:
    assert fitted(text, most) == cut


@pytest.mark.parametrize(
    ("text", "most", "lines", "broken"),
    [
        ("", 9, 3, ()),
        ("a = 1", 9, 3, ("a = 1",)),
        ("a = 1 AND b = 2 OR c", 12, 3, ("a = 1", "AND b = 2", "OR c")),  # before a joint
        ("total DESC, name ASC", 16, 3, ("total DESC,", "name ASC")),  # behind a comma
        ("one two three four", 8, 3, ("one two", "three", "four")),
        ("one two three four", 8, 2, ("one two", "three f…")),
        ("abcdefghij", 4, 3, ("abcd", "efgh", "ij")),  # where there is nothing better
        ("日本語日本語", 4, 3, ("日本", "語日", "本語")),
        ("日本", 1, 1, ("…",)),
    ],
)
def test_lines(text: str, most: int, lines: int, broken: tuple[str, ...]) -> None:
    assert wrapped(text, most, lines) == broken


@given(st.text(max_size=80), st.integers(2, 30), st.integers(1, 6))
def test_no_line_is_wider_than_asked_and_nothing_is_lost(text: str, most: int, lines: int) -> None:
    broken = wrapped(text, most, lines)
    assert len(broken) <= lines
    assert all(cells(line) <= most for line in broken)
    together = "".join("".join(broken).split())
    whole = "".join(text.split())
    assert together == whole or (together.endswith("…") and whole.startswith(together[:-1]))
    assert cells(fitted(text, most)) <= most

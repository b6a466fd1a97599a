"""The case of every letter that Unicode has had for long, beside Python's: words begin in title case on every Spark."""

from __future__ import annotations

import sys
import unicodedata
from typing import TYPE_CHECKING, Final

import pytest

from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.sql.functions.strings.case import INITCAP_SINCE
from tests.spark.plans import TEXT, call, col, project, rows, values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_GEORGIAN: Final = [chr(code) for code in range(0x1C90, 0x1CBB)]
"""Capitals from Unicode 11, whose small letters have no title case."""
_LETTERS: Final = [
    letter
    for letter in map(chr, range(sys.maxunicode + 1))
    if unicodedata.ucd_3_2_0.category(letter) in ("Lu", "Ll", "Lt")
    and letter not in "\u019b\u0264"  # they have capitals since Unicode 16
] + _GEORGIAN


def _is_plain(letter: str) -> bool:
    """Whether a letter has one letter as title case, which its small letter has, too."""
    return len(letter.title()) == 1 and letter.lower().title() == letter.title() and ord(letter) < 0x10000


@pytest.mark.parametrize("name", ["capitalize", "title", "initcap"])
def test_words_begin_in_title_case(spark: SparkSession, name: str) -> None:
    is_older = session_version(spark) < INITCAP_SINCE
    # before and after a letter that has a case: words of one letter may be articles
    words = [f"{letter}q" for letter in _LETTERS if _is_plain(letter) or not is_older]
    table = values([TEXT], [(word,) for word in words])
    found = [value for (value,) in rows(spark, project(table, call(name, col(table, 0))))]
    wrong = [
        f"{word[0]!a}: {value!a}" for word, value in zip(words, found, strict=True) if value != word[0].title() + "q"
    ]
    assert not wrong
    if is_older:
        for letter in ("\u00df", "\ufb01", "\u0130", "\u1e9e", "\u2126", "\u03f4", _GEORGIAN[0], "\U00010428"):
            single = values([TEXT], [(f"{letter}q",)])
            with pytest.raises(SubstraitError, match=r"needs Spark 4\.0"):
                rows(spark, project(single, call(name, col(single, 0))))

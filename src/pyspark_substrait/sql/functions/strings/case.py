"""Functions of strings that change upper and lower case.

UTF8 is the full case mapping of Unicode, without language-specific rules: "ß" becomes "SS", and a capital sigma at the
end of a word "ς". A text may grow, so that it may not fit into a varchar or fixedchar (:func:`fitted`). The first
character of a word becomes title case, which differs from upper case if a character stands for two letters: "ǆ"
becomes "ǅ", "ß" becomes "Ss". ASCII_ONLY changes A to Z and a to z, nothing else.

The extension doesn't define a word. Here it is the text between white space, as in "o'neil" and "well-known"; if its
first character isn't a letter, then none of it is capitalized.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.strings.string_expressions import (
    ASCII_LOWER,
    ASCII_SWAPPED,
    ASCII_UPPER,
    applied,
    fitted,
)
from pyspark_substrait.sql.functions.table import Call, Row, row
from pyspark_substrait.sql.spark_version import SparkVersion

__all__ = ["INITCAP_SINCE", "ROWS", "checked_initcap"]

#: the first version of Spark whose initcap knows title case; one before it changes single units of UTF-16
INITCAP_SINCE: Final = SparkVersion(4, 0)
#: characters at the start of a word whose title case are several, or two units of UTF-16, or that of their lower case
#: another: the initcap of 3.5 takes the lower case of everything first
_TITLED_APART = string_literal(
    r"(?:^|\s)(?:[\u00df\u0149\u01f0\u0390\u03b0\u0587\u1e96-\u1e9a\u1f50\u1f52\u1f54\u1f56\u1fb2\u1fb4\u1fb6\u1fb7"
    r"\u1fc2\u1fc4\u1fc6\u1fc7\u1fd2\u1fd3\u1fd6\u1fd7\u1fe2-\u1fe4\u1fe6\u1fe7\u1ff2\u1ff4\u1ff6\u1ff7\ufb00-\ufb06"
    r"\ufb13-\ufb17\u0130\u03f4\u1c90-\u1cba\u1cbd-\u1cbf\u1e9e\u2126\u212a\u212b]"
    r"|[\x{10000}-\x{10ffff}&&[\p{Lu}\p{Ll}\p{Lt}]])"
)

#: between two words: after white space, and before something else
_GAP = string_literal(r"(?U)(?<=\s)(?=\S)")
#: a word that is an article, with the white space and punctuation after it
_ARTICLE = string_literal(r"(?iU)^(an?|the)\W*$")
#: white space that Spark's initcap doesn't treat as a gap
_OTHER_SPACE = r"(?U)([\s&&[^ ]])"


def each_word(form: str) -> Callable[[Call], str]:
    """Return a body that changes every word, which is ``w`` in ``form``; ``w`` ends with the white space after it."""

    def body(call: Call) -> str:
        return Atom(f"array_join(transform(split({call.sql(0)}, {_GAP}), w -> {form}), '')")

    return body


def swapcase(call: Call) -> str:
    """Swap the case of every character; titlecase characters and those without case don't change.

    The lower case of a sigma depends on its context, so lower case is taken from the whole string. No character but the
    dotted capital I becomes two there.
    """
    text = call.sql(0)
    other = "CASE WHEN c = upper(c) THEN if(c = 'İ', lower(c), l) WHEN c = lower(c) THEN upper(c) ELSE c END"
    lower = f"lower(translate({text}, 'İ', 'i'))"
    return Atom(f"array_join(zip_with(split({text}, ''), split({lower}, ''), (c, l) -> {other}), '')")


def _capitalized(upper: str, word: str, rest: str = "{}") -> str:
    return Atom(f"concat({upper.format(f'left({word}, 1)')}, {rest.format(f'substring({word}, 2)')})")


def _title(upper: str) -> str:
    """Capitalize a word, unless it is an article."""
    return Atom(f"if(w RLIKE {_ARTICLE}, w, {_capitalized(upper, 'w')})")


_NEEDS_NEWER = string_literal(f"initcap of this text needs Spark {INITCAP_SINCE}")
_CHECKED = (
    f"if({{0}} RLIKE {_TITLED_APART.replace('{', '{{').replace('}', '}}')}, "
    f"CAST(raise_error({_NEEDS_NEWER}) AS STRING), initcap({{0}}))"
)


def checked_initcap(text: str) -> Atom:
    """Return ``initcap`` for a Spark before :data:`INITCAP_SINCE`: an error where its result isn't in title case."""
    return Atom(_CHECKED.format(text))


# Spark's initcap starts a word only after a blank: temporarily, any other white space is followed by one
_MARKED = f"regexp_replace({{}}, {string_literal(_OTHER_SPACE)}, '$1 ')"


def _unmarked(text: str) -> Atom:
    return Atom(f"regexp_replace({text}, {string_literal(_OTHER_SPACE + ' ')}, '$1')")


_INITCAP = _unmarked(f"initcap({_MARKED})")

ROWS: tuple[Row, ...] = (
    row("lower", fitted("lower({})"), char_set="UTF8", catalyst="Lower"),
    row("lower", applied(ASCII_LOWER), char_set="ASCII_ONLY"),
    row("upper", fitted("upper({})"), char_set="UTF8", catalyst="Upper"),
    row("upper", applied(ASCII_UPPER), char_set="ASCII_ONLY"),
    row("swapcase", fitted(swapcase), char_set="UTF8"),
    row("swapcase", applied(ASCII_SWAPPED), char_set="ASCII_ONLY"),
    # the rest of the string doesn't change
    row(
        "capitalize",
        fitted(lambda call: _capitalized("initcap({})", call.sql(0))),
        char_set="UTF8",
        since=INITCAP_SINCE,
        before=fitted(lambda call: _capitalized(_CHECKED, call.sql(0))),
    ),
    row("capitalize", lambda call: _capitalized(ASCII_UPPER, call.sql(0)), char_set="ASCII_ONLY"),
    # nor does that of a word: only initcap changes it to lower case
    row(
        "title",
        fitted(each_word(_title("initcap({})"))),
        char_set="UTF8",
        since=INITCAP_SINCE,
        before=fitted(each_word(_title(_CHECKED))),
    ),
    row("title", each_word(_title(ASCII_UPPER)), char_set="ASCII_ONLY"),
    row(
        "initcap",
        fitted(_INITCAP),
        char_set="UTF8",
        since=INITCAP_SINCE,
        before=fitted(lambda call: _unmarked(checked_initcap(_MARKED.format(call.sql(0))))),
    ),
    row("initcap", each_word(_capitalized(ASCII_UPPER, "w", ASCII_LOWER)), char_set="ASCII_ONLY"),
)

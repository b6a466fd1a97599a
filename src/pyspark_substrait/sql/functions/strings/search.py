"""Functions that search for a string in another, by ``case_sensitivity``.

CASE_INSENSITIVE compares by the simple case folding of Unicode: each character has one form, so that positions don't
change. "ß" is "ẞ" and not "ss", a final sigma is a sigma, the Kelvin sign a k. The dotted capital I, for which simple
folding has nothing, is an i; the dotless small one isn't. CASE_INSENSITIVE_ASCII treats A to Z as a to z, and
distinguishes all other characters.

The empty string is at the start, at the end and between all characters of any string: it is found at position 1, and
occurs once more than there are characters. Replacing it changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import I32
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.catalyst import CatalystForms, catalyst
from pyspark_substrait.sql.functions.strings.string_expressions import ASCII_LOWER, fitted, quoted_pattern
from pyspark_substrait.sql.functions.table import Call, Row, row

__all__ = ["ROWS", "VARIANTS"]

#: lower-case characters that are variants of another letter: each with the letter it folds to
VARIANTS = (
    *("\u00b5\u03bc", "\u017fs", "\u0345\u03b9", "\u03c2\u03c3", "\u03d0\u03b2", "\u03d1\u03b8", "\u03d5\u03c6"),
    *("\u03d6\u03c0", "\u03f0\u03ba", "\u03f1\u03c1", "\u03f5\u03b5", "\u1c80\u0432", "\u1c81\u0434", "\u1c82\u043e"),
    *("\u1c83\u0441", "\u1c84\u0442", "\u1c85\u0442", "\u1c86\u044a", "\u1c87\u0463", "\u1c88\ua64b", "\u1e9b\u1e61"),
    *("\u1fbe\u03b9", "\u1fd3\u0390", "\u1fe3\u03b0", "\ufb05\ufb06"),
)
_VARIANT, _LETTER = (string_literal("".join(pair[side] for pair in VARIANTS)) for side in (0, 1))
# the dotted capital I is the only letter whose lower case would be two characters
_SIMPLE_FOLDING = f"translate(lower(translate({{}}, 'İ', 'i')), {_VARIANT}, {_LETTER})"
#: the folding of a string for each case sensitivity
_FOLDINGS = {
    "CASE_SENSITIVE": "{}",
    "CASE_INSENSITIVE": _SIMPLE_FOLDING,
    "CASE_INSENSITIVE_ASCII": ASCII_LOWER,
}
_INSENSITIVE = ("CASE_INSENSITIVE", "CASE_INSENSITIVE_ASCII")


def searching(name: str, body: Callable[[Call, str, str], str], sensitive: CatalystForms = ()) -> tuple[Row, ...]:
    """Return the rows of a function that searches for its second argument in the first: both are folded for the body.

    ``sensitive`` are the equivalent Catalyst expressions for case-sensitive search.
    """

    def folded(folding: str) -> Callable[[Call], str]:
        return lambda call: body(call, folding.format(call.sql(0)), folding.format(call.sql(1)))

    return tuple(
        row(name, folded(folding), case_sensitivity=case, catalyst=sensitive if case == "CASE_SENSITIVE" else ())
        for case, folding in _FOLDINGS.items()
    )


def count_substring(call: Call, text: str, part: str) -> str:
    known = call.operands[1].literal
    gaps = f"char_length({text}) + 1L"
    removed = f"(char_length({text}) - char_length(replace({text}, {part}, '')))"
    if known is None:
        return Atom(f"if({part} = '', {gaps}, {removed} div greatest(char_length({part}), 1))")
    return f"{removed} div char_length({part})" if known else gaps


def replaced(folding: str) -> Callable[[Call], str]:
    """Return case-insensitive ``replace``: the text between matches is cut out of the original text."""

    def body(call: Call) -> str:
        text, part, replacement = (operand.sql for operand in call.operands)
        between = f"split({folding.format(text)}, {quoted_pattern(folding.format(part))}, -1)"
        # a null replacement makes the start a null, and so the result; `next` is where the next piece starts
        start = f"named_struct('done', left({replacement}, 0), 'next', 1)"
        piece = f"substring({text}, a.next, char_length(p))"
        done = f"concat(a.done, if(a.next = 1, '', {replacement}), {piece})"
        step = f"named_struct('done', {done}, 'next', a.next + char_length(p) + char_length({part}))"
        found = f"aggregate({between}, {start}, (a, p) -> {step}).done"
        if call.operands[1].literal:
            return found
        return Atom(f"if({part} = '', replace({text}, {part}, {replacement}), {found})")

    return body


# like ----------------------------------------------------------------------------------------------------------------


def like(folding: str) -> Callable[[Call], str]:
    """Return ``like``: the specification's has no escape character; Spark's has the backslash, which must be doubled.

    A third argument, which some producers write, is the escape character.
    """

    def body(call: Call) -> str:
        return f"{folding.format(call.sql(0))} LIKE {folding.format(_pattern(call))}"

    return body


def _pattern(call: Call) -> str:
    pattern = call.operands[1].literal
    escape = call.operands[2].literal if len(call.operands) > 2 else ""
    if not isinstance(escape, str) or len(escape) > 1:
        raise UnsupportedPlanError("like with an escape character that is not a literal of one character")
    if isinstance(pattern, str):
        return string_literal(_escaped(pattern, escape))
    if not escape:
        return Atom(rf"replace({call.sql(1)}, '\\', '\\\\')")
    # first add a backslash for each escape character and before each backslash, then remove unneeded ones
    escaped = string_literal(rf"(?s)\Q{escape}\E(.)|(\\|\Q{escape}\E)")
    needless = string_literal(r"(?s)\\([^%_\\])|(\\.)")
    return Atom(rf"regexp_replace(regexp_replace({call.sql(1)}, {escaped}, '\\\\$1$2'), {needless}, '$1$2')")


def _escaped(pattern: str, escape: str) -> str:
    """A pattern with Spark's escape character in place of ``escape`` (empty: none)."""
    parts = []
    characters = iter(pattern)
    for character in characters:
        if escape and character == escape:
            following = next(characters, escape)
            parts.append(f"\\{following}" if following in "%_\\" else following)
        else:
            parts.append("\\\\" if character == "\\" else character)
    return "".join(parts)


ROWS: tuple[Row, ...] = (
    *(row("like", like(folding), case_sensitivity=case) for case, folding in _FOLDINGS.items()),
    *searching("starts_with", lambda _, text, part: Atom(f"startswith({text}, {part})"), "StartsWith"),
    *searching("ends_with", lambda _, text, part: Atom(f"endswith({text}, {part})"), "EndsWith"),
    *searching("contains", lambda _, text, part: Atom(f"contains({text}, {part})"), "Contains"),
    *searching(
        "strpos",
        lambda _, text, part: Atom(f"CAST(instr({text}, {part}) AS BIGINT)"),
        catalyst("StringInstr", returns=I32()),
    ),
    *searching("count_substring", count_substring),
    row("replace", fitted("replace({}, {}, {})"), case_sensitivity="CASE_SENSITIVE", catalyst="StringReplace"),
    *(row("replace", fitted(replaced(_FOLDINGS[case])), case_sensitivity=case) for case in _INSENSITIVE),
)

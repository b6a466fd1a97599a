"""Functions of strings (``functions_string.yaml``), those without regular expressions.

Characters are Unicode code points. Case is ignored by comparing lower-case forms, character by character, so that
positions stay what they are; CASE_INSENSITIVE_ASCII folds A to Z only.
"""

from __future__ import annotations

import string
from collections.abc import Callable
from dataclasses import replace

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.sparksql.compiler.literals import string_literal
from pyspark_substrait.sparksql.functions.fragments import as_int, raised
from pyspark_substrait.sparksql.functions.ordering import in_order
from pyspark_substrait.sparksql.functions.table import Call, Row, Table, row

__all__ = ["TABLE"]

_UPPER, _LOWER = string.ascii_uppercase, string.ascii_lowercase
#: how each case sensitivity sees a string
_FOLDINGS = {
    "CASE_SENSITIVE": "{}",
    # two letters stand out: the Turkish dotted I becomes two characters, and a sigma at the end of a word is another
    "CASE_INSENSITIVE": "translate(lower(translate({}, 'İ', 'i')), 'ς', 'σ')",
    "CASE_INSENSITIVE_ASCII": f"translate({{}}, '{_UPPER}', '{_LOWER}')",
}


def searching(name: str, body: Callable[[str, str], str]) -> tuple[Row, ...]:
    """The rows of a function that looks for its second argument in the first, by case sensitivity."""

    def folded(folding: str) -> Callable[[Call], str]:
        return lambda call: body(folding.format(call.sql(0)), folding.format(call.sql(1)))

    return tuple(row(name, folded(folding), case_sensitivity=case) for case, folding in _FOLDINGS.items())


# like ----------------------------------------------------------------------------------------------------------------


def like(folding: str) -> Callable[[Call], str]:
    """The specification's ``like`` has no escape character; Spark's has the backslash, which must be doubled.

    A third argument, which some producers write, is the escape character.
    """

    def body(call: Call) -> str:
        return f"{folding.format(call.sql(0))} LIKE {folding.format(_pattern(call))}"

    return body


def _pattern(call: Call) -> str:
    pattern = call.operands[1].literal
    escape = call.operands[2].literal if len(call.operands) > 2 else ""
    if not isinstance(escape, str) or len(escape) > 1:
        raise UnsupportedPlanError("like with an escape character that isn't a literal of one character")
    if isinstance(pattern, str):
        return string_literal(_escaped(pattern, escape))
    if escape:
        raise UnsupportedPlanError("like with an escape character and a pattern that isn't a literal")
    return rf"replace({call.sql(1)}, '\\', '\\\\')"


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


# parts of strings ----------------------------------------------------------------------------------------------------


def substring(call: Call) -> str:
    return f"substring({', '.join(operand.sql for operand in call.operands)})"


def substring_or_error(call: Call) -> str:
    return f"if({call.sql(1)} < 0, {raised(call, 'start is negative')}, {substring(call)})"


def substring_from_the_left(call: Call) -> str:
    text, start = call.sql(0), call.sql(1)
    if len(call.operands) == 2:
        return f"substring({text}, greatest({start}, 1))"
    # the characters in front of the string count, but there are none
    length = f"{start} - 1 + greatest({call.sql(2)}, 0)"
    return f"if({start} < 1, substring({text}, 1, {length}), substring({text}, {start}, {call.sql(2)}))"


def replace_slice(call: Call) -> str:
    text, start, length, replacement = (operand.sql for operand in call.operands)
    outside = f"{start} < 1 OR {start} > char_length({text}) OR {length} < 0"
    # a deletion may reach beyond the end, further than an INT can say
    cut = f"CAST(least({length}, 2147483647L) AS INT)"
    return (
        f"CASE WHEN {outside} THEN NULL "
        f"ELSE overlay({text} PLACING {replacement} FROM CAST({start} AS INT) FOR {cut}) END"
    )


def split(call: Call) -> str:
    separator = call.operands[1].literal
    if not isinstance(separator, str) or not separator:
        raise UnsupportedPlanError("string_split by anything but a literal that isn't empty has no Spark form yet")
    quoted = "".join(f"\\{character}" if character in _REGULAR else character for character in separator)
    return f"split({call.sql(0)}, {string_literal(quoted)}, -1)"


_REGULAR = frozenset(r"\^$.|?*+()[]{}-&#~")


# making strings ------------------------------------------------------------------------------------------------------


def _listed(call: Call) -> str:
    return ", ".join(operand.sql for operand in call.operands)


def concat(call: Call) -> str:
    return f"concat({_listed(call)})"


def concat_known(call: Call) -> str:
    known = [f"coalesce({operand.sql}, '')" for operand in call.operands]
    return f"concat({', '.join(known)})"


def concat_ws(call: Call) -> str:
    return f"concat_ws({_listed(call)})"


def repeat(call: Call) -> str:
    return f"repeat({call.sql(0)}, {as_int(call, 1)})"


def trimmed(side: str) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        characters = call.sql(1) if len(call.operands) > 1 else "' '"
        return f"trim({side} {characters} FROM {call.sql(0)})"

    return body


def padded(name: str) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        characters = call.sql(2) if len(call.operands) > 2 else "' '"
        return f"{name}({call.sql(0)}, {call.sql(1)}, {characters})"

    return body


def centered(extra: str) -> Callable[[Call], str]:
    """``extra``: the number of characters added to the length before its half goes to the left side."""

    def body(call: Call) -> str:
        text, length, character = (operand.sql for operand in call.operands)
        found = f"char_length({text})"
        left = f"CAST(({length} - {found} + {extra}) div 2 AS INT) + {found}"
        padded_left = f"lpad({text}, {left}, {character})"
        return f"if({length} <= {found}, {text}, rpad({padded_left}, {length}, {character}))"

    return body


def capitalize(upper: str) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        first = upper.format(f"left({call.sql(0)}, 1)")
        return f"concat({first}, substring({call.sql(0)}, 2))"

    return body


_ASCII_UPPER = f"translate({{}}, '{_LOWER}', '{_UPPER}')"
_ASCII_LOWER = f"translate({{}}, '{_UPPER}', '{_LOWER}')"


def applied(template: str) -> Callable[[Call], str]:
    return lambda call: template.format(call.sql(0))


def string_agg(call: Call) -> str:
    """The strings that aren't null, in the order of the sorts; null if there are none, or empty if it can't be null."""
    separator = call.operands[1]
    if not isinstance(separator.literal, str):
        raise InvalidPlanError("the separator must be a literal that isn't null", path="arguments[1]")
    text = f"array_join({in_order(call, call.sql(0))}, {separator.sql})"
    if not call.output.nullable:
        return text
    return f"if({replace(call, distinct=False).aggregate('count', call.sql(0))} = 0L, NULL, {text})"


TABLE = Table(
    "extension:io.substrait:functions_string",
    (
        row("concat", concat, null_handling="ACCEPT_NULLS"),
        row("concat", concat_known, null_handling="IGNORE_NULLS"),
        *(row("like", like(folding), case_sensitivity=case) for case, folding in _FOLDINGS.items()),
        row("substring", substring, negative_start="WRAP_FROM_END"),
        row("substring", substring_from_the_left, negative_start="LEFT_OF_BEGINNING"),
        row("substring", substring_or_error, negative_start="ERROR"),
        *searching("starts_with", lambda text, part: f"startswith({text}, {part})"),
        *searching("ends_with", lambda text, part: f"endswith({text}, {part})"),
        *searching("contains", lambda text, part: f"contains({text}, {part})"),
        *searching("strpos", lambda text, part: f"CAST(instr({text}, {part}) AS BIGINT)"),
        *searching(
            "count_substring",
            lambda text, part: (
                f"(char_length({text}) - char_length(replace({text}, {part}, ''))) div char_length({part})"
            ),
        ),
        row("replace", "replace({input}, {substring}, {replacement})", case_sensitivity="CASE_SENSITIVE"),
        row("concat_ws", concat_ws),
        row("repeat", repeat),
        row("reverse", "reverse({input})"),
        row("replace_slice", replace_slice),
        row("lower", "lower({input})", char_set="UTF8"),
        row("lower", applied(_ASCII_LOWER), char_set="ASCII_ONLY"),
        row("upper", "upper({input})", char_set="UTF8"),
        row("upper", applied(_ASCII_UPPER), char_set="ASCII_ONLY"),
        row("capitalize", capitalize("upper({})"), char_set="UTF8"),
        row("capitalize", capitalize(_ASCII_UPPER), char_set="ASCII_ONLY"),
        row("char_length", "CAST(char_length({input}) AS BIGINT)"),
        row("bit_length", "CAST(bit_length({input}) AS BIGINT)"),
        row("octet_length", "CAST(octet_length({input}) AS BIGINT)"),
        row("ltrim", trimmed("LEADING")),
        row("rtrim", trimmed("TRAILING")),
        row("trim", trimmed("BOTH")),
        row("lpad", padded("lpad")),
        row("rpad", padded("rpad")),
        row("center", centered("0"), padding="RIGHT"),
        row("center", centered("1"), padding="LEFT"),
        row("left", "left({input}, {count})"),
        row("right", "right({input}, {count})"),
        row("string_split", split),
        row("string_agg", string_agg),
    ),
)

"""Functions of strings (``functions_string.yaml``), except those with regular expressions.

Characters are Unicode code points. Functions that look for a string in another are in ``strings.search``, upper and
lower case in ``strings.case``. A result that doesn't fit into its varchar fails (``fitted``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.types import I32
from pyspark_substrait.sql.fragment import UNKNOWN, Atom
from pyspark_substrait.sql.functions import regexp
from pyspark_substrait.sql.functions.catalyst import catalyst
from pyspark_substrait.sql.functions.common_expressions import as_int, raised
from pyspark_substrait.sql.functions.ordering import in_order
from pyspark_substrait.sql.functions.sizes import bounded_length, bounded_times
from pyspark_substrait.sql.functions.strings import case as string_case
from pyspark_substrait.sql.functions.strings import search as string_search
from pyspark_substrait.sql.functions.strings.string_expressions import fitted, quoted_pattern
from pyspark_substrait.sql.functions.table import Call, Table, row
from pyspark_substrait.sql.spark_version import SparkVersion

__all__ = ["TABLE", "string_agg"]

#: the smallest start of a substring
_SMALLEST = -(2**31)

# parts of strings ----------------------------------------------------------------------------------------------------


def _listed(call: Call) -> str:
    return ", ".join(operand.sql for operand in call.operands)


def substring(call: Call) -> str:
    """Return a substring. A start of 0 equals 1, and a negative length gives an empty string. A negative start may be
    left of the first character, where there are none: of 'abc', three characters from -5 on are 'a'.
    """
    text, start = Atom(f"substring({_listed(call)})"), call.operands[1]
    if len(call.operands) == 2 and start.literal in (None, _SMALLEST):
        # without a length, Spark takes 2**31 - 1 characters: too few for the smallest start
        return Atom(f"if({start.sql} = {_SMALLEST}, {call.sql(0)}, {text})")
    return text


def substring_or_error(call: Call) -> str:
    """Return a substring from 1 on; a start below that is an error, unless a null makes the result null."""
    text = f"substring({_listed(call)})"
    return Atom(f"if({call.sql(1)} < 1 AND {text} IS NOT NULL, {raised(call, 'start is less than 1')}, {text})")


def substring_from_the_left(call: Call) -> str:
    """Return a substring; positions before the string count, though there are no characters."""
    text, start = call.sql(0), call.sql(1)
    if len(call.operands) == 2:
        return Atom(f"if({start} < 1, {text}, substring({text}, {start}))")
    length = call.sql(2)
    shorter = f"if({length} < 1, 0, {length} - 1 + {start})"
    return Atom(f"if({start} < 1, substring({text}, 1, {shorter}), substring({text}, {start}, {length}))")


def replace_slice(call: Call) -> str:
    text, start, length, replacement = (operand.sql for operand in call.operands)
    outside = f"{start} < 1 OR {start} > char_length({text}) OR {length} < 0"
    # a deletion may extend beyond the end, further than an INT can hold
    cut = f"CAST(if({length} > char_length({text}), char_length({text}), {length}) AS INT)"
    return (
        f"CASE WHEN {outside} THEN NULL "
        f"ELSE overlay({text} PLACING {replacement} FROM CAST({start} AS INT) FOR {cut}) END"
    )


def split(call: Call) -> str:
    """Split a string; the empty separator splits between all characters, a null separator is never found."""
    text, separator = call.sql(0), call.operands[1]
    if separator.literal:
        pattern = quoted_pattern(separator.sql, separator.literal)
    else:
        pattern = (
            f"CASE WHEN {separator.sql} IS NULL THEN '(?!)' "
            f"WHEN {separator.sql} = '' THEN '' ELSE {quoted_pattern(separator.sql)} END"
        )
    return Atom(f"split({text}, {pattern}, -1)")


# making strings ------------------------------------------------------------------------------------------------------


def concat(call: Call) -> str:
    return Atom(f"concat({_listed(call)})")


def concat_known(call: Call) -> str:
    known = [f"coalesce({operand.sql}, '')" for operand in call.operands]
    return Atom(f"concat({', '.join(known)})")


def concat_ws(call: Call) -> str:
    """Concatenate strings; nulls are left out, with their separator; a null separator makes the result null."""
    return Atom(f"concat_ws({_listed(call)})")


def repeat(call: Call) -> str:
    """Repeat a string; a count below 0 gives an empty string. A count beyond an INT fails, except for an empty string.

    A result that would be too large fails as well (:mod:`~pyspark_substrait.sql.functions.sizes`).
    """
    text, count, known = call.sql(0), call.sql(1), call.operands[1].literal
    if not isinstance(known, int) or not 0 <= known < 1 << 31:
        nothing = f"{count} < 0 OR {count} > 0 AND {text} = ''"
        times = f"CAST(if({nothing}, 0, {count}) AS INT)"
        return Atom(f"repeat({text}, {bounded_times(call, text, times, count)})")
    return Atom(f"repeat({text}, {bounded_times(call, text, as_int(call, 1), count)})")


def trimmed(side: str) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        characters = call.sql(1) if len(call.operands) > 1 else "' '"
        return Atom(f"trim({side} {characters} FROM {call.sql(0)})")

    return body


#: the first version of Spark that pads to any length below zero; one before it subtracts from the smallest
_PADDING_SINCE: Final = SparkVersion(4, 0)


def padded(name: str) -> Callable[[Call], str]:
    """``lpad`` or ``rpad``: both cut excess characters from the right; the empty string pads nothing."""

    def body(call: Call) -> str:
        characters = call.sql(2) if len(call.operands) > 2 else "' '"
        length = bounded_length(call, 1)
        if call.spark < _PADDING_SINCE:
            length = f"if({call.sql(1)} < 0, 0, {length})"
        return Atom(f"{name}({call.sql(0)}, {length}, {characters})")

    return body


def centered(extra: int) -> Callable[[Call], str]:
    """Center a string; ``extra`` is added to the number of missing characters before half of them go to the left."""

    def body(call: Call) -> str:
        text, length, character = call.sql(0), bounded_length(call, 1), call.sql(2)
        found = f"char_length({text})"
        left = f"lpad({text}, CAST(({length} + {found} + {extra}) div 2 AS INT), {character})"
        # padded to its own length, so that a null character makes the result null
        whole = f"rpad({text}, {found}, {character})"
        return Atom(f"if({length} <= {found}, {whole}, rpad({left}, {length}, {character}))")

    return body


def string_agg(call: Call) -> str:
    """Concatenate the non-null strings in the order of the sorts; of none, null or, if the type is required, ''.

    The extension requires a constant separator. A null separator makes the result null.
    """
    separator = call.operands[1]
    if separator.sql.value is UNKNOWN:
        raise InvalidPlanError("the separator must be a literal", path="arguments[1]")
    text = f"array_join({in_order(call, call.sql(0))}, {separator.sql})"
    if not call.output.nullable:
        return text
    return Atom(f"if({replace(call, distinct=False).aggregate('count', call.sql(0))} = 0L, NULL, {text})")


TABLE = Table(
    "extension:io.substrait:functions_string",
    (
        *string_search.ROWS,
        *string_case.ROWS,
        row("concat", fitted(concat), null_handling="ACCEPT_NULLS", catalyst="Concat"),
        row("concat", fitted(concat_known), null_handling="IGNORE_NULLS"),
        row("concat_ws", fitted(concat_ws), catalyst="ConcatWs"),
        row("repeat", fitted(repeat)),
        row("reverse", "reverse({input})", catalyst="Reverse"),
        row("substring", substring, negative_start="WRAP_FROM_END", catalyst="Substring"),
        row("substring", substring_from_the_left, negative_start="LEFT_OF_BEGINNING"),
        row("substring", substring_or_error, negative_start="ERROR"),
        row("replace_slice", fitted(replace_slice)),
        # no characters for a count below 0
        row("left", "left({input}, {count})", catalyst="Left"),
        row("right", "right({input}, {count})", catalyst="Right"),
        row("string_split", split),
        row("char_length", "CAST(char_length({input}) AS BIGINT)", catalyst=catalyst("Length", returns=I32())),
        row("bit_length", "CAST(bit_length({input}) AS BIGINT)", catalyst=catalyst("BitLength", returns=I32())),
        row("octet_length", "CAST(octet_length({input}) AS BIGINT)", catalyst=catalyst("OctetLength", returns=I32())),
        row("ltrim", trimmed("LEADING"), catalyst="StringTrimLeft"),
        row("rtrim", trimmed("TRAILING"), catalyst="StringTrimRight"),
        row("trim", trimmed("BOTH"), catalyst="StringTrim"),
        row("lpad", fitted(padded("lpad")), catalyst="StringLPad"),
        row("rpad", fitted(padded("rpad")), catalyst="StringRPad"),
        row("center", fitted(centered(0)), padding="RIGHT"),
        row("center", fitted(centered(1)), padding="LEFT"),
        row("string_agg", string_agg),
        *regexp.ROWS,
    ),
)

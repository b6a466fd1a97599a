"""The texts of string functions: what they are in the plain cases, and what they refuse.

Their values are tested by the cases in ``tests/conformance``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.expressions import Function
from pyspark_substrait.model.types import I32, I64, Boolean, FixedChar, String, Type, VarChar
from pyspark_substrait.sql import functions
from pyspark_substrait.sql.fragment import Constant, Name
from pyspark_substrait.sql.functions.table import Call, Operand

URN = "extension:io.substrait:functions_string"
TEXT = String()


def text(key: str, output: Type, *operands: Operand, options: Mapping[str, str] | None = None) -> str:
    """The text of a call."""
    definition, table = Registry.default().function(URN, key), functions.table(URN)
    assert definition is not None and table is not None
    names = [argument.name for argument in definition.arguments]
    call = Call(
        function=Function(URN, definition.name, key.partition(":")[2]),
        operands=operands,
        names=tuple(names) + tuple(names[-1:] * (len(operands) - len(names))),
        output=output,
    )
    return table.text(call, [(name, (value,)) for name, value in (options or {}).items()])


def column(name: str, type: Type = TEXT) -> Operand:
    return Operand(Name(name), type)


def known(value: str) -> Operand:
    return Operand(Constant(f"'{value}'", value), TEXT)


@pytest.mark.parametrize(
    ("key", "operands", "expected"),
    [
        ("upper:str", [column("a")], "upper(a)"),
        ("lower:str", [column("a")], "lower(a)"),
        ("concat:str", [column("a"), column("b")], "concat(a, b)"),
        ("concat_ws:str_str", [column("a"), column("b"), column("c")], "concat_ws(a, b, c)"),
        ("replace:str_str_str", [column("a"), column("b"), column("c")], "replace(a, b, c)"),
        ("contains:str_str", [column("a"), known("x")], "contains(a, 'x')"),
        ("like:str_str", [column("a"), known("x%")], "a LIKE 'x%'"),
        ("substring:str_i32", [column("a"), Operand(Constant("2", 2), I32())], "substring(a, 2)"),
        ("repeat:str_i64", [column("a"), Operand(Constant("1L", 1), I64())], "repeat(a, CAST(1L AS INT))"),
        ("lpad:str_i32_str", [column("a"), Operand(Constant("9", 9), I32()), known("x")], "lpad(a, 9, 'x')"),
        ("trim:str_str", [column("a"), known("x")], "trim(BOTH 'x' FROM a)"),
        ("string_split:str_str", [column("a"), known(",")], "split(a, ',', -1)"),
    ],
)
def test_the_plain_cases_are_native(key: str, operands: list[Operand], expected: str) -> None:
    assert text(key, TEXT, *operands) == expected


def test_what_may_be_far_larger_than_its_arguments_is_bounded() -> None:
    repeated = text("repeat:str_i64", TEXT, column("a"), Operand(Constant("2L", 2), I64()))
    failure = "CAST(raise_error('repeat: more than 67,108,864 bytes') AS INT)"
    assert repeated == f"repeat(a, if(octet_length(a) > 33554432, {failure}, CAST(2L AS INT)))"
    padded = text("lpad:str_i32_str", TEXT, column("a"), column("b", I32()), known("x"))
    failure = "CAST(raise_error('lpad: more than 67,108,864 characters') AS INT)"
    assert padded == f"lpad(a, if(b > 67108864, {failure}, b), 'x')"


def test_a_type_with_a_length_is_kept_to() -> None:
    short = text("upper:vchar", VarChar(length=3), column("a", VarChar(length=3)))
    assert "raise_error" in short and "left(" in short
    assert "rpad(" in text("upper:fchar", FixedChar(length=3), column("a", FixedChar(length=3)))
    # what can't grow isn't looked at
    assert text("reverse:vchar", VarChar(length=3), column("a", VarChar(length=3))) == "reverse(a)"


def test_the_separator_of_string_agg() -> None:
    for separator in (Constant("','", ","), Constant(r"'\''", "'"), Constant("CAST(NULL AS STRING)", None)):
        assert separator in text("string_agg:str_str", TEXT, column("a"), Operand(separator, TEXT))
    for varying in ("c2", "concat('a', c2)", "'a' || c2 || 'b'"):
        with pytest.raises(InvalidPlanError, match="the separator must be a literal"):
            text("string_agg:str_str", TEXT, column("a"), column(varying))


@pytest.mark.parametrize("escape", ["!", "\\", "%", "$", "Q"])
def test_an_escape_character_and_a_pattern_that_is_a_column(escape: str) -> None:
    """The two replacements, done by Python, give what the function gives for a literal."""
    column_text = text("like:str_str", Boolean(), column("a"), column("b"), known(escape))
    assert column_text.startswith("a LIKE regexp_replace(regexp_replace(b, ")
    for pattern in ("a%_b", f"{escape}%x", f"{escape}{escape}x", f"x{escape}", "\\%", f"{escape}\\", f"{escape}a"):
        once = re.sub(
            rf"(?s){re.escape(escape)}(.)|(\\|{re.escape(escape)})", lambda found: f"\\{found[1] or found[2]}", pattern
        )
        twice = re.sub(r"(?s)\\([^%_\\])|(\\.)", lambda found: found[1] or found[2], once)
        literal = text("like:str_str", Boolean(), column("a"), known(pattern), known(escape))
        assert literal == f"a LIKE {_sql(twice)}"


def _sql(value: str) -> str:
    return "'" + value.replace("\\", "\\\\") + "'"

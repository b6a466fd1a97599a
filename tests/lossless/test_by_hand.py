"""Texts as people write them: what may be left out, and what is said where something is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import pyspark_substrait as ps
from pyspark_substrait.cli import main
from pyspark_substrait.documents import ExtendedExpression, Plan
from pyspark_substrait.model import relations as r
from pyspark_substrait.model import types as t
from pyspark_substrait.model.expressions import ScalarFunction
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.plan import RelRoot

ORDERS = "Read[db.orders(id: i64, price: decimal<10, 2>?, `odd name`: list<struct<x: i32, `y z`: string?>>)]"
COMPARISON = "extension:io.substrait:functions_comparison"


def relation(*lines: str) -> r.Relation:
    """The relation below a root without names to check."""
    document = ps.load("\n".join(["substrait plan 0.108.0", *lines]))
    assert isinstance(document, Plan)
    first = document.relations[0]
    return first.input if isinstance(first, RelRoot) else first


def test_a_small_plan_needs_no_declarations_and_no_types_of_calls() -> None:
    found = relation("Filter[gt($1, 10:decimal<2, 0>) => $1]", f"  {ORDERS}")
    assert isinstance(found, r.Filter)
    assert isinstance(found.condition, ScalarFunction)
    assert (found.condition.function.urn, found.condition.function.key) == (COMPARISON, "gt:any_any")
    assert found.condition.type == t.Boolean(nullable=True)
    assert found.schema.types == (t.Decimal(precision=10, scale=2, nullable=True),)


def test_names_in_a_schema_are_taken_depth_first() -> None:
    found = relation(ORDERS)
    assert isinstance(found, r.Read)
    assert found.base_schema.names == ("id", "price", "odd name", "x", "y z")
    assert found.read_type == r.NamedTable(names=("db", "orders"))


@pytest.mark.parametrize(
    ("text", "type", "value"),
    [
        ("10", t.I64(), 10),
        ("-1.5", t.FP64(), -1.5),
        ("'it\\'s'", t.String(), "it's"),
        ('"text"', t.String(), "text"),
        ("true", t.Boolean(), True),
        ("x'00FF'", t.Binary(), b"\x00\xff"),
        ("'1970-01-02':date", t.Date(), 1),
        ("'1970-01-01 00:00:01.5':precision_timestamp<3>", t.PrecisionTimestamp(precision=3), 1_500),
        ("'1969-12-31T23:59:59Z':precision_timestamp_tz<0>", t.PrecisionTimestampTZ(precision=0), -1),
        ("7:i8?", t.I8(nullable=True), 7),
        ("'ab':varchar<5>?", t.VarChar(length=5, nullable=True), "ab"),
        ("'ab':varchar?<5>", t.VarChar(length=5, nullable=True), "ab"),
        ("null:decimal<5, 2>?", t.Decimal(precision=5, scale=2, nullable=True), None),
    ],
)
def test_literals(text: str, type: t.Type, value: object) -> None:
    found = relation(f"Project[{text}]", f"  {ORDERS}")
    assert isinstance(found, r.Project)
    (literal,) = found.expressions
    assert isinstance(literal, Literal)
    assert (literal.type, literal.value) == (type, value)


def test_lines_may_be_broken_between_brackets_and_have_comments() -> None:
    broken = relation(
        "-- first", "Filter[ -- a condition", "  gt(", "", "$0,", "1)", "]  -- ends", f"  {ORDERS}", "", "--"
    )
    assert broken == relation("Filter[gt($0, 1)]", f"  {ORDERS}")


def test_windows_line_ends_and_a_byte_order_mark_are_read() -> None:
    text = f"substrait plan 0.108.0\n\nFilter[gt($0, 1)]\n  {ORDERS}\n"
    assert ps.load(("\ufeff" + text.replace("\n", "\r\n")).encode()) == ps.load(text)


def test_functions_of_one_name_get_another_in_the_text() -> None:
    head = ["substrait plan 0.108.0", 'extension "extension:org.example:one"', "  functions same:i64"]
    head += ['extension "extension:org.example:two"', "  functions same:i64 as same_2"]
    body = ["Root[a, b]", "  Project[same:i64($0) -> i64, same_2($0) -> i64 => $1, $2]", "    Read[t(a: i64)]"]
    document = ps.load("\n".join([*head, *body]))
    root: Any = document.relations[0]
    project = root.input
    assert [call.function.urn for call in project.expressions] == [
        "extension:org.example:one",
        "extension:org.example:two",
    ]
    assert "same_2($0) -> i64" in document.to_text()


def test_extended_expressions_have_a_first_line_of_their_own() -> None:
    document = ps.load(
        "substrait expressions\nSchema[a: i64]\nExpression[add($0, 1), names: [b]]\nMeasure[sum($0), names: [total]]"
    )
    assert isinstance(document, ExtendedExpression)
    assert [each.output_names for each in document.referred_expr] == [("b",), ("total",)]


def test_a_text_is_taken_wherever_a_plan_is(tmp_path: Path) -> None:
    text = f"substrait plan 0.108.0\n\nRoot[id]\n  Filter[gt($0, 1) => $0]\n    {ORDERS}\n"
    file = tmp_path / "plan.substrait"
    file.write_text(text)
    assert ps.load(text) == ps.load(text.encode()) == ps.load(file) == ps.load(str(file))
    assert not [found for found in ps.validate(text) if found.level.value == "error"]
    assert ps.explain(file) == ps.explain(text)


def test_documents_are_saved_by_suffix_and_converted(tmp_path: Path) -> None:
    document = ps.load(f"substrait plan 0.108.0\n\nRoot[id]\n  Filter[gt($0, 1) => $0]\n    {ORDERS}\n")
    for name in ("plan.substrait", "plan.txt"):
        document.save(tmp_path / name)
        assert (tmp_path / name).read_text() == document.to_text()
    document.save(tmp_path / "plan.pb")
    runner = CliRunner()
    shown = runner.invoke(main, ["explain", "--full", str(tmp_path / "plan.pb")])
    assert shown.stdout == document.to_text()
    converted = runner.invoke(main, ["convert", str(tmp_path / "plan.txt"), str(tmp_path / "plan.json")])
    assert converted.exit_code == 0
    assert ps.load(tmp_path / "plan.json").to_text() == document.to_text()
    printed = runner.invoke(main, ["convert", str(tmp_path / "plan.json"), "-", "--to", "text"])
    assert printed.stdout == document.to_text()


TABLE = "    Read[t(a: boolean)]"
FAULTS = {
    "an unknown relation": (["Filtr[$0]", TABLE], "line 3, column 3: there is no relation Filtr; did you mean Filter?"),
    "an open bracket": (["Filter[$0", TABLE], "line 4, column 9: `[` cannot stand here; expected `,`, `=>` or `]`"),
    "a missing type": (["Filter[$0 -> ]", TABLE], "line 3, column 13: `->` cannot stand here"),
    "an unknown type": (
        ["Filter[$0]", "    Read[t(a: boolea)]"],
        "boolea is not a type; one of a user is written u!boolea",
    ),
    "bad indentation": (["Filter[$0]", TABLE, "   Read[t(a: boolean)]"], "line 5, column 4: the line is indented"),
    "a missing block": (["Filter[exists(#1)]", TABLE], "line 3, column 3: the block #1 is missing below the line"),
    "a block without use": (["Filter[$0]", "    #1:", "      Read[t()]", TABLE], "in the line above refers to #1"),
    "no date": (["Filter['2020-13-01':date]", TABLE], "'2020-13-01' is not a date like 2020-12-31"),
    "an open text": (["Filter['abc]", TABLE], "line 3, column 10: what starts with ' is not closed in its line"),
    "a bad type": (["Filter[1:decimal<3>]", TABLE], "decimal is written like decimal<38, 2>"),
    "a bad cast": (["Filter[cast($0, i64)]", TABLE], "a cast is written cast($0 as i64?)"),
    "two conditions": (["Filter[$0, $0]", TABLE], "Filter[…] takes one condition, there are 2"),
    "too many inputs": (["Filter[$0]", TABLE, TABLE], "below Filter stands one relation, not 2"),
    "no sort direction": (["Sort[$0]", TABLE], "a sort key states its direction: $0 asc_nulls_last"),
    "no escape": (["Filter['\\q']", TABLE], "\\q is an unknown escape; a backslash is written as \\\\"),
    "a root below": (["Root[a]", TABLE], "Root stands at the top, not below another line"),
    "an early end": (["Filter[gt($0,"], "line 3, column 16: the text ends too early; expected"),
    "a text of another length": (["Filter['ab':fixedchar<3>]", TABLE], "the text has 2 characters, its type 3"),
    "a number out of range": (["Filter[300:i8]", TABLE], "300"),
    "a misspelt field": (
        ["Filter[condtion: $0]", TABLE],
        "'condtion' is not a field of FilterRel. Did you mean 'condition'",
    ),
    "a misspelt value": (["Join[iner, $0]", TABLE, TABLE], "Did you mean 'JOIN_TYPE_INNER'?"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_say_where_and_what_to_do(name: str) -> None:
    (first, *rest), said = FAULTS[name]
    text = "\n".join(["substrait plan", "Root[a]", f"  {first}", *rest])
    with pytest.raises(ps.SubstraitError) as caught:
        ps.load(text)
    assert said in str(caught.value)
    assert "lark" not in str(caught.value).lower()


@pytest.mark.parametrize("at", [0, 1], ids=["extension", "functions"])
def test_a_relation_below_a_declaration_is_refused(at: int) -> None:
    lines = ['extension "extension:io.substrait:functions_comparison"', "  functions gt"]
    indented = "  " * (at + 1) + "Read[t(a: i64)]"
    text = "\n".join(["substrait plan", *lines[: at + 1], indented, "Read[t(a: i64)]"])
    with pytest.raises(
        ps.SubstraitError, match=rf"line {at + 3}, column {2 * at + 3}: only what an extension declares"
    ):
        ps.load(text)


@pytest.mark.parametrize(
    "text",
    [
        "Root[a]\n  Filter[" + "(" * 50_000,
        "Root[a]\n  Filter[" + "f(" * 30_000 + ")" * 30_000 + "]\n    Read[t(a: boolean)]",
        "Root[a]\n  Read[t(a: " + "list<" * 30_000 + "i64" + ">" * 30_000 + ")]",
        "Plan[x: " + "[" * 50_000 + "]" * 50_000 + "]",
        "Plan[x: " + "{y: " * 50_000 + "}" * 50_000 + "]",
        "Parameter[1, " + "9" * 10_000 + "]",
        "Parameter[1, 1e999999999:decimal<38, 0>]",
    ],
    ids=["parentheses", "calls", "types", "lists", "messages", "digits", "exponent"],
)
def test_hostile_texts_are_refused_cleanly(text: str) -> None:
    with pytest.raises(ps.SubstraitError):
        ps.load(f"substrait plan\n{text}\n")


@pytest.mark.parametrize("text", ["substrait", "substrait planet", "a substrait plan", "{}"])
def test_other_texts_are_not_taken_for_this_form(text: str) -> None:
    with pytest.raises(ps.PlanFormatError, match=r"there is no file|the JSON object is empty"):
        ps.load(text)

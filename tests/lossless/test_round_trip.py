"""What ``to_text`` writes, ``load`` reads back: the same document, and the same bytes."""

from __future__ import annotations

import math
import struct
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pyspark_substrait as ps
from pyspark_substrait.builder import lit, read, switch
from pyspark_substrait.documents import ExtendedExpression, Plan, as_document
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model import types as t
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.types import NamedStruct, Struct
from pyspark_substrait.proto.fields import message_fields
from pyspark_substrait.text import lossless
from tests.samples import EXPRESSIONS, EXTENDED_EXPRESSIONS, PLANS, RELATIONS, TYPES
from tests.samples.plans import plan, rooted

SHARED = Path(__file__).resolve().parents[3] / "shared" / "plans"
SHARED_PLANS = sorted(
    path for path in SHARED.rglob("*") if path.suffix in (".json", ".pb") and path.name != "queries.json"
)
BOOLEAN = "extension:io.substrait:functions_boolean"
NOT_OF_THE_PLAN = {"upgrades", "notes", "original_version", "deep", "removed_fields"}


def assert_kept(document: Plan | ExtendedExpression) -> None:
    """The document is the same after it was written as text and read again."""
    text = document.to_text()
    again = ps.load(text)
    for name in document.__dataclass_fields__:
        if name not in NOT_OF_THE_PLAN:
            assert getattr(again, name) == getattr(document, name), text
    assert again.to_bytes() == document.to_bytes(), text
    assert again.to_text() == text


@pytest.mark.parametrize("name", PLANS)
def test_every_sample_plan_is_kept(name: str) -> None:
    assert_kept(ps.load(as_document(PLANS[name], deep=False).to_bytes()))


@pytest.mark.parametrize("name", EXTENDED_EXPRESSIONS)
def test_every_sample_of_extended_expressions_is_kept(name: str) -> None:
    assert_kept(ps.load(as_document(EXTENDED_EXPRESSIONS[name], deep=False).to_bytes()))


@pytest.mark.skipif(not SHARED_PLANS, reason="the shared plans are not there")
@pytest.mark.parametrize("path", SHARED_PLANS, ids=lambda path: str(path.relative_to(SHARED)))
def test_every_shared_plan_is_kept(path: Path) -> None:
    assert_kept(ps.load(path))


def of_literal(literal: Literal) -> Plan:
    read = r.Read(
        base_schema=NamedStruct(names=("a",), struct=Struct(types=(t.I32(),))), read_type=r.NamedTable(names=("t",))
    )
    document = as_document(plan(rooted(r.Project(input=read, expressions=(literal,)))), deep=False)
    assert isinstance(document, Plan)
    return document


EXTREMES = {
    "i8": (t.I8(), (-128, 127)),
    "i16": (t.I16(), (-(2**15), 2**15 - 1)),
    "i32": (t.I32(), (-(2**31), 2**31 - 1)),
    "i64": (t.I64(), (-(2**63), 2**63 - 1)),
    "date": (t.Date(), (-719_162, 2_932_896)),
    "decimal": (
        t.Decimal(precision=38, scale=10),
        tuple(map(Decimal, ("9999999999999999999999999999.9999999999", "-1E-10", "0E-10", "-1.0000000000"))),
    ),
    "precision_time": (t.PrecisionTime(precision=9), (0, 86_400 * 10**9 - 1)),
    "precision_timestamp": (t.PrecisionTimestamp(precision=6), (-62_135_596_800_000_000, 253_402_300_799_999_999, -1)),
    "precision_timestamp_tz": (t.PrecisionTimestampTZ(precision=12), (-(2**63), 2**63 - 1, 0, -1)),
    "string": (t.String(), ("", "'", "\\", "\n\r\t", "\x00\x7f\u2028\ufeff", "--", "😀", "\\n", "`x`")),
    "varchar": (t.VarChar(length=3), ("", "a'b")),
    "binary": (t.Binary(), (b"", bytes(range(256)))),
}


@pytest.mark.parametrize(
    ("type", "value"), [pytest.param(type, v, id=f"{n} {v!r}"[:40]) for n, (type, vs) in EXTREMES.items() for v in vs]
)
def test_extreme_literals_are_kept(type: t.Type, value: object) -> None:
    document = of_literal(Literal(type=type, value=value))  # type: ignore[arg-type]
    assert ps.load(document.to_text()).to_bytes() == document.to_bytes()


@pytest.mark.parametrize("bits", ["7ff8000000000000", "7ff8000000000001", "fff8000000000123", "8000000000000000", "1"])
def test_each_bit_of_a_floating_point_number_is_kept(bits: str) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(bits.rjust(16, "0")))
    document = of_literal(Literal(type=t.FP64(), value=number))
    message: Any = document.to_message()
    message.relations[0].root.input.project.expressions[0].literal.fp64 = number
    fields = message_fields(message)
    again = lossless.parse(lossless.write(fields, is_plan=True))
    (found,) = again["relations"][0]["root"]["input"]["project"]["expressions"]
    assert struct.pack(">d", found["literal"]["fp64"]) == struct.pack(">d", number)


@given(st.floats(width=32))
@settings(max_examples=200, deadline=None)
def test_single_precision_numbers_are_kept(number: float) -> None:
    document = of_literal(Literal(type=t.FP32(), value=number))
    again = ps.load(document.to_text())
    assert again.to_bytes() == document.to_bytes()
    root: Any = again.relations[0]
    found = root.input.expressions[0].value
    assert found == number or (math.isnan(found) and math.isnan(number))


@given(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8")))
@settings(max_examples=200, deadline=None)
def test_any_name_and_any_text_is_kept(name: str, text: str) -> None:
    schema = NamedStruct(names=(name,), struct=Struct(types=(t.String(),)))
    read = r.Read(base_schema=schema, read_type=r.NamedTable(names=(text, name)))
    project = r.Project(input=read, expressions=(Literal(type=t.String(), value=text),))
    document = as_document(plan(RelRoot(input=project, names=(text, name))), deep=False)
    assert_kept(ps.load(document.to_bytes()))


CHAINED = st.recursive(
    st.sampled_from([EXPRESSIONS[name] for name in ("reference", "literal i32", "scalar function", "cast", "if then")]),
    lambda inner: (
        st.builds(lambda a, b: e.NestedStruct(fields=(a, b)), inner, inner)
        | st.builds(lambda a: e.Cast(input=a, type=t.String(nullable=True)), inner)
    ),
    max_leaves=20,
)


@pytest.mark.sweep
@given(CHAINED, st.sampled_from([*RELATIONS.values()]))
@settings(max_examples=150, deadline=None)
def test_random_combinations_are_kept(expression: e.Expression, other: r.Relation) -> None:
    from tests.samples.expressions import table

    cross = r.Cross(left=r.Project(input=table(), expressions=(expression,)), right=table("more"))
    document = as_document(plan(rooted(cross), rooted(other)), deep=False)
    try:
        loaded = ps.load(document.to_bytes())
    except ps.SubstraitError:  # not every combination is a valid plan
        return
    assert_kept(loaded)


@pytest.mark.parametrize("name", TYPES)
def test_types_are_in_the_specification_s_syntax(name: str) -> None:
    text = ps.load(as_document(PLANS[f"type {name}"], deep=False).to_bytes()).to_text()
    written = str(TYPES[name])
    if "struct" in name or "user-defined" in name or name in ("alias", "func", "func required", "unbound"):
        return  # written with names, or with what the model doesn't show
    assert f"t(c0: {written}" in text


@pytest.mark.parametrize("depth", [50, 1_000])
def test_deep_plans_are_kept(depth: int) -> None:
    expression = "$0"
    for _ in range(depth):
        expression = f"not:bool({expression}) -> boolean"
    lines = [f"{'  ' * min(at, 30)}{f'({at}) ' if at > 30 else ''}Filter[$0]" for at in range(1, depth)]
    bottom = f"{'  ' * 30}({depth}) Filter[{expression}]\n{'  ' * 30}({depth + 1}) Read[t(a: boolean)]"
    head = (
        'substrait plan 0.108.0\nextension "extension:io.substrait:functions_boolean"\n  functions not:bool\nRoot[a]\n'
    )
    loaded = ps.load("\n".join([head, *lines, bottom]))
    assert ps.load(loaded.to_text()).to_bytes() == loaded.to_bytes()


def test_booleans_beside_other_things_are_read_back() -> None:
    frame = read("t", {"a": "i64?", "b": "boolean"}).select(
        cast=lambda t: lit(True).cast("i32"),
        equal=lambda t: t.b == lit(False),
        switch=lambda t: switch(t.a, {1: False}, default=True),
    )
    plan = frame.to_plan()
    assert ps.load(plan.to_text()).to_bytes() == plan.to_bytes()

"""Types as values, and as the specification's text (types/type_parsing)."""

from __future__ import annotations

import math

import pytest

from pyspark_substrait.model import types as t
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import NamedStruct, Type, TypeParameter, TypeVariation


@pytest.mark.parametrize(
    ("type", "text"),
    [
        (t.I8(), "i8"),
        (t.Boolean(nullable=True), "boolean?"),
        (t.Decimal(precision=38, scale=2, nullable=True), "decimal?<38, 2>"),
        (t.List(type=t.String(nullable=True)), "list<string?>"),
        (t.Map(key=t.VarChar(length=3), value=t.FixedBinary(length=2)), "map<varchar<3>, fixedbinary<2>>"),
        (t.Struct(types=()), "struct<>"),
        (t.Func(parameter_types=(t.I32(),), return_type=t.I64(nullable=True)), "func<i32 -> i64?>"),
        (t.Func(parameter_types=(t.I32(), t.I8()), return_type=t.I64(), nullable=True), "func?<(i32, i8) -> i64>"),
        (t.PrecisionTimestampTZ(precision=6), "precision_timestamp_tz<6>"),
        (t.UserDefined(urn="u", name="point", nullable=True), "u!point?"),
        (
            t.UserDefined(
                urn="u",
                name="v",
                type_parameters=(TypeParameter("data_type", t.I8()), TypeParameter("string", "m")),
            ),
            'u!v<i8, "m">',
        ),
        (t.String(variation=TypeVariation("u", "dict")), "string[dict]"),
        (t.AliasedType(type=t.I32(nullable=True)), "i32"),
    ],
)
def test_text(type: Type, text: str) -> None:
    assert str(type) == text


def test_named_structs() -> None:
    """The specification's example, and types/named_structs: only struct fields have names, keys before values."""
    pair = t.Struct(types=(t.FP32(), t.String()))
    schema = NamedStruct(names=("a", "b", "c", "d"), struct=t.Struct(types=(t.I64(), pair)))
    assert t.name_count(schema.struct) == 4
    assert schema.top_level_names() == ("a", "b")
    assert t.name_count(t.Map(key=pair, value=t.List(type=pair))) == 4
    assert t.name_count(t.AliasedType(type=pair)) == 2


def test_same_kind() -> None:
    assert t.same_kind(t.Decimal(precision=3, scale=1), t.Decimal(precision=38, scale=2, nullable=True))
    assert t.same_kind(t.AliasedType(type=t.I8()), t.I8(nullable=True))
    assert not t.same_kind(t.I8(), t.I16())
    assert not t.same_kind(t.UserDefined(urn="u", name="a"), t.UserDefined(urn="u", name="b"))


def test_not_a_number_equals_itself() -> None:
    assert Literal(type=t.FP64(), value=math.nan) == Literal(type=t.FP64(), value=-float("nan"))

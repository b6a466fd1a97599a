"""What Arrow writes in its own way, read as it means it; real bytes of it are in tests/spark/test_peers.py."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import any_pb2, json_format, wrappers_pb2

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model import types as t
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.plan import ExtendedExpression
from pyspark_substrait.proto import messages, read
from tests.proto.messages import ARITHMETIC, REGISTRY, REQUIRED, STRING, Json, call, column

ARROW = "https://github.com/apache/arrow/blob/main/format/substrait/extension_types.yaml"
DEEP: Json = {
    "struct": {
        "types": [STRING, {"list": {"type": {"struct": {"types": [STRING], **REQUIRED}}, **REQUIRED}}],
        **REQUIRED,
    }
}


def load(
    *expressions: tuple[list[str], Json], producer: str = "Acero 22.0.0", type: str = "u8", strict: bool = False
) -> ExtendedExpression:
    content = {
        "version": {"minorNumber": 44, "producer": producer},
        "extensionUrns": [{"extensionUrnAnchor": 1, "urn": ARROW}, {"extensionUrnAnchor": 2, "urn": ARITHMETIC}],
        "extensions": [
            {"extensionType": {"extensionUrnReference": 1, "typeAnchor": 5, "name": type}},
            {"extensionFunction": {"extensionUrnReference": 2, "functionAnchor": 1, "name": "abs"}},
        ],
        "referredExpr": [{"expression": expression, "outputNames": names} for names, expression in expressions],
        "baseSchema": {
            "names": ["u", "s", "x", "l", "y", "f"],
            "struct": {
                "types": [{"userDefined": {"typeReference": 5, **REQUIRED}}, DEEP, {"fp64": REQUIRED}],
                **REQUIRED,
            },
        },
    }
    message = json_format.ParseDict(content, messages.ExtendedExpression())
    return read.extended_expression(message, REGISTRY, strict=strict)


def rules(found: ExtendedExpression) -> list[str]:
    return [note.rule for note in found.notes]


def test_names_from_the_inside_out() -> None:
    written = ["x", "y", "item", "l", "it"]
    found = load((written, column(1)))
    assert found.referred_expr[0].output_names == ("it", "x", "l", "y")
    assert "arrow-names" in rules(found)
    # names in the order of the specification stay as they are, whoever wrote them
    assert load((["it", "x", "l", "y"], column(1))).referred_expr[0].output_names == ("it", "x", "l", "y")
    with pytest.raises(InvalidPlanError, match="there are 5 output names for 4 fields"):
        load((written, column(1)), producer="another")
    with pytest.raises(InvalidPlanError, match="names from the inside out"):
        load((written, column(1)), strict=True)


def test_floats_do_not_overflow() -> None:
    absolute = {"scalarFunction": call(1, column(2), options=[{"name": "overflow", "preference": ["SILENT"]}])}
    assert "arrow-overflow" in rules(load((["it"], absolute)))
    with pytest.raises(InvalidPlanError, match="has no option `overflow`"):
        load((["it"], absolute), producer="another")


@pytest.mark.parametrize(
    ("name", "value", "type", "content"),
    [
        ("large_string", wrappers_pb2.StringValue(value="é"), t.String(), "é"),
        ("large_binary", wrappers_pb2.BytesValue(value=b"\0"), t.Binary(), b"\0"),
        ("time_seconds", wrappers_pb2.Int32Value(value=3723), t.PrecisionTime(precision=0), 3723),
        ("time_millis", wrappers_pb2.Int32Value(value=3723004), t.PrecisionTime(precision=3), 3723004),
        ("u64", wrappers_pb2.UInt64Value(value=2**64 - 1), None, "18446744073709551615"),
    ],
)
def test_types_that_the_specification_has_too(name: str, value: Any, type: t.Type | None, content: Any) -> None:
    found = load((["it"], literal(value)), type=name)
    made = found.referred_expr[0].expr
    assert isinstance(made, Literal)
    if type is None:
        assert isinstance(made.type, t.UserDefined)
        assert (made.type.urn, made.type.name) == ("extension:io.substrait:unsigned_integers", "u64")
        assert made.value == (Literal(type=t.String(), value=content),)
        type = made.type
    else:
        assert (made.type, made.value) == (type, content)
    assert found.base_schema.struct.types[0] == type
    assert rules(found).count("arrow-type") == 1


def literal(value: Any) -> Json:
    packed = any_pb2.Any()
    packed.Pack(value)
    message = json_format.MessageToDict(packed)
    return {"literal": {"userDefined": {"typeReference": 5, "value": message}}}


def test_values_that_are_none() -> None:
    for name, value in (
        ("u8", wrappers_pb2.UInt64Value(value=256)),
        ("time_seconds", wrappers_pb2.Int32Value(value=86_400)),
        ("large_string", wrappers_pb2.Int32Value(value=1)),
    ):
        with pytest.raises(InvalidPlanError, match="that is not one") as error:
            load((["it"], literal(value)), type=name)
        assert error.value.path == "referred_expr[0].expression.literal.user_defined"

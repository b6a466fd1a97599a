"""A sample of every type."""

from __future__ import annotations

from pyspark_substrait.model import types as t
from pyspark_substrait.model.types import Type, TypeParameter, TypeVariation

URN = "extension:org.example:samples"
VARIATION = TypeVariation(URN, "dense")
POINT = t.UserDefined(urn=URN, name="point")
ALIASED = t.VarChar(length=100)
ALIASED_POINT = t.UserDefined(urn=URN, name="labelled", type_parameters=(TypeParameter("data_type", ALIASED),))

TYPES: dict[str, Type] = {
    "boolean": t.Boolean(),
    "boolean nullable": t.Boolean(nullable=True),
    "boolean variation": t.Boolean(variation=VARIATION),
    "i8": t.I8(variation=VARIATION),
    "i16": t.I16(nullable=True, variation=VARIATION),
    "i32": t.I32(variation=VARIATION),
    "i64": t.I64(variation=VARIATION),
    "fp32": t.FP32(variation=VARIATION),
    "fp64": t.FP64(variation=VARIATION),
    "string": t.String(nullable=True, variation=VARIATION),
    "binary": t.Binary(variation=VARIATION),
    "date": t.Date(variation=VARIATION),
    "interval_year": t.IntervalYear(variation=VARIATION),
    "interval_day": t.IntervalDay(precision=6, variation=VARIATION),
    "interval_day of seconds": t.IntervalDay(precision=0, nullable=True),
    "interval_compound": t.IntervalCompound(precision=9, variation=VARIATION),
    "uuid": t.UUID(variation=VARIATION),
    "fixedchar": t.FixedChar(length=3, variation=VARIATION),
    "varchar": t.VarChar(length=20, variation=VARIATION),
    "fixedbinary": t.FixedBinary(length=16, variation=VARIATION),
    "decimal": t.Decimal(precision=38, scale=10, variation=VARIATION),
    "precision_time": t.PrecisionTime(precision=3, variation=VARIATION),
    "precision_timestamp": t.PrecisionTimestamp(precision=6, variation=VARIATION),
    "precision_timestamp_tz": t.PrecisionTimestampTZ(precision=12, variation=VARIATION),
    "struct": t.Struct(types=(t.I32(), t.String(nullable=True)), nullable=True, variation=VARIATION),
    "struct without fields": t.Struct(types=()),
    "struct of structs": t.Struct(types=(t.Struct(types=(t.I8(), t.I8())), t.List(type=t.Struct(types=(t.I16(),))))),
    "list": t.List(type=t.String(nullable=True), variation=VARIATION),
    "map": t.Map(key=t.String(), value=t.I64(nullable=True), variation=VARIATION),
    "func": t.Func(parameter_types=(t.I32(), t.I64(nullable=True)), return_type=t.Boolean(), nullable=True),
    "func required": t.Func(parameter_types=(t.I32(),), return_type=t.Boolean(nullable=True)),
    "unbound": t.Unbound(nullable=True),
    "user-defined": t.UserDefined(urn=URN, name="point", nullable=True, variation=VARIATION),
    "user-defined with parameters": t.UserDefined(
        urn=URN,
        name="vector",
        type_parameters=(
            TypeParameter("null", None),
            TypeParameter("data_type", t.List(type=t.FP32())),
            TypeParameter("boolean", True),
            TypeParameter("integer", 3),
            TypeParameter("enum", "DENSE"),
            TypeParameter("string", "metres"),
        ),
    ),
    "alias": t.AliasedType(type=ALIASED, nullable=True),
}

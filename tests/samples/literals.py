"""A sample of every literal."""

from __future__ import annotations

import math
import uuid
from decimal import Decimal

from pyspark_substrait.model import types as t
from pyspark_substrait.model.literals import AnyMessage, Compound, DayTime, Literal
from pyspark_substrait.model.types import TypeParameter
from tests.samples.types import ALIASED_POINT, POINT, URN, VARIATION

MESSAGE = AnyMessage("type.googleapis.com/substrait.Version", b"\x10\x01")


def i32(value: int) -> Literal:
    return Literal(type=t.I32(), value=value)


def i64(value: int) -> Literal:
    return Literal(type=t.I64(), value=value)


def string(value: str) -> Literal:
    return Literal(type=t.String(), value=value)


TRUE = Literal(type=t.Boolean(), value=True)

LITERALS: dict[str, Literal] = {
    "boolean": TRUE,
    "boolean nullable": Literal(type=t.Boolean(nullable=True), value=False),
    "boolean variation": Literal(type=t.Boolean(variation=VARIATION), value=True),
    "i8": Literal(type=t.I8(), value=-128),
    "i16": Literal(type=t.I16(), value=32767),
    "i32": i32(-(2**31)),
    "i64": i64(2**63 - 1),
    "fp32": Literal(type=t.FP32(), value=0.5),
    "fp32 nan": Literal(type=t.FP32(), value=math.nan),
    "fp64": Literal(type=t.FP64(), value=-1e300),
    "fp64 infinite": Literal(type=t.FP64(), value=math.inf),
    "string": string("Zürich 🏔"),
    "string empty": string(""),
    "binary": Literal(type=t.Binary(), value=b"\x00\xff"),
    "date": Literal(type=t.Date(), value=-719_162),
    "interval_year": Literal(type=t.IntervalYear(), value=-14),
    "interval_day": Literal(type=t.IntervalDay(precision=3), value=DayTime(-2, 3600, 250)),
    "interval_compound": Literal(type=t.IntervalCompound(precision=6), value=Compound(25, 1, 2, 3)),
    "fixedchar": Literal(type=t.FixedChar(length=3), value="a€ "),
    "varchar": Literal(type=t.VarChar(length=10), value="short"),
    "fixedbinary": Literal(type=t.FixedBinary(length=2), value=b"ab"),
    "decimal": Literal(
        type=t.Decimal(precision=38, scale=4), value=Decimal("-1234567890123456789012345678901234.5678")
    ),
    "decimal zero": Literal(type=t.Decimal(precision=5, scale=2, nullable=True), value=Decimal("0.00")),
    "precision_time": Literal(type=t.PrecisionTime(precision=0), value=86_399),
    "precision_time of thousandths": Literal(type=t.PrecisionTime(precision=3), value=0),
    "precision_timestamp": Literal(type=t.PrecisionTimestamp(precision=9), value=-1),
    "precision_timestamp_tz": Literal(type=t.PrecisionTimestampTZ(precision=6), value=1_700_000_000_000_000),
    "uuid": Literal(type=t.UUID(), value=uuid.UUID("c48ffa9e-64f4-44cb-ae47-152b4e60e77b")),
    "struct": Literal(
        type=t.Struct(types=(t.I32(), t.String(nullable=True)), nullable=True),
        value=(i32(1), Literal(type=t.String(nullable=True), value=None)),
    ),
    "struct without fields": Literal(type=t.Struct(types=()), value=()),
    "list": Literal(
        type=t.List(type=t.I32(nullable=True)), value=(i32(1), Literal(type=t.I32(nullable=True), value=None), i32(3))
    ),
    "list empty": Literal(type=t.List(type=t.I32(), nullable=True), value=()),
    "map": Literal(type=t.Map(key=t.String(), value=t.I64()), value=((string("a"), i64(1)), (string("a"), i64(2)))),
    "map empty": Literal(type=t.Map(key=t.String(), value=t.I64(nullable=True)), value=()),
    "null": Literal(type=t.Decimal(precision=10, scale=2, nullable=True, variation=VARIATION), value=None),
    "null of an alias": Literal(type=t.AliasedType(type=ALIASED_POINT, nullable=True), value=None),
    "user-defined message": Literal(
        type=t.UserDefined(
            urn=URN, name="vector", type_parameters=(TypeParameter("integer", 2),), nullable=True, variation=VARIATION
        ),
        value=MESSAGE,
    ),
    "user-defined struct": Literal(type=POINT, value=(i32(1), i32(2))),
    "user-defined alias": Literal(type=t.AliasedType(type=ALIASED_POINT), value=(string("x"),)),
}

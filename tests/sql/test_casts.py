"""Which casts there are, what they need no text for, and that docs/casts.md says so."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import pytest

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import FailureBehavior
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    UNSIGNED_INTEGERS,
    UUID,
    AliasedType,
    Binary,
    Boolean,
    Date,
    Decimal,
    FixedBinary,
    FixedChar,
    Func,
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    List,
    Map,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Struct,
    Type,
    TypeVariation,
    Unbound,
    UserDefined,
    VarChar,
    with_nullability,
)
from pyspark_substrait.sql.compiler.casts import cast, holds
from pyspark_substrait.sql.fragment import UNKNOWN, Atom, Constant, Name, atom
from pyspark_substrait.sql.functions.builtins_since import BUILTINS
from pyspark_substrait.sql.spark_version import OLDEST

THROW, NULL = FailureBehavior.THROW_EXCEPTION, FailureBehavior.RETURN_NULL


def _unsigned(bits: int) -> UserDefined:
    return UserDefined(urn=UNSIGNED_INTEGERS, name=f"u{bits}", structure=Struct(types=(String(),)))


def _dec(precision: int, scale: int) -> Decimal:
    return Decimal(precision=precision, scale=scale)


def _pts(precision: int) -> PrecisionTimestamp:
    return PrecisionTimestamp(precision=precision)


_POINT = UserDefined(urn="extension:a:b", name="point", structure=Struct(types=(I32(), I32())))

#: every type, with the parameters that make a difference
TYPES: dict[str, list[Type]] = {
    "boolean": [Boolean()],
    "i8": [I8()],
    "i16": [I16()],
    "i32": [I32()],
    "i64": [I64()],
    **{f"u{bits}": [_unsigned(bits)] for bits in (8, 16, 32, 64)},
    "fp32": [FP32()],
    "fp64": [FP64()],
    "decimal": [_dec(1, 0), _dec(2, 2), _dec(9, 2), _dec(38, 0), _dec(38, 10), _dec(38, 38)],
    "string": [String()],
    "varchar": [VarChar(length=1), VarChar(length=100)],
    "fixedchar": [FixedChar(length=1), FixedChar(length=100)],
    "binary": [Binary()],
    "fixedbinary": [FixedBinary(length=1), FixedBinary(length=16), FixedBinary(length=20)],
    "uuid": [UUID()],
    "date": [Date()],
    "time": [PrecisionTime(precision=precision) for precision in (0, 6, 7, 12)],
    "timestamp": [_pts(precision) for precision in (0, 6, 7, 12)],
    "timestamp_tz": [PrecisionTimestampTZ(precision=precision) for precision in (0, 6, 7, 12)],
    "interval_year": [IntervalYear()],
    "interval_day": [IntervalDay(precision=precision) for precision in (0, 6, 7, 12)],
    "interval_compound": [IntervalCompound(precision=precision) for precision in (0, 6, 7, 12)],
    "list": [List(type=I8()), List(type=String())],
    "map": [Map(key=I8(), value=I8()), Map(key=I8(), value=String())],
    "struct": [Struct(types=(I8(),)), Struct(types=(String(),)), Struct(types=(String(), I8()))],
}


def _kind(source: Type, target: Type) -> str:
    try:
        raising, null = cast(Name("c1"), source, target, THROW), cast(Name("c1"), source, target, NULL)
    except UnsupportedPlanError:
        return "–"
    return "✓" if raising == null else "!"


def _cell(sources: list[Type], targets: list[Type]) -> str:
    kinds = {_kind(source, target) for source in sources for target in targets}
    return kinds.pop() if len(kinds) == 1 else "!"


def matrix() -> str:
    """The table of docs/casts.md, as the compiler has it."""
    lines = [f"| from ╲ to | {' | '.join(TYPES)} |", "|---|" + ":-:|" * len(TYPES)]
    for name, sources in TYPES.items():
        lines.append(f"| {name} | {' | '.join(_cell(sources, targets) for targets in TYPES.values())} |")
    return "\n".join(lines)


def test_the_documented_matrix_is_what_the_compiler_does() -> None:
    page = Path(__file__, "../../../docs/casts.md").resolve().read_text(encoding="utf-8")
    table = "\n".join(line for line in page.splitlines() if line.startswith("|") and line.count("|") > len(TYPES))
    assert table == matrix()


def test_a_cast_calls_functions_that_its_version_has() -> None:
    """But for times of day, whose types older versions lack."""
    types = [type for name, found in TYPES.items() if name != "time" for type in found]
    lacking = re.compile(rf"\b(?:{'|'.join(map(re.escape, BUILTINS))})\(")
    for source in types:
        for target in types:
            for failure in (THROW, NULL):
                with suppress(UnsupportedPlanError):
                    text = cast(Name("c1"), source, target, failure, version=OLDEST)
                    assert not lacking.search(text), f"{source} to {target}: {text}"


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (I32(), I32(nullable=True)),
        (VarChar(length=3), VarChar(length=5)),
        (FixedChar(length=3), VarChar(length=3)),
        (VarChar(length=3), String()),
        (FixedBinary(length=3), Binary()),
        (FixedBinary(length=16), UUID()),
        (UUID(), FixedBinary(length=16)),
        (_pts(3), _pts(6)),
        (_pts(9), _pts(9)),
        (_pts(9), PrecisionTimestampTZ(precision=9)),
        (IntervalDay(precision=0), IntervalDay(precision=6)),
        (IntervalCompound(precision=0), IntervalCompound(precision=6)),
        (List(type=VarChar(length=3)), List(type=String(nullable=True))),
        (Struct(types=(I8(), _pts(0))), Struct(types=(I8(nullable=True), _pts(6)))),
        (_dec(4, 2), _dec(4, 2)),
        (I64(variation=TypeVariation("extension:a:b", "big_endian")), I64()),
        (AliasedType(type=I64()), I64()),
        (_unsigned(8), _unsigned(8)),
        (_POINT, with_nullability(_POINT, True)),
    ],
    ids=str,
)
def test_what_stays_the_same_needs_no_cast(source: Type, target: Type) -> None:
    assert cast(Name("c1"), source, target) == "c1"
    assert cast(Name("c1"), source, target, NULL) == "c1"


@pytest.mark.parametrize(
    ("sql", "source", "target", "text"),
    [
        ("1L", I64(), I32(), "1"),
        ("(-5L)", I64(), I8(), "(-5Y)"),
        ("127", I32(), I8(), "127Y"),
        ("-128S", I16(), I8(), "(-128Y)"),
        ("7Y", I8(), I64(), "7L"),
        ("128", I32(), I8(), "CAST(128 AS TINYINT)"),
        ("2147483648L", I64(), I32(), "CAST(2147483648L AS INT)"),
        ("1L", I64(), Boolean(), "CAST(1L AS BOOLEAN)"),
        ("c1", I64(), I32(), "CAST(c1 AS INT)"),
    ],
)
def test_an_integer_literal_that_fits_is_one_of_the_other_type(sql: str, source: Type, target: Type, text: str) -> None:
    value = int(sql.strip("()YSL")) if sql != "c1" else UNKNOWN
    assert cast(Constant(sql, value), source, target) == text


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (I32(), Date()),
        (Date(), I64()),
        (I64(), _pts(6)),
        (_pts(9), I64()),
        (I32(), Binary()),
        (Date(), Boolean()),
        (IntervalYear(), IntervalDay(precision=6)),
        (IntervalDay(precision=9), _dec(38, 0)),
        (PrecisionTime(precision=6), _pts(6)),
        (PrecisionTime(precision=6), IntervalDay(precision=6)),
        (Date(), PrecisionTime(precision=6)),
        (FixedBinary(length=4), UUID()),
        (UUID(), I64()),
        (List(type=I32()), I32()),
        (List(type=I32()), String()),
        (String(), Struct(types=(I32(),))),
        (List(type=Date()), List(type=I32())),
        (Struct(types=(I8(),)), Struct(types=(I8(), I8()))),
        (UserDefined(urn="extension:a:b", name="p", structure=I32()), I32()),
        (UserDefined(urn="extension:a:b", name="p", structure=I32()), String()),
        (String(), UserDefined(urn="extension:a:b", name="p", structure=String())),
        (
            UserDefined(urn="extension:a:b", name="p", structure=I32()),
            UserDefined(urn="extension:a:b", name="q", structure=I32()),
        ),
        (Struct(types=(String(),)), _unsigned(8)),
    ],
    ids=str,
)
def test_casts_without_a_certain_result_are_refused(source: Type, target: Type) -> None:
    with pytest.raises(UnsupportedPlanError, match="there is no cast from"):
        cast(Name("c1"), source, target)


@pytest.mark.parametrize("type", [Unbound(), Func(parameter_types=(I32(),), return_type=I32())], ids=str)
def test_what_has_no_values_has_no_casts(type: Type) -> None:
    for source, target in ((type, I32()), (I32(), type)):
        with pytest.raises(UnsupportedPlanError):
            cast(Name("c1"), source, target)


def test_casts_inside_casts_grow_with_their_number() -> None:
    kinds: list[Type] = [
        _pts(9),
        String(),
        PrecisionTimestampTZ(precision=3),
        Date(),
        PrecisionTimestampTZ(precision=12),
        _pts(6),
    ]
    for failure in (THROW, NULL):
        text: Atom = Name("c1")
        source, lengths = kinds[-1], []
        for target in kinds * 4:
            text, source = atom(cast(text, source, target, failure)), target
            lengths.append(len(text))
        assert lengths[-1] < 4.5 * lengths[len(kinds) - 1]


def test_deep_types_make_no_endless_text() -> None:
    source: Type = String()
    target: Type = I8()
    for _ in range(20):
        source, target = Struct(types=(List(type=source),)), Struct(types=(List(type=target),))
        source, target = Map(key=String(), value=source), Map(key=I32(), value=target)
    assert len(cast(Name("c1"), source, target, NULL)) < 100_000


def test_holds_is_about_values_not_carriers() -> None:
    assert holds(_dec(4, 2), _dec(6, 3)) and not holds(_dec(4, 2), _dec(4, 1))
    assert holds(PrecisionTime(precision=3), PrecisionTime(precision=12))
    assert holds(IntervalDay(precision=3), IntervalDay(precision=9))
    assert holds(_pts(3), _pts(6)) and not holds(_pts(6), _pts(9)) and not holds(_pts(9), _pts(6))
    assert holds(VarChar(length=3), String()) and not holds(String(), VarChar(length=3))
    assert not holds(I32(), I64()) and not holds(UUID(), Binary())

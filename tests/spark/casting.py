"""Runs many casts in few queries and compares each with what it should give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pyspark.sql import SparkSession

from pyspark_substrait.model.expressions import FailureBehavior
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    UNSIGNED_INTEGERS,
    IntervalDay,
    List,
    Map,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Struct,
    Type,
    UserDefined,
    with_nullability,
)
from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.spark.session import spark_errors
from pyspark_substrait.sql.compiler.casts import cast
from pyspark_substrait.sql.compiler.literals import literal
from pyspark_substrait.sql.compiler.types import has_time, spark_type
from pyspark_substrait.sql.fragment import Atom
from tests.spark.plans import lit
from tests.versions import knows_times

THROW, NULL = FailureBehavior.THROW_EXCEPTION, FailureBehavior.RETURN_NULL


class Fails:
    """What a cast gives whose value doesn't fit."""

    def __repr__(self) -> str:
        return "a failure"


FAILS = Fails()


class Case(NamedTuple):
    """A value of a type and what it is as another type, both in the form that literals have."""

    source: Type
    value: Any
    target: Type
    expected: Any


def unsigned(bits: int, nullable: bool = False) -> UserDefined:
    structure = Struct(types=(String(),))
    return UserDefined(urn=UNSIGNED_INTEGERS, name=f"u{bits}", structure=structure, nullable=nullable)


def pts(precision: int) -> PrecisionTimestamp:
    return PrecisionTimestamp(precision=precision)


def ptz(precision: int) -> PrecisionTimestampTZ:
    return PrecisionTimestampTZ(precision=precision)


def time(precision: int) -> PrecisionTime:
    return PrecisionTime(precision=precision)


def iday(precision: int) -> IntervalDay:
    return IntervalDay(precision=precision)


def value(type: Type, given: Any) -> Literal:
    """The literal of a Python value; an unsigned integer is given as an int."""
    match type:
        case UserDefined(urn=urn) if urn == UNSIGNED_INTEGERS and given is not None:
            return Literal(type=type, value=(Literal(type=String(), value=str(given)),))
        case List(type=element) if given is not None:
            return Literal(type=type, value=tuple(value(element, item) for item in given))
        case Struct(types=types) if given is not None:
            return Literal(type=type, value=tuple(value(t, v) for t, v in zip(types, given, strict=True)))
        case UserDefined(structure=Struct(types=types)) if given is not None:
            return Literal(type=type, value=tuple(value(t, v) for t, v in zip(types, given, strict=True)))
        case Map(key=key, value=kind) if given is not None:
            return Literal(type=type, value=tuple((value(key, k), value(kind, v)) for k, v in given.items()))
        case _:
            return lit(type, given)


def check(spark: SparkSession, cases: Sequence[Case], *, thorough: bool = True) -> None:
    """Compare every cast: of a literal and of a column, that fails by raising and by null, of the value and of null.

    Without ``thorough`` only one of the four. Cases of times of day are left out where Spark has no type for them.
    """
    cases = _there(spark, cases)
    for start in range(0, len(cases), 40):
        _check(spark, cases[start : start + 40], thorough)


def _there(spark: SparkSession, cases: Sequence[Case]) -> Sequence[Case]:
    """The cases whose types the running Spark has."""
    return (
        cases if knows_times(spark) else [case for case in cases if not has_time(case.source) | has_time(case.target)]
    )


def _check(spark: SparkSession, cases: Sequence[Case], thorough: bool) -> None:
    columns: list[str] = []
    texts: list[str] = []
    checks: list[str] = []
    names: list[tuple[Case, str, str]] = []
    for position, case in enumerate(cases):
        given = literal(value(case.source, case.value))
        columns.append(f"if(id = 0L, {given}, NULL) AS c{position}")
        fails = case.expected is FAILS
        right = literal(value(with_nullability(case.target, True), None if fails else case.expected))
        for failure in (THROW, NULL):
            if not thorough and fails is (failure is THROW):
                continue
            for operand in (f"c{position}", f"({given})"):
                if (fails and failure is THROW) or (not thorough and operand != f"c{position}"):
                    continue  # that it raises is seen apart
                name = f"t{len(texts)}"
                text = cast(Atom(operand), case.source, case.target, failure, version=session_version(spark))
                texts.append(f"({text}) AS {name}")
                equal = _equal(name, right, case.target)
                checks.append(f"if(id = 0L, {equal}, {name} IS NULL)" if operand == f"c{position}" else equal)
                names.append((case, failure.name, text))
    inner = f"SELECT id, {', '.join(columns)} FROM range(2)"
    computed = f"SELECT id, {', '.join(texts)} FROM ({inner})"
    rows = spark.sql(f"SELECT id, {', '.join(f'{text} AS r{i}' for i, text in enumerate(checks))} FROM ({computed})")
    for row in sorted(rows.collect()):
        wrong = [name for name, right in zip(names, row[1:], strict=True) if right is not True]
        assert not wrong, f"of {'the value' if row[0] == 0 else 'null'}: " + "\n".join(
            f"{case} {failure}: {_shown(spark, text, inner)}" for case, failure, text in wrong
        )
    carriers = [spark_type(case.target) for case, _, _ in names]
    wanted = spark.sql(f"SELECT {', '.join(f'CAST(NULL AS {c}) AS t{i}' for i, c in enumerate(carriers))}").dtypes
    assert [kind for _, kind in spark.sql(computed).dtypes[1:]] == [kind for _, kind in wanted]


def _equal(left: str, right: str, type: Type) -> str:
    match type:
        case Map():
            return f"map_entries({left}) <=> map_entries({right})"
        case FP32() | FP64():  # so that -0.0 isn't 0.0
            return f"CAST({left} AS STRING) <=> CAST({right} AS STRING)"
        case _:
            return f"{left} <=> {right}"


def _shown(spark: SparkSession, text: str, inner: str) -> object:
    try:
        return [row[0] for row in spark.sql(f"SELECT CAST({text} AS STRING) FROM ({inner}) ORDER BY id").collect()]
    except Exception as error:
        return str(error)[:300]


def check_raises(spark: SparkSession, cases: Sequence[Case]) -> None:
    """Of each pair of types the first failing case raises, and says that the cast failed."""
    known = ("CAST", "INVALID_UTF8", "NUMERIC_VALUE", "NUMERIC_OUT_OF", "doesn't fit", "ARITHMETIC_OVERFLOW")
    there, version = _there(spark, cases), session_version(spark)
    firsts = {(case.source, case.target): case for case in reversed(there) if case.expected is FAILS}
    for case in firsts.values():
        given = Atom(f"({literal(value(case.source, case.value))})")
        text = cast(given, case.source, case.target, THROW, version=version)
        try:
            found = spark.sql(f"SELECT {text} AS c").collect()
        except spark_errors() as error:
            assert any(word in str(error) for word in known), f"{case}: {error}"
        else:
            raise AssertionError(f"{case} gave {found}")

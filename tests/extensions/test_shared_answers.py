"""What is kept of types and calls belongs to the types and the registry that it was asked for."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from pyspark_substrait.extensions import Registry, ValueArg
from pyspark_substrait.model import types as t
from pyspark_substrait.model.expressions import Function
from pyspark_substrait.proto import messages
from pyspark_substrait.proto.read.context import Reading
from pyspark_substrait.proto.read.types import data_type

URN = "extension:org.example:same"


def registry(returns: str) -> Registry:
    return Registry.default().with_yaml(
        f"""
urn: {URN}
scalar_functions:
  - name: twice
    impls:
      - args: [{{name: x, value: i64}}]
        return: {returns}
"""
    )


def test_registries_with_the_same_name_keep_their_own_answers() -> None:
    one, other = registry("i64"), registry("string")
    for _ in range(2):
        assert one.resolve(URN, "twice:i64", [ValueArg(t.I64())]).output_type == t.I64()
        assert other.resolve(URN, "twice:i64", [ValueArg(t.I64())]).output_type == t.String()


def test_nullability_is_a_part_of_the_call() -> None:
    known = registry("i64")
    for _ in range(2):
        for nullable in (False, True):
            found = known.resolve(URN, "twice:i64", [ValueArg(t.I64(nullable=nullable))])
            assert found.output_type == t.I64(nullable=nullable)
            assert found.definition is not None
            assert found.definition.function == Function(URN, "twice", "i64")


def test_a_null_and_numbers_that_are_equal_are_different_arguments() -> None:
    arguments = [ValueArg(t.I64()), ValueArg(t.I64(), 1), ValueArg(t.I64(), null=True), ValueArg(t.I32(), 1)]
    assert len(set(arguments)) == 4


def message(precision: int, scale: int, nullability: int) -> messages.Type:
    made = messages.Type()
    made.decimal.precision, made.decimal.scale = precision, scale
    made.decimal.nullability = nullability
    return made


def test_types_are_shared_only_where_they_are_the_same() -> None:
    required, nullable = messages.Type.NULLABILITY_REQUIRED, messages.Type.NULLABILITY_NULLABLE
    reading = Reading(registry=Registry.default())

    def made(precision: int, scale: int, nullability: int) -> t.Type:
        return data_type(message(precision, scale, nullability), reading, None)

    assert made(12, 2, required) is made(12, 2, required)
    assert made(12, 2, required) == t.Decimal(precision=12, scale=2)
    assert made(12, 2, nullable) == t.Decimal(precision=12, scale=2, nullable=True)
    assert made(2, 1, required) == t.Decimal(precision=2, scale=1)
    both = messages.Type()
    both.precision_timestamp.precision = 12
    both.precision_timestamp.nullability = required
    assert data_type(both, reading, None) == t.PrecisionTimestamp(precision=12)
    length = messages.Type()
    length.varchar.length = 12
    length.varchar.nullability = required
    assert data_type(length, reading, None) == t.VarChar(length=12)


def test_threads_get_the_same_answers() -> None:
    known = Registry()
    types = [t.Decimal(precision=precision, scale=2) for precision in range(10, 30)]

    def answer(type: t.Type) -> t.Type | None:
        return known.resolve(None, "add", [ValueArg(type), ValueArg(type)]).output_type

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(answer, types * 8))
    expected = [Registry().resolve(None, "add", [ValueArg(type), ValueArg(type)]).output_type for type in types]
    assert answers == expected * 8

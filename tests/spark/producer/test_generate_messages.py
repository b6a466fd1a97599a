"""The relation of generators as a message and in the model: what it may be, and the columns that it has."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from pyspark_substrait.errors import InvalidPlanError, PlanFormatError, SubstraitError, UnsupportedPlanError
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations.generate import Generator, GeneratorKind
from pyspark_substrait.model.types import I32, I64, List, Map, OpenStruct, String, Struct, Type, Unbound
from pyspark_substrait.proto import generates

URL = "type.googleapis.com/pyspark_substrait.v1.Generate"
NULL_I32 = I32(nullable=True)
PAIR = Struct(types=(I32(), String(nullable=True)), nullable=True)


@pytest.mark.parametrize("kind", GeneratorKind)
@pytest.mark.parametrize("outer", (False, True))
def test_there_and_back(kind: GeneratorKind, outer: bool) -> None:
    rows = 2 if kind is GeneratorKind.STACK else None
    generator = Generator(kind=kind, arguments=3, outer=outer, rows=rows)
    message = generates.encoded(generator)
    assert message.type_url == URL
    assert generates.decoded(AnyMessage(message.type_url, message.value)) == generator


@pytest.mark.parametrize(
    ("value", "error"),
    (
        (b"", InvalidPlanError),
        (b"\x08\x01", InvalidPlanError),  # no arguments
        (b"\x08\x63\x10\x01", UnsupportedPlanError),  # a generator that isn't known
        (b"\x08\x04\x10\x01", InvalidPlanError),  # stack without rows
        (b"\x08\x01\x10\x01\x20\x02", InvalidPlanError),  # rows of something else
        (b"\x08\x01\x10\x01\x28\x01", PlanFormatError),  # a field that isn't known
        (b"\x08", PlanFormatError),
    ),
)
def test_broken_messages_are_refused(value: bytes, error: type[SubstraitError]) -> None:
    with pytest.raises(error):
        generates.decoded(AnyMessage(URL, value))


def test_other_messages_are_left_alone() -> None:
    assert generates.decoded(AnyMessage("type.googleapis.com/example.Sample", b"\x08")) is None


@pytest.mark.parametrize(
    ("generator", "arguments", "made"),
    (
        (Generator(kind=GeneratorKind.EXPLODE, arguments=1), (List(type=NULL_I32),), (NULL_I32,)),
        (Generator(kind=GeneratorKind.EXPLODE, arguments=1, outer=True), (List(type=I32()),), (NULL_I32,)),
        (Generator(kind=GeneratorKind.EXPLODE, arguments=1), (Map(key=I32(), value=PAIR),), (I32(), PAIR)),
        (Generator(kind=GeneratorKind.POSEXPLODE, arguments=1), (List(type=I64()),), (I32(), I64())),
        (
            Generator(kind=GeneratorKind.INLINE, arguments=1),
            (List(type=PAIR),),
            (NULL_I32, String(nullable=True)),
        ),
        (
            Generator(kind=GeneratorKind.STACK, arguments=3, rows=2),
            (I32(), String(), I32()),
            (I32(), String(nullable=True)),
        ),
        (Generator(kind=GeneratorKind.JSON_TUPLE, arguments=2), (String(), String()), (String(nullable=True),)),
    ),
)
def test_the_columns(generator: Generator, arguments: tuple[Type, ...], made: tuple[Type, ...]) -> None:
    assert generator.schema(Struct(types=(I64(), *arguments))) == Struct(types=(I64(), *made))


@pytest.mark.parametrize(
    ("generator", "arguments"),
    (
        (Generator(kind=GeneratorKind.EXPLODE, arguments=1), (I32(),)),
        (Generator(kind=GeneratorKind.EXPLODE, arguments=2), (I32(),)),
        (Generator(kind=GeneratorKind.EXPLODE, arguments=2), (List(type=I32()), List(type=I32()))),
        (Generator(kind=GeneratorKind.INLINE, arguments=1), (List(type=I32()),)),
        (Generator(kind=GeneratorKind.STACK, arguments=3, rows=2), (I32(), I32(), String())),
        (Generator(kind=GeneratorKind.STACK, arguments=2), (I32(), I32())),
        (Generator(kind=GeneratorKind.STACK, arguments=2, rows=3), (I32(), String())),
        (Generator(kind=GeneratorKind.JSON_TUPLE, arguments=1), (String(),)),
        (Generator(kind=GeneratorKind.JSON_TUPLE, arguments=2), (String(), I32())),
    ),
)
def test_wrong_arguments_are_refused(generator: Generator, arguments: tuple[Type, ...]) -> None:
    with pytest.raises(InvalidPlanError):
        generator.schema(Struct(types=arguments))


def test_of_open_columns_nothing_is_known() -> None:
    generator = Generator(kind=GeneratorKind.EXPLODE, arguments=1)
    assert isinstance(generator.schema(OpenStruct()), OpenStruct)
    assert isinstance(generator.schema(Struct(types=(Unbound(),))), OpenStruct)


def test_the_proto_file_says_the_same() -> None:
    text = (files("pyspark_substrait") / "proto" / "generate.proto").read_text()
    fields = dict(re.findall(r"^  \w+ (\w+) = (\d+);", text, re.MULTILINE))
    values = dict(re.findall(r"^    (GENERATOR_\w+) = (\d+);", text, re.MULTILINE))
    descriptor = generates.pool_of(URL).FindMessageTypeByName("pyspark_substrait.v1.Generate")
    assert fields == {field.name: str(field.number) for field in descriptor.fields}
    assert values == {value.name: str(value.number) for value in descriptor.enum_types_by_name["Generator"].values}

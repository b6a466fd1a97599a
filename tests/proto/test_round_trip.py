"""What is written is read again, the same; and nothing that a message says is lost on the way."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from pyspark_substrait import builder
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions import Registry
from pyspark_substrait.model.limits import Limits, limited
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.plan import ExtendedExpression, Plan
from pyspark_substrait.model.types import FixedBinary, FixedChar, Type
from pyspark_substrait.proto import read, wire, write
from pyspark_substrait.proto.depth import is_repeated
from pyspark_substrait.proto.messages import current
from tests import samples

REGISTRY = Registry.default()
SHARED_PLANS = Path(__file__).parents[3] / "shared" / "plans"
FILES = sorted(
    path for path in SHARED_PLANS.rglob("*") if path.suffix in (".pb", ".json") and path.name != "queries.json"
)
SAMPLES: dict[str, Plan | ExtendedExpression] = {
    **{f"plan {name}": sample for name, sample in samples.PLANS.items()},
    **{f"extended expression {name}": sample for name, sample in samples.EXTENDED_EXPRESSIONS.items()},
}


def written(node: Plan | ExtendedExpression) -> Any:
    return write.plan(node) if isinstance(node, Plan) else write.extended_expression(node)


def reread(message: Any, strict: bool = False) -> Plan | ExtendedExpression:
    read_message = read.plan if message.DESCRIPTOR.name == "Plan" else read.extended_expression
    return read_message(message, REGISTRY, strict=strict)


def load(source: Any) -> Plan:
    parsed = wire.parse(source)
    return read.plan(parsed.message, REGISTRY, upgrades=parsed.notes, original_version=parsed.original_version)


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_round_trip(name: str) -> None:
    sample = SAMPLES[name]
    message = written(sample)
    again = reread(message)
    assert again == sample
    assert written(again) == message


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_round_trip_through_json(name: str) -> None:
    sample = SAMPLES[name]
    parsed = wire.parse(wire.to_json(written(sample)))
    assert parsed.notes == ()
    # reading text or bytes stamps the current version
    assert replace(reread(parsed.message), version=sample.version) == sample


def test_samples_are_by_the_book() -> None:
    """Strict reading finds nothing to assume, but where a call is stated to have another precision."""
    for name, sample in SAMPLES.items():
        if "another precision" in name:
            with pytest.raises(InvalidPlanError, match="output_type"):
                reread(written(sample), strict=True)
        else:
            assert reread(written(sample), strict=True) == sample, name


@pytest.mark.skipif(not FILES, reason="the shared plans are not here")
@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_plans_of_others_round_trip(file: Path) -> None:
    first = load(file)
    message = write.plan(first)
    binary, text = load(wire.to_bytes(message)), load(wire.to_json(message))
    assert binary == first
    assert text == first
    assert binary.upgrades == ()
    assert write.plan(binary) == message


# nothing is left out --------------------------------------------------------------------------------------------------


def reachable() -> Iterator[Descriptor]:
    """The descriptors of all messages that a plan or an extended expression can contain."""
    seen: dict[str, Descriptor] = {}
    todo: list[Any] = [current().named(kind).DESCRIPTOR for kind in ("Plan", "ExtendedExpression")]
    while todo:
        descriptor = todo.pop()
        if descriptor.full_name not in seen:
            seen[descriptor.full_name] = descriptor
            todo += [field.message_type for field in descriptor.fields if field.message_type is not None]
    return iter(seen.values())


def messages(message: Any) -> Iterator[Any]:
    """A message and all below it."""
    yield message
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            for child in value if is_repeated(field) else [value]:
                yield from messages(child)


@functools.cache
def written_samples() -> dict[str, Any]:
    return {name: written(sample) for name, sample in SAMPLES.items()}


#: fields that are read but not written: what they say stands in another field
READ_ONLY = {
    "substrait.Expression.WindowFunction.Bound.Preceding.offset",
    "substrait.Expression.WindowFunction.Bound.Following.offset",
}


def test_samples_have_every_field() -> None:
    """Together with the round trip: no field is lost in reading or writing."""
    found = {
        field.full_name
        for message in written_samples().values()
        for part in messages(message)
        for field, _ in part.ListFields()
    }
    expected = {field.full_name for descriptor in reachable() for field in descriptor.fields}
    assert expected - found == READ_ONLY


def test_samples_have_every_member_of_every_enum() -> None:
    found: dict[str, set[int]] = {}
    for message in written_samples().values():
        for part in messages(message):
            for field, value in part.ListFields():
                if field.type == FieldDescriptor.TYPE_ENUM:
                    found.setdefault(field.full_name, set()).update(value if is_repeated(field) else [value])
    for descriptor in reachable():
        for field in descriptor.fields:
            if field.enum_type is not None:
                numbers = {value.number for value in field.enum_type.values} - {0}
                if field.enum_type.full_name == "substrait.Type.Nullability":
                    numbers = {2}
                if field.full_name in ONE_MEMBER_IS_ENOUGH:
                    numbers = set()
                assert not numbers - found.get(field.full_name, set()), field.full_name


ONE_MEMBER_IS_ENOUGH = {
    # the same enum, the same code as in an aggregate function
    "substrait.Expression.WindowFunction.phase",
    "substrait.ConsistentPartitionWindowRel.WindowRelFunction.phase",
    "substrait.ConsistentPartitionWindowRel.WindowRelFunction.bounds_type",
    # the saved ones have the others
    "substrait.RelCommon.Hint.LoadedComputation.type",
    "substrait.RelCommon.Hint.SavedComputation.type",
    # only some may be
    "substrait.LateralJoinRel.type",
}


# every field counts ---------------------------------------------------------------------------------------------------

#: fields in which a change is no change of meaning
MEANINGLESS = {
    # an anchor can have any number, and an extension that isn't declared is looked for by the function's name
    "substrait.extensions.SimpleExtensionURN.extension_urn_anchor",
    "substrait.extensions.SimpleExtensionDeclaration.ExtensionFunction.function_anchor",
    "substrait.extensions.SimpleExtensionDeclaration.ExtensionType.type_anchor",
    "substrait.extensions.SimpleExtensionDeclaration.ExtensionTypeVariation.type_variation_anchor",
    "substrait.extensions.SimpleExtensionDeclaration.ExtensionFunction.extension_urn_reference",
    "substrait.TypeAlias.type_alias_anchor",
    "substrait.NamedLambda.lambda_anchor",
    # the signature is looked up by name and arguments where it is wrong
    "substrait.extensions.SimpleExtensionDeclaration.ExtensionFunction.name",
    # said by the type itself (the protobuf comment on Literal.nullable)
    "substrait.Expression.Literal.nullable",
    # where the producer's rule, or the release's, says so
    "substrait.Version.producer",
}


def other(field: FieldDescriptor, value: Any) -> Any:
    """Another value of a scalar field."""
    match field.type:
        case FieldDescriptor.TYPE_BOOL:
            return not value
        case FieldDescriptor.TYPE_STRING:
            return f"{value}x"
        case FieldDescriptor.TYPE_BYTES:
            return bytes([value[0] ^ 1]) + value[1:] if value else b"x"
        case FieldDescriptor.TYPE_ENUM:
            assert field.enum_type is not None
            return next(item.number for item in field.enum_type.values if item.number not in (0, value))
        case FieldDescriptor.TYPE_DOUBLE | FieldDescriptor.TYPE_FLOAT:
            return 2.0 if value != 2.0 else 3.0
        case _:
            return value + 1 if value < 2**31 - 1 else value - 1


def change(message: Any) -> Iterator[str]:
    """Change each scalar of a message in turn; the name of its field."""
    for part in messages(message):
        if part.DESCRIPTOR.full_name == "google.protobuf.Any":
            continue
        for field in part.DESCRIPTOR.fields:
            if field.type == FieldDescriptor.TYPE_MESSAGE or is_repeated(field):
                continue
            is_set = not field.has_presence or part.HasField(field.name)
            if not is_set and len(field.containing_oneof.fields) > 1:
                continue
            before = getattr(part, field.name)
            setattr(part, field.name, other(field, before))
            yield field.full_name
            if is_set:
                setattr(part, field.name, before)
            else:
                part.ClearField(field.name)


@pytest.mark.parametrize("name", SAMPLES)
def test_every_scalar_counts(name: str) -> None:
    """A message that differs in one value is another plan, or none, or the plan has a note on what was assumed."""
    sample, message = SAMPLES[name], written(SAMPLES[name])
    notes = reread(message).notes
    for field in change(message):
        if field in MEANINGLESS:
            continue
        try:
            changed = reread(message)
        except InvalidPlanError:
            continue
        assert changed != sample or set(changed.notes) - set(notes), field
    assert reread(message) == sample


# deep plans -----------------------------------------------------------------------------------------------------------


def test_chains_of_detached_expressions() -> None:
    """A chain is as deep as it likes, however flat the message is."""
    message = written(samples.PLANS["expression detached"])
    lists = message.relations[0].detached_expressions
    call, length = lists[len(lists) - 1], 3000
    for ordinal in range(len(lists), length):
        lists.add().CopyFrom(call)
        lists[ordinal].scalar_function.arguments[1].value.detached_expression_ordinal = ordinal - 1
    message.relations[0].root.input.project.expressions[0].detached_expression_ordinal = length - 1
    first = read.plan(message, REGISTRY)
    assert write.plan(first) == message


def test_doubling_chains_of_detached_expressions() -> None:
    """Each refers to the one before twice: a tree of 2**200 leaves that nobody may walk."""
    message = written(samples.PLANS["expression detached"])
    lists = message.relations[0].detached_expressions
    call, length = lists[len(lists) - 1], 200
    for ordinal in range(len(lists), length):
        lists.add().CopyFrom(call)
        for argument in lists[ordinal].scalar_function.arguments:
            argument.value.detached_expression_ordinal = ordinal - 1
    message.relations[0].root.input.project.expressions[0].detached_expression_ordinal = length - 1
    with limited(Limits(repeated=2**210)):
        assert write.plan(read.plan(message, REGISTRY)) == message


def test_a_value_of_another_length_is_padded_or_refused() -> None:
    """The message of a fixedchar or fixedbinary has no length but that of its value."""

    def reread_literal(type: Type, value: Any) -> Literal:
        again: Any = reread(
            written(builder.read("t", {"a": "i32"}).select(x=Literal(type=type, value=value)).to_plan())
        )
        found: Literal = again.relations[0].input.expressions[0]
        return found

    assert reread_literal(FixedChar(length=4), "ab") == Literal(type=FixedChar(length=4), value="ab  ")
    for type, value in ((FixedChar(length=1), "ab"), (FixedBinary(length=4), b"ab"), (FixedBinary(length=1), b"ab")):
        with pytest.raises(InvalidPlanError, match="has the length 2, which is not that of a fixed"):
            reread_literal(type, value)

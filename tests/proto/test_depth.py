"""Plans nested thousands of levels deep load and are written; damaged ones are refused; nothing crashes."""

from __future__ import annotations

import json
import random
import sys
import threading
from typing import Any

import pytest
from google.protobuf.message import DecodeError

from pyspark_substrait.errors import PlanFormatError, SubstraitError
from pyspark_substrait.model.deep_stack import with_deep_stack
from pyspark_substrait.proto import legacy, messages
from pyspark_substrait.proto.depth import MAX_NESTING, is_deep
from pyspark_substrait.proto.wire import parse, to_bytes, to_json


def head() -> messages.Plan:
    plan = messages.Plan()
    plan.version.minor_number = 108
    plan.execution_behavior.variable_eval_mode = 1
    plan.extension_urns.add(extension_urn_anchor=1, urn="extension:io.substrait:functions_boolean")
    plan.extensions.add().extension_function.MergeFrom(function("not:bool"))
    return plan


def function(name: str) -> Any:
    declared = messages.current().named("extensions.SimpleExtensionDeclaration.ExtensionFunction")
    return declared(extension_urn_reference=1, function_anchor=1, name=name)


def calls(depth: int) -> messages.Plan:
    """not(not(…(true)))"""
    plan = head()
    rel = plan.relations.add().root.input
    rel.filter.input.read.named_table.names.append("t")
    expression = rel.filter.condition
    for _ in range(depth):
        expression.scalar_function.function_reference = 1
        expression = expression.scalar_function.arguments.add().value
    expression.literal.boolean = True
    return plan


def filters(depth: int) -> messages.Plan:
    plan = head()
    rel = plan.relations.add().root.input
    for _ in range(depth):
        rel.filter.condition.literal.boolean = True
        rel = rel.filter.input
    rel.read.named_table.names.append("t")
    return plan


def literals(depth: int) -> messages.Plan:
    """A list of a list of a list of …"""
    plan = head()
    rel = plan.relations.add().root.input
    rel.filter.input.read.named_table.names.append("t")
    literal = rel.filter.condition.literal
    for _ in range(depth):
        literal = literal.list.values.add()
    literal.i32 = 1
    return plan


def old_calls(depth: int) -> Any:
    """The same as `calls`, in the form of release 0.2: args."""
    plan: Any = legacy.union().named("Plan")()
    plan.extensions.add().extension_function.name = "not"
    rel: Any = plan.relations.add().root.input
    rel.filter.input.read.named_table.names.append("t")
    expression = rel.filter.condition
    for _ in range(depth):
        expression.scalar_function.function_reference = 0
        expression.scalar_function.output_type.bool.nullability = 2
        expression = expression.scalar_function.args.add()
    expression.literal.boolean = True
    return plan


@pytest.mark.parametrize("build", [calls, filters, literals])
@pytest.mark.parametrize("depth", [10, 30, 31, 32, 33, 34, 47, 48, 49, 50, 51, 100, 1000, 5000])
def test_a_deep_plan_is_read_and_written(build: Any, depth: int) -> None:
    plan = build(depth)
    data = plan.SerializeToString(deterministic=True)
    parsed = parse(data)
    assert parsed.message == plan
    assert parsed.notes == ()
    assert to_bytes(parsed.message) == data
    assert is_deep(parsed.message) == parsed.deep


@pytest.mark.parametrize("build", [calls, filters, literals])
@pytest.mark.parametrize("depth", [10, 40, 1000, 5000])
def test_a_deep_plan_is_read_and_written_as_json(build: Any, depth: int) -> None:
    plan = build(depth)
    text = to_json(plan)
    assert parse(text).message == plan
    if depth == 10:
        assert json.loads(text)["version"] == {"minorNumber": 108}


def test_a_deep_old_plan_is_upgraded() -> None:
    parsed = parse(old_calls(1000).SerializeToString())
    expression = parsed.message.relations[0].root.input.filter.condition
    for _ in range(1000):
        assert len(expression.scalar_function.arguments) == 1
        expression = expression.scalar_function.arguments[0].value
    assert expression.literal.boolean
    assert len(parsed.notes) == 1000


def test_an_unknown_field_far_below_is_found() -> None:
    for depth in (10, 20, 31, 33, 60, 500):
        plan = filters(depth)
        rel = plan.relations[0].root.input
        for _ in range(depth):
            rel = rel.filter.input
        rel.read.MergeFromString(b"\xf8\x3e\x05")
        with pytest.raises(PlanFormatError, match=r"field 1007 \(a number\)") as caught:
            parse(plan.SerializeToString())
        assert caught.value.path == "relations[0].root.input" + ".filter.input" * depth + ".read"


@pytest.mark.sweep
def test_beyond_the_maximum_there_is_a_clear_error() -> None:
    plan = calls(MAX_NESTING // 3 + 100)
    with pytest.raises(PlanFormatError, match="nested more than 30,000 messages deep"):
        parse(plan.SerializeToString())
    with pytest.raises(PlanFormatError, match="nested more than 30,000 messages deep"):
        parse(to_json(plan))
    plan.ClearField("version")
    with pytest.raises(PlanFormatError, match="nested more than 30,000 messages deep"):
        parse(plan.SerializeToString())
    with pytest.raises(PlanFormatError, match="nested more than"):
        parse("[" * 1_000_000)
    with pytest.raises(PlanFormatError, match="nested more than"):
        parse('{"relations":' * 200_000)


def test_with_deep_stack_returns_and_raises() -> None:
    def count(levels: int) -> int:
        return 0 if levels == 0 else 1 + count(levels - 1)

    limit = sys.getrecursionlimit()
    assert with_deep_stack(count, 100_000) == 100_000
    with pytest.raises(ZeroDivisionError):
        with_deep_stack(lambda: 1 // 0)
    assert sys.getrecursionlimit() == limit


def test_damaged_plans_are_refused_or_read_but_nothing_else() -> None:
    source = random.Random(7)
    plans = [build(depth).SerializeToString() for build in (calls, filters) for depth in (3, 60)]
    plans.append(old_calls(5).SerializeToString())
    for _ in range(1500):
        data = bytearray(source.choice(plans))
        for _ in range(source.randint(1, 4)):
            data[source.randrange(len(data))] = source.randrange(256)
        attempt(bytes(data))
        attempt(bytes(data[: source.randrange(len(data))]))
        attempt(source.randbytes(source.randint(1, 60)))


def test_damaged_json_is_refused_or_read_but_nothing_else() -> None:
    source = random.Random(11)
    text = to_json(calls(4))
    for _ in range(1500):
        position = source.randrange(len(text))
        attempt(text[:position].encode())
        attempt((text[:position] + source.choice('{}[]",:0aé\\ ') + text[position + 1 :]).encode())


def attempt(data: bytes) -> None:
    try:
        parsed = parse(data)
    except SubstraitError as error:
        assert str(error)
        assert "Traceback" not in str(error)
    else:
        assert isinstance(parsed.message, messages.Plan) or parsed.message.DESCRIPTOR.name == "ExtendedExpression"


def test_the_runtime_really_refuses_what_is_read_here() -> None:
    """If this fails, the runtime has become deeper and the way round it can go."""
    data = calls(50).SerializeToString()
    with pytest.raises(DecodeError):
        messages.Plan.FromString(data)


@pytest.mark.sweep
def test_a_thread_with_a_small_stack_does_not_crash() -> None:
    """Threads have stacks of 512 KiB on some systems, which the runtime itself would overflow."""
    plan = calls(9000)
    outcome: list[bool] = []

    def run() -> None:
        data = to_bytes(plan)
        parsed = parse(data)
        from_json = parse(to_json(parsed.message))
        outcome.append(to_bytes(parsed.message) == data == to_bytes(from_json.message))
        outcome.append(parse(parsed.message).deep)

    usual = threading.stack_size(512 * 1024)
    try:
        thread = threading.Thread(target=run)
        thread.start()
    finally:
        threading.stack_size(usual)
    thread.join()
    assert outcome == [True, True]

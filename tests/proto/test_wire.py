"""What `parse` takes and how it tells the forms apart, what it says about the rest; JSON as protobuf writes it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, json_format

from pyspark_substrait.errors import PlanFormatError, UnsupportedPlanError
from pyspark_substrait.proto import legacy, messages
from pyspark_substrait.proto.wire import parse, to_bytes, to_json

SHARED = Path(__file__).parents[3] / "shared"
PLANS = sorted(path for path in SHARED.glob("plans/**/*") if path.suffix in (".json", ".pb") and path.stem != "queries")

JSON: dict[str, Any] = {
    "version": {"minorNumber": 108, "producer": "me"},
    "executionBehavior": {"variableEvalMode": "VARIABLE_EVALUATION_MODE_PER_PLAN"},
    "relations": [
        {
            "root": {
                "input": {
                    "read": {
                        "baseSchema": {
                            "names": ["é", "b"],
                            "struct": {
                                "types": [
                                    {"i64": {"nullability": "NULLABILITY_REQUIRED"}},
                                    {"varchar": {"length": 7, "nullability": "NULLABILITY_NULLABLE"}},
                                ],
                                "nullability": "NULLABILITY_REQUIRED",
                            },
                        },
                        "namedTable": {"names": ["t"]},
                    }
                },
                "names": ["é", "b"],
            }
        }
    ],
}


@pytest.fixture
def plan() -> messages.Plan:
    return json_format.ParseDict(JSON, messages.Plan())


def test_every_form_of_source(plan: messages.Plan, tmp_path: Path) -> None:
    data, text = plan.SerializeToString(), json.dumps(JSON, ensure_ascii=False)
    binary_file, text_file = tmp_path / "plan.json", tmp_path / "plan"  # the suffix is no proof
    binary_file.write_bytes(data)
    text_file.write_text("\ufeff \n" + text, encoding="utf-8")
    other = legacy.union().named("Plan").FromString(data)
    sources = [
        data,
        bytearray(data),
        memoryview(data),
        text,
        "\n  " + text,
        text.encode(),
        binary_file,
        str(binary_file),
        text_file,
        str(text_file),
        JSON,
        plan,
        other,
    ]
    for source in sources:
        parsed = parse(source)
        assert parsed.message == plan
        assert type(parsed.message) is messages.Plan
        assert parsed.notes == ()
        assert parsed.original_version == "0.108.0"
        assert not parsed.deep


def test_snake_case_names() -> None:
    text = re.sub(r'"([a-z]+)([A-Z])([a-zA-Z]*)":', lambda m: f'"{m[1]}_{m[2].lower()}{m[3]}":', json.dumps(JSON))
    assert "execution_behavior" in text
    text = text.replace("variable_evalMode", "variable_eval_mode")
    assert parse(text).message == parse(JSON).message


def test_the_source_is_left_as_it_was(plan: messages.Plan) -> None:
    plan.version.minor_number = 20
    before = plan.SerializeToString()
    assert parse(plan).message is not plan
    assert plan.SerializeToString() == before


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (b"", "the plan is empty"),
        ("", "the text is empty, neither JSON nor a path"),
        (b"  \n", "the plan has only 3 bytes of white space"),
        (b"\xff\xff\xff\xff", "the bytes are neither a protobuf message of a plan nor JSON text"),
        (b"hello, world", "this is text that begins with 'hello, world', not a plan"),
        ("{", "the JSON text ends too early: a value that is open in line 1, column 2 isn't closed"),
        ('{"relations":\n  [}', "the JSON text has a syntax error in line 2, column 4: "),
        ('{"relations": []} x', "the JSON text goes on after its end, in line 1, column 19"),
        ('{"relations": [], "relations": []}', "the JSON text has the name 'relations' twice in one object"),
        (b'{"relations": "\xff"}', "the JSON text is not UTF-8, at byte 15"),
        ("[]", "the JSON text is a list, not an object"),
        ("{}", "the JSON object is empty"),
        ({}, "the JSON object is empty"),
        ({"relatons": []}, "'relatons' is not a field of Plan. Did you mean 'relations'?"),
        (
            {"relations": [{"root": {"input": {"read": {"baseShema": {}}}}}]},
            "relations[0].root.input.read: 'baseShema' is not a field of ReadRel. Did you mean 'baseSchema'?",
        ),
        ({"relations": {}}, "relations: 'relations' takes a list, not an object"),
        ({"relations": [1]}, "relations[0]: 'relations' takes an object, not 1"),
        ({"version": {"minorNumber": -1}}, "version.minor_number: 'minor_number' takes a whole number from 0 to "),
        ({"version": {"minorNumber": 1.5}}, "version.minor_number: 'minor_number' takes a whole number from 0 to "),
        ({"version": {"minorNumber": True}}, "version.minor_number: 'minor_number' takes a whole number from 0 to "),
        ({"version": {"producer": 1}}, "version.producer: 'producer' takes a string, not 1"),
        ({"version": {"minorNumber": 1, "minor_number": 2}}, "version: the object has the field 'minor_number' twice"),
        ({"relations": [{"rel": {}, "root": {}}]}, "relations[0]: the object has more than one field of 'rel_type'"),
        (
            {"relations": [{"rel": {"join": {"type": "JOIN_TYPE_INER"}}}]},
            "relations[0].rel.join.type: 'JOIN_TYPE_INER' is not a value of 'type'. Did you mean 'JOIN_TYPE_INNER'?",
        ),
        (
            {"relations": [{"rel": {"filter": {"condition": {"literal": {"binary": "é"}}}}}]},
            "relations[0].rel.filter.condition.literal.binary: 'binary' takes bytes in base64, not 'é'",
        ),
        (
            {"relations": [{"rel": {"extensionLeaf": {"detail": {"@type": "x.y/a.B"}}}}]},
            "relations[0].rel.extension_leaf.detail: the message of type 'x.y/a.B' cannot be read from JSON",
        ),
        (
            {"relations": [{"rel": {"read": {"localFiles": {"items": [{"format": "FILE_FORMAT_CSV"}]}}}}]},
            "relations[0].rel.read.local_files.items[0].format: 'format' takes a whole number",
        ),
        ("no such file", "there is no file 'no such file'"),
        ("a\0b", "the file 'a\\x00b' cannot be read: embedded null byte"),
        ("x" * 10_000, "the file 'xxx"),
        (3, "an object of the type int is not a plan"),
        (None, "an object of the type NoneType is not a plan"),
        (messages.Rel(), "a message substrait.Rel is not a plan"),
        (messages.Plan(), "the message is empty"),
    ],
)
def test_what_can_not_be_read(source: Any, message: str) -> None:
    with pytest.raises(PlanFormatError) as caught:
        parse(source)
    assert str(caught.value).startswith(message)


def test_files_that_can_not_be_read(tmp_path: Path) -> None:
    with pytest.raises(PlanFormatError, match="is a directory, not a plan"):
        parse(tmp_path)
    (tmp_path / "empty").touch()
    with pytest.raises(PlanFormatError, match="the plan is empty"):
        parse(tmp_path / "empty")


def test_an_unknown_field_is_an_error_that_names_it(plan: messages.Plan) -> None:
    plan.relations[0].root.input.read.MergeFromString(b"\xf2\x3e\x01a")
    with pytest.raises(PlanFormatError) as caught:
        parse(plan)
    assert str(caught.value).startswith(
        "relations[0].root.input.read: field 1006 (a length-delimited value) is in no release of ReadRel"
    )


def test_a_foreign_message_is_refused() -> None:
    with pytest.raises(PlanFormatError):
        parse(descriptor_pb2.FileDescriptorProto(name="x", package="y").SerializeToString())


def extended(**fields: Any) -> messages.ExtendedExpression:
    message = messages.ExtendedExpression(**fields)
    message.referred_expr.add(output_names=["x"]).expression.literal.i64 = 5
    return message


def test_extended_expressions_are_told_from_plans_by_their_fields() -> None:
    full = extended()
    full.version.minor_number = 50
    full.base_schema.names.append("a")
    full.base_schema.struct.types.add().i64.nullability = 1
    bare = extended()
    measure = messages.ExtendedExpression()
    measure.referred_expr.add(output_names=["x"]).measure.function_reference = 3
    urls = extended(expected_type_urls=["type.googleapis.com/x"])
    detached = extended()
    detached.detached_expressions.add().literal.boolean = True
    for message in (full, bare, measure, urls, detached):
        parsed = parse(message.SerializeToString())
        expected = type(message)()
        expected.CopyFrom(message)
        parsed.message.ClearField("version")
        expected.ClearField("version")
        assert parsed.message == expected
        assert parse(to_json(message)).message.DESCRIPTOR.name == "ExtendedExpression"


def test_plans_are_told_from_extended_expressions_by_their_fields(plan: messages.Plan) -> None:
    without_version = messages.Plan()
    without_version.CopyFrom(plan)
    without_version.ClearField("version")
    without_version.ClearField("execution_behavior")
    only_rel = messages.Plan()
    only_rel.relations.add().rel.CopyFrom(plan.relations[0].root.input)
    bindings = messages.Plan()
    bindings.CopyFrom(without_version)
    bindings.parameter_bindings.add(parameter_anchor=1).value.i64 = 3
    bindings.advanced_extensions.enhancement.type_url = "x/y"
    for message in (without_version, only_rel, bindings):
        parsed = parse(message.SerializeToString())
        assert type(parsed.message) is messages.Plan
        assert parsed.message.relations == message.relations


def test_json_is_what_protobuf_writes() -> None:
    plan = messages.Plan()
    project = plan.relations.add().rel.project
    for kind, value in [
        ("i64", -(2**63)),
        ("i32", -5),
        ("fp32", 0.1),
        ("fp32", float("inf")),
        ("fp32", 16777216.0),
        ("fp64", 0.1),
        ("fp64", float("-inf")),
        ("fp64", 1e300),
        ("boolean", False),
        ("string", 'é"\\\n\x00\u2028'),
        ("binary", b"\x00\xff\xfe"),
        ("decimal", None),
    ]:
        literal = project.expressions.add().literal
        if value is None:
            getattr(literal, kind).SetInParent()
        else:
            setattr(literal, kind, value)
    project.common.direct.SetInParent()
    project.common.hint.stats.row_count = 2.0
    project.advanced_extension.enhancement.Pack(messages.Rel(reference={"subtree_ordinal": 3}))
    plan.relations.add().rel.join.type = 77
    text = to_json(plan)
    pool = messages.current().pool
    assert json.loads(text) == json_format.MessageToDict(plan, descriptor_pool=pool)
    assert text == json_format.MessageToJson(plan, indent=2, ensure_ascii=False, descriptor_pool=pool)
    back = parse(text).message
    assert back.relations == plan.relations


def test_not_a_number_in_json() -> None:
    plan = messages.Plan()
    plan.relations.add().rel.filter.condition.literal.fp64 = float("nan")
    text = to_json(plan)
    assert '"NaN"' in text
    value = parse(text).message.relations[0].rel.filter.condition.literal.fp64
    assert value != value


def test_a_message_of_unknown_type_stays_binary() -> None:
    plan = messages.Plan()
    detail = plan.relations.add().rel.extension_leaf.detail
    detail.type_url, detail.value = "x.y/a.B", b"abc"
    assert parse(to_bytes(plan)).message.relations == plan.relations
    with pytest.raises(UnsupportedPlanError, match=r"type 'x\.y/a\.B' cannot be written as JSON"):
        to_json(plan)


@pytest.mark.skipif(not PLANS, reason="the shared folder is absent")
@pytest.mark.parametrize("path", PLANS, ids=lambda path: str(path.relative_to(SHARED)))
def test_shared_plans_are_read_and_settled(path: Path) -> None:
    parsed = parse(path)
    again = parse(to_bytes(parsed.message))
    assert again.message == parsed.message
    assert again.notes == ()
    assert parse(to_json(parsed.message)).message == parsed.message
    copy = type(parsed.message)()
    copy.CopyFrom(parsed.message)
    copy.DiscardUnknownFields()
    assert copy.ByteSize() == parsed.message.ByteSize()


@pytest.mark.skipif(not SHARED.exists(), reason="the shared folder is absent")
def test_the_tutorial_as_it_was_printed() -> None:
    text = next(SHARED.glob("seeds/004_*.txt")).read_text()
    start = text.index('{\n  "version"')
    value, _ = json.JSONDecoder().raw_decode(text[start:])
    parsed = parse(value)
    assert parsed.message == parse(SHARED / "plans/tutorial/final_plan.2023.json").message
    aggregate = parsed.message.relations[0].root.input.aggregate
    assert len(aggregate.grouping_expressions) == 2
    assert list(aggregate.groupings[0].expression_references) == [0, 1]
    assert [declared.urn for declared in parsed.message.extension_urns] == [
        "extension:io.substrait:functions_set",
        "extension:io.substrait:functions_comparison",
        "extension:io.substrait:functions_arithmetic_decimal",
    ]


@pytest.mark.skipif(not SHARED.exists(), reason="the shared folder is absent")
def test_a_schema_of_the_tutorial_as_it_was_printed() -> None:
    """One object with two kinds stands for two types of a struct."""
    text = next(SHARED.glob("seeds/004_*.txt")).read_text()
    printed = text[text.index("Here, names is the names of all fields") :]
    value, _ = json.JSONDecoder().raw_decode(printed[printed.index("{\n") :])
    parsed = parse({"relations": [{"rel": {"read": {"baseSchema": value, "namedTable": {"names": ["products"]}}}}]})
    details = parsed.message.relations[0].rel.read.base_schema.struct.types[2].struct
    assert [each.WhichOneof("kind") for each in details.types] == ["string", "i32"]
    assert parsed.notes[0].path == "relations[0].rel.read.base_schema.struct.types[2].struct.types[0]"

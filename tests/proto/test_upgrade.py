"""Every breaking change of the plan format: a plan before it, and the same plan as it is written today.

``migrations/<rule>[.variant].before.json`` is read; ``….after.json`` is what it must become. The version and the
execution behaviour, which every upgrade writes, are left out of the files.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from google.protobuf.message import Message

from pyspark_substrait.errors import InvalidPlanError, PlanFormatError, SubstraitError
from pyspark_substrait.model.notes import Note
from pyspark_substrait.model.plan import CURRENT_VERSION
from pyspark_substrait.proto import legacy, messages, upgrade
from pyspark_substrait.proto.json_read import message_from_json
from pyspark_substrait.proto.upgrade.extensions import urn_of
from pyspark_substrait.proto.wire import parse, to_bytes

MIGRATIONS = Path(__file__).parent / "migrations"
SHARED = Path(__file__).parents[3] / "shared"
CASES = sorted(path.name.removesuffix(".before.json") for path in MIGRATIONS.glob("*.before.json"))
# what only the JSON form could be wrong about
JSON_ONLY = {"json-name", "json-enum-name", "repeated-optimization", "several-types-in-one", "virtual-table-row"}


def after(case: str) -> Message:
    """The expected message, read by protobuf's own JSON parser."""
    text = (MIGRATIONS / f"{case}.after.json").read_text()
    extended = "referredExpr" in json.loads(text)
    message: Message = messages.ExtendedExpression() if extended else messages.Plan()
    json_format.Parse(text, message)
    return message


def bare(message: Any) -> Any:
    message.ClearField("version")
    if message.DESCRIPTOR.name == "Plan":
        message.ClearField("execution_behavior")
    return message


@pytest.mark.parametrize("case", CASES)
def test_json(case: str) -> None:
    parsed = parse((MIGRATIONS / f"{case}.before.json").read_text())
    assert bare(parsed.message) == after(case)
    rule = case.partition(".")[0]
    assert rule in {note.rule for note in parsed.notes}
    assert all(note.path or note.rule == "json-name" for note in parsed.notes)


@pytest.mark.parametrize("case", CASES)
def test_binary(case: str) -> None:
    """The same from the bytes that an old producer would have written."""
    value = json.loads((MIGRATIONS / f"{case}.before.json").read_text())
    kind = "ExtendedExpression" if "referredExpr" in value else "Plan"
    parsed = parse(message_from_json(value, kind, [])[0].SerializeToString())
    assert bare(parsed.message) == after(case)
    rule = case.partition(".")[0]
    if rule not in JSON_ONLY:
        assert rule in {note.rule for note in parsed.notes}


@pytest.mark.parametrize("case", CASES)
def test_an_upgraded_plan_needs_no_upgrade(case: str) -> None:
    parsed = parse((MIGRATIONS / f"{case}.before.json").read_text())
    again = parse(to_bytes(parsed.message))
    assert again.message == parsed.message
    assert {note.rule for note in again.notes} <= {"unknown-extension-uri"}


def test_every_case_has_both_files() -> None:
    names = {path.name for path in MIGRATIONS.iterdir()}
    assert names == {f"{case}.{side}.json" for case in CASES for side in ("before", "after")}


def test_every_rule_has_a_case() -> None:
    """The rules are found in the source, where each leaves a note under its name."""
    source = Path(upgrade.__file__).parent
    text = "".join(path.read_text() for path in [*source.glob("*.py"), source.parent / "json_read.py"])
    rules = set(re.findall(r'(?:\.note\(\s*|rule=)"([a-z-]+)"', text))
    assert len(rules) > 30
    assert {case.partition(".")[0] for case in CASES} == rules


def test_a_row_of_release_0_58_in_binary() -> None:
    """In 0.58.0 the field that holds rows today held expressions, a struct each: the same number, other bytes."""
    from pyspark_substrait.proto import messages

    rows = [messages.Expression(), messages.Expression()]
    rows[0].literal.struct.fields.add().i64 = 1
    rows[1].nested.struct.fields.add().literal.i64 = 2
    plan = messages.Plan()
    plan.version.minor_number = 58
    table = plan.relations.add().rel.read.virtual_table
    for row in rows:
        table.expressions.add().MergeFromString(row.SerializeToString())
    parsed = parse(plan.SerializeToString())
    values = [
        [field.literal.i64 for field in row.fields]
        for row in parsed.message.relations[0].rel.read.virtual_table.expressions
    ]
    assert values == [[1], [2]]
    assert [note.rule for note in parsed.notes] == ["virtual-table-row", "virtual-table-row"]


def test_an_enum_argument_of_release_0_19_in_binary() -> None:
    old = b"\x0a\x04YEAR"  # FunctionArgument.Enum{specified: "YEAR"}
    plan = messages.Plan()
    call = plan.relations.add().rel.filter.condition.scalar_function
    call.arguments.add().MergeFromString(b"\x0a" + bytes([len(old)]) + old)
    parsed = parse(plan.SerializeToString())
    arguments = parsed.message.relations[0].rel.filter.condition.scalar_function.arguments
    assert [argument.enum for argument in arguments] == ["YEAR"]


def test_the_version_is_stamped_and_what_it_was_is_kept() -> None:
    plan = messages.Plan()
    plan.version.minor_number = 85
    plan.version.git_hash = "0" * 40
    plan.version.producer = "somebody"
    plan.relations.add().rel.read.named_table.names.append("t")
    parsed = parse(plan)
    version = parsed.message.version
    assert parsed.original_version == "0.85.0"
    assert (version.major_number, version.minor_number, version.patch_number) == CURRENT_VERSION == (0, 108, 0)
    assert (version.producer, version.git_hash) == ("somebody", "")
    assert parsed.message.execution_behavior.variable_eval_mode == 1
    assert parsed.notes == ()
    assert plan.version.minor_number == 85


def test_a_missing_execution_behavior_is_noted_where_it_was_required() -> None:
    assert [note.rule for note in parse({"version": {"minorNumber": 87}, "relations": []}).notes] == [
        "execution-behavior"
    ]


def test_no_version() -> None:
    assert parse({"relations": [{"rel": {"read": {"namedTable": {"names": ["t"]}}}}]}).original_version is None


def test_a_note_says_where_and_what() -> None:
    case = (MIGRATIONS / "grouping-expressions.before.json").read_text()
    assert parse(case).notes[0] == Note(
        rule="grouping-expressions",
        path="relations[0].rel.aggregate.groupings[0]",
        before="2 grouping_expressions",
        after="expression_references [0, 1]",
    )


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            {"relations": [{"rel": {"hashJoin": {"leftKeys": [{}], "rightKeys": []}}}]},
            "relations[0].rel.hash_join: the join has 1 left keys and 0 right keys",
        ),
        (
            {
                "relations": [
                    {"rel": {"filter": {"condition": {"windowFunction": {"lowerBound": {"preceding": {
                        "offset": 2, "offsetExpr": {"literal": {"i64": 3}}}}}}}}}
                ]
            },
            "relations[0].rel.filter.condition.window_function.lower_bound.preceding: offset is 2 and offset_expr is 3",
        ),
    ],
)  # fmt: skip
def test_contradictions(source: Any, message: str) -> None:
    with pytest.raises(InvalidPlanError) as caught:
        parse(source)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("uri", "urn"),
    [
        ("/functions_arithmetic.yaml", "extension:io.substrait:functions_arithmetic"),
        ("functions_arithmetic.yaml", "extension:io.substrait:functions_arithmetic"),
        ("./extensions/functions_arithmetic.yaml", "extension:io.substrait:functions_arithmetic"),
        ("file:///tmp/functions_arithmetic.yaml", "extension:io.substrait:functions_arithmetic"),
        (
            "https://github.com/substrait-io/substrait/tree/v0.20.0/extensions/extension_types.yaml",
            "extension:io.substrait:extension_types",
        ),
        (
            "https://github.com/apache/arrow/blob/main/format/substrait/extension_types.yaml",
            "https://github.com/apache/arrow/blob/main/format/substrait/extension_types.yaml",
        ),
        ("/my_functions.yaml", "/my_functions.yaml"),
        ("extension:com.acme:things", "extension:com.acme:things"),
        ("https://github.com/substrait-io/substrait/blob/main/extensions/", None),
        ("https://github.com/substrait-io/substrait/blob/main/extensions", None),
        ("", None),
        (" ", None),
        ("/", None),
    ],
)
def test_urn_of(uri: str, urn: str | None) -> None:
    assert urn_of(uri) == urn


def test_the_union_has_every_removed_field() -> None:
    """Section A of the list of migrations: 25 fields, each known to the union and to no current message."""
    table = SHARED / "spec" / "migrations.md"
    if not table.exists():
        pytest.skip("the shared folder is absent")
    section = table.read_text().partition("## A.")[2].partition("\\*")[0]
    rows = [line.split("|")[4].strip() for line in section.splitlines() if re.match(r"\| \d", line)]
    assert len(rows) == 21
    for row in rows:
        for match in re.finditer(r"`([A-Za-z.{},]*?)\.?(\w+|\{[\w,]+\})` = (\d+)", row):
            owner = match[1]
            for number in (int(match[3]),):
                for name in owners(owner):
                    assert number in legacy.union().named(name).DESCRIPTOR.fields_by_number, (row, name)


def owners(text: str) -> list[str]:
    """``A.{B,C}`` and the short names that the list uses."""
    short = {
        "Literal": "Expression.Literal",
        "Literal.IntervalDayToSecond": "Expression.Literal.IntervalDayToSecond",
        "": "HashJoinRel",
    }
    if "{" in text:
        prefix, _, rest = text.partition("{")
        names = [f"extensions.{prefix}{name}" for name in rest.rstrip("}").split(",")]
    else:
        names = [text]
    return [short.get(name, name) for name in names]


@pytest.mark.parametrize("row", [{"nested": {"list": {}}}, {"nested": {}}, {"literal": {"i64": "1"}}, {"literal": {}}])
def test_a_row_of_release_0_58_that_is_no_struct_is_refused(row: dict[str, Any]) -> None:
    table = {"baseSchema": {}, "virtualTable": {"expressions": [row]}}
    plan = {"version": {"minorNumber": 58}, "relations": [{"rel": {"read": table}}]}
    with pytest.raises(PlanFormatError, match="virtual_table"):
        parse(json.dumps(plan))


def test_unknown_fields_of_removed_messages_are_refused() -> None:
    """A descriptor set is a plan with one extension URI in its old field, as far as the wire format can tell."""
    from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

    content = FileDescriptorSet(file=[FileDescriptorProto(name="a.proto")]).SerializeToString()
    with pytest.raises(
        PlanFormatError, match=r"field 1 .* is in no release of extensions\.SimpleExtensionURI"
    ) as error:
        parse(content)
    assert error.value.path == "extension_uris[0]"
    faults: list[SubstraitError] = []
    parse(content, faults)
    assert [fault.path for fault in faults] == ["extension_uris[0]"]

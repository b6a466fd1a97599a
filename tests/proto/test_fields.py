"""A relation of nobody's is read and written by what its fields say, without a line about it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, ClassVar

import pytest
from google.protobuf import descriptor_pb2, json_format, message_factory

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.expressions import Expression, FieldReference, SortField
from pyspark_substrait.model.fields import CONDITION, Over
from pyspark_substrait.model.literals import AnyMessage, Literal
from pyspark_substrait.model.relations import BrokenRelation, FetchMode, Read, Relation, RoundRobin, SetOp
from pyspark_substrait.model.relations.base import LOGICAL, RelationInfo
from pyspark_substrait.model.relations.logical import PassThrough
from pyspark_substrait.model.types import I32
from pyspark_substrait.model.types import Boolean as Bool
from pyspark_substrait.proto import messages
from pyspark_substrait.proto.read import fields as reading_fields
from pyspark_substrait.proto.read.context import Reading, Scope
from pyspark_substrait.proto.write.context import Declarations, Parts
from pyspark_substrait.proto.write.fields import fields as write
from tests.proto.messages import BOOL, ONE, REGISTRY, Json, column, table
from tests.proto.messages import I32 as I32_TYPE

PATH = (None, "sampled")


@dataclass(frozen=True, kw_only=True)
class Sampled(PassThrough):
    """A field of every form."""

    info: ClassVar = RelationInfo("Takes a sample.", field="sampled", page=LOGICAL, icon="filter")

    op: SetOp
    method: RoundRobin | AnyMessage | str
    condition: Annotated[Expression, CONDITION]
    sorts: tuple[SortField, ...] = ()
    last: Annotated[Expression | None, Over.OUTPUT, CONDITION] = None
    count: Annotated[Expression | None, Over.NOTHING] = None
    mode: FetchMode = FetchMode.UNSPECIFIED
    seed: int = 0
    names: tuple[str, ...] = ()
    share: float | None = None


@cache
def sampled_message() -> Any:
    file = descriptor_pb2.FileDescriptorProto(
        name="tests/sampled.proto",
        package="tests",
        syntax="proto3",
        dependency=["substrait/algebra.proto", "google/protobuf/any.proto"],
    )
    message = file.message_type.add(name="SampledRel")
    message.oneof_decl.add(name="method")
    message.oneof_decl.add(name="_share")

    def field(name: str, type: str, **rest: Any) -> None:
        simple, of_enum = "." not in type, type.endswith(("SetOp", "FetchMode"))
        form = type if simple else "ENUM" if of_enum else "MESSAGE"
        made: Any = {"label": 1, "type": getattr(descriptor_pb2.FieldDescriptorProto, f"TYPE_{form}"), **rest}
        message.field.add(name=name, number=len(message.field) + 1, type_name=None if simple else type, **made)

    many = {"label": 3}
    field("common", ".substrait.RelCommon")
    field("input", ".substrait.Rel")
    field("op", ".substrait.SetRel.SetOp")
    field("round_robin", ".substrait.ExchangeRel.RoundRobin", oneof_index=0)
    field("extended", ".google.protobuf.Any", oneof_index=0)
    field("name", "STRING", oneof_index=0)
    field("condition", ".substrait.Expression")
    field("sorts", ".substrait.SortField", **many)
    field("last", ".substrait.Expression")
    field("count", ".substrait.Expression")
    field("mode", ".substrait.FetchMode")
    field("seed", "INT32")
    field("names", "STRING", **many)
    field("share", "DOUBLE", proto3_optional=True, oneof_index=1)
    field("advanced_extension", ".substrait.extensions.AdvancedExtension")
    pool = messages.current().pool
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("tests.SampledRel"))


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_fields, "_RELATIONS", reading_fields._RELATIONS | {Sampled})


SMALL: Json = {
    "input": table(BOOL, I32_TYPE),
    "op": "SET_OP_UNION_ALL",
    "roundRobin": {"exact": True},
    "condition": column(0),
}
FULL: Json = {
    **SMALL,
    "common": {"emit": {"outputMapping": [1]}, "hint": {"alias": "a", "stats": {"rowCount": 3}}},
    "sorts": [{"expr": column(1), "direction": "SORT_DIRECTION_ASC_NULLS_FIRST"}],
    "last": column(0),
    "count": ONE,
    "mode": "FETCH_MODE_WITH_TIES",
    "seed": 7,
    "names": ["x", "y"],
    "share": 0.5,
    "advancedExtension": {"enhancement": {"@type": "type.googleapis.com/substrait.FilterRel"}},
}


def parsed(fields: Json) -> Any:
    return json_format.ParseDict(fields, sampled_message()(), descriptor_pool=messages.current().pool)


def read(fields: Json, reading: Reading | None = None) -> Any:
    message = parsed(fields)
    scope = Scope(reading or Reading(registry=REGISTRY))
    return reading_fields.reader(Sampled, message.DESCRIPTOR)(message, scope, PATH)


def written(node: Any) -> Any:
    into = sampled_message()()
    write(node, into, Parts(Declarations(None), None, None))
    return into


def test_every_form_is_read() -> None:
    node = read(FULL)
    assert isinstance(node, Sampled)
    assert isinstance(node.input, Read)
    assert (node.common.emit, node.op, node.mode) == ((1,), SetOp.UNION_ALL, FetchMode.WITH_TIES)
    assert node.common.hint is not None
    assert (node.common.hint.alias, node.common.hint.stats and node.common.hint.stats.row_count) == ("a", 3)
    assert (node.seed, node.names, node.share, node.method) == (7, ("x", "y"), 0.5, RoundRobin(exact=True))
    assert isinstance(node.condition, FieldReference)
    assert [node.condition.type, node.sorts[0].expr.type] == [Bool(), I32()]
    assert node.last == node.condition
    assert node.count == Literal(type=I32(), value=1)
    assert node.enhanced


def test_what_is_left_out_has_its_default() -> None:
    node = read(SMALL)
    assert node == Sampled(
        input=node.input, op=SetOp.UNION_ALL, method=RoundRobin(exact=True), condition=node.condition
    )


@pytest.mark.parametrize("fields", [SMALL, FULL], ids=["small", "full"])
def test_what_was_read_is_written(fields: Json) -> None:
    again = parsed(fields)
    if not again.HasField("common"):
        again.common.direct.SetInParent()
    again.input.CopyFrom(written(read(fields)).input)
    assert written(read(fields)) == again


@pytest.mark.parametrize(
    ("method", "value"),
    [
        ({"name": "twice"}, "twice"),
        (
            {"extended": {"@type": "type.googleapis.com/substrait.FilterRel"}},
            AnyMessage("type.googleapis.com/substrait.FilterRel", b""),
        ),
    ],
    ids=["text", "message"],
)
def test_one_of_several(method: Json, value: object) -> None:
    fields = {**{name: given for name, given in SMALL.items() if name != "roundRobin"}, **method}
    node = read(fields)
    assert node.method == value
    assert read(json_format.MessageToDict(written(node), descriptor_pool=messages.current().pool)) == node


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"count": column(0)}, "there is no input record in this place"),
        ({"condition": ONE}, r"sampled\.condition: the condition is i32"),
        ({"last": column(5)}, r"sampled\.last\.selection\.direct_reference"),
        ({"op": 0}, r"sampled\.op: op is unspecified"),
        ({"op": 99}, r"sampled\.op: op is 99"),
        ({"mode": 99}, r"sampled\.mode: mode is 99"),
        ({"condition": None}, r"sampled\.condition: an expression is missing"),
        ({"roundRobin": None}, "sampled: method is missing"),
    ],
)
def test_faults_are_raised(change: Json, fault: str) -> None:
    fields = {name: value for name, value in {**SMALL, **change}.items() if value is not None}
    with pytest.raises(InvalidPlanError, match=fault):
        read(fields)


@pytest.mark.parametrize(
    ("name", "fault", "code"),
    [
        ("op", "unknown op", Code.PROTO_UNSPECIFIED_ENUM),
        ("roundRobin", "unknown method", Code.PROTO_MISSING_FIELD),
    ],
)
def test_without_a_required_field_it_is_broken(name: str, fault: str, code: Code) -> None:
    reading = Reading(registry=REGISTRY, findings=[])
    node = read({field: value for field, value in FULL.items() if field != name}, reading)
    assert isinstance(node, BrokenRelation)
    members: tuple[Relation, ...] = node.members
    assert (node.kind, node.fault, [type(member) for member in members]) == ("sampled", fault, [Read])
    assert [finding.code for finding in reading.findings or ()] == [code]


def test_reading_goes_on_behind_a_condition() -> None:
    reading = Reading(registry=REGISTRY, findings=[])
    node = read({**{name: value for name, value in FULL.items() if name != "condition"}, "mode": 99}, reading)
    assert isinstance(node, Sampled)
    assert node.mode is FetchMode.UNSPECIFIED
    assert [(item.code, item.path, item.what) for item in reading.findings or ()] == [
        (Code.PROTO_MISSING_FIELD, "sampled", "condition is missing"),
        (Code.PROTO_UNKNOWN_ENUM, "sampled.mode", "mode is 99, which the specification does not have"),
    ]

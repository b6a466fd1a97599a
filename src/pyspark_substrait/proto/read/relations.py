"""``Rel`` messages: the dispatch, and the logical relations that aren't reads, joins or writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from pyspark_substrait.codes import Code, Level
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.extensions.relation_handlers import extension_schema
from pyspark_substrait.model.expressions import AggregateFunction
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.paths import Path, render
from pyspark_substrait.model.relations import (
    Aggregate,
    BrokenRelation,
    DetachedRel,
    Generate,
    Grouping,
    Measure,
    Reference,
    Relation,
    SetOp,
)
from pyspark_substrait.model.relations.base import assume_direct_schema
from pyspark_substrait.model.relations.extension import ExtensionSchema, input_schema
from pyspark_substrait.model.relations.logical import set_faults
from pyspark_substrait.model.types import OpenStruct, Struct, Unbound
from pyspark_substrait.proto import generates, messages
from pyspark_substrait.proto.depth import is_repeated
from pyspark_substrait.proto.read import expressions, functions, grouping_ids, trees
from pyspark_substrait.proto.read.context import Reading, Scope, invalid
from pyspark_substrait.proto.read.fields import Fields, ValueReader, reader
from pyspark_substrait.proto.read.habits import datafusion_coercion, datafusion_values, isthmus
from pyspark_substrait.proto.read.literals import any_message
from pyspark_substrait.proto.read.quirks import project_emit
from pyspark_substrait.proto.read.recovery import settle

__all__ = ["aggregate", "detail", "extension", "extension_single", "measure", "project", "relation", "set_"]

_KINDS: tuple[Any, ...] = get_args(Relation)


def relation(message: messages.Rel, scope: Scope, path: Path) -> Relation:
    """Read a relation and its inputs. Of ``scope``, it can refer only to what is outside of its query.

    Raises:
        InvalidPlanError: it is missing, or contradicts the specification or itself.
    """
    reading, kind = scope.reading, message.WhichOneof("rel_type")
    place = path if kind is None else (path, kind)
    if kind not in _PLAIN:
        reading.plain = False
    if reading.findings is None:
        node = _relation(message, kind, scope, place)
        if reading.placed:
            reading.places.add(node, place)
        return node
    known = len(reading.places)
    try:
        node = _relation(message, kind, scope, place)
    except SubstraitError as error:
        reading.fault(error)
        node = BrokenRelation(
            kind=kind or "", fault=error.message, members=_members(message, kind, known, scope, place)
        )
    reading.places.add(node, place)
    return node


def _relation(message: messages.Rel, kind: str | None, scope: Scope, path: Path) -> Relation:
    if kind is None:
        raise invalid("a relation is missing", path, code=Code.RELATION_MISSING)
    node: Relation = _READERS[kind](getattr(message, kind), scope, path)
    reading = scope.reading
    settle(node, reading, path)
    reading.nodes += 1
    direct, schema = node.direct_schema, node.schema
    reading.has_columns((schema,) if schema is direct else (direct, schema), path)
    return node


def _members(message: messages.Rel, kind: str | None, known: int, scope: Scope, path: Path) -> tuple[Relation, ...]:
    """The inputs of a broken relation: those read after ``known``, and the others, which are read now."""
    if kind is None or kind == "detached_rel_ordinal":
        return ()
    read = [(node, place) for node, place in scope.reading.places.since(known) if isinstance(node, _KINDS)]
    members: list[Relation] = []
    for field, value in getattr(message, kind).ListFields():
        if field.message_type is None or field.message_type.name != "Rel":
            continue
        name: Path = (path, field.name)
        items = [(item, (name, i)) for i, item in enumerate(value)] if is_repeated(field) else [(value, name)]
        for item, place in items:
            text = render((place, item.WhichOneof("rel_type") or ""))
            found = next((node for node, at in read if render(at) == text), None)
            members.append(relation(item, scope, place) if found is None else found)
    return tuple(members)


def project(fields: Fields) -> Relation:
    """Finish a projection, whose emit may be that of DuckDB."""
    input, added, reading, path = fields["input"].schema, fields["expressions"], fields.reading, fields.path
    if not added:
        what, fix = "the projection has no expression", "Add one, or emit the columns of the input itself"
        reading.find(Code.PROTO_MISSING_FIELD, path, what, level=Level.WARNING, fix=fix)
    if not isinstance(input, OpenStruct):
        width = len(input.types)
        fields["common"] = project_emit(fields.message, fields["common"], width, len(added), reading, path)
    return fields.node()


def aggregate(fields: Fields) -> Relation:
    """Finish an aggregate, whose columns may be those of DataFusion."""
    message, reading, path, measures = fields.message, fields.reading, fields.path, fields["measures"]
    keys, groupings = fields["grouping_expressions"], fields["groupings"]
    _check_groupings(groupings, len(keys), reading, path)
    counted = grouping_ids.is_counted(message, reading)
    if counted:
        keys, groupings = grouping_ids.distinct_keys(message, keys, groupings)
    else:
        keys, groupings = grouping_ids.keys_counted_once(message, keys, groupings, reading, path)
    fields["grouping_expressions"], fields["groupings"] = keys, groupings
    if not keys and not measures:
        hint = "Give it a measure or a grouping expression"
        reading.fault(invalid("the aggregate has no column", path, hint, Code.RELATION_INVALID))
    datafusion_values.float_keys([key.type for key in keys], reading, path)
    fields["measures"] = tuple([measure for measure in measures if measure is not None])
    node = fields.node()
    assert isinstance(node, Aggregate)
    if None in measures:
        _leave_open(node, measures)
    made = grouping_ids.counted(node, reading, path) if counted else node
    if reading.meaning is None:
        return made
    return reading.meaning.aggregated(made, [measure.measure for measure in measures if measure is not None])


def measure(message: Any, scope: Scope, path: Path) -> Measure | None:
    """Read a measure; None if it is invalid and findings are collected."""
    computed: AggregateFunction | None = None
    with scope.reading.going_on():
        if not message.HasField("measure"):
            raise invalid("a measure is missing", path, code=Code.PROTO_MISSING_FIELD)
        computed = functions.aggregate_function(message.measure, scope, (path, "measure"))
    condition = expressions.optional_condition(message, "filter", scope, path)
    return None if computed is None else Measure(measure=computed, filter=condition)


def _leave_open(node: Aggregate, measures: Sequence[Measure | None]) -> None:
    """Make the columns of broken measures unbound in the schema of an aggregate."""
    types, left = list(node.direct_schema.types), iter(measures)
    keys = len(node.grouping_expressions)
    of_measures = iter(types[keys:])
    columns = [Unbound(nullable=True) if measure is None else next(of_measures) for measure in left]
    assume_direct_schema(node, Struct(types=(*types[:keys], *columns, *of_measures)))


def _check_groupings(groupings: tuple[Grouping, ...], keys: int, reading: Reading, path: Path) -> None:
    used: set[int] = set()
    for index, grouping in enumerate(groupings):
        for position in grouping.expression_references:
            if position >= keys:
                fault = f"the grouping set refers to expression {position}, but there are {keys} grouping expressions"
                reading.fault(invalid(fault, ((path, "groupings"), index), code=Code.RELATION_GROUPING))
        used.update(grouping.expression_references)
    for position in range(keys):
        if position not in used:
            place: Path = ((path, "grouping_expressions"), position)
            fault, hint = "the grouping expression is in no grouping set", "Add it to one, or remove it"
            reading.fault(invalid(fault, place, hint, Code.RELATION_GROUPING))


def set_(fields: Fields) -> Relation:
    """Finish a set operation."""
    if fields["op"] is None:
        for fault in set_faults(fields["members"]):
            with fields.reading.going_on(fields.path):
                raise fault
        return fields.broken("unknown operation")
    members = datafusion_coercion.coerced_members(fields["members"], fields.reading, fields.path)
    fields["members"] = isthmus.same_columns(members, fields.reading, fields.path)
    if fields["op"] is not SetOp.UNION_ALL:
        types = [type for member in fields["members"] for type in member.schema.types]
        datafusion_values.float_keys(types, fields.reading, fields.path)
    return fields.node()


def _reference(message: Any, scope: Scope, path: Path) -> Relation:
    ordinal = message.subtree_ordinal
    scope.reading.uses(("tree", ordinal), path)
    return Reference(subtree_ordinal=ordinal, subtree=trees.tree(ordinal, scope, path))


def _detached(ordinal: int, scope: Scope, path: Path) -> Relation:
    reading, lists = scope.reading, scope.detached
    if ordinal >= len(lists.rels):
        fault = f"there are {len(lists.rels)} detached relations, no number {ordinal}"
        raise invalid(fault, path, code=Code.LINK_MISSING_PART)
    place: Path = ((lists.path, "detached_rels"), ordinal)
    reading.used_parts.add((id(lists), "detached_rels", ordinal))

    def bind() -> tuple[Scope, Relation]:
        return scope, relation(lists.rels[ordinal], scope, place)

    mark = (id(lists), "relation", ordinal)
    reading.uses(mark, path)
    _, bound = reading.once(reading.bound_parts, (*mark, id(scope)), mark, "a detached relation", place, bind)
    return DetachedRel(relation=bound)


def extension(fields: Fields) -> Relation:
    """Finish an extension relation, whose schema a handler of the user may give."""
    fields["derived"] = _derived(fields)
    return fields.node()


def extension_single(fields: Fields) -> Relation:
    """Finish an extension relation of one input, which may be a generator of this package."""
    if fields["detail"] is not None:
        generator = None
        with fields.reading.going_on(fields.path, Code.RELATION_INVALID):
            generator = generates.decoded(fields["detail"])
        if generator is not None:
            return Generate(common=fields["common"], input=fields["input"], generator=generator)
    return extension(fields)


def detail(fields: Fields, scope: Scope) -> AnyMessage | None:
    """Read the detail of an extension relation."""
    if fields.message.HasField("detail"):
        return any_message(fields.message.detail)
    what, fix = "detail is missing, so the meaning of the relation is unknown", "Set it"
    scope.reading.find(Code.PROTO_MISSING_FIELD, fields.path, what, level=Level.WARNING, fix=fix)
    return None


def _derived(fields: Fields) -> ExtensionSchema | None:
    """Return the schema that the user's handler gives an extension relation; None without a handler or all inputs."""
    detail, inputs, reading, place = fields["detail"], fields.inputs, fields.reading, (fields.path, "detail")
    handler = None if detail is None else reading.registry.relation_handler(detail.type_url)
    if detail is not None and handler is None:
        what = f"unknown extension relation: {detail.type_url or 'a message without a type'}"
        reading.find(Code.RELATION_EXTENSION_UNKNOWN, place, what, fix="Register a handler for it")
    schemas = [schema for schema in map(input_schema, inputs) if schema is not None]
    if detail is None or handler is None or len(schemas) < len(inputs):
        return None
    with reading.going_on(place, Code.RELATION_INVALID):
        return extension_schema(handler, detail, schemas, render(fields.path))
    return None


#: the kinds that may be plain (:class:`Reading`)
_PLAIN = frozenset(
    {"read", "filter", "fetch", "aggregate", "sort", "join", "project", "set", "cross", "hash_join", "merge_join"}
)


class _Readers(dict[str, ValueReader]):
    """The readers of relations by the fields of ``Rel``, made on first use."""

    def __missing__(self, field: str) -> ValueReader:
        kind = next(kind for kind in _KINDS if kind.info.field == field)
        self[field] = reader(kind, messages.Rel.DESCRIPTOR.fields_by_name[field].message_type)
        return self[field]


_READERS = _Readers(reference=_reference, detached_rel_ordinal=_detached)

"""``Rel`` messages: the dispatch, and the logical relations that aren't reads, joins or writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, get_args

from substrait import algebra_pb2

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
    ExtensionLeaf,
    ExtensionMulti,
    ExtensionSingle,
    Fetch,
    FetchMode,
    Filter,
    Generate,
    Grouping,
    Measure,
    Project,
    Reference,
    Relation,
    Set,
    Sort,
    TopN,
)
from pyspark_substrait.model.relations.base import assume_direct_schema
from pyspark_substrait.model.relations.extension import ExtensionSchema, input_schema
from pyspark_substrait.model.relations.logical import set_faults
from pyspark_substrait.model.types import OpenStruct, Struct, Unbound
from pyspark_substrait.proto import generates
from pyspark_substrait.proto.enums import FETCH_MODE, SET_OP
from pyspark_substrait.proto.read import (
    expressions,
    functions,
    grouping_ids,
    joins,
    physical,
    reads,
    trees,
    writing,
)
from pyspark_substrait.proto.read.context import Reading, Scope, invalid
from pyspark_substrait.proto.read.literals import any_message
from pyspark_substrait.proto.read.quirks import project_emit
from pyspark_substrait.proto.read.recovery import required_condition, settle
from pyspark_substrait.proto.read.rel_common import advanced_extension, common

__all__ = ["inputs", "relation"]

_Reader = Callable[[Any, Scope, Path], Relation]
_KINDS: tuple[Any, ...] = get_args(Relation)


def relation(message: algebra_pb2.Rel, scope: Scope, path: Path) -> Relation:
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


def _relation(message: algebra_pb2.Rel, kind: str | None, scope: Scope, path: Path) -> Relation:
    if kind is None:
        raise invalid("a relation is missing", path, code=Code.RELATION_MISSING)
    node = _READERS[kind](getattr(message, kind), scope, path)
    reading = scope.reading
    settle(node, reading, path)
    reading.nodes += 1
    direct, schema = node.direct_schema, node.schema
    reading.has_columns((schema,) if schema is direct else (direct, schema), path)
    return node


def _members(message: algebra_pb2.Rel, kind: str | None, known: int, scope: Scope, path: Path) -> tuple[Relation, ...]:
    """The inputs of a broken relation: those read after ``known``, and the others, which are read now."""
    if kind is None or kind == "detached_rel_ordinal":
        return ()
    fields = getattr(message, kind)
    read = [(node, place) for node, place in scope.reading.places.since(known) if isinstance(node, _KINDS)]
    members: list[Relation] = []
    for name in ("input", "left", "right", "inputs", "view_definition"):
        field = fields.DESCRIPTOR.fields_by_name.get(name)
        if field is None or field.message_type is None or field.message_type.name != "Rel":
            continue
        given = getattr(fields, name)
        single = field.label != field.LABEL_REPEATED
        if single and not fields.HasField(name):
            continue
        items = [(given, (path, name))] if single else [(item, ((path, name), i)) for i, item in enumerate(given)]
        for item, place in items:
            text = render((place, item.WhichOneof("rel_type") or ""))
            found = next((node for node, at in read if render(at) == text), None)
            members.append(relation(item, scope, place) if found is None else found)
    return tuple(members)


def inputs(messages: Any, scope: Scope, path: Path) -> tuple[Relation, ...]:
    """Several relations; ``path`` is that of the repeated field."""
    return tuple([relation(message, scope, (path, index)) for index, message in enumerate(messages)])


def _filter(message: Any, scope: Scope, path: Path) -> Relation:
    shared = common(message, scope.reading, path)
    input = relation(message.input, scope, (path, "input"))
    inner = scope.over(input.schema, shared.rel_anchor)
    return Filter(
        common=shared,
        input=input,
        condition=required_condition(message, "condition", inner, path),
        advanced_extension=advanced_extension(message),
    )


def _fetch(message: Any, scope: Scope, path: Path) -> Relation:
    shared = common(message, scope.reading, path)
    input = relation(message.input, scope, (path, "input"))
    inner = scope.over(None, shared.rel_anchor)
    return Fetch(
        common=shared,
        input=input,
        offset_expr=expressions.optional_expression(message, "offset_expr", inner, path),
        count_expr=expressions.optional_expression(message, "count_expr", inner, path),
        advanced_extension=advanced_extension(message),
    )


def _top_n(message: Any, scope: Scope, path: Path) -> Relation:
    shared = common(message, scope.reading, path)
    input = relation(message.input, scope, (path, "input"))
    inner = scope.over(None, shared.rel_anchor)
    return TopN(
        common=shared,
        input=input,
        sorts=functions.sort_fields(message.sorts, scope.over(input.schema, shared.rel_anchor), (path, "sorts")),
        offset=expressions.optional_expression(message, "offset", inner, path),
        count=expressions.optional_expression(message, "count", inner, path),
        mode=FETCH_MODE.known(message.mode, scope.reading, path, "mode") or FetchMode.UNSPECIFIED,
        advanced_extension=advanced_extension(message),
    )


def _sort(message: Any, scope: Scope, path: Path) -> Relation:
    shared = common(message, scope.reading, path)
    input = relation(message.input, scope, (path, "input"))
    inner = scope.over(input.schema, shared.rel_anchor)
    sorts = functions.sort_fields(message.sorts, inner, (path, "sorts"))
    return Sort(common=shared, input=input, sorts=sorts, advanced_extension=advanced_extension(message))


def _project(message: Any, scope: Scope, path: Path) -> Relation:
    shared = common(message, scope.reading, path)
    input = relation(message.input, scope, (path, "input"))
    inner = scope.over(input.schema, shared.rel_anchor)
    added = expressions.expressions(message.expressions, inner, (path, "expressions"))
    if not added:
        what, fix = "the projection has no expression", "Add one, or emit the columns of the input itself"
        scope.reading.find(Code.PROTO_MISSING_FIELD, path, what, level=Level.WARNING, fix=fix)
    if not isinstance(input.schema, OpenStruct):
        shared = project_emit(message, shared, len(input.schema.types), len(added), scope.reading, path)
    return Project(common=shared, input=input, expressions=added, advanced_extension=advanced_extension(message))


def _aggregate(message: Any, scope: Scope, path: Path) -> Relation:
    shared = common(message, scope.reading, path)
    input = relation(message.input, scope, (path, "input"))
    inner = scope.over(input.schema, shared.rel_anchor)
    keys = expressions.expressions(message.grouping_expressions, inner, (path, "grouping_expressions"))
    measures = [_measure(measure, inner, ((path, "measures"), index)) for index, measure in enumerate(message.measures)]
    groupings = tuple([Grouping(tuple(grouping.expression_references)) for grouping in message.groupings])
    _check_groupings(groupings, len(keys), scope.reading, path)
    counted = grouping_ids.is_counted(message, scope.reading)
    if counted:
        keys, groupings = grouping_ids.distinct_keys(message, keys, groupings)
    if not keys and not measures:
        hint = "Give it a measure or a grouping expression"
        scope.reading.fault(invalid("the aggregate has no column", path, hint, Code.RELATION_INVALID))
    node = Aggregate(
        common=shared,
        input=input,
        groupings=groupings,
        measures=tuple([measure for measure in measures if measure is not None]),
        grouping_expressions=keys,
        advanced_extension=advanced_extension(message),
    )
    if None in measures:
        _leave_open(node, measures)
    return grouping_ids.counted(node, scope.reading, path) if counted else node


def _measure(message: Any, scope: Scope, path: Path) -> Measure | None:
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


def _set(message: Any, scope: Scope, path: Path) -> Relation:
    reading = scope.reading
    shared = common(message, reading, path)
    members = inputs(message.inputs, scope, (path, "inputs"))
    op = SET_OP.known(message.op, reading, path, "op")
    if op is None:
        for fault in set_faults(members):
            with reading.going_on(path):
                raise fault
        return BrokenRelation(common=shared, kind="set", fault="the operation isn't known", members=members)
    return Set(common=shared, members=members, op=op, advanced_extension=advanced_extension(message))


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


def _extension_leaf(message: Any, scope: Scope, path: Path) -> Relation:
    shared, detail = common(message, scope.reading, path), _detail(message, scope, path)
    derived = _derived(detail, (), scope, path)
    return ExtensionLeaf(common=shared, detail=detail, derived=derived)


def _extension_single(message: Any, scope: Scope, path: Path) -> Relation:
    shared, detail = common(message, scope.reading, path), _detail(message, scope, path)
    input = relation(message.input, scope, (path, "input"))
    if detail is not None:
        generator = None
        with scope.reading.going_on(path, Code.RELATION_INVALID):
            generator = generates.decoded(detail)
        if generator is not None:
            return Generate(common=shared, input=input, generator=generator)
    derived = _derived(detail, (input,), scope, path)
    return ExtensionSingle(common=shared, input=input, detail=detail, derived=derived)


def _extension_multi(message: Any, scope: Scope, path: Path) -> Relation:
    shared, detail = common(message, scope.reading, path), _detail(message, scope, path)
    members = inputs(message.inputs, scope, (path, "inputs"))
    derived = _derived(detail, members, scope, path)
    return ExtensionMulti(common=shared, members=members, detail=detail, derived=derived)


def _detail(message: Any, scope: Scope, path: Path) -> AnyMessage | None:
    if message.HasField("detail"):
        return any_message(message.detail)
    what, fix = "detail is missing, so nobody can tell what the relation does", "Set it"
    scope.reading.find(Code.PROTO_MISSING_FIELD, path, what, level=Level.WARNING, fix=fix)
    return None


def _derived(
    detail: AnyMessage | None, inputs: tuple[Relation, ...], scope: Scope, path: Path
) -> ExtensionSchema | None:
    """Return the schema that the user's handler gives an extension relation; None without a handler or all inputs."""
    handler = None if detail is None else scope.reading.registry.relation_handler(detail.type_url)
    if detail is not None and handler is None:
        what, fix = (
            f"nobody knows what {detail.type_url or 'a message without a type'} is",
            "Register a handler for it",
        )
        scope.reading.find(Code.RELATION_EXTENSION_UNKNOWN, (path, "detail"), what, fix=fix)
    schemas = [schema for schema in map(input_schema, inputs) if schema is not None]
    if detail is None or handler is None or len(schemas) < len(inputs):
        return None
    with scope.reading.going_on((path, "detail"), Code.RELATION_INVALID):
        return extension_schema(handler, detail, schemas, render(path))
    return None


#: the kinds that may be plain (:class:`Reading`)
_PLAIN = frozenset(
    {"read", "filter", "fetch", "aggregate", "sort", "join", "project", "set", "cross", "hash_join", "merge_join"}
)

_READERS: dict[str, _Reader] = {
    "read": reads.read,
    "filter": _filter,
    "fetch": _fetch,
    "aggregate": _aggregate,
    "sort": _sort,
    "join": joins.join,
    "lateral_join": joins.lateral_join,
    "project": _project,
    "set": _set,
    "extension_single": _extension_single,
    "extension_multi": _extension_multi,
    "extension_leaf": _extension_leaf,
    "cross": joins.cross,
    "reference": _reference,
    "write": writing.write,
    "ddl": writing.ddl,
    "update": writing.update,
    "hash_join": joins.hash_join,
    "merge_join": joins.merge_join,
    "nested_loop_join": joins.nested_loop_join,
    "window": physical.window,
    "exchange": physical.exchange,
    "expand": physical.expand,
    "top_n": _top_n,
    "detached_rel_ordinal": _detached,
}

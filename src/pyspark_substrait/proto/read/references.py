"""``Expression.FieldReference``, ``ReferenceSegment`` and ``MaskExpression`` messages."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.expressions import (
    FieldReference,
    LambdaParameterReference,
    ListElement,
    MapKey,
    OuterReference,
    ReferenceSegment,
    RootReference,
    StructField,
    referenced_type,
)
from pyspark_substrait.model.masks import (
    ListItem,
    ListSelect,
    ListSlice,
    MapKeyExpression,
    MapKeySelect,
    MapSelect,
    MaskExpression,
    Report,
    Select,
    StructItem,
    StructSelect,
    masked_schema,
    masked_type,
)
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.types import (
    Map,
    NamedStruct,
    OpenStruct,
    Struct,
    Type,
    Unbound,
    concrete,
    with_nullability,
)
from pyspark_substrait.proto import messages
from pyspark_substrait.proto.read import expressions
from pyspark_substrait.proto.read.context import OpenReference, Reading, Scope, invalid, located
from pyspark_substrait.proto.read.habits.unambiguous import INPUT_ANCHOR
from pyspark_substrait.proto.read.literals import literal

__all__ = ["field_reference", "laid_over", "mask"]

_ROOT = RootReference()
_REFERENCE: Any = messages.current().named("Expression.FieldReference")
#: the most bytes of a reference to a column of the record
_SHORT = 20


@lru_cache(maxsize=4096)
def _column(content: bytes) -> tuple[StructField] | None:
    """Return the column that a serialised reference to the root record names; None for any other reference."""
    segment = _REFERENCE.FromString(content).direct_reference
    inner = segment.struct_field
    plain = segment.WhichOneof("reference_type") == "struct_field" and not inner.HasField("child") and inner.field >= 0
    return (StructField(inner.field),) if plain else None


def field_reference(message: messages.Expression.FieldReference, scope: Scope, path: Path) -> FieldReference:
    """A reference to data, with the type that it has in this scope.

    Raises:
        InvalidPlanError: nothing can be referred to in this place, or the reference leads nowhere.
    """
    root: Any
    root_type: Type
    kind = message.WhichOneof("root_type")
    if kind == "root_reference":
        # nearly all references: a column of the record, whose type needs no derivation
        content = message.SerializeToString()
        column = _column(content) if len(content) <= _SHORT else None
        here: Any = scope.record
        if column and here.__class__ is Struct and not here.nullable and column[0].field < len(here.types):
            return FieldReference(root=_ROOT, reference=column, type=here.types[column[0].field])
    match kind:
        case "root_reference" | None:
            if kind is None:
                scope.reading.note_once("missing-root", path, "a field reference has no root", "the input record")
            root, root_type = _ROOT, _record(scope.record, path)
        case "expression":
            root = expressions.expression(message.expression, scope, (path, kind))
            root_type = root.type
        case "outer_reference":
            root, root_type = _outer(message.outer_reference, scope, (path, kind))
        case _:
            steps = message.lambda_parameter_reference.steps_out
            if steps >= len(scope.lambdas):
                raise invalid(
                    f"there are {len(scope.lambdas)} lambdas around this, not more than {steps}",
                    (path, kind),
                    "Lambdas are counted from 0, the innermost",
                    Code.EXPRESSION_MISSING_STREAM,
                )
            root, root_type = LambdaParameterReference(steps), scope.lambdas[-1 - steps]
    match message.WhichOneof("reference_type"):
        case "direct_reference":
            path = (path, "direct_reference")
            segments = _segments(message.direct_reference, scope.reading, path)
            if scope.reading.findings is not None:
                type = _referenced(root_type, segments, path, scope.reading)
                return FieldReference(root=root, reference=segments, type=type)
            with located(path):
                return FieldReference(root=root, reference=segments, type=referenced_type(root_type, segments))
        case "masked_reference":
            scope.reading.plain = False
            path = (path, "masked_reference")
            kept = mask(message.masked_reference, path)
            record = concrete(root_type)
            if isinstance(record, Unbound) and scope.reading.findings is not None:
                record = OpenStruct()
            if not isinstance(record, Struct):
                raise invalid(f"a mask cannot be laid over {record}", path, code=Code.TYPE_STRUCT_REQUIRED)
            with located(path):
                type = masked_type(record, kept, _reporter(scope.reading, path))
            return FieldReference(root=root, reference=kept, type=type)
        case _:
            raise invalid("the field reference is empty", path, code=Code.PROTO_MISSING_FIELD)


def _referenced(root: Type, segments: tuple[ReferenceSegment, ...], path: Path, reading: Reading) -> Type:
    """Return the type that a path of segments leads to, where findings are collected; unbound if it leads nowhere."""
    type = root
    for index, segment in enumerate(segments):
        path = (path, _SEGMENT_FIELDS[segment.__class__])
        try:
            type = referenced_type(type, (segment,))
        except InvalidPlanError as error:
            inside = isinstance(segment, StructField) and isinstance(concrete(type), Struct)
            with reading.going_on((path, "field") if inside else path, Code.EXPRESSION_REFERENCE):
                raise error
            type = _behind(type, segment)
        if index + 1 < len(segments):
            path = (path, "child")
    return type


def _behind(type: Type, segment: ReferenceSegment) -> Type:
    """Return the type behind a segment that doesn't fit: a map's value type for a key of another type, else unbound."""
    match segment, concrete(type):
        case MapKey(), Map(value=value):
            return with_nullability(value, True)
        case _:
            return Unbound(nullable=True)


_SEGMENT_FIELDS = {StructField: "struct_field", ListElement: "list_element", MapKey: "map_key"}


def laid_over(schema: NamedStruct, kept: MaskExpression, reading: Reading, path: Path) -> NamedStruct:
    """Apply the mask at ``path`` to a schema; if findings are collected, parts that don't fit are unbound.

    Raises:
        InvalidPlanError: the mask doesn't fit.
    """
    with located(path):
        return masked_schema(schema, kept, _reporter(reading, path))


def _reporter(reading: Reading, path: Path) -> Report | None:
    if reading.findings is None:
        return None

    def report(error: InvalidPlanError) -> None:
        with reading.going_on(path):
            raise error

    return report


def _record(record: Struct | None, path: Path) -> Struct:
    if record is None:
        raise invalid("there is no input record in this place", path, code=Code.EXPRESSION_MISSING_STREAM)
    return record


def _outer(
    message: messages.Expression.FieldReference.OuterReference, scope: Scope, path: Path
) -> tuple[OuterReference, Type]:
    match message.WhichOneof("outer_reference_type"):
        case "steps_out":
            steps = message.steps_out
            if steps < 1:
                hint = "It counts the subqueries to go out of, at least 1"
                raise invalid("steps_out is 0", (path, "steps_out"), hint, Code.ILLEGAL_VALUE)
            frames = [frame for frame in scope.outer[scope.fence :] if not frame.lateral]
            if steps > len(frames):
                raise invalid(
                    f"there are {len(frames)} subqueries around this, not {steps}",
                    path,
                    "A shared relation refers out of itself by rel_reference" if scope.closed or scope.fence else None,
                    Code.EXPRESSION_MISSING_STREAM,
                )
            return OuterReference(steps_out=steps), _record(frames[-steps].record, path)
        case "rel_reference":
            anchor = message.rel_reference
            for frame in reversed(scope.outer):
                if frame.anchor == anchor:
                    return OuterReference(rel_reference=anchor), _record(frame.record, path)
            frames = [frame for frame in scope.outer[scope.fence :] if not frame.lateral]
            for steps, frame in enumerate(reversed(frames), start=1):
                if frame.input is not None and frame.input.common.rel_anchor == anchor:
                    before = f"the rel_anchor {anchor} of the input of the relation around the subquery"
                    INPUT_ANCHOR.note(scope.reading, path, before, "that relation")
                    return OuterReference(steps_out=steps), _record(frame.record, path)
            fault = f"no relation around this has the rel_anchor {anchor}"
            error = invalid(fault, path, code=Code.EXPRESSION_MISSING_STREAM)
            if scope.closed:
                raise OpenReference(error)
            raise error
        case _:
            hint = "Set rel_reference"
            raise invalid("the outer reference refers to no relation", path, hint, Code.PROTO_MISSING_FIELD)


def _segments(message: Any, reading: Reading, path: Path) -> tuple[ReferenceSegment, ...]:
    segments: list[ReferenceSegment] = []
    while True:
        kind = message.WhichOneof("reference_type")
        match kind:
            case "struct_field":
                inner = message.struct_field
                segments.append(StructField(inner.field))
            case "list_element":
                inner = message.list_element
                segments.append(ListElement(inner.offset))
            case "map_key":
                inner = message.map_key
                segments.append(MapKey(literal(inner.map_key, reading, ((path, kind), "map_key"))))
            case _:
                raise invalid("a reference segment is missing", path, code=Code.PROTO_MISSING_FIELD)
        if not inner.HasField("child"):
            return tuple(segments)
        message, path = inner.child, ((path, kind), "child")


# masks ----------------------------------------------------------------------------------------------------------------


def mask(message: messages.Expression.MaskExpression, path: Path) -> MaskExpression:
    """A mask."""
    if not message.HasField("select"):
        hint = "Set select; without items it keeps no field"
        raise invalid("the mask has no selection", path, hint, Code.PROTO_MISSING_FIELD)
    return MaskExpression(
        select=_struct_select(message.select, (path, "select")),
        maintain_singular_struct=message.maintain_singular_struct,
    )


def _struct_select(message: Any, path: Path) -> StructSelect:
    place: Path = (path, "struct_items")
    return StructSelect(
        tuple(StructItem(item.field, _child(item, (place, index))) for index, item in enumerate(message.struct_items))
    )


def _child(message: Any, path: Path) -> Select | None:
    return _select(message.child, (path, "child")) if message.HasField("child") else None


def _select(message: Any, path: Path) -> Select:
    kind = message.WhichOneof("type")
    match kind:
        case "struct":
            return _struct_select(message.struct, (path, kind))
        case "list":
            path = (path, kind)
            place: Path = (path, "selection")
            items = tuple(_list_item(item, (place, index)) for index, item in enumerate(message.list.selection))
            return ListSelect(items, _child(message.list, path))
        case "map":
            return _map_select(message.map, (path, kind))
        case _:
            raise invalid("a selection is missing", path, code=Code.PROTO_MISSING_FIELD)


def _list_item(message: Any, path: Path) -> ListItem | ListSlice:
    match message.WhichOneof("type"):
        case "item":
            return ListItem(message.item.field)
        case "slice":
            return ListSlice(message.slice.start, message.slice.end)
        case _:
            raise invalid("a selected element is missing", path, code=Code.PROTO_MISSING_FIELD)


def _map_select(message: Any, path: Path) -> MapSelect:
    child = _child(message, path)
    match message.WhichOneof("select"):
        case "key":
            return MapSelect(MapKeySelect(message.key.map_key), child)
        case "expression":
            return MapSelect(MapKeyExpression(message.expression.map_key_expression), child)
        case _:
            raise invalid("a selected key is missing", path, code=Code.PROTO_MISSING_FIELD)

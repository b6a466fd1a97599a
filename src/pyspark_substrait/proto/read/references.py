"""``Expression.FieldReference``, ``ReferenceSegment`` and ``MaskExpression`` messages."""

from __future__ import annotations

from typing import Any

from substrait import algebra_pb2

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
    Select,
    StructItem,
    StructSelect,
    masked_type,
)
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.types import Struct, Type, concrete
from pyspark_substrait.proto.read import expressions
from pyspark_substrait.proto.read.context import OpenReference, Reading, Scope, invalid, located
from pyspark_substrait.proto.read.literals import literal

__all__ = ["field_reference", "mask"]

_ROOT = RootReference()


def field_reference(message: algebra_pb2.Expression.FieldReference, scope: Scope, path: Path) -> FieldReference:
    """A reference to data, with the type that it has in this scope.

    Raises:
        InvalidPlanError: there is nothing to refer to in this place, or not this.
    """
    root: Any
    root_type: Type
    kind = message.WhichOneof("root_type")
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
                )
            root, root_type = LambdaParameterReference(steps), scope.lambdas[-1 - steps]
    match message.WhichOneof("reference_type"):
        case "direct_reference":
            path = (path, "direct_reference")
            segments = _segments(message.direct_reference, scope.reading, path)
            with located(path):
                return FieldReference(root=root, reference=segments, type=referenced_type(root_type, segments))
        case "masked_reference":
            path = (path, "masked_reference")
            kept = mask(message.masked_reference, path)
            record = concrete(root_type)
            if not isinstance(record, Struct):
                raise invalid(f"a mask can't be laid over {record}", path)
            with located(path):
                return FieldReference(root=root, reference=kept, type=masked_type(record, kept))
        case _:
            raise invalid("the field reference refers to nothing", path)


def _record(record: Struct | None, path: Path) -> Struct:
    if record is None:
        raise invalid("there is no input record in this place", path)
    return record


def _outer(
    message: algebra_pb2.Expression.FieldReference.OuterReference, scope: Scope, path: Path
) -> tuple[OuterReference, Type]:
    match message.WhichOneof("outer_reference_type"):
        case "steps_out":
            steps = message.steps_out
            if steps < 1:
                raise invalid("steps_out is 0", path, "It counts the subqueries to go out of, at least 1")
            frames = [frame for frame in scope.outer[scope.fence :] if not frame.lateral]
            if steps > len(frames):
                raise invalid(
                    f"there are {len(frames)} subqueries around this, not {steps}",
                    path,
                    "A shared relation refers out of itself by rel_reference" if scope.closed or scope.fence else None,
                )
            return OuterReference(steps_out=steps), _record(frames[-steps].record, path)
        case "rel_reference":
            anchor = message.rel_reference
            for frame in reversed(scope.outer):
                if frame.anchor == anchor:
                    return OuterReference(rel_reference=anchor), _record(frame.record, path)
            fault = f"no relation around this has the rel_anchor {anchor}"
            if scope.closed:
                raise OpenReference(invalid(fault, path))
            raise invalid(fault, path)
        case _:
            raise invalid("the outer reference refers to no relation", path, "Set rel_reference")


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
                raise invalid("a reference segment is missing", path)
        if not inner.HasField("child"):
            return tuple(segments)
        message, path = inner.child, ((path, kind), "child")


# masks ----------------------------------------------------------------------------------------------------------------


def mask(message: algebra_pb2.Expression.MaskExpression, path: Path) -> MaskExpression:
    """A mask."""
    if not message.HasField("select"):
        raise invalid("the mask selects nothing", path, "Set select; without items it keeps no field")
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
            raise invalid("a selection is missing", path)


def _list_item(message: Any, path: Path) -> ListItem | ListSlice:
    match message.WhichOneof("type"):
        case "item":
            return ListItem(message.item.field)
        case "slice":
            return ListSlice(message.slice.start, message.slice.end)
        case _:
            raise invalid("a selected element is missing", path)


def _map_select(message: Any, path: Path) -> MapSelect:
    child = _child(message, path)
    match message.WhichOneof("select"):
        case "key":
            return MapSelect(MapKeySelect(message.key.map_key), child)
        case "expression":
            return MapSelect(MapKeyExpression(message.expression.map_key_expression), child)
        case _:
            raise invalid("a selected key is missing", path)

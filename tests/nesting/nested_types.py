"""Types in each other, of columns, nulls and casts; and masks."""

from __future__ import annotations

from typing import Any

from tests.nesting.parts import NULLABLE, REQUIRED, Maker, Step, nested, new_plan, put_null_test, serialized

__all__ = ["NESTED_TYPES"]


def _list_type(type: Any) -> Any:
    type.list.nullability = REQUIRED
    return type.list.type


def _struct_type(type: Any) -> Any:
    type.struct.nullability = REQUIRED
    return type.struct.types.add()


def _map_type(type: Any) -> Any:
    type.map.nullability = REQUIRED
    type.map.key.i64.nullability = REQUIRED
    return type.map.value


_TYPES: dict[str, tuple[Step, int]] = {"list": (_list_type, 0), "struct": (_struct_type, 1), "map": (_map_type, 0)}


def _null_type(step: Step) -> Maker:
    """A null of a type in which so many types stand."""

    def made(size: int) -> bytes:
        plan = new_plan()
        literal = put_null_test(plan).literal
        literal.nullable = True
        type = step(literal.null)
        for _ in range(size):
            type = step(type)
        type.i64.nullability = REQUIRED
        for name in ("list", "struct", "map"):
            if literal.null.HasField(name):
                getattr(literal.null, name).nullability = NULLABLE
        return serialized(plan)

    return made


def _cast_to(step: Step) -> Maker:
    """A null, cast to a type in which so many types stand."""

    def made(size: int) -> bytes:
        plan = new_plan()
        cast = put_null_test(plan).cast
        cast.failure_behavior = 2
        types = [cast.type, cast.input.literal.null]
        cast.input.literal.nullable = True
        for _ in range(size + 1):
            types = [step(type) for type in types]
        for type in types:
            type.i64.nullability = REQUIRED
        for name in ("list", "struct", "map"):
            for top in (cast.type, cast.input.literal.null):
                if top.HasField(name):
                    getattr(top, name).nullability = NULLABLE
        return serialized(plan)

    return made


def _masks(size: int) -> bytes:
    """A mask as deep as the type of the column that it is on."""
    plan = new_plan()
    type = _column(plan, size)
    read = plan.relations[0].root.input.read
    read.projection.maintain_singular_struct = True
    item = read.projection.select.struct_items.add()
    for _ in range(size):
        type = _struct_type(type)
        item = item.child.struct.struct_items.add()
    type.i64.nullability = REQUIRED
    return serialized(plan)


def _column_type(step: Step, names: int) -> Maker:
    """A column of a type in which so many types stand."""
    return nested(lambda plan, size: _column(plan, size * names), step, _end_type)


def _column(plan: Any, fields: int) -> Any:
    """The type of the one column of a read, which has so many names besides its own."""
    root = plan.relations.add().root
    named = ["c", *(f"f{number}" for number in range(fields))]
    root.names.extend(named)
    read = root.input.read
    read.named_table.names.append("t")
    read.base_schema.names.extend(named)
    read.base_schema.struct.nullability = REQUIRED
    return read.base_schema.struct.types.add()


def _end_type(type: Any) -> None:
    type.i64.nullability = REQUIRED


NESTED_TYPES: dict[str, Maker] = {
    **{f"a column of {what} in {what}": _column_type(step, names) for what, (step, names) in _TYPES.items()},
    **{f"a null of {what} in {what}": _null_type(step) for what, (step, _) in _TYPES.items()},
    **{f"a cast to {what} in {what}": _cast_to(step) for what, (step, _) in _TYPES.items()},
    "masks in each other": _masks,
}

"""The structs that DataFusion makes by calls of functions, and their fields."""

from __future__ import annotations

from typing import Any, Final

from pyspark_substrait.codes import Code
from pyspark_substrait.model.expressions import Expression, FieldReference, NestedStruct, StructField
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.plan import ExtensionKind
from pyspark_substrait.model.types import Struct, concrete, same_type, with_nullability
from pyspark_substrait.proto import messages
from pyspark_substrait.proto.read import expressions
from pyspark_substrait.proto.read.context import Reading, Scope, invalid
from pyspark_substrait.proto.read.habits import datafusion as habits
from pyspark_substrait.proto.read.habits import datafusion_casts, datafusion_lists, datafusion_nulls

__all__ = ["constructed"]

#: the names of these calls, and of the casts
_NAMES: Final = frozenset({
    "struct", "named_struct", "get_field", "make_array",
    "arrow_cast", "arrow_try_cast", "cast_to_type", "try_cast_to_type",
})  # fmt: skip


def constructed(message: messages.Expression.ScalarFunction, scope: Scope, path: Path) -> Expression | None:
    """The struct, the empty list, the null or the cast that a call of DataFusion is, or a field; None for any other."""
    reading = scope.reading
    declared = reading.functions.get(message.function_reference)
    simple = "" if declared is None else declared.name.partition(":")[0]
    if declared is None:
        return None
    if (made := datafusion_nulls.simplified(message, simple, scope, path)) is not None:
        return made
    if simple not in _NAMES:
        return None
    parts = _parts(message, reading)
    if parts is None:
        if simple == "make_array" and not message.arguments:
            reading.used.add((ExtensionKind.FUNCTION, message.function_reference))
            habits.NULL.note(reading, path, "a list of nothing", "an empty list of strings, if no other is wanted")
            return datafusion_lists.empty_list()
        return datafusion_casts.cast(message, simple, scope, path) or _field(message, scope, path)
    reading.used.add((ExtensionKind.FUNCTION, message.function_reference))
    habits.STRUCT.note(reading, path, f"a call of `{declared.name}`", "a struct of its arguments, or one of them")
    reading.plain = False
    of, places = parts
    place: Path = (path, "arguments") if of is message else (((path, "arguments"), 0), "value")
    fields = [expressions.expression(of.arguments[index].value, scope, (place, index)) for index in places]
    if of is not message:
        return fields[0]
    struct = NestedStruct(fields=tuple(fields))
    assert isinstance(struct.type, Struct)
    reading.struct_names.append((struct.type, tuple(_fields(message, reading))))
    return struct


def _field(message: Any, scope: Scope, path: Path) -> Expression | None:
    """A field of a struct, or of a struct in it, by the names; None for any other call."""
    reading = scope.reading
    if _name(message, reading) != "get_field" or len(message.arguments) < 2:
        return None
    found = expressions.expression(message.arguments[0].value, scope, (((path, "arguments"), 0), "value"))
    if not isinstance(concrete(found.type), Struct):
        return None
    reading.used.add((ExtensionKind.FUNCTION, message.function_reference))
    reading.plain = False
    for argument in message.arguments[1:]:
        found = _field_of(found, argument.value.literal.string, reading, path)
    return found


def _field_of(struct: Expression, name: str, reading: Reading, path: Path) -> Expression:
    """A field of a struct by its name.

    A plan has the names of fields in the schemas of its tables only. All structs of the type are from these, or from
    calls that make one.

    Raises:
        InvalidPlanError: it isn't a struct, or structs of its type have the name in several places.
    """
    type = concrete(struct.type)
    places = set()
    if isinstance(type, Struct):
        places = {names.index(name) for one, names in reading.struct_names if same_type(one, type) and name in names}
    if not isinstance(type, Struct) or len(places) != 1:
        fault = f"the field `{name}` of {type} isn't determined: plans name fields in the schemas of tables only"
        raise invalid(fault, path, "Select the field in a query of its own", Code.EXPRESSION_REFERENCE)
    (position,) = places
    habits.STRUCT.note(reading, path, f"`get_field` of `{name}`", f"the field {position} of the struct")
    part = type.types[position]
    wanted = with_nullability(part, part.nullable or type.nullable)
    if isinstance(struct, FieldReference) and isinstance(struct.reference, tuple):
        return FieldReference(root=struct.root, reference=(*struct.reference, StructField(position)), type=wanted)
    return FieldReference(root=struct, reference=(StructField(position),), type=wanted)


def _parts(message: Any, reading: Reading) -> tuple[Any, list[int]] | None:
    """The arguments of a call that makes a struct, which are its fields; or the one that a call takes out of it again.

    Returns:
        the call that makes the struct, and the positions of its arguments; None for any other call.
    """
    match _name(message, reading):
        case "struct" | "named_struct":
            return message, [*_fields(message, reading).values()]
        case "get_field" if len(message.arguments) == 2:
            inner = message.arguments[0].value.scalar_function
            if _name(inner, reading) not in ("struct", "named_struct"):
                return None
            position = _fields(inner, reading).get(message.arguments[1].value.literal.string)
            return None if position is None else (inner, [position])
        case _:
            return None


def _name(message: Any, reading: Reading) -> str:
    declared = reading.functions.get(message.function_reference) if message.arguments else None
    return "" if declared is None else declared.name.partition(":")[0]


def _fields(message: Any, reading: Reading) -> dict[str, int]:
    """The positions of the fields among the arguments of a call that makes a struct, by their names."""
    if _name(message, reading) == "struct":
        return {f"c{position}": position for position in range(len(message.arguments))}
    names = [argument.value.literal.string for argument in message.arguments[::2]]
    return {name: 2 * position + 1 for position, name in enumerate(names)}

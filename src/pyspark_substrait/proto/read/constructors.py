"""``Expression.Nested`` messages: structs, lists and maps of expressions."""

from __future__ import annotations

from typing import Any

from pyspark_substrait.codes import Code
from pyspark_substrait.model.expressions import Expression, NestedList, NestedMap, NestedStruct
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.types import TypeVariation
from pyspark_substrait.proto.read import expressions
from pyspark_substrait.proto.read.context import Scope, invalid
from pyspark_substrait.proto.read.type_checks import agreed
from pyspark_substrait.proto.read.types import variation

__all__ = ["nested", "nested_struct"]


def nested(message: Any, scope: Scope, path: Path) -> Expression:
    nullable: bool = message.nullable
    kept: TypeVariation | None = None
    with scope.reading.going_on(code=Code.LINK_MISSING_ANCHOR):
        kept = variation(message.type_variation_reference, scope.reading, path)
    kind = message.WhichOneof("nested_type")
    match kind:
        case "struct":
            return nested_struct(message.struct, scope, (path, kind), nullable, kept)
        case "list":
            place: Path = ((path, kind), "values")
            values = expressions.expressions(message.list.values, scope, place)
            if not values:
                raise invalid(
                    "a list without elements has no type",
                    place,
                    "Use the literal empty_list",
                    Code.PROTO_MISSING_FIELD,
                )
            values = agreed(values, scope.reading, [(place, index) for index in range(len(values))], exactly=True)
            return NestedList(values=values, nullable=nullable, variation=kept)
        case "map":
            place = ((path, kind), "key_values")
            keys, items = [], []
            places: list[Path] = [(place, index) for index in range(len(message.map.key_values))]
            for index, pair in enumerate(message.map.key_values):
                keys.append(expressions.expression(pair.key, scope, ((place, index), "key")))
                if isinstance(keys[-1], Literal) and keys[-1].value is None:
                    fault = "the key of a map is null"
                    scope.reading.fault(invalid(fault, ((place, index), "key"), code=Code.TYPE_MISMATCHED_NULLABILITY))
                items.append(expressions.expression(pair.value, scope, ((place, index), "value")))
            if not keys:
                raise invalid(
                    "a map without entries has no type",
                    place,
                    "Use the literal empty_map",
                    Code.PROTO_MISSING_FIELD,
                )
            pairs = zip(
                agreed(keys, scope.reading, [(place, "key") for place in places], exactly=True),
                agreed(items, scope.reading, [(place, "value") for place in places], exactly=True),
                strict=True,
            )
            return NestedMap(key_values=tuple(pairs), nullable=nullable, variation=kept)
        case _:
            raise invalid("the nested expression is empty", path, code=Code.PROTO_MISSING_FIELD)


def nested_struct(
    message: Any, scope: Scope, path: Path, nullable: bool = False, variation: TypeVariation | None = None
) -> NestedStruct:
    """A struct of expressions (``Expression.Nested.Struct``)."""
    fields = expressions.expressions(message.fields, scope, (path, "fields"))
    return NestedStruct(fields=fields, nullable=nullable, variation=variation)

"""Structs, lists and maps: constructors, changes and access to parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import (
    Expression,
    FieldReference,
    IfClause,
    IfThen,
    ListElement,
    MapKey,
    NestedList,
    NestedMap,
    NestedStruct,
    ReferenceSegment,
    RootReference,
    StructField,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import (
    I8,
    I16,
    I32,
    I64,
    Binary,
    Boolean,
    Date,
    Decimal,
    List,
    Map,
    String,
    Struct,
    Type,
    concrete,
    same_type,
    with_nullability,
)
from pyspark_substrait.spark.producer.catalyst import Node, plan_of
from pyspark_substrait.spark.producer.expressions import alike, expression, expressions, typed
from pyspark_substrait.spark.producer.expressions.lambdas import COLLECTIONS, as_nullable, lambda_of, parameter
from pyspark_substrait.spark.producer.refusals import written
from pyspark_substrait.spark.producer.scope import Scope
from pyspark_substrait.spark.producer.types import type_of

__all__ = ["FORMS", "empty_as", "part_of"]


def part_of(value: Expression, segment: ReferenceSegment, type: Type) -> FieldReference:
    """Return a reference to a part of a value; it extends the path if the value is a reference itself."""
    match value:
        case FieldReference(root=root, reference=tuple() as path):
            return FieldReference(root=root, reference=(*path, segment), type=type)
        case _:
            return FieldReference(root=value, reference=(segment,), type=type)


# constructors ---------------------------------------------------------------------------------------------------------


def array(node: Node, scope: Scope) -> Expression:
    """``array(...)``."""
    if not node.children:
        return _empty(node)
    return NestedList(values=alike(expressions(node.children, scope)))


def map_(node: Node, scope: Scope) -> Expression:
    """``map(key, value, ...)``."""
    if not node.children:
        return _empty(node)
    parts = expressions(node.children, scope)
    return NestedMap(key_values=tuple(zip(alike(parts[::2]), alike(parts[1::2]), strict=True)))


def _empty(node: Node) -> Expression:
    if node.value("useStringTypeWhenEmpty"):
        text = "string"
        type = (
            {"type": "array", "elementType": text, "containsNull": False}
            if node.name == "CreateArray"
            else {"type": "map", "keyType": text, "valueType": text, "valueContainsNull": False}
        )
        return Literal(type=type_of(type, False), value=())
    raise UnsupportedPlanError(
        f"`{written(node)}` has elements of no type",
        hint="Cast it: CAST(array() AS ARRAY<INT>), CAST(map() AS MAP<STRING, INT>)",
    )


def empty_as(node: Node, json: Any, scope: Scope) -> Expression | None:
    """Translate an untyped value directly with the type that it is cast to (in Spark's JSON); None for any other value.

    Untyped are nulls, empty lists and maps, and structs, lists and maps that contain one of these.
    """
    match node.name, json:
        case "Literal", _ if node.value("dataType") == "void":
            return Literal(type=type_of(json, True), value=None)
        case (("CreateArray" | "CreateMap"), Mapping()) if not node.children:
            return Literal(type=type_of(json, False), value=())
        case "CreateNamedStruct", {"type": "struct", "fields": fields} if _is_untyped(node):
            values = zip(node.children[1::2], fields, strict=True)
            return NestedStruct(fields=tuple(_cast_to(value, field["type"], scope) for value, field in values))
        case "CreateArray", {"type": "array", "elementType": element} if _is_untyped(node):
            return NestedList(values=alike([_cast_to(value, element, scope) for value in node.children]))
        case "CreateMap", {"type": "map", "keyType": key, "valueType": value} if _is_untyped(node):
            keys = alike([_cast_to(child, key, scope) for child in node.children[::2]])
            values_ = alike([_cast_to(child, value, scope) for child in node.children[1::2]])
            return NestedMap(key_values=tuple(zip(keys, values_, strict=True)))
        case _:
            return None


def _is_untyped(node: Node) -> bool:
    match node.name:
        case "Literal":
            return bool(node.value("dataType") == "void")
        case "CreateArray" | "CreateMap" | "CreateNamedStruct":
            return not node.children or any(map(_is_untyped, node.children))
        case _:
            return False


def _cast_to(node: Node, json: Any, scope: Scope) -> Expression:
    untyped = empty_as(node, json, scope)
    return typed(expression(node, scope), type_of(json, True)) if untyped is None else untyped


def struct(node: Node, scope: Scope) -> Expression:
    """``named_struct(...)`` and ``struct(...)``, without the names, which only the root of the plan has."""
    return NestedStruct(fields=expressions(node.children[1::2], scope))


def updated(node: Node, scope: Scope) -> Expression:
    """``withField`` and ``dropFields``: the struct expression that Spark rewrites them to."""
    return expression(plan_of(node.java.evalExpr()), scope)


# access to parts ------------------------------------------------------------------------------------------------------


def struct_field(node: Node, scope: Scope) -> Expression:
    """A field of a struct."""
    value, position = expression(node.children[0], scope), int(node.value("ordinal"))
    struct = concrete(value.type)
    assert isinstance(struct, Struct)
    type = struct.types[position]
    return part_of(value, StructField(position), with_nullability(type, type.nullable or value.type.nullable))


def fields_of_elements(node: Node, scope: Scope) -> Expression:
    """A field of every struct in a list."""
    items, position = expression(node.children[0], scope), int(node.value("ordinal"))
    element = _list_of(items).type
    struct = concrete(element)
    assert isinstance(struct, Struct)
    field = struct.types[position]
    type = with_nullability(field, field.nullable or element.nullable)
    function = lambda_of((element,), scope, lambda types, _: part_of(parameter(types, 0), StructField(position), type))
    return scope.production.call("functions_list", "transform", (items, function))


def get(node: Node, scope: Scope) -> Expression:
    """``get(list, i)``, and ``list[i]`` without ANSI mode: null where there is no element."""
    if node.name == "Get" and len(node.children) == 1:  # before Spark 4.1, its child is what replaces it
        return expression(node.children[0], scope)
    items, index = expressions(node.children, scope)
    match index:
        case Literal(value=int() as offset) if 0 <= offset < 2**31:
            return _list_element(items, offset)
        case _:
            return scope.production.call(COLLECTIONS, "get", (items, index))


def array_item(node: Node, scope: Scope) -> Expression:
    """``list[i]``."""
    if not node.value("failOnError"):
        return get(node, scope)
    return scope.production.call(COLLECTIONS, "element", expressions(node.children, scope))


def element_at(node: Node, scope: Scope) -> Expression:
    """``element_at`` of a list, from 1 and negative from the end, or of a map."""
    value, index = expressions(node.children, scope)
    if node.tree("defaultValueOutOfBound") is not None or isinstance(node.value("defaultValueOutOfBound"), int):
        raise UnsupportedPlanError(f"`{written(node)}` with a value for positions out of bounds has no Substrait form")
    if isinstance(concrete(value.type), Map):
        return _map_value(value, index, scope)
    if node.value("failOnError"):
        return scope.production.call(COLLECTIONS, "element_at", (value, index))
    match index:
        case Literal(value=int() as offset) if 0 < abs(offset) < 2**31:
            return _list_element(value, offset - 1 if offset > 0 else offset)
        case _:
            return scope.production.call(COLLECTIONS, "try_element_at", (value, index))


def map_value(node: Node, scope: Scope) -> Expression:
    """``map[key]``: null where there is no such key."""
    value, key = expressions(node.children, scope)
    return _map_value(value, key, scope)


def _map_value(value: Expression, key: Expression, scope: Scope) -> Expression:
    type = concrete(value.type)
    assert isinstance(type, Map)
    if isinstance(key, Literal) and key.value is not None and same_type(key.type, type.key):
        return part_of(value, MapKey(key), with_nullability(type.value, True))
    return scope.production.call(COLLECTIONS, "map_value", (value, key))


def _list_element(items: Expression, offset: int) -> Expression:
    return part_of(items, ListElement(offset), with_nullability(_list_of(items).type, True))


def _list_of(items: Expression) -> List:
    type = concrete(items.type)
    assert isinstance(type, List)
    return type


# functions with flags -------------------------------------------------------------------------------------------------


def size(node: Node, scope: Scope) -> Expression:
    """``size``: null for null, or -1 in legacy mode."""
    value = expression(node.children[0], scope)
    if isinstance(concrete(value.type), Map):
        count: Expression = scope.production.call(COLLECTIONS, "map_size", (value,))
    else:
        count = typed(scope.production.call("functions_list", "cardinality", (value,)), I32())
    if not node.value("legacySizeOfNull") or not value.type.nullable:
        return count
    missing = scope.production.call("functions_comparison", "is_null", (value,))
    return IfThen(ifs=(IfClause(missing, Literal(type=I32(), value=-1)),), else_=count)


def sort_array(node: Node, scope: Scope) -> Expression:
    """``sort_array``: nulls first in ascending order, last in descending order."""
    order = node.children[1]
    ascending = str(order.value("value")) if order.name == "Literal" else str(order.java.eval(None)).lower()
    if ascending not in ("true", "false"):
        raise UnsupportedPlanError(f"`{written(node)}` has no direction", hint="Write true or false")
    direction = "ASC_NULLS_FIRST" if ascending == "true" else "DESC_NULLS_LAST"
    items = expression(node.children[0], scope)
    return scope.production.call("functions_list", "sort", (items,), {"direction": direction})


def array_contains(node: Node, scope: Scope) -> Expression:
    """``array_contains``: null if only a null element might match, and if the value is null.

    For a value that can't be null, ``any_match`` with an equality gives the same, also for empty lists.
    """
    items, value = expressions(node.children, scope)
    if not _is_plain(value):
        return scope.production.call(COLLECTIONS, "contains", (items, value))
    element = _list_of(items).type

    def equal(types: Struct, inside: Scope) -> Expression:
        return as_nullable(scope.production.call("functions_comparison", "equal", (parameter(types, 0), value)))

    return scope.production.call("functions_list", "any_match", (items, lambda_of((element,), scope, equal)))


def _is_plain(value: Expression) -> bool:
    """Whether a value is a non-null column or literal, of a type whose equality has no special cases."""
    match value:
        case Literal(value=None):
            return False
        case Literal() | FieldReference(root=RootReference(), reference=(StructField(),)):
            return not value.type.nullable and isinstance(concrete(value.type), _PLAIN)
        case _:
            return False


_PLAIN: Final = (Boolean, I8, I16, I32, I64, String, Binary, Date, Decimal)


def array_insert(node: Node, scope: Scope) -> Expression:
    """``array_insert``."""
    if node.value("legacyNegativeIndex"):
        raise UnsupportedPlanError(
            f"`{written(node)}` has no Substrait form where -1 means the place before the last element",
            hint="Set spark.sql.legacy.negativeIndexInArrayInsert to false",
        )
    return scope.production.call(COLLECTIONS, "insert", expressions(node.children, scope))


def shuffle(node: Node, scope: Scope) -> Expression:
    """``shuffle``: refused, because the order depends on how the records are partitioned."""
    raise UnsupportedPlanError(
        f"`{written(node)}` has no Substrait form: its result is random",
        hint="Sort the list by a deterministic key",
    )


FORMS: Final = {
    "CreateArray": array,
    "CreateMap": map_,
    "CreateNamedStruct": struct,
    "UpdateFields": updated,
    "GetStructField": struct_field,
    "GetArrayStructFields": fields_of_elements,
    "GetArrayItem": array_item,
    "Get": get,
    "ElementAt": element_at,
    "GetMapValue": map_value,
    "Size": size,
    "SortArray": sort_array,
    "ArrayContains": array_contains,
    "ArrayInsert": array_insert,
    "Shuffle": shuffle,
}

"""References, lambdas, and values that hold others: lists, structs and maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from pyspark_substrait.engines.dialects import expressions
from pyspark_substrait.engines.dialects.scope import Compilation, Record, Scope
from pyspark_substrait.engines.dialects.tree import as_outer, number
from pyspark_substrait.errors import InvalidPlanError, at
from pyspark_substrait.model.expressions import (
    Expression,
    FieldReference,
    Lambda,
    LambdaParameterReference,
    ListElement,
    MapKey,
    NestedList,
    NestedMap,
    NestedStruct,
    OuterReference,
    ReferenceSegment,
    RootReference,
    StructField,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import List, Map, Struct, Type, concrete, with_nullability

__all__ = ["constant", "lambda_", "nested", "reference"]


def nested(node: NestedList | NestedStruct | NestedMap, scope: Scope, compilation: Compilation) -> exp.Expression:
    """Return a list, a struct or a map of expressions."""

    def part(one: Expression, type: Type, *path: str | int) -> exp.Expression:
        with at(*path):
            value = expressions.expression(one, scope, compilation)
            return expressions.cast(value, one.type, with_nullability(type, one.type.nullable), compilation)

    type = concrete(node.type)
    if isinstance(node, NestedStruct):
        fields = [part(one, one.type, "struct", "fields", place) for place, one in enumerate(node.fields)]
        return _struct(fields, type, compilation)
    if isinstance(node, NestedList):
        assert isinstance(type, List)
        return _list(
            [part(one, type.type, "list", "values", place) for place, one in enumerate(node.values)], type, compilation
        )
    assert isinstance(type, Map)
    keys, values = [], []
    for place, (key, value) in enumerate(node.key_values):
        keys.append(part(key, type.key, "map", "key_values", place, "key"))
        values.append(part(value, type.value, "map", "key_values", place, "value"))
    return _map(keys, values, type, compilation)


def constant(node: Literal, compilation: Compilation) -> exp.Expression | None:
    """Return a constant list, struct or map; None for other constants."""
    type = concrete(node.type)
    if not isinstance(type, List | Struct | Map) or not isinstance(node.value, tuple):
        return None
    if isinstance(type, Map):
        pairs = [pair for pair in node.value if isinstance(pair, tuple)]
        keys = [expressions.literal(key, compilation) for key, _ in pairs]
        return _map(keys, [expressions.literal(value, compilation) for _, value in pairs], type, compilation)
    parts = [expressions.literal(part, compilation) for part in node.value if isinstance(part, Literal)]
    return (_list if isinstance(type, List) else _struct)(parts, type, compilation)


def _list(values: Sequence[exp.Expression], type: Type, compilation: Compilation) -> exp.Expression:
    return compilation.dialect.typed(exp.Array(expressions=list(values)), type)


def _struct(values: Sequence[exp.Expression], type: Type, compilation: Compilation) -> exp.Expression:
    compilation.dialect.type_text(type)
    return exp.Anonymous(this="ROW", expressions=list(values))


def _map(
    keys: Sequence[exp.Expression], values: Sequence[exp.Expression], type: Type, compilation: Compilation
) -> exp.Expression:
    lists: list[exp.Expression] = [exp.Array(expressions=list(keys)), exp.Array(expressions=list(values))]
    return compilation.dialect.typed(exp.Anonymous(this="MAP", expressions=lists), type)


# references ----------------------------------------------------------------------------------------------------------


def reference(node: FieldReference, scope: Scope, compilation: Compilation) -> exp.Expression:
    """Return the column that a reference leads to, or the value inside one."""
    dialect = compilation.dialect
    if not isinstance(node.reference, tuple):
        raise expressions.unsupported("masks", "masked_reference", compilation)
    first, rest = node.reference[:1], node.reference[1:]
    match node.root, first:
        case (RootReference() | OuterReference() | LambdaParameterReference()) as root, (StructField(field=position),):
            record = _record(root, scope, compilation)
            if not 0 <= position < len(record.columns):
                raise InvalidPlanError(f"there is no field {position}; the record has {len(record.columns)}")
            value = record.columns[position].copy()
            if isinstance(root, OuterReference):
                value = dialect.filled(dialect.outer_column, as_outer(value))
        case ((RootReference() | OuterReference() | LambdaParameterReference()), _):
            raise expressions.unsupported("references to whole records", "direct_reference", compilation)
        case root, _:
            with at("expression"):
                value = expressions.expression(root, scope, compilation)
            rest = node.reference
    dialect.type_text(node.type)
    for segment in rest:
        value = _inside(value, segment, compilation)
    return value


def _inside(value: exp.Expression, segment: ReferenceSegment, compilation: Compilation) -> exp.Expression:
    """Return a part of a value."""
    dialect = compilation.dialect
    key: exp.Expression
    match segment:
        case StructField(field=position):
            template, key = dialect.struct_field, number(position + 1)
        case ListElement(offset=offset):
            template, key = dialect.list_element, number(offset + 1 if offset >= 0 else offset)
        case MapKey(map_key=wanted):
            template, key = dialect.map_value, expressions.literal(wanted, compilation)
    if not template:
        raise expressions.unsupported("references into values", "direct_reference", compilation)
    return dialect.filled(template, value, key)


def _record(
    root: RootReference | OuterReference | LambdaParameterReference, scope: Scope, compilation: Compilation
) -> Record:
    match root:
        case RootReference():
            return scope.record
        case OuterReference():
            return _outer(root, scope)
        case LambdaParameterReference(steps_out=steps):
            if steps >= len(scope.lambdas):
                raise expressions.unsupported("parameters of lambdas around queries", "root", compilation)
            return scope.lambdas[-1 - steps]


def _outer(root: OuterReference, scope: Scope) -> Record:
    if root.steps_out is not None:
        if not 1 <= root.steps_out <= len(scope.outer):
            raise InvalidPlanError(f"there is no query {root.steps_out} steps out", path="outer_reference")
        return scope.outer[-root.steps_out]
    found = [record for record in scope.outer if record.anchor is not None and record.anchor == root.rel_reference]
    if not found:
        raise InvalidPlanError(f"no enclosing relation has the anchor {root.rel_reference}", path="outer_reference")
    return found[-1]


def lambda_(node: Lambda, scope: Scope, compilation: Compilation) -> exp.Expression:
    """Return a lambda, an argument of a function of lists."""
    if not compilation.dialect.lambdas:
        raise expressions.unsupported("lambdas", "lambda", compilation)
    names = [exp.to_identifier(compilation.names.fresh("x"), quoted=True) for _ in node.parameters.types]
    inner = replace(scope, lambdas=(*scope.lambdas, Record(tuple(names))), windows=False)
    with at("body"):
        body = expressions.expression(node.body, inner, compilation)
    return exp.Lambda(this=body, expressions=[name.copy() for name in names])

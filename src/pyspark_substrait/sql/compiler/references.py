"""Field references as Spark SQL."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import assert_never

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError, at
from pyspark_substrait.model.expressions import (
    FieldReference,
    LambdaParameterReference,
    ListElement,
    MapKey,
    OuterReference,
    ReferenceSegment,
    RootReference,
    StructField,
)
from pyspark_substrait.model.masks import MaskExpression
from pyspark_substrait.sql.compiler import expressions, lambdas, masks
from pyspark_substrait.sql.compiler.literals import literal
from pyspark_substrait.sql.compiler.scope import Binding, Compilation, Scope
from pyspark_substrait.sql.fragment import Atom

__all__ = ["reference"]


def reference(node: FieldReference, scope: Scope, compilation: Compilation) -> Atom:
    """The text of a field reference."""
    match node.root:
        case RootReference():
            return _of_record(scope.record.columns, node.reference, compilation)
        case OuterReference():
            return _of_record(scope.outer_record(node.root).columns, node.reference, compilation)
        case LambdaParameterReference():
            return _of_record(lambdas.parameters(node.root, scope), node.reference, compilation)
        case root:
            with at("expression"):
                text = expressions.expression(root, scope, compilation)
    match node.reference:
        case MaskExpression() as mask:
            with at("masked_reference", "select"):
                return lambdas.evaluated_once(
                    text, root, lambda value: masks.masked_struct(value, mask, compilation.names), compilation
                )
        case segments:
            return _path(text, segments)


def _of_record(
    columns: Sequence[Binding], reference: tuple[ReferenceSegment, ...] | MaskExpression, compilation: Compilation
) -> Atom:
    match reference:
        case MaskExpression():
            texts = [_value(column) for column in columns]
            with at("masked_reference", "select"):
                for item in reference.select.struct_items:
                    _check(item.field, columns)
                return masks.masked_record(texts, reference, compilation.names)
        case (StructField(field=position), *rest):
            _check(position, columns)
            return _path(_value(columns[position]), rest)
        case _:
            raise InvalidPlanError("a reference into a record starts with a struct field")


def _check(position: int, columns: Sequence[Binding]) -> None:
    if not 0 <= position < len(columns):
        raise InvalidPlanError(f"there is no field {position}; the record has {len(columns)}")


def _value(column: Binding) -> Atom:
    if isinstance(column, Atom):
        return column
    raise UnsupportedPlanError("a function value can only be an argument: Spark has no functions as values")


def _path(text: Atom, segments: Sequence[ReferenceSegment]) -> Atom:
    for segment in segments:
        match segment:
            case StructField(field=field):
                text = masks.field(text, field)
            case ListElement(offset=offset):
                text = masks.element(text, offset)
            case MapKey(map_key=key):
                text = Atom(f"try_element_at({text}, {literal(key)})")
            case _:
                assert_never(segment)
    return text

"""Field references as Spark SQL."""

from __future__ import annotations

from typing_extensions import assert_never

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
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
from pyspark_substrait.sparksql.compiler import expressions
from pyspark_substrait.sparksql.compiler.literals import literal
from pyspark_substrait.sparksql.compiler.scope import Compilation, Scope

__all__ = ["reference"]


def reference(node: FieldReference, scope: Scope, compilation: Compilation) -> str:
    """The text of a field reference; an atom."""
    if isinstance(node.reference, MaskExpression):
        raise UnsupportedPlanError("a masked reference as an expression can't run on Spark yet")
    segments = node.reference
    match node.root:
        case RootReference():
            return _of_record(scope.record.columns, segments)
        case OuterReference():
            return _of_record(scope.outer_record(node.root).columns, segments)
        case LambdaParameterReference():
            raise UnsupportedPlanError("lambdas can't run on Spark yet")
        case root:
            return _path(expressions.expression(root, scope, compilation), segments)


def _of_record(columns: tuple[str, ...], segments: tuple[ReferenceSegment, ...]) -> str:
    if not segments or not isinstance(segments[0], StructField):
        raise InvalidPlanError("a reference into a record starts with a struct field")
    position = segments[0].field
    if not 0 <= position < len(columns):
        raise InvalidPlanError(f"there is no field {position}; the record has {len(columns)}")
    return _path(columns[position], segments[1:])


def _path(text: str, segments: tuple[ReferenceSegment, ...]) -> str:
    for segment in segments:
        match segment:
            case StructField(field=field):
                text = f"{text}.f{field}"
            case ListElement(offset=offset):
                # Spark counts from 1; negative positions count from the end in both
                text = f"try_element_at({text}, {offset + 1 if offset >= 0 else offset})"
            case MapKey(map_key=key):
                text = f"try_element_at({text}, {literal(key)})"
            case _:
                assert_never(segment)
    return text

"""Field references: paths to data inside a record. Spec: expressions/field_references."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.masks import MaskExpression
from pyspark_substrait.model.types import (
    List,
    Map,
    OpenStruct,
    String,
    Struct,
    Type,
    Unbound,
    UserDefined,
    VarChar,
    concrete,
    same_type,
    with_nullability,
)

if TYPE_CHECKING:
    from pyspark_substrait.model.expressions import Expression

__all__ = [
    "FieldReference",
    "LambdaParameterReference",
    "ListElement",
    "MapKey",
    "OuterReference",
    "ReferenceSegment",
    "RootReference",
    "StructField",
    "referenced_type",
]


@dataclass(frozen=True, slots=True)
class StructField:
    """The field at position ``field`` (from 0) of a struct."""

    field: int


@dataclass(frozen=True, slots=True)
class ListElement:
    """The element at ``offset`` (from 0; negative from the end) of a list; null when there is none."""

    offset: int


@dataclass(frozen=True, slots=True)
class MapKey:
    """The value that a map holds under a key; null when there is none."""

    map_key: Literal


ReferenceSegment: TypeAlias = StructField | ListElement | MapKey


@dataclass(frozen=True, slots=True)
class RootReference:
    """The record that the expression is evaluated on."""


@dataclass(frozen=True, slots=True)
class OuterReference:
    """The record of an enclosing query, found by one of two ways.

    Args:
        steps_out: the number of subquery boundaries to go up (at least 1), or None.
        rel_reference: the ``rel_anchor`` of the relation whose input record is meant, or None.
    """

    steps_out: int | None = None
    rel_reference: int | None = None


@dataclass(frozen=True, slots=True)
class LambdaParameterReference:
    """The parameters of the enclosing lambda that is ``steps_out`` lambdas up (0 is the innermost), as a struct."""

    steps_out: int = 0


def referenced_type(root: Type, segments: tuple[ReferenceSegment, ...]) -> Type:
    """The type that a path of segments leads to.

    A step through something nullable, or into a list or map (which may lack the element), makes the result nullable.

    Raises:
        InvalidPlanError: a segment doesn't fit the type it is applied to, or a field is out of range.
    """
    type, nullable = root, False
    for segment in segments:
        here = concrete(type)
        if isinstance(here, UserDefined):
            raise InvalidPlanError(
                f"a reference cannot take a {here} apart",
                hint="A function of the type's extension may give its parts",
                code=Code.TYPE_STRUCT_REQUIRED,
            )
        nullable = nullable or here.nullable
        match segment, here:
            case StructField(), OpenStruct():
                return Unbound(nullable=True)
            case _, Unbound():
                return Unbound(nullable=True)
            case StructField(field=field), Struct(types=types):
                if not 0 <= field < len(types):
                    raise InvalidPlanError(
                        f"there is no field {field}; the struct has {len(types)}",
                        hint=f"Fields are counted from 0; the struct is {here}",
                        code=Code.EXPRESSION_REFERENCE,
                    )
                type = types[field]
            case ListElement(), List(type=element):
                type, nullable = element, True
            case MapKey(map_key=literal), Map(key=key, value=value):
                if not (same_type(literal.type, key) or _texts(literal.type, key)):
                    raise InvalidPlanError(
                        f"a key of type {literal.type} cannot be one of the map's, which are {key}",
                        hint="Write the key as a literal of the map's key type",
                        code=Code.TYPE_MISMATCH,
                    )
                type, nullable = value, True
            case _:
                fault = f"a {_SEGMENT_NAMES[segment.__class__]} cannot be taken from {here}"
                raise InvalidPlanError(fault, code=Code.TYPE_MISMATCH)
    return with_nullability(type, type.nullable or nullable)


def _texts(left: Type, right: Type) -> bool:
    """Whether both types are string or varchar, whose values don't depend on the declared length."""
    return isinstance(concrete(left), String | VarChar) and isinstance(concrete(right), String | VarChar)


_SEGMENT_NAMES = {StructField: "struct field", ListElement: "list element", MapKey: "map key"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldReference:
    """Data inside a record, an outer record, lambda parameters or another expression's result.

    ``reference`` is either the path to one value, or a mask that keeps part of a struct (``masked_reference``).
    Spec: expressions/field_references.
    """

    root: RootReference | OuterReference | LambdaParameterReference | Expression
    reference: tuple[ReferenceSegment, ...] | MaskExpression
    type: Type

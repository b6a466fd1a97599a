"""Check expressions that must have one type, or a given one: conditions, branches, options, elements.

The specification requires identical types. Reading is less strict: if one of the types holds the values of all, the
other expressions are cast to it, with a note.
"""

from __future__ import annotations

import decimal
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

from pyspark_substrait.codes import Code
from pyspark_substrait.extensions.coercion import common_type
from pyspark_substrait.model.expressions import (
    Cast,
    Expression,
    FailureBehavior,
    FieldReference,
    NestedList,
    NestedMap,
    NestedStruct,
    RootReference,
    StructField,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import Project, Relation
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    Boolean,
    Decimal,
    List,
    Map,
    OpenStruct,
    String,
    Struct,
    Type,
    Unbound,
    VarChar,
    concrete,
    same_type,
    with_nullability,
)
from pyspark_substrait.model.unbound import is_unbound
from pyspark_substrait.proto.read.context import Reading, invalid

__all__ = [
    "agreed",
    "as_cell",
    "as_literal",
    "as_type",
    "checked_condition",
    "comparable",
    "compared_types",
]


def checked_condition(condition: Expression, path: Path) -> Expression:
    """Return a condition, after checking that it is a boolean.

    Raises:
        InvalidPlanError: it is something else.
    """
    if not isinstance(concrete(condition.type), Boolean | Unbound):
        raise invalid(
            f"the condition is {condition.type}",
            path,
            "It must be a boolean: compare it with something",
            Code.TYPE_MISMATCH,
        )
    return condition


def agreed(
    items: Sequence[Expression], reading: Reading, places: Sequence[Path], *, exactly: bool = False
) -> tuple[Expression, ...]:
    """Return expressions cast to their common type, apart from nullability.

    Args:
        items: the expressions.
        reading: the message.
        places: the path of each.
        exactly: whether the nullability of parts inside the values has to be the same, too.

    Raises:
        InvalidPlanError: no type holds the values of all; or the types differ, when reading is strict.
    """
    first = items[0].type if items else None
    if first is None or all(item.type == first for item in items) or any(is_unbound(item.type) for item in items):
        return tuple(items)
    same = all(same_type(item.type, first) for item in items)
    if same and not exactly:
        return tuple(items)
    if not same and reading.findings is not None:
        return _compared_to_first(items, reading, places)
    return _in_common(items, reading, places, same)


def _compared_to_first(items: Sequence[Expression], reading: Reading, places: Sequence[Path]) -> tuple[Expression, ...]:
    """Like :func:`_in_common`, but report each item whose type differs from the first one's."""
    first = _plain(next((item for item in items if not _is_null(item)), items[0]).type)
    found: Type | None = first
    for item, place in zip(items, places, strict=True):
        type = _plain(item.type)
        if same_type(type, first):
            continue
        if _is_null(item) or common_type((first, type)) is not None:
            reading.loose("different-types", place, f"this is {item.type}, the first is {first}", "cast to one type")
        else:
            fault, hint = f"this is {item.type}, where the others are {first}", "All have to be of one type; add a cast"
            reading.fault(invalid(fault, place, hint, Code.TYPE_MISMATCH))
        if found is not None and not _is_null(item):
            found = common_type((found, type))
    if found is None:
        return tuple(items)
    return tuple([_as(item, found, reading, place, silent=True) for item, place in zip(items, places, strict=True)])


def _in_common(
    items: Sequence[Expression], reading: Reading, places: Sequence[Path], same: bool
) -> tuple[Expression, ...]:
    found: Type | None = None
    # a null fits any type, so its type only counts among nulls
    for position in sorted(range(len(items)), key=lambda position: _is_null(items[position])):
        item = items[position]
        type = _plain(item.type)
        common = type if found is None else common_type((found, type))
        if common is None:
            if _is_null(item):
                continue
            raise invalid(
                f"this is {item.type}, where the others are {found}",
                places[position],
                "All have to be of one type; add a cast",
                Code.TYPE_MISMATCH,
            )
        found = common
    assert found is not None
    return tuple([_as(item, found, reading, places[position], silent=same) for position, item in enumerate(items)])


def _is_null(item: Expression) -> bool:
    return isinstance(item, Literal) and item.value is None


def _plain(type: Type) -> Type:
    """A type without variation, and without aliases."""
    type = concrete(type)
    return type if type.variation is None else replace(type, variation=None)


def _as(item: Expression, type: Type, reading: Reading, path: Path, *, silent: bool = False) -> Expression:
    """Return the expression as a value of a type that holds all its values, or as a null of that type."""
    wanted = with_nullability(type, item.type.nullable)
    if _plain(item.type) == wanted:
        return item
    reading.plain = False
    if not same_type(item.type, wanted) and not silent:
        reading.loose("different-types", path, f"this is {item.type} among others of {type}", f"cast to {wanted}")
    if _is_null(item):
        return Literal(type=wanted, value=None)
    return Cast(type=wanted, input=item, failure_behavior=FailureBehavior.THROW_EXCEPTION)


def as_type(value: Expression, type: Type) -> Expression:
    """Cast a value to a type, unless it has that type."""
    if value.type is type:
        return value
    if with_nullability(concrete(value.type), type.nullable) == concrete(type):
        return value
    return Cast(type=type, input=value, failure_behavior=FailureBehavior.THROW_EXCEPTION)


def as_literal(value: Expression, path: Path) -> Literal:
    """Convert the result of :func:`agreed` for a literal back to a literal.

    Raises:
        InvalidPlanError: there is no literal for the cast of this one.
    """
    match value:
        case Literal():
            return value
        case Cast(type=type, input=Literal(type=source, value=content)):
            match concrete(source), type:
                case (
                    (I8() | I16() | I32(), I16() | I32() | I64()) | (FP32(), FP64()) | (VarChar(), VarChar() | String())
                ):
                    return Literal(type=type, value=content)
                case _, Decimal(scale=scale) if isinstance(content, int | decimal.Decimal):
                    exact = decimal.Decimal(content).quantize(decimal.Decimal(1).scaleb(-scale), context=_EXACT)
                    return Literal(type=type, value=exact)
                case _:
                    raise invalid(
                        f"this is {source}, where {type} is compared",
                        path,
                        "Write it as one of that type",
                        Code.TYPE_MISMATCH,
                    )
        case _:
            raise AssertionError("a literal or its cast")


_EXACT = decimal.Context(prec=76)


def comparable(
    needles: Sequence[Expression], query: Relation, reading: Reading, places: Sequence[Path]
) -> tuple[tuple[Expression, ...], Relation]:
    """Return values, and the query whose columns they are compared with, cast to common types.

    Raises:
        InvalidPlanError: a value can't be compared with its column.
    """
    if isinstance(query.schema, OpenStruct):
        return tuple(needles), query
    columns: list[Expression] = [
        FieldReference(root=RootReference(), reference=(StructField(position),), type=type)
        for position, type in enumerate(query.schema.types)
    ]
    pairs = [
        agreed((column, needle), reading, (place, place))
        for needle, column, place in zip(needles, columns, places, strict=True)
    ]
    wanted = tuple([column for column, _ in pairs])
    if wanted != tuple(columns):
        reading.plain = False
        query = Project.only(query, wanted)
    return tuple([needle for _, needle in pairs]), query


def compared_types(left: Expression, right: Expression, reading: Reading, path: Path) -> tuple[Type, Type] | None:
    """Return the types to cast two values to before they are compared; None for their own.

    Raises:
        InvalidPlanError: no type holds the values of both; or the types differ, when reading is strict.
    """
    if is_unbound(left.type) or is_unbound(right.type) or same_type(left.type, right.type):
        return None
    common = common_type((_plain(left.type), _plain(right.type)))
    if common is None:
        raise invalid(f"{left.type} is compared with {right.type}", path, "Cast one of them below", Code.TYPE_MISMATCH)
    reading.loose("different-types", path, f"{left.type} is compared with {right.type}", f"both as {common}")
    return with_nullability(common, left.type.nullable), with_nullability(common, right.type.nullable)


def as_cell(value: Expression, type: Type, reading: Reading, path: Path) -> Expression:
    """A value of a virtual table as one of its column's type.

    Raises:
        InvalidPlanError: the column can't hold it, or it is or may be null where the column never is.
    """
    if is_unbound(type) or is_unbound(value.type):
        return value
    if not same_type(value.type, type):
        common = common_type((_plain(value.type), _plain(type)))
        if not _is_null(value) and (common is None or not same_type(common, type)):
            raise invalid(f"the value is {value.type}, its column {type}", path, "Add a cast", Code.TYPE_MISMATCH)
        value = _as(value, _plain(type), reading, path)
    null = _null_inside(value, type)
    if null is not None:
        raise invalid(
            f"{null}, but the type of its column, {type}, has no null there",
            path,
            "Make it nullable in the schema",
            Code.TYPE_MISMATCHED_NULLABILITY,
        )
    return value


def _null_inside(value: Expression, type: Type) -> str | None:
    """Describe a part of a value that is or may be null where its type is required; None if there is none."""
    type = concrete(type)
    if isinstance(value, Literal) and value.value is None:
        return None if type.nullable else "the value is null"
    if isinstance(value, Literal) and not isinstance(value.value, tuple):
        return None
    match value:
        case Cast(input=input, failure_behavior=FailureBehavior.THROW_EXCEPTION | FailureBehavior.UNSPECIFIED) if (
            not isinstance(type, Struct | List | Map)
        ):
            return _null_inside(input, type)
        case Literal() | NestedStruct() | NestedList() | NestedMap():
            found = (_null_inside(part, wanted) for part, wanted in _parts(value, type))
            return next((null for null in found if null is not None), None)
        case _:
            return None if _contains(type, value.type) else f"the value is {value.type}, which may be null"


def _parts(value: Expression, type: Type) -> Iterator[tuple[Expression, Type]]:
    """The values directly inside a value, with their required types."""
    match type, value:
        case Struct(types=types), NestedStruct(fields=parts) | Literal(value=tuple() as parts):
            yield from zip(cast(tuple[Expression, ...], parts), types, strict=True)
        case List(type=element), NestedList(values=parts) | Literal(value=tuple() as parts):
            for part in cast(tuple[Expression, ...], parts):
                yield part, element
        case Map(key=key_type, value=value_type), NestedMap(key_values=pairs) | Literal(value=tuple() as pairs):
            for key, item in cast(tuple[tuple[Expression, Expression], ...], pairs):
                yield key, key_type
                yield item, value_type


def _contains(wider: Type, narrower: Type) -> bool:
    """Whether every null that one type allows, at any depth, the other allows too."""
    wider, narrower = concrete(wider), concrete(narrower)
    if narrower.nullable and not wider.nullable:
        return False
    match wider, narrower:
        case Struct(types=ones), Struct(types=others):
            return all(map(_contains, ones, others))
        case List(type=one), List(type=other):
            return _contains(one, other)
        case Map(value=one), Map(value=other):
            return _contains(one, other)
        case _:
            return True

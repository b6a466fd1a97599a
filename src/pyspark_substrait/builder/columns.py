"""Columns: expressions over a record, with the operators of Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, TypeAlias

from pyspark_substrait.builder import schemas
from pyspark_substrait.builder.constants import fitted, literal, own_type
from pyspark_substrait.builder.schemas import TypeLike
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions.coercion import common_type
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.expressions import (
    Cast,
    Expression,
    FailureBehavior,
    FieldReference,
    Function,
    ListElement,
    MapKey,
    ReferenceSegment,
    ScalarFunction,
    SingularOrList,
    SortDirection,
    StructField,
    referenced_type,
)
from pyspark_substrait.model.literals import Literal as LiteralNode
from pyspark_substrait.model.relations import Measure
from pyspark_substrait.model.types import Boolean, List, Map, Struct, Type, concrete, same_type, with_nullability

__all__ = [
    "Column",
    "Comparand",
    "Nulls",
    "Records",
    "SortKey",
    "Unfinished",
    "agreed",
    "cast_to",
    "column",
    "condition",
    "held_by",
    "lit",
    "made",
    "plain",
    "register_calls",
]

Nulls: TypeAlias = Literal["first", "last"]

#: The prefixes of names that Python and notebooks look up on every object.
_FOREIGN = ("__", "_repr_", "_ipython_")
_FAILURES = {
    "error": FailureBehavior.THROW_EXCEPTION,
    "null": FailureBehavior.RETURN_NULL,
    "unspecified": FailureBehavior.UNSPECIFIED,
}
_DIRECTIONS = {
    (True, "first"): SortDirection.ASC_NULLS_FIRST,
    (True, "last"): SortDirection.ASC_NULLS_LAST,
    (False, "first"): SortDirection.DESC_NULLS_FIRST,
    (False, "last"): SortDirection.DESC_NULLS_LAST,
}

#: see :func:`register_calls`
_call: Callable[..., Any]


def register_calls(call: Callable[..., Any]) -> None:
    """Register the function that operators call functions of the extensions by.

    It takes and returns columns, so it is in a module above this one.
    """
    global _call
    _call = call


class Column:
    """A value for each record: a column, or what is computed from columns. Immutable.

    The operators ``+ - * / % **``, the comparisons, ``& | ~`` and unary ``-`` call the functions with that meaning. A
    Python value beside a column becomes a literal of the column's type if that holds it exactly, and otherwise of its
    own type; if types differ, the narrower one is cast, as long as nothing is lost.

    A field of a struct is an attribute, ``o.address.city``, or an item, ``o["address"]["cast"]``, if a method has
    its name. Items are also elements of lists (from 0; negative from the end) and values of maps by key.

    Examples:
        >>> orders = read("orders", {"price": "fp64?"})
        >>> orders.select(high=lambda o: o.price > 10)
        <Frame: high: boolean?>
    """

    __slots__ = ("_expression", "_inner", "_measures", "_name", "_registry")
    __hash__ = None  # type: ignore[assignment]  # == returns a column

    def __init__(
        self,
        expression: Expression,
        *,
        name: str | None = None,
        inner: tuple[str, ...] | None = None,
        registry: Registry | None = None,
        measures: tuple[tuple[int, Measure], ...] = (),
    ) -> None:
        self._expression = expression
        self._inner = schemas.numbered(expression.type) if inner is None else inner
        self._name = name
        self._registry = registry
        self._measures = measures

    @property
    def expression(self) -> Expression:
        """The expression of the model; its references to records are open until it becomes part of a relation."""
        return self._expression

    @property
    def type(self) -> Type:
        """The type of the values."""
        return self._expression.type

    def __repr__(self) -> str:
        return f"<{self._name or 'column'}: {self.type}>"

    # parts ------------------------------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Column:
        if name.startswith(_FOREIGN):
            raise AttributeError(name)
        return self._field(name)

    def __getitem__(self, key: Any) -> Column:
        here = concrete(self.type)
        match here, key:
            case Struct(), str():
                return self._field(key)
            case (Struct(types=types), int()) if not isinstance(key, bool) and 0 <= key < len(types):
                return self._part(StructField(key), schemas.field_names(here, self._inner)[key])
            case List(), int() if not isinstance(key, bool):
                return self._part(ListElement(key), (None, schemas.element_names(here, self._inner)))
            case Map(key=wanted), _ if not isinstance(key, Column):
                segment = MapKey(literal(key, with_nullability(wanted, False)))
                return self._part(segment, (None, schemas.value_names(here, self._inner)))
            case _:
                raise InvalidPlanError(f"{here} has no part {key!r}", hint="A function takes a key that is a column")

    def _field(self, name: str) -> Column:
        here = concrete(self.type)
        if not isinstance(here, Struct):
            raise InvalidPlanError(f"a {here} has no field `{name}`", hint="Only structs have fields")
        fields = schemas.field_names(here, self._inner)
        found = [position for position, (known, _) in enumerate(fields) if known == name]
        if len(found) != 1:
            schemas.near(name, [known for known, _ in fields], "field")
        return self._part(StructField(found[0]), fields[found[0]])

    def _part(self, segment: ReferenceSegment, names: tuple[str | None, tuple[str, ...]]) -> Column:
        node = self._expression
        type = referenced_type(node.type, (segment,))
        if isinstance(node, FieldReference) and isinstance(node.reference, tuple) and node.reference:
            found = FieldReference(root=node.root, reference=(*node.reference, segment), type=type)
        else:
            found = FieldReference(root=node, reference=(segment,), type=type)
        return made(found, self, inner=names[1], name=names[0])

    def __iter__(self) -> NoReturn:
        raise TypeError("a column cannot be iterated over: its values are known when the plan runs")

    def __contains__(self, item: object) -> NoReturn:
        raise TypeError("`in` is not supported for a column; use isin() or fn.contains()")

    def __bool__(self) -> NoReturn:
        raise TypeError("a column is neither true nor false; write & | ~ for and, or, not, in brackets")

    # operators --------------------------------------------------------------------------------------------------------

    def _function(self, name: str, *arguments: Any) -> Column:
        found: Column = _call(name, *arguments)
        return found

    def _compared(self, name: str, other: Any) -> Column:
        if other is None:
            raise InvalidPlanError("a comparison with None is always null", hint="Use is_null() or is_not_null()")
        if isinstance(other, Comparand):
            return other.compared(self, name)
        return self._function(name, self, other)

    def __add__(self, other: Any) -> Column:
        return self._function("add", self, other)

    def __radd__(self, other: Any) -> Column:
        return self._function("add", other, self)

    def __sub__(self, other: Any) -> Column:
        return self._function("subtract", self, other)

    def __rsub__(self, other: Any) -> Column:
        return self._function("subtract", other, self)

    def __mul__(self, other: Any) -> Column:
        return self._function("multiply", self, other)

    def __rmul__(self, other: Any) -> Column:
        return self._function("multiply", other, self)

    def __truediv__(self, other: Any) -> Column:
        return self._function("divide", self, other)

    def __rtruediv__(self, other: Any) -> Column:
        return self._function("divide", other, self)

    def __mod__(self, other: Any) -> Column:
        return self._function("modulus", self, other)

    def __rmod__(self, other: Any) -> Column:
        return self._function("modulus", other, self)

    def __pow__(self, other: Any) -> Column:
        return self._function("power", self, other)

    def __rpow__(self, other: Any) -> Column:
        return self._function("power", other, self)

    def __neg__(self) -> Column:
        return self._function("negate", self)

    def __and__(self, other: Any) -> Column:
        return self._function("and", self, other)

    def __rand__(self, other: Any) -> Column:
        return self._function("and", other, self)

    def __or__(self, other: Any) -> Column:
        return self._function("or", self, other)

    def __ror__(self, other: Any) -> Column:
        return self._function("or", other, self)

    def __invert__(self) -> Column:
        return self._function("not", self)

    def __eq__(self, other: Any) -> Column:  # type: ignore[override]
        return self._compared("equal", other)

    def __ne__(self, other: Any) -> Column:  # type: ignore[override]
        return self._compared("not_equal", other)

    def __lt__(self, other: Any) -> Column:
        return self._compared("lt", other)

    def __le__(self, other: Any) -> Column:
        return self._compared("lte", other)

    def __gt__(self, other: Any) -> Column:
        return self._compared("gt", other)

    def __ge__(self, other: Any) -> Column:
        return self._compared("gte", other)

    def is_null(self) -> Column:
        """Whether the value is null."""
        return self._function("is_null", self)

    def is_not_null(self) -> Column:
        """Whether the value isn't null."""
        return self._function("is_not_null", self)

    def between(self, low: Any, high: Any) -> Column:
        """Whether the value is at least ``low`` and at most ``high``."""
        return self._function("between", self, low, high)

    def isin(self, *values: Any) -> Column:
        """Whether the value equals one of several values, or a value in the only column of a frame.

        Null if the value is null, or if it equals none of them and one of them is null.
        """
        if len(values) == 1 and isinstance(values[0], Records):
            return values[0]._contain((self,))
        if len(values) == 1 and isinstance(values[0], list | tuple | set | frozenset):
            several = values[0]
            values = tuple(sorted(several, key=repr) if isinstance(several, set | frozenset) else several)
        if not values:
            raise InvalidPlanError("there are no values to be one of")
        value, *options = agreed((self, *values))
        node = SingularOrList(value=value.expression, options=tuple(option.expression for option in options))
        return made(node, value, *options)

    def cast(self, type: TypeLike, on_failure: Literal["error", "null", "unspecified"] = "error") -> Column:
        """Cast the value to another type.

        Args:
            type: the type; it is nullable if the value may be null, whatever the argument says.
            on_failure: the result for a value that the type can't hold: an error, or null.
        """
        if on_failure not in _FAILURES:
            raise InvalidPlanError(f"on_failure is {on_failure!r}", hint=f"It is one of {', '.join(_FAILURES)}")
        target, names = schemas.typed_names(type, self._registry)
        nullable = target.nullable or self.type.nullable or on_failure == "null"
        node = Cast(
            type=with_nullability(target, nullable), input=self.expression, failure_behavior=_FAILURES[on_failure]
        )
        return made(node, self, inner=names, name=self._name)

    # naming and order -------------------------------------------------------------------------------------------------

    def alias(self, name: str) -> Column:
        """Return the same column under another name."""
        found = made(self.expression, self, inner=self._inner, name=name)
        return found

    def asc(self, nulls: Nulls = "first") -> SortKey:
        """Return a key that sorts the smallest value first."""
        return SortKey(self, _direction(True, nulls))

    def desc(self, nulls: Nulls = "last") -> SortKey:
        """Return a key that sorts the largest value first."""
        return SortKey(self, _direction(False, nulls))

    def clustered(self) -> SortKey:
        """Return a key that groups equal values together, in no particular order."""
        return SortKey(self, SortDirection.CLUSTERED)

    def sorted_by(self, comparison: str, urn: str | None = None) -> SortKey:
        """Return a key that sorts by a comparison function of two values."""
        called = _call(comparison, self, self, urn=urn)
        node = called.expression if isinstance(called, Column) else None
        if not isinstance(node, ScalarFunction):
            raise InvalidPlanError(f"`{comparison}` doesn't compare two values: it is not a scalar function")
        return SortKey(self, node.function)


class Comparand:
    """The right side of a comparison that isn't one value for each record: any or all values of a frame."""

    def compared(self, left: Column, name: str) -> Column:
        """Return the comparison of a value with it by a function."""
        raise NotImplementedError


class Records:
    """Records that a value may be one of: a frame."""

    def _contain(self, values: tuple[Any, ...]) -> Column:
        """Whether values, as a record, are among the records, by SQL's three-valued logic."""
        raise NotImplementedError


class Unfinished:
    """A step on the way to a column: a condition without an end, a window function without a window, a sort key."""

    __slots__ = ()

    def as_column(self) -> Column:
        """Return the column that it is already.

        Raises:
            InvalidPlanError: something is missing.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class SortKey(Unfinished):
    """A sort key: a column and the direction."""

    column: Column
    kind: SortDirection | Function

    def as_column(self) -> Column:
        raise InvalidPlanError("asc() and desc() belong where records are sorted")


def _direction(ascending: bool, nulls: str) -> SortDirection:
    if nulls not in ("first", "last"):
        raise InvalidPlanError(f"nulls is {nulls!r}", hint="They stand first or last")
    return _DIRECTIONS[ascending, nulls]


def made(
    expression: Expression, *parts: Column, inner: tuple[str, ...] | None = None, name: str | None = None
) -> Column:
    """Return a column computed from others."""
    measures: dict[int, Measure] = {}
    for part in parts:
        measures.update(part._measures)
    if inner is None:
        inner = _inner_names(expression.type, parts)
    registry = next((part._registry for part in parts if part._registry is not None), None)
    return Column(expression, name=name, inner=inner, registry=registry, measures=tuple(measures.items()))


def _inner_names(type: Type, parts: tuple[Column, ...]) -> tuple[str, ...]:
    """Return the names of nested fields: those of the first part that has as many, or else numbered names."""
    numbered = schemas.numbered(type)
    if not numbered:
        return ()
    return next((part._inner for part in parts if len(part._inner) == len(numbered)), numbered)


def lit(value: object, type: TypeLike | None = None) -> Column:
    """Return a constant.

    Args:
        value: a Python value (see ``model.values``).
        type: its type; by default i32 or i64 for an int, fp64 for a float, and so on. A null needs a type.

    Examples:
        >>> lit(1, "i64")
        <column: i64>
    """
    if type is None:
        own = own_type(value)
        return Column(literal(value, own))
    wanted, names = schemas.typed_names(type)
    return Column(literal(value, with_nullability(wanted, wanted.nullable or value is None)), inner=names)


def column(value: Any) -> Column:
    """Return a value in an expression as a column; a Python value as a literal of its own type."""
    if isinstance(value, Column):
        return value
    return value.as_column() if isinstance(value, Unfinished) else lit(value)


def plain(value: Any) -> bool:
    """Whether a value is a Python value, not a column."""
    return not isinstance(value, Column | Unfinished)


def condition(value: Any) -> Column:
    """Return a condition as a column.

    Raises:
        InvalidPlanError: it isn't a boolean.
    """
    found = column(value)
    if not isinstance(concrete(found.type), Boolean):
        raise InvalidPlanError(f"the condition is {found.type}", hint="It must be a boolean: compare it with something")
    return found


def agreed(values: Iterable[Any]) -> list[Column]:
    """Cast values to one type, but for nullability: Python values to that of the others, narrower types to wider ones.

    Raises:
        InvalidPlanError: no type holds all of the values.
    """
    items = list(values)
    typed = [column(item) for item in items if not plain(item)]
    types = [one.type for one in typed]
    if not types and all(item is None for item in items):
        raise InvalidPlanError("all of the values are None", hint="State the type of one: lit(None, type)")
    found: list[Column | None] = []
    rest = iter(typed)
    for item in items:
        if not plain(item):
            found.append(next(rest))
        elif item is None:
            found.append(None)
        else:
            fitting = (fitted(item, type) for type in types)
            node = next((literal for literal in fitting if literal is not None), None)
            found.append(Column(node) if node is not None else lit(item))
    known = [one for one in found if one is not None]
    common = known[0].type
    for one in known[1:]:
        both = common_type((with_nullability(common, False), with_nullability(one.type, False)))
        if both is None:
            raise InvalidPlanError(f"this is {one.type}, where the others are {common}", hint="Cast it")
        common = both
    null = Column(LiteralNode(type=with_nullability(common, True), value=None))
    return [null if one is None else cast_to(one, common) for one in found]


def cast_to(value: Column, type: Type) -> Column:
    """Cast a value to a type, but keep its nullability."""
    wanted = with_nullability(type, value.type.nullable)
    if concrete(value.type) == concrete(wanted):
        return value
    if isinstance(value.expression, LiteralNode):
        literal = fitted(value.expression.value, wanted) if not isinstance(value.expression.value, tuple) else None
        if literal is not None and literal.type == wanted:
            return Column(literal, inner=value._inner, name=value._name)
    node = Cast(type=wanted, input=value.expression, failure_behavior=FailureBehavior.THROW_EXCEPTION)
    return made(node, value, inner=value._inner, name=value._name)


def held_by(value: Column, type: Type) -> Column:
    """Cast a value to a type that holds all its values.

    Raises:
        InvalidPlanError: the type doesn't hold all of them.
    """
    common = common_type((with_nullability(value.type, False), with_nullability(type, False)))
    if common is None or not same_type(common, type):
        raise InvalidPlanError(f"the value is {value.type}, where {type} is wanted", hint="Cast it")
    return value if same_type(value.type, type) else cast_to(value, type)

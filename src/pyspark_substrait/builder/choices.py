"""Conditional expressions, dynamic parameters, and variables of the execution context."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pyspark_substrait.builder import schemas
from pyspark_substrait.builder.columns import Column, Unfinished, agreed, column, condition, made
from pyspark_substrait.builder.constants import literal
from pyspark_substrait.builder.schemas import TypeLike
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.expressions import (
    ContextVariable,
    DynamicParameter,
    ExecutionContextVariable,
    IfClause,
    IfThen,
    IfValue,
    MultiOrList,
    NestedList,
    NestedMap,
    NestedStruct,
    SwitchExpression,
)
from pyspark_substrait.model.types import Date, PrecisionTimestampTZ, String, with_nullability

__all__ = [
    "Choice",
    "among",
    "array",
    "current_date",
    "current_timestamp",
    "current_timezone",
    "dictionary",
    "parameter",
    "struct",
    "switch",
    "when",
]

_NONE: Final = object()


@dataclass(frozen=True, eq=False)
class Choice(Unfinished):
    """A conditional expression under construction: :meth:`when` adds a branch, :meth:`otherwise` ends it.

    Used without :meth:`otherwise`, its value is null if no condition is true.
    """

    arms: tuple[tuple[Column, Any], ...]

    def when(self, met: Any, value: Any) -> Choice:
        """Add a branch, which is tried after the others."""
        return Choice((*self.arms, (condition(met), value)))

    def as_column(self) -> Column:
        return self.otherwise()

    def otherwise(self, value: Any = _NONE) -> Column:
        """Set the value if no condition is true; null if none is given."""
        values = [arm[1] for arm in self.arms]
        if value is _NONE:
            results, default = agreed(values), None
        else:
            *results, default = agreed([*values, value])
        conditions = [arm[0] for arm in self.arms]
        clauses = tuple(
            IfClause(met.expression, result.expression) for met, result in zip(conditions, results, strict=True)
        )
        node = IfThen(ifs=clauses, else_=None if default is None else default.expression)
        return made(node, *results, *conditions, *([] if default is None else [default]))


def when(met: Any, value: Any) -> Choice:
    """Start a conditional expression: ``when(o.x > 0, "more").otherwise("less")``.

    Examples:
        >>> orders = read("orders", {"price": "fp64?"})
        >>> orders.select(size=lambda o: when(o.price > 100, "large").otherwise("small"))
        <Frame: size: string>
    """
    return Choice(((condition(met), value),))


def switch(match: Any, cases: Mapping[Any, Any], default: Any = _NONE) -> Column:
    """Return the result of the case whose key equals a value, by SQL's rules.

    Args:
        match: the value.
        cases: results by Python constants, which become literals of the value's type.
        default: the result if no key is equal; null if none is given.

    Examples:
        >>> orders = read("orders", {"state": "i32"})
        >>> orders.select(state=lambda o: switch(o.state, {1: "open", 2: "closed"}, "unknown"))
        <Frame: state: string>
    """
    value = column(match)
    if not cases:
        raise InvalidPlanError("there is no case")
    keys = [literal(key, with_nullability(value.type, False)) for key in cases]
    if default is _NONE:
        results, otherwise = agreed(cases.values()), None
    else:
        *results, otherwise = agreed([*cases.values(), default])
    ifs = tuple(IfValue(key, result.expression) for key, result in zip(keys, results, strict=True))
    node = SwitchExpression(match=value.expression, ifs=ifs, else_=None if otherwise is None else otherwise.expression)
    return made(node, *results, value, *([] if otherwise is None else [otherwise]))


def among(values: tuple[Any, ...], options: list[tuple[Any, ...]]) -> Column:
    """Whether a tuple of values equals one of several tuples.

    Examples:
        >>> orders = read("orders", {"id": "i64", "item": "string"})
        >>> orders.filter(lambda o: among((o.id, o.item), [(1, "a"), (2, "b")]))
        <Frame: id: i64, item: string>
    """
    if not options or any(len(option) != len(values) for option in options):
        raise InvalidPlanError(f"each option has {len(values)} values, and there is at least one")
    columns = [agreed(cells) for cells in zip(values, *options, strict=True)]
    rows = [tuple(cell.expression for cell in row) for row in zip(*columns, strict=True)]
    parts = [cell for cells in columns for cell in cells]
    return made(MultiOrList(value=rows[0], options=tuple(rows[1:])), *parts)


def struct(**fields: Any) -> Column:
    """Return a struct of values by name.

    Examples:
        >>> orders = read("orders", {"id": "i64", "price": "fp64?"})
        >>> orders.select(both=lambda o: struct(id=o.id, price=o.price))
        <Frame: both: struct<i64, fp64?>>
    """
    parts = {name: column(value) for name, value in fields.items()}
    node = NestedStruct(fields=tuple(part.expression for part in parts.values()))
    names = tuple(inner for name, part in parts.items() for inner in (name, *part._inner))
    return made(node, *parts.values(), inner=names)


def array(*values: Any) -> Column:
    """Return a list of at least one value; all are cast to one type.

    Examples:
        >>> orders = read("orders", {"low": "i32", "high": "i64"})
        >>> orders.select(bounds=lambda o: array(o.low, o.high))
        <Frame: bounds: list<i64>>
    """
    if not values:
        raise InvalidPlanError("a list without elements has no type", hint='State its type: lit([], "list<i32>")')
    items = agreed(values)
    return made(NestedList(values=tuple(item.expression for item in items)), *items)


def dictionary(*pairs: tuple[Any, Any]) -> Column:
    """Return a map of at least one key-value pair; all keys are cast to one type, and so are all values.

    Examples:
        >>> orders = read("orders", {"low": "i32", "high": "i64"})
        >>> orders.select(bounds=lambda o: dictionary(("low", o.low), ("high", o.high)))
        <Frame: bounds: map<string, i64>>
    """
    if not pairs:
        raise InvalidPlanError("a map without entries has no type", hint='State its type: lit({}, "map<string, i32>")')
    keys, items = agreed(key for key, _ in pairs), agreed(value for _, value in pairs)
    entries = tuple((key.expression, item.expression) for key, item in zip(keys, items, strict=True))
    return made(NestedMap(key_values=entries), *keys, *items)


def parameter(number: int, type: TypeLike) -> Column:
    """Return a dynamic parameter: a value that is given when the plan runs.

    Examples:
        >>> orders = read("orders", {"id": "i64"})
        >>> plan = orders.filter(lambda o: o.id > parameter(1, "i64")).to_plan()
    """
    found, names = schemas.typed_names(type)
    return Column(DynamicParameter(type=found, parameter_reference=number), inner=names)


def current_timestamp(precision: int = 6) -> Column:
    """Return the time of the execution.

    Examples:
        >>> orders = read("orders", {"id": "i64"})
        >>> orders.select("id", read_at=lambda o: current_timestamp())
        <Frame: id: i64, read_at: precision_timestamp_tz<6>>
    """
    type = PrecisionTimestampTZ(precision=precision)
    return Column(ExecutionContextVariable(variable=ContextVariable.CURRENT_TIMESTAMP, type=type))


def current_date() -> Column:
    """Return the date of the execution.

    Examples:
        >>> orders = read("orders", {"day": "date"})
        >>> orders.filter(lambda o: o.day == current_date())
        <Frame: day: date>
    """
    return Column(ExecutionContextVariable(variable=ContextVariable.CURRENT_DATE, type=Date()))


def current_timezone() -> Column:
    """Return the time zone of the execution.

    Examples:
        >>> orders = read("orders", {"id": "i64"})
        >>> orders.select("id", zone=lambda o: current_timezone())
        <Frame: id: i64, zone: string>
    """
    return Column(ExecutionContextVariable(variable=ContextVariable.CURRENT_TIMEZONE, type=String()))

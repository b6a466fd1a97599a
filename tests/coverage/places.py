"""The places in relations where an expression may stand: for each, a relation around it, and its rows in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from pyspark_substrait.model.expressions import (
    Bound,
    BoundsType,
    Cast,
    CurrentRow,
    Expression,
    FieldReference,
    IfClause,
    IfThen,
    Lambda,
    ListElement,
    Preceding,
    WindowFunction,
    referenced_type,
)
from pyspark_substrait.model.relations import (
    Fetch,
    JoinType,
    Measure,
    Read,
    RelationBase,
    Sort,
)
from pyspark_substrait.model.types import List, Struct
from tests.coverage.kinds import OTHER, ROWS, TYPES, Kind
from tests.spark.plans import (
    LONG,
    LONG_,
    TEXT,
    aggregate,
    both,
    call,
    col,
    group,
    join,
    lit,
    long,
    project,
    sort,
    text,
    values,
    where,
)

__all__ = ["PLACES", "Place"]

Rows: TypeAlias = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Place:
    """A place for an expression.

    Args:
        name: relation and field, in the words of the messages.
        build: the relation with an expression of the kind in that place.
        expected: its rows, in any order.
        constant: there is no record to refer to.
    """

    name: str
    build: Callable[[Kind], RelationBase]
    expected: Callable[[Kind], Rows]
    constant: bool = False


PLACES: list[Place] = []


def _table(**more: Any) -> Read:
    return values(TYPES, ROWS, **more)


def _other() -> Read:
    return values([LONG, LONG_], OTHER)


def _place(name: str, build: Callable[[Read, Expression], RelationBase], rows: Callable[[list[Any]], Rows]) -> None:
    """A place whose record is one of the table's."""
    PLACES.append(
        Place(name, lambda kind: build(_table(), kind.make(_table().schema)), lambda kind: rows(kind.of(ROWS)))
    )


def _constant_place(name: str, build: Callable[[Expression], RelationBase], rows: Callable[[Any], Rows]) -> None:
    def build_kind(kind: Kind) -> RelationBase:
        assert kind.constant is not None
        return build(kind.constant[0])

    def expected(kind: Kind) -> Rows:
        assert kind.constant is not None
        return rows(kind.constant[1])

    PLACES.append(Place(name, build_kind, expected, constant=True))


def _large(expression: Expression) -> Expression:
    return call("gt", expression, long(2))


def _is_large(value: int | None) -> bool:
    return value is not None and value > 2


def _numbers(chosen: Sequence[Any]) -> Rows:
    """The first column of the records for which the condition held."""
    return [(row[0],) for row, held in zip(ROWS, chosen, strict=True) if held]


def _by_value(values: Sequence[int | None]) -> list[int]:
    """The positions of the records in the order of the values, nulls first, ties as they are."""
    return sorted(range(len(ROWS)), key=lambda at: (values[at] is not None, values[at] or 0, at))


_place(
    "project expressions",
    lambda table, e: project(table, col(table, 0), e),
    lambda found: [(row[0], value) for row, value in zip(ROWS, found, strict=True)],
)
_place(
    "filter condition",
    lambda table, e: project(where(table, _large(e)), col(table, 0)),
    lambda found: _numbers([_is_large(value) for value in found]),
)


def _read_filter(table: Read, e: Expression) -> RelationBase:
    return project(_table(filter=_large(e)), col(table, 0))


_place("read filter", _read_filter, lambda found: _numbers([_is_large(value) for value in found]))


def _first_two(table: Read, e: Expression) -> RelationBase:
    ordered = Sort(input=table, sorts=(sort(e), sort(col(table, 0))))
    return project(Fetch(input=ordered, count_expr=long(2)), col(table, 0))


_place("sort sorts", _first_two, lambda found: [(ROWS[at][0],) for at in _by_value(found)[:2]])


def _groups(found: list[Any]) -> Rows:
    return [(value, found.count(value)) for value in dict.fromkeys(found)]


_place(
    "aggregate grouping_expressions",
    lambda table, e: group(table, [e], [aggregate("count", col(table, 0))]),
    _groups,
)


def _total(found: Sequence[int | None]) -> int | None:
    known = [value for value in found if value is not None]
    return sum(known) if known else None


_place(
    "aggregate measure arguments",
    lambda table, e: group(table, [], [aggregate("sum", e)]),
    lambda found: [(_total(found),)],
)
_place(
    "aggregate measure filter",
    lambda table, e: group(table, [], [Measure(measure=aggregate("sum", col(table, 0)), filter=_large(e))]),
    lambda found: [(_total([row[0] for row, value in zip(ROWS, found, strict=True) if _is_large(value)]),)],
)


def _joined_text(table: Read, e: Expression) -> RelationBase:
    named = Cast(type=TEXT, input=col(table, 0))
    measure = aggregate("string_agg", named, text(","), sorts=(sort(e), sort(col(table, 0))))
    return group(table, [], [measure])


_place(
    "aggregate measure sorts",
    _joined_text,
    lambda found: [(",".join(str(ROWS[at][0]) for at in _by_value(found)),)],
)


def _join_place(type: JoinType, rows: Callable[[list[Any]], Rows]) -> None:
    def build(kind: Kind) -> RelationBase:
        left, right = _table(), _other()
        record = both(left, right)
        condition = call("equal", kind.make(record), col(record, len(TYPES) + 1))
        joined = join(left, right, condition, type)
        if type in (JoinType.INNER, JoinType.LEFT):
            return project(joined, col(joined, 0), col(joined, len(TYPES)))
        if type is JoinType.LEFT_MARK:
            return project(joined, col(joined, 0), col(joined, len(TYPES)))
        return project(joined, col(joined, 0))

    # the table's records one by one, as the condition sees them
    PLACES.append(Place(f"join expression, {type.value}", build, lambda kind: rows(kind.of(ROWS))))


def _matches(value: int | None) -> list[int]:
    return [number for number, key in OTHER if value is not None and key == value]


def _inner(found: list[Any]) -> Rows:
    return [(row[0], match) for row, value in zip(ROWS, found, strict=True) for match in _matches(value)]


def _left(found: list[Any]) -> Rows:
    no_match: list[int | None] = [None]
    return [(row[0], match) for row, value in zip(ROWS, found, strict=True) for match in _matches(value) or no_match]


def _mark(found: list[Any]) -> Rows:
    # no match is unknown: the other table has a null key
    return [(row[0], True if _matches(value) else None) for row, value in zip(ROWS, found, strict=True)]


_join_place(JoinType.INNER, _inner)
_join_place(JoinType.LEFT, _left)
_join_place(JoinType.LEFT_ANTI, lambda found: _numbers([not _matches(value) for value in found]))
_join_place(JoinType.LEFT_MARK, _mark)


def _after_join(kind: Kind) -> RelationBase:
    left, right = _table(), _other()
    record = both(left, right)
    condition = call("equal", col(record, 0), col(record, len(TYPES) + 1))
    joined = join(left, right, condition, JoinType.LEFT)
    joined = join(left, right, condition, JoinType.LEFT, post_join_filter=_large(kind.make(joined.schema)))
    return project(joined, col(joined, 0))


# every record of the table has at most one match: the join has as many records as the table
PLACES.append(
    Place(
        "join post_join_filter",
        _after_join,
        lambda kind: _numbers([_is_large(value) for value in kind.of(ROWS)]),
    )
)


def _over(name: str, arguments: Sequence[Expression], **parts: Any) -> WindowFunction:
    measure = aggregate(name, *arguments)
    return WindowFunction(
        function=measure.function,
        arguments=measure.arguments,
        output_type=measure.output_type,
        derived_type=measure.derived_type,
        bounds_type=BoundsType.ROWS,
        **parts,
    )


def _with_number(table: Read, window: WindowFunction) -> RelationBase:
    return project(table, col(table, 0), window)


_place(
    "window_function partitions",
    lambda table, e: _with_number(table, _over("sum", [col(table, 0)], partitions=(e,))),
    lambda found: [
        (row[0], sum(other[0] for other, twin in zip(ROWS, found, strict=True) if twin == value))
        for row, value in zip(ROWS, found, strict=True)
    ],
)
_place(
    "window_function sorts",
    lambda table, e: _with_number(
        table, _over("sum", [col(table, 0)], sorts=(sort(e), sort(col(table, 0))), upper_bound=CurrentRow())
    ),
    lambda found: [
        (ROWS[at][0], sum(ROWS[before][0] for before in _by_value(found)[: rank + 1]))
        for rank, at in enumerate(_by_value(found))
    ],
)
_place(
    "window_function arguments",
    lambda table, e: _with_number(table, _over("sum", [e])),
    lambda found: [(row[0], _total(found)) for row in ROWS],
)


def _bound(e: Expression) -> Bound:
    return Preceding(IfThen(ifs=(IfClause(_large(e), long(1)),), else_=long(2)))


_place(
    "window_function bounds",
    lambda table, e: _with_number(
        table,
        _over("sum", [col(table, 0)], sorts=(sort(col(table, 0)),), lower_bound=_bound(e), upper_bound=CurrentRow()),
    ),
    lambda found: [
        (row[0], sum(other[0] for other in ROWS[max(0, at - (1 if _is_large(found[at]) else 2)) : at + 1]))
        for at, row in enumerate(ROWS)
    ],
)


def _in_lambda(table: Read, e: Expression) -> RelationBase:
    made = call("transform", lit(List(type=LONG), [1]), Lambda(parameters=Struct(types=(LONG,)), body=e))
    segments = (ListElement(0),)
    first = FieldReference(root=made, reference=segments, type=referenced_type(made.type, segments))
    return project(table, col(table, 0), first)


_place(
    "lambda body",
    _in_lambda,
    lambda found: [(row[0], value) for row, value in zip(ROWS, found, strict=True)],
)
_constant_place("read virtual_table", lambda e: values([LONG_], [(e,), (5,)]), lambda value: [(value,), (5,)])


def _ordered() -> Sort:
    table = _table()
    return Sort(input=project(table, col(table, 0)), sorts=(sort(col(table, 0)),))


_constant_place(
    "fetch count_expr",
    lambda e: Fetch(input=_ordered(), count_expr=e),
    lambda value: [(row[0],) for row in ROWS[:value]],
)
_constant_place(
    "fetch offset_expr",
    lambda e: Fetch(input=_ordered(), offset_expr=e),
    lambda value: [(row[0],) for row in ROWS[value or 0 :]],
)

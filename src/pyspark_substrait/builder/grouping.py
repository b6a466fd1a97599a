"""Grouping and aggregation."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pyspark_substrait.builder.aggregates import Aggregated
from pyspark_substrait.builder.columns import Column
from pyspark_substrait.builder.records import Base, Field, Record, _plain
from pyspark_substrait.builder.schemas import near
from pyspark_substrait.builder.scoping import closed, new_token, open_reference, rewritten
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.expressions import (
    EnumArgument,
    Expression,
    FieldReference,
    OuterReference,
    StructField,
    TypeArgument,
)
from pyspark_substrait.model.relations import Aggregate, Grouping, Measure, Project, RelCommon
from pyspark_substrait.model.types import Type
from pyspark_substrait.model.walk import with_children

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Grouped", "GroupingSets"]

_Frame = TypeVar("_Frame", bound=Base)


class GroupingSets(Base):
    """Grouping and aggregating."""

    def group_by(self, *keys: Any, **named: Any) -> Grouped[Self]:
        """Group the records by equal keys; nulls are equal.

        Args:
            keys: names of columns, or functions of the record.
            named: functions of the record by name.
        """
        record = self.record()
        found = [(name, _plain(value)) for name, value in self._named(keys, named, record)]
        whole = tuple(range(len(found)))
        return Grouped(self, record, tuple(found), (whole,) if found else ())

    def rollup(self, *keys: Any, **named: Any) -> Grouped[Self]:
        """Group the records by all keys, by all but the last, and so on, and as a single group."""
        grouped = self.group_by(*keys, **named)
        sets = tuple(tuple(range(count)) for count in range(len(grouped.keys), -1, -1))
        return replace(grouped, sets=sets)

    def cube(self, *keys: Any, **named: Any) -> Grouped[Self]:
        """Group the records by each subset of the keys."""
        grouped = self.group_by(*keys, **named)
        count = len(grouped.keys)
        sets = tuple(one for size in range(count, -1, -1) for one in itertools.combinations(range(count), size))
        return replace(grouped, sets=sets)

    def grouping_sets(self, *sets: Sequence[str], **named: Any) -> Grouped[Self]:
        """Group the records by several sets of keys.

        Args:
            sets: the names of columns in each set; those of ``named`` too.
            named: computed keys, by name.
        """
        names = list(dict.fromkeys(name for one in sets for name in one))
        grouped = self.group_by(*(name for name in names if name not in named), **named)
        order = [name for name, _ in grouped.keys]
        found = []
        for one in sets:
            for name in one:
                if name not in order:
                    near(name, order, "key")
            found.append(tuple(order.index(name) for name in one))
        return replace(grouped, sets=tuple(found))

    def agg(self, *values: Any, **named: Any) -> Self:
        """Aggregate all records: the result is one record, even without any. Arguments as for :meth:`Grouped.agg`."""
        return self.group_by().agg(*values, **named)

    def distinct(self) -> Self:
        """Remove duplicate records."""
        return self.group_by(*range_of(self)).agg()


def range_of(frame: Base) -> list[Any]:
    """Return a function for each column of a frame, which returns that column of a record."""

    def at(position: int) -> Any:
        return lambda record: record[position]

    return [at(position) for position in range(len(frame.fields))]


@dataclass(frozen=True, eq=False)
class Grouped(Generic[_Frame]):
    """Grouped records, for aggregation.

    Args:
        frame: the frame.
        record: the record that the keys see.
        keys: the keys by name.
        sets: the positions of the keys in each grouping set.
        set_id: the name of the column with the number of the grouping set; None for no such column.
    """

    frame: _Frame
    record: Record
    keys: tuple[tuple[str, Column], ...]
    sets: tuple[tuple[int, ...], ...]
    set_id: str | None = None

    def with_set_id(self, name: str) -> Grouped[_Frame]:
        """Add a column, after all others, with the number of the grouping set that a record belongs to."""
        return replace(self, set_id=name)

    def agg(self, *values: Any, **named: Any) -> _Frame:
        """Return the keys and the aggregates of each group.

        Args:
            values: functions of the record that return a dict, or columns with names.
            named: by name: an aggregate, ``sum_(lambda o: o.price)``; a function of the record that returns one; or an
                expression over aggregates and keys.

        Raises:
            InvalidPlanError: a value refers to a column that is neither grouped by nor aggregated.
        """
        frame, record = self.frame, self.record
        found = frame._named(values, named, record)
        measures: dict[int, Measure] = {}
        for _, value in found:
            measures.update(value._measures)
        places = {token: position for position, token in enumerate(measures)}
        several = len(self.sets) > 1
        if self.set_id is not None and not several:
            raise InvalidPlanError("there is only one grouping set, which has no number")
        node = Aggregate(
            input=frame.model,
            groupings=tuple(map(Grouping, self.sets)),
            measures=tuple(closed_measure(measure, record._token) for measure in measures.values()),
            grouping_expressions=tuple(closed(key.expression, {record._token: 0}) for _, key in self.keys),
        )
        if not self.keys and not measures:
            raise InvalidPlanError("there is nothing to aggregate, and nothing to group by")
        fields = [Field(name, key._inner) for name, key in self.keys]
        fields += [Field(name, value._inner) for name, value in found]
        count = len(self.keys)
        if [value._measures[0][0] for _, value in found if isinstance(value, Aggregated)] == list(measures) and all(
            isinstance(value, Aggregated) for _, value in found
        ):
            if several and self.set_id is None:
                node = replace(node, common=RelCommon(emit=tuple(range(count + len(measures)))))
            return frame._next(node, [*fields, *([Field(self.set_id)] if self.set_id else [])])
        types = node.schema.types
        after = new_token()
        group = _Group(self, types, places, after)
        outputs: list[Expression] = [open_reference(after, position, types[position]) for position in range(count)]
        outputs += [group.of(value.expression) for _, value in found]
        if self.set_id is not None:
            outputs.append(open_reference(after, len(types) - 1, types[-1]))
            fields.append(Field(self.set_id))
        return frame._next(Project.only(node, [closed(output, {after: 0}) for output in outputs]), fields)


def closed_measure(measure: Measure, token: int) -> Measure:
    """Return a measure with its references resolved inside the aggregate relation."""

    def inside(node: Any) -> Any:
        return node if isinstance(node, EnumArgument | TypeArgument) else closed(node, {token: 0})

    call = measure.measure
    call = replace(
        call,
        arguments=tuple(map(inside, call.arguments)),
        sorts=tuple(replace(sort, expr=inside(sort.expr)) for sort in call.sorts),
    )
    return Measure(measure=call, filter=None if measure.filter is None else inside(measure.filter))


@dataclass(frozen=True)
class _Group:
    """The record that expressions over a group see: the keys, and the aggregates by their tokens."""

    grouped: Grouped[Any]
    types: Sequence[Type]
    measures: Mapping[int, int]
    after: int

    def of(self, expression: Expression) -> Expression:
        """Return an expression over the output of the aggregate relation."""
        return rewritten(self._outside(expression, whole=True), self._inside)

    def _outside(self, node: Expression, whole: bool = False) -> Expression:
        """Rewrite an expression outside of subqueries, where a part that equals a key becomes the key."""
        key = self._key(node, whole)
        if key is not None:
            return key
        if isinstance(node, FieldReference) and isinstance(node.root, OuterReference):
            number = node.root.rel_reference
            found = None if number is None else self._inside(-number, node, 0, 0)
            return node if found is None else found
        return with_children(node, self._outside)

    def _key(self, node: Expression, whole: bool) -> Expression | None:
        for position, (name, key) in enumerate(self.grouped.keys):
            if node == key.expression:
                if not whole and self.types[position] != key.type:
                    raise InvalidPlanError(
                        f"the key `{name}` is not in every grouping set, so it may be null after grouping",
                        hint="Compute with it in a select behind",
                    )
                return open_reference(self.after, position, self.types[position])
        return None

    def _inside(self, token: int, node: FieldReference, lambdas: int, queries: int) -> Expression | None:
        if token in self.measures:
            return open_reference(self.after, len(self.grouped.keys) + self.measures[token], node.type)
        if token != self.grouped.record._token:
            return None
        key = self._key(node, False)
        if key is None:
            assert isinstance(node.reference, tuple)
            first = node.reference[0]
            assert isinstance(first, StructField)
            name = self.grouped.record._fields[first.field].name
            raise InvalidPlanError(
                f"the column `{name}` is neither grouped by nor aggregated", hint="Group by it, or aggregate it"
            )
        return key

"""Frames: relations with names for their columns; each step returns a new frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from typing_extensions import Self

from pyspark_substrait.builder.aggregates import Aggregated
from pyspark_substrait.builder.columns import Column, cast_to
from pyspark_substrait.builder.constants import literal
from pyspark_substrait.builder.finishing import finished
from pyspark_substrait.builder.grouping import GroupingSets, closed_measure
from pyspark_substrait.builder.joining import Joining
from pyspark_substrait.builder.physical import Physical
from pyspark_substrait.builder.reading import Reading
from pyspark_substrait.builder.records import Base, Field, Record, _plain, fields_of
from pyspark_substrait.builder.schemas import SchemaLike, near, schema_of
from pyspark_substrait.builder.scoping import closed, new_token, open_tokens, open_tokens_of
from pyspark_substrait.builder.writing import Writing
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions.coercion import common_type
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.deep_stack import with_enough_stack
from pyspark_substrait.model.expressions import AggregateFunction, Expression
from pyspark_substrait.model.plan import PRODUCER, ExpressionReference, ExtendedExpression, Plan, Version
from pyspark_substrait.model.relations import (
    Fetch,
    FetchMode,
    Filter,
    Project,
    Reference,
    Relation,
    Set,
    SetOp,
    Sort,
    TopN,
)
from pyspark_substrait.model.types import I64, Type, same_type, with_nullability

__all__ = ["Frame", "extended_expression"]

_SET_OPS = {
    ("union", True): SetOp.UNION_ALL,
    ("union", False): SetOp.UNION_DISTINCT,
    ("intersect", True): SetOp.INTERSECTION_MULTISET_ALL,
    ("intersect", False): SetOp.INTERSECTION_MULTISET,
    ("except", True): SetOp.MINUS_PRIMARY_ALL,
    ("except", False): SetOp.MINUS_PRIMARY,
}


class Frame(Reading, Joining, GroupingSets, Physical, Writing):
    """A relation with names for its columns. Immutable: each step returns a new frame.

    Values are given as names of columns, or as functions of the record: ``lambda o: o.price * 2``.
    """

    def filter(self, *conditions: Any) -> Self:
        """Keep the records that meet all conditions."""
        return self._next(Filter(input=self.model, condition=self._condition(conditions)))

    def select(self, *columns: Any, **named: Any) -> Self:
        """Select columns, in this order.

        Args:
            columns: names; functions of the record that give a column with a name, a list of such, or a dict.
            named: functions of the record, or constants, by the name of the column.
        """
        record = self.record()
        return self._project(self._named(columns, named, record), record)

    def with_columns(self, *columns: Any, **named: Any) -> Self:
        """Add columns, or replace those with the same names."""
        record = self.record()
        found = [(field.name, value) for field, value in zip(self.fields, record, strict=True)]
        for name, value in self._named(columns, named, record):
            places = [position for position, (known, _) in enumerate(found) if known == name]
            if len(places) > 1:
                near(name, [known for known, _ in found], "column")
            if places:
                found[places[0]] = (name, value)
            else:
                found.append((name, value))
        return self._project(found, record)

    def drop(self, *names: str) -> Self:
        """Remove columns."""
        gone = {self._position(name) for name in names}
        record = self.record()
        kept = [(field.name, record[place]) for place, field in enumerate(self.fields) if place not in gone]
        return self._project(kept, record)

    def rename(self, **names: str) -> Self:
        """Rename columns, by their old names. The plan doesn't change."""
        places = {self._position(old): new for old, new in names.items()}
        return self._next(
            self.model,
            [replace(field, name=places.get(place, field.name)) for place, field in enumerate(self.fields)],
        )

    def _project(self, found: Sequence[tuple[str, Column]], record: Record) -> Self:
        if not found:
            raise InvalidPlanError("there is no column left")
        values = [self._scalar(value, record) for _, value in found]
        return self._next(Project.only(self.model, values), [Field(name, value._inner) for name, value in found])

    def sort(self, *keys: Any) -> Self:
        """Sort the records: by names, functions of the record, or the results of their ``asc()`` and ``desc()``.

        By default, the order is ascending, nulls first.
        """
        return self._next(Sort(input=self.model, sorts=self._sorts(keys)))

    def limit(self, count: Any, offset: Any = 0) -> Self:
        """Keep the first records after an offset. Both may be columns that refer to nothing, like parameters."""
        node = Fetch(input=self.model, offset_expr=_offset(offset), count_expr=_number(count))
        return self._next(node)

    def offset(self, count: Any) -> Self:
        """Skip the first records."""
        return self._next(Fetch(input=self.model, offset_expr=_number(count)))

    def top_n(self, count: Any, *keys: Any, offset: Any = 0, with_ties: bool = False) -> Self:
        """Keep the first records of an order; with ties, also those equal to the last one."""
        node = TopN(
            input=self.model,
            sorts=self._sorts(keys),
            offset=_offset(offset),
            count=_number(count),
            mode=FetchMode.WITH_TIES if with_ties else FetchMode.ROWS_ONLY,
        )
        return self._next(node)

    # sets -------------------------------------------------------------------------------------------------------------

    def union(self, *others: Base, all: bool = False) -> Self:
        """Combine the records of all frames, without duplicates unless ``all``. Columns go by position.

        The names are those of the first frame. Columns of different types are cast to the type that holds both, as in
        the other set operations.
        """
        return self.set_operation(_SET_OPS["union", all], *others)

    def union_all(self, *others: Base) -> Self:
        """Combine the records of all frames, with duplicates."""
        return self.union(*others, all=True)

    def intersect(self, *others: Base, all: bool = False) -> Self:
        """Keep the records that all frames have; with ``all``, as often as in the one that has them least often."""
        return self.set_operation(_SET_OPS["intersect", all], *others)

    def except_(self, *others: Base, all: bool = False) -> Self:
        """Keep the records that no other frame has; with ``all``, each record of the others removes one copy."""
        return self.set_operation(_SET_OPS["except", all], *others)

    def set_operation(self, op: SetOp | str, *others: Base) -> Self:
        """Apply any set operation of the specification, by its name: ``minus multiset``."""
        if isinstance(op, str):
            try:
                op = SetOp(op.lower().replace("_", " "))
            except ValueError:
                raise InvalidPlanError(
                    f"there is no set operation {op!r}", hint=f"There are: {', '.join(one.value for one in SetOp)}"
                ) from None
        frames: list[Base] = [self, *others]
        if not others:
            raise InvalidPlanError("a set operation has at least two inputs")
        for number, frame in enumerate(frames):
            if len(frame.fields) != len(self.fields):
                raise InvalidPlanError(
                    f"input {number} has {len(frame.fields)} columns, the first one {len(self.fields)}"
                )
        types = [_common([frame.types[place] for frame in frames], name) for place, name in enumerate(self.columns)]
        return self._next(Set(members=tuple(_as(frame, types) for frame in frames), op=op))

    # shared parts -----------------------------------------------------------------------------------------------------

    def shared(self) -> Self:
        """Return the same frame, which is computed once even if it is used several times: the plan then refers to it.

        Raises:
            InvalidPlanError: it refers to a record of an enclosing query.
        """
        if any(open_tokens_of(self.model)):
            raise InvalidPlanError("a shared frame cannot refer to a record outside of it")
        return self._next(Reference(subtree_ordinal=-new_token(), subtree=self.model))

    # ends -------------------------------------------------------------------------------------------------------------

    def plan(self, *names: str) -> Plan:
        """Return the plan, with the names of its columns.

        Args:
            names: the columns that it puts out, in this order; all if none are given.

        Raises:
            InvalidPlanError: there is no such column, or the frame refers to a record outside of it.
        """
        frame = self.select(*names) if names and names != self.columns else self
        return with_enough_stack(lambda: finished(frame.model, frame.schema.names, PRODUCER))

    def expressions(self, *columns: Any, **named: Any) -> ExtendedExpression:
        """Return an extended expression over records of this frame's schema; arguments as for :meth:`select`.

        Aggregates become its measures.
        """
        record = self.record()
        found = []
        for name, value in self._named(columns, named, record):
            found.append(ExpressionReference(expr=_referred(value, record), output_names=(name, *value._inner)))
        if not found:
            raise InvalidPlanError("there is no expression")
        return ExtendedExpression(
            referred_expr=tuple(found), base_schema=self.schema, version=Version.current(PRODUCER)
        )


def extended_expression(
    schema: SchemaLike, expressions: Any, *, registry: Registry | None = None
) -> ExtendedExpression:
    """Return an extended expression: functions of the record by name, over records of a schema."""
    described = schema_of(schema, registry)
    frame = Frame.read("", described, registry=registry)
    assert len(fields_of(described)) == len(frame.fields)
    return frame.expressions(**expressions) if isinstance(expressions, dict) else frame.expressions(expressions)


def _referred(value: Column, record: Record) -> Expression | AggregateFunction:
    """Return an expression of an extended expression; an aggregate as a measure."""
    if not value._measures:
        found = closed(_plain(value).expression, {record._token: 0})
        if any(open_tokens(found)):
            raise InvalidPlanError("an expression refers to a record that it is not over")
        return found
    ((_, measure),) = value._measures if len(value._measures) == 1 else ((0, None),)
    if measure is None or not isinstance(value, Aggregated) or measure.filter is not None:
        raise InvalidPlanError(
            "an extended expression has plain aggregates only: no filter, nothing computed from them"
        )
    return closed_measure(measure, record._token).measure


def _number(given: Any) -> Expression:
    """Return a number of records as an expression."""
    if isinstance(given, Column):
        found = cast_to(given, I64()).expression
        if any(open_tokens(found)):
            raise InvalidPlanError("a number of records cannot depend on a record of the frame")
        return found
    if isinstance(given, int) and given < 0:
        raise InvalidPlanError(f"{given} is not a number of records")
    return literal(given, I64())


def _offset(given: Any) -> Expression | None:
    return None if isinstance(given, int) and given == 0 else _number(given)


def _common(types: Sequence[Type], name: str) -> Type:
    found = common_type([with_nullability(type, False) for type in types])
    if found is None:
        listed = ", ".join(map(str, types))
        raise InvalidPlanError(f"no type holds the values of the column `{name}`: {listed}", hint="Cast one of them")
    return found


def _as(frame: Base, types: Sequence[Type]) -> Relation:
    """Return a frame's relation, cast to the types of a set operation."""
    if all(same_type(one, other) for one, other in zip(frame.types, types, strict=True)):
        return frame.model
    record = frame.record()
    values = [
        value if same_type(value.type, type) else cast_to(value, type)
        for value, type in zip(record, types, strict=True)
    ]
    return Project.only(frame.model, [frame._scalar(value, record) for value in values])

"""Windows, expand and exchange, and relations that have no method of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from typing_extensions import Self

from pyspark_substrait.builder.aggregates import Bounds, in_relation
from pyspark_substrait.builder.columns import agreed
from pyspark_substrait.builder.records import Base, Field, Record, _of, _plain, fields_named, refer
from pyspark_substrait.builder.scoping import closed, open_tokens
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.expressions import Argument, EnumArgument, Expression, TypeArgument
from pyspark_substrait.model.expressions import Following as _Following
from pyspark_substrait.model.expressions import Preceding as _Preceding
from pyspark_substrait.model.relations import (
    Broadcast,
    ConsistentPartitionWindow,
    Exchange,
    ExchangeKind,
    ExchangeTarget,
    Expand,
    Hint,
    MultiBucketExpression,
    Reference,
    Relation,
    RelCommon,
    RoundRobin,
    ScatterFields,
    SingleBucketExpression,
    Stats,
    SwitchingField,
    WindowRelFunction,
)
from pyspark_substrait.model.types import OpenStruct, Struct

__all__ = ["Physical", "switching"]


@dataclass(frozen=True)
class _Switching:
    """Values, one for each duplicate of a record."""

    values: tuple[Any, ...]


def switching(*values: Any) -> Any:
    """Return a column of :meth:`Physical.expand` that has a different value in each duplicate.

    Examples:
        >>> lines = read("lines", {"order_id": "i64", "price": "fp64?"})
        >>> lines.expand(lambda l: {"key": switching(l.order_id, None)})
        <Frame: key: i64?, duplicate: i32>
    """
    return _Switching(values)


class Physical(Base):
    """The methods for physical relations."""

    def window(
        self,
        partition_by: Any = (),
        order_by: Any = (),
        *,
        rows: Bounds | None = None,
        range: Bounds | None = None,
        **functions: Any,
    ) -> Self:
        """Add window functions that share partitions, order and bounds, after the columns.

        Args:
            partition_by, order_by: names of columns, or functions of the record; one or a list.
            rows, range: the bounds, as for ``over``.
            functions: functions of the record, by name, that return aggregates or window functions without ``over``.
        """
        partitions = partition_by if isinstance(partition_by, list | tuple) else [partition_by]
        keys = order_by if isinstance(order_by, list | tuple) else [order_by]
        record = self.record()
        sorts = self._sorts(keys) if keys else ()
        calls = []
        for item in functions.values():
            made = in_relation(_of(item, record, literal=True), sorts, rows, range)
            calls.append(_closed(made, record._token))
        if not calls:
            raise InvalidPlanError("there is no window function")
        node = ConsistentPartitionWindow(
            input=self.model,
            window_functions=tuple(calls),
            partition_expressions=tuple(self._scalar(item, self.record()) for item in partitions),
            sorts=sorts,
        )
        schema = node.schema
        added = schema if isinstance(schema, OpenStruct) else Struct(types=schema.types[len(self.fields) :])
        return self._next(node, (*self.fields, *fields_named(tuple(functions), added)))

    def expand(self, fields: Callable[[Record], Mapping[str, Any]], duplicate: str = "duplicate") -> Self:
        """Duplicate each record.

        Args:
            fields: a function of the record that returns the columns by name; a :func:`switching` one has a different
                value in each duplicate. Other columns of the input are left out.
            duplicate: the name of the column, after the others, that numbers the duplicates of a record, from 0.
        """
        record = self.record()
        made: list[SwitchingField | Expression] = []
        names: list[Field] = []
        for name, value in fields(record).items():
            if isinstance(value, _Switching):
                items = agreed(value.values)
                made.append(
                    SwitchingField(tuple(closed(_plain(item).expression, {record._token: 0}) for item in items))
                )
            else:
                items = [_plain(value)]
                made.append(closed(items[0].expression, {record._token: 0}))
            names.append(Field(name, items[0]._inner))
        if len({len(one.duplicates) for one in made if isinstance(one, SwitchingField)}) > 1:
            raise InvalidPlanError("all switching columns have the same number of values")
        node = Expand(input=self.model, fields=tuple(made))
        last = len(node.direct_schema.types) - 1
        if last > len(made):
            node = replace(node, common=RelCommon(emit=(*range(len(made)), last)))
        return self._next(node, (*names, Field(duplicate)))

    def exchange(
        self,
        *,
        by: Sequence[str] | str | None = None,
        bucket: Callable[[Record], Any] | None = None,
        buckets: Callable[[Record], Any] | None = None,
        constrained_to_count: bool = False,
        round_robin: bool = False,
        exact: bool = False,
        broadcast: bool = False,
        partitions: int = 0,
        targets: Sequence[ExchangeTarget] = (),
    ) -> Self:
        """Redistribute the records.

        Args:
            by: the columns whose hash decides.
            bucket: a function of the record that returns the number of a bucket.
            buckets: a function of the record that returns a list of numbers; ``constrained_to_count`` as in the plan.
            round_robin: in turn; strictly so with ``exact``.
            broadcast: every record to every partition.
            partitions: the number of partitions; 0 leaves it open.
            targets: the targets of partitions.
        """
        if sum([by is not None, bucket is not None, buckets is not None, round_robin, broadcast]) != 1:
            raise InvalidPlanError(
                "exactly one argument states how records are distributed",
                hint="by, bucket, buckets, round_robin or broadcast",
            )
        kind: ExchangeKind
        if by is not None:
            names = [by] if isinstance(by, str) else by
            kind = ScatterFields(tuple(refer(self.types, self._position(name)) for name in names))
        elif bucket is not None:
            kind = SingleBucketExpression(self._alone(bucket))
        elif buckets is not None:
            kind = MultiBucketExpression(self._alone(buckets), constrained_to_count)
        else:
            kind = RoundRobin(exact) if round_robin else Broadcast()
        node = Exchange(input=self.model, exchange_kind=kind, partition_count=partitions, targets=tuple(targets))
        return self._next(node)

    def _alone(self, given: Any) -> Expression:
        """Return an expression over this frame's records only."""
        found = self._scalar(given, self.record())
        if any(open_tokens(found)):
            raise InvalidPlanError("records are distributed by themselves alone, not by a record around the query")
        return found

    def hint(self, *, alias: str = "", row_count: float | None = None, record_size: float = 0.0, **more: Any) -> Self:
        """Return the same records, with hints for their computation.

        Args:
            alias: a name for the relation.
            row_count: the approximate number of records; ``record_size`` is the approximate size of each in bytes.
            more: further fields of ``model.relations.Hint``.
        """
        stats = None if row_count is None else Stats(row_count=row_count, record_size=record_size)
        if isinstance(self.model, Reference):
            raise InvalidPlanError("a shared frame has no hint", hint="Give the hint before sharing it")
        made = Hint(alias=alias, stats=stats, **more)
        return self._next(replace(self.model, common=replace(self.model.common, hint=made)))

    def relation(self, make: Callable[[Relation], Relation], names: Sequence[str] | None = None) -> Self:
        """Apply a relation of the model that is made by hand.

        Args:
            make: a function that returns the relation, given this frame's relation.
            names: the names of its columns, or those of nested fields as well, depth first; by default those of this
                frame.
        """
        node = make(self.model)
        return self._next(node, fields_named(self.schema.names if names is None else names, node.schema))


def _closed(function: WindowRelFunction, token: int) -> WindowRelFunction:
    def inside(node: Argument) -> Argument:
        return node if isinstance(node, EnumArgument | TypeArgument) else closed(node, {token: 0})

    def bound(item: Any) -> Any:
        if isinstance(item, _Preceding | _Following):
            return replace(item, offset=closed(item.offset, {token: 0}))
        return item

    return replace(
        function,
        arguments=tuple(map(inside, function.arguments)),
        lower_bound=bound(function.lower_bound),
        upper_bound=bound(function.upper_bound),
    )

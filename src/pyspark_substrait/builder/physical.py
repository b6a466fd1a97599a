"""Windows, expand and exchange, and the door for whatever has no method of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from typing_extensions import Self

from pyspark_substrait.builder.aggregates import Bounds, in_relation
from pyspark_substrait.builder.columns import agreed
from pyspark_substrait.builder.records import Base, Field, Record, _of, _plain, refer
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

__all__ = ["Physical", "switching"]


@dataclass(frozen=True)
class _Switching:
    """Values of which each duplicate of a record has one."""

    values: tuple[Any, ...]


def switching(*values: Any) -> Any:
    """A column of :meth:`Physical.expand` that has another value in each duplicate."""
    return _Switching(values)


class Physical(Base):
    """Relations that say how something is done, too."""

    def window(
        self,
        partition_by: Any = (),
        order_by: Any = (),
        *,
        rows: Bounds | None = None,
        range: Bounds | None = None,
        **functions: Any,
    ) -> Self:
        """The columns, and behind them window functions that share partitions, order and bounds.

        Args:
            partition_by, order_by: names of columns, or functions of the record; one or a list.
            rows, range: the bounds, as for ``over``.
            functions: functions of the record, by name, that give aggregates or window functions without ``over``.
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
        return self._next(node, (*self.fields, *map(Field, functions)))

    def expand(self, fields: Callable[[Record], Mapping[str, Any]], duplicate: str = "duplicate") -> Self:
        """Each record several times.

        Args:
            fields: a function of the record that gives the columns by name; a :func:`switching` one has another value
                in each duplicate. There are no others: columns of the input that it doesn't give are left out.
            duplicate: the name of the column, behind the others, that numbers the duplicates of a record, from 0.
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
        """The records, distributed anew.

        Args:
            by: columns by whose hash they are distributed.
            bucket: a function of the record that gives the number of a bucket.
            buckets: a function of the record that gives a list of numbers; ``constrained_to_count`` of the plan.
            round_robin: in turn; exactly so with ``exact``.
            broadcast: every record everywhere.
            partitions: how many partitions there are; 0 leaves it open.
            targets: where partitions go.
        """
        if sum([by is not None, bucket is not None, buckets is not None, round_robin, broadcast]) != 1:
            raise InvalidPlanError(
                "one thing says how records are distributed", hint="by, bucket, buckets, round_robin or broadcast"
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
        """An expression over this frame's records and no others."""
        found = self._scalar(given, self.record())
        if any(open_tokens(found)):
            raise InvalidPlanError("records are distributed by themselves alone, not by a record around the query")
        return found

    def hint(self, *, alias: str = "", row_count: float | None = None, record_size: float = 0.0, **more: Any) -> Self:
        """The same records, with what may help to compute them.

        Args:
            alias: a name for the relation.
            row_count: about how many records there are, and ``record_size`` how many bytes each has.
            more: further fields of ``model.relations.Hint``.
        """
        stats = None if row_count is None else Stats(row_count=row_count, record_size=record_size)
        if isinstance(self.model, Reference):
            raise InvalidPlanError("a shared frame has no hint", hint="Give the hint before sharing it")
        made = Hint(alias=alias, stats=stats, **more)
        return self._next(replace(self.model, common=replace(self.model.common, hint=made)))

    def relation(self, make: Callable[[Relation], Relation], names: Sequence[str] | None = None) -> Self:
        """What a relation of the model made by hand puts out.

        Args:
            make: a function of this frame's relation that gives another one.
            names: the names of its columns; by default those of this frame.
        """
        node = make(self.model)
        _ = node.schema
        return self._next(node, None if names is None else [Field(name) for name in names])


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

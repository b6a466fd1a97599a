"""Refusals of relations and expressions that an engine doesn't take, by their fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pyspark_substrait.engines.description import Target
from pyspark_substrait.engines.native_queries import DataFusionQueries
from pyspark_substrait.engines.set_groups import BY_GROUPING
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import (
    AggregationInvocation,
    Bound,
    Cast,
    Expression,
    FailureBehavior,
    FieldReference,
    Following,
    InPredicate,
    OuterReference,
    Preceding,
    WindowFunction,
)
from pyspark_substrait.model.literals import DayTime, Literal
from pyspark_substrait.model.relations import Aggregate, Join, Read, Relation, RelationBase, Set
from pyspark_substrait.model.types import (
    I8,
    I16,
    I32,
    I64,
    IntervalDay,
    List,
    Map,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    Struct,
    Type,
    concrete,
)
from pyspark_substrait.sql.decorrelation import Place
from pyspark_substrait.sql.decorrelation.native import queries

__all__ = ["check"]

_OPTIMIZED = "Make the plan with optimized=True: Spark's optimizer makes joins of such subqueries"


#: the types whose digits behind the seconds engines differ in
_TIMES: Final = (PrecisionTime, PrecisionTimestamp, PrecisionTimestampTZ)


def check(node: Relation | Expression, target: Target) -> None:
    """Refuse what the engine has no form for.

    Raises:
        UnsupportedPlanError: the node can't be written for the engine.
    """
    for word in _words(node):
        if word in target.lacks:
            query = word in ("SetPredicate", "SetComparison")
            hint = _OPTIMIZED if query else "Make the plan without a target"
            raise UnsupportedPlanError(f"{target.engine} does not take {word} in plans", hint=hint)
    for type_ in _stated_types(node):
        _check_type(type_, target)
    if isinstance(node, RelationBase) and not target.column_in:
        _check_in(node, target)
    match node:
        case Literal(type=IntervalDay(precision=digits), value=DayTime(subseconds=units)) if _is_cut(
            units, digits, target
        ):
            fault = f"{target.engine} keeps {target.interval_digits} digits of an interval's seconds, this one has more"
            raise UnsupportedPlanError(fault)
        case Join(type=kind) if target.joins is not None and kind not in target.joins:
            raise UnsupportedPlanError(f"{target.engine} has no {kind.value} join")
        case Set(op=op) if target.set_operations is not None and op not in (*target.set_operations, *BY_GROUPING):
            if target.multiplicities or not op.value.endswith("all"):
                raise UnsupportedPlanError(f"{target.engine} has no set operation `{op.value}`")
        case Cast(failure_behavior=FailureBehavior.RETURN_NULL) if not target.null_casts:
            raise UnsupportedPlanError(f"{target.engine} has no casts that give null where they fail")
        case WindowFunction(lower_bound=lower, upper_bound=upper):
            for bound in (lower, upper):
                _check_bound(bound, target)
        case FieldReference(root=OuterReference()) if not target.outer_references:
            raise UnsupportedPlanError(f"{target.engine} takes no correlated subqueries", hint=_OPTIMIZED)
        case _:
            pass


def _words(node: Relation | Expression) -> Iterator[str]:
    """Yield the words of a node in the lists of what an engine lacks."""
    yield type(node).__name__
    match node:
        case Read(read_type=read_type):
            yield type(read_type).__name__
        case Aggregate(groupings=groupings, measures=measures):
            if len(groupings) > 1:
                yield "grouping sets"
            if any(item.measure.invocation is AggregationInvocation.DISTINCT for item in measures):
                yield "DISTINCT"
        case _:
            pass


def _check_in(node: Relation, target: Target) -> None:
    """Refuse IN where null differs from false: wherever DataFusion, which takes one for the other too, has no IN."""
    for expression, place in DataFusionQueries().places(node):
        for query, here in queries(expression, place):
            if isinstance(query, InPredicate) and here not in (Place.FREE, Place.BOUND):
                raise UnsupportedPlanError(f"{target.engine} gives false where IN is null", hint=_OPTIMIZED)


def _check_bound(bound: Bound, target: Target) -> None:
    """Refuse an offset that the field of earlier releases, a whole number, can't have."""
    if not isinstance(bound, Preceding | Following) or type(bound).__name__ not in target.removed_fields:
        return
    offset = bound.offset
    if not isinstance(offset, Literal) or not isinstance(concrete(offset.type), I8 | I16 | I32 | I64):
        raise UnsupportedPlanError(
            f"{target.engine} takes frames only with offsets that are whole numbers, and literals",
            hint="Join the records of each frame, and aggregate them",
        )


def _is_cut(units: int, digits: int, target: Target) -> bool:
    return digits > target.interval_digits and units % 10 ** (digits - target.interval_digits) != 0


def _stated_types(node: Relation | Expression) -> Iterator[Type]:
    """Yield the types that a node states itself, and those in them."""
    match node:
        case Literal(type=type) | Cast(type=type):
            yield from _within(type)
        case Read(base_schema=schema):
            yield from _within(schema.struct)
        case _:
            pass


def _within(type: Type) -> Iterator[Type]:
    found = concrete(type)
    yield found
    match found:
        case Struct(types=types):
            for part in types:
                yield from _within(part)
        case List(type=part):
            yield from _within(part)
        case Map(key=key, value=value):
            yield from _within(key)
            yield from _within(value)
        case _:
            pass


def _check_type(found: Type, target: Target) -> None:
    if type(found).__name__ in target.lacks:
        raise UnsupportedPlanError(f"{target.engine} has no type {found}", hint="Cast it to a string before")
    known = target.seconds_digits
    if isinstance(found, _TIMES) and known is not None and found.precision not in known:
        fault = f"{target.engine} has no {found}: its times have {', '.join(map(str, sorted(known)))} digits"
        raise UnsupportedPlanError(fault, hint="Cast it to one of these")

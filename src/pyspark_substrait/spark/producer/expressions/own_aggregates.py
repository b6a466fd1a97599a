"""Spark-specific aggregate functions: calls of our own extension that the function tables can't express."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions.calls import Options
from pyspark_substrait.extensions.calls import aggregate as aggregate_call
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    Argument,
    Cast,
    Expression,
    FailureBehavior,
    NestedList,
    SortField,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import (
    FP64,
    I64,
    Binary,
    IntervalDay,
    IntervalYear,
    String,
    concrete,
    with_nullability,
)
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import expression, expressions, typed
from pyspark_substrait.spark.producer.expressions.sorting import sort_fields
from pyspark_substrait.spark.producer.refusals import written
from pyspark_substrait.spark.producer.scope import Scope, urn_of

__all__ = ["FORMS", "URN"]

URN: Final = "extension:pyspark_substrait:functions_spark_aggregate"

Form: TypeAlias = Callable[[Node, Scope, bool], AggregateFunction]


def collected(name: str) -> Form:
    """Return the form of a function that collects values in a list, with or without nulls."""

    def form(node: Node, scope: Scope, distinct: bool) -> AggregateFunction:
        suffix = "" if node.value("ignoreNulls", True) else "_with_nulls"
        return _call(scope, name + suffix, expressions(node.children, scope), distinct)

    return form


def collected_union(node: Node, scope: Scope, distinct: bool) -> AggregateFunction:
    """The union of lists, as a set."""
    if node.value("ignoreNulls") is not True:
        raise UnsupportedPlanError(f"`{written(node)}` collects nulls, which no function does")
    return _call(scope, "collect_union", expressions(node.children, scope), distinct)


def of_one_record(name: str) -> Form:
    """Return the form of a function for the value of the first or the last record."""

    def form(node: Node, scope: Scope, distinct: bool) -> AggregateFunction:
        nulls = "IGNORE" if node.value("ignoreNulls") else "RESPECT"
        return _call(scope, name, expressions(node.children, scope), False, {"nulls": nulls})

    return form


def extremes(node: Node, scope: Scope, distinct: bool) -> AggregateFunction:
    """``max_by`` and ``min_by`` that return several values."""
    return _call(scope, "min_by" if node.value("reverse") else "max_by", expressions(node.children, scope), distinct)


def mode(node: Node, scope: Scope, distinct: bool) -> AggregateFunction:
    """``mode``; Spark's ``reverse`` selects the lowest of several."""
    choice = {None: "ANY", True: "LOWEST", False: "HIGHEST"}[node.value("reverseOpt")]
    return _call(scope, "mode", expressions(node.children, scope), distinct, {"of_several": choice})


def percentile(node: Node, scope: Scope, distinct: bool) -> AggregateFunction:
    """``percentile``, with frequencies."""
    if node.value("reverse"):
        raise UnsupportedPlanError(f"`{written(node)}` counts from the end", hint="Write percentile_cont(...)")
    value, frequency = expression(node.children[0], scope), expression(node.children[2], scope)
    return _call(scope, "percentile", (_measured(value), _part(node), _long(frequency)), distinct)


def in_groups(name: str) -> Form:
    """``percentile_cont`` and ``percentile_disc``."""

    def form(node: Node, scope: Scope, distinct: bool) -> AggregateFunction:
        if node.value("legacyCalculation"):
            raise UnsupportedPlanError(
                f"`{written(node)}` is computed as in Spark 3.3",
                hint="Set spark.sql.legacy.percentileDiscCalculation to false",
            )
        value, order = expression(node.children[0], scope), "DESC" if node.value("reverse") else "ASC"
        return _call(scope, name, (_measured(value), _part(node)), distinct, {"order": order})

    return form


def percentile_approx(node: Node, scope: Scope, distinct: bool) -> AggregateFunction:
    """``percentile_approx``."""
    value, accuracy = expression(node.children[0], scope), expression(node.children[2], scope)
    return _call(scope, "percentile_approx", (value, _part(node), _long(accuracy)), distinct)


def approximate_count(node: Node, scope: Scope, distinct: bool) -> AggregateFunction:
    """``approx_count_distinct`` with a given deviation."""
    deviation = Literal(type=FP64(), value=float(node.value("relativeSD")))
    return _call(scope, "approx_count_distinct", (*expressions(node.children, scope), deviation), distinct)


def of_pairs(name: str) -> Form:
    """Return the form of a regression function; Spark also accepts other types than DOUBLE."""

    def form(node: Node, scope: Scope, distinct: bool) -> AggregateFunction:
        values = expressions(node.children, scope)
        if node.java.dataType().typeName() not in ("double", "long"):
            raise UnsupportedPlanError(
                f"`{written(node)}` of decimals has no form", hint="Cast its arguments to DOUBLE"
            )
        return _call(scope, name, [typed(value, FP64()) for value in values], distinct)

    return form


def joined(node: Node, scope: Scope, distinct: bool) -> AggregateFunction:
    """``listagg``: of texts, the specification's ``string_agg``."""
    value = expression(node.children[0], scope)
    given, text = node.children[1], isinstance(concrete(value.type), String)
    if given.name != "Literal":
        raise UnsupportedPlanError(f"the delimiter of `{written(node)}` is not a literal", hint="Write it as one")
    if given.value("value") is None:
        delimiter = Literal(type=String(), value="") if text else Literal(type=Binary(), value=b"")
    else:
        found = expression(given, scope)
        assert isinstance(found, Literal)
        delimiter = found
    sorts = sort_fields(node.listed("orderExpressions"), scope)
    if not text:
        return _call(scope, "listagg", (value, delimiter), distinct, sorts=sorts)
    # without records, the result is null even if the values aren't nullable
    nullable = value if value.type.nullable else _nullable(value)
    arguments = (nullable, delimiter)
    registry, urn = scope.production.registry, urn_of("functions_string")
    return aggregate_call(registry, urn, "string_agg", arguments, distinct=distinct, sorts=sorts)


def _nullable(value: Expression) -> Expression:
    return Cast(type=with_nullability(value.type, True), input=value, failure_behavior=FailureBehavior.THROW_EXCEPTION)


def _measured(value: Expression) -> Expression:
    """Return the value of a percentile: an interval, or a number cast to DOUBLE, as in Spark."""
    return value if isinstance(concrete(value.type), IntervalDay | IntervalYear) else typed(value, FP64())


def _part(node: Node) -> Expression:
    """Return the percentage of a percentile, or several: they must be constants in Spark."""
    given = node.children[1].java
    value = given.eval(None)
    if given.dataType().typeName() != "array":
        return Literal(type=FP64(), value=float(value))
    return NestedList(values=tuple(Literal(type=FP64(), value=float(part)) for part in value.toDoubleArray()))


def _long(value: Expression) -> Expression:
    match value:
        case Literal(value=int() as number):
            return Literal(type=I64(), value=number)
        case _:
            return typed(value, I64())


def _call(
    scope: Scope,
    name: str,
    arguments: Sequence[Argument],
    distinct: bool,
    options: Options | None = None,
    sorts: tuple[SortField, ...] = (),
) -> AggregateFunction:
    registry = scope.production.registry
    return aggregate_call(registry, URN, name, arguments, options, distinct=distinct, sorts=sorts)


FORMS: Final[Mapping[str, Form]] = {
    "CollectList": collected("collect_list"),
    "CollectSet": collected("collect_set"),
    "CollectUnion": collected_union,
    "First": of_one_record("first"),
    "Last": of_one_record("last"),
    "MaxMinByK": extremes,
    "Mode": mode,
    "Percentile": percentile,
    "PercentileCont": in_groups("percentile_cont"),
    "PercentileDisc": in_groups("percentile_disc"),
    "ApproximatePercentile": percentile_approx,
    "HyperLogLogPlusPlus": approximate_count,
    "RegrCount": of_pairs("regr_count"),
    "RegrAvgX": of_pairs("regr_avgx"),
    "RegrAvgY": of_pairs("regr_avgy"),
    "ListAgg": joined,
}

"""Aggregate functions that the function tables can't express: by the class of the function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions.calls import Options
from pyspark_substrait.extensions.calls import aggregate as aggregate_call
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    Argument,
    Cast,
    EnumArgument,
    Expression,
    FailureBehavior,
    IfClause,
    IfThen,
    NestedStruct,
    SortField,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    Boolean,
    Decimal,
    Type,
    concrete,
    same_type,
    with_nullability,
)
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import (
    calls,
    decimals,
    expression,
    expressions,
    own_aggregates,
    typed,
)
from pyspark_substrait.spark.producer.portability import check_aggregate
from pyspark_substrait.spark.producer.refusals import refused_expression, written
from pyspark_substrait.spark.producer.scope import Scope, urn_of

__all__ = ["Aggregated", "aggregated", "filter_of"]


@dataclass(frozen=True, slots=True)
class Aggregated:
    """An aggregate function of Catalyst as a call.

    Args:
        call: the call.
        type: the type of its result in Spark, None for that of the call.
        null_on_failure: whether Spark returns null for a result that doesn't fit its type.
    """

    call: AggregateFunction
    type: Type | None = None
    null_on_failure: bool = False

    def result(self, value: Expression) -> Expression:
        """Convert the value of the call to its type in Spark."""
        if self.type is None or same_type(value.type, self.type):
            return value
        if not self.null_on_failure:
            return typed(value, self.type)
        return Cast(type=self.type, input=value, failure_behavior=FailureBehavior.RETURN_NULL)


#: a function of the aggregate function's node (not the ``AggregateExpression`` around it), the scope, and whether it is
#: DISTINCT; returns None to use the function tables
AggregateForm: TypeAlias = Callable[[Node, Scope, bool], "Aggregated | None"]

_ARITHMETIC: Final = "functions_arithmetic"
_GENERIC: Final = "functions_aggregate_generic"
_NUMBERS: Final = (I8, I16, I32, I64, FP32, FP64)
#: the most digits of decimals whose sums and averages can't overflow, whatever the number of records
_FEW_DIGITS: Final = 28


def aggregated(node: Node, scope: Scope, *, distinct: bool, sorts: tuple[SortField, ...] = ()) -> Aggregated:
    """Translate an aggregate function of Catalyst.

    Raises:
        UnsupportedPlanError: there is no function for it.
    """
    made = _aggregated(node, scope, distinct)
    if scope.production.portable:
        check_aggregate(node, made.call)
    return made


def filter_of(node: Node) -> Node | None:
    """Return the filter of an ``AggregateExpression``; None without one."""
    return node.child("filter") if isinstance(node.value("filter"), int) else node.tree("filter")


def _aggregated(node: Node, scope: Scope, distinct: bool) -> Aggregated:
    if node.value("nullOnDivideByZero") is False:
        raise UnsupportedPlanError(
            f"`{written(node)}` has no Substrait form: it gives NaN for one record",
            hint="Set spark.sql.legacy.statisticalAggregate to false",
        )
    form = _FORMS.get(node.name)
    special = None if form is None else form(node, scope, distinct)
    if special is not None:
        return special
    found = calls.aggregate(node, scope, distinct=distinct)
    if found is None and node.name in own_aggregates.FORMS:
        return Aggregated(own_aggregates.FORMS[node.name](node, scope, distinct))
    if found is None:
        raise refused_expression(node, written(node))
    call, form_found = found
    types = [argument.type for argument in call.arguments if hasattr(argument, "type")]
    return Aggregated(call, form_found.returns or decimals.result(node, types, scope.production))


def _standard(
    scope: Scope, urn: str, name: str, arguments: Sequence[Argument], distinct: bool, options: Options | None = None
) -> AggregateFunction:
    return aggregate_call(
        scope.production.registry, urn_of(urn), name, tuple(arguments), options or {}, distinct=distinct
    )


# counts --------------------------------------------------------------------------------------------------------------


def count(node: Node, scope: Scope, distinct: bool) -> Aggregated | None:
    """``count`` of records, of values, and of records without a null in several values."""
    values = expressions(node.children, scope)
    if not distinct and not any(value.type.nullable for value in values):
        return Aggregated(_standard(scope, _GENERIC, "count", (), False))
    counted = values[0] if len(values) == 1 else _all_known(values, scope, distinct)
    return Aggregated(_standard(scope, _GENERIC, "count", (counted,), distinct))


def _all_known(values: Sequence[Expression], scope: Scope, distinct: bool) -> Expression:
    """Return a value for each record without nulls, null for the others; with ``distinct``, a struct of the values."""
    nullable = [value for value in values if value.type.nullable]
    unknown = [scope.production.call("functions_comparison", "is_null", (value,)) for value in nullable]
    one: Expression = NestedStruct(fields=tuple(values)) if distinct else Literal(type=Boolean(), value=True)
    if not unknown:
        return one
    any_unknown = unknown[0] if len(unknown) == 1 else scope.production.call("functions_boolean", "or", unknown)
    nothing = Literal(type=_nullable(one.type), value=None)
    return IfThen(ifs=(IfClause(any_unknown, nothing),), else_=one)


def count_if(node: Node, scope: Scope, distinct: bool) -> Aggregated | None:
    """``count_if``: the number of records for which a condition is true."""
    condition = expression(node.children[0], scope)
    true = Literal(type=Boolean(), value=True)
    return Aggregated(
        _standard(scope, _GENERIC, "count", (IfThen(ifs=(IfClause(condition, true),), else_=None),), distinct)
    )


def approximate_count(node: Node, scope: Scope, distinct: bool) -> Aggregated | None:
    """``approx_count_distinct`` with the default deviation; None for another one."""
    if float(node.value("relativeSD", 0)) != 0.05:
        return None
    value = expression(node.children[0], scope)
    return Aggregated(_standard(scope, "functions_aggregate_approx", "approx_count_distinct", (value,), False))


# sums and averages ---------------------------------------------------------------------------------------------------


def sum_(node: Node, scope: Scope, distinct: bool) -> Aggregated | None:
    """``sum`` of decimals without ANSI mode: null if it overflows; other sums are in the tables."""
    if node.mode == "ANSI":
        return None
    value = expression(node.children[0], scope)
    match concrete(value.type):
        case Decimal(precision=precision) if precision <= _FEW_DIGITS:
            call = _standard(scope, "functions_arithmetic_decimal", "sum", (value,), distinct, {"overflow": "ERROR"})
            return Aggregated(call, _nullable(_sum_type(node, value, scope)), null_on_failure=True)
        case Decimal():
            return Aggregated(_standard(scope, own_aggregates.URN, "try_sum", (value,), distinct))
        case _:
            return None


def _sum_type(node: Node, value: Expression, scope: Scope) -> Type:
    type = decimals.result(node, (value.type,), scope.production)
    assert type is not None
    return type


def average(node: Node, scope: Scope, distinct: bool) -> Aggregated | None:
    """``avg``: of integers and FLOATs as DOUBLEs; of decimals with four digits more."""
    value = expression(node.children[0], scope)
    match concrete(value.type):
        case type if isinstance(type, _NUMBERS):
            return Aggregated(_standard(scope, _ARITHMETIC, "avg", (_double(value),), distinct))
        case Decimal(precision=precision, scale=scale) if precision <= _FEW_DIGITS:
            wide = Decimal(precision=precision + 4, scale=scale + 4)
            call = _standard(scope, "functions_arithmetic_decimal", "avg", (typed(value, wide),), distinct)
            return Aggregated(call, wide)
        case Decimal() if node.mode == "LEGACY":
            return Aggregated(_standard(scope, own_aggregates.URN, "try_avg", (value,), distinct))
        case _:
            return None


# statistics ----------------------------------------------------------------------------------------------------------


def median(node: Node, scope: Scope, distinct: bool) -> Aggregated | None:
    """``median`` of numbers, which is a DOUBLE."""
    value = expression(node.children[0], scope)
    if not isinstance(concrete(value.type), (*_NUMBERS, Decimal)):
        return None
    return Aggregated(_standard(scope, _ARITHMETIC, "median", (EnumArgument("EXACT"), _double(value)), distinct))


def mode(node: Node, scope: Scope, distinct: bool) -> Aggregated | None:
    """``mode`` of numbers, any one of several."""
    value = expression(node.children[0], scope)
    if node.value("reverseOpt") is not None or not isinstance(concrete(value.type), _NUMBERS):
        return None
    return Aggregated(_standard(scope, _ARITHMETIC, "mode", (value,), distinct))


def any_value(node: Node, scope: Scope, distinct: bool) -> Aggregated | None:
    """``any_value``, with nulls or without."""
    value, ignored = expression(node.children[0], scope), "TRUE" if node.value("ignoreNulls") else "FALSE"
    return Aggregated(_standard(scope, _GENERIC, "any_value", (value,), False, {"ignore_nulls": ignored}))


def _double(value: Expression) -> Expression:
    return typed(value, FP64())


def _nullable(type: Type) -> Type:
    return with_nullability(type, True)


_FORMS: Final[Mapping[str, AggregateForm]] = {
    "Count": count,
    "CountIf": count_if,
    "HyperLogLogPlusPlus": approximate_count,
    "Sum": sum_,
    "Average": average,
    "Median": median,
    "Mode": mode,
    "AnyValue": any_value,
}

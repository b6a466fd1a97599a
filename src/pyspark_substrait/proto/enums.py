"""Map the numbers of protobuf enums to the members of model enums, which have the same names up to a prefix."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model import expressions, plan, relations
from pyspark_substrait.model.paths import Path, render
from pyspark_substrait.proto.fields import enum_prefix
from pyspark_substrait.proto.messages import current

if TYPE_CHECKING:
    from pyspark_substrait.proto.read.context import Reading

__all__ = [
    "AGGREGATION_PHASE",
    "BOUNDS_TYPE",
    "BUILD_INPUT",
    "COMPARISON_OP",
    "COMPUTATION_TYPE",
    "CREATE_MODE",
    "DDL_OBJECT",
    "DDL_OP",
    "FAILURE_BEHAVIOR",
    "FETCH_MODE",
    "HASH_JOIN_TYPE",
    "INVOCATION",
    "JOIN_TYPE",
    "MERGE_JOIN_TYPE",
    "NESTED_LOOP_JOIN_TYPE",
    "OUTPUT_MODE",
    "PREDICATE_OP",
    "REDUCTION_OP",
    "SET_OP",
    "SIMPLE_COMPARISON_TYPE",
    "SORT_DIRECTION",
    "VARIABLE_EVALUATION_MODE",
    "WRITE_OP",
    "EnumNumbers",
    "numbers_of",
]

_Member = TypeVar("_Member", bound=Enum)


class EnumNumbers(Generic[_Member]):
    """The numbers of one protobuf enum.

    Args:
        name: the protobuf enum, like ``JoinRel.JoinType``.
        members: the model's enum.
        unspecified: what 0 stands for; None where the specification gives it no meaning.
    """

    def __init__(self, name: str, members: type[_Member], *, unspecified: _Member | None = None) -> None:
        self.name = members.__name__
        descriptor = current().enum(name)
        prefix = enum_prefix(descriptor)
        self.message_name: str = descriptor.full_name
        self.values: Mapping[int, _Member] = {
            value.number: members[value.name.removeprefix(prefix)]
            for value in descriptor.values
            if value.name.removeprefix(prefix) in members.__members__
        }
        self.numbers: Mapping[_Member, int] = {member: number for number, member in self.values.items()}
        if unspecified is not None:
            self.values = {0: unspecified, **self.values}

    def member(self, number: int, path: Path, field: str) -> _Member:
        """Return the member of a number.

        Raises:
            InvalidPlanError: it is unspecified without having a meaning, or isn't in the specification.
        """
        member = self.values.get(number)
        if member is None:
            fault = "is unspecified" if number == 0 else f"is {number}, which the specification does not have"
            raise InvalidPlanError(
                f"{field} {fault}",
                path=render((path, field)),
                hint=f"It is one of {', '.join(known.name for known in self.numbers)}",
                code=Code.PROTO_UNSPECIFIED_ENUM if number == 0 else Code.PROTO_UNKNOWN_ENUM,
            )
        return member

    def known(self, number: int, reading: Reading, path: Path, field: str) -> _Member | None:
        """Like :meth:`member`, but where findings are collected, report a number without meaning and return None."""
        with reading.going_on():
            return self.member(number, path, field)
        return None


JOIN_TYPE = EnumNumbers("JoinRel.JoinType", relations.JoinType)
HASH_JOIN_TYPE = EnumNumbers("HashJoinRel.JoinType", relations.JoinType)
MERGE_JOIN_TYPE = EnumNumbers("MergeJoinRel.JoinType", relations.JoinType)
NESTED_LOOP_JOIN_TYPE = EnumNumbers("NestedLoopJoinRel.JoinType", relations.JoinType)
BUILD_INPUT = EnumNumbers("HashJoinRel.BuildInput", relations.BuildInput, unspecified=relations.BuildInput.RIGHT)
SIMPLE_COMPARISON_TYPE = EnumNumbers("ComparisonJoinKey.SimpleComparisonType", relations.SimpleComparisonType)
SET_OP = EnumNumbers("SetRel.SetOp", relations.SetOp)
FETCH_MODE = EnumNumbers("FetchMode", relations.FetchMode)
DDL_OBJECT = EnumNumbers("DdlRel.DdlObject", relations.DdlObject)
DDL_OP = EnumNumbers("DdlRel.DdlOp", relations.DdlOp)
WRITE_OP = EnumNumbers("WriteRel.WriteOp", relations.WriteOp)
CREATE_MODE = EnumNumbers("WriteRel.CreateMode", relations.CreateMode)
OUTPUT_MODE = EnumNumbers("WriteRel.OutputMode", relations.OutputMode)
COMPUTATION_TYPE = EnumNumbers("RelCommon.Hint.ComputationType", relations.ComputationType)
AGGREGATION_PHASE = EnumNumbers(
    "AggregationPhase",
    expressions.AggregationPhase,
    unspecified=expressions.AggregationPhase.INITIAL_TO_RESULT,
)
INVOCATION = EnumNumbers(
    "AggregateFunction.AggregationInvocation",
    expressions.AggregationInvocation,
    unspecified=expressions.AggregationInvocation.ALL,
)
SORT_DIRECTION = EnumNumbers("SortField.SortDirection", expressions.SortDirection)
BOUNDS_TYPE = EnumNumbers("Expression.WindowFunction.BoundsType", expressions.BoundsType)
FAILURE_BEHAVIOR = EnumNumbers("Expression.Cast.FailureBehavior", expressions.FailureBehavior)
PREDICATE_OP = EnumNumbers("Expression.Subquery.SetPredicate.PredicateOp", expressions.PredicateOp)
COMPARISON_OP = EnumNumbers("Expression.Subquery.SetComparison.ComparisonOp", expressions.ComparisonOp)
REDUCTION_OP = EnumNumbers("Expression.Subquery.SetComparison.ReductionOp", expressions.ReductionOp)
VARIABLE_EVALUATION_MODE = EnumNumbers("ExecutionBehavior.VariableEvaluationMode", plan.VariableEvaluationMode)

_BY_NAME = {known.message_name: known for known in [*globals().values()] if isinstance(known, EnumNumbers)}


def numbers_of(field: Any) -> EnumNumbers[Any]:
    """Return the numbers of the enum of a field, by its descriptor."""
    return _BY_NAME[field.enum_type.full_name]

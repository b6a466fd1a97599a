"""Map the numbers of protobuf enums to the members of model enums, which have the same names up to a prefix."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from substrait import algebra_pb2, plan_pb2

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model import expressions, plan, relations
from pyspark_substrait.model.paths import Path, render

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
        wrapper: the generated enum.
        members: the model's enum.
        prefix: the prefix of the protobuf names.
        unspecified: what 0 stands for; None where the specification gives it no meaning.
    """

    def __init__(
        self, wrapper: Any, members: type[_Member], prefix: str, *, unspecified: _Member | None = None
    ) -> None:
        self.name = members.__name__
        self.message_name: str = wrapper.DESCRIPTOR.full_name
        self.values: Mapping[int, _Member] = {
            value.number: members[value.name.removeprefix(prefix)]
            for value in wrapper.DESCRIPTOR.values
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
            fault = "is unspecified" if number == 0 else f"is {number}, which the specification doesn't have"
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


_algebra = algebra_pb2
_window = algebra_pb2.Expression.WindowFunction
_subquery = algebra_pb2.Expression.Subquery

JOIN_TYPE = EnumNumbers(_algebra.JoinRel.JoinType, relations.JoinType, "JOIN_TYPE_")
HASH_JOIN_TYPE = EnumNumbers(_algebra.HashJoinRel.JoinType, relations.JoinType, "JOIN_TYPE_")
MERGE_JOIN_TYPE = EnumNumbers(_algebra.MergeJoinRel.JoinType, relations.JoinType, "JOIN_TYPE_")
NESTED_LOOP_JOIN_TYPE = EnumNumbers(_algebra.NestedLoopJoinRel.JoinType, relations.JoinType, "JOIN_TYPE_")
BUILD_INPUT = EnumNumbers(
    _algebra.HashJoinRel.BuildInput, relations.BuildInput, "BUILD_INPUT_", unspecified=relations.BuildInput.RIGHT
)
SIMPLE_COMPARISON_TYPE = EnumNumbers(
    _algebra.ComparisonJoinKey.SimpleComparisonType, relations.SimpleComparisonType, "SIMPLE_COMPARISON_TYPE_"
)
SET_OP = EnumNumbers(_algebra.SetRel.SetOp, relations.SetOp, "SET_OP_")
FETCH_MODE = EnumNumbers(_algebra.FetchMode, relations.FetchMode, "FETCH_MODE_")
DDL_OBJECT = EnumNumbers(_algebra.DdlRel.DdlObject, relations.DdlObject, "DDL_OBJECT_")
DDL_OP = EnumNumbers(_algebra.DdlRel.DdlOp, relations.DdlOp, "DDL_OP_")
WRITE_OP = EnumNumbers(_algebra.WriteRel.WriteOp, relations.WriteOp, "WRITE_OP_")
CREATE_MODE = EnumNumbers(_algebra.WriteRel.CreateMode, relations.CreateMode, "CREATE_MODE_")
OUTPUT_MODE = EnumNumbers(_algebra.WriteRel.OutputMode, relations.OutputMode, "OUTPUT_MODE_")
COMPUTATION_TYPE = EnumNumbers(_algebra.RelCommon.Hint.ComputationType, relations.ComputationType, "COMPUTATION_TYPE_")
AGGREGATION_PHASE = EnumNumbers(
    _algebra.AggregationPhase,
    expressions.AggregationPhase,
    "AGGREGATION_PHASE_",
    unspecified=expressions.AggregationPhase.INITIAL_TO_RESULT,
)
INVOCATION = EnumNumbers(
    _algebra.AggregateFunction.AggregationInvocation,
    expressions.AggregationInvocation,
    "AGGREGATION_INVOCATION_",
    unspecified=expressions.AggregationInvocation.ALL,
)
SORT_DIRECTION = EnumNumbers(_algebra.SortField.SortDirection, expressions.SortDirection, "SORT_DIRECTION_")
BOUNDS_TYPE = EnumNumbers(_window.BoundsType, expressions.BoundsType, "BOUNDS_TYPE_")
FAILURE_BEHAVIOR = EnumNumbers(
    _algebra.Expression.Cast.FailureBehavior, expressions.FailureBehavior, "FAILURE_BEHAVIOR_"
)
PREDICATE_OP = EnumNumbers(_subquery.SetPredicate.PredicateOp, expressions.PredicateOp, "PREDICATE_OP_")
COMPARISON_OP = EnumNumbers(_subquery.SetComparison.ComparisonOp, expressions.ComparisonOp, "COMPARISON_OP_")
REDUCTION_OP = EnumNumbers(_subquery.SetComparison.ReductionOp, expressions.ReductionOp, "REDUCTION_OP_")
VARIABLE_EVALUATION_MODE = EnumNumbers(
    plan_pb2.ExecutionBehavior.VariableEvaluationMode, plan.VariableEvaluationMode, "VARIABLE_EVALUATION_MODE_"
)

_BY_NAME = {known.message_name: known for known in [*globals().values()] if isinstance(known, EnumNumbers)}


def numbers_of(message: Any, field: str) -> Mapping[Any, int]:
    """Return the numbers of the members of the enum that a field of a message has."""
    return _BY_NAME[message.DESCRIPTOR.fields_by_name[field].enum_type.full_name].numbers

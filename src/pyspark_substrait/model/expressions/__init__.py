"""The expressions. Every expression knows its type without a lookup.

Spec: the ``Expression`` message. Class and field names are those of the protobuf messages; a field that is a Python
keyword has a trailing underscore (``if_``, ``else_``, ``lambda_``).
"""

from __future__ import annotations

from typing import TypeAlias, Union

from pyspark_substrait.model.expressions.broken import BrokenExpression
from pyspark_substrait.model.expressions.conditions import (
    Cast,
    FailureBehavior,
    IfClause,
    IfThen,
    IfValue,
    MultiOrList,
    SingularOrList,
    SwitchExpression,
)
from pyspark_substrait.model.expressions.constructors import NestedList, NestedMap, NestedStruct
from pyspark_substrait.model.expressions.functions import (
    AggregateFunction,
    AggregationInvocation,
    AggregationPhase,
    Bound,
    BoundsType,
    CurrentRow,
    EnumArgument,
    Following,
    Function,
    FunctionOption,
    Preceding,
    ScalarFunction,
    SortDirection,
    SortField,
    TypeArgument,
    Unbounded,
    WindowFunction,
)
from pyspark_substrait.model.expressions.lambdas import (
    ContextVariable,
    DetachedExpression,
    DynamicParameter,
    ExecutionContextVariable,
    Lambda,
    LambdaInvocation,
    NamedLambda,
    NamedLambdaReference,
)
from pyspark_substrait.model.expressions.references import (
    FieldReference,
    LambdaParameterReference,
    ListElement,
    MapKey,
    OuterReference,
    ReferenceSegment,
    RootReference,
    StructField,
    referenced_type,
)
from pyspark_substrait.model.expressions.subqueries import (
    ComparisonOp,
    InPredicate,
    PredicateOp,
    ReductionOp,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
)
from pyspark_substrait.model.fields import declare
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import Type

__all__ = [
    "AggregateFunction",
    "AggregationInvocation",
    "AggregationPhase",
    "Argument",
    "Bound",
    "BoundsType",
    "BrokenExpression",
    "Cast",
    "ComparisonOp",
    "ContextVariable",
    "CurrentRow",
    "DetachedExpression",
    "DynamicParameter",
    "EnumArgument",
    "ExecutionContextVariable",
    "Expression",
    "FailureBehavior",
    "FieldReference",
    "Following",
    "Function",
    "FunctionOption",
    "IfClause",
    "IfThen",
    "IfValue",
    "InPredicate",
    "Lambda",
    "LambdaInvocation",
    "LambdaParameterReference",
    "ListElement",
    "MapKey",
    "MultiOrList",
    "NamedLambda",
    "NamedLambdaReference",
    "NestedList",
    "NestedMap",
    "NestedStruct",
    "OuterReference",
    "Preceding",
    "PredicateOp",
    "ReductionOp",
    "ReferenceSegment",
    "RootReference",
    "ScalarFunction",
    "ScalarSubquery",
    "SetComparison",
    "SetPredicate",
    "SingularOrList",
    "SortDirection",
    "SortField",
    "StructField",
    "SwitchExpression",
    "TypeArgument",
    "Unbounded",
    "WindowFunction",
    "referenced_type",
]

Expression: TypeAlias = Union[
    Literal,
    FieldReference,
    ScalarFunction,
    WindowFunction,
    IfThen,
    SwitchExpression,
    SingularOrList,
    MultiOrList,
    Cast,
    NestedStruct,
    NestedList,
    NestedMap,
    ScalarSubquery,
    InPredicate,
    SetPredicate,
    SetComparison,
    DynamicParameter,
    Lambda,
    NamedLambdaReference,
    LambdaInvocation,
    ExecutionContextVariable,
    DetachedExpression,
    BrokenExpression,
]

Argument: TypeAlias = Union[EnumArgument, TypeArgument, Expression]

declare(expressions=Expression, types=Type, Argument=Argument)

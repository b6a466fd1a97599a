"""Lambdas, and expressions whose value is defined elsewhere: parameters, context variables, detached expressions.

Spec: expressions/lambda_expressions, expressions/dynamic_parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Annotated

from pyspark_substrait.model.computed_once import computed_once
from pyspark_substrait.model.fields import SHARED
from pyspark_substrait.model.types import Func, Struct, Type

if TYPE_CHECKING:
    from pyspark_substrait.model.expressions import Expression

__all__ = [
    "ContextVariable",
    "DetachedExpression",
    "DynamicParameter",
    "ExecutionContextVariable",
    "Lambda",
    "LambdaInvocation",
    "NamedLambda",
    "NamedLambdaReference",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamicParameter:
    """A value given when the plan runs. ``parameter_reference`` is the number by which users give it."""

    type: Type
    parameter_reference: int


@dataclass(frozen=True, kw_only=True)
class Lambda:
    """A function value: parameters (one struct field each) and a body. Spec: expressions/lambda_expressions."""

    parameters: Struct
    body: Expression

    @computed_once
    def type(self) -> Type:
        return Func(parameter_types=self.parameters.types, return_type=self.body.type)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedLambda:
    """A lambda that the plan defines once and refers to from anywhere."""

    lambda_: Lambda
    name: str | None = None


@dataclass(frozen=True, kw_only=True)
class NamedLambdaReference:
    """A lambda of the plan's ``named_lambdas``."""

    lambda_: Annotated[NamedLambda, SHARED]

    @computed_once
    def type(self) -> Type:
        return self.lambda_.lambda_.type


@dataclass(frozen=True, kw_only=True)
class LambdaInvocation:
    """A lambda applied to arguments in place."""

    lambda_: Lambda | NamedLambdaReference
    arguments: tuple[Expression, ...]

    @computed_once
    def type(self) -> Type:
        match self.lambda_:
            case Lambda(body=body):
                return body.type
            case NamedLambdaReference(lambda_=named):
                return named.lambda_.body.type


class ContextVariable(Enum):
    """The value that an :class:`ExecutionContextVariable` reads."""

    CURRENT_TIMESTAMP = "current_timestamp"
    CURRENT_TIMEZONE = "current_timezone"
    CURRENT_DATE = "current_date"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionContextVariable:
    """A value of the execution context: the time, the time zone or the date."""

    variable: ContextVariable
    type: Type


@dataclass(frozen=True, kw_only=True)
class DetachedExpression:
    """A reference to an expression that the message stores apart (``detached_expressions``) to stay flat."""

    expression: Expression

    @computed_once
    def type(self) -> Type:
        return self.expression.type

"""Choices, membership and casts. Spec: expressions/specialized_record_expressions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from pyspark_substrait.model.computed_once import computed_once
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import Boolean, Type, with_nullability

if TYPE_CHECKING:
    from pyspark_substrait.model.expressions import Expression

__all__ = [
    "Cast",
    "FailureBehavior",
    "IfClause",
    "IfThen",
    "IfValue",
    "MultiOrList",
    "SingularOrList",
    "SwitchExpression",
]


@dataclass(frozen=True, slots=True)
class IfClause:
    """One arm of :class:`IfThen`."""

    if_: Expression
    then: Expression


@dataclass(frozen=True, kw_only=True)
class IfThen:
    """The result of the first arm whose condition is true, or else ``else_`` (null when there is none)."""

    ifs: tuple[IfClause, ...]
    else_: Expression | None = None

    @computed_once
    def type(self) -> Type:
        return _type_of_branches([clause.then for clause in self.ifs], self.else_)


@dataclass(frozen=True, slots=True)
class IfValue:
    """One arm of :class:`SwitchExpression`."""

    if_: Literal
    then: Expression


@dataclass(frozen=True, kw_only=True)
class SwitchExpression:
    """The result of the first arm whose value equals ``match``, or else ``else_`` (null when there is none)."""

    match: Expression
    ifs: tuple[IfValue, ...]
    else_: Expression | None = None

    @computed_once
    def type(self) -> Type:
        return _type_of_branches([clause.then for clause in self.ifs], self.else_)


def _type_of_branches(branches: list[Expression], otherwise: Expression | None) -> Type:
    """The type of a choice: that of its branches, nullable when one is or when none may be chosen."""
    ends = branches if otherwise is None else [*branches, otherwise]
    nullable = otherwise is None or any(branch.type.nullable for branch in ends)
    return with_nullability(ends[0].type, nullable)


@dataclass(frozen=True, kw_only=True)
class SingularOrList:
    """Whether a value equals one of the options, by SQL's three-valued logic."""

    value: Expression
    options: tuple[Expression, ...]

    @computed_once
    def type(self) -> Type:
        return Boolean(nullable=any(item.type.nullable for item in (self.value, *self.options)))


@dataclass(frozen=True, kw_only=True)
class MultiOrList:
    """Whether several values equal, all at once, those of one of the options."""

    value: tuple[Expression, ...]
    options: tuple[tuple[Expression, ...], ...]

    @computed_once
    def type(self) -> Type:
        rows = (self.value, *self.options)
        return Boolean(nullable=any(item.type.nullable for row in rows for item in row))


class FailureBehavior(Enum):
    """The behavior of a cast for a value that the target type can't hold."""

    UNSPECIFIED = "unspecified"
    RETURN_NULL = "return null"
    THROW_EXCEPTION = "throw exception"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """A value turned into another type."""

    type: Type
    input: Expression
    failure_behavior: FailureBehavior = FailureBehavior.UNSPECIFIED

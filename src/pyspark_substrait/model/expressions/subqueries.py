"""Expressions that contain a query. Spec: expressions/subqueries."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.computed_once import computed_once
from pyspark_substrait.model.types import Boolean, OpenStruct, Type, Unbound, with_nullability

if TYPE_CHECKING:
    from pyspark_substrait.model.expressions import Expression
    from pyspark_substrait.model.relations import Relation

__all__ = [
    "ComparisonOp",
    "InPredicate",
    "PredicateOp",
    "ReductionOp",
    "ScalarSubquery",
    "SetComparison",
    "SetPredicate",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarSubquery:
    """The only value of the only row of a query; null if it has no row. ``Subquery.Scalar`` in protobuf."""

    input: Relation

    @property
    def type(self) -> Type:
        schema = self.input.schema
        if isinstance(schema, OpenStruct):
            return Unbound(nullable=True)
        if len(schema.types) != 1:
            raise InvalidPlanError(
                f"a scalar subquery has one column, this one has {len(schema.types)}",
                code=Code.EXPRESSION_ILLEGAL_SUBQUERY,
            )
        return with_nullability(schema.types[0], True)


@dataclass(frozen=True, kw_only=True)
class InPredicate:
    """Whether the needles, as a record, are among the records of the haystack."""

    needles: tuple[Expression, ...]
    haystack: Relation

    @computed_once
    def type(self) -> Type:
        types = [needle.type for needle in self.needles] + list(self.haystack.schema.types)
        return Boolean(nullable=any(type.nullable for type in types))


class PredicateOp(Enum):
    """EXISTS: there is a record. UNIQUE: there are no two equal records."""

    EXISTS = "exists"
    UNIQUE = "unique"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPredicate:
    """A predicate over all records of a query."""

    predicate_op: PredicateOp
    tuples: Relation

    @property
    def type(self) -> Type:
        return Boolean()


class ComparisonOp(Enum):
    """The comparison of a :class:`SetComparison`."""

    EQ = "="
    NE = "<>"
    LT = "<"
    GT = ">"
    LE = "<="
    GE = ">="


class ReductionOp(Enum):
    """Whether one comparison must be true, or all of them."""

    ANY = "any"
    ALL = "all"


@dataclass(frozen=True, kw_only=True)
class SetComparison:
    """A value compared with the values of a query's only column."""

    reduction_op: ReductionOp
    comparison_op: ComparisonOp
    left: Expression
    right: Relation

    @computed_once
    def type(self) -> Type:
        types = (self.left.type, *self.right.schema.types)
        return Boolean(nullable=any(type.nullable for type in types))

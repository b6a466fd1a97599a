"""The joins. Spec: relations/logical_relations "Join Operation" and "Lateral Join Operation", physical_relations."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Annotated

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.computed_once import computed_once
from pyspark_substrait.model.expressions import Expression, FieldReference, Function
from pyspark_substrait.model.fields import CONDITION, Over
from pyspark_substrait.model.relations.base import (
    LOGICAL,
    PHYSICAL,
    ExtensibleRelation,
    Names,
    RelationInfo,
    extended,
    joined,
    nullable,
)
from pyspark_substrait.model.relations.description import Description, Own, Part, Passed, Subject, condition
from pyspark_substrait.model.types import Boolean, OpenStruct, Struct, Type

if TYPE_CHECKING:
    from pyspark_substrait.model.relations import Relation

__all__ = [
    "BuildInput",
    "ComparisonJoinKey",
    "Cross",
    "HashJoin",
    "Join",
    "JoinBase",
    "JoinType",
    "KeyedJoin",
    "LateralJoin",
    "MergeJoin",
    "NestedLoopJoin",
    "SimpleComparisonType",
]


class JoinType(Enum):
    """The join types. Spec: relations/logical_relations, "Join Types"."""

    INNER = "inner"
    OUTER = "outer"
    LEFT = "left"
    RIGHT = "right"
    LEFT_SEMI = "left semi"
    LEFT_ANTI = "left anti"
    LEFT_SINGLE = "left single"
    RIGHT_SEMI = "right semi"
    RIGHT_ANTI = "right anti"
    RIGHT_SINGLE = "right single"
    LEFT_MARK = "left mark"
    RIGHT_MARK = "right mark"


@dataclass(frozen=True, kw_only=True)
class JoinBase(ExtensibleRelation):
    """The base of all joins: two inputs, and an output that depends on the type."""

    left: Relation
    right: Relation
    type: JoinType

    @property
    def _matching(self) -> tuple[Part, ...]:
        """The parts by which records match."""
        return ()

    @property
    def _after(self) -> tuple[Part, ...]:
        """The parts that don't belong to the match."""
        return ()

    def _condition(self, title: str, node: Expression | None, line: str = "on {}", *, lead: bool = True) -> Part:
        return condition(title, node, line, lead=lead, decides=self.type not in _MARKS)

    def describe(self) -> Description:
        matching = self._matching
        type = Part(title="join type", subject=Subject.JOIN, value=self.type, lead=True)
        columns: tuple[Passed | Own, ...]
        match self.type:
            case JoinType.LEFT_SEMI | JoinType.LEFT_ANTI:
                columns = (Passed(0),)
            case JoinType.RIGHT_SEMI | JoinType.RIGHT_ANTI:
                columns = (Passed(1),)
            case JoinType.LEFT_MARK | JoinType.RIGHT_MARK:
                columns = (Passed(int(self.type is JoinType.RIGHT_MARK)), Own("mark", beside=matching))
            case _:
                columns = (Passed(0), Passed(1))
        return Description((type, *matching, *self._after), columns)

    @computed_once
    def input_schema(self) -> Struct:
        """The record that join conditions see: the left columns, then the right ones."""
        return joined(self.left.schema, self.right.schema)

    @computed_once
    def direct_schema(self) -> Struct:
        left, right = self.left.schema, self.right.schema
        match self.type:
            case JoinType.INNER:
                return joined(left, right)
            case JoinType.OUTER:
                return joined(nullable(left), nullable(right))
            case JoinType.LEFT | JoinType.LEFT_SINGLE:
                return joined(left, nullable(right))
            case JoinType.RIGHT | JoinType.RIGHT_SINGLE:
                return joined(nullable(left), right)
            case JoinType.LEFT_SEMI | JoinType.LEFT_ANTI:
                return left
            case JoinType.RIGHT_SEMI | JoinType.RIGHT_ANTI:
                return right
            case JoinType.LEFT_MARK:
                return extended(left, [Boolean(nullable=True)])
            case JoinType.RIGHT_MARK:
                return extended(right, [Boolean(nullable=True)])

    @computed_once
    def direct_names(self) -> Names:
        if isinstance(self.direct_schema, OpenStruct):
            return ()
        match self.type:
            case JoinType.LEFT_SEMI | JoinType.LEFT_ANTI:
                return self.left.names
            case JoinType.RIGHT_SEMI | JoinType.RIGHT_ANTI:
                return self.right.names
            case JoinType.LEFT_MARK:
                return (*self.left.names, None)
            case JoinType.RIGHT_MARK:
                return (*self.right.names, None)
            case _:
                return self.left.names + self.right.names


_MARKS = (JoinType.LEFT_MARK, JoinType.RIGHT_MARK)


def _post_join_filter(node: Expression | None) -> Part:
    return condition("post-join filter", node, "post-join filter {}", over=Over.OUTPUT)


@dataclass(frozen=True, kw_only=True)
class Join(JoinBase):
    """Pair records by a condition, and form the output of the join type.

    ``expression`` sees the left and right columns; null counts as no match. ``post_join_filter`` is a filter above
    the join: it sees the direct output.
    """

    info = RelationInfo("Pairs the records of two inputs by a condition.", field="join", page=LOGICAL, icon="join")

    expression: Annotated[Expression, CONDITION]
    post_join_filter: Annotated[Expression | None, Over.OUTPUT, CONDITION] = None

    @property
    def _matching(self) -> tuple[Part, ...]:
        return (self._condition("condition", self.expression),)

    @property
    def _after(self) -> tuple[Part, ...]:
        return (_post_join_filter(self.post_join_filter),)


@dataclass(frozen=True, kw_only=True)
class LateralJoin(JoinBase):
    """A join whose right input is evaluated once per left record, which it sees by outer references."""

    info = RelationInfo(
        "For each left record, evaluates the right input, which may refer to that record.",
        field="lateral_join",
        page=LOGICAL,
        icon="lateral",
    )

    right: Annotated[Relation, Over.LEFT]
    expression: Annotated[Expression | None, CONDITION] = None
    post_join_filter: Annotated[Expression | None, Over.OUTPUT, CONDITION] = None

    @property
    def _matching(self) -> tuple[Part, ...]:
        return (self._condition("condition", self.expression),)

    @property
    def _after(self) -> tuple[Part, ...]:
        return (_post_join_filter(self.post_join_filter),)

    @computed_once
    def direct_schema(self) -> Struct:
        if self.type not in _LATERAL_TYPES:
            raise InvalidPlanError(
                f"a lateral join cannot be of type {self.type.value}",
                path="type",
                hint=f"Possible are {', '.join(type.value for type in _LATERAL_TYPES)}",
                code=Code.RELATION_INVALID,
            )
        return super().direct_schema


_LATERAL_TYPES = (
    JoinType.INNER,
    JoinType.LEFT,
    JoinType.LEFT_SEMI,
    JoinType.LEFT_ANTI,
    JoinType.LEFT_SINGLE,
    JoinType.LEFT_MARK,
)


@dataclass(frozen=True, kw_only=True)
class Cross(ExtensibleRelation):
    """Every left record with every right record."""

    info = RelationInfo("Pairs every left record with every right one.", field="cross", page=LOGICAL, icon="cross")

    left: Relation
    right: Relation

    def describe(self) -> Description:
        return Description((), (Passed(0), Passed(1)))

    @computed_once
    def direct_schema(self) -> Struct:
        return joined(self.left.schema, self.right.schema)

    @computed_once
    def direct_names(self) -> Names:
        return () if isinstance(self.direct_schema, OpenStruct) else self.left.names + self.right.names


class SimpleComparisonType(Enum):
    """The comparison of two join keys. Spec: ``ComparisonJoinKey.SimpleComparisonType``.

    EQ: whether they are equal; null when one of them is null, so that the records don't match.
    IS_NOT_DISTINCT_FROM: whether they are equal or both null; never null.
    MIGHT_EQUAL: whether they are equal or one of them is null; never null.
    """

    EQ = "equal"
    IS_NOT_DISTINCT_FROM = "is not distinct from"
    MIGHT_EQUAL = "might equal"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonJoinKey:
    """A pair of keys.

    Args:
        left, right: a field of the left input, and one of the right input alone.
        comparison: how they are compared; a function takes the left and the right one, and gives a boolean.
        taken: the types that they are compared as, where one of them is of another type; None for their own.
    """

    left: Annotated[FieldReference, Over.LEFT]
    right: Annotated[FieldReference, Over.RIGHT]
    comparison: SimpleComparisonType | Function = SimpleComparisonType.EQ
    taken: tuple[Type, Type] | None = None


class BuildInput(Enum):
    """The input that a hash join builds its table of."""

    LEFT = "left"
    RIGHT = "right"


@dataclass(frozen=True, kw_only=True)
class KeyedJoin(JoinBase):
    """The base of joins by keys. Records match when all keys do and ``residual_expression``, if any, is true."""

    keys: tuple[ComparisonJoinKey, ...]
    residual_expression: Annotated[Expression | None, CONDITION] = None
    post_join_filter: Annotated[Expression | None, Over.OUTPUT, CONDITION] = None

    @property
    def _matching(self) -> tuple[Part, ...]:
        keys = Part(
            title="join key",
            subject=Subject.JOIN,
            nodes=self.keys,
            line="on {}",
            lead=True,
            decides=self.type not in _MARKS,
        )
        return (keys, self._condition("residual condition", self.residual_expression, "residual {}", lead=False))

    @property
    def _after(self) -> tuple[Part, ...]:
        return (_post_join_filter(self.post_join_filter),)


@dataclass(frozen=True, kw_only=True)
class HashJoin(KeyedJoin):
    """A join by hashed keys."""

    info = RelationInfo("Joins two inputs by a table of hashed keys.", field="hash_join", page=PHYSICAL, icon="join")

    build_input: BuildInput = BuildInput.RIGHT

    @property
    def _after(self) -> tuple[Part, ...]:
        built = Part(title="build input", subject=Subject.JOIN, value=self.build_input, line="build {}")
        return (*super()._after, built)


@dataclass(frozen=True, kw_only=True)
class MergeJoin(KeyedJoin):
    """A join of inputs that should be sorted by their keys; the result doesn't depend on it."""

    info = RelationInfo(
        "Joins two inputs that are sorted by their keys.", field="merge_join", page=PHYSICAL, icon="join"
    )


@dataclass(frozen=True, kw_only=True)
class NestedLoopJoin(JoinBase):
    """A join that tries every pair of records; without an expression all pairs match."""

    info = RelationInfo(
        "Joins two inputs by trying every pair of records.", field="nested_loop_join", page=PHYSICAL, icon="join"
    )

    expression: Annotated[Expression | None, CONDITION] = None

    @property
    def _matching(self) -> tuple[Part, ...]:
        return (self._condition("condition", self.expression),)

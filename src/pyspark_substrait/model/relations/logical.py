"""The logical relations that aren't reads, joins or writes. Spec: relations/logical_relations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Annotated

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.computed_once import computed_once
from pyspark_substrait.model.expressions import AggregateFunction, Expression, FieldReference, SortField, StructField
from pyspark_substrait.model.expressions import RootReference as _Root
from pyspark_substrait.model.fields import CONDITION, SHARED, Over
from pyspark_substrait.model.relations.base import (
    BASICS,
    LOGICAL,
    PHYSICAL,
    ExtensibleRelation,
    Names,
    RelationBase,
    RelationInfo,
    RelCommon,
    extended,
)
from pyspark_substrait.model.relations.description import (
    Description,
    Merged,
    Own,
    Part,
    Passed,
    Subject,
    condition,
    limit_parts,
    passing,
    sort_keys,
)
from pyspark_substrait.model.types import I32, OpenStruct, Struct, Unbound, same_type, with_nullability

if TYPE_CHECKING:
    from pyspark_substrait.model.relations import Relation

__all__ = [
    "Aggregate",
    "DetachedRel",
    "Fetch",
    "FetchBase",
    "FetchMode",
    "Filter",
    "Grouping",
    "Measure",
    "PassThrough",
    "Project",
    "Reference",
    "Set",
    "SetOp",
    "Sort",
    "SortBase",
    "TopN",
    "referenced_name",
    "set_faults",
]


def referenced_name(expression: Expression, input: Relation) -> str | None:
    """The name that a plain reference to a column of ``input`` passes on; None for every other expression."""
    match expression:
        case FieldReference(root=_Root(), reference=(StructField(field=position),)) if position < len(input.names):
            return input.names[position]
        case _:
            return None


@dataclass(frozen=True, kw_only=True)
class PassThrough(ExtensibleRelation):
    """The base class of relations that output the columns of their only input."""

    input: Relation

    @computed_once
    def direct_schema(self) -> Struct:
        return self.input.schema

    @computed_once
    def direct_names(self) -> Names:
        return self.input.names


@dataclass(frozen=True, kw_only=True)
class Filter(PassThrough):
    """Keep the records whose condition is true; false and null both drop the record."""

    info = RelationInfo(
        "Keeps the records for which a condition is true; false and null both drop one.",
        field="filter",
        page=LOGICAL,
        icon="filter",
    )

    condition: Annotated[Expression, CONDITION]

    def describe(self) -> Description:
        return passing(condition("condition", self.condition, lead=True))


@dataclass(frozen=True, kw_only=True)
class SortBase(PassThrough):
    """The base of relations that order the records."""

    sorts: tuple[SortField, ...]


@dataclass(frozen=True, kw_only=True)
class FetchBase(PassThrough):
    """The base of relations that keep a number of records."""

    @property
    def limits(self) -> tuple[Expression | None, Expression | None]:
        """The number of records that are skipped (None for none), and of those that are kept then (None for all)."""
        raise NotImplementedError

    @property
    def keeps_ties(self) -> bool:
        """Whether more records are kept if they are equal to the last one."""
        return False


@dataclass(frozen=True, kw_only=True)
class Sort(SortBase):
    """Order the records."""

    info = RelationInfo("Puts the records in order.", field="sort", page=LOGICAL, icon="sort")

    def describe(self) -> Description:
        return passing(sort_keys(self.sorts, absent="no sort fields"))


@dataclass(frozen=True, kw_only=True)
class Fetch(FetchBase):
    """Skip ``offset_expr`` records (null: none), then keep ``count_expr`` (null: all). Negative numbers are errors."""

    info = RelationInfo("Skips some records, then keeps a number of them.", field="fetch", page=LOGICAL, icon="fetch")

    offset_expr: Annotated[Expression | None, Over.NOTHING] = None
    count_expr: Annotated[Expression | None, Over.NOTHING] = None

    @property
    def limits(self) -> tuple[Expression | None, Expression | None]:
        return self.offset_expr, self.count_expr

    def describe(self) -> Description:
        return passing(*limit_parts(*self.limits))


class FetchMode(Enum):
    """Whether a :class:`TopN` also keeps the records that are equal, by its sorts, to the last one kept."""

    UNSPECIFIED = "unspecified"
    ROWS_ONLY = "rows only"
    WITH_TIES = "with ties"


@dataclass(frozen=True, kw_only=True)
class TopN(SortBase, FetchBase):
    """Sort and fetch in one."""

    info = RelationInfo(
        "Puts the records in order, and keeps the first of them.", field="top_n", page=PHYSICAL, icon="top"
    )

    offset: Annotated[Expression | None, Over.NOTHING] = None
    count: Annotated[Expression | None, Over.NOTHING] = None
    mode: FetchMode = FetchMode.UNSPECIFIED

    @property
    def limits(self) -> tuple[Expression | None, Expression | None]:
        return self.offset, self.count

    @property
    def keeps_ties(self) -> bool:
        return self.mode is FetchMode.WITH_TIES

    def describe(self) -> Description:
        stated = self.mode is not FetchMode.UNSPECIFIED
        mode = [Part(title="mode", subject=Subject.FETCH, value=self.mode)] if stated else []
        return passing(sort_keys(self.sorts, absent="no sort fields"), *limit_parts(*self.limits), *mode)


@dataclass(frozen=True, kw_only=True)
class Project(ExtensibleRelation):
    """The columns of the input, followed by one for each expression."""

    info = RelationInfo(
        "Keeps the columns of its input, and puts computed ones behind them.",
        field="project",
        page=LOGICAL,
        icon="project",
    )

    input: Relation
    expressions: tuple[Expression, ...]

    @classmethod
    def only(cls, input: Relation, expressions: Sequence[Expression]) -> Project:
        """Return a projection that puts out the expressions alone."""
        width = len(input.schema.types)
        emit = tuple(range(width, width + len(expressions)))
        return cls(common=RelCommon(emit=emit), input=input, expressions=tuple(expressions))

    def describe(self) -> Description:
        made = Part(title="column", subject=Subject.COLUMN, nodes=self.expressions, line="")
        return Description((made,), (Passed(), made))

    @computed_once
    def direct_schema(self) -> Struct:
        return extended(self.input.schema, [expression.type for expression in self.expressions])

    @computed_once
    def direct_names(self) -> Names:
        return (*self.input.names, *(referenced_name(expression, self.input) for expression in self.expressions))


@dataclass(frozen=True, slots=True)
class Grouping:
    """One grouping set: which of the relation's grouping expressions it groups by, by position."""

    expression_references: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One aggregate of the relation, over the records for which ``filter`` is true."""

    measure: AggregateFunction
    filter: Annotated[Expression | None, CONDITION] = None


@dataclass(frozen=True, kw_only=True)
class Aggregate(ExtensibleRelation):
    """Group records and compute the measures of each group.

    The output is the grouping expressions, the measures and, if there is more than one grouping set, an i32 that is the
    position of the set a record belongs to. A grouping expression that isn't in every set is nullable.
    """

    info = RelationInfo(
        "Groups the records, and computes the measures of each group.",
        field="aggregate",
        page=LOGICAL,
        icon="aggregate",
    )

    input: Relation
    groupings: tuple[Grouping, ...] = ()
    grouping_expressions: tuple[Expression, ...] = ()
    measures: tuple[Measure, ...] = ()

    def describe(self) -> Description:
        keys = Part(title="grouping key", subject=Subject.GROUPING, nodes=self.grouping_expressions, decides=True)
        sets = Part(title="grouping set", subject=Subject.GROUPING, value=self.groupings)
        measures = Part(title="measure", subject=Subject.MEASURE, nodes=self.measures, line="")
        number = [Own("number of the grouping set")] if len(self.groupings) > 1 else []
        return Description((keys, sets, measures), (keys, measures, *number))

    @computed_once
    def direct_schema(self) -> Struct:
        sets = [frozenset(grouping.expression_references) for grouping in self.groupings]
        everywhere = sets[0].intersection(*sets) if sets else range(len(self.grouping_expressions))
        keys = [
            with_nullability(expression.type, expression.type.nullable or position not in everywhere)
            for position, expression in enumerate(self.grouping_expressions)
        ]
        measures = [measure.measure.output_type for measure in self.measures]
        return Struct(types=(*keys, *measures, *([I32()] if len(self.groupings) > 1 else [])))

    @computed_once
    def direct_names(self) -> Names:
        keys = tuple(referenced_name(expression, self.input) for expression in self.grouping_expressions)
        return keys + (None,) * (len(self.direct_schema.types) - len(keys))


def set_faults(members: tuple[Relation, ...]) -> Iterator[InvalidPlanError]:
    """Yield the reasons why the inputs of a set operation are incompatible; one with an open schema is compatible."""
    if len(members) < 2:
        fault = f"a set operation has at least two inputs, this one has {len(members)}"
        yield InvalidPlanError(fault, code=Code.RELATION_MISSING)
    primary, *secondary = [member.schema for member in members] or [OpenStruct()]
    for column, type in enumerate(primary.types):
        for number, schema in enumerate(secondary, start=1):
            if isinstance(schema, OpenStruct):
                continue
            width = len(schema.types)
            if width != len(primary.types):
                if column == 0:
                    yield InvalidPlanError(
                        f"input {number} has {width} columns, the primary input {len(primary.types)}",
                        path=f"inputs[{number}]",
                        code=Code.TYPE_MISMATCH,
                    )
            elif not (isinstance(type, Unbound) or isinstance(schema.types[column], Unbound)) and not same_type(
                schema.types[column], type
            ):
                yield InvalidPlanError(
                    f"column {column} is {schema.types[column]}, in the primary input {type}",
                    path=f"inputs[{number}]",
                    hint="All inputs of a set operation have the same types; add a cast",
                    code=Code.TYPE_MISMATCH,
                )


class SetOp(Enum):
    """The set operations. Spec: relations/logical_relations, "Set Operation Types"."""

    MINUS_PRIMARY = "minus primary"
    MINUS_PRIMARY_ALL = "minus primary all"
    MINUS_MULTISET = "minus multiset"
    INTERSECTION_PRIMARY = "intersection primary"
    INTERSECTION_MULTISET = "intersection multiset"
    INTERSECTION_MULTISET_ALL = "intersection multiset all"
    UNION_DISTINCT = "union distinct"
    UNION_ALL = "union all"


@dataclass(frozen=True, kw_only=True)
class Set(ExtensibleRelation):
    """Combine the records of two or more inputs; the first is the primary one. Null matches null."""

    info = RelationInfo(
        "Combines the records of inputs that have the same columns; null is equal to null.",
        field="set",
        page=LOGICAL,
        icon="union",
    )

    members: tuple[Relation, ...]
    op: SetOp

    def describe(self) -> Description:
        return Description((Part(title="operation", subject=Subject.SET, value=self.op),), (Merged(),))

    @computed_once
    def direct_schema(self) -> Struct:
        schemas = [member.schema for member in self.members]
        if any(isinstance(schema, OpenStruct) for schema in schemas):
            return OpenStruct()
        for fault in self.faults():
            raise fault
        primary, *secondary = schemas
        types = []
        for column, type in enumerate(primary.types):
            others = [schema.types[column].nullable for schema in secondary]
            types.append(with_nullability(type, self._nullable(type.nullable, others)))
        return Struct(types=tuple(types))

    def faults(self) -> Iterator[InvalidPlanError]:
        """Yield the reasons why the inputs are incompatible."""
        return set_faults(self.members)

    def _nullable(self, primary: bool, secondary: list[bool]) -> bool:
        """The specification's table of output nullability, for one column."""
        match self.op:
            case SetOp.MINUS_PRIMARY | SetOp.MINUS_PRIMARY_ALL | SetOp.MINUS_MULTISET:
                return primary
            case SetOp.INTERSECTION_PRIMARY:
                return primary and any(secondary)
            case SetOp.INTERSECTION_MULTISET | SetOp.INTERSECTION_MULTISET_ALL:
                return primary and all(secondary)
            case SetOp.UNION_DISTINCT | SetOp.UNION_ALL:
                return primary or any(secondary)

    @computed_once
    def direct_names(self) -> Names:
        return self.members[0].names if self.members else ()


@dataclass(frozen=True, kw_only=True)
class Reference(RelationBase):
    """The records of another relation tree of the plan. It has no common part in protobuf.

    Args:
        subtree_ordinal: the position of that tree in the plan's relations.
        subtree: the tree itself (of a root: its input).
    """

    info = RelationInfo(
        "Takes the records of another relation tree of the plan.", field="reference", page=LOGICAL, icon="reference"
    )

    subtree_ordinal: int
    subtree: Annotated[Relation, SHARED]

    def describe(self) -> Description:
        return passing()

    @computed_once
    def direct_schema(self) -> Struct:
        return self.subtree.schema

    @computed_once
    def direct_names(self) -> Names:
        return self.subtree.names


@dataclass(frozen=True, kw_only=True)
class DetachedRel(RelationBase):
    """A reference to a relation that the message stores apart (``detached_rels``) to stay flat."""

    info = RelationInfo(
        "Stands for a relation that the message keeps apart.",
        field="detached_rel_ordinal",
        page=BASICS,
        own_term="",
        icon="reference",
    )

    relation: Relation

    def describe(self) -> Description:
        return passing()

    @computed_once
    def direct_schema(self) -> Struct:
        return self.relation.schema

    @computed_once
    def direct_names(self) -> Names:
        return self.relation.names

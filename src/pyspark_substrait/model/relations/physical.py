"""Windows, expand and exchange. Spec: relations/physical_relations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from pyspark_substrait.model.computed_once import computed_once
from pyspark_substrait.model.expressions import (
    AggregationInvocation,
    AggregationPhase,
    Argument,
    Bound,
    BoundsType,
    Expression,
    FieldReference,
    Function,
    FunctionOption,
    RootReference,
    SortField,
    StructField,
    Unbounded,
)
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations.base import (
    PHYSICAL,
    ExtensibleRelation,
    Names,
    RelationInfo,
    extended,
)
from pyspark_substrait.model.relations.description import Description, Own, Part, Passed, Subject, passing, sort_keys
from pyspark_substrait.model.relations.logical import PassThrough, referenced_name
from pyspark_substrait.model.types import I32, OpenStruct, Struct, Type, with_nullability

if TYPE_CHECKING:
    from pyspark_substrait.model.relations import Relation

__all__ = [
    "Broadcast",
    "ConsistentPartitionWindow",
    "Exchange",
    "ExchangeKind",
    "ExchangeTarget",
    "Expand",
    "MultiBucketExpression",
    "RoundRobin",
    "ScatterFields",
    "SingleBucketExpression",
    "SwitchingField",
    "WindowRelFunction",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowRelFunction:
    """A window function whose partitions and sorts are those of the relation."""

    function: Function
    arguments: tuple[Argument, ...]
    options: tuple[FunctionOption, ...] = ()
    output_type: Type
    derived_type: Type
    phase: AggregationPhase = AggregationPhase.INITIAL_TO_RESULT
    invocation: AggregationInvocation = AggregationInvocation.ALL
    lower_bound: Bound = Unbounded()
    upper_bound: Bound = Unbounded()
    bounds_type: BoundsType | None = None


@dataclass(frozen=True, kw_only=True)
class ConsistentPartitionWindow(ExtensibleRelation):
    """The columns of the input, followed by window functions that share partitions and sorts."""

    info = RelationInfo(
        "Computes window functions that share their partitions and their order.",
        field="window",
        page=PHYSICAL,
        own_term="CONSISTENT_PARTITION_WINDOW",
        icon="window",
    )

    input: Relation
    window_functions: tuple[WindowRelFunction, ...]
    partition_expressions: tuple[Expression, ...] = ()
    sorts: tuple[SortField, ...] = ()

    def describe(self) -> Description:
        partitions = Part(
            title="partition key",
            subject=Subject.WINDOW,
            nodes=self.partition_expressions,
            line="partition by {}",
        )
        order = sort_keys(self.sorts, "order by {}", decides=False)
        functions = Part(
            title="window function",
            subject=Subject.WINDOW,
            nodes=self.window_functions,
            line="",
            beside=(partitions, order),
        )
        return Description((partitions, order, functions), (Passed(), functions))

    @computed_once
    def direct_schema(self) -> Struct:
        return extended(self.input.schema, [function.output_type for function in self.window_functions])

    @computed_once
    def direct_names(self) -> Names:
        return self.input.names + (None,) * len(self.window_functions)


@dataclass(frozen=True, slots=True)
class SwitchingField:
    """A column that has another value in each duplicate."""

    duplicates: tuple[Expression, ...]


@dataclass(frozen=True, kw_only=True)
class Expand(ExtensibleRelation):
    """Each record several times: switching fields change from duplicate to duplicate, expressions stay the same.

    A field takes the place of the input column at its position; input columns after the last field are output as they
    are. They are followed by an i32: the number of the duplicate.
    """

    info = RelationInfo(
        "Puts out each record several times, with some columns changed each time.",
        field="expand",
        page=PHYSICAL,
        icon="expand",
    )

    input: Relation
    fields: tuple[SwitchingField | Expression, ...]

    @computed_once
    def all_fields(self) -> tuple[SwitchingField | Expression, ...]:
        """The fields, followed by a reference to each column of the input that has none."""
        types = self.input.schema.types
        rest = range(len(self.fields), len(types))
        references = (
            FieldReference(root=RootReference(), reference=(StructField(place),), type=types[place]) for place in rest
        )
        return (*self.fields, *references)

    def describe(self) -> Description:
        copies = max((len(item.duplicates) for item in self.fields if isinstance(item, SwitchingField)), default=1)
        number = Part(title="number of copies", subject=Subject.ROWS, value=copies, line="")
        made = Part(title="column", subject=Subject.COLUMN, nodes=self.all_fields, line="")
        return Description((number, made), (made, Own("number of the duplicate")))

    @computed_once
    def direct_schema(self) -> Struct:
        if isinstance(self.input.schema, OpenStruct):
            return self.input.schema
        return Struct(types=(*(_field_type(field) for field in self.all_fields), I32()))

    @computed_once
    def direct_names(self) -> Names:
        given = [
            None if isinstance(item, SwitchingField) else referenced_name(item, self.input) for item in self.fields
        ]
        return (*given, *self.input.names[len(given) :], None)


def _field_type(field: SwitchingField | Expression) -> Type:
    if isinstance(field, SwitchingField):
        return with_nullability(field.duplicates[0].type, any(item.type.nullable for item in field.duplicates))
    return field.type


@dataclass(frozen=True, slots=True)
class ScatterFields:
    """Distribute by a hash of fields."""

    fields: tuple[FieldReference, ...]


@dataclass(frozen=True, slots=True)
class SingleBucketExpression:
    """Distribute by an expression that gives one bucket number."""

    expression: Expression


@dataclass(frozen=True, slots=True)
class MultiBucketExpression:
    """Distribute by an expression that gives a list of bucket numbers."""

    expression: Expression
    constrained_to_count: bool = False


@dataclass(frozen=True, slots=True)
class RoundRobin:
    """Distribute in turn, exactly or approximately."""

    exact: bool = False


@dataclass(frozen=True, slots=True)
class Broadcast:
    """Send every record to every partition."""


ExchangeKind: TypeAlias = ScatterFields | SingleBucketExpression | MultiBucketExpression | RoundRobin | Broadcast


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeTarget:
    """The target of some partitions: a URI, or a message of an extension."""

    partition_id: tuple[int, ...]
    target_type: str | AnyMessage | None = None


@dataclass(frozen=True, kw_only=True)
class Exchange(PassThrough):
    """Redistribute the records."""

    info = RelationInfo("Distributes the records anew.", field="exchange", page=PHYSICAL, icon="exchange")

    exchange_kind: ExchangeKind
    partition_count: int = 0
    targets: tuple[ExchangeTarget, ...] = ()

    def describe(self) -> Description:
        count = f"{self.partition_count} partitions" if self.partition_count else ""
        return passing(
            Part(title="kind", subject=Subject.EXCHANGE, value=self.exchange_kind),
            Part(title="number of partitions", subject=Subject.EXCHANGE, value=self.partition_count, line=count),
            Part(title="target", subject=Subject.EXCHANGE, value=self.targets, each=True),
        )

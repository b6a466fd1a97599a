"""The expressions. Every expression knows its type; none looks anything up.

Spec: the ``Expression`` message; expressions/*. Class and field names are those of the protobuf messages; a field that
is a Python keyword has a trailing underscore (``if_``, ``else_``, ``lambda_``).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias, Union

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.masks import MaskExpression
from pyspark_substrait.model.types import (
    Boolean,
    Func,
    List,
    Map,
    OpenStruct,
    Struct,
    Type,
    TypeVariation,
    Unbound,
    UserDefined,
    concrete,
    with_nullability,
)

if TYPE_CHECKING:
    from pyspark_substrait.model.relations import Relation

__all__ = [
    "AggregateFunction",
    "AggregationInvocation",
    "AggregationPhase",
    "Argument",
    "Bound",
    "BoundsType",
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


# --- references -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StructField:
    """The field at position ``field`` (from 0) of a struct."""

    field: int


@dataclass(frozen=True, slots=True)
class ListElement:
    """The element at ``offset`` (from 0; negative from the end) of a list; null when there is none."""

    offset: int


@dataclass(frozen=True, slots=True)
class MapKey:
    """The value that a map holds under a key; null when there is none."""

    map_key: Literal


ReferenceSegment: TypeAlias = StructField | ListElement | MapKey


@dataclass(frozen=True, slots=True)
class RootReference:
    """The record that the expression is evaluated on."""


@dataclass(frozen=True, slots=True)
class OuterReference:
    """The record of an enclosing query, found by one of two ways.

    Args:
        steps_out: the number of subquery boundaries to go up (at least 1), or None.
        rel_reference: the ``rel_anchor`` of the relation whose input record is meant, or None.
    """

    steps_out: int | None = None
    rel_reference: int | None = None


@dataclass(frozen=True, slots=True)
class LambdaParameterReference:
    """The parameters of the enclosing lambda that is ``steps_out`` lambdas up (0 is the innermost), as a struct."""

    steps_out: int = 0


def referenced_type(root: Type, segments: tuple[ReferenceSegment, ...]) -> Type:
    """The type that a path of segments leads to.

    A step through something nullable, or into a list or map (which may lack the element), makes the result nullable.

    Raises:
        InvalidPlanError: a segment doesn't fit the type it is applied to, or a field is out of range.
    """
    type, nullable = root, False
    for segment in segments:
        here = concrete(type)
        if isinstance(here, UserDefined) and here.structure is not None:
            here = with_nullability(concrete(here.structure), here.nullable)
        nullable = nullable or here.nullable
        match segment, here:
            case StructField(), OpenStruct():
                return Unbound(nullable=True)
            case _, Unbound():
                return Unbound(nullable=True)
            case StructField(field=field), Struct(types=types):
                if not 0 <= field < len(types):
                    raise InvalidPlanError(
                        f"there is no field {field}; the struct has {len(types)}",
                        hint=f"Fields are counted from 0; the struct is {here}",
                    )
                type = types[field]
            case ListElement(), List(type=element):
                type, nullable = element, True
            case MapKey(), Map(value=value):
                type, nullable = value, True
            case _:
                raise InvalidPlanError(f"a {_SEGMENT_NAMES[segment.__class__]} can't be taken from {here}")
    return with_nullability(type, type.nullable or nullable)


_SEGMENT_NAMES = {StructField: "struct field", ListElement: "list element", MapKey: "map key"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldReference:
    """Data inside a record, an outer record, lambda parameters or another expression's result.

    ``reference`` is either the path to one value, or a mask that thins out a struct (``masked_reference``).
    Spec: expressions/field_references.
    """

    root: RootReference | OuterReference | LambdaParameterReference | Expression
    reference: tuple[ReferenceSegment, ...] | MaskExpression
    type: Type


# --- functions --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Function:
    """Which function of which extension. Bound: the overload is known.

    Args:
        urn: the extension, like ``extension:io.substrait:functions_arithmetic``.
        name: the function's name, like ``add``.
        signature: the short types of the overload's arguments, like ``i32_i32``; empty without arguments.
    """

    urn: str
    name: str
    signature: str

    @property
    def key(self) -> str:
        """The function signature that a plan declares, like ``add:i32_i32``."""
        return f"{self.name}:{self.signature}"


@dataclass(frozen=True, slots=True)
class EnumArgument:
    """An enumeration argument, spelled as the extension spells it."""

    value: str


@dataclass(frozen=True, slots=True)
class TypeArgument:
    """A type as an argument."""

    type: Type


@dataclass(frozen=True, slots=True)
class FunctionOption:
    """How a corner case must be handled: the first value of ``preference`` that can be delivered."""

    name: str
    preference: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarFunction:
    """A call of a scalar function.

    ``output_type`` is the type the call has in the plan, ``derived_type`` the one the extension derives from the
    arguments. They differ only where a plan declares another precision, length or nullability than the extension
    does; the call then computes the derived type and casts to the declared one.
    """

    function: Function
    arguments: tuple[Argument, ...]
    options: tuple[FunctionOption, ...] = ()
    output_type: Type
    derived_type: Type

    @property
    def type(self) -> Type:
        return self.output_type


class AggregationPhase(Enum):
    """Which part of an aggregation is performed."""

    INITIAL_TO_INTERMEDIATE = "initial to intermediate"
    INTERMEDIATE_TO_INTERMEDIATE = "intermediate to intermediate"
    INITIAL_TO_RESULT = "initial to result"
    INTERMEDIATE_TO_RESULT = "intermediate to result"


class AggregationInvocation(Enum):
    """Whether equal records are merged before they are aggregated."""

    ALL = "all"
    DISTINCT = "distinct"


class SortDirection(Enum):
    """The order of values, and where nulls stand. CLUSTERED: equal values together, in no particular order."""

    ASC_NULLS_FIRST = "ascending, nulls first"
    ASC_NULLS_LAST = "ascending, nulls last"
    DESC_NULLS_FIRST = "descending, nulls first"
    DESC_NULLS_LAST = "descending, nulls last"
    CLUSTERED = "clustered"


@dataclass(frozen=True, slots=True, kw_only=True)
class SortField:
    """What to sort by; ``sort_kind`` is a direction, or a comparison function."""

    expr: Expression
    sort_kind: SortDirection | Function


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateFunction:
    """A call of an aggregate function: what a measure computes. The two types are as in :class:`ScalarFunction`."""

    function: Function
    arguments: tuple[Argument, ...]
    options: tuple[FunctionOption, ...] = ()
    output_type: Type
    derived_type: Type
    phase: AggregationPhase = AggregationPhase.INITIAL_TO_RESULT
    sorts: tuple[SortField, ...] = ()
    invocation: AggregationInvocation = AggregationInvocation.ALL

    @property
    def type(self) -> Type:
        return self.output_type


class BoundsType(Enum):
    """Whether window bounds count records or compare values."""

    ROWS = "rows"
    RANGE = "range"


@dataclass(frozen=True, slots=True)
class Preceding:
    """A bound ``offset`` before the current record, in the order of the sorts."""

    offset: Expression


@dataclass(frozen=True, slots=True)
class Following:
    """A bound ``offset`` after the current record, in the order of the sorts."""

    offset: Expression


@dataclass(frozen=True, slots=True)
class CurrentRow:
    """The current record as a bound."""


@dataclass(frozen=True, slots=True)
class Unbounded:
    """The start (as lower bound) or the end (as upper bound) of the partition."""


Bound: TypeAlias = Preceding | Following | CurrentRow | Unbounded


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowFunction:
    """A call of a window function, or of an aggregate function over a window. Spec: expressions/window_functions."""

    function: Function
    arguments: tuple[Argument, ...]
    options: tuple[FunctionOption, ...] = ()
    output_type: Type
    derived_type: Type
    phase: AggregationPhase = AggregationPhase.INITIAL_TO_RESULT
    sorts: tuple[SortField, ...] = ()
    invocation: AggregationInvocation = AggregationInvocation.ALL
    partitions: tuple[Expression, ...] = ()
    bounds_type: BoundsType | None = None
    lower_bound: Bound = Unbounded()
    upper_bound: Bound = Unbounded()

    @property
    def type(self) -> Type:
        return self.output_type


# --- conditions and lists ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IfClause:
    """One arm of :class:`IfThen`."""

    if_: Expression
    then: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class IfThen:
    """The result of the first arm whose condition is true, or else ``else_`` (null when there is none)."""

    ifs: tuple[IfClause, ...]
    else_: Expression | None = None

    @property
    def type(self) -> Type:
        return _type_of_branches([clause.then for clause in self.ifs], self.else_)


@dataclass(frozen=True, slots=True)
class IfValue:
    """One arm of :class:`SwitchExpression`."""

    if_: Literal
    then: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchExpression:
    """The result of the first arm whose value equals ``match``, or else ``else_`` (null when there is none)."""

    match: Expression
    ifs: tuple[IfValue, ...]
    else_: Expression | None = None

    @property
    def type(self) -> Type:
        return _type_of_branches([clause.then for clause in self.ifs], self.else_)


def _type_of_branches(branches: list[Expression], otherwise: Expression | None) -> Type:
    """The type of a choice: that of its branches, nullable when one is or when none may be chosen."""
    ends = branches if otherwise is None else [*branches, otherwise]
    nullable = otherwise is None or any(branch.type.nullable for branch in ends)
    return with_nullability(ends[0].type, nullable)


@dataclass(frozen=True, slots=True, kw_only=True)
class SingularOrList:
    """Whether a value equals one of the options, by SQL's three-valued logic."""

    value: Expression
    options: tuple[Expression, ...]

    @property
    def type(self) -> Type:
        return Boolean(nullable=any(item.type.nullable for item in (self.value, *self.options)))


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiOrList:
    """Whether several values equal, all at once, those of one of the options."""

    value: tuple[Expression, ...]
    options: tuple[tuple[Expression, ...], ...]

    @property
    def type(self) -> Type:
        rows = (self.value, *self.options)
        return Boolean(nullable=any(item.type.nullable for row in rows for item in row))


class FailureBehavior(Enum):
    """What a cast does with a value that the target type can't hold."""

    UNSPECIFIED = "unspecified"
    RETURN_NULL = "return null"
    THROW_EXCEPTION = "throw exception"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """A value turned into another type."""

    type: Type
    input: Expression
    failure_behavior: FailureBehavior = FailureBehavior.UNSPECIFIED


# --- constructors -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedStruct:
    """A struct made of expressions."""

    fields: tuple[Expression, ...]
    nullable: bool = False
    variation: TypeVariation | None = None

    @property
    def type(self) -> Type:
        types = tuple(field.type for field in self.fields)
        return Struct(types=types, nullable=self.nullable, variation=self.variation)


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedList:
    """A list of at least one expression; all have one type."""

    values: tuple[Expression, ...]
    nullable: bool = False
    variation: TypeVariation | None = None

    @property
    def type(self) -> Type:
        return List(type=_common_type(self.values), nullable=self.nullable, variation=self.variation)


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedMap:
    """A map of at least one pair of key and value expressions."""

    key_values: tuple[tuple[Expression, Expression], ...]
    nullable: bool = False
    variation: TypeVariation | None = None

    @property
    def type(self) -> Type:
        keys = tuple(key for key, _ in self.key_values)
        values = tuple(value for _, value in self.key_values)
        return Map(key=_common_type(keys), value=_common_type(values), nullable=self.nullable, variation=self.variation)


def _common_type(items: tuple[Expression, ...]) -> Type:
    """The type of the first, nullable when any is."""
    return with_nullability(items[0].type, any(item.type.nullable for item in items))


# --- subqueries -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarSubquery:
    """The only value of the only row of a query; null when it has no row. ``Subquery.Scalar`` in protobuf."""

    input: Relation

    @property
    def type(self) -> Type:
        schema = self.input.schema
        if isinstance(schema, OpenStruct):
            return Unbound(nullable=True)
        if len(schema.types) != 1:
            raise InvalidPlanError(f"a scalar subquery has one column, this one has {len(schema.types)}")
        return with_nullability(schema.types[0], True)


@dataclass(frozen=True, slots=True, kw_only=True)
class InPredicate:
    """Whether the needles, as a record, are among the records of the haystack."""

    needles: tuple[Expression, ...]
    haystack: Relation

    @property
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
    """Whether one comparison must be true, or all."""

    ANY = "any"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class SetComparison:
    """A value compared with the values of a query's only column."""

    reduction_op: ReductionOp
    comparison_op: ComparisonOp
    left: Expression
    right: Relation

    @property
    def type(self) -> Type:
        types = (self.left.type, *self.right.schema.types)
        return Boolean(nullable=any(type.nullable for type in types))


# --- parameters, lambdas, context -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamicParameter:
    """A value given when the plan runs. ``parameter_reference`` is the parameter's number, also for users."""

    type: Type
    parameter_reference: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lambda:
    """A function value: parameters (one struct field each) and a body. Spec: expressions/lambda_expressions."""

    parameters: Struct
    body: Expression

    @property
    def type(self) -> Type:
        return Func(parameter_types=self.parameters.types, return_type=self.body.type)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedLambda:
    """A lambda that the plan defines once and refers to from anywhere."""

    lambda_: Lambda
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedLambdaReference:
    """A lambda of the plan's ``named_lambdas``."""

    lambda_: NamedLambda

    @property
    def type(self) -> Type:
        return self.lambda_.lambda_.type


@dataclass(frozen=True, slots=True, kw_only=True)
class LambdaInvocation:
    """A lambda applied to arguments on the spot."""

    lambda_: Lambda | NamedLambdaReference
    arguments: tuple[Expression, ...]

    @property
    def type(self) -> Type:
        match self.lambda_:
            case Lambda(body=body):
                return body.type
            case NamedLambdaReference(lambda_=named):
                return named.lambda_.body.type


class ContextVariable(Enum):
    """What an :class:`ExecutionContextVariable` reads."""

    CURRENT_TIMESTAMP = "current_timestamp"
    CURRENT_TIMEZONE = "current_timezone"
    CURRENT_DATE = "current_date"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionContextVariable:
    """A value of the execution's surroundings: the time, the zone, the date."""

    variable: ContextVariable
    type: Type


@dataclass(frozen=True, slots=True, kw_only=True)
class DetachedExpression:
    """An expression that the message keeps apart (``detached_expressions``) to stay flat; it means the expression."""

    expression: Expression

    @property
    def type(self) -> Type:
        return self.expression.type


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
]

Argument: TypeAlias = Union[EnumArgument, TypeArgument, Expression]

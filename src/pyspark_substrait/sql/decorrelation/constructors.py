"""Expressions and relations that the rewriting adds to a plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    Expression,
    FieldReference,
    Function,
    RootReference,
    ScalarFunction,
    StructField,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import (
    Aggregate,
    DetachedRel,
    Grouping,
    Measure,
    Project,
    Read,
    Reference,
    Relation,
    RelCommon,
    VirtualTable,
)
from pyspark_substrait.model.types import I64, Boolean, NamedStruct, Struct, Type, name_count, with_nullability
from pyspark_substrait.sql.compiler.types import has_map
from pyspark_substrait.sql.conjuncts import BOOLEAN, COMPARISON

__all__ = [
    "FETCHED",
    "NOT_NEGATIVE",
    "ONCE",
    "ONLY_VALUE",
    "all_of",
    "called",
    "column",
    "counted",
    "distinct",
    "empty_relation",
    "internal",
    "keys_not_distinct",
    "negation",
    "not_distinct",
    "null",
    "put_out",
    "selected_columns",
    "truth",
    "with_columns",
]

# Functions that plans can't name: calls.scalar recognizes them by identity.
#: (number of records, value): the value, or an error when there is more than one record
ONLY_VALUE = Function("", "only_value", "")
#: (position of a record from 1, offset, count): whether a fetch keeps the record
FETCHED = Function("", "fetched", "")
#: (bounds of a fetch): true, or an error when one is negative
NOT_NEGATIVE = Function("", "not_negative", "")
#: (): a number that makes Spark compute the relation that contains it once, however often it is used
ONCE = Function("", "once", "")


def internal(function: Function, arguments: Sequence[Expression], type: Type) -> ScalarFunction:
    """A call of one of the functions above."""
    return ScalarFunction(function=function, arguments=tuple(arguments), output_type=type, derived_type=type)


def called(urn: str, name: str, signature: str, arguments: Sequence[Expression], nullable: bool) -> ScalarFunction:
    """Return a call of a standard function with a boolean result."""
    type = Boolean(nullable=nullable)
    function = Function(urn, name, signature)
    return ScalarFunction(function=function, arguments=tuple(arguments), output_type=type, derived_type=type)


def truth(value: bool) -> Literal:
    return Literal(type=Boolean(), value=value)


def null(type: Type) -> Literal:
    return Literal(type=with_nullability(type, True), value=None)


def empty_relation(schema: Struct) -> Relation:
    """Return a relation without records, with the columns of a schema."""
    names = ("",) * sum(1 + name_count(type) for type in schema.types)
    return Read(base_schema=NamedStruct(names=names, struct=schema), read_type=VirtualTable(expressions=()))


def negation(condition: Expression) -> Expression:
    return called(BOOLEAN, "not", "bool", [condition], condition.type.nullable)


def all_of(conditions: Sequence[Expression]) -> Expression:
    """Return the conjunction of the conditions."""
    if len(conditions) == 1:
        return conditions[0]
    if not conditions:
        return truth(True)
    return called(BOOLEAN, "and", "bool", conditions, any(condition.type.nullable for condition in conditions))


def column(schema: Struct, position: int) -> FieldReference:
    """Return a reference to a column of the record that an expression is evaluated on."""
    return FieldReference(root=RootReference(), reference=(StructField(position),), type=schema.types[position])


def not_distinct(left: Expression, right: Expression) -> Expression:
    """Return the condition that two values are the same, null with null."""
    return called(COMPARISON, "is_not_distinct_from", "any_any", [left, right], False)


def keys_not_distinct(schema: Struct, left: int, right: int, count: int) -> list[Expression]:
    """Return the conditions that ``count`` columns from ``left`` on are the same as those from ``right`` on."""
    return [not_distinct(column(schema, left + number), column(schema, right + number)) for number in range(count)]


def selected_columns(relation: Relation, positions: Iterable[int]) -> Relation:
    """The columns of a relation at these positions, in this order."""
    positions = tuple(positions)
    if positions == tuple(range(len(relation.schema.types))):
        return relation
    if isinstance(relation, Reference | DetachedRel):
        return Project(input=relation, expressions=(), common=RelCommon(emit=positions))
    emit = relation.common.emit
    picked = positions if emit is None else tuple(emit[position] for position in positions)
    return replace(relation, common=RelCommon(emit=picked))


def put_out(node: Relation, whole: Relation, columns: Sequence[int]) -> Relation:
    """Return the output of a node that was rewritten to ``whole``, given where its columns before emit are."""
    emit = range(len(columns)) if node.common.emit is None else node.common.emit
    assert len(node.schema.types) == len(emit)
    return selected_columns(whole, [columns[position] for position in emit])


def with_columns(relation: Relation, expressions: Sequence[Expression]) -> Relation:
    """Return the columns of a relation, followed by expressions over them."""
    return Project(input=relation, expressions=tuple(expressions)) if expressions else relation


def distinct(relation: Relation, positions: Sequence[int]) -> Relation:
    """Return the distinct combinations of values in some columns of a relation."""
    schema = relation.schema
    for position in positions:
        if has_map(schema.types[position]):
            raise UnsupportedPlanError(
                f"a subquery that uses the outer column {position} cannot be rewritten for Spark: it is "
                f"{schema.types[position]}, and Spark cannot compare maps",
                hint="Compute the needed part in a column below, and refer to that column",
            )
    return Aggregate(
        input=relation,
        grouping_expressions=tuple(column(schema, position) for position in positions),
        groupings=(Grouping(tuple(range(len(positions)))),),
    )


def counted(relation: Relation, keys: Sequence[int], value: int) -> Relation:
    """For each value of the keys, return the keys, the number of records, and the value of one of them."""
    schema = relation.schema
    generic = "extension:io.substrait:functions_aggregate_generic"
    type = with_nullability(schema.types[value], True)
    count = AggregateFunction(
        function=Function(generic, "count", ""), arguments=(), output_type=I64(), derived_type=I64()
    )
    one = AggregateFunction(
        function=Function(generic, "any_value", "any"),
        arguments=(column(schema, value),),
        output_type=type,
        derived_type=type,
    )
    return Aggregate(
        input=relation,
        grouping_expressions=tuple(column(schema, position) for position in keys),
        groupings=(Grouping(tuple(range(len(keys)))),) if keys else (),
        measures=(Measure(measure=count), Measure(measure=one)),
    )

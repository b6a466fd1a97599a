"""Short ways to write plans of the model down.

Relations are built from tables of Python values, expressions from references and calls; a call finds its implementation
in the standard extensions, so its types are those that a loaded plan would have.
"""

from __future__ import annotations

import decimal
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

import pyspark_substrait as ps
from pyspark_substrait.documents import Plan
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.extensions.signatures import ValueArg
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    AggregationInvocation,
    Expression,
    FieldReference,
    Function,
    NestedStruct,
    OuterReference,
    ReferenceSegment,
    RootReference,
    ScalarFunction,
    SortDirection,
    SortField,
    StructField,
    referenced_type,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.relations import (
    Aggregate,
    Filter,
    Grouping,
    Join,
    JoinType,
    Measure,
    NamedTable,
    Project,
    Read,
    RelationBase,
    RelCommon,
    VirtualTable,
)
from pyspark_substrait.model.types import (
    FP64,
    I32,
    I64,
    Boolean,
    Decimal,
    List,
    Map,
    NamedStruct,
    String,
    Struct,
    Type,
    name_count,
    with_nullability,
)
from pyspark_substrait.spark.arrow_transfer import collected

INT, TEXT, BOOL, LONG, REAL = I32(), String(), Boolean(), I64(), FP64()
#: the same, nullable
INT_, TEXT_, BOOL_, LONG_, REAL_ = (with_nullability(type, True) for type in (INT, TEXT, BOOL, LONG, REAL))

Row = Sequence[Any]
_EXACT = decimal.Context(prec=76)


# tables and plans ----------------------------------------------------------------------------------------------------


def lit(type: Type, value: Any) -> Literal:
    """A literal of a Python value; lists, dicts and tuples become literals of their parts."""
    if value is None:
        return Literal(type=type, value=None)
    match type:
        case List(type=element):
            return Literal(type=type, value=tuple(lit(element, item) for item in value))
        case Map(key=key, value=kind):
            return Literal(type=type, value=tuple((lit(key, k), lit(kind, v)) for k, v in value.items()))
        case Struct(types=types):
            return Literal(type=type, value=tuple(lit(t, v) for t, v in zip(types, value, strict=True)))
        case Decimal(scale=scale):
            return Literal(
                type=type, value=decimal.Decimal(value).quantize(decimal.Decimal(1).scaleb(-scale), context=_EXACT)
            )
        case _:
            return Literal(type=type, value=value)


def number(value: int | None) -> Literal:
    return lit(INT if value is not None else INT_, value)


def long(value: int | None) -> Literal:
    return lit(LONG if value is not None else LONG_, value)


def truth(value: bool | None) -> Literal:
    return lit(BOOL if value is not None else BOOL_, value)


def text(value: str | None) -> Literal:
    return lit(TEXT if value is not None else TEXT_, value)


def schema(types: Sequence[Type], names: Sequence[str] = ()) -> NamedStruct:
    struct = Struct(types=tuple(types))
    return NamedStruct(names=tuple(names) or invented(struct), struct=struct)


def invented(struct: Struct) -> tuple[str, ...]:
    """As many names as a schema needs."""
    return tuple(f"n{position}" for position in range(name_count(struct)))


def values(types: Sequence[Type], rows: Iterable[Row], *, names: Sequence[str] = (), **more: Any) -> Read:
    """A virtual table; cells are Python values or expressions."""
    records = tuple(
        NestedStruct(
            fields=tuple(
                lit(type, cell) if cell is None or isinstance(cell, _PLAIN) else cell
                for type, cell in zip(types, row, strict=True)
            )
        )
        for row in rows
    )
    return Read(base_schema=schema(types, names), read_type=VirtualTable(expressions=records), **more)


_PLAIN = (bool, int, float, str, bytes, list, dict, tuple, decimal.Decimal)


def stored(name: str | tuple[str, ...], columns: Mapping[str, Type], **more: Any) -> Read:
    """A read of a named table with simple columns."""
    names = (name,) if isinstance(name, str) else name
    return Read(base_schema=schema(tuple(columns.values()), tuple(columns)), read_type=NamedTable(names=names), **more)


def plan(relation: RelationBase, names: Sequence[str] = (), *others: RelationBase, **more: Any) -> Plan:
    """The plan whose only root is the relation; ``others`` stand behind it."""
    root = RelRoot(input=relation, names=tuple(names) or invented(relation.schema))  # type: ignore[arg-type]
    return Plan(relations=(root, *others), **{"deep": True, **more})  # type: ignore[arg-type]


def run(spark: SparkSession, relation: RelationBase, **options: Any) -> pa.Table:
    """The result of the relation."""
    return ps.run_query(plan(relation), spark=spark, **options)


def rows(spark: SparkSession, relation: RelationBase, **options: Any) -> list[tuple[Any, ...]]:
    """The result of the relation, row by row."""
    return tuples(run(spark, relation, **options))


def tuples(table: pa.Table) -> list[tuple[Any, ...]]:
    columns = [column.to_pylist() for column in table.columns]
    return list(zip(*columns, strict=True)) if columns else [()] * table.num_rows


def ordered(found: Iterable[Row]) -> list[tuple[Any, ...]]:
    """Rows in an order of their own, nulls first."""
    return sorted((tuple(row) for row in found), key=repr)


# expressions ---------------------------------------------------------------------------------------------------------


def col(input: RelationBase | Struct, position: int, *segments: ReferenceSegment) -> FieldReference:
    """A column of a relation, or something inside it."""
    struct = input if isinstance(input, Struct) else input.schema
    path = (StructField(position), *segments)
    return FieldReference(root=RootReference(), reference=path, type=referenced_type(struct, path))


def outer(
    input: RelationBase | Struct, position: int, *, steps_out: int | None = None, rel_reference: int | None = None
) -> FieldReference:
    """A column of an enclosing query's record."""
    struct = input if isinstance(input, Struct) else input.schema
    path = (StructField(position),)
    root = OuterReference(steps_out=steps_out, rel_reference=rel_reference)
    return FieldReference(root=root, reference=path, type=referenced_type(struct, path))


def both(left: RelationBase, right: RelationBase) -> Struct:
    """The record that the condition of a join sees."""
    return Struct(types=left.schema.types + right.schema.types)


def call(name: str, *arguments: Expression, urn: str | None = None) -> ScalarFunction:
    """A call of a standard scalar function."""
    function, type = _resolved(name, arguments, "scalar", urn)
    return ScalarFunction(function=function, arguments=arguments, output_type=type, derived_type=type)


def aggregate(name: str, *arguments: Expression, distinct: bool = False, **more: Any) -> AggregateFunction:
    """A call of a standard aggregate function."""
    function, type = _resolved(name, arguments, "aggregate", None)
    invocation = AggregationInvocation.DISTINCT if distinct else AggregationInvocation.ALL
    return AggregateFunction(
        function=function, arguments=arguments, output_type=type, derived_type=type, invocation=invocation, **more
    )


def _resolved(name: str, arguments: Sequence[Expression], kind: Any, urn: str | None) -> tuple[Function, Type]:
    found = Registry.default().resolve(urn, name, [ValueArg(argument.type) for argument in arguments], kind)
    assert found.definition is not None and found.output_type is not None
    return Function(found.definition.urn, *found.definition.key.split(":")), found.output_type


def both_true(*conditions: Expression) -> Expression:
    return call("and", *conditions)


# relations -----------------------------------------------------------------------------------------------------------


def emit(*positions: int) -> RelCommon:
    return RelCommon(emit=positions)


def where(input: RelationBase, condition: Expression, **more: Any) -> Filter:
    return Filter(input=input, condition=condition, **more)  # type: ignore[arg-type]


def project(input: RelationBase, *expressions: Expression, keep: bool = False) -> Project:
    """The expressions of the input's records; with ``keep``, behind their columns."""
    width = len(input.schema.types)
    common = RelCommon() if keep else emit(*range(width, width + len(expressions)))
    return Project(input=input, expressions=expressions, common=common)  # type: ignore[arg-type]


def sort(expr: Expression, direction: SortDirection = SortDirection.ASC_NULLS_FIRST) -> SortField:
    return SortField(expr=expr, sort_kind=direction)


def group(
    input: RelationBase,
    keys: Sequence[Expression],
    measures: Sequence[AggregateFunction | Measure],
    sets: Sequence[Sequence[int]] | None = None,
    **more: Any,
) -> Aggregate:
    """An aggregate; without ``sets`` it has the one with all keys, or none when there are no keys."""
    if sets is None:
        sets = [range(len(keys))] if keys else []
    return Aggregate(
        input=input,  # type: ignore[arg-type]
        grouping_expressions=tuple(keys),
        groupings=tuple(Grouping(tuple(references)) for references in sets),
        measures=tuple(item if isinstance(item, Measure) else Measure(measure=item) for item in measures),
        **more,
    )


def join(left: RelationBase, right: RelationBase, condition: Expression, type: JoinType, **more: Any) -> Join:
    return Join(left=left, right=right, expression=condition, type=type, **more)  # type: ignore[arg-type]


# many plans at once --------------------------------------------------------------------------------------------------


def table_names(spark: SparkSession, *, views: bool = True) -> set[str]:
    """The names of the tables of the current database, and of temporary views.

    ``Catalog.listTables`` needs generated code, which the sessions of quick runs don't make.
    """
    return {row.tableName for row in spark.sql("SHOW TABLES").collect() if views or not row.isTemporary}


def answers(
    spark: SparkSession, relations: Sequence[RelationBase | Plan], **options: Any
) -> list[list[tuple[Any, ...]]]:
    """The rows of each relation or plan, in few jobs. For columns whose values JSON has: numbers, text, truth."""
    from pyspark.sql import functions as F

    found: list[list[tuple[Any, ...]]] = [[] for _ in relations]
    for start in range(0, len(relations), _TOGETHER):
        frames = []
        for number_, relation in enumerate(relations[start : start + _TOGETHER], start):
            whole = relation if isinstance(relation, Plan) else plan(relation)
            frame = ps.from_substrait(whole, spark, **options)
            packed = F.to_json(F.array(*(F.to_json(F.array(F.col(name))) for name in frame.columns)))
            frames.append(frame.select(F.lit(number_).alias("n"), packed.alias("r")))
        for row in collected(reduce(lambda one, other: one.unionAll(other), frames)).to_pylist():
            found[row["n"]].append(tuple(json.loads(cell)[0] for cell in json.loads(row["r"])))
    return found


_TOGETHER = 12

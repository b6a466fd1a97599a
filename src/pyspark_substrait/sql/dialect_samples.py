"""A sample of everything that a dialect file can list, except functions: the compiler determines whether it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model import types as t
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.literals import AnyMessage, Literal
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.relations.generate import Generator, GeneratorKind
from pyspark_substrait.model.types import NamedStruct, Struct, Type

__all__ = ["expression_samples", "over", "parameterized_types", "relation_samples", "simple_types"]


def simple_types() -> Iterator[Type]:
    """The types without limits."""
    yield from (t.Boolean(), t.I8(), t.I16(), t.I32(), t.I64(), t.FP32(), t.FP64(), t.String(), t.Binary())
    yield from (t.Date(), t.IntervalYear(), t.UUID(), t.Unbound())
    yield from (Struct(types=(t.I32(),)), t.List(type=t.I32()), t.Map(key=t.I32(), value=t.I32()))
    yield t.Func(parameter_types=(t.I32(),), return_type=t.I32())


_LONGEST: Final = 2**31 - 1


def parameterized_types() -> Iterator[tuple[list[Type], Mapping[str, str]]]:
    """Yield types with limits, each with the names of the limits: in a dialect, and in the model."""
    for kind in (t.PrecisionTime, t.PrecisionTimestamp, t.PrecisionTimestampTZ, t.IntervalDay, t.IntervalCompound):
        yield [kind(precision=precision) for precision in range(13)], {"max_precision": "precision"}
    for sized in (t.VarChar, t.FixedChar, t.FixedBinary):
        yield [sized(length=length) for length in (1, _LONGEST)], {"max_length": "length"}
    decimals: list[Type] = [t.Decimal(precision=number, scale=number) for number in range(1, 39)]
    yield decimals, {"max_precision": "precision", "max_scale": "scale"}


# relations ------------------------------------------------------------------------------------------------------------

_SCHEMA: Final = NamedStruct(names=("a", "l"), struct=Struct(types=(t.I32(), t.List(type=t.I32()))))
_NARROW: Final = NamedStruct(names=("a",), struct=Struct(types=(t.I32(),)))
_UNKNOWN: Final = AnyMessage("type.googleapis.com/unknown", b"")


def _read(kind: r.ReadType, schema: NamedStruct = _SCHEMA) -> Relation:
    return r.Read(base_schema=schema, read_type=kind)


_TABLE: Final = _read(r.NamedTable(names=("t",)))
_ONE: Final = _read(r.NamedTable(names=("t",)), _NARROW)
_TRUE: Final = Literal(type=t.Boolean(), value=True)


def _number(value: int = 1) -> Literal:
    return Literal(type=t.I32(), value=value)


def _column(position: int = 0) -> e.FieldReference:
    return e.FieldReference(
        root=e.RootReference(), reference=(e.StructField(position),), type=_SCHEMA.struct.types[position]
    )


def _call(urn: str, name: str, *arguments: Expression, type: Type) -> e.ScalarFunction:
    short, _, signature = name.partition(":")
    function = e.Function(f"extension:io.substrait:{urn}", short, signature)
    return e.ScalarFunction(function=function, arguments=arguments, output_type=type, derived_type=type)


def relation_samples() -> Iterator[Relation]:
    """A sample of each relation and each of its kinds."""
    yield from _reads()
    yield r.Filter(input=_TABLE, condition=_TRUE)
    yield r.Fetch(input=_TABLE, count_expr=Literal(type=t.I64(), value=1))
    yield r.Aggregate(input=_TABLE, groupings=(r.Grouping((0,)),), grouping_expressions=(_column(),))
    sorts = (e.SortField(expr=_column(), sort_kind=e.SortDirection.ASC_NULLS_FIRST),)
    yield r.Sort(input=_TABLE, sorts=sorts)
    yield r.Project(input=_TABLE, expressions=(_column(),))
    yield r.Cross(left=_TABLE, right=_TABLE)
    yield r.Reference(subtree_ordinal=0, subtree=_TABLE)
    yield r.TopN(input=_TABLE, sorts=sorts, count=Literal(type=t.I64(), value=1), mode=r.FetchMode.ROWS_ONLY)
    yield r.ConsistentPartitionWindow(input=_TABLE, window_functions=(_window_function(),), sorts=sorts)
    yield from _joins()
    for op in r.SetOp:
        yield r.Set(members=(_ONE, _ONE), op=op)
    yield from _writes()
    yield from _physical()
    yield from _extensions()


def _reads() -> Iterator[Relation]:
    yield _TABLE
    yield _read(r.VirtualTable(expressions=(e.NestedStruct(fields=(_number(),)),)), _NARROW)
    file = r.FileOrFiles(path_type="uri_file", path="file:///f", file_format=r.ParquetReadOptions())
    yield _read(r.LocalFiles(items=(file,)))
    yield _read(r.IcebergTable(metadata_uri="file:///m"))
    yield _read(r.ExtensionTable(detail=_UNKNOWN))


def _joins() -> Iterator[Relation]:
    keys = (r.ComparisonJoinKey(left=_column(), right=_column(), comparison=r.SimpleComparisonType.EQ),)
    for kind in r.JoinType:
        yield r.Join(left=_TABLE, right=_TABLE, type=kind, expression=_TRUE)
        yield r.HashJoin(left=_TABLE, right=_TABLE, type=kind, keys=keys)
        yield r.MergeJoin(left=_TABLE, right=_TABLE, type=kind, keys=keys)
        yield r.NestedLoopJoin(left=_TABLE, right=_TABLE, type=kind, expression=_TRUE)
        lateral = r.LateralJoin(left=_TABLE, right=_TABLE, type=kind, expression=_TRUE)
        try:
            _ = lateral.schema
        except InvalidPlanError:
            continue
        yield lateral


def _writes() -> Iterator[Relation]:
    for target in (
        r.NamedObjectWrite(names=("t",)),
        r.ExtensionObject(detail=_UNKNOWN, target=r.InMemoryTable(name="t")),
    ):
        yield r.Write(write_type=target, table_schema=_SCHEMA, op=r.WriteOp.INSERT, input=_TABLE)
        yield r.Ddl(write_type=target, object=r.DdlObject.TABLE, op=r.DdlOp.CREATE, table_schema=_SCHEMA)
    change = r.TransformExpression(transformation=_number(), column_target=0)
    yield r.Update(update_type=r.NamedTable(names=("t",)), table_schema=_SCHEMA, transformations=(change,))


def _physical() -> Iterator[Relation]:
    for kind in (
        r.ScatterFields(fields=(_column(),)),
        r.SingleBucketExpression(_column()),
        r.MultiBucketExpression(_column(1)),
        r.RoundRobin(),
        r.Broadcast(),
    ):
        yield r.Exchange(input=_TABLE, exchange_kind=kind, partition_count=2)
    yield r.Expand(input=_TABLE, fields=(r.SwitchingField(duplicates=(_number(1), _number(2))), _column()))


def _extensions() -> Iterator[Relation]:
    yield r.ExtensionLeaf(detail=_UNKNOWN)
    yield r.ExtensionMulti(detail=_UNKNOWN, members=(_TABLE,))
    yield r.Generate(input=_TABLE, generator=Generator(kind=GeneratorKind.EXPLODE, arguments=1))


# expressions ----------------------------------------------------------------------------------------------------------


def over(node: Expression) -> Relation:
    """Return a relation that evaluates an expression; a function value is an argument, its only place."""
    if isinstance(node.type, t.Func):
        node = _call("functions_list", "transform:list_func", _column(1), node, type=t.List(type=t.I32()))
    return r.Project(input=_TABLE, expressions=(node,))


def expression_samples() -> Iterator[Expression]:
    """A sample of each expression and each of its kinds."""
    yield _number()
    yield _column()
    yield _call("functions_comparison", "is_null:any", _column(), type=t.Boolean())
    yield _window()
    yield e.IfThen(ifs=(e.IfClause(if_=_TRUE, then=_number()),))
    yield e.SwitchExpression(match=_column(), ifs=(e.IfValue(if_=_number(), then=_number()),))
    yield e.SingularOrList(value=_column(), options=(_number(),))
    yield e.MultiOrList(value=(_column(),), options=((_number(),),))
    for behavior in (e.FailureBehavior.RETURN_NULL, e.FailureBehavior.THROW_EXCEPTION):
        nullable = behavior is e.FailureBehavior.RETURN_NULL
        yield e.Cast(type=t.I8(nullable=nullable), input=_column(), failure_behavior=behavior)
    yield e.ScalarSubquery(input=_ONE)
    yield e.InPredicate(needles=(_column(),), haystack=_ONE)
    yield e.SetPredicate(predicate_op=e.PredicateOp.EXISTS, tuples=_ONE)
    yield e.SetComparison(reduction_op=e.ReductionOp.ANY, comparison_op=e.ComparisonOp.EQ, left=_column(), right=_ONE)
    yield e.NestedStruct(fields=(_number(),))
    yield e.NestedList(values=(_number(),))
    yield e.NestedMap(key_values=((_number(), _number()),))
    yield e.DynamicParameter(type=t.I32(), parameter_reference=1)
    yield from _lambdas()
    for variable, type in (
        (e.ContextVariable.CURRENT_TIMESTAMP, t.PrecisionTimestampTZ(precision=6)),
        (e.ContextVariable.CURRENT_TIMEZONE, t.String()),
        (e.ContextVariable.CURRENT_DATE, t.Date()),
    ):
        yield e.ExecutionContextVariable(variable=variable, type=type)


def _lambdas() -> Iterator[Expression]:
    parameter = e.FieldReference(root=e.LambdaParameterReference(), reference=(e.StructField(0),), type=t.I32())
    same = e.Lambda(parameters=Struct(types=(t.I32(),)), body=parameter)
    yield e.LambdaInvocation(lambda_=same, arguments=(_number(),))
    yield same
    yield e.NamedLambdaReference(lambda_=e.NamedLambda(lambda_=same))


def _window() -> e.WindowFunction:
    function = _window_function()
    return e.WindowFunction(
        function=function.function,
        arguments=(),
        output_type=function.output_type,
        derived_type=function.derived_type,
        sorts=(e.SortField(expr=_column(), sort_kind=e.SortDirection.ASC_NULLS_FIRST),),
    )


def _window_function() -> r.WindowRelFunction:
    function = e.Function("extension:io.substrait:functions_arithmetic", "row_number", "")
    type = t.I64(nullable=True)
    return r.WindowRelFunction(function=function, arguments=(), output_type=type, derived_type=type)

"""A sample of every relation."""

from __future__ import annotations

from typing import Any

from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model import types as t
from pyspark_substrait.model.expressions import FieldReference, Function, StructField
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.masks import MaskExpression, StructItem, StructSelect
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.types import NamedStruct, Struct
from pyspark_substrait.proto.write_targets import encoded
from tests.samples.expressions import (
    AMOUNT,
    ARITHMETIC,
    FLAG,
    ID,
    NAME,
    SCHEMA,
    add,
    column,
    equal,
    sum_of_amounts,
    table,
)
from tests.samples.literals import LITERALS, MESSAGE, TRUE, i32, i64, string
from tests.samples.types import URN

EXTENSION = r.AdvancedExtension(
    optimization=(MESSAGE, AnyMessage("type.googleapis.com/google.protobuf.Empty", b"")), enhancement=MESSAGE
)
OPTIMIZATION = r.AdvancedExtension(optimization=(MESSAGE,))
HINT = r.Hint(
    stats=r.Stats(row_count=1e6, record_size=120.5, advanced_extension=OPTIMIZATION),
    constraint=OPTIMIZATION,
    alias="s",
    output_names=("n", "i"),
    advanced_extension=OPTIMIZATION,
    saved_computations=(
        r.SavedComputation(computation_id=1, type=r.ComputationType.HASHTABLE, advanced_extension=OPTIMIZATION),
        r.SavedComputation(computation_id=2, type=r.ComputationType.BLOOM_FILTER),
    ),
    loaded_computations=(
        r.LoadedComputation(
            computation_id_reference=1, type=r.ComputationType.UNKNOWN, advanced_extension=OPTIMIZATION
        ),
        r.LoadedComputation(computation_id_reference=2),
    ),
)
COMMON = r.RelCommon(emit=(2, 0), hint=HINT, advanced_extension=EXTENSION, rel_anchor=9)

_SMALL = Struct(types=(t.I32(), t.String(nullable=True)))
_SMALL_SCHEMA = NamedStruct(names=("key", "label"), struct=_SMALL)
SMALL = r.Read(base_schema=_SMALL_SCHEMA, read_type=r.NamedTable(names=("small",), advanced_extension=EXTENSION))
#: the columns of two small tables side by side
_PAIR = (*_SMALL.types, *_SMALL.types)
KEYS_EQUAL = equal(column(0, _PAIR), column(2, _PAIR))
_CHECK = equal(column(1, _PAIR), column(3, _PAIR))


def _small(type: r.ReadType) -> r.Read:
    return r.Read(base_schema=_SMALL_SCHEMA, read_type=type)


def _file(kind: r.PathType, format: r.FileFormat | None = None) -> r.FileOrFiles:
    return r.FileOrFiles(
        path_type=kind, path=f"file:///{kind}", partition_index=1, start=2, length=3, file_format=format
    )


def outer(anchor: int, position: int) -> FieldReference:
    """A reference to a column of the record of an enclosing relation over the small table."""
    return column(position, _SMALL.types, e.OuterReference(rel_reference=anchor))


def join(type: r.JoinType, **parts: object) -> r.Join:
    """A join of two small tables."""
    return r.Join(left=SMALL, right=SMALL, type=type, expression=KEYS_EQUAL, **parts)  # type: ignore[arg-type]


_HASH_KEYS = (
    r.ComparisonJoinKey(left=column(0, _SMALL.types), right=column(0, _SMALL.types)),
    r.ComparisonJoinKey(
        left=column(1, _SMALL.types),
        right=column(1, _SMALL.types),
        comparison=r.SimpleComparisonType.IS_NOT_DISTINCT_FROM,
    ),
    r.ComparisonJoinKey(
        left=column(1, _SMALL.types),
        right=column(1, _SMALL.types),
        comparison=r.SimpleComparisonType.MIGHT_EQUAL,
    ),
    r.ComparisonJoinKey(
        left=column(1, _SMALL.types), right=column(1, _SMALL.types), comparison=Function(URN, "same_sound", "str_str")
    ),
)
_WINDOW_PARTS: dict[str, Any] = {
    "arguments": (AMOUNT,),
    "output_type": t.I64(nullable=True),
    "derived_type": t.I64(nullable=True),
}

READS: dict[str, Relation] = {
    "named table": table(),
    "read with filters and projection": r.Read(
        common=COMMON,
        base_schema=SCHEMA,
        read_type=r.NamedTable(names=("sales",)),
        filter=equal(ID, i32(1)),
        best_effort_filter=FLAG,
        projection=MaskExpression(select=StructSelect((StructItem(2), StructItem(0), StructItem(1)))),
        advanced_extension=EXTENSION,
    ),
    "virtual table": _small(
        r.VirtualTable(
            expressions=(
                e.NestedStruct(fields=(i32(1), LITERALS["string"])),
                e.NestedStruct(fields=(add(i32(1), i32(1)), string("b"))),
            )
        )
    ),
    "empty virtual table": _small(r.VirtualTable(expressions=())),
    "local files": _small(
        r.LocalFiles(
            items=(
                _file("uri_path"),
                _file("uri_path_glob", r.ArrowReadOptions()),
                _file("uri_file", r.ParquetReadOptions()),
                _file("uri_folder", r.OrcReadOptions()),
                _file("uri_file", r.DwrfReadOptions()),
                _file("uri_file", MESSAGE),
                _file(
                    "uri_file",
                    r.DelimiterSeparatedTextReadOptions(
                        field_delimiter="\t",
                        max_line_size=10_000,
                        quote='"',
                        header_lines_to_skip=1,
                        escape="\\",
                        value_treated_as_null="",
                    ),
                ),
                _file("uri_file", r.DelimiterSeparatedTextReadOptions(field_delimiter=",")),
            ),
            advanced_extension=EXTENSION,
        )
    ),
    "extension table": _small(r.ExtensionTable(detail=MESSAGE)),
    "Iceberg table": _small(r.IcebergTable(metadata_uri="s3://bucket/table/v1.metadata.json")),
    "Iceberg table by id": _small(r.IcebergTable(metadata_uri="s3://bucket/v1.json", snapshot_id="42")),
    "Iceberg table by time": _small(r.IcebergTable(metadata_uri="s3://bucket/v1.json", snapshot_timestamp=1)),
}

JOINS: dict[str, Relation] = {
    **{f"join {type.value}": join(type, advanced_extension=EXTENSION) for type in r.JoinType},
    "join with a filter": join(r.JoinType.LEFT, post_join_filter=equal(column(0, _PAIR), i32(1))),
    **{
        f"hash join {type.value}": r.HashJoin(
            left=SMALL, right=SMALL, type=type, keys=_HASH_KEYS, advanced_extension=EXTENSION
        )
        for type in r.JoinType
    },
    "hash join with filters": r.HashJoin(
        left=SMALL,
        right=SMALL,
        type=r.JoinType.INNER,
        keys=_HASH_KEYS[:1],
        residual_expression=_CHECK,
        post_join_filter=_CHECK,
        build_input=r.BuildInput.LEFT,
    ),
    **{
        f"merge join {type.value}": r.MergeJoin(
            left=SMALL, right=SMALL, type=type, keys=_HASH_KEYS, advanced_extension=EXTENSION
        )
        for type in r.JoinType
    },
    "merge join with filters": r.MergeJoin(
        left=SMALL,
        right=SMALL,
        type=r.JoinType.INNER,
        keys=_HASH_KEYS[:1],
        residual_expression=_CHECK,
        post_join_filter=_CHECK,
    ),
    **{
        f"nested loop join {type.value}": r.NestedLoopJoin(
            left=SMALL, right=SMALL, type=type, expression=KEYS_EQUAL, advanced_extension=EXTENSION
        )
        for type in r.JoinType
    },
    "nested loop join of all": r.NestedLoopJoin(left=SMALL, right=SMALL, type=r.JoinType.INNER),
    "cross": r.Cross(left=SMALL, right=SMALL, advanced_extension=EXTENSION),
    "lateral join": r.LateralJoin(
        common=r.RelCommon(rel_anchor=3),
        left=SMALL,
        right=r.Filter(input=SMALL, condition=equal(column(0, _SMALL.types), outer(3, 0))),
        type=r.JoinType.LEFT,
        expression=TRUE,
        post_join_filter=equal(column(0, _PAIR), i32(1)),
        advanced_extension=EXTENSION,
    ),
    "lateral join without condition": r.LateralJoin(left=SMALL, right=SMALL, type=r.JoinType.LEFT_MARK),
}

LOGICAL: dict[str, Relation] = {
    "filter": r.Filter(common=COMMON, input=table(), condition=FLAG, advanced_extension=EXTENSION),
    "filter by a correlated subquery": r.Filter(
        common=r.RelCommon(rel_anchor=5),
        input=SMALL,
        condition=e.SetPredicate(
            predicate_op=e.PredicateOp.EXISTS,
            tuples=r.Filter(input=SMALL, condition=equal(column(0, _SMALL.types), outer(5, 0))),
        ),
    ),
    "filter by a subquery two levels down": r.Filter(
        input=SMALL,
        condition=e.SetPredicate(
            predicate_op=e.PredicateOp.EXISTS,
            tuples=r.Filter(
                input=table(),
                condition=e.SetPredicate(
                    predicate_op=e.PredicateOp.EXISTS,
                    tuples=r.Filter(
                        input=SMALL,
                        condition=equal(
                            column(4, SCHEMA.struct.types, e.OuterReference(steps_out=1)),
                            e.Cast(type=t.Date(), input=column(0, _SMALL.types, e.OuterReference(steps_out=2))),
                        ),
                    ),
                ),
            ),
        ),
    ),
    "fetch": r.Fetch(input=table(), offset_expr=i64(5), count_expr=i64(0), advanced_extension=EXTENSION),
    "fetch all": r.Fetch(input=table()),
    "aggregate": r.Aggregate(
        input=table(),
        groupings=(r.Grouping((0,)),),
        grouping_expressions=(NAME,),
        measures=(
            r.Measure(measure=sum_of_amounts(), filter=FLAG),
            r.Measure(
                measure=sum_of_amounts(
                    invocation=e.AggregationInvocation.DISTINCT,
                    sorts=(e.SortField(expr=ID, sort_kind=e.SortDirection.CLUSTERED),),
                    options=(e.FunctionOption("overflow", ("ERROR",)),),
                )
            ),
        ),
        advanced_extension=EXTENSION,
    ),
    "aggregate without groups": r.Aggregate(input=table(), measures=(r.Measure(measure=sum_of_amounts()),)),
    "aggregate by sets": r.Aggregate(
        input=table(),
        groupings=(r.Grouping((0, 1)), r.Grouping((1,)), r.Grouping(())),
        grouping_expressions=(ID, column(4)),
    ),
    "aggregate to intermediate": r.Aggregate(
        input=table(),
        measures=tuple(
            r.Measure(
                measure=e.AggregateFunction(
                    function=Function(URN, "sketch", "i64"),
                    arguments=(AMOUNT,),
                    output_type=t.Binary(),
                    derived_type=t.Binary(),
                    phase=phase,
                )
            )
            for phase in e.AggregationPhase
        ),
    ),
    "sort": r.Sort(
        input=table(),
        sorts=(
            *(e.SortField(expr=ID, sort_kind=direction) for direction in e.SortDirection),
            e.SortField(expr=NAME, sort_kind=Function(URN, "collate", "str_str")),
        ),
        advanced_extension=EXTENSION,
    ),
    "project": r.Project(input=table(), expressions=(add(ID, i32(1)), NAME), advanced_extension=EXTENSION),
    "project with an empty emit": r.Project(common=r.RelCommon(emit=()), input=table(), expressions=(ID,)),
    **{f"set {op.value}": r.Set(members=(SMALL, SMALL, SMALL), op=op, advanced_extension=EXTENSION) for op in r.SetOp},
    "top n": r.TopN(
        input=table(),
        sorts=(e.SortField(expr=ID, sort_kind=e.SortDirection.ASC_NULLS_FIRST),),
        offset=i64(1),
        count=i64(10),
        mode=r.FetchMode.WITH_TIES,
        advanced_extension=EXTENSION,
    ),
    "top n rows only": r.TopN(input=table(), sorts=(), count=i64(1), mode=r.FetchMode.ROWS_ONLY),
    "detached": r.DetachedRel(relation=r.Filter(input=r.DetachedRel(relation=table()), condition=FLAG)),
}

PHYSICAL: dict[str, Relation] = {
    "window": r.ConsistentPartitionWindow(
        input=table(),
        window_functions=(
            r.WindowRelFunction(
                function=Function(ARITHMETIC, "sum", "i64"),
                options=(e.FunctionOption("overflow", ("ERROR",)),),
                invocation=e.AggregationInvocation.DISTINCT,
                lower_bound=e.Preceding(i64(3)),
                upper_bound=e.CurrentRow(),
                bounds_type=e.BoundsType.ROWS,
                **_WINDOW_PARTS,
            ),
            r.WindowRelFunction(function=Function(ARITHMETIC, "sum", "i64"), **_WINDOW_PARTS),
        ),
        partition_expressions=(NAME,),
        sorts=(e.SortField(expr=ID, sort_kind=e.SortDirection.ASC_NULLS_LAST),),
        advanced_extension=EXTENSION,
    ),
    "expand": r.Expand(
        input=table(),
        fields=(r.SwitchingField((ID, e.Cast(type=t.I32(nullable=True), input=NAME))), NAME),
        advanced_extension=EXTENSION,
    ),
    "exchange by fields": r.Exchange(
        input=table(),
        exchange_kind=r.ScatterFields((ID, NAME)),
        partition_count=4,
        targets=(
            r.ExchangeTarget(partition_id=(0, 1), target_type="grpc://one"),
            r.ExchangeTarget(partition_id=(2,), target_type=MESSAGE),
            r.ExchangeTarget(partition_id=(3,)),
        ),
        advanced_extension=EXTENSION,
    ),
    "exchange to a bucket": r.Exchange(input=table(), exchange_kind=r.SingleBucketExpression(ID)),
    "exchange to buckets": r.Exchange(
        input=table(), exchange_kind=r.MultiBucketExpression(e.NestedList(values=(ID,)), constrained_to_count=True)
    ),
    "exchange in turn": r.Exchange(input=table(), exchange_kind=r.RoundRobin(exact=True)),
    "exchange to all": r.Exchange(input=table(), exchange_kind=r.Broadcast()),
}


def _detail(target: r.InMemoryTable | r.Files) -> AnyMessage:
    message = encoded(target)
    return AnyMessage(message.type_url, message.value)


_TARGETS: dict[str, r.InMemoryTable | r.Files] = {
    "in memory": r.InMemoryTable(name="small", pin=True),
    "files": r.Files(path="/data/{label}"),
}

WRITING: dict[str, Relation] = {
    **{
        f"write {op.value}": r.Write(
            write_type=r.NamedObjectWrite(names=("shop", "small"), advanced_extension=EXTENSION),
            table_schema=_SMALL_SCHEMA,
            op=op,
            input=SMALL,
            output=r.OutputMode.NO_OUTPUT,
            advanced_extension=EXTENSION,
        )
        for op in r.WriteOp
    },
    **{
        f"write create mode {mode.value}": r.Write(
            common=r.RelCommon(rel_anchor=1),
            write_type=r.ExtensionObject(detail=MESSAGE),
            table_schema=_SMALL_SCHEMA,
            op=r.WriteOp.CTAS,
            input=SMALL,
            create_mode=mode,
            output=r.OutputMode.MODIFIED_RECORDS,
        )
        for mode in r.CreateMode
    },
    **{
        f"ddl {op.value}": r.Ddl(
            write_type=r.NamedObjectWrite(names=("small",), advanced_extension=EXTENSION),
            object=r.DdlObject.TABLE,
            op=op,
            table_schema=_SMALL_SCHEMA,
            table_defaults=(i32(0), string("?")),
            advanced_extension=EXTENSION,
        )
        for op in r.DdlOp
    },
    **{
        f"write {name}": r.Write(
            write_type=r.ExtensionObject(detail=_detail(target), target=target),
            table_schema=_SMALL_SCHEMA,
            op=r.WriteOp.INSERT,
            input=SMALL,
            output=r.OutputMode.NO_OUTPUT,
        )
        for name, target in _TARGETS.items()
    },
    "ddl of a view": r.Ddl(
        common=r.RelCommon(rel_anchor=1),
        write_type=r.ExtensionObject(detail=MESSAGE),
        object=r.DdlObject.VIEW,
        op=r.DdlOp.CREATE,
        view_definition=SMALL,
    ),
    "update": r.Update(
        common=r.RelCommon(rel_anchor=1),
        update_type=r.NamedTable(names=("small",), advanced_extension=EXTENSION),
        table_schema=_SMALL_SCHEMA,
        condition=equal(column(0, _SMALL.types), i32(1)),
        transformations=(r.TransformExpression(transformation=string("new"), column_target=1),),
        advanced_extension=EXTENSION,
    ),
}

EXTENSIONS: dict[str, Relation] = {
    "extension leaf": r.ExtensionLeaf(common=r.RelCommon(rel_anchor=1), detail=MESSAGE),
    "extension leaf without detail": r.ExtensionLeaf(),
    "extension single": r.ExtensionSingle(common=r.RelCommon(emit=(0, 1)), input=SMALL, detail=MESSAGE),
    "extension multi": r.ExtensionMulti(common=r.RelCommon(rel_anchor=1), members=(SMALL, table()), detail=MESSAGE),
    "filter over an extension": r.Filter(
        input=r.ExtensionLeaf(detail=MESSAGE),
        condition=e.ScalarFunction(
            function=Function("extension:io.substrait:functions_comparison", "equal", "any_any"),
            arguments=(
                FieldReference(root=e.RootReference(), reference=(StructField(3),), type=t.Unbound(nullable=True)),
                i32(1),
            ),
            output_type=t.Boolean(nullable=True),
            derived_type=t.Boolean(nullable=True),
        ),
    ),
}


def _generated(kind: r.GeneratorKind, *arguments: t.Type, rows: int | None = None, outer: bool = False) -> Relation:
    """A generator over a table with a key and the arguments."""
    names = ["key"]
    for number, type in enumerate(arguments):
        names += [f"argument_{number}", *(f"field_{field}" for field in range(t.name_count(type)))]
    schema = NamedStruct(names=tuple(names), struct=Struct(types=(t.I32(), *arguments)))
    read = r.Read(base_schema=schema, read_type=r.NamedTable(names=("nested",)))
    generator = r.Generator(kind=kind, arguments=len(arguments), rows=rows, outer=outer)
    return r.Generate(common=r.RelCommon(rel_anchor=1), input=read, generator=generator)


GENERATES: dict[str, Relation] = {
    "explode": _generated(r.GeneratorKind.EXPLODE, t.List(type=t.I32())),
    "posexplode outer": _generated(r.GeneratorKind.POSEXPLODE, t.Map(key=t.String(), value=t.I64()), outer=True),
    "inline": _generated(r.GeneratorKind.INLINE, t.List(type=_SMALL)),
    "stack": _generated(r.GeneratorKind.STACK, t.I32(), t.String(), t.I32(), rows=2),
    "json_tuple": _generated(r.GeneratorKind.JSON_TUPLE, t.String(), t.String()),
}

#: all but :class:`Reference`, which needs a plan
RELATIONS: dict[str, Relation] = {**READS, **JOINS, **LOGICAL, **PHYSICAL, **WRITING, **EXTENSIONS, **GENERATES}

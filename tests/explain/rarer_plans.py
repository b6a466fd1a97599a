"""The nodes that the plans next door leave out, and those that only tolerant reading makes."""

from __future__ import annotations

from pyspark_substrait.model.expressions import (
    BrokenExpression,
    DetachedExpression,
    FieldReference,
    Function,
    Lambda,
    LambdaInvocation,
    LambdaParameterReference,
    MultiOrList,
    NestedList,
    NestedMap,
    NestedStruct,
    RootReference,
    SortDirection,
    SortField,
    StructField,
)
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.masks import (
    ListItem,
    ListSelect,
    ListSlice,
    MapKeyExpression,
    MapKeySelect,
    MapSelect,
    MaskExpression,
    StructItem,
    StructSelect,
)
from pyspark_substrait.model.plan import Plan, RelRoot
from pyspark_substrait.model.relations import (
    AdvancedExtension,
    Broadcast,
    BrokenRelation,
    BuildInput,
    ComputationType,
    Cross,
    DelimiterSeparatedTextReadOptions,
    Exchange,
    ExchangeTarget,
    ExtensionLeaf,
    ExtensionMulti,
    ExtensionTable,
    FetchMode,
    FileOrFiles,
    Filter,
    HashJoin,
    Hint,
    IcebergTable,
    JoinType,
    LoadedComputation,
    LocalFiles,
    MergeJoin,
    MultiBucketExpression,
    NestedLoopJoin,
    ParquetReadOptions,
    Project,
    Read,
    RelCommon,
    RoundRobin,
    SavedComputation,
    Set,
    SetOp,
    SingleBucketExpression,
    TopN,
)
from pyspark_substrait.model.relations.joins import ComparisonJoinKey, SimpleComparisonType
from pyspark_substrait.model.types import I32, Boolean, List, Map, NamedStruct, String, Struct, Type
from tests.explain.plans import BOOL, MONEY, VERSION, call, lit, ref, table

MESSAGE = AnyMessage("type.googleapis.com/example.Detail", b"\x01")
INT: Type = I32()


def rarer() -> Plan:
    """Physical joins and exchanges, files, masks, constructors."""
    schema = NamedStruct(names=("a", "b"), struct=Struct(types=(INT, INT)))
    deep = NamedStruct(
        names=("s", "x", "y", "l", "m"),
        struct=Struct(types=(Struct(types=(INT, INT)), List(type=INT), Map(key=String(), value=INT))),
    )
    mask = MaskExpression(
        select=StructSelect(
            (
                StructItem(0, StructSelect((StructItem(1),))),
                StructItem(1, ListSelect((ListItem(0), ListSlice(2, 4)))),
                StructItem(2, MapSelect(MapKeyExpression("k*"))),
            )
        ),
        maintain_singular_struct=True,
    )
    files = Read(
        base_schema=schema,
        read_type=LocalFiles(
            items=(
                FileOrFiles(path_type="uri_file", path="/a.parquet", file_format=ParquetReadOptions()),
                FileOrFiles(
                    path_type="uri_path_glob",
                    path="/*.csv",
                    partition_index=2,
                    start=1024,
                    length=2048,
                    file_format=DelimiterSeparatedTextReadOptions(
                        field_delimiter="\t", quote='"', header_lines_to_skip=1, value_treated_as_null=""
                    ),
                ),
            )
        ),
    )
    iceberg = Read(base_schema=schema, read_type=IcebergTable(metadata_uri="s3://b/meta.json", snapshot_id="7"))
    other = Read(base_schema=deep, read_type=ExtensionTable(detail=MESSAGE), projection=mask)
    hint = Hint(
        saved_computations=(SavedComputation(computation_id=1, type=ComputationType.HASHTABLE),),
        loaded_computations=(LoadedComputation(computation_id_reference=2, type=ComputationType.BLOOM_FILTER),),
    )
    merged = MergeJoin(
        left=files,
        right=iceberg,
        type=JoinType.LEFT_MARK,
        keys=(
            ComparisonJoinKey(
                left=ref(INT, 0), right=ref(INT, 1), comparison=SimpleComparisonType.IS_NOT_DISTINCT_FROM
            ),
            ComparisonJoinKey(left=ref(INT, 1), right=ref(INT, 0), comparison=Function("urn", "near", "i32_i32")),
        ),
        residual_expression=call("lt", ref(INT, 0), ref(INT, 3), type=Boolean()),
        post_join_filter=ref(BOOL, 2),
        common=RelCommon(hint=hint),
    )
    looped = NestedLoopJoin(
        left=merged, right=other, type=JoinType.OUTER, expression=call("gt", ref(INT, 0), ref(INT, 1), type=Boolean())
    )
    hashed = HashJoin(
        left=table("p", k=INT, v=INT),
        right=table("q", k=INT, w=INT),
        type=JoinType.LEFT_SINGLE,
        keys=(ComparisonJoinKey(left=ref(INT, 0), right=ref(INT, 0), comparison=SimpleComparisonType.MIGHT_EQUAL),),
        build_input=BuildInput.LEFT,
    )
    pairs = MultiOrList(
        value=(ref(INT, 0), ref(INT, 1)), options=((lit(INT, 1), lit(INT, 2)), (lit(INT, 3), ref(INT, 3)))
    )
    own = FieldReference(root=LambdaParameterReference(), reference=(StructField(0),), type=INT)
    increment = Lambda(parameters=Struct(types=(INT,)), body=call("add", own, lit(INT, 1), type=INT, urn="arithmetic"))
    flat = DetachedExpression(expression=call("abs", ref(INT, 1), type=INT, urn="arithmetic"))
    record = NestedStruct(fields=(ref(INT, 0), lit(String(), "x")), nullable=True)
    masked = FieldReference(
        root=RootReference(),
        reference=MaskExpression(select=StructSelect((StructItem(1), StructItem(0)))),
        type=Struct(types=(INT, INT)),
    )
    by_key = FieldReference(
        root=NestedMap(key_values=((lit(String(), "k"), ref(INT, 0)),)),
        reference=MaskExpression(select=StructSelect((StructItem(0, MapSelect(MapKeySelect("k"))),))),
        type=Struct(types=(INT,)),
    )
    shown = Project(
        input=hashed,
        expressions=(
            pairs,
            LambdaInvocation(lambda_=increment, arguments=(ref(INT, 1),)),
            flat,
            flat,
            NestedList(values=(ref(INT, 0), ref(INT, 2))),
            FieldReference(root=record, reference=(StructField(1),), type=String(nullable=True)),
            masked,
            by_key,
        ),
    )
    sorts = (
        SortField(expr=ref(INT, 0), sort_kind=SortDirection.CLUSTERED),
        SortField(expr=ref(INT, 1), sort_kind=Function("urn", "by_length", "i32_i32")),
    )
    top = TopN(input=table("t", a=INT, b=INT), sorts=sorts, count=lit(INT, 3), mode=FetchMode.WITH_TIES)
    target = ExchangeTarget(partition_id=(0, 1), target_type="host:1")
    spread = Exchange(input=top, exchange_kind=Broadcast(), targets=(target, ExchangeTarget(partition_id=(2,))))
    turned = Exchange(input=spread, exchange_kind=RoundRobin(exact=True))
    one = Exchange(input=turned, exchange_kind=SingleBucketExpression(ref(INT, 0)))
    many = Exchange(input=one, exchange_kind=MultiBucketExpression(ref(INT, 1), True))
    leaf = ExtensionLeaf(detail=MESSAGE, common=RelCommon(emit=(3, 1)))
    multi = ExtensionMulti(members=(leaf, many))
    changed = RelCommon(advanced_extension=AdvancedExtension(optimization=(MESSAGE,), enhancement=MESSAGE))
    crossed = Cross(left=many, right=multi, common=changed)
    return Plan(relations=(looped, shown, crossed), version=VERSION)


def unreadable() -> Plan:
    """What reading that goes on after faults makes of parts that it can't understand."""
    orders = table("orders", id=I32(), price=MONEY)
    cast = BrokenExpression(kind="cast", fault="a type is missing", parts=(ref(MONEY, 1),))
    nothing = BrokenExpression(kind="", fault="an expression is missing")
    kept = Filter(input=orders, condition=call("and", cast, call("not", nothing, type=BOOL), type=BOOL, urn="boolean"))
    member = BrokenRelation(kind="hash_join", fault="a relation is missing", members=(kept, orders))
    top = Project(input=member, expressions=(ref(I32(), 1),), common=RelCommon(emit=(4,)))
    known = BrokenRelation(
        kind="sort",
        fault="the sort direction is missing",
        members=(orders,),
        record=orders.schema,
        record_names=orders.names,
    )
    gone = BrokenRelation(kind="", fault="a relation is missing")
    return Plan(relations=(RelRoot(input=top, names=("x",)), known, Set(members=(gone, orders), op=SetOp.UNION_ALL)))

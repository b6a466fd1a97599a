"""Plans built by hand, each with a page beside it (``pages/<name>.txt``) that a person has checked against it."""

from __future__ import annotations

import decimal
from typing import Any

from pyspark_substrait.model.expressions import (
    AggregateFunction,
    AggregationInvocation,
    AggregationPhase,
    BoundsType,
    Cast,
    ComparisonOp,
    ContextVariable,
    CurrentRow,
    DynamicParameter,
    EnumArgument,
    ExecutionContextVariable,
    Expression,
    FailureBehavior,
    FieldReference,
    Following,
    Function,
    FunctionOption,
    IfClause,
    IfThen,
    IfValue,
    InPredicate,
    Lambda,
    LambdaParameterReference,
    ListElement,
    MapKey,
    NamedLambda,
    NamedLambdaReference,
    NestedStruct,
    OuterReference,
    Preceding,
    PredicateOp,
    ReductionOp,
    RootReference,
    ScalarFunction,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
    SingularOrList,
    SortDirection,
    SortField,
    StructField,
    SwitchExpression,
    WindowFunction,
)
from pyspark_substrait.model.literals import AnyMessage, DayTime, Literal, LiteralValue
from pyspark_substrait.model.masks import MaskExpression, StructItem, StructSelect
from pyspark_substrait.model.notes import Note
from pyspark_substrait.model.plan import (
    DynamicParameterBinding,
    ExpressionReference,
    ExtendedExpression,
    Plan,
    RelRoot,
    Version,
)
from pyspark_substrait.model.relations import (
    Aggregate,
    ConsistentPartitionWindow,
    CreateMode,
    Ddl,
    DdlObject,
    DdlOp,
    DetachedRel,
    Exchange,
    Expand,
    ExtensionSingle,
    Fetch,
    Filter,
    Generate,
    Generator,
    GeneratorKind,
    Grouping,
    HashJoin,
    Hint,
    Join,
    JoinType,
    LateralJoin,
    Measure,
    NamedObjectWrite,
    NamedTable,
    OutputMode,
    Project,
    Read,
    Reference,
    Relation,
    RelCommon,
    ScatterFields,
    Set,
    SetOp,
    Sort,
    Stats,
    SwitchingField,
    TransformExpression,
    Update,
    VirtualTable,
    WindowRelFunction,
    Write,
    WriteOp,
)
from pyspark_substrait.model.relations.joins import ComparisonJoinKey
from pyspark_substrait.model.types import (
    I32,
    I64,
    Boolean,
    Date,
    Decimal,
    IntervalDay,
    List,
    Map,
    NamedStruct,
    String,
    Struct,
    Type,
)

VERSION = Version(minor_number=108, producer="hand")


def ref(type: Type, *path: int) -> FieldReference:
    return FieldReference(root=RootReference(), reference=tuple(StructField(p) for p in path), type=type)


def call(
    name: str, *arguments: Expression | EnumArgument, type: Type, urn: str = "comparison", **options: str
) -> ScalarFunction:
    return ScalarFunction(
        function=Function(f"extension:io.substrait:functions_{urn}", name, ""),
        arguments=arguments,
        options=tuple(FunctionOption(key, (value,)) for key, value in options.items()),
        output_type=type,
        derived_type=type,
    )


def aggregate(name: str, *arguments: Expression, type: Type, **more: Any) -> AggregateFunction:
    function = Function("extension:io.substrait:functions_aggregate_generic", name, "")
    return AggregateFunction(function=function, arguments=arguments, output_type=type, derived_type=type, **more)


def lit(type: Type, value: LiteralValue) -> Literal:
    return Literal(type=type, value=value)


def table(name: str, **columns: Type) -> Read:
    schema = NamedStruct(names=tuple(columns), struct=Struct(types=tuple(columns.values())))
    return Read(base_schema=schema, read_type=NamedTable(names=(name,)))


MONEY = Decimal(precision=10, scale=2, nullable=True)
TOTAL = Decimal(precision=38, scale=2, nullable=True)
BOOL = Boolean(nullable=True)


def tutorial() -> Plan:
    """The sales of the products in one category: a read with nested columns, a join, an aggregate."""
    orders = table("orders", product_id=I64(), quantity=I32(), order_date=Date(), price=MONEY)
    details = Struct(types=(String(), I32(nullable=True)), nullable=True)
    products = Read(
        base_schema=NamedStruct(
            names=("product_id", "categories", "details", "manufacturer", "year_created", "product_name"),
            struct=Struct(types=(I64(), List(type=String(), nullable=True), details, String(nullable=True))),
        ),
        read_type=NamedTable(names=("shop", "products")),
    )
    position = call("index_in", lit(String(), "Computers"), ref(products.schema.types[1], 1), type=I64(nullable=True))
    kept = Filter(input=products, condition=call("is_null", position, type=Boolean()))
    joined = Join(
        left=orders,
        right=kept,
        type=JoinType.INNER,
        expression=call("equal", ref(I64(), 0), ref(I64(), 4), type=Boolean()),
    )
    year = Filter(input=joined, condition=call("gte", ref(I32(nullable=True), 6, 1), lit(I32(), 2001), type=BOOL))
    sales = call(
        "multiply",
        ref(MONEY, 3),
        Cast(type=MONEY, input=ref(I32(), 1), failure_behavior=FailureBehavior.THROW_EXCEPTION),
        type=TOTAL,
        urn="arithmetic_decimal",
    )
    total = Aggregate(
        input=year,
        grouping_expressions=(ref(String(nullable=True), 7), ref(I64(), 0)),
        groupings=(Grouping((0, 1)),),
        measures=(Measure(measure=aggregate("sum", sales, type=TOTAL)),),
    )
    return Plan(
        relations=(RelRoot(input=total, names=("product_name", "product_id", "sales")),),
        version=Version(minor_number=108, producer="validator-test"),
        original_version="0.20.0",
        upgrades=tuple(Note(rule="uri-to-urn", path="", before="a", after="b") for _ in range(2)),
        notes=tuple(Note(rule="signature", path="", before="a", after="b") for _ in range(3)),
    )


def subqueries() -> Plan:
    """Correlated subqueries of every kind, one of them inside another."""
    part = table("part", p_partkey=I64(), p_size=I32(), p_name=String())
    supply = table("partsupp", ps_partkey=I64(), ps_cost=MONEY)
    outer = FieldReference(root=OuterReference(steps_out=1), reference=(StructField(0),), type=I64())
    farther = FieldReference(root=OuterReference(steps_out=2), reference=(StructField(0),), type=I64())
    anchored = FieldReference(root=OuterReference(rel_reference=7), reference=(StructField(0),), type=I64())
    own = call("equal", ref(I64(), 0), outer, type=Boolean())
    cheapest = Aggregate(
        input=Filter(input=supply, condition=own),
        measures=(Measure(measure=aggregate("min", ref(MONEY, 1), type=MONEY)),),
    )
    inner = Filter(input=supply, condition=call("not_equal", ref(I64(), 0), farther, type=Boolean()))
    middle = Filter(input=supply, condition=SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=inner))
    by_anchor = Filter(input=supply, condition=call("equal", ref(I64(), 0), anchored, type=Boolean()))
    keys = Project(input=supply, expressions=(ref(I64(), 0),), common=RelCommon(emit=(2,)))
    condition = call(
        "and",
        call("equal", ScalarSubquery(input=cheapest), lit(MONEY, decimal.Decimal("1.50")), type=BOOL),
        call("not", SetPredicate(predicate_op=PredicateOp.UNIQUE, tuples=middle), type=BOOL, urn="boolean"),
        InPredicate(needles=(ref(I64(), 0),), haystack=keys),
        SetComparison(reduction_op=ReductionOp.ALL, comparison_op=ComparisonOp.GE, left=ref(I32(), 1), right=by_anchor),
        type=BOOL,
        urn="boolean",
    )
    top = Filter(input=part, condition=condition, common=RelCommon(rel_anchor=7, emit=(2, 0)))
    return Plan(relations=(RelRoot(input=top, names=("name", "key")),), version=VERSION)


def expressions() -> Plan:
    """Operators and their precedence, choices, literals, casts, lambdas, parameters."""
    i32, text = I32(), String(nullable=True)
    source = Read(
        base_schema=NamedStruct(
            names=("a", "b", "my col", "s", "x", "inner", "m", "NULL", "p0"),
            struct=Struct(
                types=(
                    i32,
                    i32,
                    text,
                    Struct(types=(i32, List(type=Struct(types=(i32,))))),
                    Map(key=String(), value=i32),
                    i32,
                    i32,
                )
            ),
        ),
        read_type=NamedTable(names=("t",)),
    )
    a, b = ref(i32, 0), ref(i32, 1)

    def arithmetic(name: str, *arguments: Expression, **options: str) -> ScalarFunction:
        return call(name, *arguments, type=i32, urn="arithmetic", **options)

    def number(value: int) -> Literal:
        return lit(i32, value)

    nested = FieldReference(
        root=RootReference(),
        reference=(StructField(3), StructField(1), ListElement(-1), StructField(0)),
        type=I32(nullable=True),
    )
    square = NamedLambda(
        name="square",
        lambda_=Lambda(
            parameters=Struct(types=(i32,)),
            body=arithmetic(
                "multiply",
                *[FieldReference(root=LambdaParameterReference(), reference=(StructField(0),), type=i32)] * 2,
            ),
        ),
    )
    own = FieldReference(root=LambdaParameterReference(), reference=(StructField(0),), type=i32)
    around = FieldReference(root=LambdaParameterReference(steps_out=1), reference=(StructField(0),), type=i32)
    lambdas = Lambda(
        parameters=Struct(types=(i32,)),
        body=call(
            "transform",
            Lambda(parameters=Struct(types=(i32, text)), body=arithmetic("add", own, around)),
            type=List(type=i32),
            urn="list",
        ),
    )
    shown: tuple[Expression, ...] = (
        arithmetic("multiply", arithmetic("add", a, b), number(-2)),
        arithmetic("subtract", a, arithmetic("subtract", b, number(1))),
        arithmetic("subtract", arithmetic("subtract", a, b), number(1)),
        arithmetic("negate", arithmetic("add", a, b)),
        arithmetic("add", a, b, overflow="ERROR"),
        call("not", call("or", call("is_null", a, type=BOOL), call("lt", a, b, type=BOOL), type=BOOL), type=BOOL),
        call("and", call("or", BOOLEAN, BOOLEAN, type=BOOL), call("between", a, number(1), b, type=BOOL), type=BOOL),
        SingularOrList(value=ref(text, 2), options=(lit(text, "F"), lit(text, "it's"), lit(text, "\x1b[31m\n"))),
        call("like", ref(text, 2), lit(text, "%x\\_"), type=BOOL, urn="string"),
        call("concat", ref(text, 2), lit(text, None), type=text, urn="string"),
        call("extract", EnumArgument("YEAR"), lit(Date(), 10561), type=I64(), urn="datetime"),
        call("subtract", lit(Date(), 10561), lit(IntervalDay(precision=6), DayTime(90, 0, 0)), type=Date()),
        call("add", a, b, type=i32).__class__(
            function=Function("extension:com.example:mine", "add", ""),
            arguments=(a, b),
            output_type=i32,
            derived_type=i32,
        ),
        Cast(type=I64(), input=arithmetic("add", a, b), failure_behavior=FailureBehavior.RETURN_NULL),
        Cast(type=I64(), input=lit(i32, -1)),
        nested,
        FieldReference(root=RootReference(), reference=(StructField(4), MapKey(lit(String(), "k"))), type=i32),
        ref(i32, 5),
        ref(i32, 6),
        IfThen(ifs=(IfClause(BOOLEAN, a),), else_=b),
        SwitchExpression(match=a, ifs=(IfValue(number(1), lit(text, "one")),)),
        lambdas,
        NamedLambdaReference(lambda_=square),
        DynamicParameter(type=i32, parameter_reference=1),
        ExecutionContextVariable(variable=ContextVariable.CURRENT_DATE, type=Date()),
        lit(Struct(types=(i32, List(type=i32))), (number(1), lit(List(type=i32), ()))),
    )
    top = Project(input=source, expressions=shown)
    return Plan(
        relations=(top,),
        version=VERSION,
        named_lambdas=(square,),
        parameter_bindings=(DynamicParameterBinding(parameter_anchor=1, value=number(42)),),
    )


BOOLEAN = lit(Boolean(), True)


def relations() -> Plan:
    """Several trees: references, sets, windows, grouping sets, expand, exchange, lateral joins, detached relations."""
    values = Read(
        base_schema=NamedStruct(names=("id", "tag"), struct=Struct(types=(I32(), String(nullable=True)))),
        read_type=VirtualTable(
            expressions=(
                NestedStruct(fields=(lit(I32(), 1), lit(String(nullable=True), "one"))),
                NestedStruct(fields=(lit(I32(), 2), lit(String(nullable=True), None))),
            )
        ),
    )
    items = table("items", id=I32(), tag=String(nullable=True), price=MONEY)
    thin = Read(
        base_schema=items.base_schema,
        read_type=items.read_type,
        filter=call("gt", ref(MONEY, 2), lit(MONEY, decimal.Decimal("10.00")), type=BOOL),
        projection=MaskExpression(select=StructSelect((StructItem(0), StructItem(1)))),
    )
    reference = Reference(subtree_ordinal=0, subtree=values)
    united = Set(members=(reference, thin), op=SetOp.UNION_ALL)
    sorts = (SortField(expr=ref(I32(), 0), sort_kind=SortDirection.DESC_NULLS_LAST),)
    window = ConsistentPartitionWindow(
        input=united,
        partition_expressions=(ref(String(nullable=True), 1),),
        sorts=sorts,
        window_functions=(
            WindowRelFunction(
                function=Function("extension:io.substrait:functions_arithmetic", "sum", "i32"),
                arguments=(ref(I32(), 0),),
                output_type=I64(nullable=True),
                derived_type=I64(nullable=True),
                lower_bound=Preceding(lit(I64(), 1)),
                upper_bound=Following(lit(I64(), 2)),
                bounds_type=BoundsType.ROWS,
            ),
        ),
    )
    hinted = Sort(
        input=window, sorts=sorts, common=RelCommon(hint=Hint(output_names=("id", "label", "running"), alias="w"))
    )
    anchored = FieldReference(root=OuterReference(rel_reference=3), reference=(StructField(0),), type=I32())
    lateral = LateralJoin(
        left=hinted,
        right=Filter(input=items, condition=call("equal", ref(I32(), 0), anchored, type=Boolean())),
        type=JoinType.LEFT,
        common=RelCommon(rel_anchor=3),
    )
    grouped = Aggregate(
        input=lateral,
        grouping_expressions=(ref(I32(), 0), call("upper", ref(String(nullable=True), 1), type=String(nullable=True))),
        groupings=(Grouping((0, 1)), Grouping((0,)), Grouping(())),
        measures=(
            Measure(measure=aggregate("count", type=I64()), filter=call("is_not_null", ref(MONEY, 5), type=Boolean())),
            Measure(
                measure=aggregate(
                    "string_agg",
                    ref(String(nullable=True), 4),
                    type=String(nullable=True),
                    sorts=sorts,
                    invocation=AggregationInvocation.DISTINCT,
                    phase=AggregationPhase.INITIAL_TO_INTERMEDIATE,
                )
            ),
        ),
        common=RelCommon(emit=(2, 1, 4)),
    )
    shared = DetachedRel(relation=values)
    hashed = HashJoin(
        left=shared,
        right=shared,
        type=JoinType.RIGHT_SEMI,
        keys=(ComparisonJoinKey(left=ref(I32(), 0), right=ref(I32(), 0)),),
    )
    expanded = Expand(
        input=hashed,
        fields=(ref(I32(), 0), SwitchingField((ref(String(nullable=True), 1), lit(String(nullable=True), None)))),
    )
    spread = Exchange(
        input=expanded,
        exchange_kind=ScatterFields((ref(I32(), 0),)),
        partition_count=4,
        common=RelCommon(hint=Hint(stats=Stats(row_count=1500, record_size=40))),
    )
    stacked = Generate(input=spread, generator=Generator(kind=GeneratorKind.STACK, arguments=1, rows=2))
    few = Fetch(input=stacked, offset_expr=lit(I64(), 5), count_expr=lit(I64(), 10))
    ranked = Project(
        input=few,
        expressions=(
            WindowFunction(
                function=Function("extension:io.substrait:functions_arithmetic", "rank", ""),
                arguments=(),
                output_type=I64(),
                derived_type=I64(),
                partitions=(ref(I32(), 0),),
                lower_bound=CurrentRow(),
                bounds_type=BoundsType.RANGE,
                sorts=sorts,
            ),
            ref(I32(), 0),
        ),
        common=RelCommon(emit=(0, 4)),
    )
    return Plan(relations=(values, RelRoot(input=grouped, names=("n", "key", "set")), ranked), version=VERSION)


def writing() -> Plan:
    """Writes, DDL and updates."""
    schema = NamedStruct(names=("id", "name"), struct=Struct(types=(I32(), String(nullable=True))))
    source: Relation = Read(base_schema=schema, read_type=NamedTable(names=("source",)))
    target = NamedObjectWrite(names=("my db", "target"))
    insert = Write(
        write_type=target,
        table_schema=schema,
        op=WriteOp.INSERT,
        input=source,
        output=OutputMode.MODIFIED_RECORDS,
    )
    create = Write(
        write_type=target,
        table_schema=schema,
        op=WriteOp.CTAS,
        input=source,
        create_mode=CreateMode.REPLACE_IF_EXISTS,
        output=OutputMode.NO_OUTPUT,
    )
    table = Ddl(
        write_type=target,
        object=DdlObject.TABLE,
        op=DdlOp.CREATE,
        table_schema=schema,
        table_defaults=(lit(I32(), 0), lit(String(nullable=True), None)),
    )
    view = Ddl(write_type=target, object=DdlObject.VIEW, op=DdlOp.CREATE_OR_REPLACE, view_definition=source)
    update = Update(
        update_type=NamedTable(names=("target",)),
        table_schema=schema,
        condition=call("equal", ref(I32(), 0), lit(I32(), 7), type=Boolean()),
        transformations=(TransformExpression(transformation=lit(String(), "seven"), column_target=1),),
    )
    return Plan(relations=(insert, create, table, view, update), version=VERSION)


def broken() -> Plan:
    """What contradicts itself is shown as far as it goes."""
    t, u = table("t", a=I32(), b=I32()), table("u", a=I32(), a2=I64())
    emitted = Filter(input=t, condition=ref(BOOL, 9), common=RelCommon(emit=(0, 5)))
    union = Set(members=(emitted, u), op=SetOp.UNION_ALL)
    open_ = ExtensionSingle(input=u, detail=AnyMessage("type.googleapis.com/example.Sample", b"\x01\x02"))
    joined = Join(
        left=union, right=open_, type=JoinType.INNER, expression=call("equal", ref(I32(), 0), ref(I64(), 3), type=BOOL)
    )
    mismatch = Set(members=(t, u), op=SetOp.MINUS_PRIMARY)
    empty = IfThen(ifs=())
    top = Project(input=mismatch, expressions=(empty,))
    return Plan(
        relations=(RelRoot(input=joined, names=("x",)), top, RelRoot(input=t, names=("only\x07",))), version=VERSION
    )


def extended() -> ExtendedExpression:
    """Expressions outside a plan."""
    schema = NamedStruct(names=("a", "b"), struct=Struct(types=(I32(), I32(nullable=True))))
    added = call("add", ref(I32(), 0), ref(I32(nullable=True), 1), type=I32(nullable=True), urn="arithmetic")
    total = aggregate("sum", ref(I32(), 0), type=I64(nullable=True))
    return ExtendedExpression(
        referred_expr=(
            ExpressionReference(expr=added, output_names=("both",)),
            ExpressionReference(expr=total, output_names=("total",)),
        ),
        base_schema=schema,
        version=VERSION,
    )


PLANS = {plan.__name__: plan for plan in (tutorial, subqueries, expressions, relations, writing, broken, extended)}

"""A sample of every expression, over the columns of :data:`COLUMNS`."""

from __future__ import annotations

from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import types as t
from pyspark_substrait.model.expressions import Expression, FieldReference, Function, StructField
from pyspark_substrait.model.literals import Literal
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
from pyspark_substrait.model.relations import NamedTable, Read, RelCommon
from pyspark_substrait.model.types import NamedStruct, Struct, Type
from tests.samples.literals import LITERALS, i32, i64, string
from tests.samples.types import URN, VARIATION

ARITHMETIC = "extension:io.substrait:functions_arithmetic"
COMPARISON = "extension:io.substrait:functions_comparison"

#: the columns of the table that the samples read
COLUMNS: dict[str, Type] = {
    "id": t.I32(),
    "amount": t.I64(nullable=True),
    "name": t.String(nullable=True),
    "flag": t.Boolean(nullable=True),
    "day": t.Date(),
    "tags": t.List(type=t.String(), nullable=True),
    "place": t.Struct(types=(t.I32(), t.String(nullable=True)), nullable=True),
    "counts": t.Map(key=t.String(), value=t.I64()),
    "points": t.List(type=t.Struct(types=(t.I32(), t.I64()))),
    "codes": t.Map(key=t.String(), value=t.Struct(types=(t.I16(), t.I8()))),
}
SCHEMA = NamedStruct(
    names=(
        *("id", "amount", "name", "flag", "day", "tags", "place", "city", "street", "counts", "points", "x", "y"),
        *("codes", "high", "low"),
    ),
    struct=Struct(types=tuple(COLUMNS.values())),
)


def table(name: str = "sales", rel_anchor: int | None = None) -> Read:
    """A read of the table."""
    return Read(common=RelCommon(rel_anchor=rel_anchor), base_schema=SCHEMA, read_type=NamedTable(names=("shop", name)))


def column(
    position: int, types: tuple[Type, ...] = SCHEMA.struct.types, root: e.OuterReference | None = None
) -> FieldReference:
    """A reference to one of the columns."""
    return FieldReference(root=root or e.RootReference(), reference=(StructField(position),), type=types[position])


ID, AMOUNT, NAME, FLAG = column(0), column(1), column(2), column(3)


def equal(left: Expression, right: Expression) -> e.ScalarFunction:
    """Whether two values are equal."""
    type = t.Boolean(nullable=left.type.nullable or right.type.nullable)
    return e.ScalarFunction(
        function=Function(COMPARISON, "equal", "any_any"), arguments=(left, right), output_type=type, derived_type=type
    )


def add(left: Expression, right: Expression) -> e.ScalarFunction:
    """The sum of two i32."""
    type = t.I32(nullable=left.type.nullable or right.type.nullable)
    return e.ScalarFunction(
        function=Function(ARITHMETIC, "add", "i32_i32"),
        arguments=(left, right),
        options=(e.FunctionOption("overflow", ("SATURATE", "ERROR")),),
        output_type=type,
        derived_type=type,
    )


def sum_of_amounts(**parts: object) -> e.AggregateFunction:
    """The sum of the column ``amount``."""
    return e.AggregateFunction(
        function=Function(ARITHMETIC, "sum", "i64"),
        arguments=(AMOUNT,),
        output_type=t.I64(nullable=True),
        derived_type=t.I64(nullable=True),
        **parts,  # type: ignore[arg-type]
    )


def _masked(mask: MaskExpression, *types: Type) -> FieldReference:
    return FieldReference(root=e.RootReference(), reference=mask, type=Struct(types=types))


def _window(**parts: object) -> e.WindowFunction:
    return e.WindowFunction(
        function=Function(ARITHMETIC, "sum", "i64"),
        arguments=(AMOUNT,),
        output_type=t.I64(nullable=True),
        derived_type=t.I64(nullable=True),
        **parts,  # type: ignore[arg-type]
    )


def _parameter(position: int, type: Type, steps_out: int = 0) -> FieldReference:
    root = e.LambdaParameterReference(steps_out)
    return FieldReference(root=root, reference=(StructField(position),), type=type)


INCREMENT = e.Lambda(parameters=Struct(types=(t.I32(),)), body=add(_parameter(0, t.I32()), i32(1)))
NAMED_INCREMENT = e.NamedLambda(lambda_=INCREMENT, name="increment")
NAMED_TWICE = e.NamedLambda(
    lambda_=e.Lambda(
        parameters=Struct(types=(t.I32(),)),
        body=e.LambdaInvocation(
            lambda_=e.NamedLambdaReference(lambda_=NAMED_INCREMENT),
            arguments=(
                e.LambdaInvocation(
                    lambda_=e.NamedLambdaReference(lambda_=NAMED_INCREMENT), arguments=(_parameter(0, t.I32()),)
                ),
            ),
        ),
    )
)
NESTED_LAMBDA = e.Lambda(
    parameters=Struct(types=(t.I64(), t.I32())),
    body=e.Lambda(parameters=Struct(types=(t.I32(),)), body=add(_parameter(0, t.I32()), _parameter(1, t.I32(), 1))),
)
_PROJECTED_ID = Read(
    base_schema=NamedStruct(names=("id",), struct=Struct(types=(t.I32(),))), read_type=NamedTable(names=("ids",))
)
_NULL = Literal(type=t.I32(nullable=True), value=None)

EXPRESSIONS: dict[str, Expression] = {
    **{f"literal {name}": literal for name, literal in LITERALS.items()},
    "reference": ID,
    "reference into a struct": FieldReference(
        root=e.RootReference(), reference=(StructField(6), StructField(1)), type=t.String(nullable=True)
    ),
    "reference into a list": FieldReference(
        root=e.RootReference(),
        reference=(StructField(8), e.ListElement(-1), StructField(1)),
        type=t.I64(nullable=True),
    ),
    "reference into a map": FieldReference(
        root=e.RootReference(), reference=(StructField(7), e.MapKey(string("a"))), type=t.I64(nullable=True)
    ),
    "reference into a struct in a map": FieldReference(
        root=e.RootReference(),
        reference=(StructField(9), e.MapKey(string("a")), StructField(1)),
        type=t.I8(nullable=True),
    ),
    "reference into an expression": FieldReference(
        root=e.NestedStruct(fields=(ID, NAME)), reference=(StructField(1),), type=t.String(nullable=True)
    ),
    "masked reference": _masked(
        MaskExpression(
            select=StructSelect(
                (
                    StructItem(4),
                    StructItem(6, StructSelect((StructItem(1),))),
                    StructItem(8, ListSelect((ListItem(2), ListSlice(3, 5)), StructSelect((StructItem(1),)))),
                    StructItem(7, MapSelect(MapKeyExpression("a*"))),
                    StructItem(9, MapSelect(MapKeyExpression("b*"), StructSelect((StructItem(1),)))),
                )
            )
        ),
        t.Date(),
        t.String(nullable=True),
        t.List(type=t.I64(nullable=True)),
        t.Map(key=t.String(), value=t.I64()),
        t.Map(key=t.String(), value=t.I8()),
    ),
    "masked reference that keeps structs": _masked(
        MaskExpression(
            select=StructSelect(
                (
                    StructItem(6, StructSelect((StructItem(1),))),
                    StructItem(5, ListSelect((ListItem(1),))),
                    StructItem(7, MapSelect(MapKeySelect("b"))),
                )
            ),
            maintain_singular_struct=True,
        ),
        t.Struct(types=(t.String(nullable=True),), nullable=True),
        t.List(type=t.String(nullable=True), nullable=True),
        t.Map(key=t.String(), value=t.I64()),
    ),
    "scalar function": add(ID, i32(1)),
    "scalar function of another precision": e.ScalarFunction(
        function=Function("extension:io.substrait:functions_arithmetic_decimal", "add", "dec_dec"),
        arguments=(
            Literal(type=t.Decimal(precision=5, scale=2), value=LITERALS["decimal zero"].value),
            Literal(type=t.Decimal(precision=5, scale=2), value=LITERALS["decimal zero"].value),
        ),
        output_type=t.Decimal(precision=38, scale=2),
        derived_type=t.Decimal(precision=6, scale=2),
    ),
    "scalar function with an enum": e.ScalarFunction(
        function=Function("extension:io.substrait:functions_datetime", "extract", "req_date"),
        arguments=(e.EnumArgument("YEAR"), column(4)),
        output_type=t.I64(),
        derived_type=t.I64(),
    ),
    "scalar function unknown, with a type": e.ScalarFunction(
        function=Function(URN, "parse", "str_type"),
        arguments=(string("1"), e.TypeArgument(t.I8(variation=VARIATION))),
        output_type=t.I8(variation=VARIATION),
        derived_type=t.I8(variation=VARIATION),
    ),
    "scalar function over a lambda": e.ScalarFunction(
        function=Function("extension:io.substrait:functions_list", "transform", "list_func"),
        arguments=(
            Literal(type=t.List(type=t.I32()), value=(i32(1), i32(2))),
            e.NamedLambdaReference(lambda_=NAMED_INCREMENT),
        ),
        output_type=t.List(type=t.I32()),
        derived_type=t.List(type=t.I32()),
    ),
    "window function": _window(
        sorts=(e.SortField(expr=ID, sort_kind=e.SortDirection.DESC_NULLS_LAST),),
        invocation=e.AggregationInvocation.DISTINCT,
        partitions=(NAME, FLAG),
        options=(e.FunctionOption("overflow", ("ERROR",)),),
        bounds_type=e.BoundsType.ROWS,
        lower_bound=e.Preceding(i64(2)),
        upper_bound=e.Following(AMOUNT),
    ),
    "window function over a range": _window(
        bounds_type=e.BoundsType.RANGE, lower_bound=e.Unbounded(), upper_bound=e.CurrentRow()
    ),
    "window function without bounds": _window(),
    "if then": e.IfThen(ifs=(e.IfClause(FLAG, ID), e.IfClause(equal(ID, i32(2)), i32(7))), else_=i32(0)),
    "if then without else": e.IfThen(ifs=(e.IfClause(FLAG, NAME),)),
    "switch": e.SwitchExpression(match=ID, ifs=(e.IfValue(i32(1), string("one")),), else_=NAME),
    "switch without else": e.SwitchExpression(match=ID, ifs=(e.IfValue(i32(1), string("one")),)),
    "singular or-list": e.SingularOrList(value=ID, options=(i32(1), _NULL)),
    "multi or-list": e.MultiOrList(value=(ID, NAME), options=((i32(1), string("a")), (i32(2), string("b")))),
    "cast": e.Cast(type=t.I64(), input=ID),
    "cast or null": e.Cast(type=t.I8(nullable=True), input=NAME, failure_behavior=e.FailureBehavior.RETURN_NULL),
    "cast or error": e.Cast(type=t.I8(), input=ID, failure_behavior=e.FailureBehavior.THROW_EXCEPTION),
    "nested struct": e.NestedStruct(fields=(ID, NAME), nullable=True, variation=VARIATION),
    "nested list": e.NestedList(values=(ID, i32(1)), nullable=True, variation=VARIATION),
    "nested map": e.NestedMap(key_values=((string("a"), ID), (string("b"), _NULL)), variation=VARIATION),
    "scalar subquery": e.ScalarSubquery(input=_PROJECTED_ID),
    "in predicate": e.InPredicate(needles=(ID,), haystack=_PROJECTED_ID),
    "exists": e.SetPredicate(predicate_op=e.PredicateOp.EXISTS, tuples=table("returns")),
    "unique": e.SetPredicate(predicate_op=e.PredicateOp.UNIQUE, tuples=_PROJECTED_ID),
    **{
        f"set comparison {reduction.value} {comparison.value}": e.SetComparison(
            reduction_op=reduction, comparison_op=comparison, left=ID, right=_PROJECTED_ID
        )
        for reduction in e.ReductionOp
        for comparison in e.ComparisonOp
    },
    "dynamic parameter": e.DynamicParameter(type=t.I32(nullable=True), parameter_reference=1),
    "lambda": INCREMENT,
    "lambda in a lambda": NESTED_LAMBDA,
    "named lambda reference": e.NamedLambdaReference(lambda_=NAMED_TWICE),
    "lambda invocation": e.LambdaInvocation(lambda_=INCREMENT, arguments=(ID,)),
    "named lambda invocation": e.LambdaInvocation(lambda_=e.NamedLambdaReference(lambda_=NAMED_TWICE), arguments=(ID,)),
    "current timestamp": e.ExecutionContextVariable(
        variable=e.ContextVariable.CURRENT_TIMESTAMP, type=t.PrecisionTimestampTZ(precision=6)
    ),
    "current timezone": e.ExecutionContextVariable(
        variable=e.ContextVariable.CURRENT_TIMEZONE, type=t.String(variation=VARIATION)
    ),
    "current date": e.ExecutionContextVariable(variable=e.ContextVariable.CURRENT_DATE, type=t.Date()),
    "detached": e.DetachedExpression(expression=add(ID, e.DetachedExpression(expression=add(ID, i32(5))))),
}

"""Expressions that aren't function calls: choices, lists of options, constructors, references, casts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal as Number
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import ExecutionError, InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.model.expressions import (
    Cast,
    DetachedExpression,
    Expression,
    FailureBehavior,
    FieldReference,
    IfClause,
    IfThen,
    IfValue,
    Lambda,
    LambdaParameterReference,
    ListElement,
    MapKey,
    MultiOrList,
    NestedList,
    NestedMap,
    NestedStruct,
    SingularOrList,
    StructField,
    SwitchExpression,
    TypeArgument,
    referenced_type,
)
from pyspark_substrait.model.types import I8, I64, Decimal, List, Map, Struct, Type
from tests.spark.plans import (
    BOOL_,
    INT,
    INT_,
    LONG_,
    TEXT,
    TEXT_,
    answers,
    call,
    col,
    lit,
    number,
    ordered,
    plan,
    project,
    rows,
    run,
    text,
    truth,
    tuples,
    values,
    where,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DATA = [(1, 1, "a", True), (2, None, "b", False), (None, 3, "c", None), (None, None, "d", True), (5, 5, "e", False)]
TABLE = values([INT_, INT_, TEXT, BOOL_], DATA)
x, y, name, flag = (col(TABLE, position) for position in range(4))


@pytest.fixture(scope="module")
def duck() -> Any:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (x INT, y INT, n VARCHAR, f BOOLEAN)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", DATA)
        yield connection


def one_or_two(*options: Expression) -> SingularOrList:
    return SingularOrList(value=x, options=options)


EXPRESSIONS: list[tuple[Expression, str]] = [
    (IfThen(ifs=(IfClause(flag, x),)), "CASE WHEN f THEN x END"),
    (IfThen(ifs=(IfClause(flag, x),), else_=y), "CASE WHEN f THEN x ELSE y END"),
    (
        IfThen(ifs=(IfClause(call("gt", x, number(1)), number(1)), IfClause(flag, number(2))), else_=number(3)),
        "CASE WHEN x > 1 THEN 1 WHEN f THEN 2 ELSE 3 END",
    ),
    (
        SwitchExpression(match=x, ifs=(IfValue(number(1), text("one")), IfValue(number(5), text("five")))),
        "CASE x WHEN 1 THEN 'one' WHEN 5 THEN 'five' END",
    ),
    (
        SwitchExpression(match=x, ifs=(IfValue(number(1), text("one")),), else_=name),
        "CASE x WHEN 1 THEN 'one' ELSE n END",
    ),
    # null equals nothing, so a null match takes the else
    (
        SwitchExpression(match=x, ifs=(IfValue(number(None), text("null")),), else_=text("else")),
        "CASE x WHEN NULL THEN 'null' ELSE 'else' END",
    ),
    (one_or_two(number(1), number(2)), "x IN (1, 2)"),
    (one_or_two(number(1), number(None)), "x IN (1, NULL)"),
    (one_or_two(y, number(7)), "x IN (y, 7)"),
    (one_or_two(y), "x IN (y)"),
    (one_or_two(), "false"),
    (call("not", one_or_two(number(1), number(None))), "NOT (x IN (1, NULL))"),
    (
        MultiOrList(value=(x, y), options=((number(1), number(1)), (number(2), number(2)))),
        "(x = 1 AND y = 1) OR (x = 2 AND y = 2)",
    ),
    (
        MultiOrList(value=(x, y), options=((number(None), number(3)), (number(5), y))),
        "(x = NULL AND y = 3) OR (x = 5 AND y = y)",
    ),
    (MultiOrList(value=(x, y), options=()), "false"),
    (call("and", flag, one_or_two(number(None))), "f AND x IN (NULL)"),
]


def test_choices_and_lists_of_options(spark: SparkSession, duck: Any) -> None:
    nodes, wanted = [], []
    for start in range(0, len(EXPRESSIONS), 4):
        part = EXPRESSIONS[start : start + 4]
        nodes.append(project(TABLE, name, *(expression for expression, _ in part)))
        wanted.append(duck.execute(f"SELECT n, {', '.join(sql for _, sql in part)} FROM t").fetchall())
    conditions = [item for item in EXPRESSIONS if str(item[0].type).startswith("boolean")]
    for expression, sql in conditions:
        nodes.append(project(where(TABLE, call("not", expression)), name))
        wanted.append(duck.execute(f"SELECT n FROM t WHERE NOT ({sql})").fetchall())
    for found, records in zip(answers(spark, nodes), wanted, strict=True):
        assert ordered(found) == ordered(records)


def test_a_choice_evaluates_only_what_it_chooses(spark: SparkSession) -> None:
    table = values([INT_], [(0,), (2,), (None,)])
    divided = call("divide", number(10), col(table, 0))
    node = project(
        table,
        IfThen(ifs=(IfClause(call("equal", col(table, 0), number(0)), number(-1)),), else_=divided),
        SwitchExpression(match=col(table, 0), ifs=(IfValue(number(2), divided),), else_=number(-2)),
    )
    assert ordered(rows(spark, node)) == ordered([(-1, -2), (5, 5), (None, -2)])


def test_choices_without_branches_or_of_two_types_are_refused(spark: SparkSession) -> None:
    with pytest.raises(InvalidPlanError, match=r"this is string\?? where i32\? is needed"):
        rows(spark, project(TABLE, IfThen(ifs=(IfClause(flag, x), IfClause(flag, name)))))
    with pytest.raises(InvalidPlanError, match="the option has 1 fields, the value 2"):
        rows(spark, project(TABLE, MultiOrList(value=(x, y), options=((number(1),),))))


def at(type: Type, base: Expression, *segments: Any) -> FieldReference:
    return FieldReference(root=base, reference=segments, type=referenced_type(type, segments))


def inside_of(base: Expression, *segments: Any) -> FieldReference:
    return at(base.type, base, *segments)


def test_constructors_and_what_is_inside(spark: SparkSession) -> None:
    struct = NestedStruct(fields=(x, NestedList(values=(x, y, number(9))), NestedStruct(fields=(name,))))
    listed = NestedList(values=(name, text("z")))
    mapped = NestedMap(key_values=((text("k"), x), (name, y)))
    node = project(TABLE, struct, listed, mapped)
    found = run(spark, node).to_pylist()[0]
    struct_, list_, map_ = found.values()
    assert struct_ == {"n1": 1, "n2": [1, 1, 9], "n3": {"n4": "a"}}
    assert (list_, map_) == (["a", "z"], [("k", 1), ("a", 1)])
    parts: list[tuple[Expression, Callable[[Any], Any]]] = [
        (inside_of(struct, StructField(0)), lambda row: row[0]),
        (inside_of(struct, StructField(1), ListElement(1)), lambda row: row[1]),
        (inside_of(struct, StructField(1), ListElement(-1)), lambda row: 9),
        (inside_of(struct, StructField(1), ListElement(-3)), lambda row: row[0]),
        (inside_of(struct, StructField(1), ListElement(3)), lambda row: None),
        (inside_of(struct, StructField(1), ListElement(-4)), lambda row: None),
        (inside_of(struct, StructField(2), StructField(0)), lambda row: row[2]),
        (inside_of(mapped, MapKey(text("k"))), lambda row: row[0]),
        (inside_of(mapped, MapKey(text("c"))), lambda row: row[1] if row[2] == "c" else None),
        (inside_of(mapped, MapKey(text("nowhere"))), lambda row: None),
    ]
    assert ordered(rows(spark, project(TABLE, *(part for part, _ in parts)))) == ordered(
        tuple(value(row) for _, value in parts) for row in DATA
    )


def test_references_into_columns_with_nulls(spark: SparkSession) -> None:
    struct = Struct(types=(INT, List(type=Struct(types=(INT_, TEXT)), nullable=True)), nullable=True)
    mapped = Map(key=INT, value=List(type=TEXT_), nullable=True)
    table = values(
        [struct, mapped],
        [((1, [(1, "a"), (None, "b")]), {1: ["x", None], 2: []}), ((2, None), {}), (None, None), ((3, []), {2: ["y"]})],
    )
    paths = [
        col(table, 0, StructField(0)),
        col(table, 0, StructField(1), ListElement(0), StructField(1)),
        col(table, 0, StructField(1), ListElement(-1), StructField(0)),
        col(table, 1, MapKey(number(2)), ListElement(0)),
        col(table, 1, MapKey(number(1)), ListElement(1)),
    ]
    assert all(path.type.nullable for path in paths)
    assert ordered(rows(spark, project(table, *paths))) == ordered(
        [(1, "a", None, None, None), (2, None, None, None, None), (None,) * 5, (3, None, None, "y", None)]
    )
    whole = run(spark, table)
    assert [next(iter(row.values())) is None for row in whole.to_pylist()] == [False, False, True, False]


def test_casts(spark: SparkSession) -> None:
    table = values([LONG_, TEXT_], [(1, "12"), (300, " 7 "), (None, None), (-5, "no")])
    number_, words = col(table, 0), col(table, 1)

    def cast(type: Type, input: Expression, failure: FailureBehavior) -> Cast:
        return Cast(type=type, input=input, failure_behavior=failure)

    null = FailureBehavior.RETURN_NULL
    small = I8(nullable=True)
    node = project(table, cast(small, number_, null), cast(INT_, words, null), cast(TEXT_, number_, null))
    assert ordered(rows(spark, node)) == ordered([(1, 12, "1"), (None, 7, "300"), (None, None, None), (-5, None, "-5")])
    for failure in (FailureBehavior.THROW_EXCEPTION, FailureBehavior.UNSPECIFIED):
        for bad in (cast(small, number_, failure), cast(INT_, words, failure)):
            with pytest.raises(ExecutionError, match=r"OVERFLOW|CAST_INVALID_INPUT"):
                rows(spark, project(table, bad))
        kept = where(table, call("equal", number_, Cast(type=I64(), input=number(1))))
        assert rows(spark, project(kept, cast(small, number_, failure), cast(INT_, words, failure))) == [(1, 12)]


def test_literals_of_nested_types_and_their_nulls(spark: SparkSession) -> None:
    struct = Struct(types=(INT_, List(type=TEXT_, nullable=True)), nullable=True)
    literals = [
        lit(struct, (1, ["a", None])),
        lit(struct, (None, None)),
        lit(struct, None),
        lit(List(type=INT), []),
        lit(Map(key=TEXT, value=INT_, nullable=True), {"a": 1, "b": None}),
        lit(Map(key=TEXT, value=INT_, nullable=True), None),
        lit(Map(key=TEXT, value=INT), {}),
    ]
    [row] = tuples(run(spark, project(values([INT], [(0,)]), *literals)))
    assert [list(item.values()) if isinstance(item, dict) else item for item in row] == [
        [1, ["a", None]],
        [None, None],
        None,
        [],
        [("a", 1), ("b", None)],
        None,
        [],
    ]


def test_references_that_lead_nowhere_are_refused(spark: SparkSession) -> None:
    beyond = FieldReference(root=x.root, reference=(StructField(9),), type=INT)
    with pytest.raises(InvalidPlanError, match="there is no field 9; the record has 4") as caught:
        rows(spark, where(TABLE, call("equal", beyond, number(1))))
    assert caught.value.path == "relations[0].root.input.filter.condition.scalar_function.arguments[0].selection"


def test_type_arguments_are_refused() -> None:
    typed = replace(call("add", x, y), arguments=(x, TypeArgument(I8())))
    with pytest.raises(UnsupportedPlanError, match="the argument is the type i8, but no function") as caught:
        ps.to_sql(plan(project(TABLE, typed)))
    assert caught.value.path == "relations[0].root.input.project.expressions[0].scalar_function.arguments[1]"


def test_detached_expressions_mean_what_they_are(spark: SparkSession) -> None:
    def apart(node: Expression) -> DetachedExpression:
        return DetachedExpression(expression=node)

    element = FieldReference(root=LambdaParameterReference(), reference=(StructField(0),), type=INT)
    doubled = Lambda(parameters=Struct(types=(INT,)), body=apart(call("add", element, element)))
    listed = NestedList(values=(number(3), apart(number(4))))
    inside = apart(inside_of(apart(NestedStruct(fields=(x, apart(name)))), StructField(1)))
    choice = IfThen(ifs=(IfClause(apart(call("is_null", y)), apart(number(0))),), else_=apart(y))
    kept = where(TABLE, apart(call("gt", apart(call("add", x, number(1))), apart(number(2)))))
    node = project(kept, apart(x), choice, inside, call("transform", apart(listed), apart(doubled)))
    wanted = [(2, 0, "b", [6, 8]), (5, 5, "e", [6, 8])]
    assert ordered(rows(spark, node)) == wanted
    # in a document they stand in a list beside the relation
    document = plan(node)
    assert b"detached" not in document.to_bytes()
    assert "detachedExpressionOrdinal" in document.to_json()
    assert ordered(tuples(ps.run_query(ps.load(document.to_json()), spark=spark))) == wanted


def test_deep_expressions(spark: SparkSession) -> None:
    condition: Expression = call("gt", x, number(0))
    for _ in range(999):
        condition = call("and", condition, call("gt", x, number(0)))
    node = project(where(TABLE, condition), name)
    document = ps.load(plan(node).to_bytes())
    assert ordered(tuples(ps.run_query(document, spark=spark))) == [("a",), ("b",), ("e",)]


def test_options_are_never_rounded(spark: SparkSession) -> None:
    table = values([Decimal(precision=15, scale=2)], [(Number("0.05"),), (Number("0.06"),)])
    narrow = lit(Decimal(precision=3, scale=2), Number("0.05"))
    assert rows(spark, where(table, SingularOrList(value=col(table, 0), options=(narrow,)))) == [(Number("0.05"),)]
    fine = lit(Decimal(precision=4, scale=3), Number("0.055"))
    with pytest.raises(InvalidPlanError, match="cannot hold all its values"):
        rows(spark, where(table, SingularOrList(value=col(table, 0), options=(fine,))))
    with pytest.raises(InvalidPlanError, match="cannot hold all its values"):
        rows(spark, project(table, IfThen(ifs=(IfClause(truth(True), col(table, 0)),), else_=fine)))

"""Lambdas: as arguments of functions on lists, invoked in place, and named; what they see around them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.model.expressions import (
    Cast,
    Expression,
    FieldReference,
    IfClause,
    IfThen,
    Lambda,
    LambdaInvocation,
    LambdaParameterReference,
    ListElement,
    MapKey,
    NamedLambda,
    NamedLambdaReference,
    NestedList,
    NestedStruct,
    RootReference,
    ScalarSubquery,
    SortDirection,
    StructField,
    WindowFunction,
    referenced_type,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.masks import MaskExpression, StructItem, StructSelect, masked_type
from pyspark_substrait.model.relations import JoinType, Sort
from pyspark_substrait.model.types import Func, List, Map, Struct, Type, with_nullability
from pyspark_substrait.spark.session import is_connect
from tests.spark.plans import (
    BOOL_,
    INT,
    INT_,
    LONG_,
    TEXT,
    TEXT_,
    aggregate,
    answers,
    both,
    call,
    col,
    group,
    join,
    number,
    ordered,
    plan,
    project,
    rows,
    run,
    sort,
    stored,
    text,
    tuples,
    values,
    where,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NUMBERS = List(type=INT_, nullable=True)
DATA: list[tuple[int, list[int | None] | None, int | None]] = [
    (1, [1, 2, 3], 2),
    (2, [None, 5], 4),
    (3, [], 0),
    (4, None, 1),
    (5, [7, None, -1], None),
]
TABLE = values([INT, NUMBERS, INT_], DATA)
key, items, limit = (col(TABLE, position) for position in range(3))


def parameter(*types: Type, field: int = 0, steps_out: int = 0, segments: tuple[Any, ...] = ()) -> FieldReference:
    """A parameter of a lambda whose parameters are of these types, or something inside it."""
    path = (StructField(field), *segments)
    return FieldReference(
        root=LambdaParameterReference(steps_out), reference=path, type=referenced_type(Struct(types=types), path)
    )


def fn(body: Expression, *types: Type) -> Lambda:
    return Lambda(parameters=Struct(types=types), body=body)


def invoked(called: Lambda | NamedLambdaReference, *arguments: Expression) -> LambdaInvocation:
    return LambdaInvocation(lambda_=called, arguments=arguments)


def in_place(*cells: Expression) -> Any:
    return project(TABLE, key, *cells)


x = parameter(INT_)
over = fn(call("gt", x, limit), INT_)
doubled = fn(call("multiply", x, number(2)), INT_)


def more(one: int | None, two: int | None) -> bool | None:
    return None if one is None or two is None else one > two


def any_true(truths: list[bool | None]) -> bool | None:
    return True if True in truths else None if None in truths else False


def all_true(truths: list[bool | None]) -> bool | None:
    return False if False in truths else None if None in truths else True


def test_functions_of_lists(spark: SparkSession) -> None:
    cells = [
        call("transform", items, doubled),
        call("filter", items, over),
        call("any_match", items, over),
        call("all_match", items, over),
        call("transform", items, fn(call("is_null", x), INT_)),
        call("cardinality", call("filter", items, over)),
        call("transform", items, fn(text("same"), INT_)),
    ]

    def expected(row: tuple[int, Any, int | None]) -> tuple[Any, ...]:
        number_, given, limit_ = row
        if given is None:
            return (number_, *(None,) * 7)
        truths = [more(item, limit_) for item in given]
        kept = [item for item, truth in zip(given, truths, strict=True) if truth]
        return (
            number_,
            [None if item is None else 2 * item for item in given],
            kept,
            any_true(truths),
            all_true(truths),
            [item is None for item in given],
            len(kept),
            ["same"] * len(given),
        )

    table = run(spark, in_place(*cells))
    assert ordered(tuples(table)) == ordered(map(expected, DATA))
    assert [str(cell.type) for cell in cells[:3]] == ["list?<i32?>", "list?<i32?>", "boolean?"]


def test_lambdas_inside_lambdas(spark: SparkSession) -> None:
    nested = List(type=List(type=INT_))
    table = values([nested, INT], [([[1, 2], [10, None]], 100), ([[]], 7), ([[4], [5], [6]], 0)])
    lists, base = col(table, 0), col(table, 1)
    one_list = List(type=INT_)
    # x -> transform(x, y -> y + first(x) + base)
    first = parameter(one_list, steps_out=1, segments=(ListElement(0),))
    inner = fn(call("add", call("add", parameter(INT_), first), base), INT_)
    node = call("transform", lists, fn(call("transform", parameter(one_list), inner), one_list))
    # x -> transform(x, y -> filter(x, z -> z > y)), and one more level that looks three lambdas out
    greater = fn(call("gt", parameter(INT_), parameter(INT_, steps_out=1)), INT_)
    pairs = fn(call("filter", parameter(one_list, steps_out=1), greater), INT_)
    other = call("transform", lists, fn(call("transform", parameter(one_list), pairs), one_list))
    farther = call("add", parameter(INT_), parameter(one_list, steps_out=2, segments=(ListElement(-1),)))
    deep = fn(call("transform", parameter(one_list, steps_out=1), fn(farther, INT_)), INT_)
    third = call("transform", lists, fn(call("transform", parameter(one_list), deep), one_list))

    def plus(*terms: int | None) -> int | None:
        known = [term for term in terms if term is not None]
        return sum(known) if len(known) == len(terms) else None

    def expected(given: list[list[int | None]], base_: int) -> tuple[Any, ...]:
        return (
            [[plus(y, part[0], base_) for y in part] for part in given],
            [[[z for z in part if more(z, y)] for y in part] for part in given],
            [[[plus(z, part[-1]) for z in part] for _ in part] for part in given],
        )

    wanted = [
        expected([[1, 2], [10, None]], 100),
        ([[]], [[]], [[]]),
        expected([[4], [5], [6]], 0),
    ]
    assert ordered(rows(spark, project(table, node, other, third))) == ordered(wanted)


def test_parameters_with_parts(spark: SparkSession) -> None:
    element = Struct(types=(INT_, TEXT, Map(key=TEXT, value=INT)), nullable=True)
    table = values([List(type=element)], [([(1, "a", {"k": 5}), None, (None, "b", {})],)])
    inside = [
        parameter(element, segments=(StructField(0),)),
        parameter(element, segments=(StructField(1),)),
        parameter(element, segments=(StructField(2), MapKey(text("k")))),
    ]
    cells = [call("transform", col(table, 0), fn(part, element)) for part in inside]
    record = Struct(types=(element,))
    mask = MaskExpression(
        select=StructSelect((StructItem(0, StructSelect((StructItem(1), StructItem(0)))),)),
        maintain_singular_struct=True,
    )
    kept = FieldReference(root=LambdaParameterReference(), reference=mask, type=masked_type(record, mask))
    cells.append(call("transform", col(table, 0), fn(kept, element)))
    [found] = rows(spark, project(table, *cells))
    assert found[:3] == ([1, None, None], ["a", None, "b"], [5, None, None])
    packed = [next(iter(item.values())) for item in found[3]]
    assert [None if item is None else list(item.values()) for item in packed] == [["a", 1], None, ["b", None]]


def test_invocations(spark: SparkSession) -> None:
    pair = fn(call("subtract", parameter(INT_, INT_), parameter(INT_, INT_, field=1)), INT_, INT_)
    square = fn(call("multiply", x, x), INT_)
    sum_ = call("add", key, number(10))
    # a lambda that gets a lambda: (f, list) -> transform(list, f)
    function = Func(parameter_types=(INT_,), return_type=call("multiply", x, number(2)).type)
    types = (function, NUMBERS)
    applied = fn(call("transform", parameter(*types, field=1), parameter(*types)), *types)
    # (p) -> ((q) -> q * p)(p + 1)
    across = fn(call("multiply", x, parameter(INT_, steps_out=1)), INT_)
    nested = fn(invoked(across, call("add", x, number(1))), INT_)
    in_lambda = call("transform", items, fn(invoked(square, call("add", x, key)), INT_))
    cells: list[Expression] = [
        invoked(pair, key, number(3)),
        invoked(square, sum_),
        invoked(
            fn(number(4)),
        ),
        invoked(applied, doubled, items),
        invoked(nested, sum_),
        in_lambda,
        invoked(fn(IfThen(ifs=(IfClause(call("gt", x, number(12)), x),)), INT_), sum_),
    ]

    def expected(row: tuple[int, Any, int | None]) -> tuple[Any, ...]:
        k, given, _ = row
        mapped = None if given is None else [None if item is None else 2 * item for item in given]
        squares = None if given is None else [None if item is None else (item + k) ** 2 for item in given]
        return (k, k - 3, (k + 10) ** 2, 4, mapped, (k + 11) * (k + 10), squares, k + 10 if k + 10 > 12 else None)

    assert ordered(rows(spark, in_place(*cells))) == ordered(map(expected, DATA))
    # an argument that the body uses twice is computed once
    assert ps.to_sql(plan(in_place(invoked(square, sum_)))).count("+ 10") == 1


def test_named_lambdas(spark: SparkSession) -> None:
    named = NamedLambda(lambda_=doubled, name="twice")
    twice = NamedLambdaReference(lambda_=named)
    node = in_place(call("transform", items, twice), invoked(twice, key))
    document = plan(node, named_lambdas=(named,))
    loaded = ps.load(document.to_bytes())
    assert ps.load(ps.load(loaded.to_json()).to_bytes()) == loaded
    found = tuples(ps.run_query(loaded, spark=spark))
    assert ordered(found) == ordered(
        (k, None if given is None else [None if item is None else 2 * item for item in given], 2 * k)
        for k, given, _ in DATA
    )


def test_lambdas_in_every_relation(spark: SparkSession) -> None:
    kept = where(TABLE, call("any_match", items, over))
    size = call("cardinality", call("filter", items, fn(call("is_not_null", x), INT_)))
    sorted_ = Sort(input=TABLE, sorts=(sort(size, SortDirection.DESC_NULLS_LAST), sort(key)))
    grouped = group(TABLE, [size], [aggregate("count", key)])
    measured = group(TABLE, [], [aggregate("max", size)])
    other = values([INT], [(3,), (7,)])
    condition = call("any_match", items, fn(call("equal", x, col(both(TABLE, other), 3)), INT_))
    joined = join(TABLE, other, condition, JoinType.INNER)
    semi = join(TABLE, other, condition, JoinType.LEFT_SEMI)
    found = answers(
        spark,
        [
            project(kept, col(kept, 0)),
            project(sorted_, col(sorted_, 0)),
            grouped,
            measured,
            project(joined, col(joined, 0), col(joined, 3)),
            project(semi, col(semi, 0)),
        ],
    )
    assert ordered(found[0]) == [(1,), (2,)]
    assert ordered(found[1]) == [(1,), (2,), (3,), (4,), (5,)]
    assert ordered(found[2]) == ordered([(3, 1), (1, 1), (0, 1), (None, 1), (2, 1)])
    assert found[3] == [(3,)]
    assert ordered(found[4]) == [(1, 3), (5, 7)]
    assert ordered(found[5]) == [(1,), (5,)]
    assert [row[0] for row in rows(spark, project(sorted_, col(sorted_, 0)))] == [1, 5, 2, 3, 4]


def test_names_of_columns_dont_clash_with_variables(spark: SparkSession) -> None:
    names = ["l1", "L2", "e0", "c1", "l4"]
    frame = spark.sql("SELECT 1 AS l1, 2 AS L2, 3 AS e0, 4 AS c1, array(10, 20) AS l4")
    types: list[Type] = [*(INT_,) * 4, List(type=INT_, nullable=True)]
    table = stored("t", dict(zip(names, types, strict=True)))
    body: Expression = x
    for position in range(4):
        body = call("add", body, col(table, position))
    node = project(table, call("transform", col(table, 4), fn(body, INT_)))
    assert rows(spark, node, tables={"t": frame}) == [([20, 30],)]


def test_a_null_instead_of_a_lambda_gives_null(spark: SparkSession) -> None:
    function = Func(parameter_types=(INT_,), return_type=INT_, nullable=True)
    nothing = call("transform", items, Literal(type=function, value=None))
    assert set(rows(spark, project(TABLE, nothing))) == {(None,)}


def test_what_lambdas_cant_do_is_refused(spark: SparkSession) -> None:
    def refused(cell: Expression, match: str) -> str:
        with pytest.raises(UnsupportedPlanError, match=match) as caught:
            ps.to_sql(plan(in_place(cell)))
        return caught.value.path

    path = refused(doubled, "a lambda can only be an argument of a function, or invoked")
    assert path == "relations[0].root.input.project.expressions[1].lambda"
    other = values([INT], [(3,)])
    captured_element = ScalarSubquery(input=where(other, call("equal", col(other, 0), x)))
    refused(call("transform", items, fn(captured_element, INT_)), "a subquery that depends on a lambda's parameters")
    captured = ScalarSubquery(input=where(other, call("equal", col(other, 0), x)))
    refused(invoked(fn(captured, INT_), key), "lambda's parameters|a parameter of a lambda around a subquery")
    struct = NestedStruct(fields=(doubled,))
    refused(struct, "a lambda can only be")
    whole = FieldReference(root=RootReference(), reference=(StructField(1),), type=NUMBERS)
    with pytest.raises(InvalidPlanError, match="there are 2 arguments for 1 parameters"):
        ps.to_sql(plan(in_place(invoked(doubled, key, whole))))


def test_queries_and_windows_in_lambdas(spark: SparkSession) -> None:
    other = values([INT], [(3,), (8,)])
    query = ScalarSubquery(input=group(other, [], [aggregate("max", col(other, 0))]))
    square = fn(call("multiply", x, x), INT_)
    function = aggregate("sum", key)
    window = WindowFunction(
        function=function.function,
        arguments=function.arguments,
        output_type=function.output_type,
        derived_type=function.derived_type,
    )
    total = Cast(type=INT_, input=window)
    cells: list[Expression] = [
        invoked(square, query),
        call("transform", items, fn(call("add", x, query), INT_)),
        call("transform", items, fn(call("add", x, total), INT_)),
        invoked(square, total),
        call("transform", NestedList(values=(total, key)), square),
    ]

    def plus(given: list[int | None] | None, number_: int) -> Any:
        return None if given is None else [None if item is None else item + number_ for item in given]

    assert ordered(rows(spark, in_place(*cells))) == ordered(
        (k, 64, plus(given, 8), plus(given, 15), 225, [225, k * k]) for k, given, _ in DATA
    )
    over_elements = replace(window, arguments=(x,))
    with pytest.raises(UnsupportedPlanError, match="a window function over the parameters of a lambda"):
        ps.to_sql(plan(in_place(call("transform", items, fn(over_elements, INT_)))))


def test_elements_of_every_kind(spark: SparkSession) -> None:
    made = NestedList(values=(text("a"), text("b")))
    cells = [
        call("transform", made, fn(call("equal", parameter(TEXT), text("b")), TEXT)),
        call("filter", made, fn(Literal(type=BOOL_, value=None), TEXT)),
        call("transform", made, fn(Literal(type=with_nullability(LONG_, True), value=None), TEXT)),
        call("transform", made, fn(NestedStruct(fields=(parameter(TEXT), number(1))), TEXT)),
        call("any_match", made, fn(Literal(type=BOOL_, value=None), TEXT)),
        call("all_match", made, fn(Literal(type=BOOL_, value=None), TEXT)),
        call("transform", made, fn(Literal(type=TEXT_, value="?"), TEXT)),
    ]
    [found] = rows(spark, project(values([INT], [(1,)]), *cells))
    assert found[:3] == ([False, True], [], [None, None])
    assert [list(item.values()) for item in found[3]] == [["a", 1], ["b", 1]]
    assert found[4:] == (None, None, ["?", "?"])


def test_a_setting_that_would_change_an_answer_is_that_of_the_plan(spark: SparkSession) -> None:
    setting = "spark.sql.legacy.followThreeValuedLogicInArrayExists"
    node = in_place(call("any_match", items, over))
    expected = rows(spark, node)
    assert len(expected) == len(DATA)
    spark.conf.set(setting, "false")
    try:
        if is_connect(spark):
            with pytest.raises(UnsupportedPlanError, match=setting):
                rows(spark, node)
        else:
            assert rows(spark, node) == expected  # in a copy of the session
    finally:
        spark.conf.unset(setting)

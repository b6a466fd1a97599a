"""Three-valued logic: random expressions against a small evaluator, and what a choice must not evaluate."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import ExecutionError, InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.model.expressions import (
    Cast,
    Expression,
    FailureBehavior,
    IfClause,
    IfThen,
    IfValue,
    MultiOrList,
    NestedMap,
    NestedStruct,
    SingularOrList,
    SwitchExpression,
)
from pyspark_substrait.model.types import FP32, Binary, List, Map, Struct, Type
from tests.spark.plans import (
    BOOL_,
    INT,
    INT_,
    LONG_,
    REAL,
    REAL_,
    TEXT,
    TEXT_,
    call,
    col,
    lit,
    number,
    plan,
    project,
    rows,
    run,
    stored,
    text,
    truth,
    tuples,
    values,
)

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from pyspark_substrait.model.relations import Relation

Row = tuple[Any, ...]
Meaning = Callable[[Row], Any]
#: an expression and what it means
Term = tuple[Expression, Meaning]

NUMBERS, TRUTHS = (None, 0, 1), (None, False, True)
ROWS: list[Row] = list(product(NUMBERS, NUMBERS, TRUTHS, TRUTHS))
TABLE = values([INT_, INT_, BOOL_, BOOL_], ROWS)


def column(position: int) -> Term:
    return col(TABLE, position), lambda row: row[position]


def conjunction(truths: list[bool | None]) -> bool | None:
    return False if False in truths else None if None in truths else True


def disjunction(truths: list[bool | None]) -> bool | None:
    return True if True in truths else None if None in truths else False


def strict(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is null when one of its arguments is."""
    return lambda *given: None if None in given else function(*given)


def applied(name: str, function: Callable[..., Any], *terms: Term) -> Term:
    node = call(name, *(term for term, _ in terms))
    return node, lambda row: function(*(meaning(row) for _, meaning in terms))


COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "equal": strict(lambda a, b: a == b),
    "not_equal": strict(lambda a, b: a != b),
    "lt": strict(lambda a, b: a < b),
    "lte": strict(lambda a, b: a <= b),
    "gt": strict(lambda a, b: a > b),
    "gte": strict(lambda a, b: a >= b),
    "is_not_distinct_from": lambda a, b: a is b if a is None or b is None else a == b,
    "is_distinct_from": lambda a, b: a is not b if a is None or b is None else a != b,
}
TESTS: dict[str, Callable[[Any], Any]] = {
    "is_null": lambda a: a is None,
    "is_not_null": lambda a: a is not None,
    "is_true": lambda a: a is True,
    "is_not_true": lambda a: a is not True,
    "is_false": lambda a: a is False,
    "is_not_false": lambda a: a is not False,
}
same = COMPARISONS["equal"]


class Maker:
    """Makes random terms. A term of depth 0 is a column or a literal."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def boolean(self, depth: int) -> Term:
        if depth == 0:
            if self.random.random() < 0.25:
                value = self.random.choice(TRUTHS)
                return truth(value), lambda row: value
            return column(self.random.choice((2, 3)))
        deeper = depth - 1
        match self.random.randrange(12):
            case 0 | 1:
                terms = [self.boolean(deeper) for _ in range(self.random.randint(2, 3))]
                return applied("and", lambda *given: conjunction(list(given)), *terms)
            case 2 | 3:
                terms = [self.boolean(deeper) for _ in range(self.random.randint(2, 3))]
                return applied("or", lambda *given: disjunction(list(given)), *terms)
            case 4:
                return applied("not", strict(lambda a: not a), self.boolean(deeper))
            case 5 | 6:
                name = self.random.choice(list(COMPARISONS))
                return applied(name, COMPARISONS[name], self.number(deeper), self.number(deeper))
            case 7:
                name = self.random.choice(list(TESTS))
                asked = self.number(deeper) if "null" in name else self.boolean(deeper)
                return applied(name, TESTS[name], asked)
            case 8:
                return self.choice(self.boolean, deeper)
            case 9:
                return self.switch(self.boolean, deeper)
            case 10:
                return self.member(deeper)
            case _:
                return self.members(deeper)

    def number(self, depth: int) -> Term:
        if depth == 0:
            if self.random.random() < 0.3:
                value = self.random.choice((None, 0, 1, 2))
                return number(value), lambda row: value
            return column(self.random.choice((0, 1)))
        deeper = depth - 1
        match self.random.randrange(5):
            case 0:
                terms = [self.number(deeper) for _ in range(self.random.randint(2, 3))]
                return applied("coalesce", lambda *given: next((a for a in given if a is not None), None), *terms)
            case 1:
                return applied(
                    "nullif", lambda a, b: None if same(a, b) else a, self.number(deeper), self.number(deeper)
                )
            case 2:
                return self.switch(self.number, deeper)
            case _:
                return self.choice(self.number, deeper)

    def choice(self, branch: Callable[[int], Term], depth: int) -> Term:
        arms = [(self.boolean(depth), branch(depth)) for _ in range(self.random.randint(1, 3))]
        otherwise = branch(depth) if self.random.random() < 0.6 else None

        def meaning(row: Row) -> Any:
            for (_, condition), (_, result) in arms:
                if condition(row) is True:
                    return result(row)
            return None if otherwise is None else otherwise[1](row)

        clauses = tuple(IfClause(condition[0], result[0]) for condition, result in arms)
        return IfThen(ifs=clauses, else_=None if otherwise is None else otherwise[0]), meaning

    def switch(self, branch: Callable[[int], Term], depth: int) -> Term:
        match, asked = self.number(depth)
        arms = [(self.random.choice((None, 0, 1, 2)), branch(depth)) for _ in range(self.random.randint(1, 3))]
        otherwise = branch(depth) if self.random.random() < 0.6 else None

        def meaning(row: Row) -> Any:
            for value, (_, result) in arms:
                if same(asked(row), value) is True:
                    return result(row)
            return None if otherwise is None else otherwise[1](row)

        clauses = tuple(IfValue(number(value), result) for value, (result, _) in arms)
        node = SwitchExpression(match=match, ifs=clauses, else_=None if otherwise is None else otherwise[0])
        return node, meaning

    def member(self, depth: int) -> Term:
        value, asked = self.number(depth)
        options = [self.number(self.random.randint(0, depth)) for _ in range(self.random.randint(0, 3))]
        node = SingularOrList(value=value, options=tuple(option for option, _ in options))
        return node, lambda row: disjunction([same(asked(row), option(row)) for _, option in options])

    def members(self, depth: int) -> Term:
        first, second = self.number(depth), self.boolean(depth)
        options = [(self.number(0), self.boolean(0)) for _ in range(self.random.randint(0, 3))]
        node = MultiOrList(value=(first[0], second[0]), options=tuple((one[0], other[0]) for one, other in options))

        def meaning(row: Row) -> bool | None:
            return disjunction(
                [
                    conjunction([same(first[1](row), one(row)), same(second[1](row), other(row))])
                    for (_, one), (_, other) in options
                ]
            )

        return node, meaning


@pytest.mark.parametrize("seed", range(4))
def test_random_expressions(spark: SparkSession, seed: int, tmp_path: Path) -> None:
    """Over a virtual table, which Spark interprets while it plans, or over a file, for which it generates code."""
    maker = Maker(seed)
    terms = [maker.boolean(3) if number_ % 3 else maker.number(3) for number_ in range(60)]
    if seed % 2:
        source: Relation = stored("t", {"a": INT_, "b": INT_, "p": BOOL_, "q": BOOL_})
        types = [pa.int32(), pa.int32(), pa.bool_(), pa.bool_()]
        columns = [pa.array(cells, type) for cells, type in zip(zip(*ROWS, strict=True), types, strict=True)]
        pq.write_table(pa.table(columns, names=["a", "b", "p", "q"]), tmp_path / "t.parquet")
        found = rows(spark, project(source, *(node for node, _ in terms), keep=True), tables={"t": tmp_path})
    else:
        found = rows(spark, project(TABLE, *(node for node, _ in terms), keep=True))
    assert len(found) == len(ROWS)
    for row in found:
        given, cells = row[:4], row[4:]
        for position, ((node, meaning), cell) in enumerate(zip(terms, cells, strict=True)):
            assert cell == meaning(given), f"expression {position} for {given}: {node}"
            assert cell is not None or node.type.nullable


# what isn't taken ----------------------------------------------------------------------------------------------------


def test_branches_that_arent_taken_raise_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """On stored data, where Spark generates code and looks for common parts of expressions; and with constants, where
    it computes before it runs. The example of the specification: if 'value' = 'value' then 0 else cast('hello' as i32).
    """
    frame = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": pa.array([0, 5, None], pa.int32()), "s": pa.array(["no", "7", None])}), frame)
    table = stored("t", {"x": INT_, "s": TEXT_})
    x, words = col(table, 0), col(table, 1)
    inverse = call("divide", number(10), x)
    read = Cast(type=INT_, input=words, failure_behavior=FailureBehavior.THROW_EXCEPTION)
    hello = Cast(type=INT, input=text("hello"))
    broken = call("divide", number(1), number(0))
    zero, word = call("equal", x, number(0)), call("equal", words, text("no"))
    choose: list[Expression] = [
        IfThen(ifs=(IfClause(call("equal", text("value"), text("value")), number(0)),), else_=hello),
        IfThen(ifs=(IfClause(truth(False), broken),), else_=number(1)),
        IfThen(ifs=(IfClause(zero, number(-1)),), else_=inverse),
        IfThen(ifs=(IfClause(zero, number(-1)),), else_=call("add", inverse, number(1))),
        IfThen(ifs=(IfClause(zero, number(-1)), IfClause(call("gt", inverse, number(1)), inverse)), else_=number(3)),
        SwitchExpression(match=x, ifs=(IfValue(number(0), number(-2)),), else_=call("add", inverse, inverse)),
        SwitchExpression(match=x, ifs=(IfValue(number(7), hello), IfValue(number(0), number(4))), else_=inverse),
        IfThen(ifs=(IfClause(word, number(0)),), else_=call("add", read, read)),
        IfThen(ifs=(IfClause(word, number(0)), IfClause(call("is_null", read), number(1))), else_=read),
        # a switch whose match no clause has
        SwitchExpression(match=number(3), ifs=(IfValue(number(1), broken),), else_=number(8)),
    ]
    found = rows(spark, project(table, x, *choose), tables={"t": frame})
    assert sorted(found, key=repr) == sorted(
        [
            (0, 0, 1, -1, -1, -1, -2, 4, 0, 0, 8),
            (5, 0, 1, 2, 3, 2, 4, 2, 14, 7, 8),
            (None, 0, 1, None, None, 3, None, None, None, 1, 8),
        ],
        key=repr,
    )
    with pytest.raises(ExecutionError):
        rows(spark, project(table, IfThen(ifs=(IfClause(call("gte", x, number(0)), inverse),))), tables={"t": frame})


# equality ------------------------------------------------------------------------------------------------------------


def test_options_are_equal_as_equal_says(spark: SparkSession) -> None:
    """Short and long lists of options (Spark has two forms of IN) agree with the function ``equal``, also for NaN,
    -0.0, bytes and nested values.
    """
    nan = math.nan
    pair = Struct(types=(INT_, TEXT), nullable=True)
    listed = List(type=REAL_, nullable=True)
    single = FP32(nullable=True)
    cases: list[tuple[Type, list[Any], list[Any]]] = [
        (REAL_, [0.0, -0.0, nan, 1.5, math.inf, None], [-0.0, nan, 1.5]),
        (single, [0.0, -0.0, nan, 1.5, None], [0.0, nan]),
        (TEXT_, ["", "a", "A", "a ", None], ["a", ""]),
        (Binary(nullable=True), [b"", b"\x00", b"\x00\x00", None], [b"\x00", b""]),
        (pair, [(1, "a"), (None, "a"), (None, "b"), None], [(1, "a"), (None, "a")]),
        (listed, [[], [nan], [0.0, None], [1.0], None], [[], [nan], [-0.0, None]]),
    ]
    for type, given, options in cases:
        table = values([type], [(value,) for value in given])
        column_ = col(table, 0)
        wanted = [lit(type, option) for option in options]
        each = [call("equal", column_, option) for option in wanted]
        by_type: dict[Type, list[Any]] = {
            REAL_: [float(n) + 100 for n in range(12)],
            single: [float(n) + 100 for n in range(12)],
            TEXT_: [f"z{n}" for n in range(12)],
        }
        fillers = by_type.get(type, [])
        cells: list[Expression] = [
            call("or", *each),
            SingularOrList(value=column_, options=tuple(wanted)),
            SingularOrList(value=column_, options=(*wanted, *(lit(type, value) for value in fillers))),
            MultiOrList(value=(column_,), options=tuple((option,) for option in wanted)),
            SwitchExpression(
                match=column_, ifs=tuple(IfValue(option, truth(True)) for option in wanted), else_=truth(False)
            ),
            SingularOrList(value=column_, options=(*wanted, lit(type, None))),
        ]
        for value, (either, short, long, multi, switch, with_null) in zip(
            given, rows(spark, project(table, *cells)), strict=True
        ):
            assert short == long == multi == either, (type, value)
            assert switch == (either is True)
            assert with_null == (True if either else None)
            assert (either is None) == (value is None)


def test_null_among_the_options(spark: SparkSession) -> None:
    table = values([INT_], [(1,), (2,), (None,)])
    x = col(table, 0)
    null = number(None)
    cells: list[Expression] = [
        SingularOrList(value=x, options=(null,)),
        SingularOrList(value=x, options=(number(1), null)),
        SingularOrList(value=x, options=()),
        SingularOrList(value=null, options=(number(1),)),
        MultiOrList(value=(x, number(1)), options=((null, number(2)),)),
        MultiOrList(value=(x, number(1)), options=((null, number(1)), (number(1), number(1)))),
        SwitchExpression(match=x, ifs=(IfValue(null, text("null")), IfValue(number(1), text("one")))),
        IfThen(ifs=(IfClause(call("equal", x, null), number(1)),), else_=number(2)),
    ]
    assert rows(spark, project(table, *cells)) == [
        (None, True, False, None, False, True, "one", 2),
        (None, None, False, None, False, None, None, 2),
        (None, None, False, None, False, None, None, 2),
    ]


# constructors --------------------------------------------------------------------------------------------------------


def test_keys_of_made_maps(spark: SparkSession) -> None:
    table = values([INT_, INT], [(1, 2), (3, 4)])
    node = NestedMap(key_values=((col(table, 1), text("a")), (col(table, 0), text("b"))))
    assert tuples(run(spark, project(table, node))) == [([(2, "a"), (1, "b")],), ([(4, "a"), (3, "b")],)]
    for row, match in (((5, 5), "DUPLICATED_MAP_KEY"), ((None, 5), "NULL_MAP_KEY")):
        bad = values([INT_, INT], [row])
        made = NestedMap(key_values=((col(bad, 1), text("a")), (col(bad, 0), text("b"))))
        with pytest.raises(ExecutionError, match=match):
            rows(spark, project(bad, made))


def test_nullable_structs_of_expressions(spark: SparkSession) -> None:
    table = values([INT_, LONG_], [(1, None), (None, 3)])
    node = NestedStruct(fields=(col(table, 0), NestedStruct(fields=(col(table, 1),), nullable=True)), nullable=True)
    choice = IfThen(ifs=(IfClause(call("is_null", col(table, 0)), node),))
    assert str(choice.type) == "struct?<i32?, struct?<i64?>>"
    found = [row[0] for row in rows(spark, project(table, choice))]
    assert found[0] is None
    assert [found[1]["n1"], *found[1]["n2"].values()] == [None, 3]


def test_what_has_no_equality_or_no_truth_is_refused() -> None:
    mapped = Map(key=TEXT, value=INT)
    table = values([mapped, INT], [])
    value = col(table, 0)
    inside = NestedStruct(fields=(value,))
    for node in (
        SingularOrList(value=value, options=(value,)),
        MultiOrList(value=(col(table, 1), inside), options=((number(1), inside),)),
        SwitchExpression(match=value, ifs=(IfValue(lit(mapped, {"a": 1}), number(1)),)),
    ):
        with pytest.raises(UnsupportedPlanError, match="no equality of maps"):
            ps.to_sql(plan(project(table, node)))
    with pytest.raises(InvalidPlanError, match="a condition is a boolean, but this is i32"):
        ps.to_sql(plan(project(table, IfThen(ifs=(IfClause(number(1), number(2)),)))))


def test_floats_of_choices_stay_what_they_are(spark: SparkSession) -> None:
    table = values([REAL], [(-0.0,), (math.nan,), (math.inf,)])
    node = IfThen(ifs=(IfClause(truth(True), col(table, 0)),), else_=lit(REAL, 1.0))
    found = [row[0] for row in rows(spark, project(table, node))]
    assert [str(value) for value in found] == ["-0.0", "nan", "inf"]

"""Plans at whose edges engines part: each has the rows that are worked out here, or is refused."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal as Number
from typing import Any

from pyspark_substrait.engines import dialects
from pyspark_substrait.engines.dialects import standard
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions import engines
from pyspark_substrait.model.expressions import (
    BoundsType,
    Cast,
    CurrentRow,
    DynamicParameter,
    Expression,
    FailureBehavior,
    FunctionOption,
    InPredicate,
    Preceding,
    PredicateOp,
    ScalarSubquery,
    SetPredicate,
    SingularOrList,
    SortDirection,
    Unbounded,
    WindowFunction,
)
from pyspark_substrait.model.relations import Fetch, JoinType, LateralJoin, Measure, Read, Relation, Set, SetOp, Sort
from pyspark_substrait.model.types import I8, Binary, Decimal, PrecisionTimestampTZ, with_nullability
from tests.dialects.engines import Engine, EngineFault
from tests.spark.plans import (
    BOOL,
    INT,
    INT_,
    LONG,
    REAL,
    REAL_,
    TEXT,
    aggregate,
    both,
    call,
    col,
    emit,
    group,
    join,
    lit,
    long,
    number,
    outer,
    plan,
    project,
    sort,
    text,
    truth,
    values,
    where,
)

_FAILS = FailureBehavior.THROW_EXCEPTION
_NOWHERE = frozenset(
    {
        "no number as a decimal",
        "quotients by zeros, an error",
        "numbers of more than 8 bits",
        "like with escapes in a column",
    }
)
_RATIOS = (("10.00", "3.00"), ("-10.00", "6.00"), ("0.01", "99999.99"))
#: sums over frames that numbers leave
_MOVING = frozenset({"sum from here on", "sum of two", "average of two"})
#: cases of NaN, which SQLite hasn't got
_NAN = frozenset(
    f"{name} with NaN" for name in ("equal", "not_equal", "lt", "lte", "gt", "gte", "is_not_distinct_from", "between")
) | {"NaN in an order, nulls first", "NaN in an order, nulls last"}
#: the cases that a dialect refuses, or that its engine doesn't run
LACKING = {
    "duckdb": _NOWHERE | {"tiny numbers as fractions", "a half with 38 places as text"},
    "postgres": _NOWHERE
    | {
        "distinct texts in an order",
        "tiny numbers as fractions",
        "sum of infinities",
        "avg of infinities",
        "names of 71 bytes",
        "a zone with the name of a winter time",
    },
    "trino": _NOWHERE
    | _MOVING
    | {
        "an aggregate of outer columns",
        "an aggregate with outer columns: its argument",
        "an aggregate with outer columns: its condition",
        "an aggregate with outer columns: both",
        "an outer column as a key",
        "outer columns without a match",
        "a lateral join without a match",
    },
    "datafusion": _NOWHERE
    | _MOVING
    | {
        "texts in an order",
        "distinct texts in an order",
        "tiny numbers as fractions",
        "a zone with the name of a winter time",
        "a lateral join without a match",
        "an outer column as a key",
        "in an ordered and limited query",
        "an aggregate of outer columns",
        "an aggregate with outer columns: its argument",
        "an aggregate with outer columns: its condition",
        "an aggregate with outer columns: both",
    },
    "sqlite": _NOWHERE
    | _MOVING
    | _NAN
    | {
        "texts in an order",
        "distinct texts in an order",
        "decimals with 0 places",
        "decimals with 2 places",
        "quotients by zeros, null",
        "quotients, an error by zero",
        "quotients, null by zero",
        "shifts of None",
        "shifts of extension:pyspark_substrait:functions_spark_arithmetic",
        "quotients of decimals as in Spark",
        "order of computed numbers",
        "extremes of computed numbers",
        "groups of computed numbers",
        "comparison of computed numbers",
        "fractions as texts",
        "a half with 38 places",
        "a half with 38 places as text",
        "tiny numbers as fractions",
        "sum of infinities",
        "avg of infinities",
        "a zone with the name of a winter time",
        "a lateral join without a match",
        "an outer column as a key",
        "replace of nothing",
        "order of numbers",
        "extremes",
    },
}


@dataclass(frozen=True)
class Case:
    """A plan and its rows.

    Args:
        name: what is tried.
        relation: the plan.
        expected: its rows, in any order unless they are sorted.
        parameters: values of dynamic parameters.
        is_sorted: whether the order of rows counts.
    """

    name: str
    relation: Relation
    expected: list[tuple[Any, ...]]
    parameters: dict[int, object] | None = None
    is_sorted: bool = False


def _numbers(*numbers: int | None) -> Read:
    return values([INT_], [(one,) for one in numbers])


def _limited(count: int) -> Fetch:
    table = values([INT, INT], [(1, 9), (2, 8), (3, 7)])
    ordered = Sort(input=table, sorts=(sort(col(table, 1)),))
    return Fetch(input=project(ordered, col(ordered, 0)), count_expr=long(count))


def cases() -> Iterator[Case]:
    """Yield the cases."""
    three = _numbers(1, None, 3)
    yield from _computed_numbers()
    yield from _casts()
    yield from _quotients()
    yield from _memberships()
    yield from _frames()
    yield from _conditions()
    yield from _names()
    # distinct arguments
    yield Case("count of distinct constants", group(three, [], [aggregate("count", text("x"), distinct=True)]), [(1,)])
    never = where(three, truth(False))
    yield Case("the same of nothing", group(never, [], [aggregate("count", text("x"), distinct=True)]), [(0,)])
    yield Case("count of a null constant", group(three, [], [aggregate("count", number(None))]), [(0,)])
    letters = values([INT, TEXT], [(1, "b"), (2, "a"), (3, "c"), (4, "a")])
    backwards = (sort(col(letters, 0), SortDirection.DESC_NULLS_LAST),)
    joined = aggregate("string_agg", col(letters, 1), text(","), sorts=backwards)
    yield Case("texts in an order", group(letters, [], [joined]), [("a,c,a,b",)])
    by_itself = (sort(col(letters, 1), SortDirection.DESC_NULLS_LAST),)
    joined = aggregate("string_agg", col(letters, 1), text(","), distinct=True, sorts=by_itself)
    yield Case("distinct texts in an order", group(letters, [], [joined]), [("c,b,a",)])
    zeros = values([REAL], [(0.0,), (-0.0,), (1.0,)])
    yield Case("distinct zeros", group(zeros, [], [aggregate("count", col(zeros, 0), distinct=True)]), [(2,)])
    yield Case("groups of zeros", group(zeros, [col(zeros, 0)], [aggregate("count")]), [(0.0, 2), (1.0, 1)])
    pairs = values([REAL, REAL], [(0.0, -0.0), (1.0, 2.0)])
    yield Case("nullif of zeros", project(pairs, call("nullif", col(pairs, 0), col(pairs, 1))), [(None,), (1.0,)])
    truths = values([BOOL] * 3, [(False, False, False), (True, True, False), (False, True, True), (True, True, True)])
    same = call("is_not_distinct_from", col(truths, 0), col(truths, 1))
    both = (call("and", same, col(truths, 2)), call("or", col(truths, 2), same))
    found = [(False, True), (False, True), (False, True), (True, True)]
    yield Case("a condition after IS NOT DISTINCT FROM", project(truths, *both), found)
    # subqueries
    haystack = _limited(1)
    needle = values([INT], [(1,), (3,)])
    inside = InPredicate(needles=(col(needle, 0),), haystack=haystack)
    yield Case("in an ordered and limited query", project(needle, col(needle, 0), inside), [(1, False), (3, True)])
    yield Case("a filter by it", where(needle, inside), [(3,)])
    yield Case("a scalar of one", project(needle, ScalarSubquery(input=haystack)), [(3,), (3,)])
    # outer columns as they are, in the places of columns
    inner = values([INT], [(1,)])
    of_outer = project(inner, outer(needle, 0, steps_out=1))
    total = group(of_outer, [], [aggregate("sum", col(of_outer, 0))])
    yield Case("an aggregate of outer columns", project(needle, ScalarSubquery(input=total)), [(1,), (3,)])
    own = col(inner, 0)
    above = outer(needle, 0, steps_out=1)
    larger = call("gt", above, number(2))
    for name, measure, expected in (
        ("its argument", aggregate("sum", above), [(1, 1), (3, 3)]),
        ("its condition", Measure(measure=aggregate("count"), filter=larger), [(1, 0), (3, 1)]),
        ("both", Measure(measure=aggregate("sum", call("add", above, own)), filter=larger), [(1, None), (3, 4)]),
    ):
        one = ScalarSubquery(input=group(inner, [], [measure]))
        yield Case(f"an aggregate with outer columns: {name}", project(needle, col(needle, 0), one), expected)
    grouped = ScalarSubquery(input=group(inner, [above], [], common=emit(0)))
    yield Case("an outer column as a key", project(needle, grouped), [(1,), (3,)])
    unmatched = join(values([INT], [(7,)]), of_outer, truth(False), JoinType.LEFT)
    missing = ScalarSubquery(input=Fetch(input=project(unmatched, col(unmatched, 1)), count_expr=long(1)))
    yield Case("outer columns without a match", project(needle, missing), [(None,), (None,)])
    right = project(inner, outer(needle, 0, steps_out=1))
    lateral = LateralJoin(left=needle, right=right, type=JoinType.LEFT, expression=truth(False))
    yield Case("a lateral join without a match", lateral, [(1, None), (3, None)])
    # constants as sort keys
    table = values([INT, INT], [(1, 3), (2, 2), (3, 1)])
    constants: list[tuple[Expression, dict[int, object] | None]] = [
        (Cast(input=number(1), type=INT), None),
        (DynamicParameter(type=INT, parameter_reference=0), {0: 1}),
        (call("coalesce", number(1), number(2)), None),
    ]
    for constant, parameters in constants:
        ordered = Sort(input=table, sorts=(sort(constant), sort(col(table, 1))))
        first = Fetch(input=ordered, count_expr=long(1))
        yield Case("a constant as a sort key", first, [(3, 1)], parameters=parameters)
    # names
    swapped = values([INT, INT], [(1, 3), (2, 2), (3, 1)], names=["n1", "n0"])
    ordered = Sort(input=swapped, sorts=(sort(col(swapped, 0), SortDirection.DESC_NULLS_LAST),))
    yield Case("columns with the names of others", ordered, [(3, 1), (2, 2), (1, 3)], is_sorted=True)
    odd = values([TEXT], [("a\n   b",), ("'\\%\"",), ("𝄞é",), ("",)], names=['sel"ect\n  x'])
    kept = Fetch(input=odd, count_expr=long(9))
    yield Case(
        "texts and names of several lines",
        where(kept, call("not_equal", col(kept, 0), text("a\n b"))),
        [("a\n   b",), ("'\\%\"",), ("𝄞é",), ("",)],
    )
    # grouping
    keyed = values([INT, INT], [(1, 1), (1, 2)])
    measure = aggregate("count")
    groupings: list[tuple[list[list[int]], list[tuple[Any, ...]]]] = [
        ([[]], [(None, 2)]),
        ([[0], [0]], [(1, 2, 0), (1, 2, 1)]),
        ([[], []], [(None, 2, 0), (None, 2, 1)]),
    ]
    for sets, rows in groupings:
        yield Case(f"grouping sets {sets}", group(keyed, [col(keyed, 0)], [measure], sets=sets), rows)
    nothing = where(keyed, truth(False))
    yield Case("grouping sets of nothing", group(nothing, [col(nothing, 0)], [measure], sets=[[0], []]), [(None, 0, 1)])
    yield Case("the empty set of nothing", group(nothing, [col(nothing, 0)], [measure], sets=[[]]), [(None, 0)])
    for source in (keyed, nothing):
        key = group(source, [col(source, 0)], [measure], sets=[[]], common=emit(0))
        yield Case("only the key of an empty set", key, [(None,)])
        yield Case("an empty set without measures", group(source, [col(source, 0)], [], sets=[[]]), [(None,)])
    two = group(keyed, [col(keyed, 0), col(keyed, 1)], [measure], sets=[[0]])
    yield Case("one set of some keys", two, [(1, None, 2)])

    # set operations
    def of(op: SetOp, *members: tuple[int | None, ...]) -> Set:
        return Set(members=tuple(_numbers(*one) for one in members), op=op)

    members = ((1, 1, None, None, 2, 4), (1, None, 3), (1, 1, 1, 2))
    for op, left in (
        (SetOp.MINUS_PRIMARY, [4]),
        (SetOp.MINUS_PRIMARY_ALL, [None, 4]),
        (SetOp.MINUS_MULTISET, [None, None, 2, 4]),
        (SetOp.INTERSECTION_PRIMARY, [1, None, 2]),
        (SetOp.INTERSECTION_MULTISET, [1]),
        (SetOp.INTERSECTION_MULTISET_ALL, [1]),
        (SetOp.UNION_DISTINCT, [1, None, 2, 3, 4]),
    ):
        yield Case(op.value, of(op, *members), [(one,) for one in left])
    # functions
    words = values([TEXT, TEXT], [("abc", ""), ("", ""), ("𝄞b", "b")])
    yield Case(
        "replace of nothing",
        project(words, call("replace", col(words, 0), col(words, 1), text("-"))),
        [("abc",), ("",), ("𝄞-",)],
    )
    yield Case("position", project(words, call("strpos", col(words, 0), col(words, 1))), [(1,), (1,), (2,)])
    yield Case("contains", project(words, call("contains", col(words, 0), col(words, 1))), [(True,)] * 3)
    yield Case("like", project(words, call("like", col(words, 0), text("_b%"))), [(True,), (False,), (True,)])
    for start in ("WRAP_FROM_END", "LEFT_OF_BEGINNING", "ERROR"):
        option = FunctionOption(name="negative_start", preference=(start,))
        second = replace(call("substring", col(words, 0), number(2), number(2)), options=(option,))
        yield Case(f"substring, negative_start={start}", project(words, second), [("bc",), ("",), ("b",)])
    prices = values([Decimal(precision=7, scale=2)] * 2, [(Number(x), Number(y)) for x, y in _RATIOS])
    ratio = call("divide", col(prices, 0), col(prices, 1), urn=standard.SPARK_ARITHMETIC)
    rounded = [(Number(value),) for value in ("3.3333333333", "-1.6666666667", "0.0000001000")]
    yield Case("quotients of decimals as in Spark", project(prices, ratio), rounded)
    floats = values([REAL_], [(math.nan,), (math.inf,), (None,), (-0.0,)])
    yield Case(
        "order of numbers",
        Sort(input=floats, sorts=(sort(col(floats, 0), SortDirection.DESC_NULLS_LAST),)),
        [(math.nan,), (math.inf,), (-0.0,), (None,)],
        is_sorted=True,
    )
    yield Case(
        "extremes",
        group(floats, [], [aggregate("min", col(floats, 0)), aggregate("max", col(floats, 0))]),
        [(0.0, math.nan)],
    )
    smallest = values([LONG, LONG], [(-(2**63), -1)])
    yield Case(
        "remainder of the smallest", project(smallest, call("modulus", col(smallest, 0), col(smallest, 1))), [(0,)]
    )


def _computed_numbers() -> Iterator[Case]:
    """Yield cases of numbers that aren't any: the sign of a computed NaN may be set."""
    infinite = values([REAL, REAL], [(math.inf, math.inf), (1.0, 0.0), (math.nan, 0.0)])
    found = project(infinite, call("subtract", col(infinite, 0), col(infinite, 1)))
    ordered = Sort(input=found, sorts=(sort(col(found, 0)),))
    yield Case("order of computed numbers", ordered, [(1.0,), (math.nan,), (math.nan,)], is_sorted=True)
    extremes = [aggregate("min", col(found, 0)), aggregate("max", col(found, 0))]
    yield Case("extremes of computed numbers", group(found, [], extremes), [(1.0, math.nan)])
    groups = group(found, [col(found, 0)], [aggregate("count")])
    yield Case("groups of computed numbers", groups, [(math.nan, 2), (1.0, 1)])
    larger = project(found, call("gt", col(found, 0), lit(REAL, 1.0)))
    yield Case("comparison of computed numbers", larger, [(True,), (False,), (True,)])
    huge = values([REAL], [(1e308,), (-1e308,)])
    opposite = project(huge, call("multiply", col(huge, 0), lit(REAL, 10.0)))
    for name in ("sum", "avg"):
        none = group(opposite, [], [aggregate(name, col(opposite, 0))])
        yield Case(f"{name} of infinities", none, [(math.nan,)])
    cast = Cast(input=col(infinite, 0), type=Decimal(precision=9, scale=2), failure_behavior=_FAILS)
    only = where(infinite, call("is_nan", col(infinite, 0)))
    yield Case("no number as a decimal", project(only, cast), [])  # an error


def _quotients() -> Iterator[Case]:
    """Yield cases of quotients, of rounded decimals, and of shifts."""

    def by(outcome: str) -> Expression:
        stated = {"rounding": "TIE_TO_EVEN", "on_domain_error": "NAN", "on_division_by_zero": outcome}
        options = tuple(FunctionOption(name=name, preference=(value,)) for name, value in stated.items())
        return replace(call("divide", col(pairs, 0), col(pairs, 1)), options=options)

    pairs = values([REAL_, REAL_], [(3.0, 2.0), (math.nan, 0.0), (None, 0.0), (1.0, None), (math.inf, math.inf)])
    rows = [(1.5,), (math.nan,), (None,), (None,), (math.nan,)]
    yield Case("quotients, an error by zero", project(pairs, by("ERROR")), rows)
    yield Case("quotients, null by zero", project(pairs, by("NULL")), rows)
    pairs = values([REAL_, REAL_], [(3.0, 2.0), (1.0, 0.0), (0.0, -0.0)])
    yield Case("quotients by zeros, null", project(pairs, by("NULL")), [(1.5,), (None,), (None,)])
    yield Case("quotients by zeros, an error", project(pairs, by("ERROR")), [])  # an error
    type = Decimal(precision=6, scale=3)
    prices = values([type], [(Number(text),) for text in ("2.345", "-2.345", "999.995", "0.004")])
    for places, texts in ((2, ("2.350", "-2.350", "1000.000", "0.000")), (0, ("2.000", "-2.000", "1000.000", "0.000"))):
        rounded = call("round", col(prices, 0), number(places))
        rounded = replace(rounded, options=(FunctionOption(name="rounding", preference=("TIE_AWAY_FROM_ZERO",)),))
        yield Case(f"decimals with {places} places", project(prices, rounded), [(Number(text),) for text in texts])
    shifted = values([INT, LONG], [(-5, -(2**40) - 1), (5, 2**40)])
    for urn in (None, standard.SPARK_ARITHMETIC):
        both = (call("shift_right", col(shifted, place), number(3), urn=urn) for place in (0, 1))
        yield Case(f"shifts of {urn}", project(shifted, *both), [(-1, -(2**37) - 1), (0, 2**37)])
    bytes_ = values([LONG, LONG], [(-128, 1), (100, 27), (127, -127)])
    small = (Cast(input=col(bytes_, place), type=I8(), failure_behavior=_FAILS) for place in (0, 1))
    yield Case("numbers of 8 bits", project(bytes_, call("add", *small)), [(-127,), (127,), (0,)])
    over = values([LONG, LONG], [(100, 28)])
    small = (Cast(input=col(over, place), type=I8(), failure_behavior=_FAILS) for place in (0, 1))
    yield Case("numbers of more than 8 bits", project(over, call("add", *small)), [])  # an error
    numbers = values(
        [REAL_, REAL_], [(math.nan, 1.0), (1.0, math.nan), (math.nan, math.nan), (None, math.nan), (1.0, 1.0)]
    )
    for name, found in (
        ("equal", (False, False, True, None, True)),
        ("not_equal", (True, True, False, None, False)),
        ("lt", (False, True, False, None, False)),
        ("lte", (False, True, True, None, True)),
        ("gt", (True, False, False, None, False)),
        ("gte", (True, False, True, None, True)),
        ("is_not_distinct_from", (False, False, True, False, True)),
    ):
        compared = project(numbers, call(name, col(numbers, 0), col(numbers, 1)))
        yield Case(f"{name} with NaN", compared, [(one,) for one in found])
    between = call("between", col(numbers, 0), lit(REAL, 1.0), col(numbers, 1))
    yield Case("between with NaN", project(numbers, between), [(False,), (True,), (True,), (None,), (True,)])
    for nulls, kind in (("first", SortDirection.ASC_NULLS_FIRST), ("last", SortDirection.ASC_NULLS_LAST)):
        ordered: list[tuple[Any, ...]] = [(1.0,), (1.0,), (math.nan,), (math.nan,)]
        ordered = [(None,), *ordered] if nulls == "first" else [*ordered, (None,)]
        way = Sort(input=project(numbers, col(numbers, 0)), sorts=(sort(col(numbers, 0), kind),))
        yield Case(f"NaN in an order, nulls {nulls}", way, ordered, is_sorted=True)


def _casts() -> Iterator[Case]:
    """Yield cases of casts."""
    small = Decimal(precision=2, scale=2)
    fractions = values([small], [("0.99",), ("-0.01",), ("0",)])
    as_text = project(fractions, Cast(input=col(fractions, 0), type=TEXT, failure_behavior=_FAILS))
    yield Case("fractions as texts", as_text, [("0.99",), ("-0.01",), ("0.00",)])
    smallest = Decimal(precision=38, scale=38)
    half = values([smallest], [("0.5",)])
    yield Case("a half with 38 places", project(half, call("equal", col(half, 0), lit(smallest, "0.5"))), [(True,)])
    doubled = Cast(input=col(half, 0), type=TEXT, failure_behavior=_FAILS)
    yield Case("a half with 38 places as text", project(half, doubled), [(f"0.5{'0' * 37}",)])
    tiny = values([REAL], [(1e-7,), (0.5,)])
    nulls = Cast(input=col(tiny, 0), type=with_nullability(small, True), failure_behavior=FailureBehavior.RETURN_NULL)
    yield Case("tiny numbers as fractions", project(tiny, nulls), [(Number("0.00"),), (Number("0.50"),)])


def _memberships() -> Iterator[Case]:
    """Yield cases of memberships that are unknown."""
    three = _numbers(1, 2, None)
    found = InPredicate(needles=(col(three, 0),), haystack=_numbers(1, None))
    missing = call("not", found)
    for name, condition, expected in (
        ("in", found, [1]),
        ("not in", missing, []),
        ("an alternative to not in", call("or", call("equal", col(three, 0), number(2)), missing), [2]),
        ("unknown in", call("is_null", found), [2, None]),
        ("in, or a default", call("coalesce", found, truth(True)), [1, 2, None]),
    ):
        yield Case(name, where(three, condition), [(one,) for one in expected])


def _frames() -> Iterator[Case]:
    """Yield cases of sums over frames that large numbers leave."""
    table = values([INT, REAL], [(1, 1e20), (2, 1.0), (3, 2.0)])
    one = Preceding(long(1))
    for name, function, lower, upper, expected in (
        ("sum up to here", "sum", Unbounded(), CurrentRow(), [1e20, 1e20, 1e20]),
        ("sum from here on", "sum", CurrentRow(), Unbounded(), [1e20, 3.0, 2.0]),
        ("sum of two", "sum", one, CurrentRow(), [1e20, 1e20, 3.0]),
        ("average of two", "avg", one, CurrentRow(), [1e20, 5e19, 1.5]),
    ):
        called = aggregate(function, col(table, 1))
        window = WindowFunction(
            function=called.function,
            arguments=called.arguments,
            output_type=called.output_type,
            derived_type=called.derived_type,
            sorts=(sort(col(table, 0)),),
            bounds_type=BoundsType.ROWS,
            lower_bound=lower,
            upper_bound=upper,
        )
        yield Case(name, project(table, window), [(value,) for value in expected])


def _conditions() -> Iterator[Case]:
    """Yield cases of conditions without columns."""
    one = _numbers(1)
    largest = ScalarSubquery(input=group(one, [], [aggregate("max", col(one, 0))]))
    total = group(_numbers(1, 2), [], [aggregate("count")])
    for name, condition, expected in (
        ("a condition without columns", call("gt", largest, number(5)), []),
        ("such a condition that is true", call("lt", largest, number(5)), [(2,)]),
    ):
        yield Case(name, where(total, condition), expected)
    constant = project(total, number(5), col(total, 0))
    rolled_up = group(where(_numbers(1), truth(False)), [col(one, 0)], [aggregate("count")], sets=[[0], []])
    for name, of, condition, rows in (
        ("a condition of a constant", constant, call("equal", col(constant, 0), number(3)), []),
        ("such a condition that holds", constant, call("equal", col(constant, 0), number(5)), [(5, 2)]),
        ("a condition of a key that a set lacks", rolled_up, call("equal", col(rolled_up, 0), number(3)), []),
    ):
        yield Case(name, where(of, condition), rows)
    some = _numbers(1, 2, 3)
    skipped = Sort(input=Fetch(input=Sort(input=some, sorts=(sort(col(some, 0)),)), offset_expr=long(1)), sorts=(
        sort(col(some, 0), SortDirection.DESC_NULLS_LAST),
    ))  # fmt: skip
    yield Case("an offset below a sort", skipped, [(3,), (2,)], is_sorted=True)
    none = where(one, truth(False))
    filled = join(total, none, truth(True), JoinType.LEFT)
    yield Case("a condition of a column that no record fills", where(filled, call("gt", col(filled, 1), number(0))), [])
    yield Case("a join of an aggregate by no column", join(total, one, truth(False), JoinType.LEFT_SEMI), [])
    keys = values([INT_], [(1,), (None,)])
    key = outer(keys, 0, steps_out=1)
    itself = SingularOrList(value=key, options=(key,))
    inner = SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=where(one, itself))
    yield Case("a value among itself", where(keys, inner), [(1,)])
    two = both(keys, keys)
    pairs = join(keys, keys, call("equal", col(two, 0), col(two, 1)), JoinType.OUTER)
    alone = where(pairs, call("is_null", col(pairs, 0)))
    united = Set(members=(alone, alone), op=SetOp.UNION_ALL)
    yield Case("outer joins in a union", where(united, call("is_null", col(united, 1))), [(None, None)] * 4)
    bytes_ = values([Binary()], [(b"",), (b"\0a",)])
    yield Case(
        "binary constants", project(bytes_, col(bytes_, 0), lit(Binary(), b"ab")), [(b"", b"ab"), (b"\0a", b"ab")]
    )


def _names() -> Iterator[Case]:
    """Yield cases of names that mean something else to an engine."""
    long_names = [f"{'n' * 70}{end}" for end in "ab"]
    two = values([INT, INT], [(1, 2)], names=long_names)
    yield Case("names of 71 bytes", project(Fetch(input=two, count_expr=long(1)), col(two, 1), col(two, 0)), [(2, 1)])
    noon = values([PrecisionTimestampTZ(precision=6)], [(1_719_835_200_000_000,)])  # of 1 July 2024
    local = project(noon, call("local_timestamp", col(noon, 0), text("CET")))
    yield Case("a zone with the name of a winter time", local, [(1_719_842_400_000_000,)])
    texts = values([TEXT, TEXT, TEXT], [("a%", "a!%", "!"), ("ab", "a!%", "!"), ("a!b", "a!%", "x")])
    like = call("like", *(col(texts, place) for place in range(3)), urn=engines.DATAFUSION.urn)
    yield Case("like with escapes in a column", project(texts, like), [(True,), (False,), (True,)])


def _written(rows: list[tuple[Any, ...]]) -> list[str]:
    """Return rows as texts, in which zeros are the same."""
    return [repr(tuple(0.0 if cell == 0.0 and isinstance(cell, float) else cell for cell in row)) for row in rows]


def test_rows(engine: Engine) -> None:
    lacking, wrong = set(), []
    for case in cases():
        try:
            text = dialects.statement(plan(case.relation), dialects.dialect(engine.name), parameters=case.parameters)
            rows = engine.rows(text, case.relation.schema.types)
        except (UnsupportedPlanError, EngineFault):
            lacking.add(case.name)
            continue
        found, expected = _written(rows), _written(case.expected)
        if (found if case.is_sorted else sorted(found)) != (expected if case.is_sorted else sorted(expected)):
            wrong.append(f"{case.name}: {rows} instead of {case.expected}\n{text}")
    assert not wrong, "\n".join(wrong)
    assert sorted(lacking) == sorted(LACKING[engine.name])

"""Plans made for DataFusion, and what it gives for them, beside values worked out with Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pyspark_substrait as ps
from pyspark_substrait.builder import call, lit, read
from pyspark_substrait.documents import Plan
from pyspark_substrait.engines import sessions
from pyspark_substrait.model.masks import MaskExpression, StructItem, StructSelect
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.relations import Cross, Filter, Join, Read, Relation
from pyspark_substrait.model.walk import relations_within

pytest.importorskip("datafusion")

DIVIDENDS = ["100.00", "-200.00", "2.00", "0.01", "-0.01", "99999.99", "-1.00", None]
DIVISORS = ["3.00", "3.00", "-3.00", "7.00", "8.00", "0.07", "6.00", "1.00"]


def rows(frame: Any, tables: dict[str, pa.Table]) -> list[tuple[Any, ...]]:
    plan = ps.for_target(frame.to_plan(), "datafusion")
    found = sessions.session("datafusion", tables).run(plan.to_bytes())
    return list(zip(*(column.to_pylist() for column in found.columns), strict=True))


def decimals(values: list[str | None], type: pa.DataType) -> pa.Array:
    return pa.array([None if value is None else Decimal(value) for value in values], type)


@pytest.mark.parametrize(
    ("left", "right"), [((7, 2), (7, 2)), ((12, 2), (12, 4)), ((12, 4), (9, 2)), ((18, 8), (9, 2))]
)
def test_a_quotient_of_decimals_is_rounded_to_the_digits_of_the_plan(
    left: tuple[int, int], right: tuple[int, int]
) -> None:
    tables = {
        "t": pa.table(
            {"a": decimals(DIVIDENDS, pa.decimal128(*left)), "b": decimals(DIVISORS, pa.decimal128(*right))}  # type: ignore[arg-type]
        )
    }
    table = read("t", {"a": f"decimal?<{left[0]},{left[1]}>", "b": f"decimal?<{right[0]},{right[1]}>"})
    frame = table.select(q=lambda t: t.a / t.b)
    scale = max(6, left[1] + right[0] + 1)  # functions_arithmetic_decimal: divide
    expected = [
        (None if one is None else (Decimal(one) / Decimal(other)).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP),)
        for one, other in zip(DIVIDENDS, DIVISORS, strict=True)
    ]
    assert rows(frame, tables) == expected


def test_a_product_of_decimals_has_the_digits_of_the_plan() -> None:
    """By the specification a product of (38,17) and (3,0) is a (38,13), rounded; in DataFusion it has all 17 digits."""
    tables = {"t": pa.table({"a": decimals(["0.99255583126550868", None], pa.decimal128(38, 17))})}
    table = read("t", {"a": "decimal?<38,17>"})
    frame = table.select(p=lambda t: t.a * lit(Decimal(100), "decimal<3,0>"))
    assert rows(frame, tables) == [(Decimal("99.2555831265509"),), (None,)]


@pytest.mark.parametrize("places", [0, 1, 2, -1])
def test_decimals_are_rounded(places: int) -> None:
    values = ["1.250", "-1.250", "1.249", "0.000", "95.500", "-95.500", "99999.999", None]
    tables = {"t": pa.table({"a": decimals(values, pa.decimal128(8, 3))})}
    frame = read("t", {"a": "decimal?<8,3>"}).select(
        r=lambda t: call("round", t.a, lit(places, "i32"), options={"rounding": "TIE_AWAY_FROM_ZERO"})
    )
    unit = Decimal(1).scaleb(-places)
    expected = [
        (None if value is None else (Decimal(value) / unit).quantize(Decimal(1), ROUND_HALF_UP) * unit,)
        for value in values
    ]
    assert rows(frame, tables) == expected


@pytest.mark.parametrize("sign", [1, -1])
def test_sparks_average_of_decimals_is_rounded(sign: int) -> None:
    tables = {"t": pa.table({"a": decimals([f"{sign * 2}.00", "0.00", "0.00"], pa.decimal128(7, 2))})}
    table = read("t", {"a": "decimal?<7,2>"})
    urn = "extension:pyspark_substrait:functions_spark_statistics"
    frame = table.agg(mean=lambda t: call("avg", t.a, urn=urn))
    assert rows(frame, tables) == [(sign * Decimal("0.666667"),)]


@pytest.mark.parametrize("bits", [0, 1, 31])
@pytest.mark.parametrize(
    ("name", "shifted"), [("shift_left", lambda value, bits: value << bits), ("shift_right", lambda a, bits: a >> bits)]
)
def test_bits_are_shifted(name: str, shifted: Callable[[int, int], int], bits: int) -> None:
    values = [0, 1, -1, 12345, -12345]
    tables = {"t": pa.table({"a": pa.array(values, pa.int64())})}
    frame = read("t", {"a": "i64?"}).select(s=lambda t: call(name, t.a, lit(bits, "i32")))
    assert rows(frame, tables) == [(shifted(value, bits),) for value in values]


def test_another_number_of_bits_is_refused() -> None:
    plan = read("t", {"a": "i64?"}).select(s=lambda t: call("shift_left", t.a, lit(64, "i32"))).to_plan()
    with pytest.raises(ps.UnsupportedPlanError, match="64"):
        ps.for_target(plan, "datafusion")


# filters of reads -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("target", ["datafusion", "acero"])
def test_the_filter_of_a_read_leaves_records_out(target: str, masked: bool, tmp_path: Path) -> None:
    """These engines look at it only to skip parts of a file, and give the other records of the rest."""
    tables = {"t": pa.table({"a": pa.array([1, 2, 3], pa.int64()), "b": ["x", "y", "z"]})}
    paths = {"t": str(tmp_path / "t.parquet")}
    pq.write_table(tables["t"], paths["t"])
    given = read("t", {"a": "i64?", "b": "string?"}).filter(lambda t: t.a > 1).to_plan()
    above = root(given)
    assert isinstance(above, Filter)
    assert isinstance(above.input, Read)
    mask = MaskExpression(select=StructSelect((StructItem(1),))) if masked else None
    inside = replace(above.input, filter=above.condition, projection=mask)
    assert isinstance(given.relations[-1], RelRoot)
    names = ("b",) if masked else ("a", "b")
    plan = replace(given, relations=(RelRoot(input=inside, names=names),))
    found = sessions.session(target, paths).run(ps.for_target(plan, target).to_bytes())
    assert found.column(found.num_columns - 1).to_pylist() == ["y", "z"]
    assert found.num_columns == len(names)


# joins out of filters -------------------------------------------------------------------------------------------------

SIDES = {
    "a": pa.table({"a1": pa.array([1, 2, 2, None], pa.int64()), "a2": ["x", "y", "z", "w"]}),
    "b": pa.table({"b1": pa.array([10, 20, 30], pa.int64()), "b2": ["k", "l", None]}),
    "c": pa.table({"c1": pa.array([1, 2, None], pa.int64()), "c2": pa.array([10, 20, 30], pa.int64())}),
}
A, B, C = {"a1": "i64?", "a2": "string?"}, {"b1": "i64?", "b2": "string?"}, {"c1": "i64?", "c2": "i64?"}


def crossed() -> Any:
    """The tables as ``FROM a, b, c``: nothing ties b to a."""
    return read("a", A).cross_join(read("b", B)).cross_join(read("c", C))


def root(plan: Plan) -> Relation:
    tree = plan.relations[-1]
    assert isinstance(tree, RelRoot)
    return tree.input


def inputs(plan: Plan) -> list[Any]:
    return [node for node in relations_within(root(plan)) if isinstance(node, Cross | Join)]


@pytest.mark.parametrize("target", ["datafusion", "acero"])
def test_a_filter_over_cross_products_becomes_joins_of_what_is_tied(target: str) -> None:
    frame = crossed().filter(lambda t: t.a1 == t.c1, lambda t: t.c2 == t.b1, lambda t: t.a2 != "y")
    given = frame.to_plan()
    made = ps.for_target(given, target)
    assert [type(node) for node in inputs(made)] == [Join, Join]
    assert root(made).schema == root(given).schema


def test_the_rows_of_such_joins_stay_as_they_were() -> None:
    expected = [(1, "x", 10, "k", 1, 10), (2, "z", 20, "l", 2, 20)]
    tied = crossed().filter(lambda t: t.a1 == t.c1, lambda t: t.b1 == t.c2, lambda t: t.a2 != "y")
    assert sorted(rows(tied, SIDES)) == expected
    assert sorted(rows(crossed().filter(lambda t: t.a1 == t.c1, lambda t: t.b1 == t.c2), SIDES)) == sorted(
        [*expected, (2, "y", 20, "l", 2, 20)]
    )
    partly = crossed().filter(lambda t: t.a1 == t.c1, lambda t: t.b1 < t.c2)  # b is tied to nothing
    assert sorted(rows(partly, SIDES)) == [(2, "y", 10, "k", 2, 20), (2, "z", 10, "k", 2, 20)]


def test_a_cross_product_that_nothing_ties_stays_one() -> None:
    plan = crossed().filter(lambda t: t.a1 == 1).to_plan()
    assert [type(node) for node in inputs(ps.for_target(plan, "datafusion"))] == [Cross, Cross]


# references into columns ----------------------------------------------------------------------------------------------

PAIRS: list[dict[str, Any] | None] = [{"x": 1, "y": "a"}, None, {"x": None, "y": "b"}, {"x": 4, "y": None}]
NESTED = pa.table(
    {
        "id": pa.array([1, 2, 3, 4], pa.int64()),
        "s": pa.array(PAIRS, pa.struct([("x", pa.int64()), ("y", pa.string())])),
        "deep": pa.array([{"in": {"n": 7}}, None, {"in": None}, {"in": {"n": None}}]),
        "l": pa.array([PAIRS[:1], PAIRS[2:], [], None], pa.list_(pa.struct([("x", pa.int64()), ("y", pa.string())]))),
        "m": pa.array([[("k", 1)], [("k", None), ("j", 2)], [], None], pa.map_(pa.string(), pa.int64())),
    }
)


def test_fields_elements_and_values_of_keys() -> None:
    """A field of a null is null, also where Arrow stores a value behind it, as it does in this table."""
    table = read("t", NESTED.schema)
    frame = table.select(
        "id",
        x=lambda t: t.s["x"],
        n=lambda t: t.deep["in"]["n"],
        first=lambda t: t.l[0]["y"],
        last=lambda t: t.l[-1]["x"],
        k=lambda t: t.m["k"],
    )
    assert rows(frame, {"t": NESTED}) == [
        (1, 1, 7, "a", 1, 1),
        (2, None, None, "b", 4, None),
        (3, None, None, None, None, None),
        (4, 4, None, None, None, None),
    ]


def test_fields_in_conditions_sorts_and_groups() -> None:
    table = read("t", NESTED.schema)
    chosen = table.filter(lambda t: t.s["x"] > 0).sort(lambda t: t.s["y"].desc(nulls="first")).select("id")
    assert rows(chosen, {"t": NESTED}) == [(4,), (1,)]
    groups = table.group_by(y=lambda t: t.s["y"]).agg(n=call("count", lit(1, "i64")))
    assert sorted(rows(groups, {"t": NESTED}), key=str) == [("a", 1), ("b", 1), (None, 2)]


def test_a_field_with_two_names_is_refused() -> None:
    other = pa.struct([("y", pa.int64()), ("x", pa.string())])
    table = read("t", NESTED.schema).join(read("u", pa.schema([("o", other)])), on=lambda t, u: t.s["x"] == u.o["y"])
    with pytest.raises(ps.UnsupportedPlanError, match="finds fields by their names"):
        ps.for_target(table.to_plan(), "datafusion")

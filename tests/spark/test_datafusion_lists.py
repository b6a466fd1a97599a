"""DataFusion's functions of lists on Spark: each call, over lists at the edges, gives what DataFusion gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import pyspark_substrait as ps
from tests.spark.test_datafusion_functions import NAN, alike, calls

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

datafusion = pytest.importorskip("datafusion")
substrait = pytest.importorskip("datafusion.substrait")

TABLE = pa.table(
    {
        "id": pa.array(range(8), pa.int64()),
        "l": pa.array([[1, 2, 1], [], None, [None, 3], [5, 4, None, 4], [7], [None], [1, 2, 3]], pa.list_(pa.int64())),
        "m": pa.array([[2, 3], [1], [1], [None], [4, 4, 5], None, [], [3, 2, 1]], pa.list_(pa.int64())),
        "s": pa.array([["a", "B"], [], None, ["", None], ["é", "😀", "a"], ["a"], [None], ["b", "a", "b"]]),
        "v": pa.array([[1.5, -2.0], [], None, [NAN, 0.5], [0.0, 0.0], [1.0, None], [3.0, 4.0], [1e300, 1e-300]]),
        "w": pa.array([[1.0, 2.0], [], [1.0], [1.0, 0.5], [3.0, -1.0], [2.0, 2.0], [0.5, 4.0], [2.0, 3.0]]),
        "n": pa.array(
            [[[1, 2], [3]], [], None, [None, [4]], [[], [5, None]], [[6]], [None], [[1], [1]]],
            pa.list_(pa.list_(pa.int64())),
        ),
        "e": pa.array([1, 2, 3, None, 4, 7, None, 3], pa.int64()),
        "i": pa.array([0, 1, -1, 2, -3, None, 9, -9], pa.int64()),
        "k": pa.array([2, -1, 3, 0, 4, 1, None, 2], pa.int64()),
        "x": ["a,b", "", None, ",", "a", "éxé", "a,,b", "1,2,"],
        "d": [",", ",", ",", ",", None, "x", "", "2,"],
        "f": [2.0, 0.5, 1.0, None, -1.0, 3.0, 0.0, 10.0],
    }
)

LISTS = """
array_append(l, e) ; array_append(s, x) ; array_append(l, 2.5) ; array_append(NULL, e) ; array_append([], e)
array_prepend(e, l) ; array_prepend(x, s) ; array_prepend(1, []) ; array_concat(l, m) ; array_concat(l, m, [e])
array_concat(l, v) ; array_concat(n, [l]) ; array_concat(s) ; l || m
array_has(l, e) ; array_has(l, 3) ; array_has(s, 'a') ; array_has(n, [1]) ; array_has(s, x)
array_has_all(l, m) ; array_has_all(l, []) ; array_has_any(l, m) ; array_has_any(m, l) ; array_has_all(s, ['a'])
array_position(l, e) ; array_position(array_concat([e, 0], l), 0, 2) ; array_position(s, 'b') ; array_position(l, 4)
array_positions(l, e) ; array_positions(s, 'b') ; array_positions(l, 4)
array_remove(l, e) ; array_remove(l, 4) ; array_remove_n(l, e, k) ; array_remove_n(l, 1, 2) ; array_remove_all(l, e)
array_remove_all(l, 4) ; array_remove(s, 'a') ; array_remove_all(s, 'b')
array_replace(l, e, 9) ; array_replace(l, 1, e) ; array_replace_n(l, 4, 8, 2) ; array_replace_n(l, e, 8, k)
array_replace_all(l, 4, 8) ; array_replace_all(l, e, 8) ; array_replace(s, 'a', x)
array_slice(l, 1, 2) ; array_slice(l, i, k) ; array_slice(l, k, i) ; array_slice(l, -2, -1) ; array_slice(l, 0, 0)
array_slice(l, 1, 3, 2) ; array_slice(l, 3, 1, -1) ; array_slice(l, -1, -3, -2) ; array_slice(l, i, 4, 3)
array_slice(l, 4, i, -1) ; array_slice(l, i, k, 1) ; array_slice(s, 2, 9) ; array_slice(l, i, k, -2) ; l[1:2] ; s[2:3]
array_sort(l) ; array_sort(l, 'DESC') ; array_sort(l, 'ASC', 'NULLS LAST') ; array_sort(l, 'DESC', 'NULLS LAST')
array_sort(s) ; array_sort(s, 'desc', 'nulls first') ; array_sort(v) ; array_sort(v, 'DESC')
array_distinct(l) ; array_distinct(s) ; array_distinct(n) ; array_union(l, m) ; array_intersect(l, m)
array_except(l, m) ; array_union(s, ['a', NULL]) ; array_intersect(s, ['a', 'é']) ; array_except(s, ['a'])
array_min(l) ; array_max(l) ; array_min(s) ; array_max(s) ; array_min(v) ; array_max(v)
array_repeat(e, k) ; array_repeat(x, 2) ; array_repeat(l, 2) ; array_repeat(e, 0)
array_resize(l, 2) ; array_resize(l, 4, 9) ; array_resize(l, k + 1, e) ; array_resize(s, 3, 'z')
array_reverse(l) ; array_reverse(n) ; array_pop_back(l) ; array_pop_front(l) ; array_pop_back(s) ; array_pop_front(n)
array_to_string(l, ',') ; array_to_string(l, '-', '*') ; array_to_string(s, ', ') ; array_to_string(s, d)
array_to_string(n, ',') ; array_to_string(l, ',', x) ; array_to_string([true, false], '')
flatten(n) ; flatten(make_array(l, m)) ; array_ndims(l) ; array_ndims(n) ; array_dims(l) ; empty(l) ; empty(s)
array_any_value(l) ; array_any_value(s) ; array_compact(l) ; array_compact(s)
array_length(l, 1) ; array_length(l, 2) ; array_length(make_array(l, l), 2) ; array_length(l, 0) ; array_length(n)
cardinality(n) ; cardinality(l) ; cardinality(s)
range(k) ; range(i, k) ; range(i, 9, 3) ; range(9, i, -2) ; range(5, 1) ; generate_series(k) ; generate_series(i, k)
generate_series(i, 9, 3) ; generate_series(9, i, -2) ; generate_series(1, 1)
string_to_array(x, ',') ; string_to_array(x, d) ; string_to_array(x, ',', 'b') ; string_to_array(x, NULL)
array_sum(v) ; array_sum(l) ; array_avg(v) ; array_avg(l) ; array_product(v) ; array_product(l)
array_scale(v, f) ; array_scale(l, 2) ; array_add(v, v) ; array_subtract(v, v) ; array_normalize(w)
array_normalize(v) ; array_distance(w, w) ; inner_product(w, w) ; cosine_distance(w, w)
arrays_zip(l, m) ; arrays_zip(l) ; arrays_zip(l, s, m)
make_array(e, 2.5, NULL) ; make_array(l, m) ; make_array(NULL, e) ; make_array([NULL], l) ; make_array(x, 'a')
make_array(l, v) ; make_array(e, '7') ; CASE WHEN e > 1 THEN make_array(l) ELSE make_array(s) END
array_element(l, i) ; l = m ; l IS DISTINCT FROM m
"""

MAPS = """
map(['a', 'b'], [e, 2]) ; MAP {1: x, 2: NULL} ; map_extract(MAP {1: e, 7: i}, 7) ; map_extract(MAP {1: e}, e)
map_keys(MAP {'a': e}) ; map_values(MAP {'a': e, 'b': i}) ; map_entries(MAP {1: x}) ; MAP {} IS NULL
map(['a', 'b'], [e, 2])['b'] ; array_max(NULL::INT[]) ; array_concat(NULL::INT[]) ; array_append(NULL::INT[], e)
make_time(1, 2, e) ; make_time(23, 59, 59) ; make_time(NULL, 1, 1)
"""

CASTS = """
arrow_cast(e, 'Int16') ; arrow_cast(e, 'Utf8') ; arrow_cast(f, 'Float32') ; arrow_cast(l, 'List(Int32)')
arrow_cast(l, 'LargeList(Utf8)') ; arrow_cast('2024-01-31', 'Timestamp(Microsecond, None)')
arrow_cast('2024-01-31', 'Timestamp(us)') ; arrow_cast('2024-01-31', 'Date32') ; arrow_cast(e, 'Decimal128(10, 2)')
arrow_cast(x, 'Utf8View') ; arrow_cast(x, 'Binary') ; arrow_cast(x, 'Dictionary(Int32, Utf8)')
arrow_cast(e, 'UInt8') ; arrow_try_cast(x, 'Int64') ; cast_to_type(e, '')
cast_to_type('7', e) ; try_cast_to_type(x, e)
"""


def cells(column: pa.ChunkedArray) -> list[Any]:
    """The values, with structs as lists: their fields have other names."""
    return [_cell(cell) for cell in column.to_pylist()]


def _cell(cell: Any) -> Any:
    if isinstance(cell, dict):
        return [_cell(one) for one in cell.values()]
    return [_cell(one) for one in cell] if isinstance(cell, list) else cell


WITH_LAMBDAS = """
array_filter(l, v -> v > 1) ; array_filter(s, v -> v <> 'a') ; array_filter(l, v -> v = e)
array_transform(l, v -> v * 2) ; array_transform(l, v -> v + e) ; array_transform(n, v -> array_length(v))
array_transform(l, v -> array_has(m, v)) ; array_transform(s, v -> concat(v, x))
array_any_match(l, v -> v > 3) ; array_any_match(l, v -> v = e) ; array_any_match(s, v -> v LIKE 'a%')
array_first(l, v -> v > 1) ; array_first(s, v -> v = x) ; array_first(l, v -> v IS NULL)
array_transform(array_filter(l, v -> v > 1), w -> w - 1) ; array_transform(n, v -> array_transform(v, w -> w + 1))
"""


@pytest.mark.parametrize(
    "table",
    [
        pytest.param(text, id=name)
        for name, text in (("lists", LISTS), ("maps", MAPS), ("casts", CASTS), ("lambdas", WITH_LAMBDAS))
    ],
)
@pytest.mark.parametrize("optimized", [pytest.param(False, id="logical"), pytest.param(True, id="optimized")])
def test_every_cell_is_that_of_datafusion(table: str, optimized: bool, spark: SparkSession) -> None:
    listed = calls(table)
    # only some dialects have lambdas, and others have maps in braces
    dialect = "databricks" if table is WITH_LAMBDAS else "generic"
    context = datafusion.SessionContext(datafusion.SessionConfig().set("datafusion.sql_parser.dialect", dialect))
    context.register_record_batches("t", [TABLE.to_batches()])
    query = f"SELECT id, {', '.join(f'{call} AS c{number}' for number, call in enumerate(listed))} FROM t ORDER BY id"
    frame = context.sql(query)
    logical = frame.optimized_logical_plan() if optimized else frame.logical_plan()
    plan = substrait.Producer.to_substrait_plan(logical, context).encode()
    ours, theirs, wrong = ps.run_query(plan, tables={"t": TABLE}, spark=spark), frame.to_arrow_table(), []
    for number, call in enumerate(listed):
        mine, other = ours.column(f"c{number}"), theirs.column(f"c{number}")
        pairs = enumerate(zip(cells(mine), cells(other), strict=True))
        wrong += [
            f"{call} in row {row}: {one!r} instead of {two!r}" for row, (one, two) in pairs if not alike(one, two)
        ]
    assert not wrong, "\n".join(wrong)

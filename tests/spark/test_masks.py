"""Masks: the parts of structs, lists and maps that are kept, as the projection of a read and as an expression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.model.expressions import Expression, FieldReference, NestedStruct, RootReference, StructField
from pyspark_substrait.model.masks import (
    ListItem,
    ListSelect,
    ListSlice,
    MapKeyExpression,
    MapKeySelect,
    MapSelect,
    MaskExpression,
    Select,
    StructItem,
    StructSelect,
    masked_type,
)
from pyspark_substrait.model.relations import NamedTable, Read
from pyspark_substrait.model.types import I32, FixedChar, List, Map, NamedStruct, String, Struct, Type
from tests.spark.plans import INT, INT_, TEXT, TEXT_, col, number, plan, project, run, text, tuples, values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def fields(*items: int | tuple[int, Select]) -> StructSelect:
    return StructSelect(tuple(StructItem(item) if isinstance(item, int) else StructItem(*item) for item in items))


def mask(*items: int | tuple[int, Select], maintain: bool = False) -> MaskExpression:
    return MaskExpression(select=fields(*items), maintain_singular_struct=maintain)


def kept(root: Any, type: Type, mask: MaskExpression) -> FieldReference:
    assert isinstance(type, Struct)
    return FieldReference(root=root, reference=mask, type=masked_type(type, mask))


def slices(*parts: int | tuple[int, int], child: Select | None = None) -> ListSelect:
    return ListSelect(tuple(ListItem(part) if isinstance(part, int) else ListSlice(*part) for part in parts), child)


def plain(value: Any) -> Any:
    """A value of Arrow with structs as tuples."""
    if isinstance(value, dict):
        return tuple(plain(part) for part in value.values())
    if isinstance(value, list):
        return [plain(part) for part in value]
    return value


#: the example of the specification: struct<struct<i32, list<struct<i32, string, string>>, i32>, i16, i32, i64>, with
#: lists that may be null
ITEM = Struct(types=(INT, TEXT, TEXT))
EXAMPLE = Struct(
    types=(Struct(types=(INT, List(type=ITEM, nullable=True), INT), nullable=True), INT, INT_, INT),
)
NAMES = ("a", "b", "c", "x", "y", "z", "d", "e", "f", "g")
ITEMS = [(n, f"n{n}", f"m{n}") for n in range(7)]
RECORDS = [((10, ITEMS, 20), 1, 2, 3), ((11, ITEMS[:2], 21), 4, None, 6), ((12, None, 22), 7, 8, 9), (None, 1, 1, 1)]
SPECIFIED = mask((0, fields(0, (1, slices((0, 5), child=fields(0, 2))))), 2, 3)


def specified(row: Any) -> Any:
    first = None
    if row[0] is not None:
        found = None if row[0][1] is None else [(item[0], item[2]) for item in row[0][1][:5]]
        first = (row[0][0], found)
    return (first, row[2], row[3])


def test_the_example_of_the_specification(spark: SparkSession) -> None:
    read = values(EXAMPLE.types, RECORDS, names=NAMES, projection=SPECIFIED)
    assert str(read.schema) == "struct<struct?<i32, list?<struct<i32, string>>>, i32?, i32>"
    table = run(spark, read)
    assert [plain(list(row)) for row in tuples(table)] == [list(specified(row)) for row in RECORDS]
    whole = values(EXAMPLE.types, RECORDS, names=NAMES)
    cell = kept(RootReference(), whole.schema, SPECIFIED)
    found = [plain(row[0]) for row in tuples(run(spark, project(whole, cell)))]
    assert found == [specified(row) for row in RECORDS]


LISTS = [[0, 1, 2, 3, 4], [7], [], None, [5, None]]


def item(given: list[Any], offset: int) -> Any:
    return given[offset] if -len(given) <= offset < len(given) else None


LIST_CASES: list[tuple[ListSelect, bool, Any]] = [
    (slices(1), False, lambda given: item(given, 1)),
    (slices(-1), False, lambda given: item(given, -1)),
    (slices(1), True, lambda given: [item(given, 1)]),
    (slices(2**31 - 1), False, lambda given: None),
    (slices(-(2**31)), False, lambda given: None),
    (slices(0, -1, 9), False, lambda given: [item(given, 0), item(given, -1), None]),
    (slices((0, 2)), False, lambda given: given[0:2]),
    (slices((1, 100)), False, lambda given: given[1:100]),
    (slices((3, 1)), False, lambda given: []),
    (slices((4, 4)), True, lambda given: given[4:4]),
    (slices((-2, 5)), False, lambda given: given[-2:5]),
    (slices((1, -1)), False, lambda given: given[1:-1]),
    (slices((-3, -1)), True, lambda given: given[-3:-1]),
    (slices((-9, -1)), True, lambda given: given[-9:-1]),
    (slices((-(2**31), 2**31 - 1)), True, lambda given: list(given)),
    (slices((2**31 - 1, 2**31 - 1)), True, lambda given: []),
    (slices((0, 1), -1, 1, (1, 3)), False, lambda given: [*given[0:1], item(given, -1), item(given, 1), *given[1:3]]),
    (slices(), False, lambda given: []),
]


def test_elements_and_slices_of_lists(spark: SparkSession) -> None:
    """Positions and ends as Python has them in slices, where ``end`` isn't counted."""
    listed = List(type=INT_, nullable=True)
    table = values([listed], [(given,) for given in LISTS])
    cells = [kept(RootReference(), table.schema, mask((0, select), maintain=m)) for select, m, _ in LIST_CASES]
    found = tuples(run(spark, project(table, *cells)))
    for given, row in zip(LISTS, found, strict=True):
        for (select, _, expected), cell in zip(LIST_CASES, row, strict=True):
            assert plain(cell) == (None if given is None else expected(given),), (given, select)


def test_types_of_what_is_kept_of_lists() -> None:
    def text_of(select: ListSelect, maintain: bool) -> str:
        return str(masked_type(Struct(types=(List(type=I32()),)), mask((0, select), maintain=maintain)))

    assert text_of(slices(1), False) == "struct<i32?>"
    # an element that isn't there is null
    assert text_of(slices(1), True) == "struct<list<i32?>>"
    assert text_of(slices((0, 1), 3), False) == "struct<list<i32?>>"
    assert text_of(slices((0, 1)), False) == "struct<list<i32>>"


def test_parts_of_elements(spark: SparkSession) -> None:
    element = Struct(types=(INT, TEXT_), nullable=True)
    table = values(
        [List(type=List(type=element)), INT],
        [([[(1, "a"), None], [(2, None)]], 1), ([], 2), ([[], [(3, "c")]], 3)],
    )
    cases: list[tuple[Select, bool, list[Any]]] = [
        (slices((0, 9), child=slices(0, child=fields(1))), False, [["a", None], [], [None, "c"]]),
        (slices((0, 9), child=slices((0, 9), child=fields(1))), False, [[["a", None], [None]], [], [[], ["c"]]]),
        (
            slices((0, 9), child=slices((0, 9), child=fields(1))),
            True,
            [[[("a",), None], [(None,)]], [], [[], [("c",)]]],
        ),
        (slices(-1, child=slices(0)), False, [(2, None), None, (3, "c")]),
        (slices(-1, child=slices(0, child=fields(1, 0))), False, [(None, 2), None, ("c", 3)]),
        (slices(0, -1, child=slices(0, child=fields(0))), False, [[1, 2], [None, None], [None, 3]]),
    ]
    cells = [kept(RootReference(), table.schema, mask((0, select), maintain=maintain)) for select, maintain, _ in cases]
    found = tuples(run(spark, project(table, *cells)))
    for position, (_, _, expected) in enumerate(cases):
        assert [plain(row[position]) for row in found] == [(value,) for value in expected]


def test_keys_of_maps(spark: SparkSession) -> None:
    value = Struct(types=(INT, TEXT_))
    mapped = Map(key=TEXT, value=value, nullable=True)
    given = [{"a": (1, "x"), "b*": (2, None)}, {"it's": (3, "z")}, {}, None]
    table = values([mapped], [(cell,) for cell in given])
    cases: list[tuple[Select, bool, list[Any]]] = [
        (MapSelect(MapKeySelect("a")), False, [(1, "x"), None, None, None]),
        (MapSelect(MapKeySelect("b*")), False, [(2, None), None, None, None]),
        (MapSelect(MapKeySelect("a"), fields(1)), False, ["x", None, None, None]),
        (MapSelect(MapKeySelect("it's"), fields(1)), False, [None, "z", None, None]),
        (MapSelect(MapKeySelect("a")), True, [[("a", (1, "x"))], [], [], None]),
        (MapSelect(MapKeySelect("a"), fields(1)), True, [[("a", ("x",))], [], [], None]),
        (MapSelect(MapKeyExpression("a")), False, [[("a", (1, "x"))], [], [], None]),
        (MapSelect(MapKeyExpression("*"), fields(0)), False, [[("a", 1), ("b*", 2)], [("it's", 3)], [], None]),
    ]
    cells = [kept(RootReference(), table.schema, mask((0, select), maintain=maintain)) for select, maintain, _ in cases]
    found = tuples(run(spark, project(table, *cells)))
    for position, (_, _, expected) in enumerate(cases):
        assert [pairs(row[position]) for row in found] == [(value,) for value in expected]
    read = values([mapped], [(cell,) for cell in given], projection=mask((0, MapSelect(MapKeySelect("a"), fields(1)))))
    assert tuples(run(spark, read)) == [("x",), (None,), (None,), (None,)]


def pairs(value: Any) -> Any:
    """As ``plain``; the pairs of maps are tuples."""
    if isinstance(value, tuple):
        return tuple(map(pairs, value))
    if isinstance(value, list):
        return [pairs(part) for part in value]
    return tuple(pairs(part) for part in value.values()) if isinstance(value, dict) else value


def test_roots_that_are_expressions(spark: SparkSession) -> None:
    struct = Struct(types=(INT_, Struct(types=(TEXT_, INT), nullable=True)), nullable=True)
    table = values([struct, INT], [((1, ("a", 2)), 5), ((None, None), 6), (None, 7)])
    column = col(table, 0)
    kept_of_column = kept(column, column.type, mask((1, fields(0)), 0))
    made = NestedStruct(fields=(col(table, 1), NestedStruct(fields=(text("t"), col(table, 1)))))
    cells: list[Expression] = [
        kept_of_column,
        kept(column, column.type, mask((1, fields(0)))),
        kept(column, column.type, mask((1, fields(0)), maintain=True)),
        kept(made, made.type, mask((1, fields(1)), 0)),
        # the mask of a mask, and a field of one
        kept(kept_of_column, kept_of_column.type, mask(1)),
        FieldReference(root=kept_of_column, reference=(StructField(0),), type=TEXT_),
    ]
    found = [plain(list(row)) for row in tuples(run(spark, project(table, *cells)))]
    assert found == [
        [("a", 1), ("a",), (("a",),), (5, 5), (1,), "a"],
        [(None, None), (None,), (None,), (6, 6), (None,), None],
        [None, None, None, (7, 7), None, None],
    ]


def test_only_used_columns_are_read(spark: SparkSession) -> None:
    """A read of a table with a mask doesn't touch the columns that are masked out, whatever is in them."""
    inner = Struct(types=(I32(nullable=True), String(nullable=True)), nullable=True)
    schema = NamedStruct(names=("s", "x", "y", "b", "n"), struct=Struct(types=(inner, INT, INT_)))
    read = Read(
        base_schema=schema,
        read_type=NamedTable(names=("t",)),
        projection=mask((0, fields(1)), 2),
    )
    table = pa.table(
        {
            "n": pa.array([1, 2, None], pa.int32()),
            "s": [{"x": 1, "y": "a"}, None, {"x": None, "y": "c"}],
            "b": pa.array([None, None, None], pa.int32()),
        },
        schema=pa.schema(
            [
                ("n", pa.int32()),
                ("s", pa.struct([("x", pa.int32()), ("y", pa.string())])),
                ("b", pa.int32()),
            ]
        ),
    )
    # b is null although the plan says that it never is, but the mask leaves it out
    assert tuples(run(spark, read, tables={"t": table})) == [("a", 1), (None, 2), ("c", None)]


def test_what_is_uncertain_or_wrong_is_refused() -> None:
    mapped = Map(key=TEXT, value=INT)
    table = values([mapped, Map(key=INT, value=INT), Map(key=FixedChar(length=3), value=INT)], [])

    def compiled(node: MaskExpression) -> str:
        return ps.to_sql(plan(project(table, kept(RootReference(), table.schema, node))))

    for pattern in ("a*", "a.", "a?", "[ab]", "", "a b"):
        with pytest.raises(UnsupportedPlanError, match="does not say which keys") as caught:
            compiled(mask((0, MapSelect(MapKeyExpression(pattern)))))
        assert caught.value.path == (
            "relations[0].root.input.project.expressions[0].selection.masked_reference.select.struct_items[0].child"
            ".map.expression.map_key_expression"
        )
    with pytest.raises(InvalidPlanError, match="the keys are i32"):
        compiled(mask((1, MapSelect(MapKeySelect("1")))))
    with pytest.raises(InvalidPlanError, match="no key of the map is 'a'"):
        compiled(mask((2, MapSelect(MapKeySelect("a")))))
    compiled(mask((2, MapSelect(MapKeySelect("a  ")))))
    with pytest.raises(InvalidPlanError, match="keeps field 7, but the struct has 3"):
        compiled(mask(7))
    with pytest.raises(InvalidPlanError, match="does not fit"):
        compiled(mask((0, slices(1))))


def test_masks_survive_documents(spark: SparkSession) -> None:
    table = values([List(type=INT_), INT], [([1, 2, 3], 1), ([], 2)])
    node = project(table, kept(RootReference(), table.schema, mask((0, slices(0, (1, 9))), 1)), number(3))
    loaded = ps.load(plan(node).to_bytes())
    again = ps.load(loaded.to_json())
    assert again == loaded
    found = [plain(list(row)) for row in tuples(ps.run_query(again, spark=spark))]
    assert found == [[([1, 2, 3], 1), 3], [([None], 2), 3]]

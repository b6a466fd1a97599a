"""Virtual tables of all sizes: small ones stand in the statement, large ones travel as Arrow data."""

from __future__ import annotations

import decimal
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from pyspark.sql import SparkSession

import pyspark_substrait as ps
from pyspark_substrait.errors import ExecutionError, InvalidPlanError, SubstraitError, UnsupportedPlanError
from pyspark_substrait.model.expressions import (
    Cast,
    DynamicParameter,
    Expression,
    IfClause,
    IfThen,
    NestedList,
    NestedStruct,
    PredicateOp,
    SetPredicate,
    SingularOrList,
)
from pyspark_substrait.model.literals import AnyMessage, Compound, DayTime, Literal
from pyspark_substrait.model.relations import JoinType, Read, RelationBase, VirtualTable
from pyspark_substrait.model.types import (
    FP32,
    I8,
    UUID,
    Decimal,
    FixedBinary,
    FixedChar,
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    List,
    Map,
    PrecisionTime,
    PrecisionTimestamp,
    String,
    Struct,
    Type,
    UserDefined,
    VarChar,
    with_nullability,
)
from pyspark_substrait.proto import messages
from pyspark_substrait.proto.read import virtual_tables as proto_virtual_tables
from pyspark_substrait.spark import sources
from pyspark_substrait.spark.reading.literal_arrays import UnrepresentableValue, literal_array
from pyspark_substrait.spark.reading.virtual import virtual_table
from pyspark_substrait.sql.compiler import virtual_tables
from tests.spark.plans import (
    BOOL,
    INT,
    INT_,
    LONG,
    REAL,
    TEXT,
    TEXT_,
    aggregate,
    answers,
    both,
    call,
    col,
    group,
    join,
    lit,
    number,
    ordered,
    outer,
    plan,
    project,
    rows,
    run,
    schema,
    text,
    values,
    where,
)
from tests.spark.test_type_round_trips import EXTREMES, check, random_rows
from tests.spark.typed_values import LEAF_KINDS, TYPES, drawn, made
from tests.spark.zones import zone

PATH = "relations[0].root.input.read.virtual_table.expressions"


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Virtual tables of any size travel as data; how many records each had that did."""
    found: list[int] = []

    def noted(node: Read, table: VirtualTable, spark: SparkSession) -> Any:
        values = virtual_table(node, table, spark)
        found.append(-1 if values is None else table.row_count)
        return values

    monkeypatch.setattr(virtual_tables, "_MOST_WRITTEN", 0)
    monkeypatch.setattr(sources, "virtual_table", noted)
    yield found


def table_of(types: Sequence[Type], records: Sequence[Sequence[Any]]) -> Read:
    return values(types, [[made(type, value) for type, value in zip(types, record, strict=True)] for record in records])


# every type ----------------------------------------------------------------------------------------------------------


@pytest.mark.sweep
def test_every_simple_type_as_data(spark: SparkSession, sent: list[int]) -> None:
    types = [with_nullability(type, nullable) for type in LEAF_KINDS for nullable in (True, False)]
    records = random_rows(types, 12)
    # what Arrow's nanoseconds can't hold doesn't matter here: the carriers count for themselves
    with zone(spark, "America/New_York"):
        check(run(spark, table_of(types, records)), types, records)
    assert sent == [12]


def test_every_type_that_is_read_by_column(
    spark: SparkSession, sent: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proto_virtual_tables, "_MANY", 1)
    cell_by_cell = UUID | IntervalYear | IntervalDay | IntervalCompound | PrecisionTime | UserDefined
    texts = VarChar | FixedChar | FixedBinary
    kinds = [type for type in LEAF_KINDS if not isinstance(type, cell_by_cell | texts)]
    types = [with_nullability(type, nullable) for type in kinds for nullable in (True, False)]
    records = random_rows(types, 12)
    loaded = ps.load(plan(table_of(types, records)).to_bytes())
    read = loaded.trees[0]
    assert isinstance(read, Read) and isinstance(read.read_type, VirtualTable)
    assert read.read_type.columns is not None
    with zone(spark, "America/New_York"):
        check(ps.run_query(loaded, spark=spark), types, records)
    assert sent == [12]
    with pytest.raises(AttributeError):  # no row was made
        object.__getattribute__(read.read_type, "expressions")


def test_nested_types_as_data(spark: SparkSession, sent: list[int]) -> None:
    types, columns = [], []
    for type in drawn(TYPES, 70):
        column = [record[0] for record in random_rows([type], 4)]
        try:
            literal_array([made(type, value) for value in column], type)
        except UnrepresentableValue as error:
            assert "without fields" in str(error)
        else:
            types.append(type)
            columns.append(column)
    assert len(types) > 55
    assert sum(isinstance(type, Struct | List | Map) for type in types) > 20
    records = list(zip(*columns, strict=True))
    check(run(spark, table_of(types, records)), types, records)
    assert sent == [4]


def test_extreme_values_as_data(spark: SparkSession, sent: list[int]) -> None:
    types, record = [type for type, _ in EXTREMES], [value for _, value in EXTREMES]
    check(run(spark, table_of(types, [record])), types, [record])
    assert len(sent) == 1


def test_what_arrow_cannot_hold_is_written_out(spark: SparkSession, sent: list[int]) -> None:
    empty = Struct(types=(), nullable=True)
    found = run(spark, values([INT, empty], [(1, Literal(type=Struct(types=()), value=())), (2, None)]))
    assert sent == [-1]
    assert found.column(0).to_pylist() == [1, 2] and found.column(1).to_pylist() == [{}, None]


# values that aren't of their type ------------------------------------------------------------------------------------

_U8 = UserDefined(urn="extension:io.substrait:unsigned_integers", name="u8", structure=Struct(types=(String(),)))
_OPAQUE = UserDefined(urn="extension:test:shapes", name="blob")
_STRUCT = Struct(types=(INT, TEXT))

WRONG: list[tuple[Type, Any, type[SubstraitError], str]] = [
    (INT, 2**31, InvalidPlanError, "too large"),
    (I8(), -129, InvalidPlanError, "too large"),
    (INT, True, InvalidPlanError, "cannot be the value"),
    (INT, "1", InvalidPlanError, "cannot be the value"),
    (FP32(), 0.1, InvalidPlanError, "is not an fp32"),
    (TEXT, "\ud800", InvalidPlanError, "half a character"),
    (VarChar(length=2), "abc", InvalidPlanError, "3 characters"),
    (Decimal(precision=3, scale=1), decimal.Decimal("123.4"), InvalidPlanError, "is not a decimal"),
    (PrecisionTime(precision=3), 86_400_000, InvalidPlanError, "within the day"),
    (PrecisionTimestamp(precision=0), 2**62, UnsupportedPlanError, "beyond the years"),
    (IntervalYear(), 120_001, InvalidPlanError, "too many"),
    (IntervalDay(precision=3), DayTime(3_650_000, 1, 0), InvalidPlanError, "too long"),
    (IntervalCompound(precision=9), Compound(0, 3_650_001, 0, 0), InvalidPlanError, "too long"),
    (_U8, (lit(String(), "256"),), InvalidPlanError, "too large"),
    (_OPAQUE, AnyMessage("x", b""), UnsupportedPlanError, "blob"),
    (List(type=INT), (lit(INT, 2**31),), InvalidPlanError, "too large"),
    (Map(key=INT, value=INT), ((number(1), number(2)), (number(1), number(3))), UnsupportedPlanError, "stands twice"),
    (Map(key=REAL, value=INT), ((lit(REAL, -0.0), number(2)),), UnsupportedPlanError, "-0.0"),
]


@pytest.mark.parametrize(("type", "value", "error", "message"), WRONG, ids=[f"{one[0]} {one[1]!a}" for one in WRONG])
def test_a_value_that_is_not_one_of_its_type(
    spark: SparkSession, sent: list[int], type: Type, value: Any, error: type[SubstraitError], message: str
) -> None:
    nullable = with_nullability(type, True)
    cells = [[Literal(type=nullable, value=None)], [Literal(type=type, value=value)]]
    with pytest.raises(error, match=message) as caught:
        run(spark, values([nullable], cells))
    assert caught.value.path.startswith((f"{PATH}[1].fields[0]", PATH))


def test_faults_of_records_keep_their_places(spark: SparkSession, sent: list[int]) -> None:
    good = [(number(1), text("a"))] * 3
    faults: list[tuple[Any, str, str]] = [
        ((number(1),), "1 fields, the schema 2", f"{PATH}[3]"),
        ((number(None), text("a")), "is null", f"{PATH}[3].fields[0]"),
        ((number(1), number(2)), "the field is i32, the schema says string", f"{PATH}[3].fields[1]"),
    ]
    for record, message, path in faults:
        records = tuple(NestedStruct(fields=cells) for cells in (*good, record))
        read = Read(base_schema=schema([INT, TEXT]), read_type=VirtualTable(expressions=records))
        with pytest.raises(InvalidPlanError, match=message) as caught:
            run(spark, read)
        assert caught.value.path == path
    assert sent == []


# size ----------------------------------------------------------------------------------------------------------------


def message(count: int) -> messages.Plan:
    """A plan with a virtual table: a number, a text that is null for each tenth, and a fraction."""
    plan = messages.Plan()
    plan.version.minor_number = 108
    root = plan.relations.add().root
    root.names.extend(["number", "text", "fraction"])
    read = root.input.read
    read.base_schema.names.extend(root.names)
    struct = read.base_schema.struct
    struct.nullability = messages.Type.NULLABILITY_REQUIRED
    struct.types.add().i64.nullability = messages.Type.NULLABILITY_REQUIRED
    struct.types.add().string.nullability = messages.Type.NULLABILITY_NULLABLE
    struct.types.add().fp64.nullability = messages.Type.NULLABILITY_REQUIRED
    for position in range(count):
        fields = read.virtual_table.expressions.add().fields
        fields.add().literal.i64 = position
        literal = fields.add().literal
        if position % 10:
            literal.string, literal.nullable = f"text {position}", True
        else:
            literal.null.string.nullability = messages.Type.NULLABILITY_NULLABLE
        fields.add().literal.fp64 = position / 4
    return plan


@pytest.mark.sweep
def test_a_large_table_of_a_loaded_plan(spark: SparkSession) -> None:
    count = 30_000
    loaded = ps.load(message(count).SerializeToString())
    assert loaded.notes == ()
    found = ps.run_query(loaded, spark=spark)
    assert found.column("number").to_pylist() == list(range(count))
    assert found.column("text").to_pylist() == [f"text {n}" if n % 10 else None for n in range(count)]
    assert found.column("fraction").to_pylist() == [n / 4 for n in range(count)]
    assert [field.nullable for field in found.schema] == [False, True, False]
    # as text it has every value
    sql = ps.to_sql(loaded, formatted=False)
    assert sql.count("'text ") == count * 9 // 10 and "(VALUES " in sql
    # what is loaded is written again
    assert ps.load(loaded.to_bytes()) == loaded


def test_operations_on_a_large_table(spark: SparkSession, sent: list[int]) -> None:
    table = values([INT, TEXT_], [(n, text(f"v{n % 7}") if n % 5 else text(None)) for n in range(1000)])
    few = where(table, call("lt", col(table, 0), number(3)))
    assert ordered(rows(spark, few)) == ordered([(0, None), (1, "v1"), (2, "v2")])
    sums = group(table, [col(table, 1)], [aggregate("sum", call("add", col(table, 0), number(0)))])
    assert dict(rows(spark, sums)) == {
        key: sum(n for n in range(1000) if (f"v{n % 7}" if n % 5 else None) == key)
        for key in (None, *(f"v{n}" for n in range(7)))
    }
    # joined with itself it is handed over once
    sent.clear()
    pair = join(table, table, call("equal", col(both(table, table), 0), col(both(table, table), 2)), JoinType.INNER)
    assert len(rows(spark, pair)) == 1000
    assert sent == [1000]


def test_a_large_table_in_a_subquery(spark: SparkSession, sent: list[int]) -> None:
    table = values([INT], [(n,) for n in range(0, 1000, 2)])
    needles = values([INT], [(n,) for n in (1, 2, 3, 4, 1000)])
    there = SetPredicate(
        predicate_op=PredicateOp.EXISTS,
        tuples=where(table, call("equal", col(table, 0), outer(needles, 0, steps_out=1))),
    )
    assert ordered(rows(spark, where(needles, there))) == [(2,), (4,)]


def test_parameters_and_expressions_among_literals(spark: SparkSession, sent: list[int]) -> None:
    parameter = DynamicParameter(type=INT, parameter_reference=1)
    table = values([INT], [*((n,) for n in range(100)), (parameter,), (call("add", number(200), number(1)),)])
    found = run(spark, table, parameters={1: 500})
    assert ordered((value,) for value in found.column(0).to_pylist()) == ordered((n,) for n in (*range(100), 500, 201))
    # the one with a call is beside the data
    assert sent == [101]


# shapes --------------------------------------------------------------------------------------------------------------


def test_a_table_without_columns(spark: SparkSession) -> None:
    for count in (0, 1, 3):
        table = values([], [()] * count)
        assert run(spark, table).num_rows == count
        assert rows(spark, project(table, number(7))) == [(7,)] * count
        counted = group(table, [], [aggregate("count")])
        assert rows(spark, counted) == [(count,)]
    one = Read(base_schema=schema([]), read_type=VirtualTable(expressions=(NestedStruct(fields=(number(1),)),)))
    with pytest.raises(InvalidPlanError, match="1 fields, the schema 0") as caught:
        run(spark, one)
    assert caught.value.path == f"{PATH}[0]"


def test_records_that_are_the_same(spark: SparkSession) -> None:
    assert rows(spark, values([INT, TEXT_], [(1, None)] * 5)) == [(1, None)] * 5


def test_names_that_repeat(spark: SparkSession, sent: list[int]) -> None:
    table: RelationBase = values([INT, INT_, LONG], [(1, None, 3)] * 2, names=("a", "a", "A"))
    found = ps.run_query(plan(table, ("a", "a", "A")), spark=spark)
    assert found.column_names == ["a", "a", "A"]
    assert [column.to_pylist() for column in found.columns] == [[1, 1], [None, None], [3, 3]]
    assert sent == [2]


def test_the_field_of_old_plans(spark: SparkSession) -> None:
    plan = {
        "version": {"minorNumber": 50},
        "relations": [
            {
                "root": {
                    "names": ["a"],
                    "input": {
                        "read": {
                            "baseSchema": {
                                "names": ["a"],
                                "struct": {
                                    "types": [{"i64": {"nullability": "NULLABILITY_NULLABLE"}}],
                                    "nullability": "NULLABILITY_REQUIRED",
                                },
                            },
                            "virtualTable": {
                                "values": [{"fields": [{"i64": str(n), "nullable": True}]} for n in range(2500)]
                            },
                        }
                    },
                }
            }
        ],
    }
    found = ps.run_query(ps.load(plan), spark=spark)
    assert found.column(0).to_pylist() == list(range(2500))


# reading -------------------------------------------------------------------------------------------------------------


def test_cells_of_other_types_are_noted_one_by_one() -> None:
    made = message(4)
    table = made.relations[0].root.input.read.virtual_table
    table.expressions[1].fields[0].literal.i32 = 7
    table.expressions[3].fields[0].literal.i32 = 8
    for position in (0, 2):
        table.expressions[position].fields[1].literal.null.string.nullability = messages.Type.NULLABILITY_REQUIRED
    loaded = ps.load(made)
    assert [(note.rule, note.path.rsplit("expressions", 1)[1].split(".literal")[0]) for note in loaded.notes] == [
        ("required-null", "[0].fields[1]"),
        ("different-types", "[1].fields[0]"),
        ("required-null", "[2].fields[1]"),
        ("different-types", "[3].fields[0]"),
    ]


def test_a_fault_far_down(spark: SparkSession) -> None:
    made = message(2000)
    field = made.relations[0].root.input.read.virtual_table.expressions[1999].fields[0]
    field.literal.null.i64.nullability = messages.Type.NULLABILITY_NULLABLE
    with pytest.raises(InvalidPlanError, match="the value is null") as caught:
        ps.load(made)
    assert caught.value.path == f"{PATH}[1999].fields[0]"
    field.literal.string = "no number"
    with pytest.raises(InvalidPlanError, match="the value is string, its column i64"):
        ps.load(made)
    field.ClearField("literal")
    with pytest.raises(InvalidPlanError, match="an expression is missing"):
        ps.load(made)
    field.literal.SetInParent()
    with pytest.raises(InvalidPlanError, match="a literal is missing"):
        ps.load(made)


# expressions ---------------------------------------------------------------------------------------------------------


def computed() -> list[tuple[Type, Expression, Any]]:
    """Expressions without input of many kinds: their types, and their values worked out by hand."""
    money = Decimal(precision=10, scale=2)
    cast = Cast(type=money, input=lit(REAL, 1.25))
    added = call("add", number(1), number(2))
    one = values([INT], [[1], [2]])
    return [
        (money, cast, 1.25),
        (TEXT, Cast(type=TEXT, input=number(12)), "12"),
        (INT, Cast(type=INT, input=text("12")), 12),
        (INT, added, 3),
        (TEXT, call("upper", text("a")), "A"),
        (INT, IfThen(ifs=(IfClause(if_=call("gt", added, number(2)), then=added),), else_=number(0)), 3),
        (List(type=INT), NestedList(values=(added, number(7))), [3, 7]),
        (List(type=money), NestedList(values=(cast,)), [1.25]),
        (INT, DynamicParameter(type=INT, parameter_reference=1), 5),
        (INT, call("add", DynamicParameter(type=INT, parameter_reference=1), number(1)), 6),
        (BOOL, SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=one), True),
        (BOOL, call("equal", call("coalesce", text("x"), text("y")), text("x")), True),
        (BOOL, SingularOrList(value=added, options=(number(3), number(4))), True),
    ]


def test_expressions_of_every_kind(spark: SparkSession) -> None:
    cells = computed()
    alone = [values([type], [[cell]]) for type, cell, _ in cells]
    # beside literals, many of them, and two columns
    twice = [
        values([type, INT], [[cell, 1], *([cell, call("add", number(n), number(0))] for n in range(2, 25)), [cell, 25]])
        for type, cell, _ in cells[:4]
    ]
    # each query that is run must know the parameter that it is given
    asking = [table for table, (_, cell, _) in zip(alone, cells, strict=True) if "DynamicParameter" in repr(cell)]
    others = [table for table in alone if table not in asking]
    found = dict(zip(map(id, asking), answers(spark, asking, parameters={1: 5}), strict=True))
    found |= dict(zip(map(id, [*others, *twice]), answers(spark, [*others, *twice]), strict=True))
    for (_, _, expected), table in zip(cells, alone, strict=True):
        assert found[id(table)] == [(expected,)]
    for (_, _, expected), table in zip(cells, twice, strict=False):
        assert ordered(found[id(table)]) == ordered((expected, n) for n in range(1, 26))


def test_an_expression_that_fails_fails_on_its_data(spark: SparkSession) -> None:
    with pytest.raises(ExecutionError, match="on its data"):
        run(spark, values([INT], [[call("divide", number(1), number(0))]]))


def test_only_values_stand_in_values() -> None:
    assert " VALUES " not in ps.to_sql(plan(values([INT], [[call("add", number(1), number(2))]])), formatted=False)
    assert "VALUES" in ps.to_sql(plan(values([INT], [[1], [2]])))
    many = ps.to_sql(plan(values([INT], [[call("add", number(n), number(2))] for n in range(50)])))
    assert many.count("UNION ALL") == 0 and many.count("named_struct(") == 50

"""Virtual tables of plain literals are read by column, and say the same as when they are read cell by cell."""

from __future__ import annotations

import copy
import decimal
import math
import pickle
import random
import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import pyspark_substrait as ps
from pyspark_substrait.api.loaded_plans import forget_plans
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.model.expressions import NestedStruct
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.plan import Plan
from pyspark_substrait.model.relations import Read, VirtualTable
from pyspark_substrait.model.types import I64
from pyspark_substrait.model.walk import all_expressions, relation_expressions
from pyspark_substrait.proto import messages
from pyspark_substrait.proto.read import virtual_tables
from pyspark_substrait.spark.reading.literal_arrays import column_array, literal_array

REQUIRED, NULLABLE = messages.Type.NULLABILITY_REQUIRED, messages.Type.NULLABILITY_NULLABLE
Random = random.Random


def _integer(bits: int) -> Callable[[Random], int]:
    least, most = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    return lambda some: some.choice([0, 1, -1, 127, min(128, most), least, most, some.randint(least, most)])


def _float(some: Random) -> float:
    any_bits: float = struct.unpack("<f", some.randbytes(4))[0]
    return some.choice([0.0, -0.0, math.nan, math.inf, -math.inf, 1.5, any_bits])


def _text(some: Random) -> str:
    return some.choice(
        ["", "a", "Zoë \N{SNOWMAN} \N{GRINNING FACE}", "x" * 127, "y" * 20_000, "\0", str(some.random())]
    )


def _decimal(digits: int) -> Callable[[Random], bytes]:
    most = 10**digits - 1
    return lambda some: some.choice([0, 1, -1, most, -most, some.randint(-most, most)]).to_bytes(
        16, "little", signed=True
    )


#: a literal's field, the type's field, the parameters of both, and values
KINDS: dict[str, tuple[str, dict[str, int], Callable[[Random], Any]]] = {
    "boolean": ("bool", {}, lambda some: some.random() < 0.5),
    "i8": ("i8", {}, _integer(8)),
    "i16": ("i16", {}, _integer(16)),
    "i32": ("i32", {}, _integer(32)),
    "i64": ("i64", {}, _integer(64)),
    "fp32": ("fp32", {}, _float),
    "fp64": ("fp64", {}, _float),
    "string": ("string", {}, _text),
    "binary": ("binary", {}, lambda some: some.randbytes(some.choice([0, 1, 200]))),
    "date": ("date", {}, lambda some: some.randint(-354_285, 2_932_896)),
    "decimal": ("decimal", {"precision": 18, "scale": 4}, _decimal(18)),
    "decimal of units": ("decimal", {"precision": 38, "scale": 0}, _decimal(38)),
    "precision_timestamp": ("precision_timestamp", {"precision": 6}, _integer(40)),
    "precision_timestamp of seconds": ("precision_timestamp", {"precision": 0}, _integer(40)),
    "precision_timestamp_tz": ("precision_timestamp_tz", {"precision": 9}, _integer(64)),
    # those that are always read cell by cell
    "uuid": ("uuid", {}, lambda some: some.randbytes(16)),
    "var_char": ("varchar", {"length": 20_000}, _text),
}
BY_CELL = {"uuid", "var_char"}


def _set(literal: Any, name: str, value: Any) -> None:
    kind, (_, parameters, _) = name.split(" ")[0], KINDS[name]
    if not parameters:
        setattr(literal, kind, value)
        return
    message = getattr(literal, kind)
    message.value = value
    for parameter, number in parameters.items():
        setattr(message, parameter, number)


def _set_type(type: Any, name: str, nullability: int) -> None:
    kind, parameters, _ = KINDS[name]
    getattr(type, kind).nullability = nullability
    for parameter, number in parameters.items():
        setattr(getattr(type, kind), parameter, number)


def table(some: Random, names: list[str], count: int, nulls: list[bool]) -> Any:
    """A plan whose only relation is a virtual table of so many rows."""
    plan = messages.Plan()
    plan.version.minor_number = 108
    root = plan.relations.add().root
    schema, rows = root.input.read.base_schema, root.input.read.virtual_table
    schema.struct.nullability = REQUIRED
    for position, name in enumerate(names):
        schema.names.append(f"c{position}")
        root.names.append(f"c{position}")
        _set_type(schema.struct.types.add(), name, NULLABLE if nulls[position] else REQUIRED)
    marked = [some.random() < 0.5 for _ in names]
    for _ in range(count):
        row = rows.expressions.add()
        for name, nullable, mark in zip(names, nulls, marked, strict=True):
            literal = row.fields.add().literal
            if nullable and some.random() < 0.3:
                _set_type(literal.null, name, NULLABLE)
                literal.nullable = mark
            else:
                _set(literal, name, KINDS[name][2](some))
                literal.nullable = mark
    return plan


def rows_of(plan: Any) -> Any:
    return plan.relations[0].root.input.read.virtual_table.expressions


def _outcome(plan: Any, many: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, ...]:
    """Return the outcome of reading a plan, and whether its table was read by column."""
    monkeypatch.setattr(virtual_tables, "_MANY", many)
    forget_plans()
    content = plan.SerializeToString()
    found = [str(finding) for finding in ps.validate(content).findings]
    try:
        loaded = ps.load(content)
    except SubstraitError as error:
        return False, found, str(error)
    read = loaded.trees[0]
    by_column = (
        isinstance(read, Read) and isinstance(read.read_type, VirtualTable) and read.read_type.columns is not None
    )
    written = loaded.to_message().SerializeToString(deterministic=True)
    return by_column, found, written, repr(loaded.trees), repr(loaded.notes), loaded


def _same(plan: Any, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the table of a plan was read by column; that gives the same as by cell is asserted."""
    by_column, *found = _outcome(plan, 1, monkeypatch)
    other, *wanted = _outcome(plan, 1 << 62, monkeypatch)
    assert not other
    assert found == wanted
    assert repr(found) == repr(wanted)
    return bool(by_column)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("nulls", [False, True], ids=["required", "nullable"])
def test_each_kind(name: str, nulls: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    some = Random(name)
    assert _same(table(some, [name], 40, [nulls]), monkeypatch) is (name not in BY_CELL)
    nothing = table(some, [name, "i64"], 3, [True, False])
    for row in rows_of(nothing):
        _set_type(row.fields[0].literal.null, name, NULLABLE)
    _same(nothing, monkeypatch)


@pytest.mark.parametrize("seed", range(40))
def test_random_tables(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    some = Random(seed)
    names = some.choices([name for name in KINDS if name not in BY_CELL], k=some.randint(1, 5))
    # rows in several batches
    monkeypatch.setattr("pyspark_substrait.proto.read.literal_columns._BATCH", some.choice([1, 7, 50_000]))
    monkeypatch.setattr("pyspark_substrait.proto.write.virtual_tables._BATCH", some.choice([1, 7, 50_000]))
    assert _same(table(some, names, some.randint(1, 30), [some.random() < 0.5 for _ in names]), monkeypatch)


def _cell(plan: Any, column: int) -> Any:
    return rows_of(plan)[5].fields[column].literal


def _untyped_null(plan: Any) -> None:
    _cell(plan, 1).null.SetInParent()


def _required_null(plan: Any) -> None:
    _set_type(_cell(plan, 1).null, "string", REQUIRED)


def _null_of_a_required_column(plan: Any) -> None:
    _set_type(_cell(plan, 0).null, "i64", NULLABLE)


def _null_of_another_type(plan: Any) -> None:
    _set_type(_cell(plan, 1).null, "i32", NULLABLE)


def _nulls_that_differ(plan: Any) -> None:
    for row in (2, 3):
        _set_type(rows_of(plan)[row].fields[1].literal.null, "string", NULLABLE)
    rows_of(plan)[3].fields[1].literal.nullable = True
    rows_of(plan)[2].fields[1].literal.nullable = False


def _another_type(plan: Any) -> None:
    _cell(plan, 0).i32 = 5


def _a_text_for_a_number(plan: Any) -> None:
    _cell(plan, 0).string = "5"


def _other_nullability(plan: Any) -> None:
    _cell(plan, 0).nullable = not _cell(plan, 0).nullable


def _variation(plan: Any) -> None:
    _cell(plan, 0).type_variation_reference = 7


def _no_literal(plan: Any) -> None:
    _cell(plan, 0).Clear()


def _no_expression(plan: Any) -> None:
    rows_of(plan)[5].fields[0].Clear()


def _expression(plan: Any) -> None:
    cell = rows_of(plan)[5].fields[0]
    cell.cast.type.i64.nullability = REQUIRED
    cell.cast.input.literal.i32 = 3
    cell.cast.failure_behavior = 2


def _fewer_cells(plan: Any) -> None:
    del rows_of(plan)[5].fields[2]


def _more_cells(plan: Any) -> None:
    rows_of(plan)[5].fields.add().literal.i64 = 3


def _no_cells(plan: Any) -> None:
    del rows_of(plan)[9].fields[:]


def _other_scale(plan: Any) -> None:
    _cell(plan, 2).decimal.scale = 3


def _other_precision(plan: Any) -> None:
    _cell(plan, 2).decimal.precision = 17


def _digits(plan: Any) -> None:
    _cell(plan, 2).decimal.value = (10**18).to_bytes(16, "little")


def _short_decimal(plan: Any) -> None:
    _cell(plan, 2).decimal.value = bytes(15)


def _small_integer(plan: Any) -> None:
    _cell(plan, 3).i8 = 128


def _early_date(plan: Any) -> None:
    _cell(plan, 4).date = -354_286


def _swapped(plan: Any) -> None:
    row = rows_of(plan)[5]
    first, second = copy.deepcopy(row.fields[0]), copy.deepcopy(row.fields[1])
    row.fields[0].CopyFrom(second)
    row.fields[1].CopyFrom(first)


ODD = [
    value
    for name, value in list(globals().items())
    if name.startswith("_") and getattr(value, "__annotations__", {}) == {"plan": "Any", "return": "None"}
]


@pytest.mark.parametrize("change", ODD, ids=lambda change: change.__name__.strip("_"))
def test_a_cell_that_is_odd(change: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch) -> None:
    plan = table(Random(1), ["i64", "string", "decimal", "i8", "date"], 10, [False, True, False, False, False])
    assert _same(plan, monkeypatch)
    change(plan)
    # a date is only looked at where findings are collected
    assert _same(plan, monkeypatch) is (change is _early_date)


def test_nan_of_any_bits_is_one_value(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = table(Random(1), ["fp32", "fp64"], 3, [False, True])
    rows_of(plan)[1].fields[0].literal.fp32 = struct.unpack("<f", b"\x01\x00\xc0\xff")[0]
    rows_of(plan)[1].fields[1].literal.fp64 = struct.unpack("<d", b"\x01\x00\x00\x00\x00\x00\xf8\xff")[0]
    assert _same(plan, monkeypatch)


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> Plan:
    return _loaded(table(Random(3), ["i64", "string", "fp64"], 25, [False, True, False]), monkeypatch)


def _loaded(plan: Any, monkeypatch: pytest.MonkeyPatch, many: int = 1) -> Plan:
    monkeypatch.setattr(virtual_tables, "_MANY", many)
    forget_plans()
    content: bytes = plan.SerializeToString()
    return ps.load(content)


def _table(plan: Plan) -> VirtualTable:
    read = plan.trees[0]
    assert isinstance(read, Read) and isinstance(read.read_type, VirtualTable)
    return read.read_type


def _is_made(table: VirtualTable) -> bool:
    """Whether the rows have been made."""
    try:
        object.__getattribute__(table, "expressions")
    except AttributeError:
        return False
    return True


@pytest.mark.parametrize("name", [name for name in KINDS if name not in BY_CELL])
def test_arrays_for_spark_are_those_of_nodes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = _loaded(table(Random(name), [name], 30, [True]), monkeypatch)
    found, read = _table(plan), plan.trees[0]
    assert isinstance(read, Read) and found.columns is not None
    (type,) = read.base_schema.struct.types
    array = column_array(found.columns.columns[0], type)
    assert array is not None and array.null_count
    literals = [cell for row in found.expressions for cell in row.fields if isinstance(cell, Literal)]
    wanted = literal_array(literals, type)
    assert array.type == wanted.type
    # NaN is equal to nothing in Arrow
    same = array.combine_chunks().equals(wanted)
    assert same or repr(array.to_pylist()) == repr(wanted.to_pylist())


def test_tables_are_compared_without_their_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    message = table(Random(3), ["i64", "fp64"], 25, [True, False])
    one, other = _table(_loaded(message, monkeypatch)), _table(_loaded(message, monkeypatch))
    assert one == other and hash(one) == hash(other) and one.row_count == 25
    rows_of(message)[24].fields[1].literal.fp64 = 7.25
    changed = _table(_loaded(message, monkeypatch))
    assert one != changed
    del rows_of(message)[24:]
    assert one != _table(_loaded(message, monkeypatch))
    assert not any(map(_is_made, (one, other, changed)))
    by_row = _table(_loaded(message, monkeypatch, many=1000))
    by_column = _table(_loaded(message, monkeypatch))
    assert by_row == by_column and hash(by_row) == hash(by_column) and by_column == by_row and one != by_row


def test_tables_of_other_types_are_not_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    message = table(Random(3), ["i64"], 5, [True])
    found = _table(_loaded(message, monkeypatch))
    for row in rows_of(message):
        row.fields[0].literal.nullable = not row.fields[0].literal.nullable
    other, by_row = _table(_loaded(message, monkeypatch)), _table(_loaded(message, monkeypatch, many=1000))
    assert (found == other) is (found == by_row) is False


def test_rows_are_made_once(loaded: Plan) -> None:
    found = _table(loaded)
    assert found.first_rows(2) == found.expressions[:2] and found.first_rows(99) == found.expressions
    assert found.expressions is found.expressions
    assert type(found.expressions) is tuple and type(found.expressions[0]) is NestedStruct


def test_walks(loaded: Plan) -> None:
    read = loaded.trees[0]
    assert list(all_expressions(read)) == []
    assert not _is_made(_table(loaded))
    cells = relation_expressions(read)
    assert len(cells) == 75 and all(isinstance(cell, Literal) for cell in cells)


def test_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    # without NaN, which is equal only to itself, also in a table that was made of rows
    message = table(Random(3), ["i64", "string", "decimal"], 25, [False, True, False])
    found = _table(_loaded(message, monkeypatch))
    for made in (copy.copy(found), copy.deepcopy(found), pickle.loads(pickle.dumps(found)), replace(found)):
        assert made == found and repr(made) == repr(found) and hash(made) == hash(found)
    with pytest.raises(AttributeError, match="nothing"):
        found.nothing  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError):
        found.expressions = ()  # type: ignore[misc]
    assert replace(found, expressions=()).row_count == 0


def test_old_rows_are_read_by_column(monkeypatch: pytest.MonkeyPatch) -> None:
    """The form before 0.98 is upgraded first."""
    message = {
        "version": {"minorNumber": 60},
        "relations": [
            {
                "root": {
                    "names": ["a"],
                    "input": {
                        "read": {
                            "baseSchema": {
                                "names": ["a"],
                                "struct": {
                                    "nullability": "NULLABILITY_REQUIRED",
                                    "types": [{"i64": {"nullability": "NULLABILITY_REQUIRED"}}],
                                },
                            },
                            "virtualTable": {"values": [{"fields": [{"i64": str(number)}]} for number in range(5)]},
                        }
                    },
                }
            }
        ],
    }
    monkeypatch.setattr(virtual_tables, "_MANY", 1)
    forget_plans()
    found = _table(ps.load(message))
    assert found.columns is not None
    wanted = [Literal(type=I64(), value=number) for number in range(5)]
    assert [cell for row in found.expressions for cell in row.fields] == wanted


def test_values_are_those_of_the_specification(monkeypatch: pytest.MonkeyPatch) -> None:
    message = table(Random(3), ["decimal", "date", "precision_timestamp"], 1, [False, False, False])
    (row,) = rows_of(message)
    row.fields[0].literal.decimal.value = (-12_345_600).to_bytes(16, "little", signed=True)
    row.fields[1].literal.date = -1
    row.fields[2].literal.precision_timestamp.value = 0
    (made,) = _table(_loaded(message, monkeypatch)).expressions
    values = [cell.value for cell in made.fields if isinstance(cell, Literal)]
    assert values == [decimal.Decimal("-1234.5600"), -1, 0]
    assert repr(values[0]) == "Decimal('-1234.5600')"

"""Expressions of pyarrow: what they are as Substrait bytes, and what pyarrow itself makes of them.

Run in an environment of its own, whose pyarrow was built with Substrait:

    python arrow_expressions.py write FOLDER    bytes of each expression, and pyarrow's results
    python arrow_expressions.py read FOLDER     pyarrow's results for the bytes of others in the folder
"""

from __future__ import annotations

import sys
from datetime import date as day
from datetime import datetime, time
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.substrait as ps

NAN, INF = float("nan"), float("inf")
BIG = 2**63 - 1
POINT = pa.struct([("x", pa.int32()), ("y", pa.string()), ("in", pa.struct([("z", pa.int64())]))])


def data() -> pa.Table:
    """Rows with nulls, extremes and what is special about each type."""
    columns = {
        "i8": pa.array([1, -128, 127, None, 0], pa.int8()),
        "i16": pa.array([1, -(2**15), 2**15 - 1, None, 0], pa.int16()),
        "i32": pa.array([7, -(2**31), 2**31 - 1, None, 0], pa.int32()),
        "i64": pa.array([-7, -(2**63), BIG, None, 3], pa.int64()),
        "small": pa.array([2, -3, 5, None, 1], pa.int64()),
        "f32": pa.array([1.5, -0.0, INF, None, NAN], pa.float32()),
        "f64": pa.array([0.25, -0.0, -INF, None, NAN], pa.float64()),
        "unit": pa.array([0.5, -1.0, 1.0, None, 0.0], pa.float64()),
        "dec": pa.array(
            [Decimal("1.25"), Decimal("-99999999.99"), Decimal("0.00"), None, Decimal("7.10")], pa.decimal128(10, 2)
        ),
        "text": pa.array(["5", "", "Ünïcödé 😀", None, "a'b\\"], pa.string()),
        "bytes": pa.array([b"a", b"", b"\0\xff", None, b"a'b"], pa.binary()),
        "fixed": pa.array([b"abc", b"\0\0\0", b"xyz", None, b"abc"], pa.binary(3)),
        "yes": pa.array([True, False, True, None, None], pa.bool_()),
        "no": pa.array([False, None, True, None, False], pa.bool_()),
        "day": pa.array([day(2024, 2, 29), day(1, 1, 1), day(9999, 12, 31), None, day(1969, 12, 31)], pa.date32()),
        "ts": pa.array(
            [
                datetime(2024, 2, 29, 12, 30, 1, 999999),
                datetime(1, 1, 1),
                datetime(9999, 12, 31, 23),
                None,
                datetime(1969, 12, 31),
            ],
            pa.timestamp("us"),
        ),
        "tz": pa.array(
            [datetime(2024, 2, 29, 12), datetime(1970, 1, 1), datetime(2038, 1, 19), None, datetime(1969, 12, 31)],
            pa.timestamp("us", "UTC"),
        ),
        "time": pa.array([time(1, 2, 3, 4), time(0), time(23, 59, 59, 999999), None, time(12)], pa.time64("us")),
        "point": pa.array(
            [
                {"x": 1, "y": "a", "in": {"z": 5}},
                {"x": None, "y": "", "in": None},
                {"x": 3, "y": None, "in": {"z": None}},
                None,
                {"x": 0, "y": "b", "in": {"z": -1}},
            ],
            POINT,
        ),
        "list": pa.array([[1, 2], [], [None, 3], None, [0]], pa.list_(pa.int32())),
        "map": pa.array([[("a", 1)], [], [("b", None)], None, [("c", 2), ("d", 3)]], pa.map_(pa.string(), pa.int32())),
    }
    return pa.table(columns)


def f(*path: str) -> pc.Expression:
    return pc.field(*path)


def lit(value: object, type: pa.DataType) -> pc.Expression:
    return pc.scalar(pa.scalar(value, type))


def expressions() -> dict[str, pc.Expression]:
    """What pyarrow can write as Substrait, by a name that says what is special about it."""
    moment = datetime(2024, 2, 29, 12, 30, 1, 999999)
    found = {
        # the option SILENT leaves open what an overflow gives, so none of these does
        "addition": pc.add(f("i64"), lit(0, pa.int64())),
        "subtraction": pc.subtract(f("small"), f("small")),
        "multiplication": pc.multiply(f("small"), f("small")),
        "i16 addition": pc.add(lit(0, pa.int16()), f("i16")),
        "negation": pc.negate(f("small")),
        "absolute": pc.abs(f("small")),
        "checked addition": pc.add_checked(f("small"), f("small")),
        "checked subtraction": pc.subtract_checked(f("small"), lit(4, pa.int64())),
        "checked multiplication": pc.multiply_checked(f("small"), f("small")),
        "division": pc.divide(f("i64"), lit(2, pa.int64())),
        "division of floats": pc.divide(f("f64"), lit(0.3, pa.float64())),
        "float addition": pc.add(f("f64"), f("unit")),
        "float negation": pc.negate(f("f64")),
        "float absolute": pc.abs(f("f32")),
        "decimal addition": pc.add(f("dec"), f("dec")),
        "decimal subtraction": pc.subtract(f("dec"), lit(Decimal("1.5"), pa.decimal128(10, 2))),
        "decimal multiplication": pc.multiply(f("dec"), f("dec")),
        "power": pc.power(f("unit"), f("unit")),
        "square root": pc.sqrt(f("unit")),
        "exponential": pc.exp(f("unit")),
        "sign": pc.sign(f("unit")),
        "cosine": pc.cos(f("unit")),
        "sine": pc.sin(f("unit")),
        "tangent": pc.tan(f("unit")),
        "arc cosine": pc.acos(f("unit")),
        "arc sine": pc.asin(f("unit")),
        "arc tangent": pc.atan(f("f64")),
        "bitwise and": pc.bit_wise_and(f("i32"), lit(6, pa.int32())),
        "bitwise or": pc.bit_wise_or(f("i32"), lit(6, pa.int32())),
        "bitwise xor": pc.bit_wise_xor(f("i32"), lit(-1, pa.int32())),
        "and": pc.and_kleene(f("yes"), f("no")),
        "or": pc.or_kleene(f("yes"), f("no")),
        "not": ~f("yes"),
        "is null": f("i32").is_null(),
        "is not null": f("list").is_valid(),
        "is nan": pc.is_nan(f("f64")),
        "is finite": pc.is_finite(f("f32")),
        "coalesce": pc.coalesce(f("text"), lit("none", pa.string())),
        # pyarrow's if_else gives null where the condition is null; Substrait's if_then goes on, so no condition is null
        "if else": pc.if_else(f("text").is_null(), f("i64"), f("small")),
        "if else of structs": pc.if_else(f("no").is_valid(), f("point"), lit(None, POINT)),
        "case": pc.case_when(pc.make_struct(f("no"), f("i32").is_null()), f("text"), lit("null", pa.string())),
        "nested if": pc.if_else(
            f("yes").is_valid(), f("small"), pc.if_else(f("no").is_null(), f("i64"), lit(0, pa.int64()))
        ),
        "is in": f("i64").isin(pa.array([3, -7], pa.int64())),
        "is in texts": f("text").isin(["5", "a'b\\", ""]),
        "is in with null": f("text").isin(pa.array(["5", None])),
        "field": f("ts"),
        "struct field": f("point", "x"),
        "field of a field": f("point", "in", "z"),
        "struct": f("point"),
        "list": f("list"),
        "map": f("map"),
        "cast down": f("small").cast(pa.int8(), safe=False),
        "cast up": f("i8").cast(pa.int64(), safe=False),
        "cast to float": f("i32").cast(pa.float64(), safe=False),
        "cast float to float": f("unit").cast(pa.float32(), safe=False),
        "cast date": f("day").cast(pa.timestamp("us"), safe=False),
        "cast to string": f("i32").cast(pa.string(), safe=False),
        "cast boolean": f("yes").cast(pa.int32(), safe=False),
        "cast decimal": f("small").cast(pa.decimal128(21, 2), safe=False),
    }
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
        compare = getattr(pc, name)
        found[f"{name} i64"] = compare(f("i64"), f("small"))
        found[f"{name} i32 literal"] = compare(f("i32"), lit(7, pa.int32()))
        found[f"{name} text"] = compare(f("text"), lit("5", pa.string()))
        found[f"{name} decimal"] = compare(f("dec"), lit(Decimal("1.25"), pa.decimal128(10, 2)))
        found[f"{name} date"] = compare(f("day"), lit(day(2024, 2, 29), pa.date32()))
        found[f"{name} timestamp"] = compare(f("ts"), lit(moment, pa.timestamp("us")))
        found[f"{name} timestamp with zone"] = compare(f("tz"), lit(moment, pa.timestamp("us", "UTC")))
        found[f"{name} time"] = compare(f("time"), lit(time(12), pa.time64("us")))
        found[f"{name} binary"] = compare(f("bytes"), lit(b"a", pa.binary()))
        found[f"{name} fixed"] = compare(f("fixed"), lit(b"abc", pa.binary(3)))
    literals = {
        pa.bool_(): False, pa.int8(): -128, pa.int16(): 2**15 - 1, pa.int32(): -(2**31), pa.int64(): -(2**63),
        pa.float32(): -0.0, pa.float64(): INF, pa.string(): "a'b\\\"😀\0", pa.binary(): b"\0'\\\xff",
        pa.binary(2): b"\xff\0", pa.date32(): day(1, 1, 1), pa.timestamp("us"): moment,
        pa.timestamp("us", "UTC"): moment, pa.time64("us"): time(23, 59, 59, 999999),
        pa.decimal128(38, 10): Decimal("9999999999999999999999999999.9999999999"),
        pa.list_(pa.int32()): [1, 2], pa.map_(pa.string(), pa.int32()): [("a", 1), ("b", 2)],
        pa.struct([("a", pa.int32()), ("b", pa.string())]): {"a": 1, "b": "x"},
        pa.uint8(): 255, pa.uint16(): 65535, pa.uint32(): 2**32 - 1, pa.uint64(): 2**64 - 1,
        pa.large_string(): "large", pa.large_binary(): b"large",
        pa.time32("s"): time(1, 2, 3), pa.time32("ms"): time(1, 2, 3, 4000),
    }  # fmt: skip
    for type, value in literals.items():
        found[f"literal {type}"] = lit(value, type)
    for type in (pa.bool_(), pa.int64(), pa.string(), pa.date32(), pa.decimal128(5, 2), pa.list_(pa.int32())):
        found[f"null {type}"] = lit(None, type)
    return found


def write(folder: Path) -> None:
    table = data()
    save(table, folder / "data.arrow")
    names, own, read = [], [], []
    for position, (name, expression) in enumerate(expressions().items()):
        content = bytes(expression.to_substrait(table.schema))
        (folder / f"{position}.pb").write_bytes(content)
        names.append(name)
        own.append(evaluated(table, expression))
        read.append(read_back(table, content))
    save(pa.table(own, names), folder / "own.arrow")
    kept = [(name, column) for name, column in zip(names, read, strict=True) if column is not None]
    save(pa.table([column for _, column in kept], [name for name, _ in kept]), folder / "read.arrow")
    several = [f("point"), f("map"), f("small") + f("small")]
    (folder / "several.pb").write_bytes(
        bytes(ps.serialize_expressions(several, ["first", "second", "third"], table.schema))
    )


def evaluated(table: pa.Table, expression: pc.Expression) -> pa.ChunkedArray:
    return ds.dataset(table).to_table(columns={"it": expression}).column("it")


def read_back(table: pa.Table, content: bytes) -> pa.ChunkedArray | None:
    """What pyarrow makes of its own bytes; None where it can't read them."""
    try:
        (expression,) = ps.deserialize_expressions(content).expressions.values()
        return evaluated(table, expression)
    except pa.ArrowException:
        return None


def read(folder: Path) -> None:
    """Each ``*.ours`` is used as a projection, and as a filter where it is a condition."""
    with pa.ipc.open_file(folder / "data.arrow") as file:
        table = file.read_all()
    for path in sorted(folder.glob("*.ours")):
        try:
            bound = ps.deserialize_expressions(path.read_bytes())
        except pa.ArrowException as error:
            path.with_suffix(".refused").write_text(str(error))
            continue
        projected = ds.dataset(table).to_table(columns=dict(bound.expressions))
        save(projected, path.with_suffix(".projected"))
        (first, *_) = bound.expressions.values()
        if projected.schema.field(0).type == pa.bool_():
            save(ds.dataset(table).to_table(filter=first), path.with_suffix(".filtered"))


def save(table: pa.Table, path: Path) -> None:
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)


if __name__ == "__main__":
    {"write": write, "read": read}[sys.argv[1]](Path(sys.argv[2]))

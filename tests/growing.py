"""Plans of any size, one maker for each way in which a plan grows; tests count with them, the benchmark measures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from pyspark_substrait.model.expressions import Cast, Expression, IfClause, IfThen, SingularOrList
from pyspark_substrait.model.relations import JoinType, Read, RelationBase, Set, SetOp
from pyspark_substrait.model.types import I64
from pyspark_substrait.proto import messages
from tests.spark.plans import (
    LONG,
    TEXT,
    aggregate,
    both,
    call,
    col,
    emit,
    group,
    join,
    long,
    plan,
    project,
    stored,
    where,
)

__all__ = ["GROWTH", "Growth", "different", "virtual_rows"]


@dataclass(frozen=True, kw_only=True)
class Growth:
    """One way in which a plan grows.

    Args:
        made: the plan of a size, as it comes from elsewhere: binary.
        sizes: the sizes to look at.
        tables: the columns of each table that a plan of a size reads, all 64 bit integers.
        spark: the largest size that Spark itself is to analyse.
        text: the same query written by hand in Spark SQL, over the same tables.
        checked: why checking isn't linear; empty where it is.
    """

    made: Callable[[int], bytes]
    sizes: tuple[int, ...]
    tables: Callable[[int], dict[str, list[str]]]
    spark: int
    text: Callable[[int], str]
    checked: str = ""


_COLUMNS = ["a", "b", "c", "d"]
#: how many literals there are as arguments: what calls mean is kept, and that is to serve plans of all sizes alike
_LITERALS = 20


def _table() -> Read:
    return stored("numbers", dict.fromkeys(_COLUMNS, LONG))


def _numbers(size: int) -> dict[str, list[str]]:
    return {"numbers": _COLUMNS}


# relations ------------------------------------------------------------------------------------------------------------


def chain(size: int) -> bytes:
    """So many relations one above the other: filters and projections in turn, over four columns."""
    node: RelationBase = _table()
    for step in range(1, size):
        if step % 2:
            node = where(node, call("gt", col(node, step % 4), long(step % _LITERALS)))
        else:
            others = (col(node, position) for position in (1, 2, 3))
            node = project(node, *others, call("add", col(node, 0), long(1)))
    return plan(node).to_bytes()


def _chain_text(size: int) -> str:
    text, names = "SELECT a, b, c, d FROM numbers", _COLUMNS
    for step in range(1, size):
        if step % 2:
            text = f"SELECT * FROM ({text}) WHERE {names[step % 4]} > {step % _LITERALS}L"
        else:
            first, *others = names
            text = f"SELECT {', '.join(others)}, {first} + 1L AS {first} FROM ({text})"
            names = [*others, first]
    return text


def joins(size: int) -> bytes:
    """A balanced tree of so many joins of reads; each puts out two columns."""

    def tree(leaves: int) -> RelationBase:
        if leaves == 1:
            return _table()
        left, right = tree(leaves // 2), tree(leaves - leaves // 2)
        record = both(left, right)
        condition = call("equal", col(record, 0), col(record, len(left.schema.types)))
        return join(left, right, condition, JoinType.INNER, common=emit(0, len(left.schema.types) + 1))

    return plan(tree(size + 1)).to_bytes()


def _joins_text(size: int) -> str:
    def tree(leaves: int) -> str:
        if leaves == 1:
            return "SELECT a, b FROM numbers"
        left, right = tree(leaves // 2), tree(leaves - leaves // 2)
        return f"SELECT l.a, r.b FROM ({left}) AS l JOIN ({right}) AS r ON l.a = r.a"

    return tree(size + 1)


def sets(size: int) -> bytes:
    """A balanced tree of so many set operations of two members."""

    def tree(leaves: int) -> RelationBase:
        if leaves == 1:
            return _table()
        op = SetOp.UNION_ALL if leaves % 2 else SetOp.UNION_DISTINCT
        return Set(members=(tree(leaves // 2), tree(leaves - leaves // 2)), op=op)  # type: ignore[arg-type]

    return plan(tree(size + 1)).to_bytes()


def _sets_text(size: int) -> str:
    def tree(leaves: int) -> str:
        if leaves == 1:
            return "SELECT a, b, c, d FROM numbers"
        op = "UNION ALL" if leaves % 2 else "UNION DISTINCT"
        return f"({tree(leaves // 2)}) {op} ({tree(leaves - leaves // 2)})"

    return tree(size + 1)


def different(number: int) -> bytes:
    """A small plan like that of no other number: its length, its functions and its literals differ."""
    node: RelationBase = _table()
    for step in range(2 + number % 5):
        if step % 2:
            node = where(node, call(("gt", "lt", "not_equal")[number % 3], col(node, step % 4), long(number)))
        else:
            name = ("add", "subtract", "multiply")[number // 3 % 3]
            others = (col(node, position) for position in (1, 2, 3))
            node = project(node, call(name, col(node, 0), long(number + step)), *others)
    return plan(node).to_bytes()


# columns --------------------------------------------------------------------------------------------------------------


def _names(size: int, letter: str = "c") -> list[str]:
    return [f"{letter}{number}" for number in range(size)]


def _wide(size: int) -> dict[str, list[str]]:
    return {"wide": _names(size)}


def _wide_pair(size: int) -> dict[str, list[str]]:
    return {"one": _names(size // 2, "l"), "other": _names(size - size // 2, "r")}


def _wide_read(name: str, columns: list[str]) -> Read:
    return stored(name, dict.fromkeys(columns, LONG))


def wide_read(size: int) -> bytes:
    """A read of so many columns."""
    return plan(_wide_read("wide", _names(size))).to_bytes()


def wide_project(size: int) -> bytes:
    """So many columns computed from as many."""
    read = _wide_read("wide", _names(size))
    return plan(
        project(read, *(call("add", col(read, number), long(number % _LITERALS)) for number in range(size)))
    ).to_bytes()


def wide_join(size: int) -> bytes:
    """Two tables joined, of so many columns together."""
    left, right = (_wide_read(name, columns) for name, columns in _wide_pair(size).items())
    record = both(left, right)
    condition = call("equal", col(record, 0), col(record, len(left.schema.types)))
    return plan(join(left, right, condition, JoinType.LEFT)).to_bytes()


def wide_aggregate(size: int) -> bytes:
    """So many columns: half of them keys, and the sums of the others by them."""
    read = _wide_read("wide", _names(size))
    columns = [col(read, number) for number in range(size)]
    sums = [aggregate("sum", column) for column in columns[size // 2 :]]
    return plan(group(read, columns[: size // 2], sums)).to_bytes()


def _aggregate_text(size: int) -> str:
    keys, others = _listed(_names(size)[: size // 2]), _names(size)[size // 2 :]
    return f"SELECT {keys}, {_listed([f'sum({name})' for name in others])} FROM wide GROUP BY {keys}"


# expressions ----------------------------------------------------------------------------------------------------------


def _computed(expression: Expression, read: Read) -> bytes:
    return plan(project(read, expression)).to_bytes()


def nested_calls(size: int) -> bytes:
    """So many calls in each other."""
    read = _table()
    node: Expression = col(read, 0)
    for step in range(size):
        node = call("add", node, col(read, step % 4))
    return _computed(node, read)


def nested_cases(size: int) -> bytes:
    """So many choices in each other."""
    read = _table()
    node: Expression = long(0)
    for step in range(size):
        clause = IfClause(if_=call("gt", col(read, step % 4), long(step % _LITERALS)), then=long(step))
        node = IfThen(ifs=(clause,), else_=node)
        assert not node.type.nullable  # derived now, level by level, and not at the end in a recursion
    return _computed(node, read)


def _cases_text(size: int) -> str:
    text = "0L"
    for step in range(size):
        text = f"CASE WHEN {_COLUMNS[step % 4]} > {step % _LITERALS}L THEN {step}L ELSE {text} END"
    return f"SELECT {text} AS x FROM numbers"


def nested_casts(size: int) -> bytes:
    """So many casts in each other: a number to text and back."""
    read = _table()
    node: Expression = col(read, 0)
    for step in range(size):
        node = Cast(type=I64(nullable=False) if step % 2 else TEXT, input=node)
    return _computed(node, read)


def _casts_text(size: int) -> str:
    text = "a"
    for step in range(size):
        text = f"CAST({text} AS {'BIGINT' if step % 2 else 'STRING'})"
    return f"SELECT {text} AS x FROM numbers"


def wide_and(size: int) -> bytes:
    """One condition of so many conditions."""
    read = _table()
    parts = (call("gt", col(read, number % 4), long(number % _LITERALS)) for number in range(size))
    return plan(where(read, call("and", *parts))).to_bytes()


def or_list(size: int) -> bytes:
    """Which numbers are among so many."""
    read = _table()
    options = tuple(long(3 * number) for number in range(size))
    return plan(where(read, SingularOrList(value=col(read, 0), options=options))).to_bytes()


# virtual tables -------------------------------------------------------------------------------------------------------


def virtual_rows(size: int) -> bytes:
    """A virtual table of so many rows: a number, a text and a number that may be null. Written without a message."""
    read = messages.Rel().read
    read.base_schema.names.extend(["id", "name", "value"])
    struct = read.base_schema.struct
    struct.nullability = messages.Type.NULLABILITY_REQUIRED
    struct.types.add().i64.nullability = messages.Type.NULLABILITY_REQUIRED
    struct.types.add().string.nullability = messages.Type.NULLABILITY_REQUIRED
    struct.types.add().fp64.nullability = messages.Type.NULLABILITY_NULLABLE
    whole, rest = divmod(size, _BATCH)
    rows = _batch(_BATCH) * whole + _batch(rest)
    content = read.SerializeToString() + _field(read, "virtual_table", rows)
    root = messages.current().named("RelRoot")(names=["id", "name", "value"])
    inside = _field(root, "input", _field(messages.Rel(), "read", content)) + root.SerializeToString()
    message = messages.Plan()
    message.version.minor_number = 108
    tree = messages.current().named("PlanRel")()
    content = _field(message, "relations", _field(tree, "root", inside))
    return bytes(message.SerializeToString() + content)


_BATCH = 10_000


@cache
def _batch(size: int) -> bytes:
    table = messages.Rel().read.virtual_table
    for number in range(size):
        fields = table.expressions.add().fields
        fields.add().literal.i64 = number
        fields.add().literal.string = f"name {number}"
        value = fields.add().literal
        value.nullable = True
        if number % 10:
            value.fp64 = number / 2
        else:
            value.null.fp64.nullability = messages.Type.NULLABILITY_NULLABLE
    return bytes(table.SerializeToString())


def _field(message: Any, name: str, content: bytes) -> bytes:
    """The bytes of a field of a message that is a message itself."""
    number, length = message.DESCRIPTOR.fields_by_name[name].number << 3 | 2, len(content)
    return _varint(number) + _varint(length) + content


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def _listed(parts: list[str]) -> str:
    return ", ".join(parts)


#: what grows
GROWTH: dict[str, Growth] = {
    "relations in a chain": Growth(
        made=chain, sizes=(10, 30, 100, 300, 1_000), tables=_numbers, spark=1_000, text=_chain_text
    ),
    "joins in a balanced tree": Growth(
        made=joins, sizes=(10, 30, 100, 300, 1_000), tables=_numbers, spark=300, text=_joins_text
    ),
    "set operations in a balanced tree": Growth(
        made=sets, sizes=(10, 30, 100, 300, 1_000), tables=_numbers, spark=300, text=_sets_text
    ),
    "columns read": Growth(
        made=wide_read,
        sizes=(10, 100, 1_000, 5_000),
        tables=_wide,
        spark=5_000,
        text=lambda size: f"SELECT {_listed(_names(size))} FROM wide",
    ),
    "columns computed": Growth(
        made=wide_project,
        sizes=(10, 100, 1_000, 5_000),
        tables=_wide,
        spark=5_000,
        text=lambda size: (
            f"SELECT {_listed([f'{n} + {i % _LITERALS}L' for i, n in enumerate(_names(size))])} FROM wide"
        ),
    ),
    "columns joined": Growth(
        made=wide_join,
        sizes=(10, 100, 1_000, 5_000),
        tables=_wide_pair,
        spark=5_000,
        text=lambda size: "SELECT * FROM one LEFT JOIN other ON l0 = r0",
    ),
    "columns aggregated": Growth(
        made=wide_aggregate,
        sizes=(10, 100, 1_000, 5_000),
        tables=_wide,
        spark=5_000,
        text=_aggregate_text,
    ),
    "calls in each other": Growth(
        made=nested_calls,
        sizes=(10, 30, 100, 300, 1_000),
        tables=_numbers,
        spark=1_000,
        text=lambda size: (
            "SELECT "
            + "(" * size
            + "a"
            + "".join(f" + {_COLUMNS[step % 4]})" for step in range(size))
            + " FROM numbers"
        ),
    ),
    "choices in each other": Growth(
        made=nested_cases, sizes=(10, 30, 100, 300, 1_000), tables=_numbers, spark=1_000, text=_cases_text
    ),
    "casts in each other": Growth(
        made=nested_casts,
        sizes=(10, 30, 100, 300, 1_000),
        tables=_numbers,
        spark=1_000,
        text=_casts_text,
        checked="each cast has a finding, whose path is as long as the cast stands deep",
    ),
    "conditions in one AND": Growth(
        made=wide_and,
        sizes=(10, 100, 1_000, 10_000),
        tables=_numbers,
        spark=1_000,
        text=lambda size: (
            "SELECT * FROM numbers WHERE "
            + " AND ".join(f"{_COLUMNS[number % 4]} > {number % _LITERALS}L" for number in range(size))
        ),
    ),
    "values in an or-list": Growth(
        made=or_list,
        sizes=(100, 1_000, 10_000, 100_000),
        tables=_numbers,
        spark=100_000,
        text=lambda size: f"SELECT * FROM numbers WHERE a IN ({_listed([f'{3 * n}L' for n in range(size)])})",
    ),
}

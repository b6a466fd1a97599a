"""Facts about the server (``CommandGetSqlInfo``), and the types of Spark SQL (``CommandGetXdbcTypeInfo``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Final, TypeAlias, Union

import pyarrow as pa

from pyspark_substrait.model.plan import CURRENT_VERSION
from pyspark_substrait.proto.upgrade import FIRST_VERSION

__all__ = ["SQL_INFO", "TYPE_INFO", "facts", "sql_info", "type_info"]

Fact: TypeAlias = Union[str, bool, int, tuple[str, ...], Mapping[int, "list[int]"]]

_VALUE: Final = pa.dense_union(
    [
        pa.field("string_value", pa.string()),
        pa.field("bool_value", pa.bool_()),
        pa.field("bigint_value", pa.int64()),
        pa.field("int32_bitmask", pa.int32()),
        pa.field("string_list", pa.list_(pa.field("string_data", pa.string()))),
        pa.field(
            "int32_to_int32_list_map",
            pa.map_(pa.field("key", pa.int32(), False), pa.field("value", pa.list_(pa.field("$data$", pa.int32())))),
        ),
    ]
)
SQL_INFO: Final = pa.schema([pa.field("info_name", pa.uint32(), False), pa.field("value", _VALUE)])
"""The schema of :func:`sql_info`; clients count on it to the letter."""

_STRING, _BOOLEAN, _BIGINT, _BITMASK, _LIST, _MAP = range(6)


class Bitmask(int):
    """A number that the standard states as an int32."""


def facts(*, sql: bool, writes: bool, spark: str, statement_seconds: float) -> dict[int, Fact]:
    """Return what the server says of itself, by the standard's numbers.

    Args:
        sql: whether it takes SQL.
        writes: whether statements may change something.
        spark: the version of Spark.
        statement_seconds: after how many seconds without use a prepared statement is forgotten.
    """
    first, last = (".".join(map(str, each)) for each in (FIRST_VERSION, CURRENT_VERSION))
    return {
        0: "pyspark-substrait",
        1: f"{version('pyspark-substrait')} (Spark {spark})",
        2: pa.__version__,
        3: not writes,
        4: sql,
        5: True,  # Substrait
        6: first,
        7: last,
        8: Bitmask(0),  # no transactions
        9: True,  # cancelling
        10: writes,  # bulk ingestion
        11: False,  # … in transactions
        100: Bitmask(int(statement_seconds * 1000)),
        101: Bitmask(0),
        500: False,  # CREATE CATALOG
        501: sql and writes,
        502: sql and writes,
        503: Bitmask(1),  # names in any case are the same
        504: "`",
        505: Bitmask(1),
        506: True,
        507: Bitmask(1),  # nulls are the lowest
        513: "\\",
        514: "",
        515: True,
        516: True,
        518: True,
        519: False,
        520: True,
        521: True,
        524: True,
        529: "schema",
        530: "procedure",
        531: "catalog",
        532: Bitmask(1),
        536: False,
        537: False,
        539: True,
        563: False,
        572: False,
        573: False,
        574: False,
        576: False,
    }


def sql_info(known: Mapping[int, Fact], wanted: Iterable[int]) -> pa.RecordBatch:
    """Return a row for each number that is wanted and known; for all that are known, if none is wanted."""
    asked = set(wanted)
    rows = [(number, fact) for number, fact in sorted(known.items()) if not asked or number in asked]
    children: list[list[object]] = [[] for _ in range(_VALUE.num_fields)]
    kinds, offsets = [], []
    for _, fact in rows:
        kind, value = _member(fact)
        kinds.append(kind)
        offsets.append(len(children[kind]))
        children[kind].append(value)
    arrays = [pa.array(values, _VALUE.field(position).type) for position, values in enumerate(children)]
    values = pa.UnionArray.from_dense(
        pa.array(kinds, pa.int8()),
        pa.array(offsets, pa.int32()),
        arrays,
        [_VALUE.field(position).name for position in range(_VALUE.num_fields)],
    )
    return pa.RecordBatch.from_arrays([pa.array([number for number, _ in rows], pa.uint32()), values], schema=SQL_INFO)


def _member(fact: Fact) -> tuple[int, object]:
    """Return the member of the union that holds a fact, and its value there."""
    match fact:
        case bool():
            return _BOOLEAN, fact
        case Bitmask():
            return _BITMASK, int(fact)
        case int():
            return _BIGINT, fact
        case str():
            return _STRING, fact
        case tuple():
            return _LIST, list(fact)
    return _MAP, list(fact.items())


TYPE_INFO: Final = pa.schema(
    [
        pa.field("type_name", pa.string(), False),
        pa.field("data_type", pa.int32(), False),
        pa.field("column_size", pa.int32()),
        pa.field("literal_prefix", pa.string()),
        pa.field("literal_suffix", pa.string()),
        pa.field("create_params", pa.list_(pa.field("item", pa.string(), False))),
        pa.field("nullable", pa.int32(), False),
        pa.field("case_sensitive", pa.bool_(), False),
        pa.field("searchable", pa.int32(), False),
        pa.field("unsigned_attribute", pa.bool_()),
        pa.field("fixed_prec_scale", pa.bool_(), False),
        pa.field("auto_increment", pa.bool_()),
        pa.field("local_type_name", pa.string()),
        pa.field("minimum_scale", pa.int32()),
        pa.field("maximum_scale", pa.int32()),
        pa.field("sql_data_type", pa.int32(), False),
        pa.field("datetime_subcode", pa.int32()),
        pa.field("num_prec_radix", pa.int32()),
        pa.field("interval_precision", pa.int32()),
    ]
)
"""The schema of :func:`type_info`."""

#: name, type by the standard's number, size, radix, prefix and suffix of literals
_TYPES: Final = (
    ("BOOLEAN", -7, None, None, None, None),
    ("TINYINT", -6, 3, 10, None, "Y"),
    ("BIGINT", -5, 19, 10, None, "L"),
    ("BINARY", -3, None, None, "X'", "'"),
    ("DECIMAL", 3, 38, 10, None, "BD"),
    ("INT", 4, 10, 10, None, None),
    ("SMALLINT", 5, 5, 10, None, "S"),
    ("FLOAT", 7, 24, 2, None, "F"),
    ("DOUBLE", 8, 53, 2, None, "D"),
    ("STRING", 12, None, None, "'", "'"),
    ("DATE", 91, 10, None, "DATE'", "'"),
    ("TIMESTAMP", 93, 26, None, "TIMESTAMP'", "'"),
    ("TIMESTAMP_NTZ", 93, 26, None, "TIMESTAMP_NTZ'", "'"),
)
_DATETIME: Final = 9
_SUBCODES: Final = {91: 1, 93: 3}
_NULLABLE: Final = 1
_SEARCHABLE: Final = 3


def type_info(wanted: int | None) -> pa.RecordBatch:
    """Return the types of Spark SQL, or those of one number of the standard."""
    rows = []
    for name, number, size, radix, prefix, suffix in _TYPES:
        if wanted is not None and number != wanted:
            continue
        decimal = name == "DECIMAL"
        rows.append(
            {
                "type_name": name,
                "data_type": number,
                "column_size": size,
                "literal_prefix": prefix,
                "literal_suffix": suffix,
                "create_params": ["precision", "scale"] if decimal else None,
                "nullable": _NULLABLE,
                "case_sensitive": name == "STRING",
                "searchable": _SEARCHABLE,
                "unsigned_attribute": None if radix is None else False,
                "fixed_prec_scale": False,
                "auto_increment": None if radix is None else False,
                "local_type_name": name,
                "minimum_scale": 0 if decimal else None,
                "maximum_scale": 38 if decimal else None,
                "sql_data_type": _DATETIME if number in _SUBCODES else number,
                "datetime_subcode": _SUBCODES.get(number),
                "num_prec_radix": radix,
                "interval_precision": None,
            }
        )
    return pa.RecordBatch.from_pylist(rows, TYPE_INFO)

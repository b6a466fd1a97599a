"""Random queries in Spark's SQL, over the tables of :mod:`tests.peers.random_sql`.

``query(seed)`` is the same for a seed, today and in every process. The rows of a query are determined: where an order
counts, ``id`` makes it one. Errors of data are rare, because numbers at the edges aren't computed with. Two in five
queries are over ``w``, which has the columns of ``t`` and some of other types.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import ClassVar

import pyarrow as pa

from fuzz.spark_templates import AGGREGATES, CALLS, CONSTANTS, SHAPES, SPECIAL, WINDOWED
from tests.peers import random_sql
from tests.peers.random_sql import Maker, Scope

__all__ = ["TABLES", "query"]

_RECORD = pa.struct({"p": pa.int32(), "q": pa.string()})
_RECORDS = [
    None if n == 3 else {"p": None if n == 5 else n % 4, "q": "abc"[: n % 4] if n % 5 else None} for n in range(10)
]
_WIDE: Mapping[str, pa.Array] = {
    "tiny": pa.array([1, -1, 127, -128, None, 0, 5, 2, 3, 4], pa.int8()),
    "small": pa.array([7, None, -32768, 32767, 0, 1, 1, -5, 100, 2], pa.int16()),
    "r": pa.array([0.5, -0.0, 1.5, None, -2.5, 0.1, 100, 3e38, 0.0, 2], pa.float32()),
    "raw": pa.array([b"", b"abc", b"\x00\xff", None, "äÖü".encode(), b"ABC", b"a", b"\xf0\x9f", b"abc", b"x"]),
    "at": random_sql.TABLES["t"]["ts"].combine_chunks().cast(pa.timestamp("us", "UTC")),
    "li": pa.array(
        [[1, 2, 3], [], None, [None], [2, 2, 1], [7, None, -1], [100], [3], [1], [0, 5]], pa.list_(pa.int32())
    ),
    "te": pa.array([["a", "b"], [], None, [None, "x"], ["abc"], ["b", "a"], [""], ["äÖü"], ["x", "x"], ["a"]]),
    "ma": pa.array(
        [
            [("a", 1)],
            [],
            None,
            [("a", None), ("b", 2)],
            [("x", 3)],
            [("b", 0)],
            [("a", 7), ("x", 1)],
            [],
            None,
            [("", 1)],
        ],
        pa.map_(pa.string(), pa.int32()),
    ),
    "st": pa.array(_RECORDS, _RECORD),
    "ss": pa.array(
        [_RECORDS[:2], [], None, _RECORDS[2:4], _RECORDS[4:6], _RECORDS[:1], [None], _RECORDS[7:], [], _RECORDS[1:2]],
        pa.list_(_RECORD),
    ),
    "deep": pa.array(
        [None if n == 6 else {"a": record, "b": [n, None] if n % 3 else None} for n, record in enumerate(_RECORDS)],
        pa.struct({"a": _RECORD, "b": pa.list_(pa.int32())}),
    ),
}
#: what expressions take of ``w`` beside the columns of ``t``
_WIDE_KINDS: Mapping[str, str] = {
    "tiny": "int", "small": "int", "r": "real", "raw": "bytes", "at": "moment", "li": "list", "te": "texts",
    "ma": "map", "st": "struct", "ss": "structs", "deep.a": "struct", "deep.b": "list", "deep.a.p": "int",
    "st.q": "text",
}  # fmt: skip
TABLES: Mapping[str, pa.Table] = {
    **random_sql.TABLES,
    "w": pa.table(
        {**dict(zip(random_sql.TABLES["t"].column_names, random_sql.TABLES["t"].columns, strict=True)), **_WIDE}
    ),
}

#: the kinds of values that Spark makes Arrow of
_KINDS = tuple(kind for kind in CONSTANTS if kind != "months")
#: those of them that can be compared
_KEYS = tuple(kind for kind in _KINDS if kind != "map")


class _Spark(Maker):
    calls: ClassVar[Mapping[str, tuple[str, ...]]] = CALLS
    constants: ClassVar[Mapping[str, tuple[str, ...]]] = CONSTANTS
    special: ClassVar[Mapping[str, tuple[str, ...]]] = SPECIAL
    aggregates: ClassVar[tuple[str, ...]] = tuple(text for text in AGGREGATES if "grouping" not in text)
    windowed: ClassVar[tuple[str, ...]] = WINDOWED
    kinds: ClassVar[Mapping[str, int]] = {
        "scalar": 6, "join": 3, "aggregate": 4, "grouping_sets": 1, "window": 3, "sets": 2, "subquery": 3, "shaped": 8,
    }  # fmt: skip
    columns: ClassVar[Mapping[str, Mapping[str, str]]] = {**Maker.columns, "w": {**Maker.columns["t"], **_WIDE_KINDS}}

    def query(self) -> str:
        if self.random.random() < 0.6:
            return super().query()
        wide = _Wide(self.random).query()
        return re.sub(r"\b(FROM|JOIN) t\b", r"\1 w AS t", re.sub(r"\b(FROM|JOIN) t\b(?= [abx]\b)", r"\1 w", wide))

    def some(self, scope: Scope, most: int = 3) -> list[tuple[str, str]]:
        types = [self.random.choice((*_KINDS, "int", "text", "bool")) for _ in range(self.random.randint(1, most))]
        return [(self.expression(type, scope), type) for type in types]

    def scalar(self) -> str:
        scope = self.scope(t="t")
        return f"SELECT t.id, {self.listed(self.some(scope, 4))} FROM t{self.where(scope)}"

    def shaped(self) -> str:
        """Clauses that only Spark has, and shapes that queries of several levels have."""
        scope, both = self.scope(t="t"), self.scope(t="t", u="u")
        filled = self.random.choice(SHAPES)
        parts: Mapping[str, Callable[[], str]] = {
            **{kind: partial(self.expression, kind, scope) for kind in CONSTANTS},
            "test": lambda: self.condition(scope),
            "inner": lambda: self.condition(self.scope(u="u")),
            "on": lambda: self.condition(both),
            "value": lambda: self.expression("int", scope),
            "key": lambda: self.expression(self.random.choice(_KEYS), scope),
            "cells": lambda: self.expression(self.random.choice(("list", "texts")), scope),
            "measure": lambda: self.filled(self.random.choice(self.aggregates), scope),
            "other": lambda: self.filled(self.random.choice(self.aggregates), scope),
            "joined": lambda: self.listed(self.some(both)),
        }
        for name, made in parts.items():
            if f"{{{name}}}" in filled:
                filled = filled.replace(f"{{{name}}}", made())
        return filled


class _Wide(_Spark):
    """Queries in which ``t`` stands for ``w``."""

    columns: ClassVar[Mapping[str, Mapping[str, str]]] = {**_Spark.columns, "t": _Spark.columns["w"]}

    def query(self) -> str:
        return Maker.query(self)


def query(seed: int) -> str:
    """Return the random query of a seed."""
    return _Spark(random.Random(f"Spark {seed}")).query()

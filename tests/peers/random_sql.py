"""Random SQL in DataFusion's dialect, over tables with nulls, NaN, extremes and unicode."""

from __future__ import annotations

import datetime as dt
import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

import pyarrow as pa

__all__ = ["TABLES", "Maker", "Scope", "query"]

NAN, INF = math.nan, math.inf


def _decimals(values: Sequence[str | None]) -> pa.Array:
    return pa.array([None if one is None else Decimal(one) for one in values]).cast(pa.decimal128(10, 2))


def _days(text: str) -> list[dt.date | None]:
    return [None if one == "-" else dt.date.fromisoformat(one) for one in text.split()]


def _moments(text: str) -> list[dt.datetime | None]:
    return [None if one == "-" else dt.datetime.fromisoformat(one) for one in text.split()]


#: ``id`` is unique; ``v`` has numbers that can be computed with, ``f`` those at the edges
TABLES: Mapping[str, pa.Table] = {
    "t": pa.table(
        {
            "id": pa.array(range(10), pa.int64()),
            "g": pa.array([1, 1, 2, 2, None, 3, 3, 3, None, 1], pa.int64()),
            "n": pa.array([0, 1, -1, None, 7, 2**31 - 1, -(2**31), 100, 5, 5], pa.int32()),
            "big": pa.array([0, 2**63 - 1, -(2**63), None, 1, -1, 2**53 + 1, 10, 2, 3], pa.int64()),
            "v": [0.5, 1.25, -2.5, None, 3.0, 100.0, 1.25, -0.75, 8.0, 2.0],
            "f": [0.0, 1.5, NAN, None, INF, -INF, 1e300, -2.5, NAN, 0.1],
            "d": _decimals(["0", "1.25", "-1.25", None, "2.50", "99999999.99", "-0.01", "3", "3.00", "12.34"]),
            "s": ["", "abc", "äÖü", None, "a%b_", " pad ", "ßİ", "😀", "ABC", "abc"],
            "b": [True, False, None, True, False, None, True, True, False, None],
            "day": _days(
                "2024-02-29 1970-01-01 1582-10-10 - 9999-12-31 2000-01-31 1999-12-31 2024-01-01 1582-10-04 2023-06-15"
            ),
            "ts": pa.array(
                _moments(
                    "2024-02-29T23:59:59.999999 1970-01-01 1969-12-31T23:59 - 2000-01-01T12:00 "
                    "1850-06-07T08:09:10.000011 2024-01-01 2100-03-31T05:00 2001-02-03T04:05:06.500000 2024-02-29"
                ),
                pa.timestamp("us"),
            ),
        }
    ),
    "u": pa.table(
        {
            "k": pa.array(range(100, 108), pa.int64()),
            "g": pa.array([1, 2, 2, None, 4, 3, 1, None], pa.int64()),
            "m": pa.array([5, 7, None, 1, 0, -1, 100, 5], pa.int32()),
            "w": [1.25, 3.0, None, -2.5, 8.0, 0.5, 2.0, 11.0],
            "e": _decimals(["1.25", "3", None, "2.50", "-1.25", "7", "0", "12.34"]),
            "z": ["abc", "äÖü", None, "x", "ABC", "", "😀", "abc"],
            "date": _days("2000-01-31 2024-02-29 - 1582-10-10 2024-01-01 1970-01-01 9999-12-31 2010-05-05"),
        }
    ),
}
#: the kinds of columns that expressions use; ``f`` and ``big`` are in queries of their own
_TYPES: Mapping[str, str] = {
    "id": "int", "g": "int", "n": "int", "k": "int", "m": "int", "v": "float", "w": "float", "d": "decimal",
    "e": "decimal", "s": "text", "z": "text", "b": "bool", "day": "date", "date": "date", "ts": "stamp",
}  # fmt: skip

# queries -------------------------------------------------------------------------------------------------------------


@dataclass
class Scope:
    """The columns that an expression may use, by the type: names with the alias of their table."""

    columns: Mapping[str, list[str]]

    def joined(self, other: Scope) -> Scope:
        types = {*self.columns, *other.columns}
        return Scope({type: [*self.columns.get(type, ()), *other.columns.get(type, ())] for type in types})


_CONSTANTS: Mapping[str, tuple[str, ...]] = {
    "int": ("0", "1", "2", "7", "-3", "100"),
    "float": ("0.5", "1.25", "-2.0", "3e2"),
    "decimal": ("CAST(1.25 AS DECIMAL(10, 2))", "CAST('2.50' AS DECIMAL(10, 2))", "CAST(0 AS DECIMAL(10, 2))"),
    "text": ("'abc'", "''", "'äÖü'", "'x'", "'%'", "'a'"),
    "bool": ("true", "false"),
    "date": ("DATE '2000-01-31'", "DATE '1582-10-10'", "DATE '2024-02-29'", "DATE '9999-12-31'"),
    "stamp": ("TIMESTAMP '2000-01-01 12:00:00'", "TIMESTAMP '1969-12-31 23:59:59.5'"),
}
#: calls by the type of their result; {int} and so on are expressions, {@int} columns
_CALLS: Mapping[str, tuple[str, ...]] = {
    "int": (
        "({@int} % 10) + {@int} % 7", "{@int} % 5", "abs({@int} % 100)", "char_length({text})", "ascii({text})",
        "coalesce({@int}, 0)", "CASE WHEN {bool} THEN {@int} ELSE 0 END", "date_part('year', {date})",
        "extract(month FROM {date})", "date_part('dow', {stamp})", "CAST({text_number} AS INT)", "octet_length({text})",
        "nullif({@int}, 1)", "strpos({text}, 'b')", "CAST(round({float}) AS BIGINT)", "-({@int} % 50)",
        "CASE {@int} WHEN 1 THEN 10 WHEN 2 THEN 20 END", "({@int} % 9) * 3", "CAST({bool} AS INT)",
        "greatest({@int}, 3)", "least({@int}, {@int})", "{@int} % 16 & 5", "CAST(trunc({float}) AS INT)",
        "date_part('week', {date})", "date_part('doy', {date})", "levenshtein({text}, 'abd')", "{@int} / 3",
        "bit_length({text})", "date_part('day', {stamp})", "date_part('quarter', {date})",
        "date_part('isodow', {date})",
        "CAST({@decimal} AS INT)", "array_length(make_array({@int}, 1))", "make_array({@int}, 2, {@int})[2]",
        "find_in_set({text}, 'a,abc,x')", "{date} - DATE '2000-01-01'", "gcd({@int} % 100, 12)", "{@int} % 8 << 2",
        "date_part('second', {stamp})", "to_unixtime({stamp})", "regexp_count({text}, '[a-c]')", "nvl({@int}, 7)",
    ),
    "float": (
        "{float} + {float}", "{float} * 2", "{float} - {@int} % 10", "abs({float})", "floor({float})", "ceil({float})",
        "round({float}, 1)", "sqrt(abs({float}))", "{float} / 4", "CAST({@int} % 10 AS DOUBLE)", "exp({float} / 100)",
        "power(abs({float}), 2)", "CASE WHEN {bool} THEN {float} END", "coalesce({float}, 0.5)", "sin({float})",
        "CAST({@decimal} AS DOUBLE)", "ln(abs({float}) + 1)", "date_part('epoch', {stamp})", "signum({float})",
        "nanvl({float}, 0.0)", "trunc({float}, 1)", "atan2({float}, 2.0)",
        "log10(abs({float}) + 1)", "cbrt({float})", "degrees({float})", "{float} % 3.0", "greatest({float}, 1.0)",
        "nullif({float}, 0.5)", "round({@int} % 7 / 2.0, 1)", "{@int} % 10 * 1.5", "log(2.0, abs({float}) + 1)",
    ),
    "decimal": (
        "{@decimal} + {@decimal}", "{@decimal} - 1", "{@decimal} * 2", "abs({@decimal})", "-{@decimal}",
        "coalesce({@decimal}, CAST(0 AS DECIMAL(10, 2)))", "{@decimal} / 3",
        "CAST({@int} % 100 AS DECIMAL(10, 2))", "CASE WHEN {bool} THEN {@decimal} END", "nullif({@decimal}, 3)",
        "CAST({@int} % 50 AS DECIMAL(5, 1)) * 2", "greatest({@decimal}, {@decimal})", "trunc({@decimal}, 1)",
        "{@decimal} + {@int} % 10", "CAST({@decimal} AS DECIMAL(12, 1))", "least({@decimal}, 5)",
    ),
    "text": (
        "upper({text})", "lower({text})", "trim({text})", "{text} || {text}", "concat({text}, '-', {text})",
        "substr({text}, 2, 2)", "replace({text}, 'b', 'xx')", "reverse({text})", "lpad({text}, 5, '*')",
        "left({text}, 2)", "right({text}, 1)", "coalesce({text}, 'none')", "CASE WHEN {bool} THEN {text} ELSE 'y' END",
        "CAST({@int} AS VARCHAR)", "CAST({date} AS VARCHAR)", "split_part({text}, 'b', 1)", "initcap({text})",
        "CAST({@decimal} AS VARCHAR)", "repeat({text}, 2)", "nullif({text}, 'abc')", "concat_ws(',', {text}, {text})",
        "regexp_replace({text}, '[a-c]', 'z')", "CAST({bool} AS VARCHAR)", "rpad({text}, 4)", "md5({text})",
        "translate({text}, 'ab', 'x')", "to_char({stamp}, '%Y-%m-%d')",
        "overlay({text} placing 'X' from 2 for 1)", "substr_index({text}, 'b', 1)", "greatest({text}, 'b')",
        "CASE {text} WHEN 'abc' THEN 'one' WHEN 'x' THEN 'two' END", "to_hex({@int} % 100)",
        "chr(65 + {@int} % 5 * {@int} % 5)",
        "encode(CAST({text} AS BYTEA), 'hex')", "btrim({text}, 'a')", "ltrim({text})",
        "regexp_replace({text}, 'b', '[\\1]')",
    ),
    "bool": (
        "{@int} > {@int}", "{@int} = 1", "{float} < {float}", "{text} = {text}", "{text} LIKE '%b%'", "{@int} IS NULL",
        "{text} IS NOT NULL", "{date} >= {date}", "{@decimal} <= 3", "NOT {bool}", "{bool} AND {bool}",
        "{bool} OR {bool}", "{@int} IN (1, 2, 7)", "{text} IN ('abc', 'x')", "{@int} BETWEEN 0 AND 5",
        "{text} LIKE 'a%'", "{@int} IS DISTINCT FROM {@int}", "starts_with({text}, 'a')", "{stamp} > {stamp}",
        "{float} IS NULL", "{bool} IS TRUE", "{text} ILIKE '%B%'", "{text} ~ '^a.c'", "{@int} NOT IN (1, 100)",
        "{date} < '2010-01-01'", "{@decimal} > {@int}", "{float} > {@int}", "regexp_like({text}, '[a-c]+')",
        "{date} BETWEEN DATE '1970-01-01' AND DATE '2024-01-01'", "contains({text}, 'b')", "{text} < {text}",
        "{text} !~ 'b$'", "{bool} IS NOT FALSE", "{bool} = {bool}", "CASE WHEN {bool} THEN {bool} END",
        "{date} IN (DATE '1970-01-01')",
        "coalesce({bool}, false)", "{float} BETWEEN 0 AND 10", "{@int} IN (NULL, 1)", "nullif({bool}, true)",
        "{date} + INTERVAL '1 year' > {stamp}", "{text} NOT LIKE '_b%'", "{@decimal} IN (1.25, 3)",
        "{text} SIMILAR TO 'a.*'",
    ),
    "date": (
        "{@date}", "CAST({stamp} AS DATE)", "coalesce({@date}, DATE '2000-01-01')", "{some_date} + INTERVAL '1 month'",
        "{some_date} - INTERVAL '3 days'", "CASE WHEN {bool} THEN {@date} END", "nullif({@date}, DATE '1970-01-01')",
        "{some_date} + 30", "to_date('2020-01-31')",
    ),
    "stamp": (
        "{@stamp}", "date_trunc('month', {@stamp})", "date_trunc('hour', {@stamp})", "{@stamp} + INTERVAL '1 day'",
        "{@stamp} - INTERVAL '1 month 2 hours'", "coalesce({@stamp}, TIMESTAMP '2000-01-01')",
        "date_bin(INTERVAL '15 minutes', {@stamp})", "date_trunc('week', {@stamp})",
    ),
}  # fmt: skip
_SPECIAL: Mapping[str, tuple[str, ...]] = {
    "text_number": ("'12'", "'-3'", "' 7'", "NULL"),
    "some_date": ("DATE '2000-01-31'", "DATE '2024-02-29'", "DATE '1970-01-01'"),
}
_AGGREGATES = (
    "count(*)", "count({@int})", "count(DISTINCT {@int})", "sum({@int})", "sum({float})", "sum({@decimal})",
    "avg({@int})", "avg({@decimal})", "avg({float})", "min({@int})", "max({text})", "min({date})", "max({@decimal})",
    "min({stamp})",
    "bool_and({bool})", "bool_or({bool})", "count(DISTINCT {text})", "sum(DISTINCT {@int} % 5)", "stddev({float})",
    "var_pop({float})", "median({@int})", "bit_or({@int} % 8)", "max({float})", "min({bool})", "corr({float}, {float})",
    "count({text}) FILTER (WHERE {bool})", "sum({@int}) FILTER (WHERE {bool})", "approx_distinct({text})",
    "percentile_cont(0.5) WITHIN GROUP (ORDER BY {float})",
)  # fmt: skip
_WINDOWED = (
    "row_number()", "rank()", "dense_rank()", "ntile(3)", "lag({@int})", "lead({text}, 2, 'none')", "percent_rank()",
    "first_value({@int})", "last_value({text})", "sum({@int})", "count(*)", "avg({@decimal})", "max({date})",
    "min({text})", "cume_dist()", "nth_value({@int}, 2)", "count({text})",
)  # fmt: skip
_FRAMES = (
    "", "", "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", "ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", "ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING",
)  # fmt: skip
_JOINS = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN")
_SETS = ("UNION ALL", "UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL")
_VALUES = ("int", "float", "decimal", "text", "bool", "date", "stamp")
_SLOT = re.compile(r"\{(@?)(\w+)\}")


@dataclass
class Maker:
    """Makes random queries; those of another dialect have other words."""

    random: random.Random
    #: the kind of each column, by table
    columns: ClassVar[Mapping[str, Mapping[str, str]]] = {
        table: {name: _TYPES[name] for name in rows.column_names if name in _TYPES} for table, rows in TABLES.items()
    }
    calls: ClassVar[Mapping[str, tuple[str, ...]]] = _CALLS
    constants: ClassVar[Mapping[str, tuple[str, ...]]] = _CONSTANTS
    special: ClassVar[Mapping[str, tuple[str, ...]]] = _SPECIAL
    aggregates: ClassVar[tuple[str, ...]] = _AGGREGATES
    windowed: ClassVar[tuple[str, ...]] = _WINDOWED
    #: the methods that make a query, and how often
    kinds: ClassVar[Mapping[str, int]] = {
        "plain": 5, "join": 4, "aggregate": 4, "grouping_sets": 2, "window": 3, "sets": 2,
        "subquery": 4, "nested": 5, "edges": 3, "odd": 1,
    }  # fmt: skip

    def query(self) -> str:
        """A query of a random kind."""
        (kind,) = self.random.choices([*self.kinds], [*self.kinds.values()])
        made: str = getattr(self, kind)()
        return made

    def scope(self, **tables: str) -> Scope:
        """The columns of tables, each under an alias."""
        found: dict[str, list[str]] = {}
        for alias, table in tables.items():
            for name, kind in self.columns[table].items():
                found.setdefault(kind, []).append(f"{alias}.{name}")
        return Scope(found)

    def expression(self, type: str, scope: Scope, depth: int = 3) -> str:
        chance = self.random.random()
        columns = scope.columns.get(type, [])
        if columns and (depth == 0 or chance < 0.35):
            return self.random.choice(columns)
        if depth == 0 or chance < 0.45 or not scope.columns:
            return self.random.choice(self.constants[type])
        return self.filled(self.random.choice(self.calls[type]), scope, depth - 1)

    def filled(self, template: str, scope: Scope, depth: int = 1) -> str:
        def slot(found: re.Match[str]) -> str:
            column, type = found.groups()
            if type in self.special:
                return self.random.choice(self.special[type])
            known = scope.columns.get(type)
            if column:
                return self.random.choice(known or self.constants[type])
            return f"({self.expression(type, scope, depth)})"

        return _SLOT.sub(slot, template)

    def some(self, scope: Scope, most: int = 3) -> list[tuple[str, str]]:
        """Some expressions with their types."""
        types = [self.random.choice(_VALUES) for _ in range(self.random.randint(1, most))]
        return [(self.expression(type, scope), type) for type in types]

    def condition(self, scope: Scope) -> str:
        return self.expression("bool", scope, 2)

    def where(self, scope: Scope) -> str:
        return f" WHERE {self.condition(scope)}" if self.random.random() < 0.5 else ""

    # kinds of queries ------------------------------------------------------------------------------------------------

    def plain(self) -> str:
        scope = self.scope(t="t")
        listed = self.listed(self.some(scope))
        tail = self.random.choice(("", " ORDER BY t.id LIMIT 3", " ORDER BY t.id DESC LIMIT 4 OFFSET 2"))
        distinct = "DISTINCT " if not tail and self.random.random() < 0.3 else ""
        return f"SELECT {distinct}{listed} FROM t{self.where(scope)}{tail}"

    def listed(self, items: Sequence[tuple[str, str]]) -> str:
        return ", ".join(f"{text} AS c{number}" for number, (text, _) in enumerate(items))

    def join(self) -> str:
        kind = self.random.choice(_JOINS)
        both = self.scope(t="t", u="u")
        visible = self.scope(t="t") if "SEMI" in kind or "ANTI" in kind else both
        condition = self.random.choice(("t.g = u.g", "t.n = u.m", "t.s = u.z", "t.g = u.g AND t.n > u.m", "t.d = u.e"))
        if kind in ("JOIN", "LEFT JOIN") and self.random.random() < 0.2:
            condition = "t.id + 99 < u.k"
        source = f"t {kind} u ON {condition}"
        if kind == "JOIN" and self.random.random() < 0.3:
            source = self.random.choice(("t, u", "t CROSS JOIN u", "t JOIN u USING (g)"))
            if "USING" in source:
                visible = Scope({type: [c for c in names if c[2:] != "g"] for type, names in both.columns.items()})
        return f"SELECT {self.listed(self.some(visible))} FROM {source}{self.where(visible)}"

    def aggregate(self) -> str:
        scope = self.scope(t="t")
        measures = [self.filled(self.random.choice(self.aggregates), scope) for _ in range(self.random.randint(1, 3))]
        keys = self.random.choice(([], ["t.g"], ["t.b"], ["t.s"], ["t.g", "t.b"], [self.expression("int", scope)]))
        listed = ", ".join(f"{text} AS c{number}" for number, text in enumerate([*keys, *measures]))
        query = f"SELECT {listed} FROM t{self.where(scope)}"
        if keys:
            query += f" GROUP BY {', '.join(keys)}"
            if self.random.random() < 0.3:
                query += " HAVING count(*) > 1"
        return query

    def grouping_sets(self) -> str:
        scope = self.scope(t="t")
        measures = [self.filled(self.random.choice(self.aggregates), scope) for _ in range(self.random.randint(1, 2))]
        sets = self.random.choice(
            ("ROLLUP (t.g, t.b)", "CUBE (t.g, t.b)", "GROUPING SETS ((t.g, t.b), (t.g), ())", "CUBE (t.b, t.g)",
             "GROUPING SETS ((t.g), (t.b))", "GROUPING SETS ((t.g, t.b), (t.b), (t.g))")
        )  # fmt: skip
        if self.random.random() < 0.4:
            measures.append("grouping(t.g)")
        listed = ", ".join(f"{text} AS c{number}" for number, text in enumerate(["t.g", "t.b", *measures]))
        return f"SELECT {listed} FROM t{self.where(scope)} GROUP BY {sets}"

    def window(self) -> str:
        scope = self.scope(t="t")
        made = []
        for number in range(self.random.randint(1, 2)):
            call = self.filled(self.random.choice(self.windowed), scope, 0)
            partition = self.random.choice(("", "PARTITION BY t.g ", "PARTITION BY t.b "))
            order = self.random.choice(
                ("t.id", "t.g, t.id", "t.s DESC, t.id", "t.day NULLS FIRST, t.id DESC", "t.id DESC")
            )
            frame = self.random.choice(_FRAMES)
            if re.match(r"row_number|rank|dense|ntile|lag|lead|percent|cume", call):
                frame = ""
            made.append(f"{call} OVER ({partition}ORDER BY {order} {frame}) AS w{number}")
        query = f"SELECT t.id, {', '.join(made)} FROM t{self.where(scope)}"
        return f"SELECT * FROM ({query}) WHERE w0 IS NOT NULL" if self.random.random() < 0.2 else query

    def sets(self) -> str:
        types = [
            self.random.choice(("int", "text", "date", "decimal", "bool")) for _ in range(self.random.randint(1, 2))
        ]
        sides = []
        for table in ("t", self.random.choice(("t", "u"))):
            scope = self.scope(**{table: table})
            listed = ", ".join(f"{self.expression(type, scope, 1)} AS c{number}" for number, type in enumerate(types))
            sides.append(f"SELECT {listed} FROM {table}")
        return f"{sides[0]} {self.random.choice(_SETS)} {sides[1]}"

    def subquery(self) -> str:
        scope, inner = self.scope(t="t"), self.scope(u="u")
        both = scope.joined(inner)
        choice = self.random.randrange(8)
        listed = self.listed(self.some(scope, 2))
        measure = self.filled(self.random.choice(("max({@int})", "count(*)", "sum({@int})", "min({date})")), inner)
        if choice == 0:
            test = self.random.choice(("", "NOT "))
            inside = f"SELECT 1 FROM u WHERE u.g = t.g AND {self.condition(both)}"
            return f"SELECT {listed} FROM t WHERE {test}EXISTS ({inside})"
        if choice == 1:
            test = self.random.choice(("IN", "NOT IN"))
            return f"SELECT {listed} FROM t WHERE t.g {test} (SELECT u.g FROM u WHERE {self.condition(inner)})"
        if choice == 2:
            return f"SELECT t.id, (SELECT {measure} FROM u WHERE u.g = t.g) AS c FROM t"
        if choice == 3:
            return f"SELECT {listed} FROM t WHERE t.n > (SELECT min(u.m) FROM u{self.where(inner)})"
        if choice == 4:
            return f"SELECT q.c0, count(*) AS n FROM (SELECT {listed} FROM t{self.where(scope)}) q GROUP BY q.c0"
        if choice == 5:
            return f"WITH q AS (SELECT {listed} FROM t) SELECT x.c0, y.c0 AS d FROM q x JOIN q y ON x.c0 = y.c0"
        if choice == 6:
            return (
                f"SELECT t.id FROM t WHERE t.g > (SELECT count(*) FROM u WHERE u.g = t.g AND {self.condition(inner)})"
            )
        return f"SELECT {listed} FROM t WHERE t.g IN (SELECT u.g FROM u WHERE u.m > t.n)"

    def nested(self) -> str:
        """Queries of several levels: aggregates over joins, windows over aggregates, derived tables."""
        both, scope = self.scope(t="t", u="u"), self.scope(t="t")
        measure = self.filled(self.random.choice(self.aggregates), both)
        key = self.expression(self.random.choice(("int", "text", "bool")), both, 1)
        value = self.expression("int", scope)
        test = self.condition(scope)
        return self.random.choice(
            (
                f"SELECT {key} AS c0, {measure} AS c1 FROM t LEFT JOIN u ON t.g = u.g GROUP BY {key}",
                f"SELECT t.g, sum(t.id) AS s, rank() OVER (ORDER BY sum(t.id) DESC) AS r FROM t WHERE {test} "
                "GROUP BY t.g",
                f"SELECT t.g, count(*) AS n, sum(count(*)) OVER () AS a FROM t{self.where(scope)} GROUP BY t.g",
                f"SELECT q.x, max(q.id) AS m FROM (SELECT t.id, {value} AS x FROM t ORDER BY t.id LIMIT 6) q "
                "GROUP BY q.x",
                "SELECT a.id, b.id AS d FROM t a JOIN t b ON a.g = b.g AND a.id < b.id LEFT JOIN u ON u.g = b.g",
                f"SELECT t.id FROM t WHERE {test} OR t.g IN (SELECT u.g FROM u WHERE u.m > 0)",
                f"SELECT t.id, t.g IN (SELECT u.g FROM u WHERE u.g IS NOT NULL) AS c FROM t WHERE {test}",
                f"SELECT t.id, {value} + (SELECT count(*) FROM u) AS c FROM t",
                f"SELECT t.id FROM t WHERE {test} UNION SELECT u.m FROM u UNION ALL SELECT t.n FROM t WHERE {test}",
                f"SELECT DISTINCT ON (t.g) t.g, t.id FROM t WHERE {test} ORDER BY t.g, t.id",
                f"WITH q AS (SELECT t.g, {value} AS x FROM t), r AS (SELECT q.g, sum(q.x) AS y FROM q GROUP BY q.g) "
                "SELECT r.g, r.y, u.k FROM r JOIN u ON r.g = u.g",
                f"SELECT sum(CASE WHEN {test} THEN 1 ELSE 0 END) AS a, count(*) FILTER (WHERE {test}) AS b FROM t",
                f"SELECT q.id, q.r FROM (SELECT t.id, row_number() OVER (PARTITION BY t.g ORDER BY t.id) AS r FROM t "
                f"WHERE {test}) q WHERE q.r <= 2",
                f"SELECT t.id, {value} AS c FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.g = t.g) AND NOT EXISTS "
                "(SELECT 1 FROM u WHERE u.m = t.n)",
                f"SELECT t.b, t.g, {self.filled(self.random.choice(self.aggregates), scope)} AS c FROM t "
                "GROUP BY t.b, t.g ORDER BY t.b NULLS FIRST, t.g DESC LIMIT 4",
                "SELECT x.a, t.id FROM (VALUES (1, 'abc'), (2, NULL), (3, 'x')) AS x(a, z) JOIN t "
                f"ON x.a = t.g AND {test}",
                f"SELECT t.s, array_agg(t.id ORDER BY t.id) AS c FROM t WHERE {test} GROUP BY t.s",
                "SELECT (SELECT max(q.m) FROM (SELECT u.g, sum(u.m) AS m FROM u GROUP BY u.g) q) AS c, "
                f"{value} AS d FROM t",
                "SELECT t.id FROM t WHERE t.n > ALL (SELECT u.m FROM u WHERE u.m < 0)",
                "SELECT t.id FROM t WHERE t.g = ANY (SELECT u.g FROM u)",
                "SELECT a.g, b.n FROM (SELECT t.g, count(*) AS n FROM t GROUP BY t.g) a FULL JOIN "
                "(SELECT u.g, count(*) AS n FROM u GROUP BY u.g) b ON a.g = b.g AND a.n <= b.n",
                f"SELECT t.id, lag({value}, 1, 0) OVER (PARTITION BY t.b ORDER BY t.id) - t.id AS c FROM t",
                f"SELECT t.g, max(t.id) - min(t.id) AS c, avg(t.v) * 2 AS d FROM t WHERE {test} GROUP BY t.g",
                f"SELECT sum(t.id) AS c FROM t WHERE {test} GROUP BY t.b HAVING sum(t.id) > 3",
            )
        )

    def edges(self) -> str:
        """Queries over numbers that can't be computed with: NaN, infinities, the smallest and the largest integers."""
        scope = self.scope(t="t")
        test = self.condition(scope)
        return self.random.choice(
            (
                f"SELECT t.id, t.f, t.big FROM t WHERE {test}",
                f"SELECT t.id, abs(t.f) AS c, floor(t.f) AS d, -t.f AS e, t.f IS NULL AS n FROM t WHERE {test}",
                "SELECT t.id, t.f > 1 AS c, t.f = t.f AS d, t.f < t.v AS e, t.f <> 0 AS g FROM t",
                "SELECT t.id, t.f + t.v AS c, t.f * t.v AS d, t.f / 2 AS e, t.f - t.f AS g, t.f % 2 AS h FROM t",
                "SELECT t.id, t.big > t.id AS c, t.big = t.n AS d, t.big IN (1, 10, 9223372036854775807) AS e FROM t",
                "SELECT t.id, coalesce(t.f, 0.5) AS c, CASE WHEN t.f > 0 THEN t.f ELSE 0 END AS d FROM t",
                "SELECT t.id, exp(t.f) AS c, sqrt(abs(t.f)) AS d, sin(t.f) AS e, power(t.f, 2) AS g FROM t",
                "SELECT t.id, power(1.0, t.f) AS c, power(t.v, 0) AS d, log10(t.f) AS e, atan2(t.f, t.v) AS g FROM t",
                "SELECT t.id, round(t.f, 1) AS c, trunc(t.f) AS d, ceil(t.f) AS e, isnan(t.f) AS g FROM t",
                "SELECT t.id, TRY_CAST(t.f AS INT) AS c, TRY_CAST(t.big AS INT) AS d, CAST(t.f AS REAL) AS e FROM t",
                "SELECT t.id, TRY_CAST(t.s AS INT) AS c, TRY_CAST(t.big AS DECIMAL(10, 2)) AS d FROM t",
                f"SELECT t.g, min(t.big) AS c, max(t.big) AS d, count(t.f) AS e FROM t WHERE {test} GROUP BY t.g",
                "SELECT t.g, max(t.f) AS c, min(t.f) AS d FROM t GROUP BY t.g",
                "SELECT t.f, count(*) AS c FROM t GROUP BY t.f",
                "SELECT DISTINCT t.f FROM t",
                "SELECT t.id, rank() OVER (ORDER BY t.f) AS c FROM t",
                "SELECT t.id, t.f FROM t ORDER BY t.f DESC, t.id LIMIT 5",
                "SELECT a.id, b.id AS d FROM t a JOIN t b ON a.f = b.f",
                "SELECT t.id, nullif(t.f, t.f) AS c, greatest(t.f, t.v) AS d, least(t.f, 1.0) AS e FROM t",
                "SELECT t.id, sum(t.f) OVER (ORDER BY t.id) AS c, avg(t.v) OVER (ORDER BY t.id) AS d FROM t",
                "SELECT t.id, CAST(t.f AS VARCHAR) AS c, CAST(t.ts AS VARCHAR) AS d FROM t",
                "SELECT t.id, t.day - INTERVAL '1 month' AS c, date_part('doy', t.day) AS d, t.day - t.day AS e FROM t",
            )
        )

    def odd(self) -> str:
        """Queries without tables, nulls without types, lists, structs."""
        scope = self.scope(t="t")
        return self.random.choice(
            (
                f"SELECT {self.listed(self.some(Scope({})))}",
                "VALUES (1, 'a'), (2, NULL), (NULL, 'b')",
                f"SELECT t.id, NULL AS x, {self.expression('int', scope)} AS c FROM t",
                f"SELECT t.id, make_array({self.expression('int', scope)}, 2)[1] AS c FROM t",
                f"SELECT t.id, named_struct('p', {self.expression('int', scope)}, 'q', t.s)['q'] AS c FROM t",
                f"SELECT t.id, array_length(make_array({self.expression('text', scope)}, 'x')) AS c FROM t",
                f"SELECT struct({self.expression('int', scope)}, t.s) AS c FROM t",
                "SELECT t.f, t.big, t.f > 1.0 AS c FROM t",
                "SELECT max(t.big), min(t.big), count(t.f) FROM t WHERE t.f > 0",
                "SELECT t.id, t.f + 1 AS c, t.f * 0 AS d, -t.f AS e FROM t",
                "SELECT array_agg(t.id ORDER BY t.id DESC) AS c, t.g FROM t GROUP BY t.g",
                "SELECT string_agg(t.s, ',' ORDER BY t.id) AS c FROM t",
            )
        )


def query(seed: int) -> str:
    """The random query of a number."""
    return Maker(random.Random(seed)).query()

"""Outcomes of the plans that substrait-io/consumer-testing stores, on Spark, beside DuckDB's rows for their queries.

``python -m tests.peers.consumer_testing FOLDER OUTCOMES [PATTERN…]`` runs the plans of a clone of the repository (those
whose path has one of the patterns in it) on the tables of its tests: TPC-H at two scales, and the table ``t``.

Each outcome is a line of JSON in the file OUTCOMES. A plan that has one isn't run again: so a run goes on where another
stopped, and tries anew what was taken out of the file. At the end the counts are printed, and all that says why.
A plan that says something else than its query is compared with a query that says what the plan does.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

import pyspark_substrait as ps
from tests.conftest import _tpch_tables
from tests.peers.matrix import TIES, Engines, beside_the_text, differing
from tests.peers.matrix_cases import Case
from tests.peers.matrix_runs import of_the_text
from tests.peers.plan_outcomes import short

__all__ = ["stored_plans"]

#: scales of TPC-H by the ending of the names of files
_SCALES: Final = {"": "0.1", "_small": "0.0001"}
_T: Final = {
    "a": [1, 2, 3, -4, 5, -6, 7, 8, 9, None],
    "b": [1, 1, 1, 1, 1, 2, 2, 2, 2, 2],
    "c": [True, False, True, True, False, True, False, True, False, False],
    "d": [True] * 10,
}
#: where DuckDB and the engines of the plans put nulls that the query doesn't place
_NULLS: Final = "nulls_last_on_asc_first_on_desc"
#: expressions of Ibis that aren't the query of the same name
_OF_IBIS: Final = {
    "function/arithmetic/avg": "SELECT avg(PS_SUPPLYCOST) FROM partsupp",
    "function/arithmetic/median": "SELECT median(CAST(PS_SUPPLYCOST AS DOUBLE)) FROM partsupp",
    "function/arithmetic/negate": "SELECT PS_PARTKEY, -PS_PARTKEY FROM partsupp LIMIT 10",
    "function/comparison/gt": "SELECT PS_AVAILQTY FROM partsupp WHERE PS_AVAILQTY > 10",
    "function/comparison/gte": "SELECT PS_AVAILQTY FROM partsupp WHERE PS_AVAILQTY >= 10",
    "function/comparison/lt": "SELECT PS_AVAILQTY FROM partsupp WHERE PS_AVAILQTY < 10",
    "function/comparison/lte": "SELECT PS_AVAILQTY FROM partsupp WHERE PS_AVAILQTY <= 10",
    "function/string/left": "SELECT N_NAME, left(N_NAME, 3) FROM nation",
    "function/string/substring0": "SELECT N_NAME, substr(N_NAME, 2, 3) FROM nation",
}
#: queries for DuckDB where a function has another name or other arguments there
_OF_DUCKDB: Final = {
    "function/approximation/approx_distinct": "SELECT approx_count_distinct(l_comment) FROM lineitem",
    "function/arithmetic/factorial": (
        "SELECT N_NATIONKEY, factorial(CAST(N_NATIONKEY AS INTEGER)) FROM nation WHERE N_NATIONKEY <= 10"
    ),
    "relation/read/datafusion_read_virtual_table": "SELECT * FROM (VALUES (10))",
}


class _Instead(NamedTuple):
    """A pattern in a query, the text that the plan has in its place, and where the plan shows it."""

    pattern: str
    text: str
    reason: str


_DIVISION: Final = _Instead(
    "/ 10", "// 10", "`divide` of two i64, which is an i64; DuckDB's `/` of integers is a double"
)
_GROUPING: Final = "one element in `groupings`, with both expressions"
_GROUPING_SET: Final = _Instead(
    r"SELECT SUM\(L_EXTENDEDPRICE\), L_LINENUMBER, L_ORDERKEY (.*) ORDER BY L_LINENUMBER",
    r"SELECT GROUPING(L_LINENUMBER), SUM(L_EXTENDEDPRICE), L_LINENUMBER \1 ORDER BY 2",
    "`outputMapping` 3, 4, 5: the aggregate has four columns, the last of which is the index of the grouping set",
)
_SUBSTRING: Final = _Instead("2, 3", "1, 3", "`substring` from 1, which Ibis counts from 0, and Substrait from 1")
#: parts of queries for which plans have something else
_IN_PLANS: Final = {
    "function/arithmetic/divide-datafusion": _DIVISION,
    "function/arithmetic/divide-isthmus": _DIVISION,
    "function/arithmetic/divide-validate-isthmus": _DIVISION,
    "function/string/substring0": _SUBSTRING,
    "function/string/substring0-ibis": _SUBSTRING,
    "integration/tpch/q01-validate-isthmus": _Instead(
        "'120' day", "'10368' second", "`seconds` 10368, and no days, for INTERVAL '120' DAY"
    ),
    "integration/tpch/q13-duckdb": _Instead("NOT LIKE", "<>", "`not_equal` for NOT LIKE"),
    "relation/aggregate/aggregate_with_group_by_cube-duckdb": _Instead(r"CUBE\((.*?)\)", r"\1", _GROUPING),
    "relation/aggregate/aggregate_with_group_by_rollup-duckdb": _Instead(r"ROLLUP\((.*?)\)", r"\1", _GROUPING),
    "relation/aggregate/aggregate_with_grouping_set-duckdb": _Instead(
        r"GROUPING SETS \( \((\w+)\), \((\w+)\) \)", r"\1, \2", _GROUPING
    ),
    "relation/aggregate/aggregate_with_grouping_set-isthmus": _GROUPING_SET,
    "relation/aggregate/aggregate_with_grouping_set-validate-isthmus": _GROUPING_SET,
    "relation/fetch/fetch-datafusion": _Instead("FETCH.*", "", "no fetch"),
    "relation/fetch/fetch_with_offset-datafusion": _Instead("FETCH.*", "", "a fetch with `count` -1"),
    "relation/set/union_distinct-duckdb": _Instead("UNION", "UNION ALL", "SET_OP_UNION_ALL"),
}
#: queries with several right results
_UNDETERMINED: Final = {
    "function/approximation/approx_count_distinct": "an estimate",
    "function/approximation/approx_distinct": "an estimate",
    "function/rounding/round": "no option `rounding`, and 59869.35 is a tie as a text, less as a double",
}


class StoredPlan(NamedTuple):
    """A plan of the repository: its path, who wrote it, and the case that it is."""

    file: str
    producer: str
    case: Case


def stored_plans(folder: Path, tables: Mapping[str, str]) -> Iterator[StoredPlan]:
    """The plans of a clone, with their queries.

    Args:
        folder: the clone.
        tables: paths of the tables, by the names of their files in the repository, and ``t``.
    """
    root = folder / "substrait_consumer"
    plans = root / "snapshots" / "producer"
    # queries of functions stand one folder lower than their plans: in aggregate or scalar
    paths = {path.relative_to(root / "testdata"): path for path in root.glob("testdata/*/**/*.json")}
    queries = {f"{'/'.join(inner.parts[:2])}/{inner.stem}": path for inner, path in paths.items()}
    for file in sorted(plans.rglob("*_plan.json")):
        place = str(file.relative_to(plans))
        name, producer = _parts(place)
        given, text = {"t": tables["t"]}, None
        if name in queries:
            made = json.loads(queries[name].read_text())
            named = {table: tables[path.removesuffix(".parquet")] for table, path in made["named_tables"].items()}
            given, text = named or given, _text(name, producer, made["sql_query"], queries[name].parent)
        yield StoredPlan(place, producer, Case(name, partial(file.read_text), given, text, _NULLS))


def _parts(file: str) -> tuple[str, str]:
    """The name of a query and the producer; plans without one are Ibis's."""
    found = re.fullmatch(r"(.*?)(?:-validate)?(?:-(\w+))?_plan\.json", file)
    assert found is not None
    return found[1], found[2] or "ibis"


def _text(name: str, producer: str, query: Mapping[str, Any], folder: Path) -> str:
    """The SQL for DuckDB, in which the names of tables aren't texts."""
    own = (_OF_IBIS if producer == "ibis" else _OF_DUCKDB).get(name)
    if own is not None:
        return own
    text = query.get("query") or (folder / query["query_path"]).read_text()
    return re.sub(r"'(?:\{(\w+)\}|(t))'", r"\1\2", text).strip().rstrip(";")


def _tables(folder: Path) -> dict[str, str]:
    """The tables as files, by the names that they have in the repository."""
    pq.write_table(pa.table(_T), folder / "t.parquet")
    found = {"t": str(folder / "t.parquet")}
    for ending, scale in _SCALES.items():
        found |= {f"{name}{ending}": str(path) for name, path in _tpch_tables(scale).items()}
    return found


def outcome(plan: StoredPlan, engines: Engines) -> tuple[str, str]:
    """The outcome of a plan, and why."""
    case = plan.case
    source = case.write()
    try:
        ps.load(source)
    except ps.SubstraitError as error:
        return "refused when loaded", short(error)
    done = engines.run("spark", source, case)
    if done.rows is None:
        beside = of_the_text(case).fault
        by_zero = "by zero" in done.fault and "by zero" in beside
        return ("fails in both", beside) if by_zero else ("refused when run", done.fault)
    if re.match("CREATE|DROP", case.sql or ""):
        return ("differs" if done.rows.num_rows else "agrees with the plan"), "a virtual table without records"
    expected = engines.of_the_text(case)
    if expected is None:
        return "no query known", of_the_text(case).fault
    why = _difference(engines, source, case, expected, done.rows)
    if why in ("", TIES):
        digits = _fewer_digits(expected, done.rows)
        return ("agrees with the plan", f"the digits of {digits} for doubles") if digits else ("agrees", why)
    if case.name in _UNDETERMINED:
        return "undetermined", f"{_UNDETERMINED[case.name]}; {why}"
    instead = _IN_PLANS.get(plan.file.removesuffix("_plan.json"))
    if instead is None:
        return "differs", why
    case = case._replace(sql=re.sub(instead.pattern, instead.text, case.sql or "", flags=re.DOTALL))
    expected = engines.of_the_text(case)
    if expected is None or _difference(engines, source, case, expected, done.rows) not in ("", TIES):
        return "differs", why
    return "agrees with the plan", instead.reason


def _difference(engines: Engines, source: bytes | str, case: Case, expected: pa.Table, found: pa.Table) -> str:
    """How rows differ from those of a query; empty or :data:`TIES` if they agree."""
    return beside_the_text(engines, source, case, found) or _order_difference(case.sql or "", expected, found)


def _order_difference(text: str, expected: pa.Table, found: pa.Table) -> str:
    """How the order of rows differs, in the columns by which they are sorted; empty if it doesn't."""
    import sqlglot

    order = sqlglot.parse_one(text, read="duckdb").args.get("order")
    names = [name.lower() for name in expected.column_names]
    keys = []
    for key in order.expressions if order else ():
        word = key.this.name.lower()
        if not word.isdigit() and word not in names:
            break
        keys.append(int(word) - 1 if word.isdigit() else names.index(word))
    return differing(_numbered(expected, keys), _numbered(found, keys)) if keys else ""


def _fewer_digits(expected: pa.Table, found: pa.Table) -> str:
    """The types of the decimals that have fewer digits than the doubles of the query; empty if all agree as doubles."""
    digits = []
    for place, (type, other) in enumerate(zip(found.schema.types, expected.schema.types, strict=True)):
        if pa.types.is_decimal(type) and pa.types.is_floating(other):
            cells = found.column(place).cast(pa.float64())
            if differing(_alone(expected.column(place)), _alone(cells)):
                digits.append(f"decimal<{type.precision}, {type.scale}>")
    return ", ".join(digits)


def _alone(cells: pa.ChunkedArray) -> pa.Table:
    return pa.table([cells], names=["cells"])


def _numbered(table: pa.Table, columns: list[int]) -> pa.Table:
    cells = [pa.chunked_array([range(table.num_rows)]), *map(table.column, columns)]
    return pa.table(cells, names=[str(number) for number in range(len(cells))])


def _read(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def _print(lines: list[dict[str, str]]) -> None:
    counts = Counter((line["producer"], line["outcome"]) for line in lines)
    for producer in sorted({line["producer"] for line in lines}):
        each = {kind: count for (whose, kind), count in sorted(counts.items()) if whose == producer}
        print(f"{producer}: {sum(each.values())} plans;", ", ".join(f"{count} {kind}" for kind, count in each.items()))
    print(*(f"  {line['file']}: {line['outcome']}: {line['message']}" for line in lines if line["message"]), sep="\n")


def main(arguments: list[str]) -> None:
    """Try the plans that have no outcome yet, and print the counts of all."""
    folder, file, patterns = Path(arguments[0]), Path(arguments[1]), arguments[2:]
    known = {line["file"] for line in _read(file)}
    engines = Engines()
    with tempfile.TemporaryDirectory() as made, file.open("a", encoding="utf-8", buffering=1) as out:
        try:
            for plan in stored_plans(folder, _tables(Path(made))):
                if plan.file in known or (patterns and not any(pattern in plan.file for pattern in patterns)):
                    continue
                kind, why = outcome(plan, engines)
                line = {"file": plan.file, "producer": plan.producer, "outcome": kind, "message": why}
                out.write(json.dumps(line) + "\n")
        finally:
            engines.close()
    _print(_read(file))


if __name__ == "__main__":
    main(sys.argv[1:])

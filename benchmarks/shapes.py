"""What Spark makes of a query before it runs: what it reads, which filters reach the scans, how it joins."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Scan", "Shape", "differences", "shape"]


@dataclass(frozen=True)
class Scan:
    """A file that is read.

    Args:
        table: the file's name without its ending.
        columns: the columns that are read.
        filters: the conditions that the reader gets.
    """

    table: str
    columns: frozenset[str]
    filters: frozenset[str]


@dataclass(frozen=True)
class Shape:
    """A physical plan, without what Spark finds out only while it runs.

    Args:
        scans: what is read, and how often.
        joins: the joins by how they are carried out and their type; a cross join with keys is an inner one.
        steps: the other operators that move or aggregate records, and how many there are.
    """

    scans: Counter[Scan]
    joins: Counter[str]
    steps: Counter[str]


def shape(frame: DataFrame) -> Shape:
    """The shape of a DataFrame's plan, in a classic session; nothing is run."""
    jvm: Any = frame.sparkSession.sparkContext._jvm
    mode = jvm.org.apache.spark.sql.execution.ExplainMode.fromString("formatted")
    text = str(frame._jdf.queryExecution().explainString(mode))
    scans: Counter[Scan] = Counter()
    joins: Counter[str] = Counter()
    steps: Counter[str] = Counter()
    for part in re.split(r"\n(?=\(\d+\) )", text):
        head = re.match(r"\(\d+\) (\w+)", part)
        if head is None:
            continue
        operator = head[1]
        if operator == "Scan":
            scans[_scan(part)] += 1
        elif "Join" in operator or "Cartesian" in operator:
            type = re.search(r"Join type: (\w+)", part)
            joins[f"{operator} {type[1] if type else 'Cross'}".replace("Join Cross", "Join Inner")] += 1
        elif "Exchange" in operator or "Aggregate" in operator or operator in ("Window", "Sort"):
            steps[operator] += 1
    return Shape(scans, joins, steps)


def _scan(part: str) -> Scan:
    table = re.search(r"(\w+)\.parquet", part)
    schema = re.search(r"ReadSchema: struct<(.*)>", part)
    filters = re.search(r"PushedFilters: \[(.*)\]", part)
    return Scan(
        table[1] if table else "",
        frozenset(re.findall(r"(?:^|,)(\w+):", schema[1] if schema else "")),
        # a condition on a subquery's result has the number of that in it
        frozenset(re.sub(r"#\d+", "", item) for item in _listed(filters[1] if filters else "")),
    )


def _listed(text: str) -> Iterator[str]:
    """The items of a list between whose brackets there may be lists."""
    depth, start = 0, 0
    for position, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            yield text[start:position].strip()
            start = position + 1
    if text[start:].strip():
        yield text[start:].strip()


def differences(ours: Shape, peer: Shape) -> str:
    """In what a plan differs from another one, for people; empty where they are alike."""
    found = []
    for mark, one, other in (("+", ours, peer), ("−", peer, ours)):
        for scan in one.scans - other.scans:
            like = [item for item in other.scans - one.scans if item.table == scan.table]
            columns = scan.columns - like[0].columns if like else scan.columns
            filters = scan.filters - like[0].filters if like else scan.filters
            if columns or filters or not like:
                found.append(f"{mark} {scan.table}({', '.join(sorted(columns | filters))})")
        found += [f"{mark} {count} {join}" for join, count in (one.joins - other.joins).items()]
        found += [f"{mark} {count} {step}" for step, count in (one.steps - other.steps).items()]
    return "; ".join(found)

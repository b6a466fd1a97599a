"""Lineage as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyspark_substrait.analysis.lineage.column_sources import Source
from pyspark_substrait.message_text import escaped, json_text

if TYPE_CHECKING:
    from pyspark_substrait.analysis.lineage.result import Lineage, Output, Port

__all__ = ["as_json", "as_text"]


def as_text(lineage: Lineage, *, column: str | None, conditions: bool) -> str:
    """Return a line for each column of a result, one for the conditions on its records, and one per written column."""
    parts: list[str] = []
    for output, ports in _chosen(lineage, column):
        lines: list[str] = []
        shared = _deciding(lineage, output) if conditions else ()
        known = frozenset(shared)
        for name, port in ports:
            values = lineage.sources(port)
            beside = lineage.sources(port, conditions=True) if conditions else ()
            label = _quoted(name) if name else f"${port[1]}"
            lines.append(_line(label, values, [item for item in beside if item not in known]))
        if shared:
            lines.append(f"records by: {_listed(shared)}")
        parts.append("\n".join(lines))
    written = [
        _line(f"{escaped(item.table)}.{_quoted(item.column)}", item.sources, item.conditions if conditions else ())
        for item in lineage.written()
        if column in (None, item.column)
    ]
    parts.extend(["written:\n" + "\n".join(written)] if written else [])
    return "\n\n".join(parts) or "no columns come out, and none are written"


def _line(label: str, values: Sequence[Source], beside: Sequence[Source]) -> str:
    known = frozenset(values)
    others = [item for item in beside if item not in known]
    return f"{label}: {_listed(values) or 'no column'}" + (f"; by {_listed(others)}" if others else "")


def as_json(lineage: Lineage, *, column: str | None, conditions: bool) -> str:
    """Return the results and the written columns as JSON, each column with its sources."""
    results: list[dict[str, Any]] = []
    for output, ports in _chosen(lineage, column):
        columns: list[dict[str, Any]] = []
        for name, port in ports:
            values = lineage.sources(port)
            entry: dict[str, Any] = {"name": name, "relation": port[0], "column": port[1], "sources": _items(values)}
            if conditions:
                known = frozenset(values)
                beside = [item for item in lineage.sources(port, conditions=True) if item not in known]
                entry["conditions"] = _items(beside)
            columns.append(entry)
        result: dict[str, Any] = {"columns": columns}
        if conditions:
            result["records_by"] = _items(_deciding(lineage, output))
        results.append(result)
    written: list[dict[str, Any]] = []
    for item in lineage.written():
        if column in (None, item.column):
            into = {"relation": item.relation, "table": item.table, "column": item.column}
            also = {"conditions": _items(item.conditions)} if conditions else {}
            written.append({**into, "sources": _items(item.sources), **also})
    return json_text({"results": results, "written": written}, indent=2)


def _chosen(lineage: Lineage, column: str | None) -> Iterator[tuple[Output, list[tuple[str | None, Port]]]]:
    """Return the results with those of their columns that are selected."""
    if column is not None and column not in lineage.known_names():
        raise KeyError(column)
    for output in lineage.results():
        ports = [*zip(output.names, output.ports, strict=True)]
        chosen = [item for item in ports if column is None or item[0] == column]
        if chosen:
            yield output, chosen


def _deciding(lineage: Lineage, output: Output) -> tuple[Source, ...]:
    return lineage.deciding_sources(output.ports[0][0]) if output.ports else ()


def _items(sources: Sequence[Source]) -> list[dict[str, Any]]:
    return [{"relation": item.relation, "table": item.table, "column": item.column} for item in sources]


def _listed(sources: Sequence[Source]) -> str:
    """Return the text of the sources, each once, even if several reads of a table have it."""
    return ", ".join(dict.fromkeys(_text(source) for source in sources))


def _text(source: Source) -> str:
    table = escaped(source.table)
    return f"{table}.{_quoted(source.column)}" if source.column else f"columns of {table}"


def _quoted(name: str) -> str:
    """Return a name as it is, or in double quotes where it could be taken for something else."""
    return name if name.isidentifier() else json.dumps(escaped(name), ensure_ascii=False)

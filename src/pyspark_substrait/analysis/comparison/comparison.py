"""The result of a comparison of engines: as text, JSON and a page for the browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from pyspark_substrait.analysis.comparison.rows import Row, RowDifference

__all__ = ["Comparison", "Disagreement", "EngineResult", "SmallestPart"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineResult:
    """The outcome of a plan on an engine.

    Args:
        engine: its name.
        version: its release; empty if it isn't installed.
        rows: the number of rows of its result; None if it gave none.
        seconds: the time from the plan to the rows, without that for starting the engine.
        refusal: why it gave no rows; else empty.
    """

    engine: str
    version: str = ""
    rows: int | None = None
    seconds: float | None = None
    refusal: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallestPart:
    """The smallest part of a plan on which two engines differ.

    Args:
        path: the place of its relation.
        text: the part as :func:`explain` shows it.
        difference: its rows that differ.
        unknown: whether a part of it couldn't be compared, so that the difference may be in there.
    """

    path: str
    text: str
    difference: RowDifference
    unknown: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """Two engines whose rows differ.

    Args:
        first, second: their names.
        difference: the rows that differ.
        part: the smallest part of the plan on which they do; None if it wasn't looked for.
    """

    first: str
    second: str
    difference: RowDifference
    part: SmallestPart | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The rows of a plan on several engines. Printed, it is a summary.

    Args:
        name: the name of the plan.
        results: what each engine did, in the order in which they were asked for.
        disagreements: the engines whose rows differ from those of the first that gave any.
    """

    name: str
    results: tuple[EngineResult, ...]
    disagreements: tuple[Disagreement, ...]

    @property
    def agree(self) -> bool:
        """Whether two engines or more gave rows, and all of them the same."""
        return not self.disagreements and sum(result.rows is not None for result in self.results) > 1

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        names = max(len(result.engine) for result in self.results)
        versions = max(len(result.version) for result in self.results)
        for result in self.results:
            head = f"{result.engine:{names}}  {result.version:{versions}}  "
            if result.rows is None:
                yield f"{head}no rows: {result.refusal}"
            else:
                yield f"{head}{result.rows:,} {'row' if result.rows == 1 else 'rows'}, {result.seconds:.2f} s"
        for item in self.disagreements:
            yield ""
            yield f"{item.second} differs from {item.first}"
            yield from _rows(item, item.difference)
            if item.part is not None:
                yield ""
                yield f"the smallest part on which they differ: {item.part.path}"
                yield from (f"  {line}" for line in item.part.text.splitlines())
                if item.part.unknown:
                    yield "  (a part of it does not run alone on both, so the difference may be in there)"
                yield from _rows(item, item.part.difference)
        if self.agree:
            yield "the rows are the same"

    def to_json(self) -> str:
        """Return the comparison as a JSON object; values of rows are text."""
        return json.dumps(
            {
                "name": self.name,
                "agree": self.agree,
                "engines": [
                    {
                        "engine": result.engine,
                        "version": result.version,
                        "rows": result.rows,
                        "seconds": result.seconds,
                        "refusal": result.refusal or None,
                    }
                    for result in self.results
                ],
                "disagreements": [
                    {
                        "first": item.first,
                        "second": item.second,
                        **_as_json(item.difference),
                        "part": item.part
                        and {
                            "path": item.part.path,
                            "text": item.part.text,
                            "unknown": item.part.unknown,
                            **_as_json(item.part.difference),
                        },
                    }
                    for item in self.disagreements
                ],
            },
            indent=2,
            ensure_ascii=False,
        )

    def to_html(self) -> str:
        """Return the comparison as a page for the browser, which is self-contained and runs no script."""
        return _template().render(comparison=self, shown=_shown)

    def _repr_html_(self) -> str:
        return self.to_html()


def _rows(item: Disagreement, found: RowDifference) -> Iterator[str]:
    """Yield the lines about the rows that differ."""
    if found.fault:
        yield f"  the results have {found.fault}"
        return
    yield f"  columns: {', '.join(found.columns)}"
    for engine, rows, count in (
        (item.first, found.first, found.first_count),
        (item.second, found.second, found.second_count),
    ):
        yield f"  only in {engine}: {count:,} {'row' if count == 1 else 'rows'}"
        yield from (f"    {_row(row)}" for row in rows)
        if count > len(rows):
            yield f"    … and {count - len(rows):,} more"


def _row(row: Row) -> str:
    return f"({', '.join(map(_shown, row))})"


def _shown(value: Any) -> str:
    """Return a value of a row as text."""
    match value:
        case None:
            return "null"
        case float() | int():
            return repr(value)
        case tuple():
            return f"[{', '.join(map(_shown, value))}]"
        case bytes():
            return f"0x{value.hex()}"
        case _:
            return str(value)


def _as_json(found: RowDifference) -> dict[str, Any]:
    return {
        "fault": found.fault or None,
        "columns": list(found.columns),
        "only_first": [[_shown(value) for value in row] for row in found.first],
        "only_first_count": found.first_count,
        "only_second": [[_shown(value) for value in row] for row in found.second],
        "only_second_count": found.second_count,
    }


@cache
def _template() -> Template:
    loader = PackageLoader("pyspark_substrait.analysis.comparison", "templates")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True).get_template(
        "comparison.html.j2"
    )

"""The outcomes of the matrix, kept in matrix.json, and the page of the documentation that is made of them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Final

from tests.peers.matrix_cases import OTHER_PLANS

__all__ = ["ENGINES", "STEPS", "Cell", "read_cells", "write_cells"]

ENGINES: Final = ("spark", "datafusion", "duckdb", "acero")
_PACKAGES: Final = {"spark": "pyspark", "datafusion": "datafusion", "duckdb": "duckdb", "acero": "pyarrow"}
_NAMES: Final = {"spark": "Spark", "datafusion": "DataFusion", "duckdb": "DuckDB (SQL)", "acero": "Acero"}
_OUTCOMES: Final = Path(__file__).with_name("matrix.json")
_PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "engine-matrix.md"
#: what is done with a plan; the first is that it was asked for
STEPS: Final = ("asked", "written", "loaded", "converted", "ran", "agreed")

_HEAD: Final = """\
# Producers and engines

Which producer's plans run on which engine, measured by `python -m tests.peers.matrix`. Each plan is
[fitted to the tables](binding.md), converted to the [form of the engine](targets.md) and run there, in a process of its
own with a limit of 60 seconds (Spark: 120). A cell counts the plans that were asked for, written, loaded here,
converted for the engine, ran, and returned the right rows: those of Spark for the same plan; for Spark, those of
DuckDB, or of the producer's own engine, for the original query. The order of rows does not count; floating-point
numbers may differ by
1e-9 of their size. The data are small: TPC-H at scale 0.01, and generated tables of TPC-DS.

If a `LIMIT` cuts ties, several results are right. A plan counts so only where this was shown: Spark's rows without the
limit are those of DuckDB for the text without it; another engine's rows are those of Spark once both sort by all
columns.
"""
_AGAIN: Final = """\
## Plans that did not run or differ

To reproduce one: `python -m tests.peers.matrix PRODUCER --case PLAN --save FILE` writes the plan, and prints the
command that runs it (`pyspark-substrait compare FILE --engine … --table …`). `--case` alone measures it.
"""


@dataclass
class Cell:
    """The outcomes of a producer's plans on an engine, by plan: the last step that was done, and what is to be said."""

    outcomes: dict[str, tuple[str, str]] = field(default_factory=dict)

    def count(self, step: str) -> int:
        """Return how many plans came to a step."""
        return sum(STEPS.index(done) >= STEPS.index(step) for done, _ in self.outcomes.values())

    @property
    def remarks(self) -> dict[str, str]:
        """Return remarks on some plans."""
        return {name: text for name, (_, text) in self.outcomes.items() if text}


def read_cells() -> dict[str, dict[str, Cell]]:
    """Return what was measured before."""
    if not _OUTCOMES.is_file():
        return {}
    return {
        producer: {
            engine: Cell({name: (step, text) for name, (step, text) in outcomes.items()})
            for engine, outcomes in cells.items()
        }
        for producer, cells in json.loads(_OUTCOMES.read_text(encoding="utf-8")).items()
    }


def write_cells(producer: str, cells: Mapping[str, Cell]) -> None:
    """Keep what was measured beside what was measured before, and write the page."""
    found = read_cells()
    kept = found.setdefault(producer, {})
    for engine, cell in cells.items():
        kept.setdefault(engine, Cell()).outcomes.update(cell.outcomes)
    rows = []
    for name, engines in found.items():
        lines = [
            f"  {json.dumps(engine)}: {json.dumps(dict(sorted(cell.outcomes.items())), ensure_ascii=False)}"
            for engine, cell in engines.items()
        ]
        rows.append(f" {json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n }")
    _OUTCOMES.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    _PAGE.write_text(_page(found), encoding="utf-8")


def _page(found: Mapping[str, Mapping[str, Cell]]) -> str:
    lines = [
        _HEAD,
        f"| producer | {' | '.join(f'{_NAMES[engine]} {version(_PACKAGES[engine])}' for engine in ENGINES)} |",
        f"|---|{'---|' * len(ENGINES)}",
    ]
    for producer, cells in found.items():
        row = [
            " / ".join(str(cells[engine].count(step)) for step in STEPS) if engine in cells else "not tried"
            for engine in ENGINES
        ]
        lines.append(f"| {producer} | {' | '.join(row)} |")
    lines += ["", "asked for / written / loaded / converted / ran / right rows", "", _AGAIN.rstrip()]
    for producer, cells in found.items():
        for engine, cell in cells.items():
            reasons: dict[str, list[str]] = defaultdict(list)
            for name, fault in cell.remarks.items():
                if engine == "spark" and name in OTHER_PLANS:
                    fault = f"{OTHER_PLANS[name]}: {fault}"
                reasons[" ".join(fault.replace("|", "\\|").replace("<", "\\<").split())[:240]].append(name)
            if not reasons:
                continue
            lines += ["", f"### {producer}, on {_NAMES[engine]}", "", "| plans | why |", "|---|---|"]
            lines += [f"| {', '.join(plans)} | {reason} |" for reason, plans in reasons.items()]
    return "\n".join(lines) + "\n"

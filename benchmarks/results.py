"""The figures that are kept: as data in ``results.json``, and as the page ``RESULTS.md``, which is made of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.report import Aim, Figure, Section, aims_markdown, section_markdown

__all__ = ["BENCHMARKS", "PAGE", "Measured", "keep"]

BENCHMARKS = (
    "starting",
    "loading",
    "translation",
    "runs",
    "tpcds",
    "growth",
    "serving",
    "flight",
    "streaming",
    "production",
)
PAGE = Path(__file__).with_name("RESULTS.md")
_DATA = Path(__file__).with_name("results.json")

_HEAD = """\
# Results

Each ratio is ours by the peer's, both measured in turn in the same run; each time is a median. What explains them is in
[docs/performance.md](../docs/performance.md). This page is made by `make bench ARGS=--save`.
"""


@dataclass(frozen=True)
class Measured:
    """What one benchmark found.

    Args:
        day: when, like ``2026-02-28 12:00 UTC``.
        machine: on what.
        command: how.
        sections: the figures.
    """

    day: str
    machine: str
    command: str
    sections: list[Section]


def keep(name: str, measured: Measured) -> None:
    """Keep what a benchmark found in place of what it found before."""
    data = {**_read(), name: asdict(measured)}
    _DATA.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(_page({name: _measured(data[name]) for name in BENCHMARKS if name in data}), encoding="utf-8")


def _read() -> dict[str, Any]:
    return dict(json.loads(_DATA.read_text(encoding="utf-8"))) if _DATA.exists() else {}


def _measured(kept: Mapping[str, Any]) -> Measured:
    sections = [
        Section(**{**section, "figures": _all(Figure, section["figures"]), "aims": _all(Aim, section["aims"])})
        for section in kept["sections"]
    ]
    return Measured(kept["day"], kept["machine"], kept["command"], sections)


def _all(kind: type[Any], kept: list[dict[str, Any]]) -> list[Any]:
    return [kind(**each) for each in kept]


def _page(found: Mapping[str, Measured]) -> str:
    sections = [section for measured in found.values() for section in measured.sections]
    parts = [_HEAD, "## Aims", "", aims_markdown(sections), ""]
    for name, measured in found.items():
        parts += [f"## {name.capitalize()}", "", f"{measured.day}, `{measured.command}`. {measured.machine}.", ""]
        for section in measured.sections:
            parts += [section_markdown(section), ""]
    return "\n".join(parts)

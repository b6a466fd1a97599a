"""Pages of the site that aren't files of ``docs/``: they are made from the program, or lie elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import capability_page
import command_page
import model_page
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]


def contributing() -> str:
    """CONTRIBUTING.md, whose links start at the top of the repository."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return text.replace("[docs/", "[").replace("](docs/", "](")


def results() -> str:
    """What the benchmarks found, the last time that they were kept."""
    text = (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
    return text.replace("[docs/", "[").replace("](../docs/", "](")


PAGES: dict[str, Callable[[], str]] = {
    "contributing.md": contributing,
    "reference/capabilities.md": capability_page.markdown,
    "reference/commands.md": command_page.markdown,
    "reference/model.md": model_page.markdown,
    "results.md": results,
}


def on_files(files: Files, *, config: Any) -> Files:
    """The files of the site, these pages among them."""
    for uri, make in PAGES.items():
        files.append(File.generated(config, uri, content=make()))
    return files

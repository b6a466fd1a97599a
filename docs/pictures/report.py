"""Pictures of the page that ``validate -o report.html`` makes."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pyspark_substrait as substrait
from docs.pictures.browser import opened, take
from docs.pictures.picture import SCHEMES, Picture, Scheme


def _make(scheme: Scheme, folder: Path, target: Path) -> None:
    page = folder / "report.html"
    page.write_text(substrait.validate(folder / "broken.json", name="broken.json").to_html(), encoding="utf-8")
    with opened(page, scheme, width=1200, height=900) as browser:
        take(browser, target)


PICTURES = tuple(Picture(f"report-{scheme}.png", partial(_make, scheme)) for scheme in SCHEMES)

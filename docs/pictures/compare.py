"""Pictures of two plans beside each other: what ``view BEFORE AFTER`` makes."""

from __future__ import annotations

import base64
import json
import time
from functools import partial
from pathlib import Path

import pyspark_substrait as substrait
from docs.pictures.browser import opened, take
from docs.pictures.picture import SCHEMES, Picture, Scheme


def _make(scheme: Scheme, folder: Path, target: Path) -> None:
    _edit(folder / "best.json", folder / "edited.json")
    page = folder / "compare.html"
    substrait.view(folder / "best.json", folder / "edited.json").save(page)
    with opened(page, scheme, width=1640, height=820) as browser:
        time.sleep(1)  # a drawing that was just moved isn't sharp yet
        take(browser, target)


def _edit(source: Path, target: Path) -> None:
    """The plan with another limit and a fetch more; and the filter of the products stands above the join."""
    plan = json.loads(source.read_text(encoding="utf-8"))
    root = plan["relations"][0]["root"]
    kept = root["input"]["sort"]["input"]["filter"]
    kept["condition"]["scalarFunction"]["arguments"][1]["value"]["literal"]["decimal"]["value"] = _decimal(25_000)
    aggregate = kept["input"]["aggregate"]
    join = aggregate["input"]["join"]
    moved = join["right"]["filter"]
    join["right"], moved["input"], aggregate["input"] = moved["input"], aggregate["input"], {"filter": moved}
    text = json.dumps(moved["condition"])
    moved["condition"] = json.loads(text.replace('"structField": {"field": 1}', '"structField": {"field": 4}'))
    root["input"] = {"fetch": {"input": root["input"], "countExpr": {"literal": {"i64": "10"}}}}
    target.write_text(json.dumps(plan), encoding="utf-8")


def _decimal(unscaled: int) -> str:
    return base64.b64encode(unscaled.to_bytes(16, "little")).decode()


PICTURES = tuple(Picture(f"compare-{scheme}.png", partial(_make, scheme)) for scheme in SCHEMES)

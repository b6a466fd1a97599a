"""The plans and tables that the pictures show: the samples."""

from __future__ import annotations

import json
import runpy
import shutil
from pathlib import Path

import pyspark_substrait as substrait
from pyspark_substrait import samples
from pyspark_substrait.builder import Frame

ROOT = Path(__file__).resolve().parents[2]


def write_plans(folder: Path) -> None:
    """Write ``orders.parquet``, ``products.parquet``, and the plans ``sales.json``, ``best.json``, ``broken.json``."""
    for name, path in samples.tables().items():
        shutil.copy(path, folder / f"{name}.parquet")
    sales: Frame = runpy.run_path(str(ROOT / "examples" / "building" / "tutorial.py"))["sales"]()
    sales.to_plan().save(folder / "sales.json")
    best = sales.filter(lambda row: row.sales > 100).sort(lambda row: row.sales.desc())
    best.to_plan().save(folder / "best.json")
    _break(folder / "best.json", folder / "broken.json")


def _break(source: Path, target: Path) -> None:
    """The plan with two mistakes: it sorts by a column that isn't there, and a condition is a number."""
    plan = json.loads(source.read_text(encoding="utf-8"))
    sort = plan["relations"][0]["root"]["input"]["sort"]
    sort["sorts"][0]["expr"]["selection"]["directReference"]["structField"]["field"] = 12
    sort["input"]["filter"]["condition"] = {"literal": {"i32": 100}}
    plan["extensions"] = [
        item for item in plan["extensions"] if not item["extensionFunction"]["name"].startswith("gt:")
    ]
    target.write_text(json.dumps(plan, indent=2), encoding="utf-8")
    assert len(substrait.validate(target).errors) == 2

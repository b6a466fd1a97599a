"""The 99 TPC-DS queries to their last row: the plans that are made of them, beside Spark's SQL."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

from benchmarks.options import Options
from benchmarks.report import Section
from benchmarks.runs import drain
from benchmarks.shapes import differences, shape
from benchmarks.timing import side_by_side
from benchmarks.tpch import CACHE, ROOT

__all__ = ["measure"]

#: its queries, their tables' columns, and a program that makes rows
_KIT = ROOT.parent / "shared" / "tpcds"
#: ten million rows
_SCALE = 20
#: the ratio from which on it is said in what Spark's physical plans differ
_SLOW = 1.1
_QUICK_QUERIES = ("q03", "q64")


def measure(options: Options) -> list[Section]:
    """Each query in turn on each side, from the plan's bytes or the text; nothing is kept of the rows."""
    import pyspark_substrait

    spark = options.session()
    scale = 1 if options.quick else _SCALE
    tables = {name: str(path) for name, path in _files(scale).items()}
    for name, path in tables.items():
        spark.read.parquet(path).createOrReplaceTempView(name)

    def run(content: bytes) -> None:
        drain(pyspark_substrait.from_substrait(pyspark_substrait.load(content), spark))

    def run_text(text: str) -> None:
        drain(spark.sql(text))

    section = Section(
        f"Run our own plans, TPC-DS, {scale} times the kit's rows",
        "spark.sql",
        "From the plan's bytes, or the text, to the last row, which goes nowhere; views over Parquet files, whose rows "
        "are not those of TPC's generator.",
    )
    for file in sorted((_KIT / "queries").glob("q*.sql")):
        if options.quick and file.stem not in _QUICK_QUERIES:
            continue
        text = file.read_text().strip().rstrip(";")
        content = pyspark_substrait.to_substrait(spark.sql(text), tables=list(tables)).to_bytes()
        ours, plain = side_by_side([partial(run, content), partial(run_text, text)], options.rounds)
        note = ""
        if ours > _SLOW * plain:
            note = differences(shape(pyspark_substrait.from_substrait(content, spark)), shape(spark.sql(text)))
        section.add(file.stem, ours, plain, note=note)
    section.aim("run our own plans of TPC-DS, together", 1.0, section.total_ratio())
    section.aim("run our own plans of TPC-DS, the slowest query", 1.2, section.largest_ratio())
    spark.stop()
    return [section]


def _files(scale: int) -> dict[str, Path]:
    """The Parquet file of each table; made once, under the cache directory."""
    folder = CACHE / f"tpcds-{scale}"
    if not folder.is_dir():
        unfinished = folder.with_name(f"{folder.name}.new")
        shutil.rmtree(unfinished, ignore_errors=True)
        command: list[str | Path] = [sys.executable, _KIT / "make_data.py", "--out", unfinished, "--scale", str(scale)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        unfinished.rename(folder)
    return {name: folder / f"{name}.parquet" for name in json.loads((_KIT / "schema.json").read_text())}

"""Outcomes of the queries of sqllogictest files: DataFusion's plans of them on Spark, and back in DataFusion.

``python -m tests.peers.sqllogictests FOLDER OUTCOMES [PATTERN…]`` runs the files below a folder (those whose path has
one of the patterns in it) as DataFusion does: in the folder above, with its files of data where they are. DataFusion's
own are in its repository, in ``datafusion/sqllogictest/test_files``, and in its crate ``datafusion-sqllogictest``.

Each outcome is a line of JSON in the file OUTCOMES. A query that has one isn't run again: so a run goes on where
another stopped, and tries anew what was taken out of the file. At the end the counts of all outcomes are printed.
With ``--load``, plans are loaded and brought back into DataFusion, and none is run on Spark. With ``--every=4``, only
each fourth query is tried.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import pyspark_substrait as ps
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.relations import NamedTable, Read
from pyspark_substrait.model.walk import relations_within
from tests.peers.plan_outcomes import Outcome, figures, in_datafusion, rows, rows_difference, tried, written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Record", "records"]

#: seconds for a query, after which its process ends
_TIME_LIMIT = 60
#: rows beyond which results aren't compared
_MOST_ROWS = 20_000
#: what isn't a query of tables, or has another result each time
_OUT_OF_SCOPE = re.compile(
    r"^\s*(?!SELECT|WITH|VALUES|FROM|TABLE\b|\()|information_schema"
    r"|\b(now|today|random|uuid|uuidv7|version|current_date|current_time|current_timestamp|arrow_typeof|arrow_metadata"
    r"|arrow_field|with_metadata|input_file_name|file_row_index)\b|TABLESAMPLE",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Record:
    """A statement of a file, or a query.

    Args:
        place: the file and the line.
        text: the SQL.
        is_query: whether it has rows that count.
    """

    place: str
    text: str
    is_query: bool


def records(file: Path, folder: Path) -> Iterator[Record]:
    """The statements and queries of a file, and of those that it includes, which DataFusion takes."""
    lines = file.read_text(encoding="utf-8").splitlines()
    skipped, at = False, 0
    while at < len(lines):
        words = lines[at].split()
        place = f"{file.relative_to(folder)}:{at + 1}"
        at += 1
        match words:
            case ["include", pattern]:
                for included in sorted(file.parent.glob(pattern.removeprefix("./"))):
                    yield from records(included, folder)
            case ["skipif", engine, *_]:
                skipped = engine.lower().startswith("datafusion")
            case ["onlyif", engine, *_]:
                skipped = not engine.lower().startswith("datafusion")
            case ["halt"]:
                return
            case ["statement" | "query" as kind, *how]:
                start = at
                while at < len(lines) and lines[at].strip() and lines[at] != "----":
                    at += 1
                text = "\n".join(lines[start:at]).strip().rstrip(";")
                while at < len(lines) and lines[at].strip():
                    at += 1
                if not skipped and how[:1] != ["error"]:
                    yield Record(place, text, kind == "query")
                skipped = False


class _Session:
    """DataFusion with what the statements of a file made."""

    def __init__(self) -> None:
        from datafusion import SessionConfig, SessionContext

        config = SessionConfig().with_target_partitions(4).with_information_schema(True)
        self.engine = SessionContext(config)
        self._tables: dict[str, pa.Table] = {}

    def execute(self, text: str) -> None:
        """Execute a statement; what DataFusion refuses is left out."""
        self._tables.clear()
        try:
            self.engine.sql(text).collect()
        except BaseException as error:  # a panic of Rust isn't an Exception
            if isinstance(error, KeyboardInterrupt):
                raise

    def tables(self, plan: ps.Plan) -> Mapping[str, pa.Table]:
        """The tables that a plan reads; calls of table functions are none, though their plans have them as such."""
        trees = [tree.input if isinstance(tree, RelRoot) else tree for tree in plan.relations]
        reads = [node for node in relations_within(*trees) if isinstance(node, Read)]
        names = {".".join(read.read_type.names) for read in reads if isinstance(read.read_type, NamedTable)}
        for name in names - self._tables.keys():
            quoted = ".".join(f'"{part}"' for part in name.split("."))
            with contextlib.suppress(ValueError):
                self._tables[name] = self.engine.sql(f"SELECT * FROM {quoted}").to_arrow_table()
        return {name: self._tables[name] for name in names & self._tables.keys()}

    def is_determined(self, text: str) -> bool:
        """Whether DataFusion's rows of a query stay the same where its tables have theirs in another order."""
        from datafusion import SessionContext

        if re.search(r"\bLIMIT\b[^()]*$", text, re.IGNORECASE) and not is_ordered(text):
            return False
        found = []
        for turn in (1, 7, -1):
            made = SessionContext()
            for name, table in self._tables.items():
                order = sorted(range(table.num_rows), key=lambda row: row * turn % max(table.num_rows, 1))
                turned = pa.concat_tables([table.slice(row, 1) for row in order] or [table])
                batches = turned.to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]
                made.register_record_batches(f'"{name}"', [batches])
            try:
                found.append(rows(made.sql(text).to_arrow_table()))
            except BaseException:
                return True
        return all(rows_difference(found[0], other, is_ordered(text)) is None for other in found[1:])


def is_ordered(text: str) -> bool:
    """Whether the rows of a query have an order."""
    return re.search(r"ORDER\s+BY\s+[^()]*$", text, re.IGNORECASE) is not None


def outcomes(record: Record, session: _Session, spark: SparkSession | None) -> Iterator[tuple[str, Outcome]]:
    """The outcomes of a query, by what was tried."""
    text = record.text
    if _OUT_OF_SCOPE.search(re.sub(r"--.*", "", text)):
        session.execute(text)
        yield "scope", Outcome(text, "out of scope")
        return
    for name, optimized in (("plan", False), ("optimized plan", True)):
        query = written(text, session.engine, optimized=optimized)
        if isinstance(query, Outcome):
            yield f"{name} on Spark", query
            continue
        there, back = tried(query, session.engine, spark, session.tables)
        itself = in_datafusion(query, query.plan, session.engine)
        for way, outcome in (("on Spark", there), ("back in DataFusion", back), ("in DataFusion itself", itself)):
            if outcome is not None:
                differs = outcome.outcome == "differs"
                undetermined = differs and not session.is_determined(text)
                yield f"{name} {way}", replace(outcome, outcome="undetermined") if undetermined else outcome
    yield "scope", Outcome(text, "tried")


def _work(folder: Path, file: Path, patterns: list[str], load: bool, every: int) -> None:
    from pyspark_substrait.spark.session_start import embedded_session
    from tests.conftest import QUICK_SETTINGS

    known = {line["place"] for line in _read(file)}
    os.chdir(folder.parent)
    spark = None if load else embedded_session("local[1]", None, **QUICK_SETTINGS)
    with file.open("a", encoding="utf-8", buffering=1) as out:

        def write(place: str, way: str, outcome: Outcome) -> None:
            line = {"place": place, "way": way, **asdict(outcome), "notes": sorted(outcome.notes)}
            out.write(json.dumps(line) + "\n")

        for source in sorted(folder.rglob("*.slt")):
            name = str(source.relative_to(folder))
            if patterns and not any(pattern in name for pattern in patterns):
                continue
            session, found = _Session(), [*records(source, folder)]
            wanted = {record.place for record in [one for one in found if one.is_query][::every]} - known
            for record in found if wanted else ():
                if not record.is_query:
                    session.execute(record.text)
                if record.place not in wanted:
                    continue
                # stands there if the process ends
                write(record.place, "scope", Outcome(record.text, "time limit"))
                faulthandler.dump_traceback_later(_TIME_LIMIT, exit=True)
                for way, outcome in outcomes(record, session, spark):
                    write(record.place, way, outcome)
                faulthandler.cancel_dump_traceback_later()


def _read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def _print(file: Path) -> None:
    latest = {(line["place"], line["way"]): line for line in _read(file)}
    by_way: dict[str, list[Outcome]] = {}
    for (place, way), line in latest.items():
        outcome = Outcome(f"{place}: {line['query']}", line["outcome"], line["why"], frozenset(line["notes"]))
        by_way.setdefault(way, []).append(outcome)
        itself = latest.get((place, f"{way.partition('plan')[0]}plan in DataFusion itself"))
        if itself is not None and itself["outcome"] == "agrees" and not way.endswith("itself"):
            by_way.setdefault(f"{way}, where DataFusion runs its own plan", []).append(outcome)
    for way, those in by_way.items():
        print(*figures(way, those), sep="\n")


def main(arguments: list[str]) -> None:
    """Try the queries of the files, in processes of which each goes on where one ended, and print the counts."""
    words = [word for word in arguments if not word.startswith("--")]
    folder, file = Path(words[0]).resolve(), Path(words[1]).resolve()
    if "--work" in arguments:
        every = [word.partition("=")[2] for word in arguments if word.startswith("--every=")]
        _work(folder, file, words[2:], "--load" in arguments, int(every[0]) if every else 1)
        return
    command = [sys.executable, "-m", "tests.peers.sqllogictests", *arguments, "--work"]
    size = -1
    while subprocess.run(command, check=False).returncode and len(_read(file)) > size:
        size = len(_read(file))
    _print(file)


if __name__ == "__main__":
    main(sys.argv[1:])

"""A Spark session for tables of a format, in a process of its own."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import pyspark_substrait as ps
from pyspark_substrait import errors
from pyspark_substrait.documents import Plan
from pyspark_substrait.model.relations import RelationBase
from tests.integration import environment
from tests.spark import plans

__all__ = ["Session", "session", "spark_for"]

ROOT = Path(__file__).resolve().parents[2]


class Session:
    """The session: it carries out plans as their bytes, and SQL."""

    def __init__(self, process: subprocess.Popen[str], spark: str) -> None:
        self._process = process
        #: the version of Spark, like ``4.0``
        self.spark = spark

    def plan(
        self, plan: Plan, *, allowed_paths: Sequence[str] = (), tables: Mapping[str, str] | None = None
    ) -> pa.Table:
        """The result of a plan, over tables at paths; errors are those of this package."""
        return self._table({"plan": _bytes(plan), "allowed_paths": list(allowed_paths), "tables": tables})

    def rows(self, node: RelationBase, **options: Any) -> list[tuple[Any, ...]]:
        """The records of a relation, in an order of their own."""
        return plans.ordered(plans.tuples(self.plan(plans.plan(node), **options)))

    def sql(self, text: str) -> list[tuple[Any, ...]]:
        """The records of a statement, likewise."""
        return plans.ordered(plans.tuples(self.table(text)))

    def table(self, text: str) -> pa.Table:
        """The result of a statement."""
        return self._table({"sql": text})

    def produced(self, text: str, *, optimized: bool = False) -> Plan:
        """The plan of a query in SQL."""
        return ps.load(base64.b64decode(self._asked({"produced": text, "optimized": optimized})["plan"]))

    def statement(self, text: str) -> Plan:
        """The plan of a statement that changes a table."""
        return ps.load(base64.b64decode(self._asked({"statement": text})["plan"]))

    def has_a_plan_of(self, text: str, *, optimized: bool = False) -> None:
        """Assert that the plan of a query gives its records."""
        assert plans.ordered(plans.tuples(self.plan(self.produced(text, optimized=optimized)))) == self.sql(text)

    def executed(self, node: RelationBase) -> str:
        """The physical plan of a relation, after it ran, with the metrics of its scans."""
        return str(self._asked({"executed": _bytes(plans.plan(node))})["executed"])

    def view(self, uri: str, name: str) -> Plan:
        """The plan of a view in a REST catalog, which is the session's catalog ``ice``."""
        return ps.load(base64.b64decode(self._asked({"view": name, "uri": uri})["plan"]))

    def set(self, key: str, value: str) -> None:
        """Change a setting."""
        self._asked({"set": [key, value]})

    def _table(self, asked: Mapping[str, Any]) -> pa.Table:
        return pa.ipc.open_stream(base64.b64decode(self._asked(asked)["table"])).read_all()

    def _asked(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        print(json.dumps(asked), file=self._process.stdin, flush=True)
        found = self.answer()
        if "error" in found:
            raise getattr(errors, found["kind"], AssertionError)(found["error"])
        return found

    def answer(self) -> dict[str, Any]:
        """The next answer of the process."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the session ended"
        found: dict[str, Any] = json.loads(line)
        return found


def _bytes(plan: Plan) -> str:
    return base64.b64encode(plan.to_bytes()).decode()


def spark_for(format: str) -> str:
    """The Spark that a format is tried on. A test skips where there is none, or what it needs was never fetched."""
    spark = environment.tried_on(format)
    if spark is None:
        pytest.skip(f"no release of {format} is made for Spark {os.environ['SPARK']}")
    if environment.jars(format, spark) is None or not environment.python(spark).exists():
        pytest.skip(f"what {format} needs on Spark {spark} is not here: `make test-integration` fetches it")
    return spark


@contextmanager
def session(format: str, folder: Path, settings: Mapping[str, Any]) -> Iterator[Session]:
    """A session with a format; tests that need it skip where it can't be had.

    Args:
        format: one of :data:`environment.ARTIFACTS`.
        folder: where the process works, and leaves its log.
        settings: those of the session, beside the jars.
    """
    spark = spark_for(format)
    jars = environment.jars(format, spark)
    with_jars = {"spark.jars": ",".join(map(str, jars))} if jars else {}
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    command = [str(environment.python(spark)), "-m", "tests.integration.server", json.dumps({**with_jars, **settings})]
    with (folder / "errors.txt").open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path, "PYSPARK_SUBSTRAIT_ARCHIVE": "0"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        found = Session(process, spark)
        assert found.answer()["ready"].startswith(spark)
        try:
            yield found
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait()

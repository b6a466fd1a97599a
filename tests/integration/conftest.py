"""A session with real Delta and Iceberg tables, in a process of its own."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyspark_substrait import errors
from pyspark_substrait.documents import Plan
from pyspark_substrait.model.relations import RelationBase
from tests.integration import environment
from tests.spark import plans

ROOT = Path(__file__).resolve().parents[2]


class Lake:
    """The session: it carries out plans as their bytes, and SQL."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def plan(self, plan: Plan, *, allowed_paths: Sequence[str] = ()) -> pa.Table:
        """The result of a plan; errors are those of this package."""
        return self._asked({"plan": base64.b64encode(plan.to_bytes()).decode(), "allowed_paths": list(allowed_paths)})

    def rows(self, node: RelationBase, **options: Any) -> list[tuple[Any, ...]]:
        """The records of a relation, in an order of their own."""
        return plans.ordered(plans.tuples(self.plan(plans.plan(node), **options)))

    def sql(self, text: str) -> list[tuple[Any, ...]]:
        """The records of a statement, likewise."""
        return plans.ordered(plans.tuples(self.table(text)))

    def table(self, text: str) -> pa.Table:
        """The result of a statement."""
        return self._asked({"sql": text})

    def _asked(self, asked: dict[str, Any]) -> pa.Table:
        assert self._process.stdin is not None and self._process.stdout is not None
        print(json.dumps(asked), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        assert line, "the session ended"
        found = json.loads(line)
        if "error" in found:
            raise getattr(errors, found["kind"], AssertionError)(found["error"])
        return pa.ipc.open_stream(base64.b64decode(found["table"])).read_all()


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """The session. Tests that need it skip where its jars were never fetched."""
    made = environment.folder()
    if not made.is_dir():
        pytest.skip(f"no Spark with Delta and Iceberg in {made}: `make test-integration` fetches them")
    folder = tmp_path_factory.mktemp("lake")
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    command = [
        str(environment.python(made)),
        "-m",
        "tests.integration.server",
        ",".join(map(str, environment.jars(made))),
        str(folder),
    ]
    with (folder / "errors.txt").open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        yield Lake(process)
        assert process.stdin is not None
        process.stdin.close()
        process.wait()

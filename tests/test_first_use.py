"""Threads that use the package for the first time together, in processes of their own, without Spark."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pyspark_substrait.builder import count, exists, read, sum_

pytestmark = pytest.mark.sweep

ROOT = Path(__file__).resolve().parent.parent

#: what every process does: threads begin together and take turns as often as they can; each result must be that of one
PROGRAM = """
import faulthandler, sys, threading, traceback
faulthandler.dump_traceback_later(100, exit=True)
sys.setswitchinterval(1e-5)
import pyspark_substrait as ps

content = open(sys.argv[1], "rb").read()
VERBS = {
    "load": lambda: ps.load(content).to_json(),
    "to_sql": lambda: ps.to_sql(content),
    "explain": lambda: str(ps.explain(content)),
    "validate": lambda: str(ps.validate(content, "spark")),
    "lint": lambda: str(ps.lint(content)),
    "diff": lambda: str(ps.diff(content, content)),
    "for_target": lambda: ps.for_target(content, "datafusion").to_json(),
    "touches": lambda: str(ps.touches(content)),
    "to_text": lambda: ps.load(content).to_text(),
    "lineage": lambda: str(ps.lineage(content)),
}
names = [name for name in sys.argv[2].split() for _ in range(16 // len(sys.argv[2].split()))]
rounds = int(sys.argv[3])
barrier, found, failed = threading.Barrier(len(names)), {}, []

def work(name):
    barrier.wait()
    try:
        for _ in range(rounds):
            found.setdefault(name, set()).add(VERBS[name]())
    except BaseException:
        failed.append(traceback.format_exc())

threads = [threading.Thread(target=work, args=(name,)) for name in names]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failed, failed[0]
for name, texts in found.items():
    assert texts == {VERBS[name]()}, name
print("well done")
"""


def plan() -> bytes:
    """A plan of nested relations and a subquery: what it puts out is derived from inputs of inputs."""
    lines = read("lines", {"order": "i64", "price": "decimal<10, 2>", "day": "date?"})
    orders = read("orders", {"id": "i64", "name": "string?", "made": "date"})
    for _ in range(6):
        orders = orders.filter(lambda o: o.id > 5).with_columns(id=lambda o: o.id + 1).sort("id")
        lines = lines.select("order", "price", "day").distinct()
    joined = orders.join(lines, lambda o, line: o.id == line.order, "left")
    grouped = joined.group_by("name").agg(total=sum_(lambda o: o.price), n=count())
    return grouped.filter(lambda g: exists(lines.filter(lambda line: line.order > g.n))).to_plan().to_bytes()


@pytest.mark.parametrize(
    ("verbs", "rounds"),
    [
        ("load", 1),
        ("to_sql", 1),
        ("validate", 1),
        ("load to_sql explain validate lint diff to_text touches", 1),
        ("load to_sql validate explain", 15),
    ],
)
def test_threads_that_begin_together(verbs: str, rounds: int, tmp_path: Path) -> None:
    path = tmp_path / "plan.pb"
    path.write_bytes(plan())
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path), verbs, str(rounds)],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT / "src"), "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout == "well done\n", run.stderr[-3000:]

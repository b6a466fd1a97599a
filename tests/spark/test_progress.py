"""How far Spark is, who gets to see it, and what Ctrl-C does. Numbers of tasks are worked out from the partitions."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

import pyspark_substrait
from pyspark_substrait.spark import progress
from pyspark_substrait.spark.arrow_transfer import collected
from pyspark_substrait.spark.progress import display as displays
from pyspark_substrait.spark.progress import interruptible, running, waiting
from pyspark_substrait.spark.progress.display import InLines, InNotebook, OnTerminal, progress_text
from pyspark_substrait.spark.progress.interrupts import CANCELLED
from pyspark_substrait.spark.progress.jobs import JobProgress, jobs_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.sweep(sample=0.15)

ROOT = Path(__file__).resolve().parent.parent.parent
CONNECT = "TEST_REMOTE" in os.environ

I64 = {"i64": {"nullability": "NULLABILITY_REQUIRED"}}
SCHEMA = {"names": ["x"], "struct": {"types": [I64], "nullability": "NULLABILITY_REQUIRED"}}
READ: dict[str, Any] = {"read": {"baseSchema": SCHEMA, "namedTable": {"names": ["numbers"]}}}
#: as many pairs as the square of the table: where that is much, a run goes on until it is stopped
PAIRS: dict[str, Any] = {
    "version": {"minorNumber": 108},
    "extensionUrns": [{"extensionUrnAnchor": 1, "urn": "extension:io.substrait:functions_aggregate_generic"}],
    "extensions": [{"extensionFunction": {"extensionUrnReference": 1, "functionAnchor": 1, "name": "count:"}}],
    "relations": [
        {
            "root": {
                "input": {
                    "aggregate": {
                        "input": {
                            "filter": {
                                "input": {"cross": {"left": READ, "right": READ}},
                                "condition": {"literal": {"boolean": True}},
                            }
                        },
                        "groupings": [{}],
                        "measures": [
                            {
                                "measure": {
                                    "functionReference": 1,
                                    "outputType": I64,
                                    "phase": "AGGREGATION_PHASE_INITIAL_TO_RESULT",
                                }
                            }
                        ],
                    }
                },
                "names": ["pairs"],
            }
        }
    ],
}


def numbers(count: int) -> pa.Table:
    return pa.table({"x": range(count)}, schema=pa.schema([pa.field("x", pa.int64(), nullable=False)]))


class Seen:
    """A display that keeps what it is told, and does something when Spark works."""

    def __init__(self, at_work: Callable[[], None] = lambda: None) -> None:
        self.standings: list[JobProgress] = []
        self.cleared = 0
        self._at_work = at_work

    def show(self, standing: JobProgress, seconds: float) -> None:
        before = bool(self.standings and self.standings[-1].active)
        self.standings.append(standing)
        if standing.active and not before:
            self._at_work()

    def clear(self) -> None:
        self.cleared += 1


def test_only_the_jobs_of_a_run_are_counted(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(numbers(1000), tmp_path / "numbers.parquet")
    jobs = jobs_of(spark)
    other = threading.Thread(target=lambda: collected(spark.range(0, 100, 1, 13)))
    with jobs.marked():
        other.start()
        assert collected(spark.range(0, 10, 1, 5)).num_rows == 10
        assert collected(spark.read.parquet(str(tmp_path))).num_rows == 1000
        other.join()
    collected(spark.range(0, 10, 1, 17))
    # five parts of a range, and one file; the file's schema may take a job of one task too
    if CONNECT:  # it tells now and then, and nothing at the end
        assert jobs.standing().done <= jobs.standing().tasks <= 7
        return
    until(lambda: jobs.standing().done >= 6)
    found = jobs.standing()
    assert found.done == found.tasks in (6, 7)
    assert found.stages == found.stages_done in (2, 3)
    assert found.rows == 10 + 1000
    assert found.bytes > 0


def until(holds: Callable[[], bool]) -> None:
    """Wait, for Spark tells some things a moment later."""
    end = time.monotonic() + 20
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("standing", "text"),
    [
        (JobProgress(), ""),
        (JobProgress(stages=1, tasks=4), "0/4 tasks · 0/1 stages"),
        (
            JobProgress(stages=3, stages_done=1, tasks=2000, done=41, active=2, failed=1, rows=1_200_000, bytes=5),
            "41/2,000 tasks · 2 running · 1 failed · 1/3 stages · 1,200,000 rows read",
        ),
        (JobProgress(stages=1, tasks=1, bytes=3 * 1024 * 1024 // 2), "0/1 tasks · 0/1 stages · 1.5 MiB read"),
        (JobProgress(stages=1, tasks=1, rows=0, bytes=1023), "0/1 tasks · 0/1 stages · 1023 B read"),
    ],
)
def test_what_is_said(standing: JobProgress, text: str) -> None:
    assert progress_text(standing) == text


@pytest.mark.parametrize(
    ("asked", "variable", "where", "shown"),
    [
        (None, "", "terminal", OnTerminal),
        (None, "", "notebook", InNotebook),
        (None, "", "file", None),
        (None, "0", "terminal", None),
        (None, "off", "notebook", None),
        (None, "1", "file", InLines),
        (False, "1", "terminal", None),
        (True, "0", "terminal", OnTerminal),
        (True, "0", "file", InLines),
    ],
)
def test_who_sees_it(
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    asked: bool | None,
    variable: str,
    where: str,
    shown: type | None,
) -> None:
    used: list[object] = []
    monkeypatch.setenv(progress.SWITCH, variable)
    monkeypatch.setattr(progress, "notebook", lambda: where == "notebook")
    console = Console(file=io.StringIO(), force_terminal=where == "terminal")
    monkeypatch.setattr(progress, "_standard_error", lambda: console)

    @contextmanager
    def shown_to(jobs: object, display: object) -> Iterator[None]:
        used.append(display)
        yield

    monkeypatch.setattr(progress, "_shown", shown_to)
    with running(spark, asked):
        pass
    assert [type(display) for display in used] == ([] if shown is None else [shown])
    with waiting("Starting", asked, console):
        pass
    assert ("Starting" in console.file.getvalue()) == (shown is OnTerminal)  # type: ignore[attr-defined]


def test_a_bar_fits_into_its_line_and_goes() -> None:
    for width in (40, 80, 200):
        console = Console(file=io.StringIO(), force_terminal=True, width=width, legacy_windows=False, _environ={})
        bar = OnTerminal("Running", console)
        bar.show(JobProgress(), 0.5)
        bar.show(JobProgress(stages=12, stages_done=3, tasks=2000, done=41, active=2, rows=10**9), 3725)
        bar.clear()
        assert isinstance(console.file, io.StringIO)
        text = console.file.getvalue()
        assert "1:02:05" in text
        shown = [part in text for part in ("41/2,000 tasks", "2 running", "rows read")]
        assert shown == [True, width > 40, width > 80]
        assert text.count("\n") <= 1  # never more than one line, and it is wiped out at the end
        assert text.endswith("\x1b[2K")


def test_a_notebook_gets_one_output_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[tuple[str, dict[str, str]]] = []

    class Handle:
        def update(self, content: dict[str, str], *, raw: bool) -> None:
            shown.append(("update", content))

    def display(content: dict[str, str], *, raw: bool, display_id: bool) -> Handle:
        shown.append(("display", content))
        return Handle()

    module = types.ModuleType("IPython")
    module.get_ipython = lambda: types.SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    inner = types.ModuleType("IPython.display")
    inner.display = display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setitem(sys.modules, "IPython.display", inner)
    assert displays.notebook()
    bar = InNotebook("<b>")
    bar.clear()
    assert shown == []
    bar.show(JobProgress(), 1)
    bar.show(JobProgress(stages=1, tasks=4, done=1), 2)
    bar.clear()
    assert [kind for kind, _ in shown] == ["display", "update", "update"]
    assert shown[1][1]["text/plain"] == "<b> · 0:00:02 · 1/4 tasks · 0/1 stages"
    assert '<progress max="4" value="1">' in shown[1][1]["text/html"] and "<b>" not in shown[1][1]["text/html"]
    assert set(shown[2][1].values()) == {""}


def test_lines_come_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    lines = InLines("Running")
    for second in range(25):
        lines.show(JobProgress(stages=1, tasks=100, done=second) if second else JobProgress(), second)
    lines.clear()
    assert capsys.readouterr() == (
        "",
        "".join(f"Running · 0:00:{s:02} · {s}/100 tasks · 0/1 stages\n" for s in (1, 11, 21)),
    )


@pytest.mark.sweep(sample=0)  # it lasts for minutes without generated code
def test_a_run_is_shown_and_the_display_cleared(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Seen()
    monkeypatch.setattr(progress, "_display", lambda what, always: seen)
    monkeypatch.setattr(progress, "_DELAY_SECONDS", 0.0)
    rows = pyspark_substrait.run_query(PAIRS, tables={"numbers": numbers(20_000)}, spark=spark, progress=True)
    assert rows.to_pylist() == [{"pairs": 20_000**2}]
    assert seen.cleared == 1
    assert CONNECT or max(standing.tasks for standing in seen.standings) > 0


@pytest.mark.parametrize("deep", [False, True])
def test_ctrl_c_cancels_the_jobs_and_leaves_the_session_as_it_was(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, deep: bool
) -> None:
    """Also where the plan is so deep that another thread walks it; and what other threads run goes on."""
    before = state(spark)
    seen = Seen(lambda: os.kill(os.getpid(), signal.SIGINT))
    monkeypatch.setattr(progress, "_display", lambda what, always: seen if always else None)
    plan = pyspark_substrait.load(PAIRS)
    object.__setattr__(plan, "deep", deep)
    others: list[pa.Table] = []
    # the driver's two threads are taken by the long run, so this one can only end after it
    other = threading.Thread(target=lambda: others.append(collected(spark.range(0, 100, 1, 3))))
    start = seen.show

    def show(standing: JobProgress, seconds: float) -> None:
        if standing.active and not other.ident:
            other.start()
        start(standing, seconds)

    seen.show = show  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt, match=CANCELLED):
        pyspark_substrait.run_query(plan, tables={"numbers": numbers(400_000)}, spark=spark, progress=True)
    other.join(60)
    assert [table.num_rows for table in others] == [100]
    if not CONNECT:
        until(lambda: not spark.sparkContext.statusTracker().getActiveJobsIds())
        assert spark.sparkContext.statusTracker().getActiveJobsIds() == []
    assert state(spark) == before
    assert pyspark_substrait.run_query(PAIRS, tables={"numbers": numbers(3)}, spark=spark).to_pylist() == [{"pairs": 9}]


def state(spark: SparkSession) -> tuple[object, ...]:
    """What a user may have set for this thread."""
    handler = signal.getsignal(signal.SIGINT)
    if CONNECT:
        return handler, spark.getTags()
    context = spark.sparkContext
    keys = ("spark.job.interruptOnCancel", "spark.jobGroup.id", "spark.job.description")
    return handler, context.getJobTags(), *(context.getLocalProperty(key) for key in keys)


def test_ctrl_c_outside_of_spark_is_pythons_own(spark: SparkSession) -> None:
    with pytest.raises(KeyboardInterrupt, match=CANCELLED), running(spark, False):
        signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt) as caught, interruptible():
        raise KeyboardInterrupt
    assert not caught.value.args  # nothing ran


def test_a_handler_of_the_user_stays(spark: SparkSession) -> None:
    called: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: called.append(number))
    try:
        with running(spark, False):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert called == [signal.SIGINT]


@pytest.mark.skipif(CONNECT, reason="it starts a session of its own")
def test_ctrl_c_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(json.dumps(PAIRS))
    pq.write_table(numbers(400_000), tmp_path / "numbers.parquet")
    command = [sys.executable, "-m", "pyspark_substrait", "run", "plan.json", "--table", "numbers=numbers.parquet"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen(
        [*command, "--progress", "--master", "local[2]"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr is not None and process.stdout is not None
        assert " tasks · " in process.stderr.readline()
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: everything that the command has started gets it
        assert process.stderr.readlines()[-1] == f"{CANCELLED}\n"
        assert process.stdout.read() == ""
        assert process.wait(60) == 130

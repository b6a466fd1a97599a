"""The Spark jobs of one run, as opposed to others of their session: their progress, and their cancellation."""

from __future__ import annotations

import os
import threading
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark_substrait.spark.lost_connection import asked_once
from pyspark_substrait.spark.session import is_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.shell.progress import StageInfo

__all__ = ["JobProgress", "Jobs", "jobs_of"]

_LOOK_SECONDS = 0.05
#: how often a run is cancelled, and how many times more after its end
_AGAIN_SECONDS = 0.1
_LATE_LOOKS = 10


@dataclass(frozen=True)
class JobProgress:
    """The progress of a run.

    Spark divides a run into stages, and a stage into tasks that do the same on parts of the data. It plans later
    stages as it proceeds, so the numbers of all stages and tasks grow.

    Attributes:
        stages: the stages known.
        stages_done: those that are done.
        tasks: the tasks of the stages known.
        done: those that are done.
        active: those that run.
        failed: failed attempts; Spark retries a task some times.
        rows: the rows read from tables and files; None if they aren't known (Spark Connect).
        bytes: the bytes read from tables and files.
    """

    stages: int = 0
    stages_done: int = 0
    tasks: int = 0
    done: int = 0
    active: int = 0
    failed: int = 0
    rows: int | None = None
    bytes: int = 0

    def __add__(self, other: JobProgress) -> JobProgress:
        rows = [part.rows for part in (self, other) if part.rows is not None]
        return JobProgress(
            stages=self.stages + other.stages,
            stages_done=self.stages_done + other.stages_done,
            tasks=self.tasks + other.tasks,
            done=self.done + other.done,
            active=self.active + other.active,
            failed=self.failed + other.failed,
            rows=sum(rows) if rows else None,
            bytes=self.bytes + other.bytes,
        )


class Jobs(ABC):
    """The jobs that the body of :meth:`marked` starts, in its thread and in those that Spark starts for it."""

    def __init__(self) -> None:
        self.tag = f"pyspark-substrait-{uuid.uuid4()}"

    @abstractmethod
    def marked(self) -> AbstractContextManager[None]:
        """Mark the body's jobs as those of this run, without changing the user's own tags and properties."""

    @abstractmethod
    def standing(self) -> JobProgress:
        """Return the progress of the jobs; may be called from any thread."""

    @abstractmethod
    def cancel(self) -> None:
        """Cancel the running jobs; may be called from any thread.

        Raises:
            Exception: Spark doesn't answer.
        """

    def end(self, done: threading.Event) -> None:
        """Cancel the jobs until the run is done and for a moment longer, without waiting for that.

        Its threads may start one job after the other.
        """

        def cancel() -> None:
            wait = _AGAIN_SECONDS
            with suppress(Exception):  # Spark is gone, with its jobs
                while not done.is_set():
                    self.cancel()
                    done.wait(wait)
                    wait = min(wait * 1.5, 5)
                for _ in range(_LATE_LOOKS):
                    self.cancel()
                    time.sleep(_AGAIN_SECONDS)

        threading.Thread(target=cancel, name="substrait-cancel", daemon=True).start()

    @abstractmethod
    def left(self, seconds: float) -> int:
        """Wait at most ``seconds`` for cancelled tasks to end; return how many still run, 0 if that isn't known."""

    @property
    @abstractmethod
    def answers_within(self) -> float:
        """The seconds that Python waits for an answer of Spark."""

    @property
    @abstractmethod
    def spark_shows(self) -> bool:
        """Whether Spark itself draws a bar for this session."""


class _ClassicJobs(Jobs):
    """The jobs of a classic session, whose progress is polled."""

    _INTERRUPT = "spark.job.interruptOnCancel"

    def __init__(self, spark: SparkSession) -> None:
        super().__init__()
        self._context: Any = spark.sparkContext
        self._stages: dict[int, tuple[int, ...]] = {}
        self._settled: dict[int, JobProgress] = {}

    @contextmanager
    def marked(self) -> Iterator[None]:
        context = self._context
        before = context.getLocalProperty(self._INTERRUPT)
        context.addJobTag(self.tag)
        context.setInterruptOnCancel(True)
        try:
            yield
        finally:
            with suppress(Exception):  # the body may have stopped the session
                context.removeJobTag(self.tag)
                context.setLocalProperty(self._INTERRUPT, before)

    def standing(self) -> JobProgress:
        scala = self._context._jsc.sc()  # Java's tracker doesn't know tags
        tracker, store = scala.statusTracker(), scala.statusStore()
        for job in tracker.getJobIdsForTag(self.tag):
            if job not in self._stages:
                info = tracker.getJobInfo(job)
                if info.isDefined():
                    self._stages[job] = tuple(info.get().stageIds())
        stages = {stage for stages in self._stages.values() for stage in stages}
        return sum((self._stage(store, stage) for stage in sorted(stages)), JobProgress())

    def _stage(self, store: Any, stage: int) -> JobProgress:
        if stage in self._settled:
            return self._settled[stage]
        try:
            data = store.lastStageAttempt(stage)
        except Exception:  # it doesn't exist yet, or no longer
            return JobProgress()
        status = data.status().name()
        if status == "SKIPPED":  # an earlier job has its result
            found = JobProgress()
        else:
            finished = status == "COMPLETE"
            found = JobProgress(
                stages=1,
                stages_done=int(finished),
                tasks=data.numTasks(),
                done=data.numTasks() if finished else data.numCompleteTasks(),
                active=data.numActiveTasks(),
                failed=data.numFailedTasks(),
                rows=data.inputRecords(),
                bytes=data.inputBytes(),
            )
        if status in ("COMPLETE", "SKIPPED"):
            self._settled[stage] = found
        return found

    def cancel(self) -> None:
        self._context.cancelJobsWithTag(self.tag)

    def left(self, seconds: float) -> int:
        end = time.monotonic() + seconds
        while (active := self.standing().active) and time.monotonic() < end:
            time.sleep(_LOOK_SECONDS)
        return active

    @property
    def answers_within(self) -> float:
        return 5.0  # breaking off a call to Java loses the connection

    @property
    def spark_shows(self) -> bool:
        # getConf() copies the whole configuration, in hundreds of calls
        return bool(self._context._conf.get("spark.ui.showConsoleProgress", "false") == "true")


class _ConnectJobs(Jobs):
    """The jobs of a Connect session, which reports their progress."""

    def __init__(self, spark: Any) -> None:
        super().__init__()
        self._spark = spark
        self._operations: dict[str | None, JobProgress] = {}

    @contextmanager
    def marked(self) -> Iterator[None]:
        ours = threading.get_ident()

        def told(
            stages: Iterable[StageInfo] | None, inflight_tasks: int, operation_id: str | None, done: bool, **_: object
        ) -> None:
            if threading.get_ident() == ours:  # jobs of other threads are reported, too
                self._operations[operation_id] = _job_progress(list(stages or ()), inflight_tasks)

        self._spark.addTag(self.tag)
        if hasattr(self._spark, "registerProgressHandler"):  # since 4.0
            self._spark.registerProgressHandler(told)
        try:
            yield
        finally:
            with suppress(Exception):  # the user may have removed all handlers
                self._spark.removeTag(self.tag)
                self._spark.removeProgressHandler(told)

    def standing(self) -> JobProgress:
        return sum(list(self._operations.values()), JobProgress())

    def cancel(self) -> None:
        with asked_once(self._spark):
            self._spark.interruptTag(self.tag)

    def left(self, seconds: float) -> int:
        return 0  # a server doesn't report it

    @property
    def answers_within(self) -> float:
        return 1.0

    @property
    def spark_shows(self) -> bool:
        return os.environ.get("SPARK_CONNECT_PROGRESS_BAR_ENABLED") == "1"


def _job_progress(stages: list[StageInfo], active: int) -> JobProgress:
    """Convert a progress message of a Connect server."""
    return JobProgress(
        stages=len(stages),
        stages_done=sum(stage.done for stage in stages),
        tasks=sum(stage.num_tasks for stage in stages),
        done=sum(stage.num_completed_tasks for stage in stages),
        active=active,
        bytes=sum(stage.num_bytes_read for stage in stages),
    )


def jobs_of(spark: SparkSession) -> Jobs:
    """Return the jobs object for a new run, in a session of either kind."""
    return _ConnectJobs(spark) if is_connect(spark) else _ClassicJobs(spark)

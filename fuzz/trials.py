"""One plan tried: on Spark beside an evaluator, another engine and laws, and written and read back."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import pyspark_substrait as ps
from fuzz.comparison import difference
from fuzz.laws import LAWS
from fuzz.tables import TABLES
from pyspark_substrait.analysis.report import Report
from pyspark_substrait.codes import Level
from pyspark_substrait.documents import Plan
from pyspark_substrait.errors import ExecutionError, UnsupportedPlanError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pyspark_substrait.model.findings import Finding

__all__ = [
    "FAILURES",
    "Engines",
    "Outcome",
    "alone",
    "beside_datafusion",
    "compared",
    "failed",
    "outcomes",
    "round_trips",
    "short",
]

FAILURES = ("differs", "fault", "invalid", "not the same", "fails alone")
"""The outcomes that are findings."""

#: notes of a plan for an engine: values may differ there
_DOUBTS = re.compile(r"^(target-value|target-option)$")
#: the rules of Spark's optimizer that it can do without; without ConstantFolding, it doesn't run frames of -2 records
_RULES = (
    "BooleanSimplification", "CollapseProject", "ColumnPruning", "CombineFilters", "CombineUnions",
    "ConstantPropagation", "ConvertToLocalRelation", "EliminateOuterJoin", "FoldablePropagation",
    "InferFiltersFromConstraints", "LikeSimplification", "NullPropagation", "OptimizeIn", "PropagateEmptyRelation",
    "PruneFilters", "PushDownPredicates", "PushPredicateThroughJoin", "PushDownLeftSemiAntiJoin",
    "PushLeftSemiLeftAntiThroughJoin", "RemoveRedundantAggregates", "ReorderJoin", "SimplifyBinaryComparison",
    "SimplifyCasts", "SimplifyConditionals", "TransposeWindow", "LimitPushDown", "EliminateSorts",
    "RemoveNoopOperators", "OptimizeWindowFunctions", "ReplaceNullWithFalseInPredicate", "UnwrapCastInBinaryComparison",
    "SimplifyExtractValueOps", "RemoveRedundantAliases", "RemoveDispensableExpressions", "PushFoldableIntoBranches",
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """The outcome of one trial: ``agrees``, one of :data:`FAILURES`, or why nothing is known; ``why`` in words."""

    trial: str
    outcome: str
    why: str = ""

    @property
    def failed(self) -> bool:
        """Whether it is a finding."""
        return self.outcome in FAILURES

    @property
    def key(self) -> tuple[str, str, str]:
        """The mark of the fault, which a smaller plan with it has, too."""
        reason = re.sub(r"[\d#]+", "9", re.sub(r"^relations\S*: ", "", self.why))
        return (self.trial, self.outcome, "" if self.outcome == "differs" else reason[:60])


@dataclass
class Engines:
    """Spark, and the engines beside it, which are started when they are needed.

    Args:
        start: returns the session.
        evaluate: the reference evaluator, a function of a plan and of tables; None if there is none. What it returns
            compares itself with a table.
        refusals: the exceptions by which it gives no value.
        failure: the exception that says that the plan has to fail.
    """

    start: Callable[[], SparkSession]
    evaluate: Callable[[Any, Mapping[str, pa.Table]], Any] | None = None
    refusals: tuple[type[Exception], ...] = ()
    failure: type[Exception] | None = None

    @cached_property
    def spark(self) -> SparkSession:
        """The session."""
        return self.start()

    @cached_property
    def unoptimized(self) -> SparkSession:
        """A session whose optimizer lacks most of its rules."""
        made = self.spark.newSession()
        rules = ",".join(f"org.apache.spark.sql.catalyst.optimizer.{rule}" for rule in _RULES)
        made.conf.set("spark.sql.optimizer.excludedRules", rules)
        return made

    @cached_property
    def datafusion(self) -> Any:
        """A DataFusion session with the tables."""
        from datafusion import SessionContext

        made = SessionContext()
        for name, table in TABLES.items():
            batches = table.to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]
            made.register_record_batches(name, [batches])
        return made

    def rows(self, plan: Plan, spark: SparkSession | None = None) -> pa.Table:
        """Return the rows of a plan on Spark."""
        return ps.run_query(plan, tables=TABLES, spark=spark or self.spark, progress=False)

    def produced(self, plan: Plan) -> pa.Table:
        """Return the rows of the plan that the producer makes of the plan's DataFrame."""
        frame = ps.from_substrait(plan, tables=TABLES, spark=self.spark)
        return ps.run_query(ps.load(ps.to_substrait(frame).to_bytes()), spark=self.spark, progress=False)


def short(error: BaseException) -> str:
    """Return the class and the text of an error, on one line."""
    return re.sub(r"\s+", " ", f"{type(error).__name__}: {error}")[:400]


def round_trips(plan: Plan) -> list[Outcome]:
    """Write the plan in every form and read it back; nothing may be lost, nothing is there to upgrade."""
    found = []
    report = ps.validate(plan)
    if not report.ok:
        return [Outcome("validate", "invalid", f"{_first_error(report)}"[:400])]
    for form, written in (("text", plan.to_text), ("JSON", plan.to_json), ("binary", plan.to_bytes)):
        try:
            again = ps.load(written())
        except Exception as error:
            found.append(Outcome(form, "fault", short(error)))
            continue
        if again.relations != plan.relations:
            found.append(Outcome(form, "not the same", _first_difference(plan, again)))
        elif again.upgrades:
            found.append(Outcome("upgrade", "not the same", f"{again.upgrades[0]}"))
        else:
            found.append(Outcome(form, "agrees"))
    return found


def _first_error(report: Report) -> Finding:
    return next(item for item in report if item.level is Level.ERROR)


def _first_difference(plan: Plan, again: Plan) -> str:
    try:
        return f"{next(iter(ps.diff(plan, again)), 'the model differs, and diff finds nothing')}"[:400]
    except Exception as error:
        return short(error)


def outcomes(plan: Plan, seed: int, engines: Engines, trials: Sequence[str]) -> list[Outcome]:
    """Try a plan.

    Args:
        plan: the plan.
        seed: the seed of what laws make by chance.
        engines: the engines.
        trials: which: ``reference``, ``datafusion``, ``unoptimized``, ``produced``, ``forms``, and the names of laws.
    """
    found = round_trips(plan) if "forms" in trials else []
    if any(item.outcome == "invalid" for item in found) or set(trials) <= {"forms"}:
        return found
    try:
        expected = engines.rows(plan)
    except Exception as error:
        without = failed("Spark", error)
        if without.outcome == "fails on its data" and "reference" in trials and engines.evaluate is not None:
            return [*found, without, _without_rows(plan, without, engines)]
        return [*found, without]
    found.append(Outcome("Spark", "agrees"))
    if "reference" in trials and engines.evaluate is not None:
        found.append(_beside_reference(plan, expected, engines))
    if "unoptimized" in trials:
        found.append(_beside("unoptimized", expected, lambda: engines.rows(plan, engines.unoptimized)))
    if "datafusion" in trials:
        found.append(beside_datafusion("datafusion", plan, expected, engines.datafusion, TABLES))
    if "produced" in trials:
        found.append(alone(_beside("produced", expected, lambda: engines.produced(plan))))
    for name, law in LAWS.items():
        if name in trials:
            try:
                other = law(plan, seed)
            except Exception as error:
                found.append(Outcome(name, "fault", short(error)))
                continue
            if other is not None:
                found.append(_beside(name, expected, lambda other=other: engines.rows(other)))  # type: ignore[misc]
    return found


def failed(trial: str, error: Exception) -> Outcome:
    """Return the outcome of a plan that gives no rows. Errors that the data makes are expected."""
    text = short(error)
    if isinstance(error, UnsupportedPlanError):
        late = "Spark refuses the plan's statement" in text and "[UNSUPPORTED_" not in text
        return Outcome(trial, "fault" if late else "refused", text)
    if isinstance(error, ExecutionError) and "failed on its data" in text:
        return Outcome(trial, "fails on its data", text)
    return Outcome(trial, "fault", text)


def _beside(trial: str, expected: pa.Table, rows: Callable[[], pa.Table]) -> Outcome:
    try:
        found = rows()
    except Exception as error:
        return failed(trial, error)
    return compared(trial, difference(found, expected))


def alone(found: Outcome) -> Outcome:
    """Return the outcome of a plan beside one that has rows: it must not fail on the data."""
    return replace(found, outcome="fails alone") if found.outcome == "fails on its data" else found


def _beside_reference(plan: Plan, expected: pa.Table, engines: Engines) -> Outcome:
    assert engines.evaluate is not None
    try:
        found = engines.evaluate(plan, TABLES)
    except engines.refusals as error:
        return Outcome("reference", type(error).__name__, short(error))
    except Exception as error:
        must_fail = engines.failure is not None and isinstance(error, engines.failure)
        return Outcome("reference", "does not fail" if must_fail else "fault", short(error))
    return compared("reference", found.difference(expected))


def _without_rows(plan: Plan, failed: Outcome, engines: Engines) -> Outcome:
    """The outcome of a plan that fails on Spark: the evaluator has to fail, too."""
    assert engines.evaluate is not None
    try:
        engines.evaluate(plan, TABLES)
    except engines.refusals as error:
        return Outcome("reference", type(error).__name__, short(error))
    except Exception as error:
        must_fail = engines.failure is not None and isinstance(error, engines.failure)
        return Outcome("reference", "agrees" if must_fail else "fault", short(error))
    return Outcome("reference", "fails alone", failed.why)


def beside_datafusion(
    trial: str, plan: Plan, expected: pa.Table, context: Any, tables: Mapping[str, pa.Table]
) -> Outcome:
    """Return the outcome of a plan in DataFusion, whose context has the tables."""
    from datafusion.substrait import Consumer, Serde

    try:
        converted = ps.for_target(plan, "datafusion", tables=tables)
    except Exception as error:
        return failed(trial, error)
    try:
        logical = Consumer.from_substrait_plan(context, Serde.deserialize_bytes(converted.to_bytes()))
        found = context.create_dataframe_from_logical_plan(logical).to_arrow_table()
    except BaseException as error:  # a panic of Rust isn't an Exception
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        return Outcome(trial, "not run", short(error))
    if any("interval" in str(field.type) or "duration" in str(field.type) for field in found.schema):
        return Outcome(trial, "not compared", "intervals have other forms in Arrow")
    doubt = next((f"{note}" for note in converted.notes if _DOUBTS.match(note.rule)), "")
    return compared(trial, difference(found, expected), doubt)


def compared(trial: str, different: str | None, doubt: str = "") -> Outcome:
    """Return the outcome of a comparison of rows.

    Args:
        trial: the trial.
        different: the first difference; None if there is none.
        doubt: a note by which they may differ.
    """
    if different is None:
        return Outcome(trial, "agrees")
    return Outcome(trial, "noted", f"{different}; {doubt}") if doubt else Outcome(trial, "differs", different)

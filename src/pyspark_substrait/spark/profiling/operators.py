"""The operators that Spark ran, as a tree with their metrics, and the counts that it observed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from pyspark_substrait.spark.producer.transfer import event_json

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["ExecutedOperators", "Operator", "executed_operators", "with_names"]

#: the metrics that are used: their names here, by the names in Spark and in Spark Connect
_METRICS: Final = {
    "duration": "duration",
    "pipelineTime": "duration",
    "scan time": "scan time",
    "scanTime": "scan time",
    "size of files read": "bytes",
    "filesSize": "bytes",
    "shuffle write time": "write time",
    "shuffleWriteTime": "write time",
    "number of output rows": "rows",
    "numOutputRows": "rows",
    "number of partitions": "partitions",
    "numPartitions": "partitions",
}
_WRAPPERS: Final = (
    "AdaptiveSparkPlan",
    "AQEShuffleRead",
    "BroadcastQueryStage",
    "InputAdapter",
    "ResultQueryStage",
    "ShuffleQueryStage",
    "WholeStageCodegen",
)
_UNITS: Final = {"timing": 1e-3, "nsTiming": 1e-9}


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """An operator of Spark.

    Args:
        name: like ``Exchange`` or ``CollectMetrics``.
        text: the operator in one line, as ``explain`` prints it; empty if it isn't known.
        metrics: the measurements of Spark: output ``rows``, ``bytes`` of files, ``partitions`` of a shuffle; and the
            total seconds of all tasks for a scan (``scan time``), for operators that are compiled together
            (``duration``), and for writing a shuffle (``write time``).
        children: its inputs, and the queries of the subqueries in it.
    """

    name: str
    text: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    children: tuple[Operator, ...] = ()

    @property
    def is_border(self) -> bool:
        """Whether the operators below run separately: in another stage, or as another query."""
        return self.name in ("Exchange", "BroadcastExchange") or self.name.startswith("Subquery")

    @property
    def is_wrapper(self) -> bool:
        """Whether it does no work itself, but shows how the operators below it run."""
        return self.name.startswith(_WRAPPERS)

    @property
    def observes(self) -> bool:
        """Whether it counts the records that pass."""
        return self.name == "CollectMetrics"

    @property
    def observation(self) -> str:
        """The name of its count; empty if it isn't known."""
        found = re.match(r"CollectMetrics (\w+),", self.text)
        return found[1] if found else ""

    @property
    def is_scan(self) -> bool:
        """Whether it reads files."""
        return self.name.startswith("Scan ") and "bytes" in self.metrics

    def walk(self) -> Iterator[Operator]:
        """The operator and all below it, each before its children."""
        pending = [self]
        while pending:
            current = pending.pop()
            yield current
            pending.extend(reversed(current.children))


@dataclass(frozen=True, slots=True)
class ExecutedOperators:
    """The operators that ran, or None if they aren't known; and the counts by their names."""

    operators: Operator | None
    counts: Mapping[str, int]


def executed_operators(frame: DataFrame) -> ExecutedOperators:
    """Return the operators that Spark executed for a DataFrame whose rows were fetched."""
    if hasattr(frame, "_jdf"):
        return _classic(frame)
    return _connect(frame)


# classic sessions -----------------------------------------------------------------------------------------------------


def _classic(frame: Any) -> ExecutedOperators:
    jvm, execution = frame.sparkSession._jvm, frame._jdf.queryExecution()
    # only names and numbers that this package has set
    observed = execution.observedMetrics().mkString("\n")
    counts = {name: int(count) for name, count in re.findall(r"^(\w+) -> \[(\d+)\]$", observed, re.MULTILINE)}
    sql = jvm.org.apache.spark.sql.execution
    info = sql.SparkPlanInfo.fromSparkPlan(execution.executedPlan())
    event = sql.ui.SparkListenerSQLAdaptiveExecutionUpdate(0, "", info)
    tree = event_json(event)
    return ExecutedOperators(_operator(tree["sparkPlanInfo"], jvm.org.apache.spark.util.AccumulatorContext), counts)


def _operator(node: Mapping[str, Any], accumulators: Any) -> Operator:
    metrics = {}
    for metric in node["metrics"]:
        if metric["name"] in _METRICS:
            found = accumulators.get(metric["accumulatorId"])
            if found.isDefined():
                metrics[_METRICS[metric["name"]]] = found.get().value() * _UNITS.get(metric["metricType"], 1)
    children = tuple(_operator(child, accumulators) for child in node["children"])
    return Operator(name=node["nodeName"], text=node["simpleString"], metrics=metrics, children=children)


# Spark Connect --------------------------------------------------------------------------------------------------------


def _connect(frame: Any) -> ExecutedOperators:
    info = frame.executionInfo
    if info is None:
        return ExecutedOperators(None, {})
    counts = {name: int(pairs["rows"]) for name, pairs in info.flows if "rows" in pairs}
    nodes = info.metrics._metrics if info.metrics is not None else []
    below: dict[int, list[Any]] = {}
    tops = [node for node in nodes if node.parent_plan_id == node.plan_id]
    for node in nodes:
        if node.parent_plan_id != node.plan_id:
            below.setdefault(node.parent_plan_id, []).append(node)
    return ExecutedOperators(_of_connect(tops[0], below) if len(tops) == 1 else None, counts)


def _of_connect(node: Any, below: Mapping[int, list[Any]]) -> Operator:
    metrics = {
        _METRICS[metric.name]: metric.value * _UNITS.get(metric.metric_type, 1)
        for metric in node.metrics
        if metric.name in _METRICS
    }
    children = tuple(_of_connect(child, below) for child in below.get(node.plan_id, []))
    return Operator(name=node.name, metrics=metrics, children=children)


def with_names(ran: ExecutedOperators, names: Sequence[str]) -> ExecutedOperators:
    """Add the names of counts, which Spark Connect doesn't report, to the operators, if they can be determined.

    Args:
        ran: what ran.
        names: the names in the order of the relations, each before those below it. Spark's operators have that order,
            unless it joins in another order; then the output rows of the operators don't agree with the counts.
    """
    if ran.operators is None:
        return ran
    found = [node for node in ran.operators.walk() if node.observes]
    wanted = [name for name in names if name in ran.counts]
    if not found or any(node.text for node in found) or len(found) != len(wanted):
        return ran
    if any(_rows_below(node) not in (None, ran.counts[name]) for node, name in zip(found, wanted, strict=True)):
        return ran
    named = {id(node): f"CollectMetrics {name}, []" for node, name in zip(found, wanted, strict=True)}
    return replace(ran, operators=_renamed(ran.operators, named))


def _rows_below(node: Operator) -> float | None:
    """The number of input rows of an operator, if Spark counted them in the operator below; else None."""
    while len(node.children) == 1 and not node.is_border:
        node = node.children[0]
        if node.observes or "rows" in node.metrics:
            return node.metrics.get("rows")
    return None


def _renamed(node: Operator, texts: Mapping[int, str]) -> Operator:
    children = tuple(_renamed(child, texts) for child in node.children)
    return replace(node, text=texts.get(id(node), node.text), children=children)

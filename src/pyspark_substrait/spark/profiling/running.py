"""Run a plan once, and profile its relations."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pyspark_substrait.analysis.profile import Basis, Figure, Profile, RelationProfile
from pyspark_substrait.analysis.profile.rows import RowCounts, relations_of, row_counts, stopped_early
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.findings import Places
from pyspark_substrait.model.limits import RunLimits
from pyspark_substrait.model.plan import Plan
from pyspark_substrait.model.relations import DetachedRel, NamedTable, Read, Relation
from pyspark_substrait.model.walk import writes
from pyspark_substrait.spark.profiling.cost_attribution import RelationCost, attributed_costs
from pyspark_substrait.spark.profiling.observation import ObservationPlanner
from pyspark_substrait.spark.profiling.operators import ExecutedOperators, executed_operators, with_names
from pyspark_substrait.spark.profiling.reliable_counts import reliable_counts
from pyspark_substrait.spark.run import collect
from pyspark_substrait.spark.session_start import embedded_session
from pyspark_substrait.spark.tables import Given, Tables, stored_rows
from pyspark_substrait.sql.compiler.statement import root

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["profile"]


def profile(
    plan: Plan,
    places: Places,
    spark: SparkSession | None,
    *,
    registry: Registry,
    tables: Given | None = None,
    parameters: Mapping[int, object] | None = None,
    allowed_paths: Sequence[str | os.PathLike[str]] = (),
    limit: int | None = None,
    chosen: int | None = None,
    exact: bool = False,
    progress: bool | None = None,
    refuse_slow_patterns: bool = False,
    limits: RunLimits | None = None,
) -> Profile:
    """Run a plan once, and return its profile.

    Args:
        plan: the plan.
        places: the paths of its relations.
        exact: whether to count every relation, even if that prevents Spark from optimizing across it.

    Other arguments, and errors, are those of :func:`~pyspark_substrait.spark.run.collect`.

    Raises:
        UnsupportedPlanError: the plan changes tables.
    """
    _, tree, _ = root(plan, chosen)
    if writes(tree):
        raise UnsupportedPlanError(
            "a plan that changes tables has no profile: what is written is done by other statements",
            hint="Profile a plan with the input of the relation that writes as its root",
        )
    session = embedded_session() if spark is None else spark
    stored = _Stored(tables, session)
    watch = ObservationPlanner(places=places, stored=stored, limited=limit is not None, exact=exact)
    seen: list[tuple[float, ExecutedOperators]] = []
    start = time.perf_counter()

    def look(frame: DataFrame) -> None:
        seconds = time.perf_counter() - start
        seen.append((seconds, executed_operators(frame)))

    result = collect(
        plan,
        session,
        registry=registry,
        tables=tables,
        parameters=parameters,
        allowed_paths=allowed_paths,
        limit=limit,
        chosen=chosen,
        progress=progress,
        refuse_slow_patterns=refuse_slow_patterns,
        limits=limits,
        counting=watch,
        ran=look,
    )
    seconds, happened = seen[0]
    relations = _relations(tree, places, watch, happened, stored, result.num_rows)
    return Profile(document=plan, relations=relations, seconds=seconds, rows=result, exact=exact, places=places)


class _Stored:
    """The row counts of the caller's tables that are known without reading them."""

    def __init__(self, tables: Given | None, spark: SparkSession) -> None:
        case_sensitive = str(spark.conf.get("spark.sql.caseSensitive", "false")).lower() == "true"
        self._tables = Tables(tables, spark, case_sensitive=case_sensitive)
        self._known: dict[tuple[str, ...], int | None] = {}

    def __call__(self, node: Read) -> int | None:
        if not isinstance(node.read_type, NamedTable):
            return None
        names = node.read_type.names
        if names not in self._known:
            source = self._tables.source(names)
            self._known[names] = None if source is None else stored_rows(source)
        return self._known[names]


def _relations(
    tree: Relation, places: Places, watch: ObservationPlanner, happened: ExecutedOperators, stored: _Stored, result: int
) -> tuple[RelationProfile, ...]:
    nodes = relations_of(tree)
    names = {id(node): name for name, node in watch.names.items()}
    happened = with_names(happened, [names[id(node)] for node in nodes if id(node) in names])
    counts, unsure = reliable_counts(happened.operators, happened.counts)
    measured = {id(node): counts[name] for name, node in watch.names.items() if name in counts}
    measured[id(tree)] = result
    early = stopped_early(tree, watch.limited)
    counted = RowCounts(
        measured=measured,
        stored={id(node): count for node in nodes if isinstance(node, Read) and (count := stored(node)) is not None},
        uncertain=frozenset(id(watch.names[name]) for name in unsure if name in watch.names),
        early=frozenset(early),
    )
    known = row_counts(tree, counted)
    spent = attributed_costs(happened.operators, watch.names, nodes, known)
    total = sum(item.seconds.value for item in spent.values() if item.seconds is not None)
    profiles: dict[str, RelationProfile] = {}
    for node in nodes:
        path = places.path(node)
        if path is None or path in profiles:
            continue
        item = spent.get(id(node), RelationCost())
        share = None if item.seconds is None or not total else Figure(item.seconds.value / total, item.seconds.basis)
        profiles[path] = RelationProfile(
            path=path,
            name="Detached" if isinstance(node, DetachedRel) else node.__class__.__name__,
            rows_in=tuple(known.get(id(input)) for input in node.inputs),
            rows_out=known.get(id(node)),
            bytes_read=item.bytes_read,
            seconds=item.seconds,
            time_share=share,
            note=_note(node, known.get(id(node)), watch, counted),
        )
    return tuple(profiles.values())


def _note(node: Relation, figure: Figure | None, watch: ObservationPlanner, counted: RowCounts) -> str:
    if figure is None:
        return watch.reason(node)
    if id(node) in counted.uncertain:
        return "at least: the merge join above stops where its other input ends"
    if id(node) in counted.early and figure.basis is Basis.MEASURED:
        return "as far as what is above asked"
    return ""

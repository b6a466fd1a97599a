"""Running a plan on several engines."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from pyspark_substrait.analysis.comparison import (
    Comparison,
    Disagreement,
    EngineResult,
    RowDifference,
    SmallestPart,
    difference,
    smallest_part,
)
from pyspark_substrait.api.bind import bind
from pyspark_substrait.api.explain import explain, touches
from pyspark_substrait.api.for_target import for_target
from pyspark_substrait.api.loading import PlanSource, extensions_of, file_of, understood
from pyspark_substrait.api.run import run_query
from pyspark_substrait.api.to_sql import to_sql
from pyspark_substrait.documents import Plan, as_document
from pyspark_substrait.engines import sessions
from pyspark_substrait.errors import InvalidPlanError, SubstraitError, UnsupportedPlanError
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.types import name_count
from pyspark_substrait.spark.arrow_transfer import collected
from pyspark_substrait.spark.compatibility import is_frame
from pyspark_substrait.spark.session_start import embedded_session

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from pyspark_substrait.extensions.registry import Registry

__all__ = ["compare"]

_OTHERS: Final = ("datafusion", "duckdb")


def compare(
    plan: PlanSource,
    engines: Sequence[str] | None = None,
    *,
    tables: Mapping[str, Any],
    rename: Mapping[str, str | tuple[str, ...]] | None = None,
    root: int | None = None,
    bisect: bool = True,
    tolerance: float = 1e-9,
    rows: int = 10,
    spark: SparkSession | None = None,
    registry: Registry | None = None,
) -> Comparison:
    """Run a plan on several engines, and report which rows differ and on which part of the plan.

    The plan is fitted to the tables first (:func:`bind`), then brought into the form of each engine
    (:func:`for_target`). DuckDB, which has no Substrait of its own any more, gets SQL (:func:`to_sql`). The rows of
    each engine are compared with those of the first that gives any; their order doesn't count.

    Where two differ, their rows are compared for parts of the plan, down to a relation whose inputs agree.

    Args:
        plan: the plan, or anything that :func:`load` takes.
        engines: of ``spark``, ``datafusion``, ``duckdb`` and ``acero``; by default Spark and those of DataFusion and
            DuckDB that are installed.
        tables: Arrow data or paths of Parquet, Arrow or CSV files by name.
        rename: the names of tables by the names that the plan has for them, where these differ.
        root: which root of the plan, from 0; needed where it has several.
        bisect: whether to look for the smallest part of the plan on which engines differ.
        tolerance: the largest relative difference of floating-point numbers that counts as none.
        rows: the most rows to report of each engine.
        spark: the Spark session; by default the running one, or an embedded one that is started.
        registry: the extensions; by default those of the specification.

    Raises:
        InvalidPlanError, PlanFormatError: the plan is wrong, or has several roots and none is chosen.
        TableError: it doesn't fit the tables.
        UnsupportedPlanError: there is no such engine, or the plan names files or changes something.

    Examples:
        >>> from pyspark_substrait.builder import count, read
        >>> plan = read("orders", {"product_id": "i64?"}).group_by("product_id").agg(n=count()).to_plan()
        >>> tables = {"orders": substrait.samples.tables()["orders"]}
        >>> found = substrait.compare(plan, ["datafusion", "duckdb"], tables=tables)
        >>> found.agree
        True
    """
    file = file_of(plan)
    name = "plan" if file is None else str(file)
    wanted = engines or ("spark", *filter(sessions.is_installed, _OTHERS))
    for engine in wanted:
        if engine != "spark":
            sessions.release(engine)
    known = extensions_of(plan, registry)
    found = understood(bind(plan, tables, rename=rename, registry=known), known)
    document = as_document(found.document, deep=False, registry=registry)
    assert isinstance(document, Plan)
    chosen = _root(document, root)
    _refuse_effects(document)
    running = _Running(document, tables, spark, known)
    results: list[EngineResult] = []
    first: tuple[str, pa.Table] | None = None
    disagreements: list[Disagreement] = []
    for engine in wanted:
        result, table = running.result(engine, chosen)
        results.append(result)
        if table is None:
            continue
        if first is None:
            first = engine, table
            continue
        differing = difference(first[1], table, tolerance=tolerance, shown=rows)
        if differing is None:
            continue
        part = None
        if bisect:
            compared = running.comparing(first[0], engine, tolerance, rows)
            smallest = smallest_part(chosen.input, differing, compared)
            part = SmallestPart(
                path=found.places.path(smallest.relation) or "",
                text=str(explain(running.part(_with_names(smallest.relation)))),
                difference=smallest.difference,
                unknown=smallest.unknown,
            )
        disagreements.append(Disagreement(first=first[0], second=engine, difference=differing, part=part))
    return Comparison(name=name, results=tuple(results), disagreements=tuple(disagreements))


def _refuse_effects(plan: Plan) -> None:
    """Refuse a plan that names files, which engines would open, or that changes something, as often as it is run.

    Raises:
        UnsupportedPlanError: it does.
    """
    for touch in touches(plan):
        if touch.action.changes:
            raise UnsupportedPlanError(f"the plan would {touch}, and a comparison changes nothing", path=touch.path)
        if touch.kind in ("files", "Iceberg table"):
            raise UnsupportedPlanError(
                f"the plan names files: it would {touch}",
                path=touch.path,
                hint="Read a named table instead, and give its file as a table",
            )


class _Running:
    """Runs parts of a plan on engines, each of which is started once."""

    def __init__(self, plan: Plan, tables: Mapping[str, Any], spark: SparkSession | None, registry: Registry) -> None:
        self._plan = plan
        self._tables = tables
        self._spark = spark
        self._registry = registry
        self._sessions: dict[str, sessions.EngineSession] = {}

    def part(self, root: RelRoot) -> Plan:
        """Return the plan with another root, and the trees that it may refer to."""
        others = tuple(tree for tree in self._plan.relations if not isinstance(tree, RelRoot))
        return replace(self._plan, relations=(*others, root), notes=(), upgrades=())

    def result(self, engine: str, root: RelRoot) -> tuple[EngineResult, pa.Table | None]:
        """Return what an engine does with a root, and its rows."""
        release = version("pyspark") if engine == "spark" else sessions.release(engine)
        try:
            session = self._session(engine)
            started = time.perf_counter()
            table = self._rows(engine, session, self.part(root))
            seconds = time.perf_counter() - started
        except SubstraitError as error:
            return EngineResult(engine=engine, version=release, refusal=str(error)), None
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # of another library, whose faults may be panics
            text = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"
            return EngineResult(engine=engine, version=release, refusal=text), None
        return EngineResult(engine=engine, version=release, rows=table.num_rows, seconds=seconds), table

    def _session(self, engine: str) -> sessions.EngineSession | None:
        """Return an engine with the tables, started; None for Spark."""
        if engine == "spark":
            self._spark = self._spark or embedded_session()
            return None
        if engine not in self._sessions:
            tables = {name: collected(found) if is_frame(found) else found for name, found in self._tables.items()}
            self._sessions[engine] = sessions.session(engine, tables)
        return self._sessions[engine]

    def _rows(self, engine: str, session: sessions.EngineSession | None, plan: Plan) -> pa.Table:
        if session is None:
            return run_query(plan, tables=self._tables, spark=self._spark, progress=False, registry=self._registry)
        if engine == "duckdb":
            return session.run(to_sql(plan, registry=self._registry, dialect="duckdb", formatted=False))
        return session.run(for_target(plan, engine, registry=self._registry).to_bytes())

    def comparing(
        self, first: str, second: str, tolerance: float, rows: int
    ) -> Callable[[Relation], RowDifference | bool]:
        """Return a function that compares two engines on a relation: their difference, or whether both gave rows."""

        def compared(relation: Relation) -> RowDifference | bool:
            root = _with_names(relation)
            one = self.result(first, root)[1]
            other = None if one is None else self.result(second, root)[1]
            if one is None or other is None:
                return False
            return difference(one, other, tolerance=tolerance, shown=rows) or True

        return compared


def _root(plan: Plan, number: int | None) -> RelRoot:
    roots = [tree for tree in plan.relations if isinstance(tree, RelRoot)]
    if number is None and len(roots) != 1:
        raise InvalidPlanError(f"the plan has {len(roots)} roots", hint="Choose one with root=…")
    if number is not None and not 0 <= number < len(roots):
        raise InvalidPlanError(f"the plan has no root {number}", hint=f"It has {len(roots)}, counted from 0")
    return roots[number or 0]


def _with_names(relation: Relation) -> RelRoot:
    """Return a root of a relation, with names for its columns."""
    count = name_count(relation.schema)
    return RelRoot(input=relation, names=tuple(f"c{number}" for number in range(count)))

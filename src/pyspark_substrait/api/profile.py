"""Running plans with figures for each relation."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark_substrait.api.bind import lacks_types, with_types
from pyspark_substrait.api.loading import PlanSource, understood
from pyspark_substrait.documents import Plan, as_document
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.deep_stack import with_deep_stack
from pyspark_substrait.model.limits import RunLimits
from pyspark_substrait.spark.missing_tables import refuse_missing_tables
from pyspark_substrait.spark.profiling.running import profile as profiled
from pyspark_substrait.spark.progress import interruptible
from pyspark_substrait.spark.run_limits import bounded
from pyspark_substrait.spark.session_start import embedded_session
from pyspark_substrait.spark.thread_properties import with_thread_properties

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pyspark_substrait.analysis.profile import Profile
    from pyspark_substrait.spark.tables import Given

__all__ = ["profile"]


def profile(
    plan: PlanSource,
    spark: SparkSession | None = None,
    *,
    tables: Given | None = None,
    parameters: Mapping[int, object] | None = None,
    allowed_paths: Sequence[str | os.PathLike[str]] = (),
    registry: Registry | None = None,
    root: int | None = None,
    limit: int | None = None,
    exact: bool = False,
    progress: bool | None = None,
    refuse_slow_patterns: bool = False,
    limits: RunLimits | None = None,
) -> Profile:
    """Run a plan once, and measure for each relation the rows in and out, the bytes read, and the time.

    Printed, it is the text of :func:`explain` with the figures beside the relations. Each figure states whether it was
    measured, calculated from others, or estimated; unknown figures are None. The result is that of :func:`run_query`.

    Args:
        plan: the plan, or anything that :func:`load` takes.
        spark: a classic or Spark Connect session; by default the running one, or an embedded one that is started.
        exact: whether to count every relation, even where Spark would run several as one. Conditions then aren't pushed
            down into the relations below them, so the plan may run much longer.

    Other arguments are those of :func:`run_query`.

    Raises:
        UnsupportedPlanError: the plan changes tables, or can't run on Spark.
        PlanFormatError, InvalidPlanError, TableError, ParameterError, ExecutionError: as for :func:`run_query`.

    Examples:
        >>> profile = substrait.profile(substrait.samples.plan(), tables=substrait.samples.tables())
        >>> profile.rows.num_rows
        4
        >>> [relation.rows_out.value for relation in profile.relations][:2]
        [4, 4]
    """
    own = registry or (plan.registry if isinstance(plan, Plan) else None)
    known = own or Registry.default()

    def made(deep: bool = False) -> Profile:
        found = understood(plan, known)
        document = as_document(found.document, deep=deep, registry=own)
        if not isinstance(document, Plan):
            raise InvalidPlanError("this is an extended expression, which has no relations to profile")
        if spark is None:
            refuse_missing_tables(document, tables, root)
        if lacks_types(document):
            bound = with_types(document, tables, spark or embedded_session(), known)
            found = understood(bound, known)
            made_of = as_document(found.document, deep=deep, registry=own)
            assert isinstance(made_of, Plan)
            document = replace(made_of, notes=bound.notes)
        return profiled(
            document,
            found.places,
            spark,
            registry=known,
            tables=tables,
            parameters=parameters,
            allowed_paths=allowed_paths,
            limit=limit,
            chosen=root,
            exact=exact,
            progress=progress,
            refuse_slow_patterns=refuse_slow_patterns,
            limits=limits,
        )

    def called() -> Profile:
        try:
            return made()
        except RecursionError:
            return with_deep_stack(with_thread_properties(spark, lambda: made(True)))

    with interruptible():
        return called() if limits is None else bounded(spark or embedded_session(), limits, called)

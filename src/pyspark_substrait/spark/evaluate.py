"""Run extended expressions as plans: a read of the data, and a projection or an aggregate over it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING

from pyspark_substrait.errors import InvalidPlanError, SubstraitError, UnsupportedPlanError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.expressions import AggregateFunction, Expression
from pyspark_substrait.model.limits import RunLimits
from pyspark_substrait.model.plan import ExtendedExpression, Plan, RelRoot
from pyspark_substrait.model.relations import Aggregate, Measure, NamedTable, Project, Read, Relation
from pyspark_substrait.spark import run
from pyspark_substrait.spark.tables import TableSource

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["as_plan", "collect", "dataframe", "session_of"]

#: the name that the data has in the plan
_DATA = "data"


def dataframe(
    document: ExtendedExpression,
    data: TableSource,
    spark: SparkSession | None,
    *,
    registry: Registry,
    parameters: Mapping[int, object] | None = None,
    refuse_slow_patterns: bool = False,
) -> DataFrame:
    """Return the expressions over the records of a table as a DataFrame, analysed and not yet run.

    Raises:
        InvalidPlanError, UnsupportedPlanError, TableError, ParameterError: as for a plan, with paths in the extended
            expression.
    """
    with _located():
        return run.dataframe(
            as_plan(document),
            spark or session_of(data),
            registry=registry,
            tables={_DATA: data},
            parameters=parameters,
            refuse_slow_patterns=refuse_slow_patterns,
        )


def collect(
    document: ExtendedExpression,
    data: TableSource,
    spark: SparkSession | None,
    *,
    registry: Registry,
    parameters: Mapping[int, object] | None = None,
    limit: int | None = None,
    progress: bool | None = None,
    refuse_slow_patterns: bool = False,
    limits: RunLimits | None = None,
) -> pa.Table:
    """Return the expressions over the records of a table as an Arrow table, of all records or of ``limit``.

    Raises:
        ExecutionError: an expression fails on its data.
    """
    with _located():
        return run.collect(
            as_plan(document),
            spark or session_of(data),
            registry=registry,
            tables={_DATA: data},
            parameters=parameters,
            limit=limit,
            progress=progress,
            refuse_slow_patterns=refuse_slow_patterns,
            limits=limits,
        )


def session_of(data: TableSource) -> SparkSession | None:
    """The session of a DataFrame; None for a table that belongs to none."""
    session: SparkSession | None = getattr(data, "sparkSession", None)
    return session


def as_plan(document: ExtendedExpression) -> Plan:
    """The plan that computes every expression, or every measure, over a table named ``data``.

    Expressions give a record for each record; measures give one record in all, as an aggregate without keys does.

    Raises:
        InvalidPlanError: there is no expression.
        UnsupportedPlanError: there are both expressions and measures.
    """
    expressions: list[Expression] = []
    measures: list[Measure] = []
    for position, item in enumerate(document.referred_expr):
        if isinstance(item.expr, AggregateFunction):
            measures.append(Measure(measure=item.expr))
        else:
            expressions.append(item.expr)
        if measures and expressions:
            raise UnsupportedPlanError(
                "measures and expressions are mixed: measures give one value for all records, expressions one for each",
                path=f"referred_expr[{position}]",
                hint="Evaluate them apart",
            )
    read = Read(base_schema=document.base_schema, read_type=NamedTable(names=(_DATA,)))
    node: Relation
    if measures:
        node = Aggregate(input=read, measures=tuple(measures))
    elif expressions:
        node = Project.only(read, expressions)
    else:
        raise InvalidPlanError("there is no expression", path="referred_expr")
    names = chain.from_iterable(item.output_names for item in document.referred_expr)
    return Plan(relations=(RelRoot(input=node, names=tuple(names)),), advanced_extensions=document.advanced_extensions)


@contextmanager
def _located() -> Iterator[None]:
    """Change the paths of errors in the plan of an extended expression to paths in the extended expression."""
    try:
        yield
    except SubstraitError as error:
        for place, path in _PLACES:
            error.path = place.sub(path, error.path, count=1)
        raise


_ROOT = r"^relations\[0\]\.root\.input"
_PLACES = (
    (re.compile(_ROOT + r"\.project\.expressions\[(\d+)\]"), r"referred_expr[\1].expression"),
    (re.compile(_ROOT + r"\.aggregate\.measures\[(\d+)\]\.measure"), r"referred_expr[\1].measure"),
    (re.compile(_ROOT + r"\.(?:project|aggregate)\.input\.read(?:\.named_table)?"), "base_schema"),
    (re.compile(r"^relations\[0\]\.root(?:\.input|\.names)?(?:\.(?:project|aggregate))?"), "referred_expr"),
)

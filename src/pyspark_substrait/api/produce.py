"""Plans from Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark_substrait.documents import ExtendedExpression, Plan, as_document
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.deep_stack import with_deep_stack

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from pyspark_substrait import model
    from pyspark_substrait.spark.producer.plan import PandasOnSpark
    from pyspark_substrait.spark.producer.sql import Arguments, SqlTables

__all__ = ["from_sql", "to_substrait", "to_substrait_expressions"]


def to_substrait(
    frame: DataFrame | PandasOnSpark,
    *,
    tables: Iterable[str] | Mapping[Any, DataFrame] = (),
    max_rows: int = 10_000,
    optimized: bool = False,
    portable: bool = False,
    target: str | None = None,
    registry: Registry | None = None,
) -> Plan:
    """Return the plan of a DataFrame of a classic session, however it was made.

    Args:
        frame: the DataFrame, or one of ``pyspark.pandas``, whose index is left out.
        tables: names of views and tables that become reads of tables with that name, instead of their definitions; or
            DataFrames by name, which are replaced in the same way wherever the query reads them.
        max_rows: the most rows of in-memory data that the plan may hold, for each of its sources.
        optimized: take Spark's optimized plan instead of the analysed one, which is closer to what was written.
        portable: raise an error for operations that only Spark has, with their place in the query; otherwise they use
            an extension of this package, and are listed in the plan's ``portability``.
        target: the engine that the plan is for, as in :func:`for_target`; by default the specification alone.
        registry: the extensions; by default those of the specification.

    Raises:
        UnsupportedPlanError: something in the query has no Substrait form; the message shows it as Spark writes it.

    Examples:
        >>> orders = substrait.session().read.parquet(str(substrait.samples.tables()["orders"]))
        >>> substrait.to_substrait(orders.groupBy("product_id").count(), tables={"orders": orders})
        <Plan 0.108.0: 2 relations, result (product_id, count)>
    """
    from pyspark_substrait.spark.producer.plan import plan_from

    return _produced(
        lambda: plan_from(
            frame,
            registry=registry or Registry.default(),
            tables=tables,
            max_rows=max_rows,
            optimized=optimized,
            portable=portable,
        ),
        target,
        portable,
    )


def from_sql(
    text: str,
    spark: SparkSession | None = None,
    *,
    tables: SqlTables | None = None,
    args: Arguments | None = None,
    max_rows: int = 10_000,
    optimized: bool = False,
    portable: bool = False,
    target: str | None = None,
    registry: Registry | None = None,
    engine: str = "spark",
    dialect: str = "spark",
) -> Plan:
    """Return the plan of a query in Spark SQL, or of a statement that changes tables. Nothing is executed.

    With ``engine="datafusion"``, DataFusion's parser and planner make the plan of a query, without a JVM. It means what
    the text means in Spark SQL with its default settings, in UTC; what isn't planned with that meaning is refused.

    Args:
        text: the query or statement.
        spark: a classic session with the catalog and the views for the query; by default as for :func:`from_substrait`.
            It isn't changed.
        tables: the tables that the plan reads by name, which may have dots: tables as for :func:`from_substrait`, or
            only their schemas (of Arrow, of Spark, or a text: ``a INT, b STRING NOT NULL``).
        args: the values of the query's parameters, by name (``:name``) or in order (``?``); they become literals.
        max_rows, optimized, portable, target, registry: as for :func:`to_substrait`.
        engine: who makes the plan: ``spark``, or ``datafusion`` (in the extra ``compare``), which takes queries over
            ``tables`` only and has no ``optimized``.
        dialect: with ``datafusion``, whose SQL the text is: ``spark``, or ``datafusion`` for DataFusion's own meaning.

    Raises:
        InvalidPlanError: the engine rejects the query; the message says where.
        TableError: a value in ``tables`` isn't a table.
        ParameterError: Spark doesn't accept the value of a parameter.
        UnsupportedPlanError: as for :func:`to_substrait`; or the engine, or what is asked of it, isn't there.

    Examples:
        >>> plan = substrait.from_sql("SELECT count(*) AS n FROM orders", tables={"orders": "id BIGINT NOT NULL"})
        >>> print(substrait.explain(plan))
        Plan (0.108.0 by pyspark-substrait)
        Root[n: i64 = $0]
          Aggregate[one group => $0: i64 = count(*)]
            Read[orders => id: i64]
    """
    known = registry or Registry.default()
    if engine == "datafusion":
        if spark is not None or optimized:
            raise UnsupportedPlanError(
                "DataFusion makes plans without a session of Spark and its optimizer",
                hint="Leave the session and optimized=True away, and give the tables",
            )
        return _produced(lambda: _planned(text, tables, args, known, dialect), target, portable)
    if engine != "spark" or dialect != "spark":
        raise UnsupportedPlanError(
            f"there is no engine {engine!r} that makes plans of SQL in the dialect {dialect!r}",
            hint='Write engine="spark", or engine="datafusion" with dialect="spark" or "datafusion"',
        )
    from pyspark_substrait.spark.producer.sql import plan_of_text

    return _produced(
        lambda: plan_of_text(
            text,
            spark,
            registry=known,
            tables=tables,
            args=args,
            max_rows=max_rows,
            optimized=optimized,
            portable=portable,
        ),
        target,
        portable,
    )


def _planned(
    text: str, tables: SqlTables | None, args: Arguments | None, registry: Registry, dialect: str
) -> model.plan.Plan:
    """Return the plan of a query that DataFusion makes, in the meaning of a dialect."""
    from pyspark_substrait.planner.plan import plan_in_own_dialect, plan_of_text

    if dialect == "spark":
        return plan_of_text(text, tables=tables, args=args, registry=registry)
    if dialect != "datafusion":
        raise UnsupportedPlanError(f"there is no dialect {dialect!r}", hint="There are spark and datafusion")
    if args:
        raise UnsupportedPlanError(
            "parameters are those of Spark SQL", hint='Write the values, or leave dialect="datafusion" out'
        )
    return plan_in_own_dialect(text, tables=tables, registry=registry)


def to_substrait_expressions(
    schema: DataFrame | StructType | str,
    columns: Column | Sequence[Column | str] | Mapping[str, Column],
    *,
    names: Sequence[str] | None = None,
    spark: SparkSession | None = None,
    portable: bool = False,
    registry: Registry | None = None,
) -> ExtendedExpression:
    """Return columns of a classic session as an extended expression, which other engines can evaluate on their data.

    Args:
        schema: the schema of the records: a Spark schema, its text (``"a INT, b STRING"``), or a DataFrame that has it.
        columns: the columns, or columns by name.
        names: their names; by default those that Spark gives them.
        spark: a classic session; by default that of the DataFrame, or the running one.
        portable: raise an error for operations that only Spark has, as for :func:`to_substrait`.
        registry: the extensions; by default those of the specification.

    Raises:
        InvalidPlanError: there is no session, or not as many names as columns.
        UnsupportedPlanError: something in a column has no Substrait form, or depends on more than one record.

    Examples:
        >>> from pyspark.sql import functions as F
        >>> substrait.to_substrait_expressions("a INT, s STRING", {"next": F.col("a") + 1})
        <ExtendedExpression 0.108.0: 1 expression (next)>
    """
    from pyspark_substrait.spark.producer.columns import expressions_from

    known = registry or Registry.default()
    made = expressions_from(schema, columns, names=names, spark=spark, registry=known, portable=portable)
    document = as_document(made, deep=False)
    assert isinstance(document, ExtendedExpression)
    return document


def _produced(produce: Callable[[], model.plan.Plan], target: str | None, portable: bool) -> Plan:
    """Return a plan from Spark, with the release that it is of, on a stack that is large enough for its depth."""
    deep = False
    try:
        made = produce()
    except RecursionError:
        made, deep = with_deep_stack(produce), True
    document = as_document(made, deep=deep)
    assert isinstance(document, Plan)
    for use in document.portability if portable else ():
        raise UnsupportedPlanError(
            f"the plan needs the {use.kind} {use.name} of an extension", path=use.path, hint="Leave portable=True away"
        )
    if target is None:
        return document
    from pyspark_substrait.api.for_target import for_target

    return for_target(document, target)

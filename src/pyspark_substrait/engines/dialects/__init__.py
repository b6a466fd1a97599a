"""Plans as SQL for engines other than Spark.

One compiler turns relations into trees of sqlglot (:mod:`relations`); a :class:`~dialect.Dialect` has what engines
differ in as data: types, constants, casts, clauses, and a row for each meaning of a function. What a dialect cannot
express with exactly the plan's meaning is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyspark_substrait.engines.dialects.bigquery import BIGQUERY
from pyspark_substrait.engines.dialects.datafusion import DATAFUSION_SQL
from pyspark_substrait.engines.dialects.dialect import Dialect
from pyspark_substrait.engines.dialects.duckdb import DUCKDB
from pyspark_substrait.engines.dialects.postgres import POSTGRES
from pyspark_substrait.engines.dialects.snowflake import SNOWFLAKE
from pyspark_substrait.engines.dialects.sqlite import SQLITE
from pyspark_substrait.engines.dialects.statement import statement, view_statement
from pyspark_substrait.engines.dialects.trino import TRINO
from pyspark_substrait.errors import UnsupportedPlanError

__all__ = ["DIALECTS", "Dialect", "dialect", "statement", "view_statement"]

DIALECTS: Final[Mapping[str, Dialect]] = {
    one.name: one for one in (DUCKDB, POSTGRES, TRINO, DATAFUSION_SQL, SQLITE, SNOWFLAKE, BIGQUERY)
}


def dialect(name: str) -> Dialect:
    """Return a dialect by its name.

    Raises:
        UnsupportedPlanError: there is no such dialect.
    """
    if name not in DIALECTS:
        raise UnsupportedPlanError(f"there is no dialect `{name}`", hint=f"There are spark, {', '.join(DIALECTS)}")
    return DIALECTS[name]

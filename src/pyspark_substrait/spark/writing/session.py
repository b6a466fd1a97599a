"""What a relation that writes needs of the run it belongs to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.spark.access import Access
from pyspark_substrait.spark.tables import Table, Tables
from pyspark_substrait.sql.compiler.scope import Compilation, Sources
from pyspark_substrait.sql.compiler.statement import Statement

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Session"]


@dataclass(frozen=True, kw_only=True)
class Session:
    """What a write needs of the run it belongs to.

    Args:
        spark: the session.
        registry: the extensions.
        access: the files that the plan itself may name.
        tables: the tables that the caller gave, which no plan changes.
        frame: the rows of a relation as a DataFrame whose columns have the given names (those of nested fields
            included, depth first) and exactly the types of the relation's schema.
        statement: the statement of a relation whose reads read from other sources, with columns named likewise.
        bind: makes a table known to the query above, under the name that it returns.
        look_up_anew: forgets what was found in the catalog, where something has changed.
        compilation: a new one, for expressions that stand in a statement of another kind than a query.
        run: runs a statement of such a compilation.
        failed: the error to raise for one of Spark's own while something runs.
    """

    spark: SparkSession
    registry: Registry
    access: Access
    tables: Tables
    frame: Callable[[Relation, tuple[str, ...]], DataFrame]
    statement: Callable[[Relation, tuple[str, ...], Sources], Statement]
    bind: Callable[[Table], tuple[str, ...]]
    look_up_anew: Callable[[], None]
    compilation: Callable[[], Compilation]
    run: Callable[[str], DataFrame]
    failed: Callable[[Exception], SubstraitError]

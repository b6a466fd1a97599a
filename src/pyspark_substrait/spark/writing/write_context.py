"""The parts of a run that its writing relations use."""

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

__all__ = ["WriteContext"]


@dataclass(frozen=True, kw_only=True)
class WriteContext:
    """The parts of a run that a write uses.

    Args:
        spark: the session.
        registry: the extensions.
        access: the files that the plan itself may name.
        tables: the tables that the caller gave, which no plan changes.
        frame: returns the rows of a relation as a DataFrame with the given names of columns (including nested fields,
            depth first) and exactly the types of the relation's schema.
        statement: returns the statement of a relation over other sources, with the same arguments for names.
        bind: adds a table for the query above, and returns its name.
        look_up_anew: forgets the tables found in the catalog, because something has changed.
        compilation: returns a new compilation, for expressions in other statements than queries.
        run: runs a statement of such a compilation.
        failed: returns the error to raise for one of Spark's own at run time.
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

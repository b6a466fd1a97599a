"""The relations of a plan that write, carried out, and what stands for them in the query above."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.relations import Ddl, Relation, Update, Write
from pyspark_substrait.spark.access import Access
from pyspark_substrait.spark.tables import Table, Tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["WRITING", "Session", "carried_out"]

#: The relations that change something.
WRITING: Final = (Write, Update, Ddl)


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
        sql: the Spark SQL text of a relation over tables of the session's catalog alone, columns named likewise.
        bind: makes a table known to the query above, under the name that it returns.
    """

    spark: SparkSession
    registry: Registry
    access: Access
    tables: Tables
    frame: Callable[[Relation, tuple[str, ...]], DataFrame]
    sql: Callable[[Relation, tuple[str, ...]], str]
    bind: Callable[[Table], tuple[str, ...]]


def carried_out(node: Relation, session: Session) -> Relation:
    """Carry out the writing relations of a tree, and put in place of each a read of the records that it puts out.

    Raises:
        InvalidPlanError, UnsupportedPlanError, TableError: as for queries; then nothing was changed by that relation.
    """
    names = {Write: "write", Update: "update", Ddl: "ddl"}
    raise UnsupportedPlanError("relations that write can't be carried out yet", path=names.get(type(node), ""))

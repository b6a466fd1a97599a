"""Remove or change the records of a table that another relation lists.

Each listed record matches one equal record of the table, where null equals null, or none. If the table has a record
several times, as many of them are affected as are listed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark_substrait.errors import UnsupportedPlanError, at
from pyspark_substrait.model.relations import NamedTable, Read, Write
from pyspark_substrait.spark.writing.changes import FLAG, Flagged
from pyspark_substrait.spark.writing.stored_tables import StoredTable, depth_first, top_level
from pyspark_substrait.spark.writing.write_context import WriteContext
from pyspark_substrait.sql.compiler.types import has_map

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["ListedChanged", "ListedRemoved"]


class _Listed(Flagged):
    """A change of the records that the input of a write lists."""

    def __init__(self, node: Write, table: StoredTable, session: WriteContext, *, returning: bool) -> None:
        super().__init__(node.table_schema, table, session, returning=returning)
        self._input = node.input

    def check(self) -> None:
        for name, type in zip(self.schema.top_level_names(), self.schema.struct.types, strict=True):
            if has_map(type):
                raise UnsupportedPlanError(
                    f"{self.table.name}.{name} has a map, and Spark cannot tell whether two maps are equal",
                    hint="Let the input be the table itself, filtered, so that no record is matched by its values",
                )
        super().check()

    def check_statement(self) -> None:
        raise UnsupportedPlanError(
            f"the input lists records by value, which no statement can find one by one in {self.table.name}",
            hint="Let the input be the table itself, filtered (and projected, to update)",
        )

    def _records_there(self) -> DataFrame:
        """Return the table's records; ``k`` numbers equal ones."""
        read = Read(base_schema=self.schema, read_type=NamedTable(names=self.table.names))
        return _numbered(self.session.frame(read, depth_first(self.schema.struct)), self._names("c"), "k")

    def _names(self, prefix: str) -> tuple[str, ...]:
        return top_level(self.schema.struct, prefix)

    def _listed(self, *prefixes: str) -> DataFrame:
        """Return the input, with one set of the table's columns named after each prefix."""
        names = (name for prefix in prefixes for name in depth_first(self.schema.struct, prefix))
        with at("input"):
            return self.session.frame(self._input, tuple(names))


class ListedRemoved(_Listed):
    """Removes the listed records."""

    removes = True

    def flagged(self) -> DataFrame:
        from pyspark.sql import functions as F

        columns, keys = self._names("c"), self._names("b")
        counts = self._listed("b").groupBy(*keys).agg(F.count(F.lit(1)).alias("n"))
        matched = _equal(columns, keys) & (F.col("k") <= F.col("n"))
        return self._records_there().join(counts, matched, "left").select(*columns, F.col("n").isNotNull().alias(FLAG))


class ListedChanged(_Listed):
    """Changes the listed records: the first half of the input's columns is the old record, the rest the new one."""

    def flagged(self) -> DataFrame:
        from pyspark.sql import functions as F

        columns, before, after = map(self._names, "cba")
        listed = _numbered(self._listed("b", "a"), before, "n")
        matched = _equal(columns, before) & (F.col("k") == F.col("n"))
        there = self._records_there().join(listed, matched, "left")
        found = F.col("n").isNotNull()
        values = [
            F.when(found, F.col(new)).otherwise(F.col(old)).alias(old) for old, new in zip(columns, after, strict=True)
        ]
        return there.select(*values, found.alias(FLAG))


def _numbered(records: DataFrame, columns: tuple[str, ...], name: str) -> DataFrame:
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    equal = Window.partitionBy(*columns).orderBy(F.lit(1))
    return records.withColumn(name, F.row_number().over(equal))


def _equal(left: tuple[str, ...], right: tuple[str, ...]) -> Column:
    from pyspark.sql import functions as F

    found = F.lit(True)
    for one, other in zip(left, right, strict=True):
        found = found & F.col(one).eqNullSafe(F.col(other))
    return found

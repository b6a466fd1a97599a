"""Changes of the records of a table, each in one step: by the table's format, or by a new version of its files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark_substrait.errors import at
from pyspark_substrait.model.relations import Write
from pyspark_substrait.model.types import NamedStruct
from pyspark_substrait.spark.session import spark_errors
from pyspark_substrait.spark.writing import file_tables, statements
from pyspark_substrait.spark.writing.database_columns import check_left_out
from pyspark_substrait.spark.writing.row_level import RowChange
from pyspark_substrait.spark.writing.stored_tables import StoredTable, depth_first, top_level
from pyspark_substrait.spark.writing.write_context import WriteContext

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation

__all__ = ["FLAG", "Change", "Flagged", "Inserted", "Replaced", "RowsChanged"]

#: The column with the flag whether a record is changed.
FLAG = "flag"


class Change:
    """A change of a table.

    Args:
        schema: the table's columns as the plan has them.
        table: the table.
        session: the session.
        returning: whether to return the changed records.
    """

    #: whether the existing records are kept unchanged
    keep = False

    def __init__(self, schema: NamedStruct, table: StoredTable, session: WriteContext, *, returning: bool) -> None:
        self.schema = schema
        self.table = table
        self.session = session
        self.returning = returning
        self._records: DataFrame | None = None

    @property
    def _swaps(self) -> bool:
        """Whether a new version of the files is written; elsewhere than on this machine, Spark can still add files."""
        return self.table.of_files and (file_tables.is_local(self.table) or not self.keep)

    def check(self) -> None:
        """Check the change without carrying it out.

        Raises:
            InvalidPlanError, TableError, UnsupportedPlanError: it can't be carried out.
        """
        if self._swaps:
            file_tables.check(self.table, keep=self.keep)
        else:
            self.check_statement()
        self.contents()

    def carried_out(self) -> DataFrame | None:
        """Carry out the change, and return the changed records, if requested.

        Raises:
            ExecutionError: it fails on its data, or somebody else changes the table at the same time.
        """
        try:
            if self._swaps:
                file_tables.change(self.table, self.session, self.computed, keep=self.keep)
            else:
                self.state()
        except spark_errors() as error:
            raise self.session.failed(error) from error
        return self._records

    @property
    def records(self) -> DataFrame | None:
        """The changed records, if requested, after they are computed."""
        return self._records

    def contents(self) -> DataFrame:
        """Return the DataFrame that the change is computed from, analysed but not run."""
        raise NotImplementedError

    def computed(self) -> DataFrame:
        """Return the records to write, with the table's columns. Records to be returned are computed now, once."""
        raise NotImplementedError

    def check_statement(self) -> None:
        """Check the change like :meth:`check`, for a table whose format changes records by itself."""
        raise NotImplementedError

    def state(self) -> None:
        """Change the records by a statement of the table's format."""
        raise NotImplementedError

    def columns(self) -> tuple[str, ...]:
        """Return the expressions for the table's columns over the plan's records."""
        return self.table.columns(self.schema)


class Inserted(Change):
    """Adds records to a table.

    Args:
        node: the write, whose input has the records.
    """

    keep = True

    def __init__(self, node: Write, table: StoredTable, session: WriteContext, *, returning: bool) -> None:
        super().__init__(node.table_schema, table, session, returning=returning)
        self._input = node.input

    def contents(self) -> DataFrame:
        self.columns()
        return self.input()

    def input(self) -> DataFrame:
        with at("input"):
            return self.session.frame(self._input, depth_first(self._input.schema))

    def computed(self) -> DataFrame:
        records = self.input()
        if self.returning:
            records = self._records = records.localCheckpoint()
        return records.selectExpr(*self.columns())

    def check_statement(self) -> None:
        file_tables.check_partitions(self.table)
        if self.table.by_jdbc:
            check_left_out(self.session.spark, self.table.names, self.table.left_out(self.schema))

    def state(self) -> None:
        statements.insert(self.table, self.session, file_tables.in_named_folders(self.computed(), self.table))


class Replaced(Inserted):
    """Replaces all records of a table."""

    keep = False

    def check_statement(self) -> None:
        self.table.check_replaceable()

    def state(self) -> None:
        statements.overwrite(self.table, self.computed())


class Flagged(Change):
    """Removes or changes records of a table."""

    #: whether the records are removed
    removes = False

    def __init__(
        self, schema: NamedStruct, table: StoredTable, session: WriteContext, *, returning: bool, counting: bool = False
    ) -> None:
        super().__init__(schema, table, session, returning=returning)
        self._counting = counting
        self.count = 0

    def flagged(self) -> DataFrame:
        """Return all records of the table, changed ones with their new values, and a flag whether they are affected."""
        raise NotImplementedError

    def contents(self) -> DataFrame:
        self.columns()
        return self.flagged()

    def carried_out(self) -> DataFrame | None:
        found = super().carried_out()
        if self._observed is not None:
            self.count = self._observed.get["count"]
        return found

    _observed: Observation | None = None

    def computed(self) -> DataFrame:
        from pyspark.sql import Observation
        from pyspark.sql import functions as F

        records = self.flagged()
        if self.returning:
            records = records.localCheckpoint()
            self._records = self.changed(records)
        if self._counting:
            self._observed = Observation()
            records = records.observe(self._observed, F.count_if(F.col(FLAG)).alias("count"))
        if self.removes:
            records = records.where(~F.col(FLAG))
        return records.selectExpr(*self.columns())

    def changed(self, flagged: DataFrame) -> DataFrame:
        """Return the affected records."""
        return flagged.where(FLAG).select(*top_level(self.schema.struct))


class RowsChanged(Flagged):
    """Removes or changes records of a table, each independently of the others."""

    def __init__(
        self,
        change: RowChange,
        table: StoredTable,
        session: WriteContext,
        *,
        removes: bool = False,
        returning: bool = False,
        counting: bool = False,
    ) -> None:
        super().__init__(change.schema, table, session, returning=returning, counting=counting)
        self._change = change
        self.removes = removes

    def flagged(self) -> DataFrame:
        names = (*depth_first(self.schema.struct), FLAG)
        return self.session.frame(self._change.flagged(self.table.names), names)

    def check_statement(self) -> None:
        statements.check_row_level(self._change, self.table, self.session)

    def state(self) -> None:
        """Change the records by one statement; records to be returned are computed before."""
        flagged = self.flagged()
        if self.returning:
            self._records = self.changed(flagged).localCheckpoint()
        counted = statements.delete if self.removes else statements.update
        affected = None
        if self._counting:
            affected = flagged.where(FLAG).count()
        told = counted(self._change, self.table, self.session)
        self.count = told if told is not None else affected or 0

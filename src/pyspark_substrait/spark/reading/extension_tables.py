"""Extension tables and relations, whose rows come from the user's handlers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyspark_substrait.errors import ExecutionError, SubstraitError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.extensions.relation_handlers import RowsFunction
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations import ExtensionTable
from pyspark_substrait.spark.compatibility import is_frame
from pyspark_substrait.spark.tables import Table, given_table
from pyspark_substrait.sql.compiler.extension_relations import unknown_kind
from pyspark_substrait.sql.compiler.statement_steps import HandlerStep

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["extension_table", "relation_table"]


def extension_table(table: ExtensionTable, registry: Registry, spark: SparkSession) -> Table:
    """Return the table that the handler for an extension table's type URL returns.

    Raises:
        UnsupportedPlanError: no handler is registered for it.
        ExecutionError: the handler raises.
        TableError: what it returns is no table.
    """
    handler = registry.table_handler(table.detail.type_url)
    if handler is None:
        raise unknown_kind("table", table.detail)
    return _made("table", handler.rows, table.detail, (spark,), spark)


def relation_table(step: HandlerStep, inputs: Sequence[DataFrame], spark: SparkSession) -> Table:
    """Return the rows that a relation's handler computes from the rows of its inputs, if any, and the session.

    Raises:
        ExecutionError: the handler raises.
        TableError: what it returns is no table.
    """
    return _made("relation", step.rows, step.detail, inputs or (spark,), spark)


def _made(what: str, rows: RowsFunction, detail: AnyMessage, given: Sequence[Any], spark: SparkSession) -> Table:
    """Call a handler, and convert its result to a table. Errors of this package are passed on unchanged."""
    try:
        returned = rows(detail, *given)
        if is_frame(returned):
            returned.schema  # noqa: B018 - Connect analyses a DataFrame only now
    except SubstraitError:
        raise
    except Exception as error:
        reason = str(error).strip().split("\n", 1)[0]
        raise ExecutionError(
            f"the handler of the {what} {detail.type_url} raised {type(error).__name__}: {reason}"
        ) from error
    return given_table(detail.type_url, returned, spark)

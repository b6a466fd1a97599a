"""The columns of tables in databases to which the database itself gives values: Spark doesn't know of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark_substrait.errors import TableError, UnsupportedPlanError
from pyspark_substrait.spark.session import is_connect, spark_errors
from pyspark_substrait.spark.writing.catalog import catalog_of, dotted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["check_left_out"]


def check_left_out(spark: SparkSession, names: Sequence[str], left_out: Collection[str]) -> None:
    """Check that the database gives no other value than null to columns which an INSERT leaves out.

    Spark writes null to them.

    Args:
        spark: the session.
        names: the table's name in the plan.
        left_out: the columns, as they are named in the database.

    Raises:
        TableError: the database would give one of them another value.
        UnsupportedPlanError: it isn't known whether it would.
    """
    if not left_out:
        return
    name = dotted(names)
    if is_connect(spark):
        raise UnsupportedPlanError(
            f"the plan has no values for {', '.join(left_out)} of {name}, and with Spark Connect it is not known "
            "whether the database has defaults for them",
            hint="Add all columns of the table to table_schema",
        )
    try:
        given = _given_by_database(spark, catalog_of(spark, names), names)
    except spark_errors() as error:
        raise UnsupportedPlanError(
            f"the database does not say which columns of {name} have defaults",
            hint="Add all columns of the table to table_schema",
        ) from error
    for column in left_out:
        if given.get(column, True):
            raise TableError(
                f"the plan has no value for {name}.{column}, and Spark would write null instead of what the database "
                "has for it",
                hint="Add it to table_schema; or insert into a view or table of the database that has not this column",
            )


def _given_by_database(spark: Any, catalog: str, names: Sequence[str]) -> Mapping[str, bool]:
    """Return for each column whether the database has a default for it, counts it or computes it."""
    jvm = spark._jvm
    *schema, table = names[1:] if len(names) > 1 and names[0] == catalog else names
    schema = schema or [spark.catalog.currentDatabase()]
    array = spark.sparkContext._gateway.new_array(jvm.String, len(schema))
    for place, part in enumerate(schema):
        array[place] = part
    identifier = jvm.org.apache.spark.sql.connector.catalog.Identifier.of(array, table)
    options = spark._jsparkSession.sessionState().catalogManager().catalog(catalog).loadTable(identifier).jdbcOptions()
    dialect = jvm.org.apache.spark.sql.jdbc.JdbcDialects.get(options.url())
    connection = dialect.createConnectionFactory(options).apply(-1)
    try:
        facts, found = connection.getMetaData(), dict[str, bool]()
        escape = facts.getSearchStringEscape()

        def pattern(text: str) -> str:
            return text.replace("_", f"{escape}_").replace("%", f"{escape}%")

        rows = facts.getColumns(None, pattern(schema[-1]), pattern(table), "%")
        while rows.next():
            generated = [rows.getString(key) for key in ("IS_AUTOINCREMENT", "IS_GENERATEDCOLUMN")]
            has_default = rows.getString("COLUMN_DEF") not in (None, "NULL")
            name = rows.getString("COLUMN_NAME")
            found[name] = found.get(name, False) or has_default or "YES" in generated
        return found
    finally:
        connection.close()

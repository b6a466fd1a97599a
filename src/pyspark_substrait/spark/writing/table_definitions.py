"""Create and alter tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pyspark_substrait.errors import NewerSparkError, UnsupportedPlanError, at
from pyspark_substrait.model.relations import Ddl, DdlOp
from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.spark.session import require_settings
from pyspark_substrait.spark.writing.alterations import (
    Added,
    Alteration,
    Fold,
    additions,
    alterations,
    comment_clause,
    commented_type,
    kept_positions,
    statement,
    value,
)
from pyspark_substrait.spark.writing.catalog import (
    NOT_NULL_SETTING,
    CatalogEntry,
    assignments,
    carry_out,
    default_of,
    dotted,
    in_session_catalog,
)
from pyspark_substrait.spark.writing.fitting import limited_text
from pyspark_substrait.spark.writing.replacing import replacing
from pyspark_substrait.spark.writing.table_columns import Defined, defined
from pyspark_substrait.spark.writing.write_context import WriteContext
from pyspark_substrait.sql.compiler.names import quoted, quoted_path
from pyspark_substrait.sql.spark_version import SparkVersion

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

__all__ = ["create", "define"]

#: Formats of tables that are plain files; others enforce NOT NULL themselves.
_FILE_FORMATS = ("parquet", "orc", "json", "csv", "text", "avro", "xml")
#: The first version of Spark with the setting under which these store it; in older ones the name means nothing.
_NOT_NULL_SINCE: Final = SparkVersion(4, 2)


def define(node: Ddl, names: Sequence[str], found: CatalogEntry | None, session: WriteContext) -> None:
    """Create, replace or alter a table.

    Args:
        node: the relation, which isn't a DROP.
        names: the name of the table.
        found: the existing table, if any.
        session: the session.
    """
    spark = session.spark
    columns = defined(node)
    _check_names(spark, columns)
    if found is None:
        create(spark, names, columns)
    elif node.op is DdlOp.CREATE_OR_REPLACE:
        _replace(spark, names, found, columns)
    else:
        with at("table_schema"):
            _alter(spark, names, found, columns, keeps_defaults=node.table_defaults is None)


def _fold(spark: SparkSession) -> Fold:
    return str if str(spark.conf.get("spark.sql.caseSensitive", "false")).lower() == "true" else str.lower


def _check_names(spark: SparkSession, columns: Sequence[Defined]) -> None:
    fold = _fold(spark)
    seen: set[str] = set()
    for column in columns:
        if fold(column.name) in seen:
            raise UnsupportedPlanError(
                f"Spark cannot have a table with two columns named {dotted([column.name])}", path="table_schema.names"
            )
        seen.add(fold(column.name))


# create ---------------------------------------------------------------------------------------------------------------


def create(
    spark: SparkSession, names: Sequence[str], columns: Sequence[Defined], properties: Mapping[str, str] | None = None
) -> None:
    """Create a table in the default format of its catalog.

    Raises:
        TableError: there is one already, or its database doesn't exist.
        UnsupportedPlanError: Spark, or the catalog, refuses it, or can't store which columns are required.
    """
    _check_names(spark, columns)
    using = ""
    if in_session_catalog(spark, names):
        form = str(spark.conf.get("spark.sql.sources.default", "parquet"))
        using = f" USING {quoted(form)}"
        _require_not_null(spark, form, columns)
    listed = ", ".join(map(str, columns))
    if properties:
        using += f" TBLPROPERTIES ({assignments(properties)})"
    carry_out(spark, f"CREATE TABLE {quoted_path(names)} ({listed}){using}", names, "create the table")


def _require_not_null(spark: SparkSession, form: str, columns: Sequence[Defined]) -> None:
    """Check the setting without which tables of files don't store required columns, if there are any."""
    if form.lower() not in _FILE_FORMATS or not any(column.has_required for column in columns):
        return
    if session_version(spark) < _NOT_NULL_SINCE:
        raise NewerSparkError(
            f"tables of files enforce NOT NULL since Spark {_NOT_NULL_SINCE}, and would accept nulls here",
            feature="NOT NULL",
            since=_NOT_NULL_SINCE,
            hint="Make the columns of table_schema nullable, or use a Delta or Iceberg table",
        )
    require_settings(spark, NOT_NULL_SETTING)


def _replace(spark: SparkSession, names: Sequence[str], found: CatalogEntry, columns: Sequence[Defined]) -> None:
    """Replace a table by a new one: in one statement if the catalog supports that, else by a table beside it."""
    if found.details is None:
        listed = ", ".join(map(str, columns))
        carry_out(spark, f"CREATE OR REPLACE TABLE {found.path} ({listed})", names, "replace the table")
        return
    with replacing(spark, names, found) as made:
        create(spark, made.beside, columns, made.properties)
        made.put_in_place()


# alter ----------------------------------------------------------------------------------------------------------------


def _alter(
    spark: SparkSession, names: Sequence[str], found: CatalogEntry, columns: Sequence[Defined], *, keeps_defaults: bool
) -> None:
    """Change the columns of a table; columns that are kept keep their values."""
    fold, old, new = _fold(spark), found.columns, _wanted(spark, columns)
    if keeps_defaults:
        columns = _with_defaults(columns, old, new, fold)
    changes = list(alterations(old, new, fold))
    if found.details is not None and not (all(map(_is_plain, changes)) and not (changes and found.partitioned_by)):
        _rebuild(spark, names, found, columns, new)
        return
    added = {change.path[0] for change in changes if isinstance(change, Added) and len(change.path) == 1}
    defaults = {column.name: column.default for column in columns}
    if found.details is not None and changes:
        # in one step: all of them are columns after the existing ones
        new_columns = [(change, defaults[change.path[0]]) for change in changes if isinstance(change, Added)]
        carry_out(spark, additions(found.path, new_columns), names, "alter the table")
        changes = []
    for change in changes:
        default = defaults[change.path[0]] if len(change.path) == 1 and isinstance(change, Added) else None
        carry_out(spark, statement(found.path, change, default), names, "alter the table")
    for column, source in zip(columns, kept_positions(old, new, fold), strict=True):
        if column.name not in added and source is not None:
            _set_default(spark, names, found, column, default_of(old.fields[source]))


def _is_plain(change: Alteration) -> bool:
    """Whether ALTER TABLE supports an alteration of a table of files: it can only add nullable columns at the end."""
    return (
        isinstance(change, Added) and len(change.path) == 1 and not change.required and " NOT NULL" not in change.type
    )


def _set_default(
    spark: SparkSession, names: Sequence[str], found: CatalogEntry, column: Defined, before: str | None
) -> None:
    if column.default == before:
        return
    change = "DROP DEFAULT" if column.default is None else f"SET DEFAULT {column.default}"
    carry_out(spark, f"ALTER TABLE {found.path} ALTER COLUMN {quoted(column.name)} {change}", names, "alter the table")


def _wanted(spark: SparkSession, columns: Sequence[Defined]) -> StructType:
    """Return the columns that a plan defines as a Spark schema."""
    from pyspark.sql.types import StructType

    fields = (f"{quoted(column.name)}: {column.type}{' NOT NULL' * column.required}" for column in columns)
    found = spark.sql(f"SELECT CAST(NULL AS STRUCT<{', '.join(fields)}>)").schema.fields[0].dataType
    assert isinstance(found, StructType)
    return found


def _with_defaults(columns: Sequence[Defined], old: StructType, new: StructType, fold: Fold) -> tuple[Defined, ...]:
    """Return the columns, with their existing defaults for those that are kept."""
    sources = kept_positions(old, new, fold)
    return tuple(
        column if source is None else replace(column, default=default_of(old.fields[source]))
        for column, source in zip(columns, sources, strict=True)
    )


def _rebuild(
    spark: SparkSession, names: Sequence[str], found: CatalogEntry, columns: Sequence[Defined], new: StructType
) -> None:
    """Create a table with the new columns beside the old one, copy the records, and replace the old table.

    ALTER TABLE supports little for tables of files: it can't drop or rename their columns, or change types.
    """
    name, fold = dotted(names), _fold(spark)
    if found.external:
        raise UnsupportedPlanError(
            f"{name} has its files outside the catalog, so its columns cannot change",
            hint="You can append nullable columns, and change defaults",
        )
    if found.format.lower() not in _FILE_FORMATS:
        raise UnsupportedPlanError(
            f"{name} is a table of the format {found.format}, whose columns Spark cannot change",
            hint="Columns that may be null can be added behind the others, if it has no partitions",
        )
    partitions = [fold(column) for column in found.partitioned_by]
    if partitions and [fold(column.name) for column in columns][-len(partitions) :] != partitions:
        raise UnsupportedPlanError(
            f"the columns that {name} is partitioned by ({', '.join(found.partitioned_by)}) stand last and stay"
        )
    _require_not_null(spark, found.format, columns)
    values, stay, listed = [], {}, []
    for column, field, source in zip(columns, new.fields, kept_positions(found.columns, new, fold), strict=True):
        if source is None:
            values.append(column.default or "NULL")
            listed.append(str(column))
        else:
            before = found.columns.fields[source]
            stay[before.name] = column.name
            values.append(value(quoted(before.name), before.dataType, field.dataType, fold))
            type = limited_text(before, f"{name}.{before.name}") or commented_type(
                field.dataType, before.dataType, fold
            )
            listed.append(f"{replace(column, type=type)}{comment_clause(before)}")
    with replacing(spark, names, found) as made:
        path = quoted_path(made.beside)
        clauses = found.clauses(stay, made.properties)
        carry_out(spark, f"CREATE TABLE {path} ({', '.join(listed)}) {clauses}", names, "alter the table")
        taking = f"INSERT INTO {path} SELECT {', '.join(values)} FROM {found.path}"
        carry_out(spark, taking, names, "take over the records of")
        made.put_in_place()

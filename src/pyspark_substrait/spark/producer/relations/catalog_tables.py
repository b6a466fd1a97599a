"""Reads and writes of catalog tables that are more than the name of the table, which is all that a plan says of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pyspark_substrait.errors import NewerSparkError, UnsupportedPlanError
from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.relations.files import NAME_IT
from pyspark_substrait.spark.session import spark_errors
from pyspark_substrait.sql.compiler.names import quoted_path
from pyspark_substrait.sql.spark_version import SparkVersion

__all__ = [
    "is_of_spark",
    "other_options",
    "read_options",
    "refuse_metadata_columns",
    "require_current_table",
    "require_own_options",
    "require_read_of_name",
]

#: the version since which relations of catalog plugins say which version of a table is read
_SAID_SINCE: Final = SparkVersion(4, 1)
_SPARK: Final = "org.apache.spark.sql.execution."
_ICEBERG: Final = "org.apache.iceberg.spark.source.SparkTable"


def refuse_metadata_columns(attributes: Iterable[Node], columns: Mapping[str, Any]) -> None:
    """Refuse attributes that are none of a table's columns, as the file of a record is, and its place there.

    Args:
        attributes: what the relation puts out.
        columns: the schema of the table, in Spark's JSON.
    """
    known = {field["name"] for field in columns["fields"]}
    for attribute in attributes:
        if attribute.value("name") not in known:
            raise UnsupportedPlanError(
                f"the column `{attribute.value('name')}`, which names the source of records, has no Substrait form",
                hint="Leave it out",
            )


def require_read_of_name(node: Node, parts: tuple[str, ...], session: Any) -> None:
    """Refuse a ``LogicalRelation`` of a catalog table that reading the table by its name is not.

    Args:
        node: the relation.
        parts: the name of the table.
        session: the session of the query.

    Raises:
        UnsupportedPlanError: it has options that the table has not, or reads an earlier version, or changes.
    """
    from py4j.java_gateway import is_instance_of
    from py4j.protocol import Py4JError

    table, read = node.java.catalogTable().get(), node.java.relation()
    is_of_files = is_instance_of(session._sc._gateway, read, f"{_SPARK}datasources.HadoopFsRelation")
    if is_of_files and is_of_spark(read.location()):
        require_own_options(read.options(), table, parts)
        return
    try:
        is_earlier = _is_earlier_delta(read.location())
    except Py4JError:  # it is of another format
        _require_same(read, parts, session)
        return
    if is_earlier:
        raise _earlier(".".join(parts))


def _is_earlier_delta(index: Any) -> bool:
    """Whether the list of files is that of an earlier version of a Delta table."""
    if index.getClass().getSimpleName() == "PreparedDeltaFileIndex":  # in optimised plans
        return bool(index.versionScanned().isDefined())
    return bool(index.isTimeTravelQuery())


def require_own_options(options: Any, table: Any, parts: tuple[str, ...]) -> None:
    """Refuse options, with which files are read or written, that are not those of their table.

    Args:
        options: the Scala map of the options.
        table: the ``CatalogTable``.
        parts: its name.
    """
    if table.provider().isDefined() and table.provider().get() == "hive":
        return  # Spark has options of its own for such tables, and only these
    given, stored = read_options(options), read_options(table.storage().properties())
    if any(stored.get(key) != value for key, value in given.items() if key != "path"):
        raise other_options(".".join(parts))


def is_of_spark(java: Any) -> bool:
    """Whether the class of a data source's object, or of a catalog, is one of Spark's own."""
    return bool(java.getClass().getName().startswith(_SPARK))


def _require_same(read: Any, parts: tuple[str, ...], session: Any) -> None:
    """Refuse what is not the relation that the session reads the table by."""
    leaves = session.table(quoted_path(parts))._jdf.queryExecution().analyzed().collectLeaves()
    for leaf in map(leaves.apply, range(leaves.size())):
        if leaf.getClass().getSimpleName() == "LogicalRelation" and leaf.relation().equals(read):
            return
    raise UnsupportedPlanError(
        f"a read of {'.'.join(parts)} with options, of an earlier version or of changes has no Substrait form",
        hint=NAME_IT,
    )


def other_options(name: str) -> UnsupportedPlanError:
    """Return the error of a table with options that are not the table's own."""
    return UnsupportedPlanError(
        f"the options that the query gives {name} have no Substrait form", hint="Make them options of the table"
    )


def read_options(options: Any) -> dict[str, str]:
    """Return a Scala map of options as a Python dictionary, with names in lower case."""
    pairs = options.toSeq()
    return {pair._1().lower(): pair._2() for pair in map(pairs.apply, range(pairs.size()))}


# catalog plugins ------------------------------------------------------------------------------------------------------


def require_current_table(java: Any, session: Any) -> None:
    """Refuse a ``DataSourceV2Relation`` of a catalog table in an earlier version.

    Raises:
        UnsupportedPlanError: it is read in an earlier version.
        NewerSparkError: Spark does not say whether it is, and there may be one.
    """
    table, catalog, identifier = java.table(), java.catalog().get(), java.identifier().get()
    name = table.name()
    if session_version(session) >= _SAID_SINCE:
        if java.timeTravelSpec().isDefined():
            raise _earlier(name)
        return
    if table.getClass().getName() == _ICEBERG:
        place = _place(table)
        # a snapshot or a branch may be a part of the name
        if any(place) and place != _place(catalog.loadTable(identifier)):
            raise _earlier(name)
    elif _has_versions(catalog, session):
        raise NewerSparkError(
            f"Spark does not say here whether {name} is read in an earlier version",
            feature="plans of queries over tables of catalog plugins that have earlier versions",
            since=_SAID_SINCE,
            hint=f"{NAME_IT}; Spark {_SAID_SINCE} and later say it",
        )


def _place(table: Any) -> tuple[Any, Any]:
    """Return the snapshot and the branch of an Iceberg table; None each for the current one."""
    return table.snapshotId(), table.branch()


def _has_versions(catalog: Any, session: Any) -> bool:
    """Whether a catalog may load earlier versions of its tables."""
    if is_of_spark(catalog):
        return False
    java = session._jvm.java.lang
    types = session._sc._gateway.new_array(java.Class, 2)
    types[0] = java.Class.forName("org.apache.spark.sql.connector.catalog.Identifier")
    types[1] = java.Class.forName("java.lang.String")
    try:
        loading = catalog.getClass().getMethod("loadTable", types)
    except spark_errors():
        return True
    return bool(loading.getDeclaringClass().getSimpleName() != "TableCatalog")


def _earlier(name: str) -> UnsupportedPlanError:
    return UnsupportedPlanError(f"a read of an earlier version of {name} has no Substrait form", hint=NAME_IT)

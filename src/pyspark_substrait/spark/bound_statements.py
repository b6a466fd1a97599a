"""Make a DataFrame of a statement and the DataFrames that it refers to, in as few calls to Spark as possible.

``SparkSession.sql`` does the same. In a classic session it creates a temporary view for each DataFrame, and drops it
again: two commands of Spark, some milliseconds each. Here the view is created by a command once; its catalog entry is
then kept with the DataFrame, and added to and removed from the catalog without a command. In a Connect session, ``sql``
runs the statement as a command, which analyses it; for the schema, the server analyses it again. Here the statement is
analysed only when the schema is needed.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyspark_substrait.spark.compatibility import classic_frame, connect_frame
from pyspark_substrait.spark.session import is_connect
from pyspark_substrait.sql.compiler.query import FRAME_MARK

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["bound", "view_of"]


def bound(spark: SparkSession, text: str, frames: Mapping[str, DataFrame], *, command: bool = False) -> DataFrame:
    """Return the DataFrame of one statement. A classic session analyses it now, a Connect server later.

    Args:
        spark: a classic or a Connect session.
        text: the statement, with the names of DataFrames between marks (see ``sql.compiler.query``).
        frames: the DataFrames by these names; those that the text doesn't name are ignored.
        command: whether it is a command, which runs at once, and not a query.

    Raises:
        Exception: one of :func:`spark_errors`: Spark rejects the statement.
    """
    parts = text.split(FRAME_MARK)
    used = {name: frames[name] for name in parts[1::2]}
    java: Any = getattr(spark, "_jsparkSession", None)
    # Spark itself reports DataFrames of the other kind
    alike = all(_of_connect(frame) == is_connect(spark) for frame in used.values())
    if alike and java is not None:
        return _classic(spark, java, parts, used)
    if alike and is_connect(spark) and not command:
        return _connect(spark, parts, used)
    return spark.sql(_template(parts), None, **used)


def _of_connect(frame: DataFrame) -> bool:
    return type(frame).__module__.startswith("pyspark.sql.connect")


def _template(parts: list[str]) -> str:
    """Return a statement in the form for ``SparkSession.sql``: names between braces, other braces escaped."""
    if len(parts) == 1:
        return parts[0]
    return "".join(
        f"{{{part}}}" if position % 2 else part.replace("{", "{{").replace("}", "}}")
        for position, part in enumerate(parts)
    )


def _named(parts: list[str], names: Mapping[str, str]) -> str:
    """Return the statement with other names for the DataFrames, without marks."""
    return "".join(names[part] if position % 2 else part for position, part in enumerate(parts))


def _fresh() -> str:
    """Return an unused table name, in lower case, so that it is the same under every setting."""
    return f"_pyspark_substrait_{uuid.uuid4().hex}"


# classic --------------------------------------------------------------------------------------------------------------

#: the attribute of a DataFrame that holds its view
_VIEW = "_pyspark_substrait_view"


def _classic(spark: SparkSession, java: Any, parts: list[str], frames: Mapping[str, DataFrame]) -> DataFrame:
    if not frames:
        return classic_frame(java.sql(parts[0]), spark)
    catalog = java.sessionState().catalog()
    names: dict[str, str] = {}
    try:
        for name, frame in frames.items():
            view = view_of(frame)
            names[name] = _fresh()
            catalog.createTempView(names[name], view, False)
        return classic_frame(java.sql(_named(parts, names)), spark)
    finally:
        for name in names.values():
            catalog.dropTempView(name)


def view_of(frame: DataFrame) -> Any:
    """Return the catalog entry of a temporary view of a DataFrame. It refers only to what the DataFrame does."""
    known = vars(frame).get(_VIEW)
    if known is None:
        name = _fresh()
        session: Any = frame.sparkSession
        catalog = session._jsparkSession.sessionState().catalog()
        frame.createOrReplaceTempView(name)
        try:
            known = catalog.getRawTempView(name).get()
        finally:
            catalog.dropTempView(name)
        vars(frame)[_VIEW] = known
    return known


# Connect --------------------------------------------------------------------------------------------------------------


def _connect(spark: Any, parts: list[str], frames: Mapping[str, DataFrame]) -> DataFrame:
    names = {name: _fresh() for name in frames}
    return connect_frame(spark, _named(parts, names), {names[name]: frame for name, frame in frames.items()})

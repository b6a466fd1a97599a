"""Change columns of a table's records (``UpdateRel``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from pyspark_substrait.errors import InvalidPlanError, SubstraitError, at
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.relations import Project, Read, RelCommon, Update
from pyspark_substrait.model.types import same_type
from pyspark_substrait.spark.arrow_transfer import frame_of_arrow
from pyspark_substrait.spark.writing.changes import RowsChanged
from pyspark_substrait.spark.writing.row_level import RowChange
from pyspark_substrait.spark.writing.stored_tables import depth_first, existing_table
from pyspark_substrait.spark.writing.write_context import WriteContext
from pyspark_substrait.sql.compiler.relations import refuse_enhancement

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["checked", "update"]


def checked(node: Update, session: WriteContext) -> None:
    """Check an update, as far as possible without carrying it out.

    Raises:
        InvalidPlanError: it contradicts itself.
        TableError: the table is missing, or doesn't fit the plan.
        UnsupportedPlanError: the table can't be changed like that.
    """
    change = _change(node, session)
    try:
        change.check()
    except SubstraitError:
        # the expressions were checked together; checked separately, each reports its own path
        _check_alone(node, session)
        raise


def _check_alone(node: Update, session: WriteContext) -> None:
    read = Read(base_schema=node.table_schema, read_type=node.update_type)
    common = RelCommon(rel_anchor=node.common.rel_anchor)
    expressions: list[tuple[tuple[str | int, ...], Expression]] = [
        (("transformations", index, "transformation"), item.transformation)
        for index, item in enumerate(node.transformations)
    ]
    if node.condition is not None:
        expressions.insert(0, (("condition",), node.condition))
    for place, expression in expressions:
        alone = Project(input=read, expressions=(expression,), common=common)
        try:
            session.frame(alone, depth_first(alone.schema))
        except SubstraitError as error:
            inside = error.path.startswith("project.expressions[0]")
            error.path = error.path.removeprefix("project.expressions[0]").removeprefix(".") if inside else ""
            with at(*(place if inside else ())):
                raise


def update(node: Update, session: WriteContext) -> DataFrame:
    """Carry out an update.

    Returns:
        one record with the number of changed records.

    Raises:
        ExecutionError: it fails on its data, or somebody else changes the table at the same time; nothing is changed.
        InvalidPlanError, TableError, UnsupportedPlanError: as :func:`checked`.
    """
    change = _change(node, session)
    change.carried_out()
    return frame_of_arrow(session.spark, pa.table({"c0": pa.array([change.count], pa.int64())}))


def _change(node: Update, session: WriteContext) -> RowsChanged:
    with at("named_table"):
        refuse_enhancement(node.update_type.advanced_extension)
        table = existing_table(node.update_type.names, session)
    table.check_whole(node.table_schema)
    if not node.transformations:
        raise InvalidPlanError("the update changes no column", path="transformations")
    types = node.table_schema.struct.types
    values = {}
    for index, item in enumerate(node.transformations):
        with at("transformations", index):
            target = item.column_target
            if not 0 <= target < len(types):
                raise InvalidPlanError(f"there is no column {target}", path="column_target")
            if target in values:
                raise InvalidPlanError(f"the column {target} is changed twice", path="column_target")
            if not same_type(item.transformation.type, types[target]):
                raise InvalidPlanError(
                    f"the new value is {item.transformation.type}, the column {types[target]}",
                    path="transformation",
                    hint="Cast it in the plan",
                )
            values[target] = item.transformation
    change = RowChange(
        schema=node.table_schema,
        conditions=() if node.condition is None else (node.condition,),
        values=values,
        anchor=node.common.rel_anchor,
    )
    return RowsChanged(change, table, session, counting=True)

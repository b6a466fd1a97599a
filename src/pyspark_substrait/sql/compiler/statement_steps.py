"""The steps before a statement: other statements, and the rows of a user's handlers, bound as frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from pyspark_substrait.extensions.relation_handlers import RowsFunction
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations.extension import ExtensionSchema
from pyspark_substrait.sql.fragment import Name

__all__ = ["HandlerStep", "SqlStep", "Step"]


@dataclass(frozen=True, slots=True)
class SqlStep:
    """A separate statement.

    Args:
        name: the frame that it becomes.
        text: the Spark SQL, which may use frames of the steps before.
        counted: the name under which its records are counted while they are computed; empty if they aren't.
    """

    name: str
    text: str
    counted: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerStep:
    """An extension relation, whose rows are computed by the user's handler.

    Args:
        name: the frame that it becomes.
        columns: the names of its columns there.
        rows: the handler's function.
        detail: its argument before the inputs.
        inputs: the frames of the inputs, each with the names of its schema.
        derived: the schemas.
    """

    name: str
    columns: tuple[Name, ...]
    rows: RowsFunction
    detail: AnyMessage
    inputs: tuple[str, ...]
    derived: ExtensionSchema


Step: TypeAlias = SqlStep | HandlerStep

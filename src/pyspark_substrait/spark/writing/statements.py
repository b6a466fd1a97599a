"""Change tables by statements of their own format: INSERT, DELETE and UPDATE, each of them one commit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark_substrait.errors import UnsupportedPlanError, at
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.relations import Write
from pyspark_substrait.model.types import NamedStruct, name_count
from pyspark_substrait.model.walk import holds_query, holds_window
from pyspark_substrait.spark.columns import columns as read_columns
from pyspark_substrait.spark.python_functions import register
from pyspark_substrait.spark.writing.fitting import fitted_value, positions
from pyspark_substrait.spark.writing.row_level import RowChange
from pyspark_substrait.spark.writing.stored_tables import StoredTable, depth_first, top_level
from pyspark_substrait.spark.writing.write_context import WriteContext
from pyspark_substrait.sql.compiler import expressions
from pyspark_substrait.sql.compiler.names import quoted
from pyspark_substrait.sql.compiler.scope import Compilation, Record, Scope
from pyspark_substrait.sql.compiler.types import named_spark_type
from pyspark_substrait.sql.fragment import Atom, Name, atom

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["check_row_level", "create_as", "delete", "input_frame", "insert", "named_columns", "overwrite", "update"]

#: the alias of the table in a statement, by which its columns are qualified
_TABLE = "changed_table"


def input_frame(node: Write, session: WriteContext) -> DataFrame:
    """Return the records of a write's input."""
    with at("input"):
        return session.frame(node.input, depth_first(node.input.schema))


def named_columns(schema: NamedStruct) -> tuple[str, ...]:
    """Return the columns of a schema with all their names, over records named by :func:`depth_first`."""
    texts, position = [], 0
    for name, type in zip(schema.top_level_names(), schema.struct.types, strict=True):
        text, width = f"c{position}", name_count(type)
        if width:
            below = iter(schema.names[position + 1 : position + 1 + width])
            text = f"CAST({text} AS {named_spark_type(type, below)})"
        texts.append(f"{text} AS {quoted(name)}")
        position += 1 + width
    return tuple(texts)


def insert(table: StoredTable, session: WriteContext, rows: DataFrame) -> None:
    """Add records; columns of the table that they lack get the values that the table's format has for them."""
    if table.by_jdbc:
        rows = rows.repartition(1)
    listed = ", ".join(map(quoted, rows.columns))
    template = f"INSERT INTO {_braced(table.path)} ({_braced(listed)}) SELECT {_braced(listed)} FROM {{rows}}"
    session.spark.sql(template, None, rows=rows).collect()


def overwrite(table: StoredTable, rows: DataFrame) -> None:
    """Replace the records of the table by others that have all of its columns."""
    from pyspark.sql import functions as F

    rows.writeTo(table.path).overwrite(F.lit(True))


def create_as(path: str, old: StoredTable | None, rows: DataFrame, session: WriteContext) -> None:
    """Create a table of records, or replace an old one by a table of the same format."""
    made = f"CREATE TABLE {path}"
    if old is not None:
        described = session.spark.sql(f"DESCRIBE TABLE EXTENDED {old.path}").collect()
        form = next((row["data_type"] for row in reversed(described) if row["col_name"] == "Provider"), None)
        made = f"CREATE OR REPLACE TABLE {path}{f' USING {quoted(form)}' if form else ''}"
    session.spark.sql(f"{_braced(made)} AS SELECT * FROM {{rows}}", None, rows=rows).collect()


def _braced(text: str) -> str:
    """Escape the braces of a text for ``SparkSession.sql``."""
    return text.replace("{", "{{").replace("}", "}}")


def check_row_level(change: RowChange, table: StoredTable, session: WriteContext) -> None:
    """Check that a row-level change can be expressed in one statement."""
    _conditions(change, table, session.compilation())
    _assignments(change, table, session.compilation())


def delete(change: RowChange, table: StoredTable, session: WriteContext) -> int | None:
    """Remove the records, and return their number, if the format reports it; else None."""
    compilation = session.compilation()
    conditions = _conditions(change, table, compilation)
    return _stated(f"DELETE FROM {table.path} AS {_TABLE} WHERE {conditions}", compilation, session)


def update(change: RowChange, table: StoredTable, session: WriteContext) -> int | None:
    """Change the records, and return their number, if the format reports it; else None."""
    compilation = session.compilation()
    conditions = _conditions(change, table, compilation)
    assignments = _assignments(change, table, compilation)
    text = f"UPDATE {table.path} AS {_TABLE} SET {assignments} WHERE {conditions}"
    return _stated(text, compilation, session)


def _stated(text: str, compilation: Compilation, session: WriteContext) -> int | None:
    register(session.spark, compilation.functions)
    found = session.run(compilation.with_shared(text)).collect()
    affected = found[0].asDict().get("num_affected_rows") if found else None
    return None if affected is None else int(affected)


def _conditions(change: RowChange, table: StoredTable, compilation: Compilation) -> str:
    texts = _texts(change, change.conditions, table, compilation)
    return " AND ".join(f"({text})" for text in texts) or "true"


def _assignments(change: RowChange, table: StoredTable, compilation: Compilation) -> str:
    schema, parts = change.schema, []
    places = positions(table.name, table.stored, schema, case_sensitive=table.case_sensitive)
    starts = [int(name[1:]) for name in top_level(schema.struct)]
    texts = _texts(change, tuple(change.values.values()), table, compilation)
    for (position, _), text in zip(change.values.items(), texts, strict=True):
        field, type, start = table.stored.fields[places[position]], schema.struct.types[position], starts[position]
        width = name_count(type)
        if width:
            names = iter(f"c{start + 1 + number}" for number in range(width))
            text = Atom(f"CAST({text} AS {named_spark_type(type, names)})")
        value = fitted_value(table.name, field, schema, position, text, case_sensitive=table.case_sensitive)
        parts.append(f"{quoted(field.name)} = {value}")
    return ", ".join(parts)


def _texts(change: RowChange, wanted: Sequence[Expression], table: StoredTable, compilation: Compilation) -> list[Atom]:
    """Compile expressions over the table's own columns."""
    schema = change.schema
    found = read_columns(table.name, table.stored, schema, frozenset(), case_sensitive=table.case_sensitive)
    places = positions(table.name, table.stored, schema, case_sensitive=table.case_sensitive)
    own = [quoted(table.stored.fields[place].name) for place in places]
    # qualified, so that they differ from the columns of subqueries
    record = tuple(
        Name(f"{_TABLE}.{text}") if text == name else atom(text) for text, name in zip(found.texts, own, strict=True)
    )
    scope = Scope(Record(record, change.anchor))
    texts = []
    for expression in wanted:
        if holds_window(expression) or (holds_query(expression) and found.texts != tuple(own)):
            raise UnsupportedPlanError(
                f"{table.name} is changed by a statement of its format, and there such an expression cannot stand",
                hint="Leave out window functions, and subqueries where the table has columns of types that Spark lacks",
            )
        texts.append(expressions.expression(expression, scope, compilation))
    if compilation.steps:
        raise UnsupportedPlanError(f"the expressions are nested too deeply for a statement that changes {table.name}")
    return texts

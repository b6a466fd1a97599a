"""CREATE VIEW statements: what a view can be, and the text around its query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

from pyspark_substrait.errors import InvalidPlanError, TableError, UnsupportedPlanError, at
from pyspark_substrait.message_text import shortened_name
from pyspark_substrait.model.plan import Plan
from pyspark_substrait.model.relations import NamedTable, Read
from pyspark_substrait.model.walk import relations_within, writes
from pyspark_substrait.sql.compiler.statement import root, root_schema

__all__ = ["ViewName", "parts_of", "view_columns", "view_statement"]

#: The name of a view: dotted, or its parts.
ViewName: TypeAlias = "str | Sequence[str]"


def parts_of(name: ViewName) -> tuple[str, ...]:
    """Return the parts of a view's name.

    Raises:
        TableError: it is empty, or one of its parts is.
    """
    parts = tuple(name.split(".") if isinstance(name, str) else name)
    if not parts or not all(parts):
        raise TableError(
            f"{name!r} is no name of a view",
            hint="Give a name, or its parts with dots between them; a tuple of parts where a part has a dot",
        )
    return parts


def view_columns(
    plan: Plan, chosen: int | None, names: Sequence[str], *, case_sensitive: bool = False
) -> tuple[str, ...]:
    """Return the names of the columns of a view, whose definition is a root of a plan.

    Args:
        plan, chosen: the plan, and which of its roots.
        names: the parts of the view's name.
        case_sensitive: whether names that differ in case only are different names.

    Raises:
        InvalidPlanError: the plan changes a table, or is wrong.
        UnsupportedPlanError: it has no columns, two of one name, or reads a table of the view's own name.
    """
    position, node, root_names = root(plan, chosen)
    fold: Callable[[str], str] = str if case_sensitive else str.lower
    with at("relations", position, *(("root", "input") if root_names is not None else ("rel",))):
        if writes(node):
            raise InvalidPlanError("the definition of a view changes a table")
        own = tuple(map(fold, names))
        reads = [one.read_type for one in relations_within(node) if isinstance(one, Read)]
        if any(isinstance(one, NamedTable) and tuple(map(fold, one.names)) == own for one in reads):
            raise UnsupportedPlanError(
                f"the view `{shortened_name('.'.join(names))}` would read itself", hint="Give the view another name"
            )
    columns = root_schema(plan, chosen).top_level_names()
    where = f"relations[{position}].root.names" if root_names is not None else f"relations[{position}].rel"
    if not columns:
        raise UnsupportedPlanError("a view without columns is not possible", path=where)
    counts = Counter(map(fold, columns))
    for column in columns:
        if counts[fold(column)] > 1:
            raise UnsupportedPlanError(
                f"a view cannot have two columns of one name, and `{shortened_name(column)}` is one"
                + ("" if case_sensitive else ", whatever its case"),
                path=where,
                hint="Give the columns of the root different names",
            )
    return tuple(columns)


def view_statement(
    names: Sequence[str],
    columns: Sequence[str],
    query: str,
    quoted: Callable[[str], str],
    *,
    replace: bool,
    lines: bool,
) -> str:
    """Return a CREATE VIEW statement.

    Args:
        names: the parts of its name.
        columns: the names of its columns; empty if they are those of the query.
        query: the text of its definition.
        quoted: quotes a name.
        replace: whether an existing view is replaced.
        lines: whether the query begins on a line of its own.
    """
    verb = "CREATE OR REPLACE VIEW" if replace else "CREATE VIEW"
    listed = f" ({', '.join(map(quoted, columns))})" if columns else ""
    return f"{verb} {'.'.join(map(quoted, names))}{listed} AS" + ("\n" if lines else " ") + query

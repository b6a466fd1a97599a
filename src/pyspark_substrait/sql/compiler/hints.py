"""Hints as Spark SQL: the names that a plan gives a relation and its columns, for readers of Spark's plans.

They are on a separate level that nothing refers to, so that they can't be confused with other names.
"""

from __future__ import annotations

from dataclasses import replace

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.types import name_count
from pyspark_substrait.sql.compiler.names import quoted
from pyspark_substrait.sql.compiler.query import Query, plain
from pyspark_substrait.sql.compiler.scope import Compilation

__all__ = ["with_names"]


def with_names(query: Query, node: Relation, compilation: Compilation) -> Query:
    """Return the query with the alias and the output names of the relation's hint; unchanged if there are none.

    A hint never makes a plan fail: names that Spark doesn't allow, or of the wrong number, are left out.
    """
    hint = node.common.hint
    if hint is None:
        return query
    alias = _shown(hint.alias, "")
    names = _names(node, hint.output_names, query.columns) if hint.output_names else []
    if not (alias or names):
        return query
    listed = f"({', '.join(names)})" if names else ""
    source = f"(SELECT * FROM ({replace(query, hint='').text()}) AS {alias or compilation.names.fresh('t')}{listed})"
    if names:
        source += f" AS {compilation.names.fresh('t')}({', '.join(query.columns)})"
    return Query(source=source, items=plain(query.columns), depth=query.depth + 2, hint=query.hint)


def _names(node: Relation, names: tuple[str, ...], columns: tuple[str, ...]) -> list[str]:
    """Return the names of the columns; the names of nested fields stay in the model only."""
    if len(names) != sum(1 + name_count(type) for type in node.schema.types):
        return []
    shown = [_shown(name or "", column) for name, column in zip(node.names, columns, strict=True)]
    return [] if shown == list(columns) else shown


def _shown(name: str, otherwise: str) -> str:
    """Return a name as it is written in SQL, or ``otherwise`` if that isn't possible."""
    try:
        return quoted(name) if name else otherwise
    except UnsupportedPlanError:
        return otherwise

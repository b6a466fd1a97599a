"""A plan in one line, for Python shells, debuggers and lists."""

from __future__ import annotations

from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.model.plan import ExtendedExpression, Plan, RelRoot
from pyspark_substrait.model.types import NamedStruct, OpenStruct
from pyspark_substrait.model.walk import relations_within
from pyspark_substrait.text.explain.columns import labels
from pyspark_substrait.text.explain.literals import counted, limited
from pyspark_substrait.text.explain.table_text import named_columns

__all__ = ["brief", "relation_count", "result_columns"]


def brief(document: Plan | ExtendedExpression) -> str:
    """Return a summary like ``<Plan 0.108.0: 5 relations, result (product_id, sales)>``."""
    if isinstance(document, ExtendedExpression):
        names = [reference.output_names[0] for reference in document.referred_expr if reference.output_names]
        number = counted(len(document.referred_expr), "expression")
        return f"<ExtendedExpression {document.version}: {number} ({limited(names)})>"
    results = [result_columns(tree) for tree in document.relations if isinstance(tree, RelRoot)]
    listed = [f"result ({'…' if columns is None else limited(list(columns))})" for columns in results]
    return f"<Plan {document.version}: {', '.join([counted(relation_count(document), 'relation'), *listed])}>"


def result_columns(root: RelRoot) -> tuple[str, ...] | None:
    """Return the labels of the columns of a result; None if they are unknown."""
    try:
        schema = root.input.schema
    except (SubstraitError, RecursionError):
        return None
    if isinstance(schema, OpenStruct):
        return None
    return labels(named_columns(NamedStruct(names=root.names, struct=schema)))


def relation_count(plan: Plan) -> int:
    """Return the number of relations of a plan, those of subqueries included; a shared one counts once."""
    return sum(1 for _ in relations_within(*plan.trees))

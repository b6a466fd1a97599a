"""Generators as Spark SQL: LATERAL VIEW."""

from __future__ import annotations

from pyspark_substrait.model.relations import Generate
from pyspark_substrait.model.relations.generate import Generator, GeneratorKind
from pyspark_substrait.sql.compiler.query import Query, plain
from pyspark_substrait.sql.compiler.scope import Compilation

__all__ = ["generate"]


def generate(node: Generate, input: Query, compilation: Compilation) -> Query:
    """Return the query of a generator over that of its input.

    A LATERAL VIEW belongs to the FROM clause of a SELECT, so the query gets its own level.
    """
    generator = node.generator
    kept = generator.kept(len(input.columns))
    arguments = input.columns[kept:]
    made = tuple(compilation.column() for _ in range(len(node.direct_schema.types) - kept))
    columns = (*input.columns[:kept], *made)
    outer = "OUTER " if generator.outer else ""
    view = f"LATERAL VIEW {outer}{_call(generator, arguments)} {compilation.column()} AS {', '.join(made)}"
    query = input.nested()
    source = f"(SELECT {', '.join(columns)} FROM {query.as_source()} {view})"
    return Query(source=source, items=plain(columns), depth=query.depth + 1)


def _call(generator: Generator, arguments: tuple[str, ...]) -> str:
    if generator.kind is GeneratorKind.STACK:
        arguments = (str(generator.rows), *arguments)
    return f"{generator.kind.value}({', '.join(arguments)})"

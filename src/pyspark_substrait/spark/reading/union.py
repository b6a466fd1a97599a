"""The union of several sources of one schema."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark_substrait.model.types import NamedStruct
from pyspark_substrait.sql.compiler.scope import Source
from pyspark_substrait.sql.compiler.types import spark_type

__all__ = ["union_of"]


def union_of(sources: Sequence[Source], schema: NamedStruct) -> Source:
    """Return the union of sources; a single source is returned unchanged, so that its columns need no subquery.

    Args:
        sources: sources whose columns have the types of the schema.
        schema: the schema, for the columns if there are no sources.
    """
    if len(sources) == 1:
        return sources[0]
    names = tuple(f"u{position}" for position in range(len(schema.struct.types)))
    selects = [_select(source.columns, names, f" FROM {source.text}") for source in sources]
    if not selects:
        nulls = tuple(f"CAST(NULL AS {spark_type(type)})" for type in schema.struct.types)
        selects = [_select(nulls, names, " WHERE false")]
    checked = [
        next((check[1] for source in sources if (check := source.required[position]) is not None), None)
        for position in range(len(names))
    ]
    required = tuple(None if what is None else (name, what) for name, what in zip(names, checked, strict=True))
    return Source(f"({' UNION ALL '.join(selects)})", names, required)


def _select(texts: Sequence[str], names: Sequence[str], rest: str) -> str:
    items = (f"{text} AS {name}" for text, name in zip(texts, names, strict=True))
    return f"SELECT {', '.join(items) or '1'}{rest}"

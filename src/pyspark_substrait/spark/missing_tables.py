"""The tables that a plan reads and nobody gave, found before Spark starts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pyspark_substrait.errors import TableError
from pyspark_substrait.model.plan import Plan, RelRoot
from pyspark_substrait.model.relations import NamedTable, Read, Reference, Relation
from pyspark_substrait.model.types import NamedStruct
from pyspark_substrait.model.unbound import is_unbound
from pyspark_substrait.model.walk import relations_within
from pyspark_substrait.spark.session_start import would_start_empty
from pyspark_substrait.spark.tables import Given

__all__ = ["named_reads", "refuse_missing_tables"]

_COLUMNS_SHOWN: Final = 20
_TABLES_SHOWN: Final = 50
_NAMES_SHOWN: Final = 5


def refuse_missing_tables(plan: Plan, tables: Given | None, root: int | None = None) -> None:
    """Refuse a plan whose tables aren't all given, if Spark has to be started for it, with an empty catalog.

    Args:
        plan: the plan.
        tables: the tables given by name.
        root: which of several roots runs, from 0.

    Raises:
        TableError: a table is missing; the message lists the tables that the plan reads, with their columns.
    """
    given = {name if isinstance(name, str) else ".".join(name): name for name in tables or ()}
    known = {name.lower() for name in given}
    reads = dict(named_reads(plan, root))
    missing = [name for name in reads if name.lower() not in known]
    if not missing or not would_start_empty():
        return
    read = {name.lower() for name in reads}
    unused = [name for name in given if name.lower() not in read]
    lines = [
        f"  {name}{_columns(schema)}{'' if name not in missing else '  (missing)'}"
        for name, schema in list(reads.items())[:_TABLES_SHOWN]
    ]
    if len(reads) > _TABLES_SHOWN:
        lines.append(f"  … and {len(reads) - _TABLES_SHOWN:,} more")
    if unused:
        lines.append(f"It does not read: {', '.join(unused)}")
    example = missing[0]
    fault = f"there is no table {example}: it" if len(missing) == 1 else f"there are no tables {_listed(missing)}: they"
    advice = f'Name a file or folder: --table {example}=PATH, or tables={{"{example}": path}}. The plan reads:'
    raise TableError(
        f"{fault} must be given, because the Spark session that would run the plan starts without tables",
        hint="\n".join([advice, *lines]),
    )


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMES_SHOWN
    return ", ".join([*names[:_NAMES_SHOWN], *([f"and {more:,} more"] if more > 0 else [])])


def named_reads(plan: Plan, chosen: int | None = None) -> Iterator[tuple[str, NamedStruct]]:
    """Yield the named tables that a root and the trees that it refers to read, each with its schema."""
    roots = [tree.input for tree in plan.relations if isinstance(tree, RelRoot)]
    if chosen is not None and 0 <= chosen < len(roots):
        roots = [roots[chosen]]
    trees: list[Relation] = roots or [tree for tree in plan.relations if not isinstance(tree, RelRoot)][:1]
    seen: set[int] = set()
    while trees:
        for node in relations_within(trees.pop(0)):
            if isinstance(node, Reference) and node.subtree_ordinal not in seen:
                seen.add(node.subtree_ordinal)
                tree = plan.relations[node.subtree_ordinal]
                trees.append(tree.input if isinstance(tree, RelRoot) else tree)
            if isinstance(node, Read) and isinstance(node.read_type, NamedTable) and all(node.read_type.names):
                yield ".".join(node.read_type.names), node.base_schema


def _columns(schema: NamedStruct) -> str:
    """Return the columns of a table in brackets, with their types where the plan states them."""
    types = ["" if is_unbound(each) else f": {each}" for each in schema.struct.types]
    columns = [f"{name}{type}" for name, type in zip(schema.top_level_names(), types, strict=False)]
    more = len(columns) - _COLUMNS_SHOWN
    return f"({', '.join([*columns[:_COLUMNS_SHOWN], *([f'… and {more:,} more'] if more > 0 else [])])})"

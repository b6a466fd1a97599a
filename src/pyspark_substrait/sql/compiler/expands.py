"""Expand as Spark SQL: UNPIVOT, which Spark runs with the operator that also runs grouping sets.

All values of a record are computed as columns below, each once; UNPIVOT distributes them to the duplicates. The number
of a duplicate is a value like the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pyspark_substrait.errors import InvalidPlanError, at
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.relations import Expand, SwitchingField
from pyspark_substrait.sql.compiler import expressions
from pyspark_substrait.sql.compiler.lifted_columns import Below
from pyspark_substrait.sql.compiler.query import Item, Query, plain
from pyspark_substrait.sql.compiler.scope import Compilation, Record, Scope
from pyspark_substrait.sql.decorrelation.unions import fails_over
from pyspark_substrait.sql.fragment import Name

__all__ = ["expand"]


def expand(node: Expand, query: Query, outer: tuple[Record, ...], compilation: Compilation) -> Query:
    """The records of a query once for each duplicate, in the order of the query.

    Raises:
        InvalidPlanError: the switching fields don't have the same number of duplicates.
    """
    count = _duplicates(node)
    query = query.flat()
    if fails_over(node.input, [expression for field in node.all_fields for expression in _expressions(field)]):
        query = query.fenced()
    below = Below(inline=True)
    scope = Scope(Record(query.columns, node.common.rel_anchor), outer, below=below)
    fields = [_items(field, position, scope, compilation) for position, field in enumerate(node.all_fields)]
    numbers = [Item(str(number), compilation.column()) for number in range(count)]
    query = replace(
        below.under(query, compilation), items=tuple(item for items in (*fields, numbers) for item in items)
    )
    switching = {
        position: compilation.column()
        for position, field in enumerate(node.fields)
        if isinstance(field, SwitchingField)
    }
    if not switching:
        return query
    number = compilation.column()
    values = {**{name: fields[position] for position, name in switching.items()}, number: numbers}
    return Query(
        source=f"({query.text()}) {_unpivot(values, compilation.column())}",
        items=plain((*(switching.get(position, items[0].name) for position, items in enumerate(fields)), number)),
        depth=query.depth + 1,
        joins=True,
    )


def _duplicates(node: Expand) -> int:
    """The number of duplicates of each record."""
    counts = [len(field.duplicates) if isinstance(field, SwitchingField) else None for field in node.fields]
    known = [count for count in counts if count is not None]
    for position, count in enumerate(counts):
        if count is not None and count != known[0]:
            with at("fields", position, "switching_field", "duplicates"):
                raise InvalidPlanError(
                    f"there are {count}, but the first switching field has {known[0]}",
                    hint="All switching fields have a value for each duplicate; add nulls",
                )
    return known[0] if known else 1


def _expressions(field: SwitchingField | Expression) -> Sequence[Expression]:
    return field.duplicates if isinstance(field, SwitchingField) else (field,)


def _items(field: SwitchingField | Expression, position: int, scope: Scope, compilation: Compilation) -> list[Item]:
    """Return the columns of a field's values: one for each duplicate, or one for all."""
    items = []
    for number, expression in enumerate(_expressions(field)):
        switching = isinstance(field, SwitchingField)
        with at(
            "fields", position, *(("switching_field", "duplicates", number) if switching else ("consistent_field",))
        ):
            items.append(Item(expressions.expression(expression, scope, compilation), compilation.column()))
    return items


def _unpivot(values: Mapping[Name, list[Item]], label: str) -> str:
    """The clause that puts, for each duplicate, one of its items under each name; ``label`` isn't used."""
    rows = zip(*values.values(), strict=True)
    listed = (f"({', '.join(item.name for item in row)}) AS `{number}`" for number, row in enumerate(rows))
    return f"UNPIVOT INCLUDE NULLS (({', '.join(values)}) FOR {label} IN ({', '.join(listed)}))"

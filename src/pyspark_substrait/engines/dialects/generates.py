"""Generators: each record of the input with every element of a list in it, by UNNEST."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from pyspark_substrait.codes import Code
from pyspark_substrait.engines.dialects import relations
from pyspark_substrait.engines.dialects.query import Item, Query
from pyspark_substrait.engines.dialects.scope import Compilation, Record
from pyspark_substrait.engines.dialects.tree import column, number, repeated
from pyspark_substrait.errors import UnsupportedPlanError, at
from pyspark_substrait.model.relations import Generate
from pyspark_substrait.model.relations.generate import GeneratorKind
from pyspark_substrait.model.types import List, Map, Struct, Type, concrete

__all__ = ["generate"]


def generate(node: Generate, outer: tuple[Record, ...], compilation: Compilation) -> Query:
    """Return the query of a generator.

    Raises:
        UnsupportedPlanError: the dialect has no UNNEST, or no form for the kind of generator.
    """
    with at("input"):
        query = relations.relation(node.input, outer, compilation)
    dialect, generator = compilation.dialect, node.generator
    if not dialect.unnests or generator.kind is GeneratorKind.JSON_TUPLE:
        raise UnsupportedPlanError(
            f"the generator {generator.kind.value} has no form in {dialect.engine} yet", code=Code.TARGET_RELATION
        )
    if not query.is_flat or query.source is None:
        query = query.nested(compilation.names)
    kept = generator.kept(len(query.items))
    arguments = [item.tree.copy() for item in query.items[kept:]]
    type = concrete(node.input.schema.types[kept])
    made = node.direct_schema.types[kept:]
    alias = compilation.names.fresh("g")
    element, position = column(alias, "element"), column(alias, "position")
    match generator.kind, type:
        case GeneratorKind.STACK, _:
            assert generator.rows is not None
            values = _stacked(arguments, generator.rows, made, compilation)
            items = _fields(element, [f"col{place}" for place in range(len(made))], compilation)
        case _, Map():
            values = dialect.filled("MAP_ENTRIES({0})", *arguments)
            items = _fields(element, ["key", "value"], compilation)
        case GeneratorKind.INLINE, List(type=inner):
            (values,) = arguments
            struct = concrete(inner)
            assert isinstance(struct, Struct)
            items = _fields(element, [f"col{place + 1}" for place in range(len(struct.types))], compilation)
        case _:
            (values,) = arguments
            items = [Item(element, "col")]
    source = exp.Unnest(expressions=[values], alias=_alias(alias, "element"))
    if generator.kind is GeneratorKind.POSEXPLODE:
        source.set("offset", exp.to_identifier("position", quoted=True))
        from_zero = exp.Sub(this=position, expression=number(1))
        items = [Item(dialect.typed(from_zero, made[0]), "pos"), *items]
    join = exp.Join(this=source, kind="CROSS")
    if generator.outer:
        join = exp.Join(this=source, side="LEFT", on=exp.true())
    return replace(query, joins=(*query.joins, join), items=(*query.items[:kept], *items))


def _alias(name: str, column: str) -> exp.TableAlias:
    return exp.TableAlias(this=exp.to_identifier(name, quoted=True), columns=[exp.to_identifier(column, quoted=True)])


def _fields(struct: exp.Expression, names: Sequence[str], compilation: Compilation) -> list[Item]:
    """Return the fields of a struct as columns."""
    template = compilation.dialect.struct_field
    return [
        Item(compilation.dialect.filled(template, struct.copy(), number(place + 1)), name)
        for place, name in enumerate(names)
    ]


def _stacked(
    arguments: Sequence[exp.Expression], rows: int, types: Sequence[Type], compilation: Compilation
) -> exp.Expression:
    """Return the list of structs of arguments, one after the other."""
    records = []
    for row in range(rows):
        cells = [
            repeated(arguments[place]) if place < len(arguments) else compilation.dialect.typed(exp.null(), type)
            for place, type in enumerate(types, row * len(types))
        ]
        records.append(exp.Anonymous(this="ROW", expressions=cells))
    return exp.Array(expressions=records)

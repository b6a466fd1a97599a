"""Translate generators: ``explode`` and similar functions, LATERAL VIEW, and table-valued functions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Generate
from pyspark_substrait.model.relations.generate import GENERATE, Generator, GeneratorKind
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import alike, expression
from pyspark_substrait.spark.producer.refusals import EXPRESSIONS, refused_expression, written
from pyspark_substrait.spark.producer.relations import relation
from pyspark_substrait.spark.producer.relations.columns import projected
from pyspark_substrait.spark.producer.scope import Output, Production, Scope, column, field_of, scope_of

__all__ = ["FORMS", "over_lateral"]

_KINDS: Final = {
    "Explode": GeneratorKind.EXPLODE,
    "PosExplode": GeneratorKind.POSEXPLODE,
    "Inline": GeneratorKind.INLINE,
    "Stack": GeneratorKind.STACK,
    "JsonTuple": GeneratorKind.JSON_TUPLE,
}


def generate(node: Node, production: Production, outer: Scope | None) -> Output:
    """``Generate``: the required columns of the input, then the output of the generator."""
    return _over(relation(node.children[0], production, outer), node, production, outer)


def over_lateral(
    left: Output, right: Node, production: Production, outer: Scope | None, *, kept: bool
) -> Output | None:
    """Translate a lateral join with only a generator, without a condition, to that generator; None for any other.

    Args:
        left: the left side.
        right: the right side.
        production: the translation.
        outer: the scope of the enclosing query.
        kept: whether records of the left side without a match are kept.
    """
    while right.name == "SubqueryAlias":
        right = right.children[0]
    named: tuple[Node, ...] | None = None
    if right.name == "Project" and all(map(_renames, right.trees("projectList"))):
        named, right = right.trees("projectList"), right.children[0]
    while right.name == "SubqueryAlias":
        right = right.children[0]
    if right.name != "Generate" or right.children[0].name != "OneRowRelation":
        return None
    found = _over(left, right, production, outer, kept=kept)
    if named is None:
        return found
    width = len(left.columns)
    scope = scope_of(found, production, None)
    values = [field_of(found.relation.schema, position) for position in range(width)]
    columns = list(left.columns)
    for item in named:
        source = item if item.name == "AttributeReference" else item.children[0]
        reference = scope.reference(source.expression_id)
        if reference is None:
            return None
        values.append(reference)
        columns.append(replace(column(source), id=item.expression_id, name=item.value("name")))
    return Output(projected(found.relation, values), tuple(columns))


def _renames(item: Node) -> bool:
    return item.name == "AttributeReference" or (item.name == "Alias" and item.children[0].name == "AttributeReference")


def _over(below: Output, node: Node, production: Production, outer: Scope | None, *, kept: bool = False) -> Output:
    """Translate a generator over a relation; ``kept``: make it an outer one."""
    generator = node.tree("generator")
    assert generator is not None
    scope = scope_of(below, production, outer)
    replaced = _own_columns(generator, scope)
    if replaced:
        scope = replace(scope, replaced={**scope.replaced, **replaced})
    kind, arguments, rows = _read(generator, scope)
    dropped = _dropped(node)
    positions = [position for position in range(len(below.columns)) if position not in dropped]
    schema = below.relation.schema
    values = [*(field_of(schema, position) for position in positions), *arguments]
    production.type_urls.add(GENERATE)
    made = Generate(
        input=projected(below.relation, values),
        generator=Generator(kind=kind, arguments=len(arguments), outer=bool(node.value("outer")) or kept, rows=rows),
    )
    columns = [below.columns[position] for position in positions]
    return Output(made, (*columns, *map(column, node.trees("generatorOutput"))))


def _dropped(node: Node) -> frozenset[int]:
    """Return the positions of the input's columns that aren't in the output; the JSON only has an empty list."""
    if node.value("unrequiredChildIndex") == []:
        return frozenset()
    listed = node.java.unrequiredChildIndex()
    return frozenset(listed.apply(number) for number in range(listed.size()))


def _read(generator: Node, scope: Scope) -> tuple[GeneratorKind, tuple[Expression, ...], int | None]:
    """Return the kind and the arguments of a generator, and for ``stack`` the number of rows."""
    if generator.name == "GeneratorOuter":
        return _read(generator.children[0], scope)
    kind = _KINDS.get(generator.name)
    if kind is None and generator.name in EXPRESSIONS:
        raise refused_expression(generator, written(generator))
    if kind is None:
        raise UnsupportedPlanError(
            f"`{written(generator)}` has no Substrait form: there is no such generator",
            hint="Put it into an array, and explode that",
        )
    values = tuple(expression(child, scope) for child in generator.children)
    if kind is not GeneratorKind.STACK:
        return kind, values, None
    match values[0]:
        case Literal(value=int() as rows) if rows > 0:
            width = -(-len(values[1:]) // rows)
            columns = [alike(values[1 + position :: width]) for position in range(width)]
            return kind, tuple(columns[at % width][at // width] for at in range(len(values) - 1)), rows
        case _:
            raise UnsupportedPlanError(
                f"`{written(generator)}` needs a literal as its number of rows", hint="Write the number"
            )


def _own_columns(generator: Node, scope: Scope) -> Mapping[Hashable, Expression]:
    """Return the outer references of a generator that are columns of its new input."""
    found: dict[Hashable, Expression] = {}
    for item in generator.walk():
        inner = item.tree("e") if item.name == "OuterReference" else None
        reference = None if inner is None else scope.reference(inner.expression_id)
        if reference is not None:
            found[item.signature] = reference
    return found


FORMS: Final = {"Generate": generate}

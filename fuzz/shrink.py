"""The smallest plan that still fails: relations left out or made constant, expressions replaced by their parts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

from fuzz.literals import literal, null
from fuzz.plans import rooted
from fuzz.relations import column, with_emit
from fuzz.tables import rooted_names
from pyspark_substrait.api.validate import validate
from pyspark_substrait.codes import Level
from pyspark_substrait.documents import Plan
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.types import NamedStruct, same_type, with_nullability
from pyspark_substrait.model.walk import (
    all_expressions,
    expression_children,
    expressions_within,
    mapped,
    refers_out,
    relation_expressions,
    relations_within,
    subquery_relation,
    with_children,
    with_expressions,
    with_inputs,
    with_query,
)

__all__ = ["is_determined", "shrunk", "size", "smaller"]


def size(plan: Plan) -> int:
    """The number of relations and expressions of a plan; relations that several places have count once."""
    relations = list(relations_within(*plan.trees))
    expressions = sum(0 if isinstance(item, Literal) else 2 for item in all_expressions(*plan.trees))
    values = sum(isinstance(item, Literal) for item in all_expressions(*plan.trees))
    return 4 * len(relations) + expressions + values + sum(len(item.schema.types) for item in relations)


def shrunk(plan: Plan, fails: Callable[[Plan], bool], *, tries: int = 100) -> Plan:
    """Return a smaller plan for which ``fails`` is true.

    Args:
        plan: a plan that fails.
        fails: whether another one fails in the same way.
        tries: how often it is called at most.
    """
    best, best_size, again, faults = plan, size(plan), True, _faults(plan)
    seen = set[str]()
    while again and tries > 0:
        again = False
        for other in smaller(best):
            if tries <= 0:
                break
            try:
                other_size = size(other)
                if other_size >= best_size or repr(other.relations) in seen:
                    continue
                seen.add(repr(other.relations))
                if not is_determined(other) or _faults(other) > faults:
                    continue
            except SubstraitError:
                continue
            tries -= 1
            if fails(other):
                best, best_size, again = other, other_size, True
                break
    return best


def _faults(plan: Plan) -> tuple[int, int]:
    """The number of errors and of warnings about a plan, such as a call whose type isn't the derived one."""
    levels = [item.level for item in validate(plan)]
    return levels.count(Level.ERROR), levels.count(Level.WARNING)


def is_determined(plan: Plan) -> bool:
    """Whether nothing keeps some of its records, or numbers them, in an order that leaves open which is which."""
    for node in relations_within(*plan.trees):
        match node:
            case r.TopN(mode=r.FetchMode.WITH_TIES):
                pass
            case r.Fetch(input=r.Sort(sorts=sorts, input=input)) | r.TopN(sorts=sorts, input=input):
                if not _is_total(sorts, input):
                    return False
            case r.Fetch(input=r.Read(read_type=r.VirtualTable(expressions=rows))) if len(rows) < 2:
                continue
            case r.Fetch():
                return False
        for item in expressions_within(relation_expressions(node)):
            if isinstance(item, e.WindowFunction) and not _is_total(item.sorts, node.inputs[0]):
                return False
    return True


def _is_total(sorts: tuple[e.SortField, ...], input: Relation) -> bool:
    """Whether records that are equal by the sort fields are the same."""
    keys = [item.expr for item in sorts]
    columns = range(len(input.schema.types))
    return all(column(place, input.schema) in keys for place in columns)


def smaller(plan: Plan) -> Iterator[Plan]:
    """Yield plans with one part less, the largest steps first."""
    *shared, last = plan.trees
    for part in relations_within(last):  # a part of it alone
        if part is not last and not refers_out(part):
            yield rooted(*shared, part)
    if not any(isinstance(part, r.Reference) for part in relations_within(last)) and shared:
        yield rooted(last)
    width = len(last.schema.types)
    if width > 1:
        for half in (range(width // 2), range(width // 2, width)):
            yield rooted(*shared, with_emit(last, half))
        for place in range(width):
            yield rooted(*shared, with_emit(last, [place]))
    for part in relations_within(*plan.trees):
        for other in _instead(part):
            yield _with_relation(plan, part, other)
    for node in all_expressions(*plan.trees):
        for simpler in _simpler(node):
            yield _with_expression(plan, node, simpler)


def _instead(node: Relation) -> Iterator[Relation]:
    """The stand-ins for a relation: an input with the same columns, a constant table, itself with less in it."""
    for input in node.inputs:
        if _same_columns(input, node):
            yield input
    if isinstance(node, r.Reference):
        yield node.subtree
        return
    if not (isinstance(node, r.Read) and isinstance(node.read_type, r.VirtualTable)):
        schema = NamedStruct(names=rooted_names(node.schema), struct=node.schema)
        if all(type.nullable for type in schema.struct.types):
            row = e.NestedStruct(fields=tuple(null(type) for type in schema.struct.types))
            yield r.Read(base_schema=schema, read_type=r.VirtualTable(expressions=(row,)))
        yield r.Read(base_schema=schema, read_type=r.VirtualTable(expressions=()))
    match node:
        case r.Read(filter=condition) if condition is not None:
            yield replace(node, filter=None)
        case r.Set(members=members) if len(members) > 2:
            for place in range(1, len(members)):
                yield replace(node, members=(*members[:place], *members[place + 1 :]))
        case r.Sort(sorts=sorts) if len(sorts) > 1:
            yield replace(node, sorts=sorts[:1])
        case r.Join(post_join_filter=condition) if condition is not None:
            yield replace(node, post_join_filter=None)


def _same_columns(one: Relation, other: Relation) -> bool:
    mine, theirs = one.schema.types, other.schema.types
    return len(mine) == len(theirs) and all(map(same_type, mine, theirs))


def _simpler(node: Expression) -> Iterator[Expression]:
    """The stand-ins for an expression: a part of it of the same type, or a null."""
    if isinstance(node, Literal):
        return
    for part in expression_children(node):
        if same_type(part.type, node.type):
            yield part
    if node.type.nullable:
        yield null(node.type)
    with suppress(KeyError):  # of a type that has no literals here
        yield literal(with_nullability(node.type, False), random.Random(0), extremes=0.0)


def _with_relation(plan: Plan, old: Relation, new: Relation) -> Plan:
    return rooted(*mapped(*plan.trees, change=_Change(old, new)))


class _Change:
    """Puts a relation in the place of another one, found by what it is equal to: what is below may be made anew."""

    def __init__(self, old: Relation, new: Relation) -> None:
        self.old, self.new = old, new

    def __call__(self, node: Relation) -> Relation:
        return self.new if node == self.old else node


def _with_expression(plan: Plan, old: Expression, new: Expression) -> Plan:
    def changed(node: Expression) -> Expression:
        if node is old or node == old:
            return new
        node = with_children(node, changed)
        query = subquery_relation(node)
        return node if query is None else with_query(node, relation(query))

    def relation(node: Relation) -> Relation:
        if isinstance(node, r.Reference):
            return replace(node, subtree=relation(node.subtree))
        return with_expressions(with_inputs(node, relation), changed)

    return rooted(*map(relation, plan.trees))

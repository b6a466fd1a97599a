"""Translate ROLLUP, CUBE and GROUPING SETS; and other uses of ``Expand``, by which Spark implements them.

Spark repeats the records for each grouping set, with nulls for the keys that aren't in the set and a number with a bit
for each of these, and groups by all of them. A plan has one aggregate with several groupings instead.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import Cast, Expression, FailureBehavior, IfClause, IfThen
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import (
    Aggregate,
    Expand,
    Filter,
    Grouping,
    Relation,
    SwitchingField,
)
from pyspark_substrait.model.types import I32, I64, with_nullability
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import alike, expression, typed
from pyspark_substrait.spark.producer.expressions.aggregate_forms import filter_of
from pyspark_substrait.spark.producer.relations import relation
from pyspark_substrait.spark.producer.relations.columns import projected, selected
from pyspark_substrait.spark.producer.relations.measures import (
    Measures,
    aggregate_expressions,
    count_of_records,
)
from pyspark_substrait.spark.producer.relations.single_input import named_column
from pyspark_substrait.spark.producer.scope import Output, Production, Scope, column, field_of, scope_of
from pyspark_substrait.spark.producer.types import type_of

__all__ = ["FORMS", "aggregate"]


@dataclass(frozen=True)
class _Sets:
    """The grouping sets of an ``Expand``.

    Args:
        keys: the attributes that the aggregate above groups by.
        values: the expression of each key in the sets that contain it; None for a key in no set.
        groupings: the positions of the keys of each set.
        numbers: ``grouping_id()`` of each set.
        number: the attribute for the grouping id.
        place: the attribute for the position of the set; None if no set is repeated.
    """

    keys: tuple[Node, ...]
    values: tuple[Node | None, ...]
    groupings: tuple[tuple[int, ...], ...]
    numbers: tuple[int, ...]
    number: Node
    place: Node | None


def aggregate(node: Node, production: Production, outer: Scope | None) -> Output | None:
    """Translate an ``Aggregate`` with grouping sets; None for any other one."""
    sets = _sets(node)
    if sets is None:
        return None
    below = relation(node.children[0].children[0], production, outer)
    scope = scope_of(below, production, outer)
    results = node.trees("aggregateExpressions")
    measures = Measures.of(results, scope)
    used = [position for position, value in enumerate(sets.values) if value is not None]
    groupings = tuple(Grouping(tuple(map(used.index, members))) for members in sets.groupings)
    empty = any(not members for members in sets.groupings)
    made = Aggregate(
        input=below.relation,
        groupings=groupings if used or len(groupings) > 1 else (),
        grouping_expressions=tuple(expression(value, scope) for value in sets.values if value is not None),
        measures=(*measures.measures, *((count_of_records(production),) if empty else ())),
    )
    count, place = len(used) + len(measures.measures), len(made.schema.types) - 1
    found: Relation = made
    if empty:  # the empty set has a record even if the input has none, but not in Spark
        counted = (field_of(made.schema, count), Literal(type=I64(), value=0))
        found = Filter(input=made, condition=production.call("functions_comparison", "gt", counted))
    position: Expression = field_of(made.schema, place) if len(groupings) > 1 else Literal(type=I32(), value=0)
    replaced: dict[Hashable, Expression] = {sets.number.signature: _numbered(position, sets, production)}
    if sets.place is not None:
        replaced[sets.place.signature] = position
    for key, value in zip(sets.keys, sets.values, strict=True):
        replaced[key.signature] = (
            Literal(type=type_of(key.value("dataType"), True), value=None)
            if value is None
            else field_of(made.schema, used.index(sets.keys.index(key)))
        )
    columns = tuple(column(sets.keys[position]) for position in used)
    above = Scope(production, columns, made.schema, outer, replaced={**replaced, **measures.replaced(made, len(used))})
    values = [expression(result, above) for result in results]
    return Output(projected(found, values), tuple(named_column(result) for result in results))


def _numbered(position: Expression, sets: _Sets, production: Production) -> Expression:
    """Return the expression for ``grouping_id()`` of the set at a position."""
    numbers = [Literal(type=_number_type(sets), value=number) for number in sets.numbers]
    if isinstance(position, Literal):
        return numbers[0]
    clauses = []
    for place, number in enumerate(numbers[:-1]):
        is_it = production.call("functions_comparison", "equal", (position, Literal(type=I32(), value=place)))
        clauses.append(IfClause(is_it, number))
    return IfThen(ifs=tuple(clauses), else_=numbers[-1])


def _number_type(sets: _Sets) -> I64 | I32:
    return I64() if sets.number.value("dataType") == "long" else I32()


def _sets(node: Node) -> _Sets | None:
    """Return the grouping sets below an ``Aggregate``; None if there are none, or if a plan can't express them."""
    expand = node.children[0]
    groups = node.trees("groupingExpressions")
    if expand.name != "Expand" or any(group.name != "AttributeReference" for group in groups):
        return None
    ids = [group.expression_id for group in groups]
    outputs = [output.expression_id for output in expand.trees("output")]
    generated = [group for group in groups if group.value("name") in _GENERATED]
    projections = expand.tree_lists("projections")
    if not generated or generated[0].value("name") != "spark_grouping_id" or not set(ids) <= set(outputs):
        return None
    keys = tuple(group for group in groups if group not in generated)
    if len({key.expression_id for key in keys}) != len(keys) or _looked_at(node) & set(ids):
        return None
    places = {output: position for position, output in enumerate(outputs)}
    if any(row[places[one.expression_id]].name != "Literal" for row in projections for one in generated):
        return None
    values: list[Node | None] = []
    for key in keys:
        found = [row[places[key.expression_id]] for row in projections]
        known = {value.signature: value for value in found if not _is_null(value)}
        if len(known) > 1:
            return None
        values.append(next(iter(known.values()), None))
    return _Sets(
        keys=keys,
        values=tuple(values),
        groupings=tuple(
            tuple(place for place, key in enumerate(keys) if not _is_null(row[places[key.expression_id]]))
            for row in projections
        ),
        numbers=tuple(int(row[places[generated[0].expression_id]].value("value")) for row in projections),
        number=generated[0],
        place=generated[1] if len(generated) > 1 else None,
    )


_GENERATED: Final = ("spark_grouping_id", "_gen_grouping_pos")


def _is_null(node: Node) -> bool:
    return node.name == "Literal" and node.value("value") is None


def _looked_at(node: Node) -> set[int]:
    """Return the ids of the columns that the aggregate functions of an ``Aggregate`` use."""
    found = set()
    for call in aggregate_expressions(node.trees("aggregateExpressions")):
        condition = filter_of(call)
        for item in (*call.walk(), *(() if condition is None else condition.walk())):
            if item.name == "AttributeReference":
                found.add(item.expression_id)
    return found


def expand(node: Node, production: Production, outer: Scope | None) -> Output:
    """``Expand``: each record once for each of its projections."""
    below = relation(node.children[0], production, outer)
    scope = scope_of(below, production, outer)
    projections = node.tree_lists("projections")
    columns = tuple(map(column, node.trees("output")))
    if len(projections) == 1:
        values = [expression(value, scope) for value in projections[0]]
        return Output(projected(below.relation, values), columns)
    if not columns or not projections:
        raise UnsupportedPlanError("an Expand without columns has no Substrait form")
    fields = [
        _field([row[position] for row in projections], output, scope)
        for position, output in enumerate(node.trees("output"))
    ]
    if not any(isinstance(field, SwitchingField) for field in fields):
        first = fields[0]
        assert not isinstance(first, SwitchingField)
        fields[0] = SwitchingField((first,) * len(projections))
    made = Expand(input=below.relation, fields=tuple(fields))
    return Output(selected(made, range(len(columns))), columns)


def _field(values: Sequence[Node], output: Node, scope: Scope) -> SwitchingField | Expression:
    if len({value.signature for value in values}) == 1:
        return expression(values[0], scope)
    type = type_of(output.value("dataType"), False)
    duplicates = [*alike([typed(_value(value, output, scope), type) for value in values])]
    if output.value("nullable") and not any(duplicate.type.nullable for duplicate in duplicates):
        wanted = with_nullability(duplicates[0].type, True)
        duplicates[0] = Cast(type=wanted, input=duplicates[0], failure_behavior=FailureBehavior.THROW_EXCEPTION)
    return SwitchingField(tuple(duplicates))


def _value(value: Node, output: Node, scope: Scope) -> Expression:
    if _is_null(value):
        return Literal(type=type_of(output.value("dataType"), True), value=None)
    return expression(value, scope)


FORMS: Final = {"Expand": expand}

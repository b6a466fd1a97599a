"""The output columns of aggregates with several grouping sets, or with a key twice, in plans of DataFusion.

By the specification, the output is the keys, the measures and the position of the grouping set. In DataFusion it is
each key once, however often the plan repeats it, then a hidden number with a bit for each key that isn't in the set
(the first key has the highest bit), then the measures; the relations above refer to these columns. DataFusion 42 and
older (up to release 0.57 of the specification) had no such number. Here, the output of such an aggregate is reordered
to what the plan means. An aggregate with an emit doesn't come from DataFusion and follows the specification.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pyspark_substrait.codes import Code
from pyspark_substrait.extensions.engines import DATAFUSION
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    Expression,
    FieldReference,
    IfValue,
    RootReference,
    StructField,
    SwitchExpression,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import Aggregate, Grouping, Project, Relation, RelCommon
from pyspark_substrait.model.relations.base import assume_direct_schema
from pyspark_substrait.model.types import I8, I16, I32, I64, OpenStruct
from pyspark_substrait.proto.read.context import Reading, invalid
from pyspark_substrait.proto.read.habits.datafusion import GROUPING_ID

__all__ = ["counted", "distinct_keys", "is_counted", "keys_counted_once"]

_FIRST_WITH_NUMBER = (0, 58, 0)
_MOST_KEYS = 63


def is_counted(message: Any, reading: Reading) -> bool:
    """Whether the plan counts the columns of this aggregate as DataFusion does."""
    return len(message.groupings) > 1 and _has_no_emit(message, reading)


def _has_no_emit(message: Any, reading: Reading) -> bool:
    return GROUPING_ID.of(reading) and message.common.WhichOneof("emit_kind") != "emit"


def keys_counted_once(
    message: Any, keys: tuple[Expression, ...], groupings: tuple[Grouping, ...], reading: Reading, path: Path
) -> tuple[tuple[Expression, ...], tuple[Grouping, ...]]:
    """Return the keys of an aggregate of one grouping set, each once where DataFusion counts it once, and the set."""
    if len(groupings) != 1 or not _has_no_emit(message, reading):
        return keys, groupings
    distinct, (grouping,) = distinct_keys(message, keys, groupings)
    if len(grouping.expression_references) == len(groupings[0].expression_references):
        return keys, groupings
    GROUPING_ID.note(reading, path, "a key that is there twice", "each key once")
    return distinct, (grouping,)


def distinct_keys(
    message: Any, keys: tuple[Expression, ...], groupings: tuple[Grouping, ...]
) -> tuple[tuple[Expression, ...], tuple[Grouping, ...]]:
    """Return the distinct keys of an aggregate, in order of first use, and the grouping sets over these."""
    first: dict[bytes, int] = {}
    places = [
        first.setdefault(expression.SerializeToString(deterministic=True), len(first))
        for expression in message.grouping_expressions
    ]
    kept = tuple(keys[places.index(place)] for place in range(len(first)))
    sets = []
    for grouping in groupings:
        known = [places[position] for position in grouping.expression_references if position < len(places)]
        sets.append(Grouping(tuple(dict.fromkeys(known))))
    return kept, tuple(sets)


def counted(node: Aggregate, reading: Reading, path: Path) -> Relation:
    """Return an aggregate of distinct keys with its output columns in DataFusion's order."""
    if isinstance(node.direct_schema, OpenStruct):
        return node
    if len(node.grouping_expressions) > _MOST_KEYS:
        fault = f"the number of DataFusion's grouping sets has a bit for each key: at most {_MOST_KEYS}"
        raise invalid(fault, path, "Group by fewer keys", Code.RELATION_GROUPING)
    asked = [_keys_of(item.measure, node, path) for item in node.measures]
    plain = tuple([item for item, positions in zip(node.measures, asked, strict=True) if positions is None])
    if len(plain) < len(asked):
        node = replace(node, measures=plain)
    keys, width = len(node.grouping_expressions), len(node.direct_schema.types)
    measures, index = tuple(range(keys, width - 1)), width - 1
    before = f"{len(node.groupings)} grouping sets, whose columns DataFusion counts in its own way"
    if reading.version is not None and reading.version < _FIRST_WITH_NUMBER:
        after = "the keys, each once, and the measures, without the number of the set"
        GROUPING_ID.note(reading, path, before, after)
        return _emitting(node, (*range(keys), *measures))
    after = "the keys, each once, then a bit for each key that is not in the set, measures"
    GROUPING_ID.note(reading, path, before, after)
    # the emit marks the columns as reordered, for when the written plan is read again
    inner = _emitting(node, (*range(keys), index, *measures))
    reading.places.add(inner, path)
    expressions, columns = [_bits(inner, keys, range(keys))], []
    kept = iter(range(keys + 1, width))
    for positions in asked:
        columns.append(next(kept) if positions is None else width + len(expressions))
        if positions is not None:
            expressions.append(_bits(inner, keys, positions, I32))
    return Project(common=RelCommon(emit=(*range(keys), width, *columns)), input=inner, expressions=tuple(expressions))


def _keys_of(call: AggregateFunction, node: Aggregate, path: Path) -> list[int] | None:
    """The keys that a call of ``grouping`` is about; None for another function.

    Raises:
        InvalidPlanError: it is about something else.
    """
    if call.function.urn != DATAFUSION.urn or call.function.name != "grouping":
        return None
    if any(argument not in node.grouping_expressions for argument in call.arguments):
        raise invalid("grouping is about something else than a key", path, code=Code.RELATION_GROUPING)
    return [node.grouping_expressions.index(argument) for argument in call.arguments]


def _emitting(node: Aggregate, emit: tuple[int, ...]) -> Aggregate:
    made = replace(node, common=replace(node.common, emit=emit))
    assume_direct_schema(made, node.direct_schema)
    return made


def _bits(node: Aggregate, keys: int, asked: Sequence[int], type_class: type[I32] | None = None) -> Expression:
    """A bit for each of the keys asked for, the first the highest, computed from the position of the set."""
    kinds = ((I8, 7), (I16, 15), (I32, 31))
    kind = type_class or next((kind for kind, bits in kinds if keys <= bits), I64)
    position = FieldReference(root=RootReference(), reference=(StructField(field=keys),), type=I32())
    clauses = []
    for place, grouping in enumerate(node.groupings):
        members = set(grouping.expression_references)
        number = sum(1 << (len(asked) - 1 - bit) for bit, key in enumerate(asked) if key not in members)
        clauses.append(IfValue(Literal(type=I32(), value=place), Literal(type=kind(), value=number)))
    *ifs, last = clauses
    return SwitchExpression(match=position, ifs=tuple(ifs), else_=last.then)

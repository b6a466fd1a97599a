"""The form of each field in the text: what it holds, and what of a relation is written without a name.

It follows from the types of the messages, and from the relations' own description of their fields. Fields that hold
nothing with a form of its own are written as they are, ``name: value``, so that no field is lost, whether or not the
text form knows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import NamedTuple, get_args

from pyspark_substrait.model.fields import RECORDS, Over
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.proto.fields import FieldType, message_types

__all__ = [
    "AGGREGATE",
    "BEHAVIOR",
    "CALL",
    "DEFAULTS",
    "PREDICATES",
    "PROPERTIES",
    "VERSION",
    "WINDOW",
    "Field",
    "Kind",
    "Shape",
    "field_of",
    "prefix_of",
    "shape_of",
    "titles",
]


class Kind(Enum):
    """The kind of value that a field holds; for a list, the kind of its elements. Most stand for one message."""

    EXPRESSION = "Expression"
    TYPE = "Type"
    SCHEMA = "NamedStruct"
    FIELD_REFERENCE = "Expression.FieldReference"
    SORT = "SortField"
    BOUND = "Expression.WindowFunction.Bound"
    CALL = "AggregateFunction"
    MEASURE = "AggregateRel.Measure"
    WINDOW_CALL = "ConsistentPartitionWindowRel.WindowRelFunction"
    JOIN_KEY = "ComparisonJoinKey"
    EXPAND_FIELD = "ExpandRel.ExpandField"
    MASK = "Expression.MaskExpression"
    LITERAL_ROW = "Expression.Literal.Struct"
    ROW = "Expression.Nested.Struct"
    FUNCTION = "functions"
    USER_TYPE = "types"
    VARIATION = "variations"
    NAME = "a name"
    PLAIN = "anything else"


class Field(NamedTuple):
    """The form of a field.

    Args:
        kind: what it holds.
        prefix: the prefix of an enumeration's values, which the text leaves out; empty for other fields.
        repeated: whether it is a list.
    """

    kind: Kind
    prefix: str = ""
    repeated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The written form of a relation.

    Args:
        key: the field of a ``Rel`` that holds it.
        title: its name in the text.
        fields: those of its message.
        renamed: the names in the text of those that have another one there.
        inputs: its fields that hold relations, written below the line.
        first: an enumeration that is written first, without its field's name.
        rest: the field whose value is written without a name: the first one whose expressions are computed over the
            records of the inputs, or the only one that there is.
    """

    key: str
    title: str
    fields: Mapping[str, Field]
    renamed: Mapping[str, str]
    inputs: tuple[str, ...]
    first: str | None
    rest: str | None


VERSION = ("major_number", "minor_number", "patch_number")
"""The fields of a version that are written with dots between them."""
BEHAVIOR = {"variable_eval_mode": "VARIABLE_EVALUATION_MODE_PER_PLAN"}
"""The execution behavior that the text leaves out; its absence is written."""
PROPERTIES: Mapping[str, str] = {"rel_anchor": "anchor", "advanced_extension": "extension"}
"""The names in the text of fields that all relations have."""

CALL = ("function_reference", "arguments", "options", "output_type")
"""The fields of all calls of functions, which have a place in their text."""
AGGREGATE = ("sorts", "phase", "invocation")
"""The other fields of aggregate functions, by their names in the text."""
WINDOW = ("partitions", "sorts", "bounds_type", "lower_bound", "upper_bound", "phase", "invocation")
"""Those of window functions."""
DEFAULTS = {"phase": "AGGREGATION_PHASE_INITIAL_TO_RESULT", "invocation": "AGGREGATION_INVOCATION_ALL"}
"""The values that the text leaves out; the fields' absence is written."""
PREDICATES = ("exists", "unique")
"""The operations of set predicates, which have the form of functions."""

_RENAMED = {
    "offset_expr": "offset",
    "count_expr": "count",
    "grouping_expressions": "by",
    "groupings": "sets",
    "partition_expressions": "partitions",
}
_FIRST = ("type", "op")
_OF_INPUTS = frozenset({Over.INPUT, Over.LEFT, Over.RIGHT})

_KINDS = {kind.value: kind for kind in Kind}
_NAMED = {
    "names": Kind.NAME,
    "output_names": Kind.NAME,
    "function_reference": Kind.FUNCTION,
    "comparison_function_reference": Kind.FUNCTION,
    "custom_function_reference": Kind.FUNCTION,
    "type_reference": Kind.USER_TYPE,
    "type_variation_reference": Kind.VARIATION,
    # what fields of these names hold depends on their message
    **dict.fromkeys(("expression", "expressions", "filter"), Kind.EXPRESSION),
    **dict.fromkeys(("fields", "left", "right"), Kind.FIELD_REFERENCE),
}
#: fields that are written as they are, outside of the forms of relations and expressions that have a place for them
_AS_THEY_ARE = {
    *("expr", "direction", "match", "comparison_op", "reduction_op", "masked_reference"),
    *("count", "keys", "measure", "measures", "window_functions"),
}
_PLAIN = Field(Kind.PLAIN)


def field_of(name: str, shape: Shape | None = None) -> Field:
    """Return the form of a field: of a relation, or else the one that fields of this name have in every message."""
    return (shape is not None and shape.fields.get(name)) or _by_name().get(name, _PLAIN)


@cache
def prefix_of(name: str) -> str:
    """Return the prefix of the values of an enumeration, by the name of the fields that hold it."""
    return next(fields[name].prefix for fields in message_types().values() if name in fields)


@cache
def _by_name() -> Mapping[str, Field]:
    types: dict[str, set[tuple[str, str]]] = {}
    for fields in message_types().values():
        for name, (message, prefix, _) in fields.items():
            types.setdefault(name, set()).add((message, prefix))
    alike = {name: _field(name, FieldType(*found.pop(), False)) for name, found in types.items() if len(found) == 1}
    known = {name: field for name, field in alike.items() if field != _PLAIN and name not in _AS_THEY_ARE}
    return known | {name: Field(kind) for name, kind in _NAMED.items()}


@cache
def titles() -> Mapping[str, str]:
    """Return the fields of ``Rel`` by the titles of their relations."""
    keys = [key for key, type in message_types()["Rel"].items() if type.message]
    return {"".join(map(str.capitalize, key.split("_"))): key for key in keys}


@cache
def shape_of(key: str) -> Shape:
    """Return how the relation in a field of ``Rel`` is written."""
    types = message_types()[message_types()["Rel"][key].message]
    inputs = tuple(name for name, type in types.items() if type.message == "Rel")
    first = next((name for name in _FIRST if name in types), None)
    others = [name for name in types if name not in ("common", "advanced_extension", first, *inputs)]
    if len(others) > 1:
        found = [RECORDS[node] for node in get_args(Relation) if inputs and node.info.field == key]
        others = [name for name in others if any(_OF_INPUTS & records.get(name, frozenset()) for records in found)]
    return Shape(
        key=key,
        title=next(title for title, of in titles().items() if of == key),
        fields={name: _field(name, type) for name, type in types.items()},
        renamed={name: text for name, text in _RENAMED.items() if name in types},
        inputs=inputs,
        first=first,
        rest=others[0] if others else None,
    )


def _field(name: str, type: FieldType) -> Field:
    kind = _KINDS.get(type.message) or _NAMED.get(name, Kind.PLAIN)
    return Field(kind, type.prefix, type.repeated)

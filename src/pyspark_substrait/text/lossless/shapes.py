"""Tables that describe messages to the text form: which fields hold expressions, and the names of relations.

Fields in none of these tables are written as they are, ``name: value``, so that no field is lost, whether or not the
text form knows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

__all__ = ["BY_KEY", "BY_TITLE", "PREFIXES", "RELATIONS", "REPEATED", "Kind", "Shape", "kind_of", "prefix_of"]


class Kind(Enum):
    """The kind of value that a field holds; for a list, the kind of its elements."""

    EXPRESSION = auto()
    LITERAL = auto()
    TYPE = auto()
    STRUCT_TYPE = auto()
    SCHEMA = auto()
    FIELD_REFERENCE = auto()
    RELATION = auto()
    SORT = auto()
    CALL = auto()
    MEASURE = auto()
    WINDOW_CALL = auto()
    BOUND = auto()
    ROW = auto()
    LITERAL_ROW = auto()
    JOIN_KEY = auto()
    EXPAND_FIELD = auto()
    MASK = auto()
    FUNCTION = auto()
    USER_TYPE = auto()
    VARIATION = auto()
    NAME = auto()
    PLAIN = auto()


_EXPRESSIONS = (
    "filter best_effort_filter condition offset_expr count_expr expression post_join_filter residual_expression "
    "transformation consistent_field grouping_expressions partition_expressions partitions duplicates needles "
    "expressions detached_expressions body else then"
)
BY_KEY: Mapping[str, Kind] = {
    **dict.fromkeys(_EXPRESSIONS.split(), Kind.EXPRESSION),
    **dict.fromkeys(("output_type", "data_type", "return_type", "parameter_types"), Kind.TYPE),
    "types": Kind.TYPE,
    "parameters": Kind.STRUCT_TYPE,
    "base_schema": Kind.SCHEMA,
    "table_schema": Kind.SCHEMA,
    "fields": Kind.FIELD_REFERENCE,
    "left": Kind.FIELD_REFERENCE,
    "right": Kind.FIELD_REFERENCE,
    "sorts": Kind.SORT,
    "projection": Kind.MASK,
    "lower_bound": Kind.BOUND,
    "upper_bound": Kind.BOUND,
    "table_defaults": Kind.LITERAL_ROW,
    "function_reference": Kind.FUNCTION,
    "comparison_function_reference": Kind.FUNCTION,
    "custom_function_reference": Kind.FUNCTION,
    "type_reference": Kind.USER_TYPE,
    "type_variation_reference": Kind.VARIATION,
    "names": Kind.NAME,
    "output_names": Kind.NAME,
}
"""The default kinds of fields, by name."""

PREFIXES: Mapping[str, str] = {
    "phase": "AGGREGATION_PHASE_",
    "invocation": "AGGREGATION_INVOCATION_",
    "bounds_type": "BOUNDS_TYPE_",
    "failure_behavior": "FAILURE_BEHAVIOR_",
    "predicate_op": "PREDICATE_OP_",
    "create_mode": "CREATE_MODE_",
    "output": "OUTPUT_MODE_",
    "object": "DDL_OBJECT_",
    "simple": "SIMPLE_COMPARISON_TYPE_",
    "build_input": "BUILD_INPUT_",
    "mode": "FETCH_MODE_",
    "variable_eval_mode": "VARIABLE_EVALUATION_MODE_",
    "nullability": "NULLABILITY_",
}
"""The prefixes of enumeration values, which the text leaves out, by the field that holds the enumeration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How a relation is written.

    Args:
        key: the field of a ``Rel`` that holds it.
        title: its name in the text.
        inputs: its fields that hold relations, written below the line.
        first: an enumeration that is written first, without its field's name, and the prefix of its values.
        rest: the field whose value is written without a name.
        kinds: of fields, where they differ from :data:`BY_KEY`.
        prefixes: of enumerations, where they differ from :data:`PREFIXES`.
        renamed: names of fields in the text.
    """

    key: str
    title: str
    inputs: tuple[str, ...] = ()
    first: tuple[str, str] | None = None
    rest: str | None = None
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    prefixes: Mapping[str, str] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)


_ONE = ("input",)
_TWO = ("left", "right")
_JOIN = ("type", "JOIN_TYPE_")
_KEYS: Mapping[str, Kind] = {"keys": Kind.JOIN_KEY}

SHAPES = (
    Shape(key="read", title="Read"),
    Shape(key="filter", title="Filter", inputs=_ONE, rest="condition"),
    Shape(key="fetch", title="Fetch", inputs=_ONE, renamed={"offset_expr": "offset", "count_expr": "count"}),
    Shape(
        key="aggregate",
        title="Aggregate",
        inputs=_ONE,
        rest="measures",
        kinds={"measures": Kind.MEASURE, "grouping_expressions": Kind.EXPRESSION},
        renamed={"grouping_expressions": "by", "groupings": "sets"},
    ),
    Shape(key="sort", title="Sort", inputs=_ONE, rest="sorts"),
    Shape(key="join", title="Join", inputs=_TWO, first=_JOIN, rest="expression"),
    Shape(key="lateral_join", title="LateralJoin", inputs=_TWO, first=_JOIN, rest="expression"),
    Shape(key="project", title="Project", inputs=_ONE, rest="expressions"),
    Shape(key="set", title="Set", inputs=("inputs",), first=("op", "SET_OP_")),
    Shape(key="extension_single", title="ExtensionSingle", inputs=_ONE, rest="detail"),
    Shape(key="extension_multi", title="ExtensionMulti", inputs=("inputs",), rest="detail"),
    Shape(key="extension_leaf", title="ExtensionLeaf", rest="detail"),
    Shape(key="cross", title="Cross", inputs=_TWO),
    Shape(key="reference", title="Reference", rest="subtree_ordinal"),
    Shape(key="write", title="Write", inputs=_ONE, first=("op", "WRITE_OP_")),
    Shape(key="ddl", title="Ddl", inputs=("view_definition",), first=("op", "DDL_OP_")),
    Shape(key="update", title="Update"),
    Shape(key="hash_join", title="HashJoin", inputs=_TWO, first=_JOIN, rest="keys", kinds=_KEYS),
    Shape(key="merge_join", title="MergeJoin", inputs=_TWO, first=_JOIN, rest="keys", kinds=_KEYS),
    Shape(key="nested_loop_join", title="NestedLoopJoin", inputs=_TWO, first=_JOIN, rest="expression"),
    Shape(
        key="window",
        title="Window",
        inputs=_ONE,
        rest="window_functions",
        kinds={"window_functions": Kind.WINDOW_CALL},
        renamed={"partition_expressions": "partitions"},
    ),
    Shape(key="exchange", title="Exchange", inputs=_ONE),
    Shape(key="expand", title="Expand", inputs=_ONE, rest="fields", kinds={"fields": Kind.EXPAND_FIELD}),
    Shape(
        key="top_n",
        title="TopN",
        inputs=_ONE,
        rest="sorts",
        kinds={"offset": Kind.EXPRESSION, "count": Kind.EXPRESSION},
    ),
)
RELATIONS: Mapping[str, Shape] = {shape.key: shape for shape in SHAPES}
BY_TITLE: Mapping[str, Shape] = {shape.title: shape for shape in SHAPES}

REPEATED = frozenset({"expressions", "measures", "sorts", "window_functions", "fields", "keys"})
"""The fields without a name that are lists."""


def kind_of(key: str, shape: Shape | None = None) -> Kind:
    """Return the kind of value that a field holds."""
    if shape is not None and key in shape.kinds:
        return shape.kinds[key]
    return BY_KEY.get(key, Kind.PLAIN)


def prefix_of(key: str, shape: Shape | None = None) -> str | None:
    """Return the prefix of the enumeration values that a field holds; None for other fields."""
    if shape is not None and key in shape.prefixes:
        return shape.prefixes[key]
    return PREFIXES.get(key)

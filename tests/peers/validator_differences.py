"""Where substrait-validator's suite expects something else than the specification of 0.108 says.

Each expectation is named by its file, its path and its kind, and has the sentence of the specification that decides,
with the page that it stands on.
"""

from __future__ import annotations

__all__ = ["DIFFERENCES", "OUTDATED"]

_IDENTICAL = (
    '"When an if expression is declared, all return expressions must be the same identical type."'
    " (expressions/specialized_record_expressions): a condition that may be null doesn't make the result so"
)
_IN_LIST = (
    '"For single value expressions, these are a compact equivalent of `expression = value1 OR expression = value2 OR'
    ' .. OR expression = valueN`." (expressions/specialized_record_expressions): equal takes a nullable operand'
    " beside a required one, and gives boolean? then"
)
_OVERFLOW = (
    '"Negative and positive overflows return null values (no wrapping)." (expressions/field_references): an element'
    " of a list is nullable"
)
_UNWRAPPED = (
    '"By default, when only a single field is selected from a struct, that struct is removed. When only a single'
    ' element is removed from a list, the list is removed." (expressions/field_references), and a key or an element'
    " that isn't there gives null"
)
_SIGNS = (
    '"Each component can never independently specify more than 10,000 years, even if the components have opposite'
    ' signs" (types/type_classes): components may have opposite signs'
)
_PRECISION = (
    '"`INTERVAL_DAY<P>`: Interval day to second. Supports a range of [-3,650,000..3,650,000] days with fractional'
    " second precision (P, number of digits) 0 <= P <= 12.\" (types/type_classes): a literal of precision 9 isn't one"
    " of precision 6"
)
_NO_RANGE = (
    '"`PRECISION_TIMESTAMP<P>`: A timestamp with fractional second precision (P, number of digits) 0 <= P <= 12 …'
    ' `int64` seconds, milliseconds, microseconds, nanoseconds or picoseconds since 1970-01-01" (types/type_classes):'
    " no years are named, unlike for date"
)
_FIELDS_STAY = (
    "\"Semantic-changing extensions shouldn't change the core characteristics of the underlying relation. For example,"
    ' they should avoid changing the default direct output field ordering or the number of fields output."'
    " (extensions, Enhancement Constraints): the schema is known"
)
_OF_INPUTS = (
    '"The project operation will produce one or more additional expressions based on the inputs of the relation."'
    " (relations/logical_relations): an expression doesn't see those before it"
)
_PARTS = (
    '"A list of namespaced strings that, together, form the table name" (relations/logical_relations): several names'
    " are one table"
)
_CAST = (
    '"Note that Substrait always requires a cast expression whenever the current type is not exactly equal to (one of)'
    ' the expected types." (expressions/specialized_record_expressions)'
)
_SIGNATURE = (
    '"A specific function implementation within a YAML file can be identified using a Function Signature"'
    " (extensions): functions_arithmetic_decimal has no min:any_any"
)

_EXPRESSIONS = "relations[0].rel.project.expressions"
_ROWS = "relations[0].rel.read.virtual_table.expressions"

DIFFERENCES: dict[tuple[str, str, str], str] = {
    ("expressions/conditionals/if-else.yaml", f"{_EXPRESSIONS}[2]", "type"): _IDENTICAL,
    (
        "expressions/conditionals/matches-scalar.yaml",
        f"{_EXPRESSIONS}[2].singular_or_list.options[1]",
        "diag",
    ): _IN_LIST,
    ("expressions/conditionals/matches-scalar.yaml", f"{_EXPRESSIONS}[2]", "type"): _IN_LIST,
    ("expressions/conditionals/matches-vector.yaml", f"{_EXPRESSIONS}[2].multi_or_list.options[1]", "diag"): _IN_LIST,
    ("expressions/conditionals/matches-vector.yaml", f"{_EXPRESSIONS}[2]", "type"): _IN_LIST,
    ("expressions/field-refs/mask-ref.yaml", f"{_EXPRESSIONS}[0].selection", "type"): _UNWRAPPED,
    ("expressions/field-refs/scalar-list-ref.yaml", f"{_EXPRESSIONS}[4]", "type"): _OVERFLOW,
    (
        "expressions/literals/interval_day.yaml",
        f"{_ROWS}[7].fields[0].literal.interval_day_to_second",
        "diag",
    ): _SIGNS,
    ("expressions/literals/interval_day.yaml", "", "level"): _PRECISION,
    **{
        (f"expressions/literals/{kind}.yaml", f"{_ROWS}[{row}].fields[{field}].literal.precision_{kind}", "diag"): (
            _NO_RANGE
        )
        for kind in ("timestamp", "timestamp_tz")
        for row, field in ((1, 1), (2, 0), (3, 0), (3, 1))
    },
    ("expressions/literals/fixed_binary.yaml", "", "level"): _CAST,
    ("expressions/literals/fixed_char.yaml", "", "level"): _CAST,
    ("relations/common/enhancement.yaml", "relations[0].rel.read", "type"): _FIELDS_STAY,
    ("relations/project/dependent.yaml", "relations[0].rel.project", "type"): _OF_INPUTS,
    ("relations/project/dependent.yaml", "", "level"): _OF_INPUTS,
    ("relations/read/named-table/multiple.yaml", "relations[0].rel.read.named_table", "diag"): _PARTS,
    ("relations/sort/key_cmp.yaml", "", "level"): _CAST,
    ("tpc-h/tpc-h02.yaml", "", "level"): _SIGNATURE,
    ("tpc-h/tpc-h06.yaml", "", "level"): _CAST,
    ("tpc-h/tpc-h19.yaml", "", "level"): _CAST,
}
"""By file, path and kind of expectation: the sentence of the specification that decides."""

OUTDATED: dict[tuple[str, str, str], str] = {
    ("version/current-version.yaml", "", "level"): "the release that the suite calls the current one is 0.87.0",
}
"""By file, path and kind of expectation: why it can't be asked of 0.108."""

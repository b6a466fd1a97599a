"""Functions of lists and maps in DuckDB. Elements are counted from 1, or from -1 at the end; so are their indexes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlglot import exp

from pyspark_substrait.codes import Code
from pyspark_substrait.engines.dialects.dialect import Call, Row, row
from pyspark_substrait.engines.dialects.standard import comparable
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import I8, I16, I32, I64, List, Struct, Type, concrete

__all__ = ["ELEMENT", "LISTS", "SPARK_LISTS", "nested_order"]

#: an element by its position; null where there is none
ELEMENT: Final = "LIST_EXTRACT({0}, {1})"

#: how deep values may be nested whose order counts, and the characters of the template at most
_DEEPEST: Final = 6
_LONGEST: Final = 20_000


def nested_order(type: Type) -> str:
    """Return the template of a list or a struct whose order is the plan's: nulls in it come first, there last.

    Raises:
        UnsupportedPlanError: the value is nested so deep, or so wide, that the template would be long.
    """
    template = _in_order(type, "{0}", 0)
    if len(template) > _LONGEST:
        raise _too_large()
    return template


def _too_large() -> UnsupportedPlanError:
    return UnsupportedPlanError(
        "the text would be too long for the order of so large a struct or list",
        hint="Order by parts of it",
        code=Code.TARGET_EXPRESSION,
    )


def _in_order(type: Type, value: str, depth: int) -> str:
    if depth > _DEEPEST:
        raise _too_large()
    match concrete(type):
        case List(type=element):
            name = f"e{depth}"
            inner = _in_order(element, name, depth + 1)
            if element.nullable:
                inner = f"ROW({name} IS NOT NULL, {inner})"
            return value if inner == name else f"LIST_TRANSFORM({value}, LAMBDA {name}: {inner})"
        case Struct(types=fields) as struct:
            parts = []
            for place, field in enumerate(fields):
                one = f"STRUCT_EXTRACT_AT({value}, {place + 1})"
                parts += [f"{one} IS NOT NULL"] if field.nullable else []
                parts.append(_in_order(field, one, depth + 1))
            made = f"ROW({', '.join(parts)})"
            return f"CASE WHEN {value} IS NULL THEN NULL ELSE {made} END" if struct.nullable else made
        case _:
            return value


def _compared(template: str) -> Callable[[Call], exp.Expression]:
    """Return the body of a function of a list whose elements are compared there as here."""

    def body(call: Call) -> exp.Expression:
        type = concrete(call.type(0))
        assert isinstance(type, List)
        comparable(type.type, call)
        return call.filled(template)

    return body


def _sorts() -> list[Row]:
    found = []
    for order in ("ASC", "DESC"):
        for nulls in ("FIRST", "LAST"):
            body = _compared(f"LIST_SORT({{0}}, '{order}', 'NULLS {nulls}')")
            found.append(row("sort", body, direction=f"{order}_NULLS_{nulls}"))
    return found


_UNKNOWN: Final = "{0} IS NULL OR {1} IS NULL"
_CONTAINED: Final = (
    f"CASE WHEN {_UNKNOWN} THEN NULL "
    "WHEN LIST_CONTAINS({0}, {1}) THEN TRUE "
    "WHEN LIST_COUNT({0}) < LEN({0}) THEN NULL ELSE FALSE END"
)
_FROM_ZERO: Final = "LIST_EXTRACT({0}, CAST({1} AS BIGINT) + 1)"
_MISSING: Final = "error('the list has no element at this position')"

#: where no element decides, null if some are unknown
_MATCHED: Final = (
    "CASE WHEN {0} IS NULL THEN NULL WHEN LIST_CONTAINS(LIST_TRANSFORM({0}, {1}), DECISIVE) THEN DECISIVE "
    "WHEN LIST_COUNT(LIST_TRANSFORM({0}, {1})) < LEN({0}) THEN NULL ELSE NOT DECISIVE END"
)

LISTS: Final = [
    row("cardinality", "CAST(LEN({0}) AS {output})"),
    row("filter", "LIST_FILTER({0}, {1})"),
    row("transform", "LIST_TRANSFORM({0}, {1})"),
    row("any_match", _MATCHED.replace("DECISIVE", "TRUE")),
    row("all_match", _MATCHED.replace("DECISIVE", "FALSE")),
    *_sorts(),
]
"""The functions of the specification."""

#: whether an element is the first of those that equal it
_FIRST: Final = "LIST_POSITION({0}, v) = i"


def _kept_if(found: str) -> str:
    """Return the template of the distinct elements of a list by whether they are found in another one."""
    kept = f"LIST_FILTER({{0}}, LAMBDA v, i: {_FIRST} AND LIST_POSITION({{1}}, v) {found})"
    return f"CASE WHEN {{1}} IS NULL THEN NULL ELSE {kept} END"


_START: Final = "CASE WHEN {1} < 0 THEN LEN({0}) + {1} + 1 ELSE {1} END"
_SLICE: Final = (
    f"CASE WHEN {_UNKNOWN} OR {{2}} IS NULL THEN NULL "
    "WHEN {1} = 0 OR {2} < 0 THEN error('a slice starts at 1 or -1, and its length is not negative') "
    f"ELSE LIST_FILTER({{0}}, LAMBDA v, i: {_START} >= 1 AND i >= {_START} AND i - {_START} < {{2}}) END"
)
_SEQUENCE: Final = "CAST(GENERATE_SERIES({0}, {1}, CASE WHEN {0} <= {1} THEN 1 ELSE -1 END) AS {output})"
_STEPS: Final = (
    f"CASE WHEN {_UNKNOWN} OR {{2}} IS NULL THEN NULL "
    "WHEN {2} = 0 AND {0} = {1} THEN [{0}] "
    "WHEN ({2} > 0 AND {0} <= {1}) OR ({2} < 0 AND {0} >= {1}) THEN CAST(GENERATE_SERIES({0}, {1}, {2}) AS {output}) "
    "ELSE error('the step of a sequence leads away from its end') END"
)
_OVERLAP: Final = (
    f"CASE WHEN {_UNKNOWN} THEN NULL WHEN LIST_HAS_ANY({{0}}, {{1}}) THEN TRUE "
    "WHEN LEN({0}) = 0 OR LEN({1}) = 0 THEN FALSE "
    "WHEN LIST_COUNT({0}) < LEN({0}) OR LIST_COUNT({1}) < LEN({1}) THEN NULL ELSE FALSE END"
)


def _unless_null(template: str) -> Callable[[Call], exp.Expression]:
    """Return the body of a function that is null if an argument is."""

    def body(call: Call) -> exp.Expression:
        unknown = " OR ".join(f"{{{place}}} IS NULL" for place in range(len(call.operands)))
        return call.filled(f"CASE WHEN {unknown} THEN NULL ELSE {template} END")

    return body


def _from_zero(call: Call) -> exp.Expression:
    """Return the element at a position from 0; null where there is none."""
    position = call.literal(1)
    if isinstance(position, int) and position >= 0:
        return call.filled(f"LIST_EXTRACT({{0}}, {position + 1})")
    return call.filled(f"CASE WHEN {{1}} < 0 THEN NULL ELSE {_FROM_ZERO} END")


def _of_integers(template: str) -> Callable[[Call], exp.Expression]:
    """Return the body of a function of integers."""

    def body(call: Call) -> exp.Expression:
        if not isinstance(concrete(call.type(0)), I8 | I16 | I32 | I64):
            raise UnsupportedPlanError(
                f"{call.function.key} of {call.type(0)} has no form in {call.dialect.engine} yet",
                code=Code.TARGET_FUNCTION,
            )
        return call.filled(template)

    return body


def _joined(call: Call) -> exp.Expression:
    return call.filled(" || ".join(f"{{{place}}}" for place in range(len(call.operands))))


def _joined_maps(call: Call) -> exp.Expression:
    entries = " || ".join(f"MAP_ENTRIES({{{place}}})" for place in range(len(call.operands)))
    return call.filled(f"MAP_FROM_ENTRIES({entries})")


def _over(place: int, template: str, *parameters: str, result: str = "{0}") -> Callable[[Call], exp.Expression]:
    """Return the body of a function that calls a lambda for each element of another list than in the plan.

    Args:
        place: the position of the lambda among the arguments.
        template: the function, in which ``{lambda}`` is the lambda.
        parameters: what the lambda's parameters are there, by the parameters ``{0}``, ``{1}`` that it has now.
        result: what it gives, by the parameters, and its own result behind them.
    """

    def body(call: Call) -> exp.Expression:
        given = call.operands[place]
        if not isinstance(given, exp.Lambda):
            raise UnsupportedPlanError(
                f"{call.function.key} of a function that is not written out has no form in {call.dialect.engine} yet",
                code=Code.TARGET_FUNCTION,
            )
        names = [one.name for one in given.expressions]
        own = [exp.to_identifier(name, quoted=True) for name in names]
        new = {name: call.dialect.filled(text, *own) for name, text in zip(names, parameters, strict=True)}

        def replaced(node: exp.Expression) -> exp.Expression:
            return new[node.name].copy() if isinstance(node, exp.Identifier) and node.name in new else node

        value = given.this.transform(replaced, copy=False)
        made = exp.Lambda(
            this=call.dialect.filled(result, value, *(new[name].copy() for name in names)),
            expressions=[one for number, one in enumerate(own) if any(f"{{{number}}}" in text for text in parameters)],
        )
        return call.filled(template.replace("{lambda}", f"{{{len(call.operands)}}}"), made)

    return body


_KEY_AND_VALUE: Final = ("STRUCT_EXTRACT_AT({0}, 1)", "STRUCT_EXTRACT_AT({0}, 2)")
_WITH_INDEX: Final = ("{0}", "CAST({1} - 1 AS INTEGER)")

SPARK_LISTS: Final = [
    row("element", f"CASE WHEN {{1}} < 0 OR {{1}} >= LEN({{0}}) THEN {_MISSING} ELSE {_FROM_ZERO} END"),
    row("get", _from_zero),
    row("element_at", f"CASE WHEN {{1}} = 0 OR ABS({{1}}) > LEN({{0}}) THEN {_MISSING} ELSE {ELEMENT} END"),
    row("try_element_at", f"CASE WHEN {{1}} = 0 THEN {_MISSING} ELSE {ELEMENT} END"),
    row("map_value", "MAP_EXTRACT_VALUE({0}, {1})"),
    row("contains", _compared(_CONTAINED)),
    row("position", _compared(f"CASE WHEN {_UNKNOWN} THEN NULL ELSE COALESCE(LIST_POSITION({{0}}, {{1}}), 0) END")),
    row("distinct", _compared(f"LIST_FILTER({{0}}, LAMBDA v, i: {_FIRST})")),
    row("union", _compared("LIST_FILTER({0} || {1}, LAMBDA v, i: LIST_POSITION({0} || {1}, v) = i)")),
    row("except", _compared(_kept_if("IS NULL"))),
    row("intersect", _compared(_kept_if("IS NOT NULL"))),
    row(
        "remove",
        _compared("CASE WHEN {1} IS NULL THEN NULL ELSE LIST_FILTER({0}, LAMBDA v: v IS DISTINCT FROM {1}) END"),
    ),
    row("overlap", _compared(_OVERLAP)),
    row("zip", _unless_null("LIST_ZIP({*})")),
    row("repeat", "LIST_TRANSFORM(RANGE({1}), LAMBDA i: {0})"),
    row("slice", _SLICE),
    row("flatten", "CASE WHEN LIST_COUNT({0}) < LEN({0}) THEN NULL ELSE FLATTEN({0}) END"),
    row("join", "ARRAY_TO_STRING({0}, {1})", signatures=("list_str",)),
    row("append", "CASE WHEN {0} IS NULL THEN NULL ELSE LIST_APPEND({0}, {1}) END"),
    row("prepend", "CASE WHEN {0} IS NULL THEN NULL ELSE LIST_PREPEND({1}, {0}) END"),
    row("compact", "LIST_FILTER({0}, LAMBDA v: v IS NOT NULL)"),
    row("concat", _joined),
    row("sequence", _of_integers(_SEQUENCE), signatures=("any_any",)),
    row("sequence", _of_integers(_STEPS), signatures=("any_any_any",)),
    row(
        "aggregate",
        "CASE WHEN {0} IS NULL THEN NULL ELSE LIST_EXTRACT(LIST_TRANSFORM([LIST_REDUCE({0}, {2}, {1})], {3}), 1) END",
    ),
    row("transform_with_index", _over(1, "LIST_TRANSFORM({0}, {lambda})", *_WITH_INDEX)),
    row("filter_with_index", _over(1, "LIST_FILTER({0}, {lambda})", *_WITH_INDEX)),
    row(
        "zip_with",
        _over(
            2,
            f"CASE WHEN {_UNKNOWN} THEN NULL ELSE LIST_TRANSFORM(LIST_ZIP({{0}}, {{1}}), {{lambda}}) END",
            *_KEY_AND_VALUE,
        ),
    ),
    row("map_size", "CAST(CARDINALITY({0}) AS {output})"),
    row("map_keys", "MAP_KEYS({0})"),
    row("map_values", "MAP_VALUES({0})"),
    row("map_entries", "CAST(MAP_ENTRIES({0}) AS {output})"),
    row("map_from_entries", "CASE WHEN LIST_COUNT({0}) < LEN({0}) THEN NULL ELSE MAP_FROM_ENTRIES({0}) END"),
    row("map_from_arrays", "MAP({0}, {1})"),
    row("map_concat", _joined_maps),
    row("map_contains_key", "MAP_CONTAINS({0}, {1})"),
    row("map_filter", _over(1, "MAP_FROM_ENTRIES(LIST_FILTER(MAP_ENTRIES({0}), {lambda}))", *_KEY_AND_VALUE)),
    row(
        "transform_values",
        _over(
            1, "MAP_FROM_ENTRIES(LIST_TRANSFORM(MAP_ENTRIES({0}), {lambda}))", *_KEY_AND_VALUE, result="ROW({1}, {0})"
        ),
    ),
    row(
        "transform_keys",
        _over(
            1, "MAP_FROM_ENTRIES(LIST_TRANSFORM(MAP_ENTRIES({0}), {lambda}))", *_KEY_AND_VALUE, result="ROW({0}, {2})"
        ),
    ),
    row("min", _compared("LIST_MIN({0})")),
    row("max", _compared("LIST_MAX({0})")),
    row("reverse", "LIST_REVERSE({0})"),
]
"""The functions that only Spark has."""

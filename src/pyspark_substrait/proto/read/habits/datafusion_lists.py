"""The types to which DataFusion casts the lists and the elements of a call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from pyspark_substrait.extensions.engines import ENGINES
from pyspark_substrait.extensions.producers import Producer
from pyspark_substrait.model.expressions import (
    Argument,
    EnumArgument,
    Expression,
    Function,
    ScalarFunction,
    TypeArgument,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import FP64, I64, List, String, Type, concrete, with_nullability

__all__ = ["ROLES", "empty_list", "is_unknown", "of_one_depth", "wanted"]

#: a letter for each argument: a list, an element, a whole number, a text, a list of numbers, a number; the last letter
#: stands for all the following arguments
ROLES: Final[dict[str, str]] = {
    "array_append": "LE", "array_prepend": "EL", "array_concat": "LL", "array_has": "LE", "array_has_all": "LL",
    "array_has_any": "LL", "array_position": "LEI", "array_positions": "LE", "array_remove": "LE",
    "array_remove_n": "LEI", "array_remove_all": "LE", "array_replace": "LEE", "array_replace_n": "LEEI",
    "array_replace_all": "LEE", "array_slice": "LI", "array_union": "LL", "array_intersect": "LL",
    "array_except": "LL", "array_repeat": "AI", "array_resize": "LIE", "array_element": "LI", "array_length": "LI",
    "array_sort": "LT", "array_to_string": "LT", "array_distinct": "L", "array_min": "L", "array_max": "L",
    "array_reverse": "L", "array_pop_back": "L", "array_pop_front": "L", "array_ndims": "L", "array_dims": "L",
    "empty": "L", "array_any_value": "L", "array_compact": "L", "cardinality": "L", "range": "I",
    "generate_series": "I", "string_to_array": "T", "array_sum": "V", "array_avg": "V", "array_product": "V",
    "array_scale": "VN", "array_add": "V", "array_subtract": "V", "array_normalize": "V", "array_distance": "V",
    "inner_product": "V", "cosine_distance": "V",
}  # fmt: skip


def wanted(
    name: str,
    values: Sequence[Expression],
    types: Sequence[Type],
    common: Callable[[Type, Type], Type | None],
) -> list[Type | None] | None:
    """Return the types that the arguments of a call have in DataFusion, None for those that stay.

    Args:
        name: the name of the function, one of :data:`ROLES`.
        values, types: the arguments.
        common: returns the type in which two elements are compared.

    Returns:
        None if what should be a list is none, or the elements of the lists have no type in common.
    """
    letters = ROLES[name]
    roles = [letters[min(index, len(letters) - 1)] for index in range(len(values))]
    element: Type | None = None
    for role, value, type in zip(roles, values, types, strict=True):
        if role not in "LE" or is_unknown(value):
            continue
        if role == "L" and not isinstance(type, List):
            return None
        found = concrete(type.type) if isinstance(type, List) and role == "L" else type
        element = found if element is None else common(element, found)
        if element is None:
            return None
    if element is None:  # lists of nothing stay what they are
        element = next((concrete(type.type) for type in types if isinstance(type, List)), String())
    element = with_nullability(element, True)
    return [_type(role, element, type) for role, type in zip(roles, types, strict=True)]


def _type(role: str, element: Type, type: Type) -> Type | None:
    match role:
        case "L":
            return List(type=element)
        case "E":
            return with_nullability(element, False)
        case "I":
            return I64()
        case "T":
            return String()
        case "V":
            return List(type=FP64(nullable=True))
        case "N":
            return FP64()
        case _:
            return None


def of_one_depth(values: list[Argument]) -> list[Argument]:
    """Return lists of which some are the elements of others; each such one as a list of it."""
    lists = [value for value in values if not isinstance(value, EnumArgument | TypeArgument)]
    depths = [_depth(value.type) for value in lists]
    if len(lists) < len(values) or len(set(depths)) == 1 or 0 in depths:
        return values
    made: list[Argument] = []
    for value, depth in zip(lists, depths, strict=True):
        for _ in range(max(depths) - depth):
            type = List(type=with_nullability(value.type, True), nullable=True)
            function = Function(ENGINES[Producer.DATAFUSION].urn, "make_array", "any")
            value = ScalarFunction(function=function, arguments=(value,), output_type=type, derived_type=type)
        made.append(value)
    return made


def _depth(type: Type) -> int:
    found = concrete(type)
    return 1 + _depth(found.type) if isinstance(found, List) else 0


def is_unknown(value: Argument) -> bool:
    """Whether a value is a null, or a list that has nothing else in it: its type may be any."""
    match value:
        case Literal(value=None, type=type):
            return _is_open(type)
        case Literal(value=tuple() | list() as items, type=List()):
            return all(isinstance(item, Literal) and item.value is None for item in items)
        case ScalarFunction(function=function, arguments=arguments) if function.name == "make_array":
            return all(map(is_unknown, arguments))
        case _:
            return False


def _is_open(type: Type) -> bool:
    """Whether a null has the type that stands for any, or is a list of such."""
    found = concrete(type)
    return isinstance(found, String) or (isinstance(found, List) and _is_open(found.type))


def empty_list() -> Literal:
    """The list of nothing, of which DataFusion doesn't say the type of the elements."""
    return Literal(type=List(type=String(nullable=True)), value=())

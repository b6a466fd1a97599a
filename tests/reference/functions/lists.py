"""The functions of functions_list and functions_set."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

from tests.reference.functions.registry import Call, scalar
from tests.reference.values import Value, compare, equal

Element = Callable[[Value], Value]
List = tuple[Value, ...]

_HERE = "functions_list"


@scalar(_HERE, "transform")
def _transform(call: Call, items: List, transformer: Element) -> List:
    return tuple(transformer(item) for item in items)


@scalar(_HERE, "filter")
def _filter(call: Call, items: List, predicate: Element) -> List:
    return tuple(item for item in items if predicate(item) is True)


@scalar(_HERE, "cardinality")
def _cardinality(call: Call, items: List) -> int:
    return len(items)


@scalar(_HERE, "any_match")
def _any_match(call: Call, items: List, predicate: Element) -> bool | None:
    found = [predicate(item) for item in items]
    return True if True in found else None if None in found else False


@scalar(_HERE, "all_match")
def _all_match(call: Call, items: List, predicate: Element) -> bool | None:
    found = [predicate(item) for item in items]
    return False if False in found else None if None in found else True


@scalar(_HERE, "sort")
def _sort(call: Call, items: List) -> List:
    direction = call.options.get("direction")
    if direction is None:
        raise call.open("the direction")
    nulls = tuple(item for item in items if item is None)
    known = [item for item in items if item is not None]
    ordered = sorted(known, key=functools.cmp_to_key(lambda one, other: compare(one, other, call.choices)))
    if direction.startswith("DESC"):
        ordered.reverse()
    return (*nulls, *ordered) if direction.endswith("FIRST") else (*ordered, *nulls)


@scalar("functions_set", "index_in")
def _index_in(call: Call, needle: Value, haystack: List) -> int | None:
    if isinstance(needle, float) and math.isnan(needle):
        if call.options.get("nan_equality") == "NAN_IS_NOT_NAN":
            return None
        found = [at for at, item in enumerate(haystack) if isinstance(item, float) and math.isnan(item)]
    else:
        found = [
            at
            for at, item in enumerate(haystack)
            if item is not None and not (isinstance(item, float) and math.isnan(item))
            if equal(needle, item, call.choices)
        ]
    return found[0] if found else None

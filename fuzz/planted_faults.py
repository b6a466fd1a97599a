"""Faults to plant into the package: each is a small patch of one place, applied while a ``with`` block runs.

A fault is of the kind that a slip of a programmer makes: a wrong order of nulls, a lost emit, swapped sides, a dropped
option, an offset that is one too large. ``finders`` are the fuzzers whose job it is to see it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final
from unittest import mock

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model.literals import DayTime, Literal
from pyspark_substrait.proto import enums
from pyspark_substrait.proto.read import frames, literals, references, rel_common
from pyspark_substrait.proto.read import functions as read_functions
from pyspark_substrait.spark.producer.expressions import calls as produced_calls
from pyspark_substrait.spark.producer.expressions import casts as produced_casts
from pyspark_substrait.spark.producer.expressions import conditions as produced_conditions
from pyspark_substrait.spark.producer.expressions import sorting as produced_sorting
from pyspark_substrait.spark.producer.expressions import windows as produced_windows
from pyspark_substrait.spark.producer.relations import joins as produced_joins
from pyspark_substrait.spark.producer.relations import sets as produced_sets
from pyspark_substrait.spark.producer.relations import single_input
from pyspark_substrait.sql.compiler import (
    aggregates,
    calls,
    expressions,
    fetches,
    joins,
    measures,
    names,
    relations,
    sets,
    sorting,
    subqueries,
    top_n,
    window_frames,
)
from pyspark_substrait.sql.compiler import literals as sql_literals
from pyspark_substrait.sql.fragment import Name
from pyspark_substrait.sql.functions.table import Table

__all__ = ["FAULTS", "Changed", "Fault", "Missing", "Replaced"]

_PACKAGE: Final = "pyspark_substrait"


class Missing(Exception):
    """The place of a fault is no longer in the package."""


@dataclass(frozen=True)
class Fault:
    """A fault.

    Args:
        name: the slip, in a few words.
        part: ``compiler``, ``reader`` or ``producer``.
        patch: makes a context in which the package has the fault.
        finders: the kinds of trials whose job it is to find it.
    """

    name: str
    part: str
    patch: Changed | Replaced
    finders: tuple[str, ...] = ("plans",)


@dataclass(frozen=True)
class Changed:
    """A patch of a function. ``change`` gets the original before the arguments.

    Whoever has imported the function by its name, or keeps it in a table of a module, gets the changed one, too.
    """

    owner: Any
    name: str
    change: Callable[..., Any]

    @property
    def original(self) -> Any:
        """The function.

        Raises:
            Missing: there is none of this name.
        """
        found = getattr(self.owner, self.name, None)
        if found is None:
            raise Missing(f"{self.owner.__name__}.{self.name}")
        return found

    @contextmanager
    def __call__(self) -> Iterator[None]:
        original = self.original
        faulty = partial(self.change, original)
        with ExitStack() as stack:
            if isinstance(self.owner, type):
                # as a plain function, because a partial isn't bound to its object
                method = lambda *args, **named: faulty(*args, **named)  # noqa: E731
                stack.enter_context(mock.patch.object(self.owner, self.name, method))
            for found in [item for key, item in sys.modules.items() if key.startswith(_PACKAGE)]:
                for attribute, value in [*vars(found).items()]:
                    if value is original:
                        stack.enter_context(mock.patch.object(found, attribute, faulty))
                    elif isinstance(value, dict):
                        keys = [key for key, item in value.items() if item is original]
                        stack.enter_context(mock.patch.dict(value, dict.fromkeys(keys, faulty)))
            yield


@dataclass(frozen=True)
class Replaced:
    """A patch of some entries of a table, which must be in it.

    Raises:
        Missing: the table, or one of the entries, isn't there.
    """

    owner: Any
    name: str
    entries: Mapping[Any, Any]

    @contextmanager
    def __call__(self) -> Iterator[None]:
        table = getattr(self.owner, self.name, None)
        if table is None or not self.entries.keys() <= table.keys():
            raise Missing(f"{self.owner.__name__}.{self.name}")
        with mock.patch.dict(table, self.entries):
            yield


# the compiler ---------------------------------------------------------------------------------------------------------


def _nulls_first(original: Any, *given: Any) -> Any:
    return original(*given)._replace(nulls_first=True)


def _permutation_lost(original: Any, query: Any, node: Any, compilation: Any) -> Any:
    """Keep all columns in their order where emit puts them in another one."""
    emit = node.common.emit
    return query if emit is not None and len(emit) == len(query.items) else original(query, node, compilation)


def _without_options(original: Any, table: Any, call: Any, preferences: Any) -> Any:
    return original(table, call, ())


def _one_more(original: Any, *given: Any) -> Any:
    value = original(*given)
    return None if value is None else value + 1


def _after_lost(original: Any, node: Any, *given: Any) -> Any:
    return original(replace(node, post_join_filter=None), *given)


def _never(original: Any, *given: Any) -> bool:
    return False


def _unfiltered(original: Any, call: Any, condition: Any, *given: Any) -> Any:
    return original(call, None, *given)


_CONFUSED: Final = {r.SetOp.MINUS_PRIMARY_ALL: r.SetOp.MINUS_PRIMARY}


def _duplicates_lost(original: Any, node: Any, *given: Any) -> Any:
    return original(replace(node, op=_CONFUSED.get(node.op, node.op)), *given)


def _plain_equality(original: Any, table: Any, call: Any, preferences: Any) -> Any:
    text = original(table, call, preferences)
    return text.replace("<=>", "=") if call.function.name == "is_not_distinct_from" else text


def _offset_lost(original: Any, query: Any, schema: Any, offset: Any, count: Any, compilation: Any) -> Any:
    return original(query, schema, offset if count is None else None, count, compilation)


def _ties_lost(original: Any, query: Any, schema: Any, offset: Any, count: Any, compilation: Any) -> Any:
    return fetches.first(query, schema, offset, count, compilation)


def _else_lost(original: Any, match: Any, arms: Any, otherwise: Any, *given: Any) -> Any:
    return original(match, arms, None, *given)


def _failure_lost(original: Any, text: Any, source: Any, target: Any, failure: Any, **named: Any) -> Any:
    return original(text, source, target, e.FailureBehavior.THROW_EXCEPTION, **named)


def _two_valued(original: Any, query: Any, comparison: Any, *, decisive: bool) -> Any:
    """Take an unknown comparison for a false one."""
    return original(query, f"coalesce({comparison}, false)", decisive=decisive)


def _repeated_sets_lost(original: Any, node: Any, query: Any, keys: Any, measures: Any, found: Any, last: Any) -> Any:
    return original(node, query, keys, measures, [item for n, item in enumerate(found) if item not in found[:n]], last)


def _backslash_kept(original: Any, value: str) -> Any:
    return original(value) if "\\" not in value else "'" + value.replace("'", "\\'") + "'"


def _backtick_kept(original: Any, name: str) -> Any:
    return Name(f"`{name}`")


# the reader -----------------------------------------------------------------------------------------------------------


_TURNED: Final = {
    e.SortDirection.ASC_NULLS_FIRST: e.SortDirection.ASC_NULLS_LAST,
    e.SortDirection.ASC_NULLS_LAST: e.SortDirection.ASC_NULLS_FIRST,
}


def _nulls_turned(original: Any, *given: Any) -> Any:
    made = original(*given)
    return replace(made, sort_kind=_TURNED.get(made.sort_kind, made.sort_kind))


def _emit_lost(original: Any, *given: Any) -> Any:
    return replace(original(*given), emit=None)


def _offset_one_more(original: Any, *given: Any) -> Any:
    made = original(*given)
    return replace(made, value=made.value + 1) if isinstance(made, Literal) and isinstance(made.value, int) else made


def _call_without_options(original: Any, *given: Any, **named: Any) -> Any:
    return original(*given, **named)._replace(options=())


def _sides_turned(original: Any, numbers: Any, number: Any, path: Any, field: Any) -> Any:
    found = original(numbers, number, path, field)
    return r.JoinType.LEFT_ANTI if found is r.JoinType.RIGHT_ANTI else found


def _subseconds_lost(original: Any, *given: Any) -> Any:
    made = original(*given)
    value = made.value
    return replace(made, value=DayTime(value.days, value.seconds, 0)) if isinstance(value, DayTime) else made


def _nearest_query(original: Any, *given: Any) -> Any:
    root, record = original(*given)
    return (e.OuterReference(steps_out=1), record) if root.steps_out is not None else (root, record)


def _invocation_lost(original: Any, *given: Any) -> Any:
    return e.AggregationInvocation.ALL


def _foreign_error(original: Any, numbers: Any, number: Any, path: Any, field: Any) -> Any:
    try:
        return original(numbers, number, path, field)
    except InvalidPlanError:
        raise KeyError(number) from None


def _unchecked_segments(original: Any, type: Any, segments: Any) -> Any:
    try:
        return original(type, segments)
    except InvalidPlanError:
        raise IndexError(segments) from None


def _padded(original: Any, value: Any, *given: Any) -> Any:
    """Make room for as many characters as the type may have; at most 1 GB."""
    assert bytes([1]) * min(value.length, 1 << 30) or True
    return original(value, *given)


# the producer ---------------------------------------------------------------------------------------------------------


def _distance_one_more(original: Any, value: Any, type: Any, key: Any, rows: bool) -> Any:
    return original(value + 1 if rows else value, type, key, rows)


def _union_distinct(original: Any, nodes: Any, op: Any, *given: Any) -> Any:
    return original(nodes, r.SetOp.UNION_DISTINCT if op is r.SetOp.UNION_ALL else op, *given)


def _count_one_more(original: Any, node: Any) -> Any:
    made = original(node)
    return replace(made, value=made.value + 1)


def _no_options(original: Any, row: Any) -> Any:
    return {}


def _duplicates_counted(original: Any, node: Any, scope: Any, *, distinct: bool = False) -> Any:
    return original(node, scope, distinct=False)


def _tries_lost(original: Any, value: Any, target: Any, null: bool = False) -> Any:
    made = original(value, target, null)
    return replace(made, failure_behavior=e.FailureBehavior.THROW_EXCEPTION) if isinstance(made, e.Cast) else made


def _otherwise_lost(original: Any, node: Any, scope: Any) -> Any:
    made = original(node, scope)
    return replace(made, else_=None) if isinstance(made, e.IfThen) else made


_LEFT, _RIGHT = r.JoinType.LEFT, r.JoinType.RIGHT
_READ: Final = ("forms",)
_BOTH: Final = ("plans", "laws")

#: the faults of plans that are made of queries
_MADE: Final = ("plans", "queries")
FAULTS: Final[tuple[Fault, ...]] = (
    Fault("sort keys put nulls first, always", "compiler", Changed(sorting, "sort_key", _nulls_first)),
    Fault("an emit that only reorders is lost", "compiler", Changed(relations, "_emitted", _permutation_lost), _BOTH),
    Fault(
        "left and right outer joins are swapped",
        "compiler",
        Replaced(joins, "_OUTER_JOINS", {_LEFT: "RIGHT OUTER JOIN", _RIGHT: "LEFT OUTER JOIN"}),
    ),
    Fault(
        "right outer joins are left ones",
        "compiler",
        Replaced(joins, "_OUTER_JOINS", {_RIGHT: "LEFT OUTER JOIN"}),
        _BOTH,
    ),
    Fault("options of functions are dropped", "compiler", Changed(Table, "text", _without_options)),
    Fault("offsets of frames are one too large", "compiler", Changed(window_frames, "_value", _one_more)),
    Fault("post-join filters are lost", "compiler", Changed(joins, "matched", _after_lost)),
    Fault("DISTINCT in measures is lost", "compiler", Changed(measures, "_is_distinct", _never)),
    Fault("filters of measures are lost", "compiler", Changed(aggregates, "measure_text", _unfiltered)),
    Fault("EXCEPT ALL is EXCEPT", "compiler", Changed(sets, "set_operation", _duplicates_lost)),
    Fault("is_not_distinct_from is =", "compiler", Changed(Table, "text", _plain_equality)),
    Fault("a fetch with a count has no offset", "compiler", Changed(fetches, "first", _offset_lost)),
    Fault("ties of a top-n are lost", "compiler", Changed(top_n, "_with_ties", _ties_lost)),
    Fault("ELSE of CASE is lost", "compiler", Changed(expressions, "_case", _else_lost)),
    Fault("casts that return null fail", "compiler", Changed(calls, "cast", _failure_lost)),
    Fault("IN and ANY never give null", "compiler", Changed(subqueries, "_three_valued", _two_valued)),
    Fault("grouping sets are given once", "compiler", Changed(aggregates, "_many_sets", _repeated_sets_lost)),
    Fault(
        "backslashes in texts aren't escaped",
        "compiler",
        Changed(sql_literals, "string_literal", _backslash_kept),
        ("plans", "strings"),
    ),
    Fault("backticks in names aren't doubled", "compiler", Changed(names, "quoted", _backtick_kept), ("strings",)),
    Fault("nulls first and last are swapped", "reader", Changed(read_functions, "sort_field", _nulls_turned), _READ),
    Fault("emit is lost", "reader", Changed(rel_common, "common", _emit_lost), _READ),
    Fault("offsets of frames are one too large", "reader", Changed(frames, "_offset", _offset_one_more), _READ),
    Fault("options of functions are dropped", "reader", Changed(read_functions, "_call", _call_without_options), _READ),
    Fault("right anti joins are left ones", "reader", Changed(enums.EnumNumbers, "member", _sides_turned), _READ),
    Fault("subseconds of intervals are lost", "reader", Changed(literals, "_interval_day", _subseconds_lost), _READ),
    Fault("outer references go out one query", "reader", Changed(references, "_outer", _nearest_query), _READ),
    Fault("DISTINCT in measures is lost", "reader", Changed(read_functions, "invocation_of", _invocation_lost), _READ),
    Fault(
        "unknown enum numbers raise KeyError",
        "reader",
        Changed(enums.EnumNumbers, "member", _foreign_error),
        ("bytes",),
    ),
    Fault(
        "fields that aren't there raise IndexError",
        "reader",
        Changed(references, "referenced_type", _unchecked_segments),
        ("bytes",),
    ),
    Fault("varchars take memory for their length", "reader", Changed(literals, "_var_char", _padded), ("bytes",)),
    Fault(
        "nulls first and last are swapped",
        "producer",
        Replaced(
            produced_sorting,
            "_DIRECTIONS",
            {
                ("Ascending", "NullsFirst"): e.SortDirection.ASC_NULLS_LAST,
                ("Ascending", "NullsLast"): e.SortDirection.ASC_NULLS_FIRST,
            },
        ), _MADE,
    ),
    Fault(
        "offsets of frames are one too large", "producer",
        Changed(produced_windows, "_distance", _distance_one_more), _MADE,
    ),
    Fault("UNION ALL is UNION", "producer", Changed(produced_sets, "_combined", _union_distinct), _MADE),
    Fault(
        "anti joins are semi joins",
        "producer",
        Replaced(produced_joins, "_TYPES", {"LeftAnti": r.JoinType.LEFT_SEMI}), _MADE,
    ),
    Fault("counts of a fetch are one too large", "producer", Changed(single_input, "_count", _count_one_more), _MADE),
    Fault("options of functions are dropped", "producer", Changed(produced_calls, "_options", _no_options), _MADE),
    Fault("DISTINCT in measures is lost", "producer", Changed(produced_calls, "aggregate", _duplicates_counted), _MADE),
    Fault("casts that return null fail", "producer", Changed(produced_casts, "_cast", _tries_lost), _MADE),
    Fault("ELSE of CASE is lost", "producer", Changed(produced_conditions, "case_when", _otherwise_lost), _MADE),
)  # fmt: skip
"""The faults."""

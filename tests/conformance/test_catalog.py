"""The tables against the extensions: nothing falls between, and what is in them is taken by Spark."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING

import pytest

from pyspark_substrait.conformance.case_files import read_cases
from pyspark_substrait.conformance.function_cases import Case, Word
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.extensions.definitions import EnumArgument
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.types import Func, Type
from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.sql import functions
from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.fragment import Atom, Constant
from pyspark_substrait.sql.functions.catalog import Combination, combinations, example_call
from pyspark_substrait.sql.functions.table import Call
from pyspark_substrait.sql.spark_version import NEWEST, SparkVersion
from tests.versions import knows_times

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_REGISTRY = Registry.default()
#: the largest part of all combinations that may be refused
_REFUSED = 0.03
_CASES_PER_FUNCTION = 5
_CHUNK = 80
#: values that no case can state: the grammar takes the name of their option for one of its own words
_UNWRITABLE = {"any_value": {"TRUE", "FALSE"}}


@cache
def _catalog(spark: SparkVersion = NEWEST) -> tuple[Combination, ...]:
    return tuple(
        combination
        for urn, _, definitions in _REGISTRY.functions()
        for definition in definitions
        for combination in combinations(definition, functions.table(urn, spark))
    )


def _shown(combination: Combination) -> str:
    chosen = {**combination.enums, **combination.options}
    return f"{combination.definition.key} {chosen or ''}".strip()


def test_every_combination_has_a_row_or_a_reason() -> None:
    missing = [_shown(combination) for combination in _catalog() if combination.row is None]
    assert not missing, "\n".join(missing[:50])


def test_few_combinations_are_refused() -> None:
    refused = [combination for combination in _catalog() if combination.refusal is not None]
    for name, items in groupby(refused, lambda item: (item.definition.urn, item.definition.name)):
        print(f"{name[0]} {name[1]}: {len(list(items))} refused")
    print(f"{len(refused)} of {len(_catalog())} combinations are refused")
    assert len(refused) <= _REFUSED * len(_catalog())


def test_reasons_are_sentences() -> None:
    for combination in _catalog():
        reason = combination.refusal
        assert reason is None or (len(reason.split()) > 4 and not reason.endswith(".")), (_shown(combination), reason)


def _null(name: str, type: Type) -> Atom:
    if isinstance(type, Func):
        assert len(type.parameter_types) == 1
        return Atom(f"p -> CAST(NULL AS {spark_type(type.return_type)})")
    return Constant(f"CAST(NULL AS {spark_type(type)})", None)


def _texts(kind: str, spark: SparkVersion) -> Iterator[tuple[str, str, Call]]:
    """The texts of the combinations of one kind for a Spark, with names and calls."""
    seen = set()
    for combination in _catalog(spark):
        row = combination.row
        if row is None or combination.refusal is not None or combination.definition.kind != kind:
            continue
        text, refused = None, None
        for constant in (None, "UTC", "%Y", "a"):
            try:
                call = example_call(combination, _REGISTRY, constant, _null, spark=spark)
                assert callable(row.body)
                text = row.body(call)
            except SubstraitError as error:
                refused = error
                continue
            break
        assert text is not None, (_shown(combination), refused)
        if (text, call.output) not in seen:
            seen.add((text, call.output))
            yield _shown(combination), text, call


@pytest.mark.parametrize("kind", [pytest.param("scalar", marks=pytest.mark.sweep(sample=0)), "aggregate", "window"])
def test_spark_gives_every_combination_its_type(spark: SparkSession, kind: str) -> None:
    lacking = "pyspark_substrait_" if knows_times(spark) else "pyspark_substrait_|TIME\\("
    items = [item for item in _texts(kind, session_version(spark)) if not re.search(lacking, item[1])]
    wrong = []
    for start in range(0, len(items), _CHUNK):
        wrong += list(_mistyped(spark, items[start : start + _CHUNK]))
    print(f"{len(items)} texts")
    assert not wrong, "\n".join(wrong)


def _mistyped(spark: SparkSession, items: Sequence[tuple[str, str, Call]]) -> Iterator[str]:
    """The texts of a chunk that Spark refuses, or gives another type."""
    columns = [column for _, text, call in items for column in (text, f"CAST(NULL AS {spark_type(call.output)})")]
    source = "(SELECT 1 AS k)"
    try:
        types = [type for _, type in spark.sql(f"SELECT {', '.join(columns)} FROM {source}").dtypes]
    except Exception as error:
        if len(items) == 1:
            yield f"{items[0][0]}: {str(error).splitlines()[0]}: {items[0][1]}"
            return
        middle = len(items) // 2
        yield from _mistyped(spark, items[:middle])
        yield from _mistyped(spark, items[middle:])
        return
    for (shown, text, _), found, wanted in zip(items, types[::2], types[1::2], strict=True):
        if found != wanted:
            yield f"{shown} is a {found} instead of a {wanted}: {text}"


@pytest.mark.sweep
def test_every_function_and_every_value_has_cases() -> None:
    count: Counter[tuple[str, str]] = Counter()
    used: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for case in read_cases():
        assert isinstance(case, Case), case
        key = (case.urn, case.function)
        count[key] += 1
        used[key] |= {value.upper() for _, value in case.options}
        used[key] |= {argument.value for argument in case.arguments if isinstance(argument, Word)}
    lacking = []
    for urn, name, definitions in _REGISTRY.functions():
        key = (urn, name)
        if count[key] < _CASES_PER_FUNCTION and not _only_refused(urn, name):
            lacking.append(f"{urn} {name} has {count[key]} cases")
        values = {value for definition in definitions for _, values in definition.options for value in values}
        for definition in definitions:
            values |= {
                value
                for argument in definition.arguments
                if isinstance(argument, EnumArgument)
                for value in argument.options
            }
        for value in sorted(values - used[key] - _UNWRITABLE.get(name, set())):
            if not _only_refused(urn, name, value):
                lacking.append(f"{urn} {name} has no case with {value}")
    assert not lacking, "\n".join(lacking)


def _only_refused(urn: str, name: str, value: str | None = None) -> bool:
    """Whether all combinations of a function, or those with a value, are refused."""
    of_function = [item for item in _catalog() if (item.definition.urn, item.definition.name) == (urn, name)]
    chosen = [item for item in of_function if value is None or value in {*item.enums.values(), *item.options.values()}]
    return all(item.refusal is not None for item in chosen)

"""Every public name has an example in its docstring, and prints what stands there."""

from __future__ import annotations

import doctest
import inspect
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import pyspark_substrait as substrait
from pyspark_substrait import builder

#: the examples that run Spark; the others need no session
ON_SPARK = {
    "ExecutionError",
    "JavaNotFoundError",
    "RunLimitError",
    "RunLimits",
    "SubstraitWarning",
    "TableError",
    "create_view",
    "evaluate",
    "evaluate_arrow",
    "from_sql",
    "from_substrait",
    "profile",
    "run_query",
    "session",
    "to_substrait",
    "to_substrait_expressions",
}
NAMES = sorted(set(substrait.__all__) - {"__version__"})


def names_in_examples() -> dict[str, Any]:
    """The names that the pages of the reference say are imported: this package, its builder, and pyarrow."""
    functions = {name: getattr(builder, name) for name in ("avg", "max_", "sum_")}
    return {"substrait": substrait, "pa": pa, **{name: getattr(builder, name) for name in builder.__all__}, **functions}


def check(name: str, item: Any) -> None:
    """Run the examples of an object."""
    docstring = inspect.getdoc(item) or ""
    test = doctest.DocTestParser().get_doctest(docstring, names_in_examples(), name, None, None)
    assert test.examples, f"{name} has no example"
    written: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=written.append)
    assert not written, "".join(written)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ON_SPARK])
def test_an_example_prints_what_it_shows(name: str) -> None:
    if name == "compare":
        pytest.importorskip("datafusion")
        pytest.importorskip("duckdb")
    if name == "conformance_report":
        pytest.importorskip("datafusion")
    check(name, getattr(substrait, name))


@pytest.mark.parametrize("name", sorted(ON_SPARK))
def test_an_example_on_spark_prints_what_it_shows(name: str, spark: SparkSession) -> None:
    check(name, getattr(substrait, name))


@pytest.mark.parametrize("name", builder.__all__)
def test_an_example_of_the_builder_prints_what_it_shows(name: str) -> None:
    check(name, getattr(builder, name))

"""The tables of a user's own extensions, from the implementations added by ``Registry.with_function``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions.definitions import FunctionDefinition
from pyspark_substrait.extensions.implementations import ArrowFunction, Implementation, SqlTemplate
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.functions.python_functions import PREFIX, PythonFunction
from pyspark_substrait.sql.functions.table import Call, Foreign, Row, Table, row
from pyspark_substrait.sql.spark_version import NEWEST, OLDEST, SparkVersion

__all__ = ["registered_table"]

#: the first version of Spark in which Python functions get Arrow arrays
_ARROW_SINCE: Final = SparkVersion(4, 1)


@lru_cache(maxsize=256)
def registered_table(registry: Registry, urn: str, spark: SparkVersion = NEWEST) -> Table | None:
    """Return the table of an added extension for a version of Spark; None if it has no implementations."""
    known = registry.implementations(urn)
    return Table(urn, tuple(_row(registry, urn, item) for item in known)).for_spark(spark) if known else None


def _row(registry: Registry, urn: str, item: Implementation) -> Row:
    since = OLDEST
    match item.body:
        case SqlTemplate(text=text):
            body: str | Callable[[Call], str] = text
        case ArrowFunction() as function:
            body, since = _arrow_call(registry, urn, function), _ARROW_SINCE
    plain = row(
        item.name,
        body,
        signatures=() if item.signature is None else (item.signature,),
        enums=item.enums,
        foreign=Foreign.MOVED,  # its author knows the carriers
        since=since,
    )
    return replace(plain, options=item.options)


def _arrow_call(registry: Registry, urn: str, function: ArrowFunction) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        definition = registry.function(urn, call.function.key)
        assert definition is not None, "it was found before"
        return _python_call(call, function, definition)

    return body


def _python_call(call: Call, function: ArrowFunction, definition: FunctionDefinition) -> str:
    """Return a call of a Python function, which is added to the functions of the call."""
    aggregate = definition.kind == "aggregate"
    if aggregate and (call.filter is not None or call.distinct):
        raise UnsupportedPlanError(
            f"{definition.key} runs in Python, where Spark has neither filters nor distinct values of aggregates",
            hint="Filter in a relation below, or give a template of Spark SQL",
        )
    returns = spark_type(call.output)
    # the number comes first, so that no two functions with different result types have the same name
    name = f"{PREFIX}{function.number}_{_slug(definition.name)}_{_slug(returns)}"
    call.functions[name] = PythonFunction(
        function=function.function, returns=returns, aggregate=aggregate, deterministic=definition.deterministic
    )
    values = [item.sql for item in call.operands if item.type is not None]
    return call.aggregate(name, *values) if aggregate else f"{name}({', '.join(values)})"


def _slug(text: str) -> str:
    return "".join(character if character.isascii() and character.isalnum() else "_" for character in text).lower()

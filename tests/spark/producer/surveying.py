"""The examples of Spark's documentation of its functions, taken there and back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import pyspark_substrait as ps
from pyspark_substrait.documents import Plan
from pyspark_substrait.errors import NewerSparkError, UnsupportedPlanError
from pyspark_substrait.spark.compatibility import session_version
from tests.spark.producer.round_trips import rows
from tests.versions import expected as is_expected

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Outcome", "examples", "functions", "surveyed"]

#: ``same``: there and back, with the same rows; ``refused``: it doesn't go out; ``not here``: Spark itself can't run it
#: in this session, or it is no query, or its plan needs a newer Spark
Kind: TypeAlias = Literal["same", "refused", "different", "not here"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an example."""

    function: str
    query: str
    kind: Kind
    reason: str = ""


def functions(spark: SparkSession) -> dict[str, str]:
    """The examples of each builtin function by its name, as Spark's documentation has them."""
    state = getattr(spark, "_jsparkSession").sessionState()  # noqa: B009
    found = {}
    for registry in (state.functionRegistry(), state.tableFunctionRegistry()):
        names = registry.listFunction()
        for number in range(names.size()):
            name = names.apply(number)
            info = registry.lookupFunction(name).get()
            if info.getSource() == "built-in":
                found[str(name.funcName())] = str(info.getExamples())
    return found


def examples(name: str, text: str) -> Iterator[str]:
    """The statements in a documentation: what stands between ``>`` and a semicolon that ends a line."""
    for found in re.finditer(r"^\s*> (.*?);\s*$", text.replace("_FUNC_", name), re.MULTILINE | re.DOTALL):
        if not found[1].startswith("SET "):  # what it changes would stay
            yield re.sub(r"\n\s*", "\n", found[1])


def surveyed(spark: SparkSession, name: str, query: str, *, stable: bool = True) -> Outcome:
    """What becomes of an example: its rows and types are compared with those of the query itself.

    Nullability doesn't count here, and intervals count by what they are, not by the units that their type names. Where
    the result isn't ``stable``, types and the number of rows count.
    """
    try:
        frame = spark.sql(query)
        expected = rows(_collectable(frame))
    except Exception as error:  # whatever Spark says, the example is none for us
        return Outcome(name, query, "not here", str(error).splitlines()[0])
    try:
        return _there_and_back(spark, name, query, frame, expected, stable=stable)
    except NewerSparkError as error:
        return Outcome(
            name, query, "not here" if is_expected(error, session_version(spark)) else "different", str(error)
        )


def _there_and_back(
    spark: SparkSession, name: str, query: str, frame: DataFrame, expected: list[Any], *, stable: bool
) -> Outcome:
    try:
        made = ps.to_substrait(frame)
    except NewerSparkError:
        raise
    except UnsupportedPlanError as error:
        return Outcome(name, query, "refused", str(error))
    except Exception as error:
        return Outcome(name, query, "different", f"{type(error).__name__}: {error}")
    try:
        plan = ps.load(made.to_bytes())
        assert isinstance(plan, Plan)
        if plan.notes:
            return Outcome(name, query, "different", f"notes: {plan.notes}")
        back = ps.from_substrait(plan, spark)
        found = rows(_collectable(back))
    except NewerSparkError:
        raise
    except Exception as error:
        return Outcome(name, query, "different", f"{type(error).__name__}: {error}")
    if _types(back.schema.jsonValue()) != _types(frame.schema.jsonValue()):
        return Outcome(name, query, "different", f"{back.schema} instead of {frame.schema}")
    one, other = sorted(map(repr, found)), sorted(map(repr, expected))
    if one != other if stable else len(one) != len(other):
        return Outcome(name, query, "different", f"{found} instead of {expected}")
    return Outcome(name, query, "same")


def _collectable(frame: DataFrame) -> DataFrame:
    """The frame with what Python has no values for as text."""
    texts = [_text(f"c{number}", field.dataType.simpleString()) for number, field in enumerate(frame.schema.fields)]
    if not any(text.startswith("CAST") for text in texts):
        return frame
    return frame.toDF(*(f"c{number}" for number in range(len(texts)))).selectExpr(*texts)


def _text(name: str, type: str) -> str:
    if type == "interval":
        return f"CAST({name} AS STRING)"
    if type.startswith("interval ") and ("month" in type or "year" in type):
        return f"CAST(CAST({name} AS INTERVAL YEAR TO MONTH) AS STRING)"
    return name


def _types(value: Any) -> Any:
    match value:
        case str() if value.startswith("interval "):
            return "interval year" if "year" in value or "month" in value else "interval day"
        case Mapping():
            left_out = ("metadata", "nullable", "containsNull", "valueContainsNull")
            return {key: _types(item) for key, item in value.items() if key not in left_out}
        case list():
            return [_types(item) for item in value]
        case _:
            return value

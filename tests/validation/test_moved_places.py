"""Where reading puts a cast or leaves an argument out, the findings are those of the plan that is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import pyspark_substrait
import pyspark_substrait as ps
from pyspark_substrait.documents import Plan, source_of
from pyspark_substrait.model.expressions import Cast
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.relations import Project
from tests.proto.messages import I32, I64, NULLABLE, REQUIRED, STRING, call, column, message, project, table
from tests.validation.test_loaded_plans import of_report

Json = dict[str, Any]
DATE: Json = {"date": REQUIRED}
TIMESTAMP: Json = {"precisionTimestamp": {"precision": 6, **REQUIRED}}
TABLE = table(I32, I64, STRING, DATE, TIMESTAMP, {"decimal": {"precision": 10, "scale": 2, **NULLABLE}})
NAMES = ("add:i64_i64", "date_part", "gt:any_any", "sum:i32", "like", "add:dec_dec")
#: the extension file of each
FILES = ("arithmetic", "datetime", "comparison", "arithmetic", "string", "arithmetic_decimal")


def i64(*arguments: Json) -> Json:
    return call(1, *arguments, outputType=I64)


def part(word: str, argument: Json, type: Json) -> Json:
    return call(2, {"literal": {"string": word}}, argument, outputType=type)


def scalar(called: Json) -> Json:
    return {"scalarFunction": called}


def subquery() -> Json:
    """A query with a call inside which there is a cast."""
    inner = project(scalar(i64(column(0), column(1))), input=TABLE, emit={"outputMapping": [6]})
    return {"subquery": {"scalar": {"input": inner}}}


def nested(depth: int) -> Json:
    expression: Json = column(0)
    for _ in range(depth):
        # the call gives an i64, is stated to give an i32 and cast to an i64 by the next
        expression = scalar(call(1, expression, column(1), outputType=I32))
    return expression


EXPRESSIONS: dict[str, list[Json]] = {
    "an argument": [scalar(i64(column(0), column(1)))],
    "both arguments": [scalar(i64(column(0), column(0)))],
    "an argument behind one that stays": [scalar(i64(column(1), column(0)))],
    "arguments inside arguments": [scalar(i64(scalar(i64(column(0), column(1))), column(0))), column(2)],
    "a call of another type": [scalar(call(1, column(1), column(1), outputType=I32))],
    "a call of another type as an argument": [
        scalar(i64(scalar(call(1, column(1), column(1), outputType=I32)), column(1)))
    ],
    "calls in each other": [nested(12)],
    "a literal to a word": [scalar(part("YEAR", column(3), I64))],
    "a literal to two words": [scalar(part("MONTH", column(4), I64)), column(0)],
    "a literal to two words, and a cast": [scalar(part("MONTH", column(4), I32)), scalar(i64(column(0), column(0)))],
    "an argument left out": [
        scalar(
            call(
                5,
                column(2),
                {"literal": {"string": "a%"}},
                {"literal": {"null": {"string": NULLABLE}}},
                outputType={"bool": REQUIRED},
            )
        )
    ],
    "a nullable argument": [scalar(call(3, column(5), column(0), outputType={"bool": NULLABLE}))],
    "a query inside an argument": [scalar(call(3, subquery(), column(0), outputType={"bool": NULLABLE}))],
    "a note inside an argument": [
        # add of decimals gives another precision than is stated: the note on that is moved with its argument
        scalar(
            call(
                3,
                scalar(
                    call(6, column(5), column(5), outputType={"decimal": {"precision": 38, "scale": 2, **NULLABLE}})
                ),
                column(0),
                outputType={"bool": NULLABLE},
            )
        )
    ],
}


def loaded(relation: Json, width: int) -> Plan:
    names = [f"c{position}" for position in range(width)]
    called = set(re.findall(r"'functionReference': (\d+)", str(relation)))
    declared = [
        {"extensionFunction": {"functionAnchor": anchor, "name": name, "extensionUrnReference": anchor}}
        for anchor, name in enumerate(NAMES, start=1)
        if str(anchor) in called
    ]
    files = [
        {"extensionUrnAnchor": anchor, "urn": f"extension:io.substrait:functions_{file}"}
        for anchor, file in enumerate(FILES, start=1)
        if str(anchor) in called
    ]
    root = {"root": {"input": relation, "names": names}}
    plan = pyspark_substrait.load(message(root, extensions=declared, extensionUrns=files))
    assert isinstance(plan, Plan)
    return plan


def plans() -> Iterator[Any]:
    for name, expressions in EXPRESSIONS.items():
        emit = {"outputMapping": [6 + position for position in range(len(expressions))]}
        yield pytest.param(project(*expressions, input=TABLE, emit=emit), len(expressions), id=name)
    measure: Json = {
        "functionReference": 4,
        "arguments": [{"value": column(0)}],
        "phase": "AGGREGATION_PHASE_INITIAL_TO_RESULT",
        "invocation": "AGGREGATION_INVOCATION_ALL",
        "outputType": {"i32": NULLABLE},
    }
    yield pytest.param({"aggregate": {"input": TABLE, "measures": [{"measure": measure}]}}, 1, id="a measure")


@pytest.mark.parametrize(("relation", "width"), [*plans()])
def test_the_report_is_that_of_the_plan_written_and_read_again(relation: Json, width: int) -> None:
    plan = loaded(relation, width)
    assert source_of(plan) is not None
    stranger = replace(plan)
    assert source_of(stranger) is None
    assert of_report(ps.validate(plan)) == of_report(ps.validate(stranger))


def test_a_cast_has_the_place_where_it_is_written() -> None:
    plan = loaded(project(scalar(i64(column(0), column(1))), input=TABLE, emit={"outputMapping": [6]}), 1)
    report = ps.validate(plan)
    root = plan.relations[0]
    assert isinstance(root, RelRoot)
    assert isinstance(root.input, Project)
    cast = root.input.expressions[0].arguments[0]  # type: ignore[union-attr]
    assert isinstance(cast, Cast)
    place = "relations[0].root.input.project.expressions[0].scalar_function.arguments[0].value"
    assert report.places.path(cast) == place
    assert report.places.path(cast.input) == f"{place}.cast.input"

"""Short ways to write down plans with a fault, and to get the error that they end with."""

from __future__ import annotations

from typing import Any

import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import SubstraitError
from tests.proto.messages import (
    ARITHMETIC,
    COMPARISON,
    I32,
    NULLABLE,
    ONE,
    REQUIRED,
    STRING,
    TRUE,
    Json,
    call,
    column,
    root,
    table,
)

STRINGS = "extension:io.substrait:functions_string"
DECLARED = [
    (1, ARITHMETIC, "add:i32_i32"),
    (2, COMPARISON, "equal:any_any"),
    (3, STRINGS, "string_agg:str_str"),
    (4, ARITHMETIC, "sum:i32"),
    (5, ARITHMETIC, "row_number:"),
    (6, STRINGS, "upper:str"),
    (7, "extension:io.substrait:functions_datetime", "extract:req_date"),
]

TEXT: Json = {"literal": {"string": "x"}}
LONG: Json = {"literal": {"i64": "1"}}
NULL: Json = {"literal": {"null": {"i32": NULLABLE}}}
DATE: Json = {"date": REQUIRED}
LIST_OF_INTS: Json = {"list": {"type": I32, **REQUIRED}}
MAP: Json = {"map": {"key": STRING, "value": I32, **REQUIRED}}
PAIR: Json = {"struct": {"types": [I32, STRING], **REQUIRED}}
#: columns: i32, string, struct, list, map, date
RECORD = table(I32, STRING, PAIR, LIST_OF_INTS, MAP, DATE)
RECORD["read"]["baseSchema"]["names"] = ["a", "b", "c", "x", "y", "d", "e", "f"]


def declared(**fields: Any) -> Json:
    urns = sorted({urn for _, urn, _ in DECLARED})
    return {
        "version": {"minorNumber": 108},
        "extensionUrns": [{"extensionUrnAnchor": number, "urn": urn} for number, urn in enumerate(urns, 1)],
        "extensions": [
            {
                "extensionFunction": {
                    "extensionUrnReference": urns.index(urn) + 1,
                    "functionAnchor": anchor,
                    "name": name,
                }
            }
            for anchor, urn, name in DECLARED
        ],
        **fields,
    }


def refused(relation: Json, *names: str, strict: bool = False, **fields: Any) -> SubstraitError:
    """The error that loading or compiling a plan ends with."""
    tree = root(relation, *names) if names else {"rel": relation}
    with pytest.raises(SubstraitError) as error:
        ps.to_sql(ps.load(declared(relations=[tree], **fields), strict=strict))
    return error.value


def segments(*steps: Json, **where: Any) -> Json:
    """A reference made of segments."""
    made: Json = {}
    for step in reversed(steps):
        ((kind, content),) = step.items()
        made = {kind: {**content, **({"child": made} if made else {})}}
    return {"selection": {"directReference": made, **(where or {"rootReference": {}})}}


def field(position: int) -> Json:
    return {"structField": {"field": position}}


def element(offset: int) -> Json:
    return {"listElement": {"offset": offset}}


def key(value: Json) -> Json:
    return {"mapKey": {"mapKey": value}}


def scalar(anchor: int, *arguments: Json, **fields: Any) -> Json:
    return {"scalarFunction": call(anchor, *arguments, **fields)}


def mask(*items: Json) -> Json:
    return {"selection": {"maskedReference": {"select": {"structItems": list(items)}}, "rootReference": {}}}


def window(*, sorts: Any = (), anchor: int = 4, **fields: Any) -> Json:
    arguments = (column(0),) if anchor == 4 else ()
    return {
        "windowFunction": call(
            anchor, *arguments, phase="AGGREGATION_PHASE_INITIAL_TO_RESULT", sorts=list(sorts), **fields
        )
    }


def sort(expression: Json, direction: Any = "SORT_DIRECTION_ASC_NULLS_FIRST") -> Json:
    return {"expr": expression, "direction": direction}


def preceding(offset: Json, bounds: str = "BOUNDS_TYPE_ROWS") -> Json:
    return {"boundsType": bounds, "lowerBound": {"preceding": {"offsetExpr": offset}}}


def lambda_(*parameters: Json, body: Json) -> Json:
    return {"parameters": {"types": list(parameters), **REQUIRED}, "body": body}


def parameter(position: int, steps: int = 0) -> Json:
    return segments(field(position), lambdaParameterReference={"stepsOut": steps})


QUERY = table(I32)
RANGE = "BOUNDS_TYPE_RANGE"
BRANCH = {"if": TRUE, "then": ONE}

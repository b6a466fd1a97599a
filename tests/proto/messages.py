"""Short ways to write plans down in their JSON form, to be read."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import json_format

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions import Registry
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model.plan import Plan
from pyspark_substrait.proto import messages, read

REGISTRY = Registry.default()
Json = dict[str, Any]
REQUIRED: Json = {"nullability": "NULLABILITY_REQUIRED"}
NULLABLE: Json = {"nullability": "NULLABILITY_NULLABLE"}
I32, I64, STRING, BOOL = ({kind: REQUIRED} for kind in ("i32", "i64", "string", "bool"))
ONE: Json = {"literal": {"i32": 1}}
TRUE: Json = {"literal": {"boolean": True}}
ARITHMETIC = "extension:io.substrait:functions_arithmetic"
COMPARISON = "extension:io.substrait:functions_comparison"
#: the path of the projection that a test puts at the top of a plan
PROJECT = "relations[0].rel.project"


def table(*types: Json, **fields: Any) -> Json:
    schema = {"names": [f"c{position}" for position in range(len(types))], "struct": {"types": list(types), **REQUIRED}}
    return {"read": {"baseSchema": schema, "namedTable": {"names": ["t"]}, **fields}}


def root(relation: Json, *names: str) -> Json:
    return {"root": {"input": relation, "names": list(names)}}


def column(position: int, **where: Any) -> Json:
    return {"selection": {"directReference": {"structField": {"field": position}}, **(where or {"rootReference": {}})}}


def call(anchor: int, *arguments: Json, **fields: Any) -> Json:
    return {"functionReference": anchor, "arguments": [{"value": argument} for argument in arguments], **fields}


def functions(*names: str, urn: str = ARITHMETIC) -> Json:
    return {
        "extensionUrns": [{"extensionUrnAnchor": 1, "urn": urn}],
        "extensions": [
            {"extensionFunction": {"extensionUrnReference": 1, "functionAnchor": anchor, "name": name}}
            for anchor, name in enumerate(names, start=1)
        ],
    }


def message(*relations: Json, **fields: Any) -> Any:
    fields = {"version": {"minorNumber": 108}, **fields}
    return json_format.ParseDict({"relations": list(relations), **fields}, messages.Plan())


def load(*relations: Json, strict: bool = False, **fields: Any) -> Plan:
    return read.plan(message(*relations, **fields), REGISTRY, strict=strict)


def fault(*relations: Json, strict: bool = False, **fields: Any) -> InvalidPlanError:
    with pytest.raises(InvalidPlanError) as error:
        load(*relations, strict=strict, **fields)
    return error.value


def project(*expressions: Json, input: Json | None = None, **common: Any) -> Json:
    return {"project": {"common": common, "input": input or table(I32, STRING), "expressions": list(expressions)}}


def first(plan: Plan) -> e.Expression:
    """The first expression of a plan made of one projection."""
    tree = plan.relations[0]
    assert isinstance(tree, r.Project)
    return tree.expressions[0]


def rules(plan: Plan) -> list[str]:
    return [note.rule for note in plan.notes]

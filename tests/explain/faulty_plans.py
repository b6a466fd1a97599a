"""Plans with known faults, in the JSON form, each with a page beside it (``pages/faulty_<name>.txt``).

What is wrong in each stands in its docstring, in the order of the plan.
"""

from __future__ import annotations

from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]

VERSION = {"minorNumber": 108, "producer": "hand"}
REQUIRED, NULLABLE = "NULLABILITY_REQUIRED", "NULLABILITY_NULLABLE"
BOOLEAN = {"bool": {"nullability": REQUIRED}}
I32 = {"i32": {"nullability": REQUIRED}}
STRING = {"string": {"nullability": NULLABLE}}
FUNCTIONS = {1: ("comparison", "gt:any_any"), 2: ("arithmetic", "add:i32_i32"), 3: ("boolean", "and:bool")}


def read(name: str, **columns: Json) -> Json:
    schema = {"names": list(columns), "struct": {"types": list(columns.values()), "nullability": REQUIRED}}
    return {"read": {"common": {"direct": {}}, "baseSchema": schema, "namedTable": {"names": [name]}}}


def column(position: int) -> Json:
    return {"selection": {"directReference": {"structField": {"field": position}}, "rootReference": {}}}


def call(anchor: int, type: Json, *arguments: Json) -> Json:
    values = [{"value": argument} for argument in arguments]
    return {"scalarFunction": {"functionReference": anchor, "outputType": type, "arguments": values}}


def number(value: int) -> Json:
    return {"literal": {"i32": value}}


def filtered(input: Json, condition: Json, **common: Json) -> Json:
    return {"filter": {"common": common or {"direct": {}}, "input": input, "condition": condition}}


def projected(input: Json, width: int, *expressions: Json) -> Json:
    emit = {"emit": {"outputMapping": [width + position for position in range(len(expressions))]}}
    return {"project": {"common": emit, "input": input, "expressions": list(expressions)}}


def plan(*relations: Json) -> Json:
    urns = sorted({urn for urn, _ in FUNCTIONS.values()})
    return {
        "version": VERSION,
        "executionBehavior": {"variableEvalMode": "VARIABLE_EVALUATION_MODE_PER_PLAN"},
        "extensionUrns": [
            {"extensionUrnAnchor": anchor, "urn": f"extension:io.substrait:functions_{urn}"}
            for anchor, urn in enumerate(urns, start=1)
        ],
        "extensions": [
            {
                "extensionFunction": {
                    "extensionUrnReference": urns.index(urn) + 1,
                    "functionAnchor": anchor,
                    "name": name,
                }
            }
            for anchor, (urn, name) in FUNCTIONS.items()
        ],
        "relations": list(relations),
    }


def root(input: Json, *names: str) -> Json:
    return {"root": {"input": input, "names": list(names)}}


ORDERS = read("orders", id=I32, price=I32, status=STRING)


def expressions() -> Json:
    """A sum that is declared as a string; a column that isn't there; a function that isn't declared; a string as a
    condition."""
    kept = filtered(ORDERS, column(2))
    made = projected(
        kept,
        3,
        call(2, STRING, column(0), column(1)),
        call(1, BOOLEAN, column(7), number(10)),
        call(9, I32, column(0)),
        call(1, BOOLEAN, column(1), number(10)),
    )
    return plan(root(made, "sum", "beyond", "unknown", "right"))


def mistakes() -> Json:
    """Of three columns, one refers to a column that isn't there; the condition isn't one."""
    kept = filtered(ORDERS, column(2))
    made = projected(kept, 3, column(0), call(2, I32, column(0), column(1)), call(1, BOOLEAN, column(7), number(10)))
    return plan(root(made, "id", "sum", "large"))


def subqueries() -> Json:
    """In a subquery, an outer reference to a column that isn't there; beside it, a good one."""
    farther = {"selection": {"directReference": {"structField": {"field": 5}}, "outerReference": {"stepsOut": 1}}}
    right = {"selection": {"directReference": {"structField": {"field": 1}}, "outerReference": {"stepsOut": 1}}}

    def exists(condition: Json) -> Json:
        query = filtered(read("returns", order_id=I32), condition)
        return {"subquery": {"setPredicate": {"predicateOp": "PREDICATE_OP_EXISTS", "tuples": query}}}

    broken = exists(call(1, BOOLEAN, column(0), farther))
    good = exists(call(1, BOOLEAN, column(0), right))
    return plan(root(filtered(ORDERS, call(3, BOOLEAN, broken, good)), "id", "price", "status"))


def relations() -> Json:
    """A root with a name too few; an emit of a column that isn't there; a join without right input; members of a union
    that differ; a sort without direction."""
    emitted = filtered(ORDERS, call(1, BOOLEAN, column(1), number(10)), emit={"outputMapping": [0, 1, 8]})
    join = {"join": {"common": {"direct": {}}, "left": ORDERS, "type": "JOIN_TYPE_INNER", "expression": number(1)}}
    union = {"set": {"common": {"direct": {}}, "inputs": [ORDERS, read("t", a=STRING)], "op": "SET_OP_UNION_ALL"}}
    sort = {"sort": {"common": {"direct": {}}, "input": ORDERS, "sorts": [{"expr": column(1)}]}}
    return plan(root(emitted, "id", "price"), {"rel": join}, {"rel": union}, {"rel": sort})


def missing() -> Json:
    """A filter without condition and input, a root without input, a tree without relation, an empty expression."""
    empty: Json = {"filter": {"common": {"direct": {}}}}
    return plan(root(empty, "x"), {"root": {"names": ["y"]}}, {}, {"rel": filtered(ORDERS, {})})


def declarations() -> Json:
    """An anchor that stands for two functions, a function that isn't in its extension, an unused one."""
    made = plan(root(filtered(ORDERS, call(1, BOOLEAN, column(1), number(10))), "id", "price", "status"))
    more = [
        {"extensionFunction": {"extensionUrnReference": 1, "functionAnchor": 1, "name": "subtract:i32_i32"}},
        {"extensionFunction": {"extensionUrnReference": 1, "functionAnchor": 12, "name": "ad:i32_i32"}},
    ]
    return {**made, "extensions": [*made["extensions"], *more]}


def extended() -> Json:
    """The second of three expressions adds a string."""
    schema = {"names": ["a", "b"], "struct": {"types": [I32, STRING], "nullability": REQUIRED}}
    expressions = [
        call(2, I32, column(0), number(1)),
        call(2, I32, column(0), column(1)),
        {"cast": {"type": STRING, "failureBehavior": "FAILURE_BEHAVIOR_THROW_EXCEPTION"}},
    ]
    made = plan()
    del made["relations"], made["executionBehavior"]
    referred = [{"expression": item, "outputNames": [f"e{index}"]} for index, item in enumerate(expressions)]
    return {**made, "baseSchema": schema, "referredExpr": referred}


def fields() -> Json:
    """A field that no release has."""
    return {"relations": [root({"reed": {}}, "x")], "version": VERSION}


def nothing() -> Json:
    """An object without anything."""
    return {}


FAULTY = {
    make.__name__: make
    for make in (expressions, mistakes, subqueries, relations, missing, declarations, extended, fields, nothing)
}

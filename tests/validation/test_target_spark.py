"""What Spark can't run is found without running it: all of it, in its place, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

import pyspark_substrait as ps
from pyspark_substrait.codes import Code
from pyspark_substrait.documents import as_document
from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.model import plan as model
from pyspark_substrait.model.findings import Finding
from tests.samples import EXTENDED_EXPRESSIONS, PLANS

ENHANCEMENT = {"enhancement": {"@type": "type.googleapis.com/substrait.Version", "minorNumber": 1}}
ARITHMETIC = "extension:io.substrait:functions_arithmetic"
I32 = {"i32": {"nullability": "NULLABILITY_NULLABLE"}}
FP64 = {"fp64": {"nullability": "NULLABILITY_NULLABLE"}}
MAP = {
    "map": {
        "key": {"i32": {"nullability": "NULLABILITY_REQUIRED"}},
        "value": I32,
        "nullability": "NULLABILITY_NULLABLE",
    }
}


def table(**parts: Any) -> dict[str, Any]:
    """A read of a table with a number, a real number and a map."""
    schema = {
        "names": ["n", "x", "m"],
        "struct": {"types": [I32, FP64, MAP], "nullability": "NULLABILITY_REQUIRED"},
    }
    return {"read": {"baseSchema": schema, "namedTable": {"names": ["t"]}, **parts}}


def column(position: int) -> dict[str, Any]:
    reference = {"directReference": {"structField": {"field": position}}, "rootReference": {}}
    return {"selection": reference}


def plan(relation: Mapping[str, Any], names: list[str], *functions: str) -> dict[str, Any]:
    """A plan whose result is a relation; functions have the anchors 1, 2, …"""
    return {
        "version": {"minorNumber": 108, "producer": "tests"},
        "extensionUrns": [{"extensionUrnAnchor": 1, "urn": ARITHMETIC}],
        "extensions": [
            {"extensionFunction": {"extensionUrnReference": 1, "functionAnchor": number, "name": name}}
            for number, name in enumerate(functions, 1)
        ],
        "relations": [{"root": {"input": relation, "names": names}}],
    }


def refused(source: Any) -> list[Finding]:
    return [finding for finding in ps.validate(source, target="spark") if 8000 <= finding.code < 9000]


def test_all_refusals_of_a_plan_are_found_and_not_only_the_first() -> None:
    deviation = {
        "functionReference": 1,
        "outputType": FP64,
        "phase": "AGGREGATION_PHASE_INITIAL_TO_RESULT",
        "arguments": [{"value": column(1)}],
        "options": [{"name": "rounding", "preference": ["CEILING"]}],
    }
    aggregate = {
        "input": {
            "filter": {
                "input": table(advancedExtension=ENHANCEMENT),
                "condition": {"literal": {"boolean": True}},
                "advancedExtension": ENHANCEMENT,
                "common": {"direct": {}, "advancedExtension": ENHANCEMENT},
            }
        },
        "groupingExpressions": [column(2)],
        "groupings": [{"expressionReferences": [0]}],
        "measures": [{"measure": deviation}, {"measure": deviation}],
    }
    found = refused(plan({"aggregate": aggregate}, ["m", "a", "b"], "std_dev:fp64"))
    root = "relations[0].root.input.aggregate"
    assert {(finding.code, finding.path) for finding in found} == {
        (Code.TARGET_FEATURE, f"{root}.input.filter.input.read.advanced_extension.enhancement"),
        (Code.TARGET_FEATURE, f"{root}.input.filter.advanced_extension.enhancement"),
        (Code.TARGET_FEATURE, f"{root}.input.filter.common.advanced_extension.enhancement"),
        (Code.TARGET_RELATION, f"{root}.grouping_expressions[0]"),
        (Code.TARGET_OPTION, f"{root}.measures[0].measure"),
        (Code.TARGET_OPTION, f"{root}.measures[1].measure"),
    }


def test_a_finding_says_what_the_error_says() -> None:
    sorted_by_map = {
        "sort": {"input": table(), "sorts": [{"expr": column(2), "direction": "SORT_DIRECTION_ASC_NULLS_FIRST"}]}
    }
    source = plan(sorted_by_map, ["n", "x", "m"])
    with pytest.raises(UnsupportedPlanError) as error:
        ps.to_sql(source)
    (found,) = refused(source)
    assert (found.what, found.path) == (error.value.message, error.value.path)


def test_a_broken_part_is_not_refused_a_second_time() -> None:
    project = {"input": table(), "expressions": [column(7), {"cast": {"input": column(7), "type": I32}}]}
    report = ps.validate(plan({"project": project}, ["n", "x", "m", "a", "b"]), target="spark")
    assert report.errors
    assert [finding for finding in report if finding.code >= 8000] == []


def test_what_stands_beside_a_broken_part_is_still_refused() -> None:
    project = {"input": table(advancedExtension=ENHANCEMENT), "expressions": [column(7)]}
    found = refused(plan({"project": project}, ["n", "x", "m", "a"]))
    assert [finding.path for finding in found] == [
        "relations[0].root.input.project.input.read.advanced_extension.enhancement"
    ]


def test_each_root_is_looked_at() -> None:
    both = plan(table(advancedExtension=ENHANCEMENT), ["n", "x", "m"])
    both["relations"] *= 2
    assert [finding.path.split(".")[0] for finding in refused(both)] == ["relations[0]", "relations[1]"]


def test_a_parameter_needs_no_value_and_a_file_needs_not_be_there() -> None:
    fetch = {
        "input": table(),
        "countExpr": {
            "dynamicParameter": {"type": {"i64": {"nullability": "NULLABILITY_REQUIRED"}}, "parameterReference": 1}
        },
    }
    assert refused(plan({"fetch": fetch}, ["n", "x", "m"])) == []
    read = table()["read"]
    del read["namedTable"]
    files = {"items": [{"uriFile": "file:///nowhere", "parquet": {}}, {"uriFile": "file:///nowhere", "dwrf": {}}]}
    (found,) = refused(plan({"read": {**read, "localFiles": files}}, ["n", "x", "m"]))
    assert found.path == "relations[0].root.input.read.local_files.items[1].dwrf"


def test_writes_in_a_subquery_are_refused_and_others_are_not() -> None:
    schema = table()["read"]["baseSchema"]
    write = {
        "write": {
            "input": table(),
            "namedTable": {"names": ["w"]},
            "tableSchema": schema,
            "op": "WRITE_OP_INSERT",
            "output": "OUTPUT_MODE_MODIFIED_RECORDS",
        }
    }
    assert refused(plan(write, ["n", "x", "m"])) == []
    exists = {"subquery": {"setPredicate": {"predicateOp": "PREDICATE_OP_EXISTS", "tuples": write}}}
    (found,) = refused(plan({"filter": {"input": table(), "condition": exists}}, ["n", "x", "m"]))
    assert found.path == "relations[0].root.input.filter.condition.subquery.set_predicate.tuples.write"


WRITING = ("write", "ddl", "update")
#: what only running says, or what is wrong with these samples as plans
NOT_REFUSED = ("expression dynamic parameter", "nothing")
#: without a session's table, a read of a column that Spark has no type for still has a text
ONLY_WITH_A_SESSION = (
    "type func",
    "type func required",
    "type unbound",
    "type user-defined",
    "type user-defined with parameters",
)


@pytest.mark.parametrize("name", PLANS)
def test_a_sample_is_refused_as_it_is_when_it_is_compiled(name: str) -> None:
    document = as_document(PLANS[name], deep=False)
    found = refused(document)
    if name in (*NOT_REFUSED, *ONLY_WITH_A_SESSION) or any(f"relation {kind}" in name for kind in WRITING):
        return
    error: Exception | None = None
    roots = [item for item in PLANS[name].relations if isinstance(item, model.RelRoot)]
    for position in range(max(len(roots), 1)):
        try:
            ps.to_sql(document, root=position if roots else None)
        except InvalidPlanError:
            return
        except UnsupportedPlanError as refusal:
            if "can be read only with a Spark session" in refusal.message:
                return
            error = error or refusal
    assert bool(found) == (error is not None)
    if isinstance(error, UnsupportedPlanError):
        assert error.message in {finding.what for finding in found} or "subquery" in name or "lateral" in name


@pytest.mark.parametrize("name", EXTENDED_EXPRESSIONS)
def test_extended_expressions_are_looked_at(name: str) -> None:
    for finding in refused(as_document(EXTENDED_EXPRESSIONS[name], deep=False)):
        assert finding.path.startswith(("referred_expr", "advanced_extensions", "detached"))


# subqueries that become joins -----------------------------------------------------------------------------------------

BOOL = {"bool": {"nullability": "NULLABILITY_REQUIRED"}}


def flags() -> dict[str, Any]:
    """A read of a table with a boolean and a map."""
    schema = {"names": ["b", "m"], "struct": {"types": [BOOL, MAP], "nullability": "NULLABILITY_REQUIRED"}}
    return {"read": {"baseSchema": schema, "namedTable": {"names": ["f"]}}}


def outer_flag(steps: int) -> dict[str, Any]:
    return {
        "selection": {
            "directReference": {"structField": {"field": 0}},
            "outerReference": {"stepsOut": steps},
        }
    }


def exists(relation: dict[str, Any]) -> dict[str, Any]:
    return {"subquery": {"setPredicate": {"predicateOp": "PREDICATE_OP_EXISTS", "tuples": relation}}}


def two_levels_down(inner: dict[str, Any]) -> dict[str, Any]:
    """A filter whose subquery's subquery refers to the outermost record, which Spark's subqueries can't."""
    deep = {"filter": {"input": inner, "condition": outer_flag(2)}}
    middle = {"filter": {"input": flags(), "condition": exists(deep)}}
    return plan({"filter": {"input": flags(), "condition": exists(middle)}}, ["b", "m"])


INNER = (
    "relations[0].root.input.filter.condition.subquery.set_predicate.tuples"
    ".filter.condition.subquery.set_predicate.tuples.filter.input"
)


def test_a_plan_that_runs_after_it_was_rewritten_is_not_refused() -> None:
    source = two_levels_down(flags())
    assert ps.to_sql(source)
    assert refused(source) == []


def test_refusals_in_rewritten_subqueries_have_their_place_in_the_plan() -> None:
    by_map = {"expr": column(1), "direction": "SORT_DIRECTION_ASC_NULLS_FIRST"}
    source = two_levels_down({"sort": {"input": flags(), "sorts": [by_map], "advancedExtension": ENHANCEMENT}})
    with pytest.raises(UnsupportedPlanError):
        ps.to_sql(source)
    assert {(finding.code, finding.path) for finding in refused(source)} == {
        (Code.TARGET_FEATURE, f"{INNER}.sort.advanced_extension.enhancement"),
        (Code.TARGET_RELATION, f"{INNER}.sort.sorts[0]"),
    }


def test_subqueries_that_can_not_be_rewritten_are_each_refused() -> None:
    """A mask inside a column of a read that filters by such a subquery has no form on Spark."""
    numbers = {"list": {"type": I32, "nullability": "NULLABILITY_NULLABLE"}}
    schema = {"names": ["b", "l"], "struct": {"types": [BOOL, numbers], "nullability": "NULLABILITY_REQUIRED"}}
    first = {"list": {"selection": [{"item": {"field": 0}}]}}
    mask = {"select": {"structItems": [{"field": 0}, {"field": 1, "child": first}]}}
    deep = {"filter": {"input": flags(), "condition": outer_flag(2)}}
    hard = exists({"filter": {"input": flags(), "condition": exists(deep)}})
    named = {"namedTable": {"names": ["l"]}}
    masked = {"read": {"baseSchema": schema, **named, "filter": hard, "projection": mask}}
    source = plan({"cross": {"left": masked, "right": masked}}, ["b", "l", "c", "k"])
    with pytest.raises(UnsupportedPlanError, match="a mask inside of a column"):
        ps.to_sql(source)
    found = refused(source)
    assert {"a mask inside of a column" in finding.what for finding in found} == {True}
    assert {finding.path.split(".read")[0] for finding in found} == {
        "relations[0].root.input.cross.left",
        "relations[0].root.input.cross.right",
    }

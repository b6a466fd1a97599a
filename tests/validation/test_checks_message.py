"""What only the message shows: hand-made plans with a known fault each."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from pyspark_substrait import load, validate
from pyspark_substrait.codes import Level
from pyspark_substrait.documents import as_document
from tests.samples import EXTENDED_EXPRESSIONS, PLANS

REQUIRED = "NULLABILITY_REQUIRED"
READ = {
    "baseSchema": {
        "names": ["a", "b"],
        "struct": {"nullability": REQUIRED, "types": [{"i32": {"nullability": REQUIRED}} for _ in range(2)]},
    },
    "namedTable": {"names": ["t"]},
}
COLUMN: dict[str, Any] = {"selection": {"directReference": {"structField": {}}, "rootReference": {}}}
EQUAL: dict[str, Any] = {
    "scalarFunction": {
        "functionReference": 1,
        "outputType": {"bool": {"nullability": REQUIRED}},
        "arguments": [{"value": COLUMN}, {"value": COLUMN}],
    }
}
PLAN: dict[str, Any] = {
    "version": {"minorNumber": 108, "producer": "tests"},
    "executionBehavior": {"variableEvalMode": "VARIABLE_EVALUATION_MODE_PER_PLAN"},
    "extensionUrns": [{"extensionUrnAnchor": 1, "urn": "extension:io.substrait:functions_comparison"}],
    "extensions": [
        {"extensionFunction": {"extensionUrnReference": 1, "functionAnchor": 1, "name": "equal:any_any"}},
    ],
    "relations": [{"root": {"names": ["a", "b"], "input": {"filter": {"input": {"read": READ}, "condition": EQUAL}}}}],
}
FILTER = "relations[0].root.input.filter"
ANY = {"@type": "type.googleapis.com/substrait.Version", "minorNumber": 1}


def changed(change: Callable[[dict[str, Any]], object]) -> set[tuple[int, str, str]]:
    """Code, level and path of what is found after a change of the plan that has no fault."""
    plan = copy.deepcopy(PLAN)
    change(plan)
    return {(int(item.code), item.level.value, item.path) for item in validate(plan)}


def test_the_plan_has_no_fault() -> None:
    assert changed(lambda plan: None) == set()


def declare(plan: dict[str, Any], kind: str, anchor: int, name: str, urn: int = 1) -> object:
    field = {"extensionFunction": "functionAnchor", "extensionType": "typeAnchor"}.get(kind, "typeVariationAnchor")
    plan["extensions"].append({kind: {"extensionUrnReference": urn, field: anchor, "name": name}})
    return plan


def common(plan: dict[str, Any]) -> dict[str, Any]:
    filter = plan["relations"][0]["root"]["input"]["filter"]
    found: dict[str, Any] = filter.setdefault("common", {"direct": {}})
    return found


def read_common(plan: dict[str, Any]) -> dict[str, Any]:
    read = plan["relations"][0]["root"]["input"]["filter"]["input"]["read"]
    found: dict[str, Any] = read.setdefault("common", {"direct": {}})
    return found


def urn(plan: dict[str, Any], text: str) -> object:
    plan["extensionUrns"].append({"extensionUrnAnchor": 7, "urn": text})
    return plan


def extension(plan: dict[str, Any], **parts: object) -> object:
    common(plan)["advancedExtension"] = parts
    return plan


def saved(plan: dict[str, Any], *items: dict[str, object]) -> None:
    common(plan)["hint"] = {"savedComputations": list(items)}


def loaded(plan: dict[str, Any], *items: dict[str, object]) -> None:
    read_common(plan)["hint"] = {"loadedComputations": list(items)}


def both(plan: dict[str, Any], before: dict[str, object], after: dict[str, object]) -> None:
    saved(plan, before)
    loaded(plan, after)


HASH = "COMPUTATION_TYPE_HASHTABLE"
EXTENSION = f"{FILTER}.common.advanced_extension"
FAULTS: dict[str, tuple[Callable[[dict[str, Any]], object], set[tuple[int, str, str]]]] = {
    "an unused function": (
        lambda plan: declare(plan, "extensionFunction", 2, "lt:any_any"),
        {(7003, "info", "extensions[1].extension_function")},
    ),
    "an unused function that there isn't": (
        lambda plan: declare(plan, "extensionFunction", 2, "equals:any_any"),
        {
            (7003, "info", "extensions[1].extension_function"),
            (3007, "warning", "extensions[1].extension_function.name"),
        },
    ),
    "an unused function by its simple name": (
        lambda plan: declare(plan, "extensionFunction", 2, "lt"),
        {
            (7003, "info", "extensions[1].extension_function"),
            (3010, "warning", "extensions[1].extension_function.name"),
        },
    ),
    "a function twice": (
        lambda plan: declare(plan, "extensionFunction", 2, "equal:any_any"),
        {(7003, "info", "extensions[1].extension_function")},
    ),
    "an unused type": (
        lambda plan: (urn(plan, "extension:org.example:types"), declare(plan, "extensionType", 1, "point", 7)),
        {(7004, "info", "extensions[1].extension_type")},
    ),
    "an unused variation": (
        lambda plan: (
            urn(plan, "extension:org.example:types"),
            declare(plan, "extensionTypeVariation", 1, "dense", 7),
        ),
        {(7005, "info", "extensions[1].extension_type_variation")},
    ),
    "an unused extension": (
        lambda plan: urn(plan, "extension:io.substrait:functions_string"),
        {(7002, "info", "extension_urns[1]")},
    ),
    "an extension twice": (
        lambda plan: (
            urn(plan, "extension:io.substrait:functions_comparison"),
            plan["extensions"][0]["extensionFunction"].update(extensionUrnReference=7),
        ),
        {(7002, "info", "extension_urns[1]")},
    ),
    "a URN without an id": (
        lambda plan: urn(plan, "extension:example"),
        {(7002, "info", "extension_urns[1]"), (8, "error", "extension_urns[1].urn")},
    ),
    "a deprecated function": (
        lambda plan: (
            urn(plan, "extension:io.substrait:functions_arithmetic"),
            declare(plan, "extensionFunction", 2, "variance:fp32", 7),
        ),
        {
            (7003, "info", "extensions[1].extension_function"),
            (6, "warning", "extensions[1].extension_function.name"),
        },
    ),
    "an enhancement that isn't listed": (
        lambda plan: extension(plan, enhancement=ANY),
        {(1006, "warning", f"{EXTENSION}.enhancement"), (1004, "warning", f"{EXTENSION}.enhancement")},
    ),
    "an enhancement": (
        lambda plan: (
            extension(plan, enhancement=ANY),
            plan.update(expectedTypeUrls=["type.googleapis.com/substrait.Version"]),
        ),
        {(1004, "info", f"{EXTENSION}.enhancement")},
    ),
    "advice": (
        lambda plan: (extension(plan, optimization=[ANY]), plan.update(expectedTypeUrls=["substrait.Version"])),
        {(1004, "info", f"{EXTENSION}.optimization[0]")},
    ),
    "a type that is listed for nothing, and twice": (
        lambda plan: plan.update(expectedTypeUrls=["a.B", "x.y/a.B"]),
        {(7001, "info", "expected_type_urls[0]"), (7001, "info", "expected_type_urls[1]")},
    ),
    "an anchor that nobody names": (
        lambda plan: common(plan).update(relAnchor=4),
        {(7007, "info", f"{FILTER}.common.rel_anchor")},
    ),
    "a computation that nobody loads": (
        lambda plan: saved(plan, {"computationId": 1, "type": HASH}),
        {(7007, "info", f"{FILTER}.common.hint.saved_computations[0]")},
    ),
    "a computation that nobody saves": (
        lambda plan: loaded(plan, {"computationIdReference": 1, "type": HASH}),
        {(3, "warning", f"{FILTER}.input.read.common.hint.loaded_computations[0]")},
    ),
    "a computation of another type": (
        lambda plan: both(
            plan,
            {"computationId": 1, "type": HASH},
            {"computationIdReference": 1, "type": "COMPUTATION_TYPE_BLOOM_FILTER"},
        ),
        {(3, "warning", f"{FILTER}.input.read.common.hint.loaded_computations[0]")},
    ),
    "a computation that is saved twice": (
        lambda plan: saved(plan, {"computationId": 1, "type": HASH}, {"computationId": 1, "type": HASH}),
        {(3, "warning", f"{FILTER}.common.hint.saved_computations[{number}]") for number in range(2)},
    ),
    "no relations": (
        lambda plan: plan.update(relations=[], extensions=[], extensionUrns=[]),
        {(5001, "error", "relations")},
    ),
    "no version": (lambda plan: plan.pop("version"), {(1002, "error", "version")}),
    "the version 0.0.0": (lambda plan: plan["version"].pop("minorNumber"), {(7, "error", "version")}),
    "a later version": (lambda plan: plan["version"].update(minorNumber=900), {(7, "warning", "version")}),
    "an earlier version": (lambda plan: plan["version"].update(minorNumber=99), {(7, "info", "version")}),
    "no producer": (lambda plan: plan["version"].pop("producer"), {(7, "info", "version.producer")}),
    "a git hash": (lambda plan: plan["version"].update(gitHash="0" * 40), {(7, "warning", "version.git_hash")}),
    "a git hash that is none": (
        lambda plan: plan["version"].update(gitHash="0xff"),
        {(7, "warning", "version.git_hash"), (2, "error", "version.git_hash")},
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault(name: str) -> None:
    change, expected = FAULTS[name]
    assert changed(change) == expected


def test_a_broken_part_hides_no_use() -> None:
    """A function stays used when the expression around its call contradicts itself."""

    def change(plan: dict[str, Any]) -> None:
        call = copy.deepcopy(EQUAL)
        call["scalarFunction"]["functionReference"] = 2
        declare(plan, "extensionFunction", 2, "not_equal:any_any")
        condition = {"cast": {"input": call, "type": {"bool": {"nullability": REQUIRED}}, "failureBehavior": 77}}
        plan["relations"][0]["root"]["input"]["filter"]["condition"] = {
            "ifThen": {"ifs": [{"if": COLUMN, "then": condition}, {"if": EQUAL, "then": EQUAL}], "else": EQUAL}
        }

    found = changed(change)
    assert any(level == "error" for _, level, _ in found)
    assert not {7002, 7003} & {code for code, _, _ in found}


def test_deprecated_fields() -> None:
    """``OuterReference.steps_out`` is deprecated since 0.101."""
    outer = {"selection": {"directReference": {"structField": {}}, "outerReference": {"stepsOut": 1}}}
    inner = copy.deepcopy(EQUAL)
    inner["scalarFunction"]["arguments"][1]["value"] = outer
    exists = {
        "subquery": {
            "setPredicate": {
                "predicateOp": "PREDICATE_OP_EXISTS",
                "tuples": {"filter": {"input": {"read": READ}, "condition": inner}},
            }
        }
    }
    [(code, level, path)] = changed(
        lambda plan: plan["relations"][0]["root"]["input"]["filter"].update(condition=exists)
    )
    assert (code, level, path.rsplit(".", 1)[-1]) == (6, "info", "steps_out")


@pytest.mark.parametrize("name", [*PLANS, *EXTENDED_EXPRESSIONS])
def test_samples_have_no_faults_of_this_kind(name: str) -> None:
    sample = PLANS.get(name) or EXTENDED_EXPRESSIONS[name]
    if name == "nothing":  # a plan without relations: the format can hold it
        return
    assert not [
        str(item)
        for item in validate(as_document(sample, deep=False))
        if item.code in (2, 6, 7, 8, 1006) and item.level is Level.ERROR
    ]


def test_a_loaded_plan_has_a_version() -> None:
    assert not [item for item in validate(load(PLAN)) if item.path.startswith("version")]

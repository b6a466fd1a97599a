"""A plan against a dialect file: what the file doesn't list is found, and nothing else."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml

import pyspark_substrait as ps
from pyspark_substrait.codes import Code
from pyspark_substrait.documents import as_document
from pyspark_substrait.errors import PlanFormatError, UnsupportedPlanError
from pyspark_substrait.model.findings import Finding
from tests.samples import PLANS

I32 = {"i32": {"nullability": "NULLABILITY_NULLABLE"}}
STRING = {"string": {"nullability": "NULLABILITY_NULLABLE"}}
PRICE = {"decimal": {"precision": 12, "scale": 4, "nullability": "NULLABILITY_NULLABLE"}}


def column(position: int) -> dict[str, Any]:
    return {"selection": {"directReference": {"structField": {"field": position}}, "rootReference": {}}}


def added(*options: tuple[str, str]) -> dict[str, Any]:
    """The number of the table, added to itself."""
    return {
        "scalarFunction": {
            "functionReference": 1,
            "outputType": I32,
            "arguments": [{"value": column(0)}, {"value": column(0)}],
            "options": [{"name": name, "preference": [value]} for name, value in options],
        }
    }


def plan(*expressions: dict[str, Any]) -> dict[str, Any]:
    """A projection over a table with the columns ``n``, ``s`` and ``price``."""
    schema = {
        "names": ["n", "s", "price"],
        "struct": {"types": [I32, STRING, PRICE], "nullability": "NULLABILITY_REQUIRED"},
    }
    read = {"read": {"baseSchema": schema, "namedTable": {"names": ["t"]}}}
    names = ["n", "s", "price", *(f"e{number}" for number in range(len(expressions)))]
    return {
        "version": {"minorNumber": 108, "producer": "tests"},
        "extensionUrns": [{"extensionUrnAnchor": 1, "urn": "extension:io.substrait:functions_arithmetic"}],
        "extensions": [{"extensionFunction": {"extensionUrnReference": 1, "functionAnchor": 1, "name": "add:i32_i32"}}],
        "relations": [{"root": {"input": {"project": {"input": read, "expressions": expressions}}, "names": names}}],
    }


@pytest.fixture
def against(tmp_path: Path) -> Any:
    """What is found of a plan against the text of a dialect."""

    def found(dialect: str, source: Any) -> list[Finding]:
        file = tmp_path / "engine.yaml"
        file.write_text(dedent(dialect), "utf-8")
        return [finding for finding in ps.validate(source, target=str(file)) if 8000 <= finding.code < 9000]

    return found


ADD = """\
    dependencies: {math: "extension:io.substrait:functions_arithmetic"}
    supported_scalar_functions:
    - {source: math, name: add, required_options: {overflow: ERROR}, supported_impls: [i64_i64, i32_i32]}
    - {source: math, name: add, required_options: {overflow: SILENT}, supported_impls: [i64_i64]}
"""


def test_a_dialect_that_lists_nothing_takes_everything(against: Any) -> None:
    assert against("name: anything", plan(added())) == []
    assert against("supported_relations: []\nsupported_types: []", plan(added())) == []


def test_relations_and_their_kinds(against: Any) -> None:
    (found,) = against("supported_relations: [READ]", plan(column(0)))
    assert (found.code, found.path) == (Code.TARGET_RELATION, "relations[0].root.input.project")
    (found,) = against("supported_relations: [PROJECT, {relation: READ, read_types: [VIRTUAL_TABLE]}]", plan(column(0)))
    assert (found.path, found.fix) == ("relations[0].root.input.project.input.read", "It has VIRTUAL_TABLE")
    assert "NAMED_TABLE" in found.what


def test_expressions_and_their_kinds(against: Any) -> None:
    cast = {"cast": {"type": I32, "input": column(1), "failureBehavior": "FAILURE_BEHAVIOR_RETURN_NULL"}}
    (found,) = against(
        "supported_expressions: [{expression: CAST, failure_options: [THROW_EXCEPTION]}, SELECTION]", plan(cast)
    )
    assert (found.code, found.path) == (Code.TARGET_EXPRESSION, "relations[0].root.input.project.expressions[0]")
    assert against("supported_expressions: [CAST, SELECTION]", plan(cast)) == []


def test_a_call_states_exactly_the_options_that_are_required(against: Any) -> None:
    """ "These are the exact list of options that must be used.  If no options are listed here, no options must be
    present." (text/dialect_schema.yaml)"""
    assert against(ADD, plan(added(("overflow", "ERROR")))) == []
    (found,) = against(ADD, plan(added(("overflow", "SILENT"))))
    assert (found.code, found.path) == (
        Code.TARGET_OPTION,
        "relations[0].root.input.project.expressions[0].scalar_function",
    )
    assert found.fix == "It has overflow=ERROR"
    (found,) = against(ADD, plan(added()))
    assert found.code == Code.TARGET_OPTION
    without = ADD.replace("required_options: {overflow: ERROR}, ", "")
    (found,) = against(without, plan(added(("overflow", "ERROR"))))
    assert (found.code, found.fix) == (Code.TARGET_OPTION, "It has it without options")
    assert against(without, plan(added())) == []


def test_functions_and_their_implementations(against: Any) -> None:
    (found,) = against(ADD.replace("name: add", "name: subtract"), plan(added()))
    assert found.code == Code.TARGET_FUNCTION
    assert "add" in found.what
    (found,) = against(ADD.replace(", i32_i32", ""), plan(added()))
    assert (found.code, found.fix) == (Code.TARGET_FUNCTION, "It has add:i64_i64")
    (found,) = against("supported_scalar_functions: []", plan(added()))
    assert found.code == Code.TARGET_FUNCTION


def test_the_number_of_arguments(against: Any) -> None:
    limited = ADD.replace("required_options: {overflow: ERROR}", "variadic: {min: 3, max: 5}")
    (found,) = against(limited, plan(added()))
    assert (found.code, found.fix) == (Code.TARGET_FUNCTION, "It has 3 to 5")


def test_types_and_their_limits(against: Any) -> None:
    types = "relations[0].root.input.project.input.read.base_schema.struct.types"
    (found,) = against("supported_types: [I32, DECIMAL]", plan(column(0)))
    assert (found.code, found.path) == (Code.TARGET_TYPE, f"{types}[1]")
    assert "column s" in found.what
    (found,) = against(
        "supported_types: [I32, STRING, {type: DECIMAL, max_precision: 38, max_scale: 3}]", plan(column(0))
    )
    assert (found.path, "at most 3" in found.what) == (f"{types}[2]", True)
    silent = "supported_types: [STRING, DECIMAL, {type: I32, system_metadata: {supported_as_column: false}}]"
    (found,) = against(silent, plan(column(0)))
    assert found.path == f"{types}[0]"
    literal = {"literal": {"i32": 3}}
    assert [found.path for found in against(silent, plan(literal))] == [f"{types}[0]"]


def test_named_lambdas_need_two_entries(against: Any) -> None:
    """ "named callees require both LAMBDA_INVOCATION and NAMED_LAMBDA_REFERENCE" (text/dialect_schema.yaml)"""
    source = as_document(PLANS["expression named lambda invocation"], deep=False)
    others = "LITERAL, SELECTION, SCALAR_FUNCTION, LAMBDA"
    missing = against(f"supported_expressions: [{others}, LAMBDA_INVOCATION]", source)
    assert missing and all("NAMED_LAMBDA_REFERENCE" in found.what for found in missing)
    assert against(f"supported_expressions: [{others}, LAMBDA_INVOCATION, NAMED_LAMBDA_REFERENCE]", source) == []


def test_words_of_a_dialect_stay_words(against: Any) -> None:
    """A bare NO is no boolean, and a number no number, where a value of an option is meant."""
    (found,) = against(ADD.replace("overflow: ERROR", "overflow: NO"), plan(added(("overflow", "ERROR"))))
    assert found.fix == "It has overflow=NO"


@pytest.mark.parametrize(
    "text",
    ["[]", "supported_types: 3", "supports: []", "supported_relations: [{join_types: []}]", "a: [",
     "supported_scalar_functions: [{source: x, name: y, supported_impls: [z]}]"],
)  # fmt: skip
def test_what_is_no_dialect_is_said(against: Any, text: str) -> None:
    with pytest.raises(PlanFormatError, match="is not a dialect file"):
        against(text, plan(column(0)))


def test_a_target_that_is_not_there() -> None:
    with pytest.raises(UnsupportedPlanError, match="there is no target somewhere"):
        ps.validate(plan(column(0)), target="somewhere")


# the dialect of Spark as a target -------------------------------------------------------------------------------------

#: what a dialect has no word for: values that Spark's maps can't hold, lambdas in places where they are values, details
#: of targets, enhancements
_UNSAID = ("map", "masked", "lambda", "write", "ddl", "exchange", "same_sound", "measures and expressions")


@pytest.fixture(scope="module")
def own_dialect(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("dialects") / "spark.yaml"
    file.write_text(yaml.safe_dump(ps.dialect(), sort_keys=False), "utf-8")
    return str(file)


@pytest.mark.parametrize("name", PLANS)
def test_our_own_dialect_refuses_what_spark_does(name: str, own_dialect: str) -> None:
    document = as_document(PLANS[name], deep=False)
    listed = [found for found in ps.validate(document, target=own_dialect) if 8000 <= found.code < 9000]
    compiled = [found for found in ps.validate(document, target="spark") if 8000 <= found.code < 9000]
    functions = {Code.TARGET_FUNCTION, Code.TARGET_OPTION}
    assert {found.code for found in listed} & functions == {found.code for found in compiled} & functions
    if not any(word in name for word in _UNSAID):
        said = [found for found in compiled if "enhancement" not in found.what and "no cast" not in found.what]
        assert bool(listed) == bool(said), (listed, said)

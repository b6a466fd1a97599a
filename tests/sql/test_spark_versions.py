"""Text for older versions of Spark: what the tables say is made for each, or refused with the version that can."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace

import pytest
from click.testing import CliRunner

import pyspark_substrait as ps
from pyspark_substrait.cli import main
from pyspark_substrait.errors import SubstraitError, UnsupportedPlanError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.expressions import FunctionOption
from pyspark_substrait.model.types import PrecisionTime
from pyspark_substrait.sql import functions
from pyspark_substrait.sql.functions.builtins_since import BUILTINS, has_builtin
from pyspark_substrait.sql.functions.catalog import combinations, example
from pyspark_substrait.sql.functions.table import Refusal, row
from pyspark_substrait.sql.spark_version import (
    NEWEST,
    OLDEST,
    VERSIONS,
    SparkVersion,
    parsed_version,
    version_of_session,
)
from tests.spark import plans

TIME = PrecisionTime(precision=6, nullable=False)


def test_versions_are_named_by_their_numbers() -> None:
    assert parsed_version("3.5") == OLDEST == SparkVersion(3, 5)
    assert parsed_version("4.0.2") == SparkVersion(4, 0)
    assert parsed_version(None) == NEWEST
    for wrong in ("3.4", "5.0", "4", "spark", ""):
        with pytest.raises(SubstraitError, match=r"Name one of 3\.5, 4\.0"):
            parsed_version(wrong)


def test_a_session_of_a_platform_has_a_version() -> None:
    assert version_of_session("3.5.4-amzn-0") == OLDEST
    assert version_of_session("4.0.1.dev1") == SparkVersion(4, 0)
    assert version_of_session("9.1.0") == NEWEST
    with pytest.raises(SubstraitError, match="oldest"):
        version_of_session("3.4.1")


def test_a_row_has_another_body_or_is_refused_before_its_version() -> None:
    new, older = lambda call: "new", lambda call: "older"
    both, only = row("f", new, since="4.1", before=older), row("f", new, since="4.1", kind="A")
    for version in ("4.1", "4.3"):
        assert both.for_spark(parsed_version(version)) is both
    assert both.for_spark(OLDEST).body is older
    refused = only.for_spark(SparkVersion(4, 0))
    assert isinstance(refused, Refusal) and refused.options == only.options
    assert refused.body == "it runs from Spark 4.1 on, and this is for Spark 4.0"


def _remainder() -> ps.Plan:
    table = plans.values((plans.INT, plans.INT), [(7, 2)])
    arguments = (plans.col(table, 0), plans.col(table, 1))
    options = (FunctionOption("on_domain_error", ("NULL",)),)
    return plans.plan(plans.project(table, replace(plans.call("modulus", *arguments), options=options)))


def test_text_is_made_for_a_version() -> None:
    assert "try_mod(" in ps.to_sql(_remainder())
    assert ps.to_sql(_remainder()) == ps.to_sql(_remainder(), version="4.3") == ps.to_sql(_remainder(), version="4.0")
    older = ps.to_sql(_remainder(), version="3.5")
    assert "try_mod" not in older and "% nullif(" in older


def _times() -> ps.Plan:
    table = plans.values((TIME,), [(0,)])
    return plans.plan(plans.project(table, plans.col(table, 0)))


@pytest.mark.parametrize("version", ["3.5", "4.0", "4.1"])
def test_a_type_that_a_version_lacks_is_refused_with_the_one_that_has_it(version: str) -> None:
    with pytest.raises(UnsupportedPlanError, match=r"TIME, which Spark [\d.]+ does not have.*4\.2"):
        ps.to_sql(_times(), version=version)
    report = ps.validate(_times(), "spark", version=version)
    assert [finding for finding in report.errors if "TIME" in finding.what]
    assert not ps.validate(_times(), "spark").errors
    assert not ps.validate(_times(), "spark", version="4.2").errors


def test_a_version_belongs_to_the_target_spark() -> None:
    with pytest.raises(SubstraitError, match="target spark"):
        ps.validate(_times(), version="3.5")


def test_a_dialect_is_of_a_version() -> None:
    def types(version: str | None) -> set[str]:
        return {entry["type"] for entry in ps.dialect(version=version)["supported_types"]}

    assert "PRECISION_TIME" in types(None) == types("4.3") == types("4.2")


def test_commands_take_a_version() -> None:
    shown = CliRunner().invoke(main, ["functions", "modulus", "--spark", "3.5"])
    assert shown.exit_code == 0 and "nullif" in shown.output and "try_mod" not in shown.output
    wrong = CliRunner().invoke(main, ["functions", "modulus", "--spark", "2.4"])
    assert wrong.exit_code != 0 and "Name one of 3.5" in wrong.output


#: calls of functions of times of day; versions that lack them have no type for these either, and refuse it
_OF_TIMES = {"make_time", "time_from_micros", "time_to_micros"}


@pytest.mark.sweep
@pytest.mark.parametrize("version", [version for version in VERSIONS if version != NEWEST], ids=str)
def test_the_texts_of_functions_call_what_their_version_has(version: SparkVersion) -> None:
    registry = Registry.default()
    call = re.compile(rf"(?<![\w.])({'|'.join(map(re.escape, BUILTINS))})\(")
    lacking = {}
    for urn in (*registry.urns(), *registry.own_urns()):
        table = functions.table(urn, version)
        for definition in (made for name in registry.function_names(urn) for made in registry.overloads(urn, name)):
            for combination in combinations(definition, table):
                with suppress(SubstraitError):
                    text = example(combination, registry, version)
                    if any(not has_builtin(name, version) for name in {*call.findall(text)} - _OF_TIMES):
                        lacking[definition.key] = text
    assert not lacking

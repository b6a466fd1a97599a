"""The referee on engines that answer right and wrong, crash, hang and refuse."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from click.testing import CliRunner

import pyspark_substrait as ps
from pyspark_substrait.cli import main
from pyspark_substrait.conformance.engines import engine_of
from pyspark_substrait.conformance.measured_dialect import measured_dialect
from pyspark_substrait.conformance.processes import Request, Worker
from pyspark_substrait.conformance.relation_cases import read_trials, relation_trials
from pyspark_substrait.conformance.report import ConformanceReport, Run
from pyspark_substrait.conformance.running import Outcome, controls, run
from tests.official import official

FAKE = Path(__file__).parent / "fake_engine.py"
CASE = "filter:comparison-with-nulls"


def command(answer: str) -> str:
    return shlex.join([sys.executable, str(FAKE), answer])


def outcome(answer: str, **options: Any) -> Outcome:
    (only,) = ps.conformance_report(command(answer), cases=[CASE], **options).runs[0].outcomes
    return only


@pytest.mark.parametrize(
    ("answer", "status", "kind", "text"),
    [
        ("right", "passed", "", ""),
        ("in another order", "passed", "", ""),
        ("wrong rows", "failed", "rows", "1 record missing: (2, b, false)"),
        ("wrong type", "failed", "schema", "x is Arrow's int32 instead of i64?"),
        ("wrong name", "failed", "schema", "the columns are y, name, flag instead of x, name, flag"),
        ("too few columns", "failed", "schema", "1 columns instead of 3"),
        ("null", "failed", "rows", "name is null, though it is a string"),
        ("garbage", "failed", "garbage", "no Arrow stream"),
        ("nothing", "failed", "garbage", "no Arrow stream"),
        ("endless", "failed", "garbage", "more than 67,108,864 bytes"),
        ("crash", "failed", "crash", "the process ended with SIGSEGV"),
        ("refusal", "refused", "", "a filter? never heard of it"),
        ("error", "failed", "error", "division by zero"),
    ],
)
def test_an_answer_has_its_outcome(answer: str, status: str, kind: str, text: str) -> None:
    found = outcome(answer, seconds=60)
    assert (found.status, found.kind) == (status, kind), found.text
    assert found.text.startswith(text) if text else not found.text


def test_a_plan_that_never_ends_fails_and_the_next_one_runs() -> None:
    found = ps.conformance_report(command("hang"), cases=["filter:comparison*", "filter:column"], seconds=0.5)
    assert {item.kind for item in found.runs[0].outcomes} == {"timeout"}
    assert len(found.runs[0].outcomes) == 2
    assert found.runs[0].outcomes[0].text == "no result within 0.5 s"


def test_a_command_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ps.UnsupportedPlanError, match="does not start"):
        ps.conformance_report("/no/such/engine", cases=[CASE])
    with pytest.raises(ps.UnsupportedPlanError, match="the command is empty"):
        ps.conformance_report("", cases=[CASE])
    with pytest.raises(ps.SubstraitError, match="there is no case nothing:"):
        ps.conformance_report(command("right"), cases=["nothing:*"], suites=["relations"])
    with pytest.raises(ps.SubstraitError, match="there is no suite `mine`"):
        ps.conformance_report(command("right"), suites=["mine"])


# errors --------------------------------------------------------------------------------------------------------------

ERRORS = """
relation: JOIN
table l(x: i64)
  1
table r(y: i64)
  1
  1

case several
  rule: a runtime error
  plan:
    Join[left_single, equal($0, $1)]
      Read[l]
      Read[r]
  schema: x: i64, y: i64?
  error: several records match
  control: one

case one
  rule: none
  plan:
    Join[left_single, equal($0, $1)]
      Read[l]
      Read[l]
  schema: x: i64, y: i64?
  rows:
    1, 1
"""


def test_an_error_counts_only_where_the_control_passes() -> None:
    several, one = trials = [*read_trials(ERRORS, "errors")]
    assert controls([several], trials) == [one]
    (alone, other), _ = run(engine_of(command("error")), trials)
    assert (alone.status, other.status) == ("refused", "failed")
    assert alone.text.startswith("it fails, but nothing shows that the engine runs the rest of the plan")
    (without,), _ = run(engine_of(command("refusal")), [several])
    assert without.status == "refused"
    (answered,), _ = run(engine_of(command("right")), [several])
    assert (answered.status, answered.kind) == ("failed", "no error")


def test_only_the_chosen_cases_and_their_controls_are_read() -> None:
    broken = f"{ERRORS}\ncase broken\n  rule: none\n"
    assert [trial.id for trial in read_trials(broken, "e", lambda id: id == "e:several")] == ["e:several", "e:one"]
    assert [*read_trials(broken, "e", lambda id: False)] == []
    with pytest.raises(ps.PlanFormatError, match="broken"):
        list(read_trials(broken, "e", lambda id: id == "e:broken"))


def test_a_folder_of_cases_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "errors.cases").write_text(ERRORS, encoding="utf-8")
    found = ps.conformance_report("datafusion", suites=["relations"], relations=tmp_path, cases=["errors:one"])
    assert [item.trial.id for item in found.runs[0].outcomes] == ["errors:one"]


# reports -------------------------------------------------------------------------------------------------------------


def _called(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["conformance", *arguments])
    return done.exit_code, done.stdout


def test_the_command_prints_a_table_and_the_case() -> None:
    code, text = _called("--engine", command("wrong rows"), "--label", "fake", "--case", CASE)
    assert code == 1
    lines = text.splitlines()
    assert lines[0].startswith("fake, cases of Substrait 0.108.0, ")
    assert "relation cases         1       0       1        0          0" in lines
    assert f"failed {CASE}: comparison with nulls: rows: 1 record missing: (2, b, false)" in lines
    reproduce = next(line for line in lines if line.startswith("to reproduce one: "))
    assert reproduce.endswith(f"--case {CASE}")
    assert "    Filter[gt:any_any($0, 1:i64) -> boolean?]" in lines
    assert _called("--engine", command("right"), "--case", CASE)[0] == 0
    assert _called("--engine", command("refusal"), "--case", CASE)[0] == 0


@pytest.mark.sweep
def test_the_command_to_reproduce_reproduces() -> None:
    found = ps.conformance_report(command("wrong rows"), cases=["filter:*"])
    failed = found.runs[0].with_status("failed")[0]
    program, verb, *arguments = shlex.split(found.command(failed, converted=False))
    assert (program, verb) == ("pyspark-substrait", "conformance")
    code, text = _called(*arguments)
    assert code == 1
    assert f"failed {failed.trial.id}" in text


@pytest.mark.sweep
def test_json_and_the_page_have_every_case(tmp_path: Path) -> None:
    page, dialect = tmp_path / "report.html", tmp_path / "fake.yaml"
    options = ["--case", "filter:*", "-o", str(page), "--dialect", str(dialect)]
    code, _ = _called("--engine", command("wrong rows"), *options)
    assert code == 1
    text = page.read_text(encoding="utf-8")
    assert "<script" not in text
    assert text.count("pyspark-substrait conformance") == text.count("<tr><td><code>filter:")
    code, printed = _called("--engine", command("right"), "--case", CASE, "--json")
    found = json.loads(printed)
    assert found["runs"][0]["counts"] == {"passed": 1, "failed": 0, "refused": 0, "set aside": 0}
    (case,) = found["runs"][0]["cases"]
    assert (case["id"], case["status"], case["kind"]) == (CASE, "passed", None)
    assert case["rule"].startswith("relations/logical_relations, Filter Operation")
    jsonschema.validate(yaml.safe_load(dialect.read_text(encoding="utf-8")), _schema())


def test_names_in_a_page_are_escaped() -> None:
    _, trial = read_trials(ERRORS, "<b>")
    report = _report([Outcome(trial=trial, status="failed", kind="rows", text="<script>alert(1)</script>")])
    assert "<script>" not in report.to_html()
    assert "<b>" not in report.to_html()


def _report(outcomes: list[Outcome]) -> ConformanceReport:
    made = Run(converted=False, outcomes=tuple(outcomes))
    return ConformanceReport(engine="e", version="1", note="", date="2026-01-01", release="0.108.0", runs=(made,))


# dialects ------------------------------------------------------------------------------------------------------------


def _schema() -> Any:
    return yaml.safe_load((official("dialects") / "dialect_schema.yaml").read_text(encoding="utf-8"))


def test_a_dialect_lists_what_passed_every_case() -> None:
    pytest.importorskip("datafusion")
    found = ps.conformance_report("datafusion", cases=["arithmetic/add:*", "arithmetic/modulus:*", "join:inner-*"])
    dialect = found.dialect()
    jsonschema.validate(dialect, _schema())
    assert dialect["supported_relations"] == [{"relation": "JOIN", "join_types": ["INNER"]}]
    adds = [item for item in dialect["supported_scalar_functions"] if item["name"] == "add"]
    # DataFusion wraps around silently, whatever the option says
    assert any("required_options" not in item and "i8_i8" in item["supported_impls"] for item in adds)
    assert not any(item.get("required_options", {}).get("overflow") in ("SATURATE", "ERROR") for item in adds)


def test_one_failure_takes_a_set_of_options_out_of_the_dialect() -> None:
    pytest.importorskip("datafusion")
    outcomes = [*ps.conformance_report("datafusion", cases=["arithmetic/add:*"]).runs[0].outcomes]
    right = next(item for item in outcomes if item.status == "passed" and item.trial.function is not None)

    def listed(items: list[Outcome]) -> bool:
        function = right.trial.function
        assert function is not None
        return any(
            function.signature in entry["supported_impls"] and not entry.get("required_options")
            for entry in measured_dialect("e", items)["supported_scalar_functions"]
        )

    assert listed([right])
    assert not listed([right, Outcome(trial=right.trial, status="refused")])
    assert listed([right, Outcome(trial=right.trial, status="set aside")])


# the engines ---------------------------------------------------------------------------------------------------------


@pytest.mark.sweep
@pytest.mark.parametrize("engine", ["datafusion", "duckdb", "acero"])
def test_an_engine_runs_functions_windows_aggregates_and_relations(engine: str) -> None:
    pytest.importorskip("pyarrow" if engine == "acero" else engine)
    cases = ["arithmetic/add:*", "arithmetic/sum:*", "filter:*", "ours/functions_arithmetic_windows:*"]
    run = ps.conformance_report(engine, cases=cases, seconds=60).runs[0]
    passed = {item.trial.area for item in run.with_status("passed")}
    assert {"arithmetic", "filter"} <= passed
    assert {item.kind for item in run.with_status("failed")} <= {"rows", "schema", "no error", "error", "garbage"}


@pytest.mark.sweep
def test_a_worker_that_dies_is_started_again() -> None:
    pytest.importorskip("datafusion")
    worker = engine_of("datafusion").start()
    assert isinstance(worker, Worker)
    trial = next(trial for trial in relation_trials() if trial.id == CASE)
    request = Request(trial.plan(inline=True).to_bytes())
    try:
        assert worker.ask(request, 60).table is not None
        assert worker._process is not None
        os.kill(worker._process.pid, signal.SIGKILL)
        died = worker.ask(request, 60)
        assert (died.failure, died.text) == ("crash", "the process ended with SIGKILL")
        assert worker.ask(request, 60).table is not None
        os.kill(worker._process.pid, signal.SIGSTOP)
        late = worker.ask(request, 1)
        assert late.failure == "timeout"
        assert worker.ask(request, 60).table is not None
    finally:
        worker.close()


def test_an_engine_that_does_not_start_is_an_error() -> None:
    with pytest.raises(ps.UnsupportedPlanError, match="nothing does not start: "):
        Worker([sys.executable, "-m", "pyspark_substrait.conformance.worker", "nothing"], "nothing").start()


def test_a_command_may_run_many_plans() -> None:
    cases = [CASE, "filter:column", "filter:nothing-passes"]
    report = ps.conformance_report(command("many"), persistent=True, cases=cases, convert=True)
    assert report.version == "1.0"
    plain, converted = ({item.trial.id: item for item in run.outcomes} for run in report.runs)
    assert {item.status for item in plain.values()} == {"passed", "refused"}
    assert plain[CASE].status == "passed"
    assert {item.text for item in plain.values() if item.status == "refused"} == {"a filter? never heard of it"}
    assert {item.text for item in converted.values()} == {"the process ended with SIGSEGV"}
    assert "--persistent" in report.command(plain["filter:column"], converted=False)
    with pytest.raises(ps.UnsupportedPlanError, match="only a command is persistent"):
        ps.conformance_report("spark", persistent=True)


@pytest.mark.parametrize("answer", ["words", "another message"])
def test_a_command_that_writes_no_messages_does_not_start(answer: str) -> None:
    with pytest.raises(ps.UnsupportedPlanError, match="does not start: its standard output is no message"):
        ps.conformance_report(command(answer), persistent=True, cases=[CASE])


def test_converted_plans_are_a_run_of_their_own() -> None:
    found = ps.conformance_report("acero", cases=["fetch:count"], convert=True, seconds=60)
    assert [(run.converted, run.outcomes[0].status) for run in found.runs] == [(False, "failed"), (True, "passed")]
    assert "--convert" in found.command(found.runs[1].outcomes[0], converted=True)


@pytest.mark.parametrize("engine", ["acero", "datafusion"])
def test_converted_plans_keep_limits_and_post_join_filters(engine: str) -> None:
    pytest.importorskip("pyarrow" if engine == "acero" else engine)
    cases = ["fetch:*", "join_filters:inner-*", "join_filters:*left-p*", "join_filters:left-anti-*"]
    found = ps.conformance_report(engine, cases=cases, convert=True, seconds=60).runs[1]
    assert [(item.trial.id, item.text) for item in found.with_status("failed")] == []
    assert found.counts()["passed"] > 18


@pytest.mark.sweep
def test_some_cases_on_spark() -> None:
    cases = ["arithmetic/add:*", "arithmetic/sum:*", "join:left-mark-*", "join:left-single-*", "window:*"]
    found = ps.conformance_report("spark", cases=cases, seconds=600)
    others = [(item.trial.id, item.text) for item in found.runs[0].outcomes if item.status != "passed"]
    assert others == [("arithmetic/add:17", "the result is undefined")]

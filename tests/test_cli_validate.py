"""The commands ``validate`` and ``findings``: arguments, exit codes, where output goes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pyspark_substrait import samples
from pyspark_substrait.cli import main
from pyspark_substrait.codes import classes
from tests.report.plans import field, plan

ROOT = Path(__file__).resolve().parent.parent
LOOSE = samples.plan_2023()


def call(*arguments: str | Path, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)


@pytest.fixture
def fine(tmp_path: Path) -> Path:
    file = tmp_path / "fine.json"
    file.write_text(json.dumps(plan()))
    return file


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    file = tmp_path / "broken.json"
    file.write_text(json.dumps(plan(field(9)), indent=2))
    return file


def test_a_plan_that_is_right(fine: Path) -> None:
    result = call("validate", fine)
    assert result.exit_code == 0
    assert result.stdout == f"{fine} (plan, Substrait 0.108.0, by by hand)\nnothing found\n"


def test_a_broken_plan(broken: Path) -> None:
    result = call("validate", broken)
    assert result.exit_code == 1
    assert "error 6106" in result.stdout
    assert "at relations[0].root.input.filter.condition" in result.stdout
    assert "why: " in result.stdout and "fix: " in result.stdout
    assert result.stdout.endswith("1 error, no warnings\n")


def test_what_is_no_plan(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(b"\xff\xff\xff")
    result = call("validate", file)
    assert result.exit_code == 1 and "error 1001" in result.stdout


def test_warnings_fail_only_when_strict() -> None:
    assert call("validate", LOOSE).exit_code == 0
    assert call("validate", LOOSE, "--strict").exit_code == 1
    assert call("validate", LOOSE, "--strict", "--level", "error").exit_code == 1


def test_strict_is_fine_with_what_is_only_worth_knowing(fine: Path) -> None:
    assert call("validate", fine, "--strict").exit_code == 0


def test_the_level_is_the_least_that_is_listed() -> None:
    every, warnings = call("validate", LOOSE).stdout, call("validate", LOOSE, "--level", "warning").stdout
    assert "info 0100" in every and "info 0100" not in warnings
    assert every.splitlines()[-1] == warnings.splitlines()[-1]
    assert "warning 3010" not in call("validate", LOOSE, "--level", "error").stdout


def test_several_plans(fine: Path, broken: Path) -> None:
    result = call("validate", fine, broken)
    assert result.exit_code == 1
    assert result.stdout.index(str(fine)) < result.stdout.index(str(broken))
    assert result.stdout.endswith("\n2 plans: 1 error, no warnings\n")


def test_standard_input(broken: Path) -> None:
    result = call("validate", "-", stdin=broken.read_bytes())
    assert result.exit_code == 1 and result.stdout.startswith("standard input (plan")
    assert call("validate", "-", "-", stdin=b"").exit_code == 2


@pytest.mark.parametrize("form", ["text", "json", "sarif", "html"])
def test_forms(fine: Path, broken: Path, form: str) -> None:
    result = call("validate", fine, broken, "--format", form)
    assert result.exit_code == 1 and result.stderr == ""
    match form:
        case "json":
            assert [item["ok"] for item in json.loads(result.stdout)] == [True, False]
        case "sarif":
            assert len(json.loads(result.stdout)["runs"][0]["artifacts"]) == 2
        case "html":
            assert result.stdout.lstrip().startswith("<!doctype html>")
        case _:
            assert "error 6106" in result.stdout


@pytest.mark.parametrize(
    ("name", "begins"),
    [("out.json", "["), ("out.sarif", "{"), ("out.html", "<!doctype html>"), ("out.HTML", "<!doc"), ("out.txt", "/")],
)
def test_the_suffix_of_a_file_says_the_form(broken: Path, tmp_path: Path, name: str, begins: str) -> None:
    result = call("validate", broken, "-o", tmp_path / name)
    assert result.exit_code == 1 and result.stdout == ""
    assert result.stderr == f"1 plan: 1 error, no warnings; written to {tmp_path / name}\n"
    assert (tmp_path / name).read_text(encoding="utf-8").lstrip().startswith(begins)


def test_the_format_wins_over_the_suffix(broken: Path, tmp_path: Path) -> None:
    call("validate", broken, "-o", tmp_path / "out.txt", "--format", "sarif")
    assert json.loads((tmp_path / "out.txt").read_text())["version"] == "2.1.0"


def test_text_in_a_file_is_the_text_on_standard_output(fine: Path, broken: Path, tmp_path: Path) -> None:
    call("validate", fine, broken, "-o", tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text() == call("validate", fine, broken).stdout


@pytest.mark.parametrize(
    "arguments",
    [[], ["there-is-no-such.json"], ["--level", "fatal"], ["--format", "xml"], ["--target", "no such"]],
    ids=["no plan", "no file", "level", "format", "target"],
)
def test_wrong_usage(fine: Path, arguments: list[str]) -> None:
    files = [fine] if arguments and arguments[0].startswith("--") else []
    assert call("validate", *files, *arguments).exit_code == 2


def test_a_plan_is_never_written_over(fine: Path) -> None:
    before = fine.read_bytes()
    assert call("validate", fine, "-o", fine).exit_code == 2
    assert fine.read_bytes() == before


def test_a_folder_that_isnt_there(fine: Path, tmp_path: Path) -> None:
    result = call("validate", fine, "-o", tmp_path / "no" / "out.json")
    assert result.exit_code == 1 and "out.json" in result.stderr and "Traceback" not in result.stderr


def test_the_example_of_the_tutorial_has_no_error() -> None:
    assert call("validate", samples.plan_2023(), "--level", "error").exit_code == 0


def test_findings_lists_all_and_shows_one() -> None:
    assert len(call("findings").stdout.splitlines()) == len(classes())
    for text in ("4005", "TYPE_MISMATCH", "type_mismatch"):
        assert call("findings", text).stdout.startswith("4005 TYPE_MISMATCH, error: types do not match\n")
    assert call("findings", "1").stdout.startswith("0001 ")


@pytest.mark.parametrize("code", ["9999", "no such", "-1", "²"])
def test_findings_knows_what_there_isnt(code: str) -> None:
    assert call("findings", "--", code).exit_code == 2


def test_what_the_documentation_shows_is_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plan.json").write_text(json.dumps(plan(field(9), producer="acme")))
    shown = (ROOT / "docs" / "validating.md").read_text(encoding="utf-8")
    assert f"$ pyspark-substrait validate plan.json\n{call('validate', 'plan.json').stdout}```\n" in shown

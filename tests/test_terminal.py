"""Nothing of a plan reaches a terminal as anything but text; what goes to a file or a pipe is exact."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

import pyspark_substrait as ps
from pyspark_substrait.cli import main, output
from pyspark_substrait.documents import Plan
from pyspark_substrait.message_text import escaped, json_text, message_text, shortened

HOSTILE = "a\x1b]0;owned\x07\x1b[2J\x7f\x9b31m\u202eb\u2066c\u200d\ufeff"
"""Text with escape sequences for title, clearing and colour, with direction marks and invisible characters."""


def hostile_plan(function: str = "add:i64_i64") -> dict[str, object]:
    """A plan with hostile names in all places that have names."""
    i64 = {"i64": {"nullability": "NULLABILITY_REQUIRED"}}
    schema = {"names": [HOSTILE], "struct": {"types": [i64], "nullability": "NULLABILITY_REQUIRED"}}
    column: dict[str, Any] = {"selection": {"directReference": {"structField": {}}, "rootReference": {}}}
    urn = "extension:io.substrait:functions_arithmetic"
    return {
        "version": {"minorNumber": 75, "producer": HOSTILE, "gitHash": "00" * 20},
        "extensionUrns": [{"extensionUrnAnchor": 1, "urn": urn}, {"extensionUrnAnchor": 2, "urn": f"{HOSTILE}:x"}],
        "extensions": [
            {"extensionFunction": {"extensionUrnReference": 1, "functionAnchor": 1, "name": function}},
            {"extensionFunction": {"extensionUrnReference": 2, "functionAnchor": 2, "name": f"{HOSTILE}f:i64"}},
        ],
        "relations": [
            {
                "root": {
                    "names": [HOSTILE + "1", HOSTILE + "2"],
                    "input": {
                        "project": {
                            "input": {
                                "read": {
                                    "common": {"hint": {"alias": HOSTILE}},
                                    "baseSchema": schema,
                                    "namedTable": {"names": [HOSTILE, "t"]},
                                }
                            },
                            "expressions": [
                                {
                                    "scalarFunction": {
                                        "functionReference": 1,
                                        "arguments": [{"value": column}, {"value": column}],
                                        "outputType": i64,
                                        "options": [{"name": HOSTILE, "preference": [HOSTILE]}],
                                    }
                                }
                            ],
                        }
                    },
                }
            }
        ],
    }


def without_unknown_option() -> dict[str, object]:
    """The same plan, without what makes it an error."""
    text = json.dumps(hostile_plan())
    option = json.dumps([{"name": HOSTILE, "preference": [HOSTILE]}])
    assert option in text
    return dict(json.loads(text.replace(option, "[]")))


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard output is a terminal."""
    with click.Context(main) as context:
        for name in main.list_commands(context):
            main.get_command(context, name)  # a command that is imported later would keep the function for other tests
    monkeypatch.setattr(output, "to_terminal", lambda: True)


def seen_by_a_terminal(text: str) -> None:
    """Fail for what isn't just shown."""
    assert not [char for char in text if not char.isprintable() and char not in "\n\t"], repr(text)


COMMANDS = [
    ["explain", "right.json"],
    ["explain", "wrong.json"],
    ["explain", "right.json", "--full"],
    ["explain", "wrong.json", "--proto-paths", "--target", "spark"],
    ["validate", "right.json", "wrong.json"],
    *(["validate", "wrong.json", "--target", "spark", "--format", form] for form in ("json", "sarif", "html")),
    ["lint", "right.json"],
    ["lint", "right.json", "--fix", "-o", "-"],
    ["lint", "wrong.json", "--fix", "-o", "-"],
    ["diff", "right.json", "other.json"],
    ["diff", "right.json", "other.json", "--json"],
    ["diff", "right.json", "wrong.json"],
    ["lineage", "right.json"],
    ["lineage", "right.json", "--json"],
    ["lineage", "right.json", "--column", "no"],
    ["sql", "right.json"],
    ["sql", "wrong.json"],
    ["run", "right.json", "--dry-run"],
    ["run", "wrong.json", "--dry-run"],
    ["convert", "right.json", "-", "--to", "json"],
    ["convert", "right.json", "-", "--to", "text"],
    ["convert", "right.json", "-"],
    ["upgrade", "right.json", "--check"],
    ["upgrade", "right.json", "--check", "--format", "json"],
    ["upgrade", "right.json", "-o", "-"],
    ["functions", HOSTILE],
    ["findings", HOSTILE],
    ["explain", f"{HOSTILE}.json"],
    ["view", "right.json", "-o", f"{HOSTILE}/x.html"],
    ["validate", "right.json", "--target", HOSTILE],
    ["functions", "--extension", "hostile.yaml", HOSTILE + "f"],
    ["functions", "--extension", "hostile.yaml", "extension:x:y"],
    [HOSTILE],
    ["sql", "right.json", f"--{HOSTILE}"],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Plans with hostile names, and an extension file."""
    made = tmp_path_factory.mktemp("plans")
    (made / "wrong.json").write_text(json.dumps(hostile_plan()))
    (made / "right.json").write_text(json.dumps(without_unknown_option()))
    other = json.dumps(without_unknown_option()).replace(json.dumps(HOSTILE + "1"), json.dumps(HOSTILE + "3"))
    (made / "other.json").write_text(other)
    (made / "hostile.yaml").write_text(
        json.dumps(
            {
                "urn": "extension:x:y",
                "scalar_functions": [
                    {"name": HOSTILE + "f", "description": HOSTILE, "impls": [{"args": [], "return": "i64"}]}
                ],
            }
        )
    )
    return made


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command).replace(HOSTILE, "HOSTILE"))
def test_of_no_command_a_terminal_gets_anything_but_text(
    command: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    found = CliRunner().invoke(main, command)
    assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
    assert found.output.strip()
    seen_by_a_terminal(found.output)


def test_a_pipe_gets_the_exact_text(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    plan = ps.load(folder / "right.json")
    assert isinstance(plan, Plan)
    runner = CliRunner()
    assert runner.invoke(main, ["sql", "right.json"]).stdout == ps.to_sql(plan) + "\n"
    assert HOSTILE in ps.to_sql(plan)
    for form in ("json", "text"):
        written = runner.invoke(main, ["convert", "right.json", "-", "--to", form]).stdout
        seen_by_a_terminal(written)  # these forms have escapes that are exact
        assert ps.load(written).to_bytes() == plan.to_bytes()
    assert runner.invoke(main, ["convert", "right.json", "-"]).stdout_bytes == plan.to_bytes()


@pytest.mark.usefixtures("terminal")
def test_that_a_terminal_gets_no_exact_text_is_said(folder: Path) -> None:
    found = CliRunner().invoke(main, ["sql", str(folder / "right.json")])
    assert escaped(HOSTILE) in found.stdout
    assert "a file or a pipe gets the exact text" in found.stderr
    found = CliRunner().invoke(main, ["convert", str(folder / "right.json"), "-"])
    assert found.exit_code == 2
    assert "cannot be shown on a terminal" in found.stderr


def test_there_is_one_way_to_standard_output() -> None:
    """So that nobody forgets: no command prints by itself."""
    package = Path(output.__file__).parent
    for path in package.glob("*.py"):
        if path.name != "output.py":
            assert not re.search(r"click\.s?echo|(?<![\w.])print\(|stderr", path.read_text()), path.name


def test_errors_are_text_whatever_they_name() -> None:
    for error in (
        ps.InvalidPlanError(f"no {HOSTILE}", path=f"a.{HOSTILE}", hint=f"Remove {HOSTILE}"),
        ps.SubstraitWarning(f"no {HOSTILE}"),
    ):
        seen_by_a_terminal(str(error))
    str(ps.InvalidPlanError("no \ud800")).encode()


def test_what_doesnt_show_stands_as_an_escape() -> None:
    # C0, C1, DEL, marks of direction, no width, separators of lines, private use, half a pair, no-break space
    for code in (*range(32), *range(0x7F, 0xA1), 0xAD, 0x61C, 0x200B, 0x200F, *range(0x202A, 0x202F), 0x2028, 0x2029):
        assert escaped(chr(code)).isascii(), code
    for code in (*range(0x2066, 0x206A), 0xFEFF, 0xE000, 0xD800, 0xE0001, 0xFFF9):
        assert escaped(chr(code)).isascii(), code
    for text in ("häuser", "東京", "שלום", "a b", "🙂"):
        assert escaped(text) == text


def test_json_stands_for_the_same_value() -> None:
    value = {HOSTILE: ['\n\r\t"\\', HOSTILE, "\ud800", "東京", 1.5, None]}
    for indent in (None, 2):
        text = json_text(value, indent=indent)
        seen_by_a_terminal(text)
        assert json.loads(text) == value
        assert "東京" in text


def test_what_is_long_loses_its_middle() -> None:
    assert shortened("abcdefghij", 7) == "abc…hij"
    assert shortened("abcdefg", 7) == "abcdefg"
    name = "n" * 100_000
    assert message_text(f"the column `{name}` is not in `{name}` at all") == (
        f"the column `{'n' * 119}…{'n' * 118}` is not in `{'n' * 119}…{'n' * 118}` at all"
    )
    assert len(message_text("n " * 100_000)) == 4000

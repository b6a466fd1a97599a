"""Inputs that are no plans, through every verb: one error each, which names the file, what it is and the way out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import pyspark_substrait as ps
from pyspark_substrait.cli import main
from pyspark_substrait.errors import PlanFormatError
from pyspark_substrait.proto.damage import damage
from pyspark_substrait.proto.messages import Plan
from pyspark_substrait.proto.other_formats import is_sql
from tests.broken_inputs import BINARY, BROKEN_INPUTS, JSON, broken_input

#: every command that takes a plan; none of them starts Spark for what isn't one
VERBS: dict[str, list[str]] = {
    "run": ["run", "BROKEN"],
    "run --dry-run": ["run", "BROKEN", "--dry-run"],
    "evaluate": ["evaluate", "BROKEN", "--data", "."],
    "sql": ["sql", "BROKEN"],
    "explain": ["explain", "BROKEN"],
    "explain --full": ["explain", "BROKEN", "--full"],
    "explain --profile": ["explain", "BROKEN", "--profile"],
    "view": ["view", "BROKEN", "-o", "out.html"],
    "view of two": ["view", "GOOD", "BROKEN", "-o", "out.html"],
    "lineage": ["lineage", "BROKEN"],
    "convert": ["convert", "BROKEN", "out.json"],
    "bind": ["bind", "BROKEN", "--table", "t=."],
    "compare": ["compare", "BROKEN", "--table", "t=."],
    "validate": ["validate", "BROKEN"],
    "lint": ["lint", "BROKEN"],
    "lint --fix": ["lint", "BROKEN", "--fix"],
    "upgrade": ["upgrade", "BROKEN"],
    "diff": ["diff", "BROKEN", "GOOD"],
    "diff, the other way": ["diff", "GOOD", "BROKEN"],
}


def call(arguments: list[str], stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(main, arguments, input=stdin)


@pytest.mark.parametrize("verb", VERBS)
def test_each_command_names_what_it_is_and_the_file(verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.json").write_text(JSON)
    for name, (_, what) in BROKEN_INPUTS.items():
        path = broken_input(name, tmp_path)
        before = path.read_bytes() if path.is_file() else None
        result = call([{"BROKEN": name, "GOOD": "good.json"}.get(word, word) for word in VERBS[verb]])
        assert result.exception is None or isinstance(result.exception, SystemExit), (name, result.exception)
        assert result.exit_code == (2 if verb.startswith("diff") else 1), (name, result.output)
        assert what in result.output, (name, result.output)
        assert name in result.output, (name, result.output)
        assert result.output.count(what) == 1 and "Traceback" not in result.output, (name, result.output)
        assert before is None or path.read_bytes() == before
        assert not Path("out.json").exists() and not Path("out.html").exists()


def test_each_kind_has_words_of_its_own(tmp_path: Path) -> None:
    texts: Counter[str] = Counter()
    for name in BROKEN_INPUTS:
        with pytest.raises(PlanFormatError) as caught:
            ps.load(broken_input(name, tmp_path))
        error = caught.value
        assert error.hint, name
        assert name in str(error)
        texts[error.message] += 1
    same = {text: count for text, count in texts.items() if count > 1}
    # three encodings and three texts of SQL
    assert same == {"this is text in UTF-16, not a plan": 3, "this is SQL text, not a plan": 3}


def test_a_plan_from_standard_input() -> None:
    result = call(["sql", "-"], b"SELECT 1")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: standard input: this is SQL text, not a plan. Did you mean the command")


def test_sql_for_a_plan(tmp_path: Path) -> None:
    result = call(["explain", "SELECT a FROM t"])
    assert result.exit_code == 2
    assert "this is SQL text, not a plan. Did you mean the command `plan`" in result.stderr
    with pytest.raises(PlanFormatError, match=r"this is SQL text.*from_sql"):
        ps.load("SELECT a FROM t")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select 1", True),
        ("SELECT*FROM t", True),
        ("(SELECT 1)", True),
        ("values (1)", True),
        ("insert into t select 1", True),
        ("update t set a = 1", True),
        ("drop table t", True),
        ("selection.json", False),
        ("select.json", False),
        ("with.pb", False),
        ("updates", False),
        ("create a plan", False),
        ("substrait plan 0.85.0", False),
    ],
)
def test_sql_is_told_by_its_first_words(text: str, expected: bool) -> None:
    assert is_sql(text) is expected


def test_a_binary_plan_that_ends_too_early_or_has_a_wrong_byte() -> None:
    """Whatever is cut off, no other plan is read, and the place that is named is in the file."""
    assert damage(BINARY, Plan) is None
    for end in range(1, len(BINARY)):
        try:
            Plan.FromString(BINARY[:end])
        except Exception:
            found = damage(BINARY[:end], Plan)
            assert found is not None and found.cut and 0 <= found.position <= end, end
        else:
            assert damage(BINARY[:end], Plan) is None


def test_damage_by_hand() -> None:
    # relations (3): 4 bytes are announced, 2 are there
    assert damage(b"\x1a\x04\x12\x02", Plan) == (4, "relations[0].root", True, 2)
    # version (6) of minor_number (2) = 85, then relations (3) with a field 15, which a PlanRel doesn't have
    assert damage(b"\x32\x02\x10\x55" + b"\x1a\x02\x78\x01", Plan) is None  # unknown, and whole
    # version with a producer (5) of 9 bytes in a message of 4
    assert damage(b"\x32\x04\x2a\x09ab", Plan) == (2, "version.producer", False, 1)
    # the number of a length-delimited field never ends
    assert damage(b"\x32" + b"\xff" * 12, Plan) == (0, "version", False, 0)

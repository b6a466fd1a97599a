"""The relation cases: each has the schema that the model derives, and the rows of the evaluator (tests/reference)."""

from __future__ import annotations

from collections import Counter

import pytest

from pyspark_substrait.conformance.relation_cases import read_trials, relation_trials
from pyspark_substrait.conformance.trials import Trial
from pyspark_substrait.errors import PlanFormatError
from tests.reference import Failure, evaluate

TRIALS = [*relation_trials()]


@pytest.mark.parametrize("area", sorted({trial.area for trial in TRIALS}))
def test_the_evaluator_gives_the_rows_of_every_case(area: str) -> None:
    wrong = [f"{trial.id}: {fault}" for trial in TRIALS if trial.area == area and (fault := _fault(trial))]
    assert wrong == []


def _fault(trial: Trial) -> str | None:
    if trial.relation.schema.types != trial.expected.schema.struct.types:
        return f"{trial.relation.schema} instead of {trial.expected.schema.struct}"
    try:
        result = evaluate(trial.plan(inline=True), {})
    except Failure as failure:
        return None if trial.expected.rows is None else f"fails: {failure}"
    if trial.expected.rows is None:
        return f"gives {result.rows} instead of an error"
    if trial.expected.ordered and len(result.runs) < len(result.rows):
        return "its order isn't determined"
    return result.difference_of_rows(trial.expected.rows)


def test_named_tables_give_the_same_as_virtual_ones() -> None:
    for trial in TRIALS[::25]:
        if trial.expected.rows is not None:
            tables = {name: table.to_arrow() for name, table in trial.tables.items()}
            assert evaluate(trial.plan(inline=False), tables).difference_of_rows(trial.expected.rows) is None, trial.id


def test_every_case_has_a_rule_and_every_error_a_control() -> None:
    ids = Counter(trial.id for trial in TRIALS)
    assert max(ids.values()) == 1
    assert all(trial.rule for trial in TRIALS)
    assert {trial.control for trial in TRIALS if trial.expected.rows is None} <= ids.keys()
    print(f"{len(TRIALS)} cases")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("table t(x: i64)\n  1, 2\n", "t.cases, line 1: `1, 2` has 2 values for 1 columns"),
        ("something\n", "t.cases, line 1: `something` is neither"),
        ("case a\n  rule: r\n  plan:\n    Read[t]\n  rows:\n    1\n", "the case `a` lacks schema"),
        (
            "case a\n  rule: r\n  plan:\n    Read[t]\n  schema: x: i64\n",
            "lacks exactly one of rows",
        ),
        ("case a\n  rule: r\n  plan:\n    Read[u]\n  schema: x: i64\n  rows:\n    1\n", "t.cases, line 1: "),
        ("case a\n  rules: r\n", "line 2: `rules` is not one of rule, plan"),
        ("  1\n", "line 1 is indented below nothing"),
    ],
)
def test_a_file_that_does_not_follow_the_format_is_refused(source: str, message: str) -> None:
    with pytest.raises(PlanFormatError) as error:
        [*read_trials(source, "t")]
    assert message in str(error.value)


def test_values_of_all_kinds_are_read() -> None:
    source = """
relation: READ
-- a comment
table t(a: i64?, b: string, c: list<i64>, d: decimal<5, 2>, e: boolean, f: date?)
  1, 'a, (b', list(1, 2), 1.50, true, '2020-12-31'
  null, 'it\\'s', list(3), -0.25, false, null

case everything
  rule: none
  plan:
    Read[t => $1, $0, $2, $3, $4, $5]
  schema: b: string, a: i64?, c: list<i64>, d: decimal<5, 2>, e: boolean, f: date?
  ordered rows:
    'a, (b', 1, list(1, 2), 1.5, true, '2020-12-31'
    'it\\'s', null, list(3), -0.25, false, null
"""
    (trial,) = read_trials(source, "t")
    assert trial.expected.ordered
    assert trial.expected.rows is not None
    assert [row[0] for row in trial.expected.rows] == ["a, (b", "it's"]
    assert evaluate(trial.plan(inline=True), {}).difference_of_rows(trial.expected.rows) is None

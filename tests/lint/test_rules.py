"""Each rule says something about the plans that it is for, nothing about others, and its fixes leave nothing to say."""

from __future__ import annotations

from typing import Any

import pytest

import pyspark_substrait
from pyspark_substrait.analysis.lint import RULES
from pyspark_substrait.documents import as_document
from pyspark_substrait.model.expressions import FieldReference, IfClause, IfThen, RootReference, StructField
from pyspark_substrait.model.plan import ExtendedExpression, Plan, RelRoot
from pyspark_substrait.model.relations import (
    Exchange,
    NamedTable,
    SingleBucketExpression,
    TransformExpression,
    Update,
)
from pyspark_substrait.model.types import I32, Boolean, NamedStruct, Struct
from tests.lint.cases import CASES, FINE, Case, G, T, logic, number
from tests.samples import EXTENDED_EXPRESSIONS, PLANS

FIXABLE = "`lint --fix` does it"
CODES = {rule.name: rule.code for rule in RULES}
# what cases show beside the rule that they are about
BESIDES = {"unused-columns-of-reads", "repeated-expression"}


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    case = CASES[name]
    report = pyspark_substrait.lint(
        as_document(case.plan, deep=False), select=sorted({*CODES} - BESIDES | {*case.rules})
    )
    assert not report.errors
    assert {finding.code for finding in report} == {CODES[rule] for rule in case.rules}
    assert any(FIXABLE in finding.fix for finding in report) == case.fixes


def test_expressions_of_updates_and_exchanges() -> None:
    """Where records are changed, and where they go, is looked at as everything else is."""
    twice = logic("not", logic("not", G))
    schema = NamedStruct(names=("n", "g"), struct=Struct(types=(I32(), Boolean(nullable=True))))
    value = FieldReference(root=RootReference(), reference=(StructField(1),), type=Boolean(nullable=True))
    change = Update(
        update_type=NamedTable(names=("t",)),
        table_schema=schema,
        condition=logic("not", logic("not", value)),
        transformations=(TransformExpression(transformation=logic("not", logic("not", value)), column_target=1),),
    )
    chosen = IfThen(ifs=(IfClause(if_=twice, then=number(1)),), else_=number(0))
    spread = Exchange(input=T, exchange_kind=SingleBucketExpression(chosen), partition_count=2)
    for relation, count in ((change, 2), (spread, 1)):
        case = Case(relation, ())
        report = pyspark_substrait.lint(as_document(case.plan, deep=False), select=["double-negation"])
        assert len(list(report)) == count
        made, done = pyspark_substrait.fixed(as_document(case.plan, deep=False))
        assert len(done) and not list(pyspark_substrait.lint(made, select=["double-negation"]))


@pytest.mark.parametrize("name", FINE)
def test_nothing_to_say(name: str) -> None:
    report = pyspark_substrait.lint(as_document(Case(FINE[name], ()).plan, deep=False))
    assert [str(finding) for finding in report] == []


@pytest.mark.parametrize("name", CASES)
def test_fixed_case(name: str) -> None:
    case = CASES[name]
    before = as_document(case.plan, deep=False)
    made, done = pyspark_substrait.fixed(before)
    assert bool(len(done)) == case.fixes
    assert (made != before) == case.fixes
    again = pyspark_substrait.lint(made.to_bytes())
    assert not again.errors
    assert not [str(finding) for finding in again if FIXABLE in finding.fix]
    assert isinstance(before, Plan) and isinstance(made, Plan)
    [old], [new] = before.relations, made.relations
    assert isinstance(old, RelRoot) and isinstance(new, RelRoot)
    assert (old.input.schema, old.names) == (new.input.schema, new.names)


def test_every_rule_has_a_case() -> None:
    assert {rule.name for rule in RULES} - {rule for case in CASES.values() for rule in case.rules} == {
        "repeated-names"
    }


def test_rules_say_what_they_do() -> None:
    for rule in RULES:
        assert rule.explanation.endswith((".", ".)")), rule.name
        shown = [name for name, case in CASES.items() if rule.name == case.rules[0] and case.fixes]
        assert rule.fixes == bool(shown), rule.name
    assert len({rule.code for rule in RULES}) >= 25


def test_repeated_names() -> None:
    plan = CASES["a = a"].plan
    twice = Plan(relations=(RelRoot(input=FINE["a table"], names=("a", "b", "a", "d", "e")),), version=plan.version)
    [finding] = pyspark_substrait.lint(as_document(twice, deep=False), select=["repeated-names"])
    assert "called a" in finding.what


SAMPLES: dict[str, Plan | ExtendedExpression] = {
    **{f"plan: {name}": plan for name, plan in PLANS.items() if plan.relations},
    **{f"extended expression: {name}": expression for name, expression in EXTENDED_EXPRESSIONS.items()},
}


@pytest.mark.parametrize("name", SAMPLES)
def test_after_fixing_nothing_is_left_to_fix(name: str) -> None:
    sample = as_document(SAMPLES[name], deep=False)
    if pyspark_substrait.lint(sample).errors:
        pytest.skip("the sample is none that validates")
    made, _ = pyspark_substrait.fixed(sample)
    again = pyspark_substrait.lint(made.to_bytes())
    assert not again.errors
    assert not [str(finding) for finding in again if FIXABLE in finding.fix]


def test_selection() -> None:
    plan = as_document(CASES["not not"].plan, deep=False)
    assert {finding.code for finding in pyspark_substrait.lint(plan, select=["double-negation"])} == {9001}
    assert {finding.code for finding in pyspark_substrait.lint(plan, select=[9001])} == {9001}
    assert 9001 not in {finding.code for finding in pyspark_substrait.lint(plan, ignore=["9001"])}
    with pytest.raises(ValueError, match="nonsense"):
        pyspark_substrait.lint(plan, select=["nonsense"])
    made, done = pyspark_substrait.fixed(plan, ignore=["double-negation"])
    assert (made, len(done)) == (plan, 0)


def test_a_relation_with_an_anchor_that_nobody_names_is_left_out() -> None:
    from dataclasses import replace

    from pyspark_substrait.model.relations import RelCommon

    case = CASES["filter true"]
    anchored = replace(case.relation, common=RelCommon(rel_anchor=3))
    made, _ = pyspark_substrait.fixed(as_document(Case(anchored, ()).plan, deep=False))
    assert isinstance(made, Plan)
    root: Any = made.relations[0]
    assert root.input.read_type.names == ("t",)


def test_broken_plans_are_told_about() -> None:
    report = pyspark_substrait.lint({"relations": [{"root": {"input": {"filter": {}}}}]})
    assert report.errors

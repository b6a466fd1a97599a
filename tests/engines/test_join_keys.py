"""Joins on values that are equal or both null, for DataFusion, which lets nulls be equal in other keys of such a join:
plans and SQL have the rows of the reference evaluator for values of all types."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import pyspark_substrait as ps
from fuzz.plans import rooted
from fuzz.relations import column
from fuzz.tables import TABLES, read
from pyspark_substrait.documents import Plan
from pyspark_substrait.engines import dialects, sessions
from pyspark_substrait.engines.constructors import BOOLEAN, boolean_call, called, compared, equal
from pyspark_substrait.engines.inner_joins import conjunction
from pyspark_substrait.model.expressions import Expression, Function
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Filter, Join, JoinType, Project
from pyspark_substrait.model.types import I32, Map, Struct
from tests.dialects.engines import DataFusion
from tests.reference import Choices, Undetermined, evaluate

pytest.importorskip("datafusion")

CHOICES = Choices(nearest=True, nan_is_largest=True)
NAMES = ("facts", "extremes", "texts", "times", "nested")
PAIRED = (JoinType.INNER, JoinType.LEFT, JoinType.RIGHT, JoinType.OUTER)
OTHERS = (JoinType.LEFT_SEMI, JoinType.LEFT_ANTI, JoinType.LEFT_MARK)


def pairs() -> Iterator[tuple[str, int, int]]:
    """Two columns of each table, of which each is one at some time."""
    for name in NAMES:
        types = read(name).schema.types
        places = [place for place, type in enumerate(types) if not isinstance(type, Map)]
        yield from ((name, place, places[(at + 1) % len(places)]) for at, place in enumerate(places))


def same(left: Expression, right: Expression, form: int) -> Expression:
    """The condition that two values are equal or both null, in one of two forms."""
    if not form:
        return compared("is_not_distinct_from", left, right)
    return boolean_call(Function(BOOLEAN, "not", "bool"), (compared("is_distinct_from", left, right),), False)


def plans(name: str, key: int, other: int, form: int) -> Iterator[tuple[str, Plan]]:
    """Joins of a table with itself on one column, nulls included, and by a condition above or beside on another."""
    table = read(name)
    both, width = Struct(types=(*table.schema.types, *table.schema.types)), len(table.schema.types)
    of_key = same(column(key, both), column(width + key, both), form)
    of_other = equal(column(other, both), column(width + other, both))
    for kind in PAIRED:
        joined = Join(left=table, right=table, type=kind, expression=of_key)
        yield f"{kind.value}, above", rooted(Filter(input=joined, condition=of_other))
    computed = called(
        Function("extension:io.substrait:functions_comparison", "coalesce", "any"),
        column(other, both).type,
        column(other, both),
        column(other, both),
    )
    beside = conjunction([of_key, equal(computed, column(width + other, both))])
    for kind in (*PAIRED, *OTHERS):
        yield f"{kind.value}, beside", rooted(Join(left=table, right=table, type=kind, expression=beside))


@pytest.mark.parametrize("form", [0, 1])
def test_nulls_are_equal_in_the_keys_that_say_so_only(form: int) -> None:
    session, engine = sessions.session("datafusion", TABLES), DataFusion()
    for name in NAMES:
        engine.context.register_record_batches(name, [TABLES[name].to_batches()])
    wrong, texts, refused = [], [], 0
    for name, key, other in pairs():
        for kind, plan in plans(name, key, other, form):
            place = f"{name} on {key}, {other}: {kind}"
            try:
                expected = evaluate(plan, TABLES, choices=CHOICES)
            except Undetermined:  # lists and structs with nulls in them are equal, or it is unknown
                continue
            try:
                made = ps.for_target(plan, "datafusion", tables=TABLES)
            except ps.UnsupportedPlanError:
                refused += 1
            else:
                wrong += [place] if expected.difference(session.run(made.to_bytes())) else []
            if kind.startswith(JoinType.LEFT_MARK.value):  # DataFusion has no EXISTS among computed columns
                continue
            try:
                text = dialects.statement(plan, dialects.dialect("datafusion"))
            except ps.UnsupportedPlanError:
                refused += 1
            else:
                texts.append((place, expected, text, plan.relations[-1].input.schema.types))  # type: ignore[union-attr]
    answers = engine.answers([(text, types) for _, _, text, types in texts])
    for (place, expected, text, _), answer in zip(texts, answers, strict=True):
        if isinstance(answer, Exception) or expected.difference_of_rows(list(map(tuple, answer))):
            wrong.append(f"{place}: {answer}\n{text}")
    assert not wrong
    assert len(texts) > refused


def test_a_key_without_nulls_is_an_equality() -> None:
    few, facts = read("few"), read("facts")
    both = Struct(types=(*few.schema.types, *facts.schema.types))
    join = Join(left=few, right=facts, type=JoinType.INNER, expression=same(column(0, both), column(4, both), 0))
    text = dialects.statement(
        rooted(Project.only(join, [Literal(type=I32(), value=1)])), dialects.dialect("datafusion")
    )
    assert '"few"."k" = "facts"."g"' in text

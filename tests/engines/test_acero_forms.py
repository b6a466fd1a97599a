"""Relations that Acero lacks, or answers differently: plans for it have the rows of the evaluator, or are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

import pyspark_substrait as ps
from fuzz.plans import OF_RELATIONS, rooted
from fuzz.plans import plan as random_plan
from fuzz.relations import column
from fuzz.tables import TABLES, read
from pyspark_substrait.engines import sessions
from pyspark_substrait.engines.constructors import BOOLEAN, boolean_call, called, compared
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    AggregationInvocation,
    Function,
    FunctionOption,
    IfClause,
    IfThen,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import (
    Aggregate,
    Filter,
    Grouping,
    Join,
    JoinType,
    Measure,
    Project,
    Relation,
    SetOp,
)
from pyspark_substrait.model.relations import Set as SetOperation
from pyspark_substrait.model.types import I64, Boolean, Decimal, String
from tests.reference import Choices, Failure, NotCovered, Undetermined, evaluate

pytest.importorskip("pyarrow.substrait")

FACTS, FEW = read("facts"), read("few")
CHOICES = Choices(nearest=True, nan_is_largest=True)
G, N, B, S, D = (column(place, FACTS.schema) for place in (1, 2, 3, 5, 6))
ARITHMETIC = "extension:io.substrait:functions_arithmetic"


def text(value: str) -> Literal:
    return Literal(type=String(), value=value)


IF_B = IfThen(ifs=(IfClause(B, text("x")),), else_=text("y"))
KEYS = Project.only(FACTS, [G, S])
SOME = Project.only(Filter(input=FACTS, condition=B), [G, S])
OTHERS = Project.only(Filter(input=FACTS, condition=compared("lt", N, Literal(type=I64(), value=8))), [G, S])
RELATIONS: dict[str, Relation] = {
    "a condition that may be null": Project.only(FACTS, [B, IF_B, IfThen(ifs=(IfClause(B, S),), else_=None)]),
    "a conditional in a condition": Filter(
        input=FACTS, condition=boolean_call(Function(BOOLEAN, "not", "bool"), (compared("equal", IF_B, S),), True)
    ),
    **{
        op.value: SetOperation(members=(KEYS, SOME, OTHERS), op=op)
        for op in (
            SetOp.UNION_ALL,
            SetOp.UNION_DISTINCT,
            SetOp.MINUS_PRIMARY,
            SetOp.INTERSECTION_PRIMARY,
            SetOp.INTERSECTION_MULTISET,
        )
    },
}


@pytest.mark.parametrize("name", RELATIONS)
def test_relations_have_the_rows_of_the_evaluator(name: str) -> None:
    plan = rooted(RELATIONS[name])
    made = ps.for_target(plan, "acero", tables=TABLES)
    found = sessions.session("acero", TABLES).run(made.to_bytes())
    assert evaluate(plan, TABLES, choices=CHOICES).difference(found) is None


def counted(invocation: AggregationInvocation, *groupings: Grouping) -> Aggregate:
    function = Function("extension:io.substrait:functions_aggregate_generic", "count", "any")
    count = AggregateFunction(
        function=function, arguments=(S,), output_type=I64(), derived_type=I64(), invocation=invocation
    )
    return Aggregate(input=FACTS, groupings=groupings, grouping_expressions=(G, B), measures=(Measure(measure=count),))


REFUSED: dict[str, tuple[Relation, str]] = {
    "several grouping sets": (
        counted(AggregationInvocation.ALL, Grouping((0, 1)), Grouping((0,))), "does not take grouping sets"
    ),
    "DISTINCT": (counted(AggregationInvocation.DISTINCT, Grouping((0, 1))), "does not take DISTINCT"),
    "a mark join": (
        Join(left=FEW, right=FEW, type=JoinType.LEFT_MARK, expression=Literal(type=Boolean(), value=True)),
        "has no left mark join",
    ),
    "a quotient of decimals, which has fewer digits there": (
        Project.only(FACTS, [called(Function(f"{ARITHMETIC}_decimal", "divide", "dec_dec"), Decimal(
            precision=25, scale=13, nullable=True), D, D)]),
        "no form for divide:dec_dec",
    ),
    "INTERSECT ALL": (
        SetOperation(members=(KEYS, SOME), op=SetOp.INTERSECTION_MULTISET_ALL), "no set operation"
    ),
}  # fmt: skip


def test_a_sum_does_not_tell_of_an_overflow() -> None:
    option = FunctionOption(name="overflow", preference=("ERROR",))
    total = AggregateFunction(
        function=Function(ARITHMETIC, "sum", "i64"),
        arguments=(N,),
        output_type=I64(nullable=True),
        derived_type=I64(nullable=True),
        options=(option,),
    )
    made = ps.for_target(rooted(Aggregate(input=FACTS, measures=(Measure(measure=total),))), "acero")
    assert ["sum:i64 with overflow=ERROR" in f"{note}" for note in made.notes] == [True]


@pytest.mark.parametrize("name", REFUSED)
def test_what_it_lacks_is_refused(name: str) -> None:
    relation, message = REFUSED[name]
    with pytest.raises(ps.UnsupportedPlanError, match=message):
        ps.for_target(rooted(relation), "acero")


@pytest.mark.parametrize("first", [0, OF_RELATIONS])
def test_random_plans_have_the_rows_of_the_evaluator(first: int) -> None:
    """NaN apart, which equals nothing there, and values that Arrow has in other types."""
    session, known = sessions.session("acero", TABLES), 0
    for seed in range(first, first + 150):
        plan = random_plan(seed)
        try:
            made = ps.for_target(plan, "acero", tables=TABLES)
            expected = evaluate(plan, TABLES, choices=replace(CHOICES, nan_is_largest=False))
            found = session.run(made.to_bytes())
        except (ps.UnsupportedPlanError, NotCovered, Undetermined, Failure):
            continue
        except Exception:  # of functions that it has for some types only
            continue
        known += 1
        assert expected.difference(found) is None, seed
    assert known

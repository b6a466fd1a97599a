"""The cases of functions, as ``tests/conformance`` reads and binds them, given to the evaluator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as Either

from pyspark_substrait.conformance.calls import bind
from pyspark_substrait.conformance.function_cases import Case
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.expressions import (
    FieldReference,
    NestedStruct,
    RootReference,
    SortDirection,
    SortField,
    StructField,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.plan import Plan
from pyspark_substrait.model.relations import Aggregate, Measure, Project, Read, Relation, VirtualTable
from pyspark_substrait.model.types import I64, NamedStruct, Struct, Type
from tests.reference import Choices, Failure, NotCovered, Undetermined, evaluate
from tests.reference.values import Value, from_literal

__all__ = ["Outcome", "outcome_of"]

#: how far a floating-point result may be from the expected one, relative to it
_TOLERANCE = 2e-6


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case; ``text`` says what was found, or why nothing."""

    case: Case
    kind: Either["right", "wrong", "undetermined", "not covered"]
    text: str = ""


def outcome_of(case: Case, choices: Choices) -> Outcome:
    """Evaluate a case, and compare it with its expected result."""
    try:
        relation = _relation(case)
        result = evaluate(Plan(relations=(relation,)), {}, choices=choices)
    except InvalidPlanError as error:
        return Outcome(case, "not covered", f"doesn't bind: {error}")
    except NotCovered as error:
        return Outcome(case, "not covered", str(error))
    except Undetermined as error:
        return Outcome(case, "right" if case.expected == "undefined" else "undetermined", str(error))
    except Failure as error:
        return Outcome(case, "right" if case.expected == "error" else "wrong", f"fails: {error}")
    if isinstance(case.expected, str):
        return Outcome(case, "wrong", f"{result.rows} instead of {case.expected}")
    rows: list[tuple[Value, ...]]
    if case.window:
        expected = [from_literal(item) for item in case.expected]  # type: ignore[union-attr]
        rows = list(enumerate(expected))
    else:
        assert isinstance(case.expected, Literal)
        rows = [(from_literal(case.expected),)]
    difference = result.difference_of_rows(rows, tolerance=_TOLERANCE)
    return Outcome(case, "right" if difference is None else "wrong", difference or "")


def _relation(case: Case) -> Relation:
    """A relation that gives the result of the case; of a window function, behind the number of each record."""
    bound = bind(case, lambda _, literal: literal, lambda column: _column(column.position, column.type))
    if case.rows is None:
        return Project.only(_table((), [()]), (bound.scalar(),))
    if not case.window:
        return Aggregate(input=_table(case.types, case.rows), measures=(Measure(measure=bound.aggregate()),))
    numbers = [Literal(type=I64(), value=number) for number in range(len(case.rows))]
    rows = [(*row, number) for row, number in zip(case.rows, numbers, strict=True)]
    number = _column(len(case.types), I64())
    call = bound.window([SortField(expr=number, sort_kind=SortDirection.ASC_NULLS_FIRST)])
    return Project.only(_table((*case.types, I64()), rows), (number, call))


def _table(types: tuple[Type, ...], rows: list[tuple[Literal, ...]] | tuple[tuple[Literal, ...], ...]) -> Read:
    names = tuple(f"col{position}" for position in range(len(types)))
    return Read(
        base_schema=NamedStruct(names=names, struct=Struct(types=types)),
        read_type=VirtualTable(expressions=tuple(NestedStruct(fields=tuple(row)) for row in rows)),
    )


def _column(position: int, type: Type) -> FieldReference:
    return FieldReference(root=RootReference(), reference=(StructField(position),), type=type)

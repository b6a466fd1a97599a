"""The function cases of the specification, and ours, through a dialect: each is passed, refused, or wrong.

``python -m tests.dialects.function_cases DuckDB`` prints the figures, and what is wrong.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pyspark_substrait.conformance.calls import bind
from pyspark_substrait.conformance.case_files import read_cases
from pyspark_substrait.conformance.conflicts import conflict
from pyspark_substrait.conformance.function_cases import Case
from pyspark_substrait.documents import Plan
from pyspark_substrait.engines import dialects
from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.model.expressions import Expression, FieldReference, RootReference, StructField
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Aggregate, Measure
from pyspark_substrait.model.types import FP32, FP64, List, Type, concrete
from tests.dialects.engines import Engine, EngineFault, plain
from tests.spark import plans

__all__ = ["OF_TEXTS", "Outcome", "outcomes"]


#: what engines say of texts that they don't understand
OF_TEXTS = (
    "syntax",
    "Binder Error",
    "Catalog Error",
    "Parser Error",
    "does not exist",
    "no such",
    "Invalid function",
    "SYNTAX_ERROR",
    "FUNCTION_NOT_FOUND",
    "TYPE_MISMATCH",
    "COLUMN_NOT_FOUND",
    "NOT_SUPPORTED",
)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case.

    Args:
        case: the case.
        refused: whether it has no form in the dialect.
        fails: whether the engine has an error where the specification has a value.
        fault: what is wrong; empty where all is as it must be.
    """

    case: Case
    refused: bool = False
    fails: bool = False
    fault: str = ""


def outcomes(engine: Engine, cases: Iterable[Case], *, columns: bool) -> Iterator[Outcome]:
    """Yield what comes of each case that isn't a conflict.

    Args:
        engine: the engine that runs them.
        cases: the cases.
        columns: whether the arguments of scalar functions are columns; else they are literals.
    """
    dialect = dialects.dialect(engine.name)
    asked: list[tuple[Case, str, list[Type]]] = []
    for case in cases:
        if conflict(case) is not None:
            continue
        try:
            try:
                plan, types = _plan(case, columns)
            except InvalidPlanError:  # an argument must be a literal
                plan, types = _plan(case, False)
            asked.append((case, dialects.statement(plan, dialect), types))
        except UnsupportedPlanError:
            yield Outcome(case, refused=True)
        except InvalidPlanError as error:
            yield Outcome(case, fault="" if case.expected == "error" else str(error))
    answers = engine.answers([(text, types) for _, text, types in asked])
    for (case, text, _), answer in zip(asked, answers, strict=True):
        yield _outcome(case, text, answer)


def _outcome(case: Case, text: str, found: list[tuple[Any, ...]] | EngineFault) -> Outcome:
    if isinstance(found, EngineFault):
        if case.expected in ("error", "undefined"):
            return Outcome(case)
        if any(mark in str(found) for mark in OF_TEXTS):
            return Outcome(case, fault=f"{found}\n{text}")
        return Outcome(case, fails=True)
    if case.expected == "undefined":
        return Outcome(case)
    if case.expected == "error":
        return Outcome(case, fault=f"gives {found} instead of an error\n{text}")
    values = [row[-1] for row in sorted(found)] if case.window else [row[-1] for row in found]
    assert not isinstance(case.expected, str)
    expected = [case.expected] if isinstance(case.expected, Literal) else list(case.expected)
    if len(values) == len(expected) and all(map(_same, values, expected)):
        return Outcome(case)
    return Outcome(case, fault=f"gives {values} instead of {[plain(item) for item in expected]}\n{text}")


def _field(position: int, type: Type) -> FieldReference:
    return FieldReference(root=RootReference(), reference=(StructField(position),), type=type)


def _plan(case: Case, columns: bool) -> tuple[Plan, list[Type]]:
    cells: list[Literal] = []

    def place(position: int, literal: Literal) -> Expression:
        if not columns or case.rows is not None:
            return literal
        cells.append(literal)
        return _field(len(cells) - 1, literal.type)

    bound = bind(case, place, lambda column: _field(column.position, column.type))
    if case.rows is None:
        record = plans.values([cell.type for cell in cells] or [plans.INT], [cells or (0,)])
        call = bound.scalar()
        return plans.plan(plans.project(record, call)), [call.type]
    if not case.window:
        table = plans.values(case.types, case.rows)
        measure = bound.aggregate()
        return plans.plan(Aggregate(input=table, measures=(Measure(measure=measure),))), [measure.type]
    width = len(case.types)
    table = plans.values((*case.types, plans.INT), [(*row, number) for number, row in enumerate(case.rows)])
    window = bound.window([plans.sort(plans.col(table, width))])
    return plans.plan(plans.project(table, plans.col(table, width), window)), [plans.INT, window.type]


#: how far from the expected value a floating-point result may be, relative to it
_TOLERANCE: dict[type[Type], float] = {FP64: 1e-9, FP32: 2e-6}


def _same(found: Any, wanted: Literal) -> bool:
    value, type = plain(wanted), concrete(wanted.type)
    if found is None or value is None:
        return found is None and value is None
    if isinstance(type, List) and isinstance(wanted.value, tuple):
        elements = [item for item in wanted.value if isinstance(item, Literal)]
        return len(found) == len(elements) and all(map(_same, found, elements))
    if isinstance(type, FP32 | FP64):
        if math.isnan(value) or math.isnan(found) or math.isinf(value):
            return bool(found == value) or (math.isnan(value) and math.isnan(found))
        return bool(abs(found - value) <= abs(value) * _TOLERANCE[type.__class__])
    return bool(found == value) and isinstance(found, bool) == isinstance(value, bool)


def main(name: str) -> None:
    """Print the figures of a dialect, and what is wrong."""
    from tests.dialects import engines

    engine: Engine = getattr(engines, name)()
    cases = [case for case in read_cases() if isinstance(case, Case)]
    for columns in (False, True):
        found = list(outcomes(engine, cases, columns=columns))
        for item in found:
            if item.fault:
                print(f"{item.case.file}: {item.case.text}: {item.fault}")
        refused = Counter(f"{item.case.urn.rpartition(':')[2]} {item.case.function}" for item in found if item.refused)
        print("refused:", ", ".join(f"{name} {count}" for name, count in sorted(refused.items())))
        wrong = sum(bool(item.fault) for item in found)
        fails = sum(item.fails for item in found)
        passed = len(found) - wrong - fails - sum(refused.values())
        kind = "columns" if columns else "literals"
        print(f"{name}, {kind}: {passed} passed, {sum(refused.values())} refused, {fails} fail, {wrong} wrong")


if __name__ == "__main__":
    main(sys.argv[1])

"""Function cases as trials: a plan that calls the function of a case, and the value that it must give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from pyspark_substrait.conformance.calls import Bound, bind
from pyspark_substrait.conformance.case_files import OWN, read_cases
from pyspark_substrait.conformance.conflicts import CONFLICTS, conflict
from pyspark_substrait.conformance.function_cases import Case, UnreadCase
from pyspark_substrait.conformance.trials import Expected, Function, Table, Trial
from pyspark_substrait.conformance.values import Row, UnknownValue, from_literal
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.model.expressions import (
    Expression,
    FieldReference,
    RootReference,
    SortDirection,
    SortField,
    StructField,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Aggregate, Measure, Project, Relation
from pyspark_substrait.model.types import I32, NamedStruct, Struct, Type, with_nullability

__all__ = ["ONE_RECORD", "RECORD", "function_trial", "function_trials"]

#: the name of the table of a case, and that of a table with one record, over which scalar functions are called
_TABLE = "t"
RECORD = "record"
_NUMBER = I32()
ONE_RECORD = Table(NamedStruct(names=("n",), struct=Struct(types=(_NUMBER,))), ((Literal(type=_NUMBER, value=0),),))


def function_trials(folder: Path | None = None, is_chosen: Callable[[str], bool] | None = None) -> Iterator[Trial]:
    """Yield a trial for every function case: the specification's, then those of this package.

    Args:
        folder: the folder of the specification's cases; by default those of the package ``substrait-extensions``.
        is_chosen: whether the file of a name, like ``arithmetic/add``, is read; by default all are.

    Raises:
        UnsupportedPlanError: a package that has the cases or their grammar isn't installed.
        PlanFormatError: a file doesn't follow the grammar.
    """
    for case in read_cases(folder, is_chosen=is_chosen):
        yield function_trial(case)


def function_trial(case: Case | UnreadCase) -> Trial:
    """Return the trial of a case."""
    trial = _id(case)
    suite = "ours" if case.file.startswith(f"{OWN}/") else "specification"

    def unusable(reason: str) -> Trial:
        nothing = Expected(NamedStruct(names=(), struct=Struct(types=())), None)
        read = ONE_RECORD.read(RECORD)
        return Trial(id=trial, suite=suite, text=case.text, relation=read, expected=nothing, contradiction=reason)

    if isinstance(case, UnreadCase):
        return unusable(f"it can't be read: {case.reason}")
    entry = conflict(case)
    reason = "" if entry is None else CONFLICTS[entry]
    if case.expected == "undefined":
        reason = "the result is undefined"
    try:
        bound = bind(case, lambda _, literal: literal, lambda column: _column(column.position, column.type))
        expected = _expected(case, bound)
    except (SubstraitError, UnknownValue) as error:
        return unusable(reason or f"no implementation takes the arguments: {error}")
    relation, tables = _relation(case, bound)
    return Trial(
        id=trial,
        suite=suite,
        text=case.text,
        relation=relation,
        tables=tables,
        expected=expected,
        function=Function(
            urn=bound.definition.urn,
            name=bound.definition.name,
            signature=bound.definition.key.partition(":")[2],
            kind=bound.definition.kind,
            options=tuple((option.name, option.preference[0]) for option in bound.options),
        ),
        contradiction=reason,
    )


def _id(case: Case | UnreadCase) -> str:
    return f"{case.file.removesuffix('.test')}:{case.line}"


def _expected(case: Case, bound: Bound) -> Expected:
    """Return the expected result; of a window function, each value stands behind the number of its record."""
    value = bound.declared
    rows: tuple[Row, ...] | None = None
    types: tuple[Type, ...] = (value,)
    if case.window:
        types = (_NUMBER, value)
    if isinstance(case.expected, Literal):
        rows = ((from_literal(case.expected),),)
    elif isinstance(case.expected, tuple):
        rows = tuple((place, from_literal(item)) for place, item in enumerate(case.expected))
        nullable = any(item.value is None for item in case.expected)
        types = (_NUMBER, with_nullability(value, value.nullable or nullable))
    names = ("n", "result") if case.window else ("result",)
    return Expected(NamedStruct(names=names, struct=Struct(types=types)), rows)


def _relation(case: Case, bound: Bound) -> tuple[Relation, dict[str, Table]]:
    """Return the relation whose result is that of the case, and the tables that it reads."""
    if case.rows is None:
        return Project.only(ONE_RECORD.read(RECORD), (bound.scalar(),)), {RECORD: ONE_RECORD}
    rows, types = case.rows, case.types
    if not types or case.window:  # else it has no columns; and the records of a window are in an order
        types = (*types, _NUMBER)
        rows = tuple((*row, Literal(type=_NUMBER, value=place)) for place, row in enumerate(rows))
    names = tuple(f"c{place}" for place in range(len(types)))
    table = Table(NamedStruct(names=names, struct=Struct(types=types)), rows)
    read = table.read(_TABLE)
    if not case.window:
        return Aggregate(input=read, measures=(Measure(measure=bound.aggregate()),)), {_TABLE: table}
    number = _column(len(types) - 1, _NUMBER)
    call = bound.window([SortField(expr=number, sort_kind=SortDirection.ASC_NULLS_FIRST)])
    return Project.only(read, (number, call)), {_TABLE: table}


def _column(position: int, type: Type) -> Expression:
    return FieldReference(root=RootReference(), reference=(StructField(position),), type=type)

"""Runs cases as plans: many calls in one projection, each beside the value that it must have."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

import pyspark_substrait as ps
from pyspark_substrait.conformance.calls import Bound, bind
from pyspark_substrait.conformance.conflicts import conflict
from pyspark_substrait.conformance.function_cases import Case
from pyspark_substrait.documents import Plan
from pyspark_substrait.errors import ExecutionError, InvalidPlanError, SubstraitError, UnsupportedPlanError
from pyspark_substrait.model.expressions import Expression, FieldReference, RootReference, ScalarSubquery, StructField
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Aggregate, Measure
from pyspark_substrait.model.types import FP32, FP64, List, Type, UserDefined, concrete, same_type, with_nullability
from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.spark.session import spark_errors
from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.spark_version import NEWEST, SparkVersion
from tests.spark import plans

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Outcome", "Way", "is_failure", "is_refused_here", "run"]

#: how many cases, and how long texts, one plan may have
_CHUNK = 60
_CHARACTERS = 50_000
_THREADS = 3
#: what an error says where a column isn't enough
_NEEDS_CONSTANT = "that is not a literal"
#: what an error says where an older Spark would give another value
_NEEDS_NEWER = "of this text needs Spark"
#: how far from the expected value a floating-point result may be, relative to it
_TOLERANCE: dict[type[Type], float] = {FP64: 1e-9, FP32: 2e-6}


class Way(Enum):
    """Where the arguments of scalar functions come from."""

    #: literals: Spark computes them before anything runs
    LITERALS = "literals"
    #: columns: Spark generates code for them; those of aggregate and window functions are columns always
    COLUMNS = "columns"


@dataclass(frozen=True)
class Outcome:
    """What came of a case: ``fault`` is None where all is as it must be; ``refused`` where Spark isn't even asked.

    ``constants`` are the positions of arguments that had to stay literals though the others are columns.
    """

    case: Case
    fault: str | None = None
    refused: bool = False
    dropped: tuple[str, ...] = ()
    constants: tuple[int, ...] = ()


def is_refused_here(outcome: Outcome, version: SparkVersion) -> bool:
    """Whether a case that the newest Spark runs is refused on an older one, when it is compiled or for its values."""
    refused = outcome.refused or (outcome.fault is not None and _NEEDS_NEWER in outcome.fault)
    return refused and version < NEWEST and conflict(outcome.case) is None


def is_failure(outcome: Outcome, version: SparkVersion) -> bool:
    """Whether a case isn't as it must be, and no conflict says why."""
    return outcome.fault is not None and conflict(outcome.case) is None and not is_refused_here(outcome, version)


@dataclass(frozen=True)
class _Ready:
    """A case that compiles."""

    case: Case
    bound: Bound
    way: Way
    constants: tuple[int, ...] = ()
    characters: int = 0

    def outcome(self, fault: str | None = None, *, refused: bool = False) -> Outcome:
        return Outcome(self.case, fault, refused, self.bound.dropped, self.constants)


def run(spark: SparkSession, cases: Iterable[Case], way: Way) -> list[Outcome]:
    """The outcome of each case, in their order."""
    outcomes: dict[int, Outcome] = {}
    together: list[tuple[int, _Ready]] = []
    waiting: list[tuple[list[int], Future[list[Outcome]]]] = []
    folding = _no_folding(spark) if way is Way.COLUMNS else contextlib.nullcontext()
    version = str(session_version(spark))
    # much of the time goes into analysis, which uses one core
    with folding, ThreadPoolExecutor(_THREADS) as pool:
        for number, case in enumerate(cases):
            if case.window:
                waiting.append(([number], pool.submit(_window, spark, case, way)))
                continue
            made = _made(case, way, version)
            if isinstance(made, Outcome):
                outcomes[number] = made
            elif case.expected == "error":
                waiting.append(([number], pool.submit(_failing, spark, made)))
            else:
                together.append((number, made))
        for chunk in _chunks(together):
            work = pool.submit(_values, spark, [made for _, made in chunk])
            waiting.append(([number for number, _ in chunk], work))
        for numbers, found in waiting:
            outcomes.update(zip(numbers, found.result(), strict=True))
    return [outcomes[number] for number in sorted(outcomes)]


@contextlib.contextmanager
def _no_folding(spark: SparkSession) -> Iterator[None]:
    """A session that doesn't compute projections of small tables while it plans, and falls back to nothing."""
    settings = {
        "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation",
        "spark.sql.codegen.factoryMode": "CODEGEN_ONLY",
    }
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name in settings:
            spark.conf.unset(name)


# making plans --------------------------------------------------------------------------------------------------------


def _made(case: Case, way: Way, version: str) -> _Ready | Outcome:
    """The case, once it compiles. Arguments that have to be constant stay literals.

    If it never does, a refusal is said rather than that an argument must be constant.
    """
    first = _tried(case, way, (), version)
    if not isinstance(first, Outcome) or way is Way.LITERALS or case.rows is not None:
        return first
    literals = [position for position, argument in enumerate(case.arguments) if isinstance(argument, Literal)]
    for constants in (*((position,) for position in literals), tuple(literals[1:]), tuple(literals)):
        made = _tried(case, way, constants, version)
        if not isinstance(made, Outcome):
            return made
        if made.refused and not first.refused:
            first = made
    return first


def _tried(case: Case, way: Way, constants: tuple[int, ...], version: str) -> _Ready | Outcome:
    try:
        bound = _bound(case, way, constants, [])
    except InvalidPlanError as error:
        return Outcome(case, f"doesn't bind: {error}")
    made = _Ready(case, bound, way, constants)
    fault = _type_fault(case, bound.type)
    if fault is not None:
        return made.outcome(fault)
    try:
        return replace(made, characters=len(ps.to_sql(_plan([made]), version=version, formatted=False)))
    except UnsupportedPlanError as error:
        return made.outcome(error.message, refused=True)
    except InvalidPlanError as error:
        return made.outcome(None if case.expected == "error" else error.message)


def _chunks(items: list[tuple[int, _Ready]]) -> Iterator[list[tuple[int, _Ready]]]:
    """The cases in groups that Spark analyses in reasonable time."""
    chunk: list[tuple[int, _Ready]] = []
    characters = 0
    for item in items:
        if chunk and (len(chunk) == _CHUNK or characters + item[1].characters > _CHARACTERS):
            yield chunk
            chunk, characters = [], 0
        chunk.append(item)
        characters += item[1].characters
    if chunk:
        yield chunk


def _bound(case: Case, way: Way, constants: tuple[int, ...], cells: list[Literal]) -> Bound:
    """The call of a case; literals that become columns are added to the ``cells`` of the table's one record."""

    def place(position: int, literal: Literal) -> Expression:
        if way is Way.LITERALS or position in constants or case.rows is not None:
            return literal
        cells.append(literal)
        return _field(len(cells) - 1, literal.type)

    return bind(case, place, lambda column: _field(column.position, column.type))


def _field(position: int, type: Type) -> FieldReference:
    return FieldReference(root=RootReference(), reference=(StructField(position),), type=type)


def _type_fault(case: Case, type: Type) -> str | None:
    """What is wrong with the derived type, nullability included.

    Where an option asks for nulls, the case says that there may be one, though the extension derives a required type.
    """
    expected = case.expected
    if isinstance(expected, str) or expected == ():
        return None
    wanted = expected.type if isinstance(expected, Literal) else expected[0].type
    empty = isinstance(expected, Literal) and expected.value is None
    if same_type(type, wanted) and (type.nullable == wanted.nullable or (empty and wanted.nullable)):
        return None
    return f"has the type {type} instead of {wanted}"


def _plan(items: Sequence[_Ready]) -> Plan:
    """A plan with two columns for each item: its value, and the expected one."""
    cells: list[Literal] = []
    expressions: list[Expression] = []
    for item in items:
        case, bound = item.case, _bound(item.case, item.way, item.constants, cells)
        if case.rows is None:
            expressions.append(bound.scalar())
        else:
            measure = Measure(measure=bound.aggregate())
            table = plans.values(case.types, case.rows)
            expressions.append(ScalarSubquery(input=Aggregate(input=table, groupings=(), measures=(measure,))))
        expressions.append(case.expected if isinstance(case.expected, Literal) else plans.number(0))
    record = plans.values([cell.type for cell in cells] or [plans.INT], [cells or (0,)])
    return plans.plan(plans.project(record, *expressions))


# running them --------------------------------------------------------------------------------------------------------


def _values(spark: SparkSession, items: Sequence[_Ready]) -> list[Outcome]:
    """The outcomes of cases that have values. Where one of them fails, they are run in smaller groups."""
    plan = _plan(items)
    try:
        types = [type for _, type in ps.from_substrait(plan, spark).dtypes]
        row = [column.to_pylist()[0] for column in ps.run_query(plan, spark=spark).columns]
    except SubstraitError as error:
        if len(items) == 1:
            constant = (
                _with_constants(items[0], str(session_version(spark))) if _NEEDS_CONSTANT in error.message else None
            )
            return [items[0].outcome(error.message)] if constant is None else _values(spark, [constant])
        middle = len(items) // 2
        return _values(spark, items[:middle]) + _values(spark, items[middle:])
    carriers = _carriers(spark, {spark_type(item.bound.type) for item in items})
    outcomes = []
    for position, item in enumerate(items):
        found, wanted = row[2 * position], row[2 * position + 1]
        carrier = carriers[spark_type(item.bound.type)]
        if isinstance(item.case.expected, Literal) and not _same(found, wanted, item.bound.type):
            outcomes.append(item.outcome(f"gives {found!r} instead of {wanted!r}"))
        elif "struct" not in carrier and types[2 * position] != carrier:
            outcomes.append(item.outcome(f"is a {types[2 * position]} instead of a {carrier}"))
        else:
            outcomes.append(item.outcome())
    return outcomes


def _with_constants(item: _Ready, version: str) -> _Ready | None:
    """The case with literals behind its first argument, where it says at run time that it needs them."""
    positions = tuple(range(1, len(item.case.arguments)))
    if item.way is Way.LITERALS or item.constants == positions:
        return None
    made = _tried(item.case, item.way, positions, version)
    return None if isinstance(made, Outcome) else made


def _carriers(spark: SparkSession, types: Iterable[str]) -> dict[str, str]:
    """What a DataFrame calls each type."""
    new = sorted(set(types) - _KNOWN.keys())
    if new:
        nothing = spark.sql(f"SELECT {', '.join(f'CAST(NULL AS {name})' for name in new)}")
        _KNOWN.update(zip(new, (type for _, type in nothing.dtypes), strict=True))
    return _KNOWN


_KNOWN: dict[str, str] = {}


def _same(found: Any, wanted: Any, type: Type) -> bool:
    """Whether a value is the expected one; floating-point numbers may differ in the last digits, zeros in no sign."""
    match concrete(type):
        case FP32() | FP64() as kind if found is not None and wanted is not None:
            if math.isnan(wanted) or math.isnan(found):
                return math.isnan(wanted) and math.isnan(found)
            if wanted == found:
                return math.copysign(1, wanted) == math.copysign(1, found)
            return bool(abs(found - wanted) <= abs(wanted) * _TOLERANCE[kind.__class__])
        case UserDefined(name="geometry") if found is not None and wanted is not None:
            import shapely

            one, other = (shapely.normalize(shapely.from_wkb(value)) for value in (found, wanted))
            return bool(shapely.equals_exact(one, other, 1e-9)) and shapely.has_z(one) == shapely.has_z(other)
        case List(type=element) if found is not None and wanted is not None:
            return len(found) == len(wanted) and all(
                _same(one, other, element) for one, other in zip(found, wanted, strict=True)
            )
        case _:
            return bool(found == wanted) and (found is None) == (wanted is None)


def _failing(spark: SparkSession, item: _Ready) -> list[Outcome]:
    """The outcome of a case that must fail when it runs."""
    from pyspark.errors import AnalysisException

    try:
        # fails sooner than toArrow does
        found = ps.from_substrait(_plan([item]), spark).collect()
    except SubstraitError as error:
        return [item.outcome(f"should fail on its data: {error.message}")]
    except AnalysisException as error:
        return [item.outcome(f"isn't taken by Spark: {error}")]
    except spark_errors():
        return [item.outcome()]
    return [item.outcome(f"gives {found[0][0]!r} instead of an error")]


def _window(spark: SparkSession, case: Case, way: Way) -> list[Outcome]:
    """The outcome of a window function over all records of a case."""
    return [_over_all(spark, case, way)]


def _over_all(spark: SparkSession, case: Case, way: Way) -> Outcome:
    """The same; the records are numbered, so that they have an order."""
    assert case.rows is not None
    width = len(case.types)
    table = plans.values((*case.types, plans.INT), [(*row, number) for number, row in enumerate(case.rows)])
    try:
        bound = _bound(case, way, (), [])
    except InvalidPlanError as error:
        return Outcome(case, f"doesn't bind: {error}")
    made = _Ready(case, bound, way)
    fault = _type_fault(case, bound.type)
    if fault is not None:
        return made.outcome(fault)
    call = bound.window([plans.sort(plans.col(table, width))])
    try:
        result = plans.rows(spark, plans.project(table, plans.col(table, width), call))
    except UnsupportedPlanError as error:
        return made.outcome(error.message, refused=True)
    except ExecutionError as error:
        return made.outcome(None if case.expected == "error" else error.message)
    except SubstraitError as error:
        return made.outcome(error.message)
    if isinstance(case.expected, Literal | str):
        return made.outcome(f"gives values instead of an {case.expected}")
    kind = (plans.LONG, with_nullability(bound.type, True))
    wanted = plans.rows(spark, plans.values(kind, [*enumerate(case.expected)]))
    found = [value for _, value in sorted(result)]
    if len(found) == len(wanted) and all(
        _same(one, other[1], bound.type) for one, other in zip(found, wanted, strict=True)
    ):
        return made.outcome()
    return made.outcome(f"gives {found} instead of {[value for _, value in wanted]}")

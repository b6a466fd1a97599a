"""The records of relations. Spec: relations/logical_relations and relations/physical_relations.

A relation gives *runs*: lists of records that follow each other. Within a run, records are in no order, as all those
of a table are; a sort makes a run of the records that are equal by its keys. Each relation keeps the runs if the
specification says that it maintains orderedness, and makes one run of them otherwise.
"""

from __future__ import annotations

import decimal
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from pyspark_substrait.model.deep_stack import with_enough_stack
from pyspark_substrait.model.expressions import Expression, WindowFunction
from pyspark_substrait.model.plan import Plan, RelRoot
from pyspark_substrait.model.relations import (
    Aggregate,
    Broadcast,
    ConsistentPartitionWindow,
    Cross,
    DetachedRel,
    Exchange,
    Expand,
    Fetch,
    Filter,
    JoinBase,
    MultiBucketExpression,
    NamedTable,
    Project,
    Read,
    Reference,
    Relation,
    Set,
    SetOp,
    SingleBucketExpression,
    Sort,
    SwitchingField,
    TopN,
    VirtualTable,
)
from pyspark_substrait.model.types import NamedStruct, Struct
from pyspark_substrait.model.walk import expressions_within
from tests.reference.aggregates import aggregate
from tests.reference.choices import STRICT, Choices
from tests.reference.errors import Failure, NotCovered, Undetermined
from tests.reference.expressions import evaluate as value_of
from tests.reference.expressions import is_true, masked
from tests.reference.joins import joined
from tests.reference.orders import sort_runs
from tests.reference.result import Result, rows_of_named
from tests.reference.scope import Context, Scope
from tests.reference.values import DIGITS, Row, Value, from_literal, identity
from tests.reference.windows import window_values

__all__ = ["Runs", "evaluate"]

Runs = list[list[Row]]


def evaluate(plan: Plan, tables: Mapping[str, pa.Table], *, choices: Choices = STRICT) -> Result:
    """The result of a valid plan; of another one anything may come.

    Args:
        plan: a plan with one root, or with one relation.
        tables: the tables that it reads, by their names, with points between the parts of one.
        choices: meanings to take where the specification leaves one open.

    Raises:
        NotCovered: the evaluator doesn't know something that the plan has.
        Undetermined: the specification leaves the result open.
        Failure: the plan has to fail.
    """
    return with_enough_stack(_evaluated, plan, tables, choices)


def _evaluated(plan: Plan, tables: Mapping[str, pa.Table], choices: Choices) -> Result:
    roots = [tree for tree in plan.relations if isinstance(tree, RelRoot)]
    if len(roots) != 1 and len(plan.relations) != 1:
        raise NotCovered(f"a plan with {len(roots)} roots")
    root = roots[0] if roots else plan.relations[0]
    relation = root.input if isinstance(root, RelRoot) else root
    with decimal.localcontext(DIGITS):
        runs = _Evaluator(plan, tables, choices).runs(relation, None)
    types = relation.schema.types
    if isinstance(root, RelRoot):
        names = NamedStruct(names=root.names, struct=Struct(types=types)).top_level_names()
    else:
        names = tuple(name or "" for name in relation.names)
    return Result(names, types, tuple(tuple(run) for run in runs if run))


def _flat(runs: Runs) -> list[Row]:
    return [row for run in runs for row in run]


class _Evaluator:
    """Evaluates the relations of one plan, each as often as it is asked for."""

    def __init__(self, plan: Plan, tables: Mapping[str, pa.Table], choices: Choices) -> None:
        self.tables = tables
        parameters: dict[int, Value] = {
            binding.parameter_anchor: from_literal(binding.value) for binding in plan.parameter_bindings
        }
        self.context = Context(choices, parameters, lambda relation, scope: _flat(self.runs(relation, scope)))
        self.tables_read: dict[int, list[Row]] = {}

    def runs(self, relation: Relation, outer: Scope | None) -> Runs:
        """The records of a relation inside a query, if any."""
        if relation.enhanced:
            raise NotCovered(f"an enhancement of {relation.__class__.__name__}")
        runs = self._direct(relation, outer)
        emit = relation.common.emit
        if emit is not None:
            runs = [[tuple(row[position] for position in emit) for row in run] for run in runs]
        return runs

    def _rows(self, relation: Relation, outer: Scope | None) -> list[Row]:
        return _flat(self.runs(relation, outer))

    def _scope(self, relation: Relation, outer: Scope | None) -> Callable[[Row], Scope]:
        """The scopes of a relation's expressions."""
        return lambda row: Scope(self.context, row, relation.common.rel_anchor, outer)

    def _direct(self, relation: Relation, outer: Scope | None) -> Runs:
        """The records before emit."""
        scope = self._scope(relation, outer)
        match relation:
            case Read():
                return [self._read(relation, scope)]
            case Filter(input=input, condition=condition):
                return _kept(self.runs(input, outer), condition, scope)
            case Project():
                return self._project(relation, outer)
            case Sort(input=input, sorts=sorts):
                return sort_runs(self._rows(input, outer), sorts, scope)
            case Fetch(input=input):
                return _fetched(self.runs(input, outer), *self._limits(relation, scope))
            case TopN(input=input, sorts=sorts):
                runs = sort_runs(self._rows(input, outer), sorts, scope)
                return _fetched(runs, *self._limits(relation, scope), ties=relation.keeps_ties)
            case Aggregate():
                return [self._aggregate(relation, outer)]
            case JoinBase():
                return [joined(relation, scope, lambda child, around: self._rows(child, around))]
            case Cross(left=left, right=right):
                pairs = itertools.product(self._rows(left, outer), self._rows(right, outer))
                return [[one + other for one, other in pairs]]
            case Set():
                return [self._set(relation, outer)]
            case Expand():
                return [self._expand(relation, outer)]
            case ConsistentPartitionWindow():
                return self._window(relation, outer)
            case Exchange(input=input, exchange_kind=kind):
                if isinstance(kind, Broadcast | MultiBucketExpression):
                    raise NotCovered("an exchange that sends a record to several partitions")
                runs = self.runs(input, outer)
                if isinstance(kind, SingleBucketExpression) and any(
                    value_of(kind.expression, scope(row)) is None for row in _flat(runs)
                ):
                    raise Undetermined("the partition of a record without a bucket")
                return runs
            case Reference(subtree=subtree):
                return self.runs(subtree, outer)
            case DetachedRel(relation=inner):
                return self.runs(inner, outer)
            case _:
                raise NotCovered(f"relation {relation.__class__.__name__}")

    # reads -----------------------------------------------------------------------------------------------------------

    def _read(self, read: Read, scope: Callable[[Row], Scope]) -> list[Row]:
        match read.read_type:
            case NamedTable(names=names):
                if id(read) not in self.tables_read:
                    self.tables_read[id(read)] = rows_of_named(self.tables, names, read.base_schema)
                rows = self.tables_read[id(read)]
            case VirtualTable(expressions=records):
                rows = [value_of(record, scope(())) for record in records]
            case other:
                raise NotCovered(f"read of {other.__class__.__name__}")
        rows = [row for row in rows if is_true(read.filter, scope(row))]
        if not all(is_true(read.best_effort_filter, scope(row)) for row in rows):
            raise Undetermined("records that only the best-effort filter drops")
        mask = read.projection
        if mask is None:
            return rows
        return [masked(row, mask.select, mask.maintain_singular_struct, outermost=True) for row in rows]

    def _limits(self, relation: Fetch | TopN, scope: Callable[[Row], Scope]) -> tuple[int, int | None]:
        offset, count = (None if limit is None else value_of(limit, scope(())) for limit in relation.limits)
        if not all(limit is None or isinstance(limit, int) for limit in (offset, count)):
            raise NotCovered("a limit that is no integer")
        if (offset or 0) < 0 or (count or 0) < 0:
            raise Failure("a negative offset or count")
        return offset or 0, count

    # projections -----------------------------------------------------------------------------------------------------

    def _project(self, project: Project, outer: Scope | None) -> Runs:
        scope = self._scope(project, outer)
        runs = self.runs(project.input, outer)
        windows = [item for item in expressions_within(project.expressions) if isinstance(item, WindowFunction)]
        if not windows:
            return [[row + _values(project.expressions, scope(row)) for row in run] for run in runs]
        # window functions read all records, and leave them in no order
        scopes = [scope(row) for row in _flat(runs)]
        columns = {id(call): window_values(call, call.partitions, call.sorts, scopes) for call in windows}
        made = []
        for position, here in enumerate(scopes):
            values = {key: column[position] for key, column in columns.items()}
            made.append(here.row + _values(project.expressions, replace(here, windows=values)))
        return [made]

    def _window(self, window: ConsistentPartitionWindow, outer: Scope | None) -> Runs:
        scope = self._scope(window, outer)
        runs = self.runs(window.input, outer)
        scopes = [scope(row) for row in _flat(runs)]
        columns = [
            window_values(call, window.partition_expressions, window.sorts, scopes) for call in window.window_functions
        ]
        rows = iter(zip(*columns, strict=True))
        return [[row + next(rows) for row in run] for run in runs]

    def _expand(self, expand: Expand, outer: Scope | None) -> list[Row]:
        scope = self._scope(expand, outer)
        counts = {len(field.duplicates) for field in expand.all_fields if isinstance(field, SwitchingField)} or {1}
        if len(counts) > 1:
            raise Failure("switching fields with different numbers of duplicates")
        (count,) = counts
        made = []
        for row in self._rows(expand.input, outer):
            for number in range(count):
                fields = [
                    field.duplicates[number] if isinstance(field, SwitchingField) else field
                    for field in expand.all_fields
                ]
                made.append((*_values(fields, scope(row)), number))
        return made

    # aggregates ------------------------------------------------------------------------------------------------------

    def _aggregate(self, relation: Aggregate, outer: Scope | None) -> list[Row]:
        scope = self._scope(relation, outer)
        scopes = [scope(row) for row in self._rows(relation.input, outer)]
        keys = [_values(relation.grouping_expressions, here) for here in scopes]
        made: list[Row] = []
        sets = [set(grouping.expression_references) for grouping in relation.groupings]
        for number, references in enumerate(sets or [set()]):
            groups: dict[object, tuple[Row, list[Scope]]] = {}
            if not references:
                # all records are folded into one, even if there are none
                groups[()] = ((None,) * len(relation.grouping_expressions), scopes)
            else:
                for here, values in zip(scopes, keys, strict=True):
                    chosen = tuple(value if at in references else None for at, value in enumerate(values))
                    groups.setdefault(identity(chosen, here.choices), (chosen, []))[1].append(here)
            for chosen, members in groups.values():
                measures = tuple(
                    aggregate(
                        measure.measure,
                        [here for here in members if is_true(measure.filter, here)],
                        measure.measure.sorts,
                        scope(()),
                    )
                    for measure in relation.measures
                )
                made.append((*chosen, *measures, *([number] if len(sets) > 1 else [])))
        return made

    # sets ------------------------------------------------------------------------------------------------------------

    def _set(self, relation: Set, outer: Scope | None) -> list[Row]:
        """The records of a set operation: each so many times as the specification's table says."""
        choices = self.context.choices
        members = [self._rows(member, outer) for member in relation.members]
        if relation.op is SetOp.UNION_ALL:
            return [row for rows in members for row in rows]
        rows: dict[object, Row] = {}
        for row in itertools.chain(*members):
            rows.setdefault(identity(row, choices), row)
        counts = [Counter(identity(row, choices) for row in member) for member in members]
        return [row for key, row in rows.items() for _ in range(_copies(relation.op, [count[key] for count in counts]))]


def _copies(op: SetOp, counts: Sequence[int]) -> int:
    """How often a record is put out that is in the primary and in each secondary input so often."""
    primary, *secondary = counts
    match op:
        case SetOp.MINUS_PRIMARY:
            return int(primary > 0 and not any(secondary))
        case SetOp.MINUS_PRIMARY_ALL:
            return max(0, primary - sum(secondary))
        case SetOp.MINUS_MULTISET:
            if primary > 1 and not all(secondary):
                raise Undetermined("whether MINUS_MULTISET keeps duplicates")
            return int(primary > 0 and not all(secondary))
        case SetOp.INTERSECTION_PRIMARY:
            return int(primary > 0 and any(secondary))
        case SetOp.INTERSECTION_MULTISET:
            return int(primary > 0 and all(secondary))
        case SetOp.INTERSECTION_MULTISET_ALL:
            return min(counts)
        case SetOp.UNION_DISTINCT:
            return 1
        case SetOp.UNION_ALL:
            return sum(counts)


def _values(expressions: Iterable[Expression], scope: Scope) -> Row:
    return tuple(value_of(expression, scope) for expression in expressions)


def _kept(runs: Runs, condition: Expression, scope: Callable[[Row], Scope]) -> Runs:
    return [[row for row in run if is_true(condition, scope(row))] for run in runs]


def _fetched(runs: Runs, offset: int, count: int | None, *, ties: bool = False) -> Runs:
    """The records from an offset on, so many of them; with ``ties``, the rest of the last one's run as well."""
    made: Runs = []
    for run in runs:
        skipped = min(offset, len(run))
        offset -= skipped
        rest = len(run) - skipped
        taken = rest if count is None else min(count, rest)
        if count is not None:
            count -= taken
        if ties and taken:
            taken = rest
        if taken and (skipped or taken < rest) and len(set(map(repr, run))) > 1:
            raise Undetermined("which records a fetch takes of those that are in no order")
        made.append(run[skipped : skipped + taken])
    return made

"""Lineage of random plans against an interpreter of a few lines: other values change only what depends on them."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping
from typing import TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

from pyspark_substrait.analysis.lineage import lineage
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model.expressions import Expression, FieldReference, StructField
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Relation
from tests.lineage.small import ONE, by, col, f, measure, outer, plan, table

Row: TypeAlias = tuple[int, ...]
Rows: TypeAlias = list[Row]
Data: TypeAlias = Mapping[str, Rows]
#: how many columns every table, and every relation that is made here, puts out
WIDTH = 3

# --- the interpreter --------------------------------------------------------------------------------------------------


def value(node: Expression, row: Row, data: Data, around: tuple[Row, ...]) -> int:
    """A number; of conditions, an odd one is true."""
    match node:
        case Literal():
            return 1
        case FieldReference(root=e.RootReference(), reference=(StructField(field=position),)):
            return row[position]
        case FieldReference(root=e.OuterReference(steps_out=int(steps)), reference=(StructField(field=position),)):
            return around[-steps][position]
        case e.ScalarFunction(arguments=(first, second)):
            return (2 * value(first, row, data, around) + 3 * value(second, row, data, around)) % 7  # type: ignore[arg-type]
        case e.SetPredicate(tuples=query):
            return int(bool(rows(query, data, (*around, row))))
        case e.ScalarSubquery(input=query):
            return sum(first for first, *_ in rows(query, data, (*around, row)))
        case e.InPredicate(needles=(needle,), haystack=query):
            needed = value(needle, row, data, around)
            return int(any(needed == first for first, *_ in rows(query, data, (*around, row))))
    raise NotImplementedError(type(node))


def rows(relation: Relation, data: Data, around: tuple[Row, ...] = ()) -> Rows:
    """The records of a relation in a query; ``around`` are the records outside of it."""
    found, emit = direct(relation, data, around), relation.common.emit
    return found if emit is None else [tuple(row[position] for position in emit) for row in found]


def direct(relation: Relation, data: Data, around: tuple[Row, ...]) -> Rows:
    def of(node: Expression, row: Row) -> int:
        return value(node, row, data, around)

    inputs = [rows(item, data, around) for item in relation.inputs]
    match relation:
        case r.Read(read_type=r.NamedTable(names=(name,)), filter=condition):
            return [row for row in data[name] if condition is None or of(condition, row) % 2]
        case r.Filter(condition=condition):
            return [row for row in inputs[0] if of(condition, row) % 2]
        case r.Project(expressions=expressions):
            return [(*row, *(of(item, row) for item in expressions)) for row in inputs[0]]
        case r.Sort(sorts=sorts):
            return sorted(inputs[0], key=lambda row: [of(sort.expr, row) for sort in sorts])
        case r.Fetch():
            return inputs[0][:2]
        case r.Cross():
            return [(*one, *other) for one, other in itertools.product(*inputs)]
        case r.Join(type=type, expression=condition):
            return joined(type, *inputs, match=lambda one, other: of(condition, (*one, *other)) % 2 == 1)
        case r.Aggregate(grouping_expressions=keys, measures=measures):
            groups: dict[Row, Rows] = {} if keys else {(): []}
            for row in inputs[0]:
                groups.setdefault(tuple(of(key, row) for key in keys), []).append(row)
            return [(*key, *(total(item, group, of) for item in measures)) for key, group in groups.items()]
        case r.Set(op=op):
            return combined(op, *inputs)
        case r.Expand(fields=(r.SwitchingField(duplicates=several), e.FieldReference() as same)):
            # columns of the input without a field come out as they are
            rest = [(row, n, item) for row in inputs[0] for n, item in enumerate(several)]
            return [(of(item, row), of(same, row), *row[2:], n) for row, n, item in rest]
    raise NotImplementedError(relation.__class__)


def total(item: r.Measure, group: Rows, of: Callable[[Expression, Row], int]) -> int:
    kept = [row for row in group if item.filter is None or of(item.filter, row) % 2]
    (argument,) = item.measure.arguments
    assert not isinstance(argument, e.EnumArgument | e.TypeArgument)
    return sum(of(argument, row) for row in kept) + len(kept)


def joined(type: r.JoinType, left: Rows, right: Rows, *, match: Callable[[Row, Row], bool]) -> Rows:
    pairs = [(one, other) for one in left for other in right if match(one, other)]
    matched = {one for one, _ in pairs}
    match type:
        case r.JoinType.LEFT_SEMI:
            return [one for one in left if one in matched]
        case r.JoinType.LEFT_ANTI:
            return [one for one in left if one not in matched]
        case r.JoinType.LEFT_MARK:
            return [(*one, int(one in matched)) for one in left]
        case r.JoinType.LEFT:
            alone = [(*one, *(0,) * WIDTH) for one in left if one not in matched]
            return [(*one, *other) for one, other in pairs] + alone
        case _:
            return [(*one, *other) for one, other in pairs]


def combined(op: r.SetOp, first: Rows, second: Rows) -> Rows:
    match op:
        case r.SetOp.UNION_ALL:
            return first + second
        case r.SetOp.UNION_DISTINCT:
            return [*dict.fromkeys(first + second)]
        case r.SetOp.MINUS_PRIMARY:
            return [row for row in dict.fromkeys(first) if row not in second]
        case _:
            return [row for row in dict.fromkeys(first) if row in second]


# --- random plans -----------------------------------------------------------------------------------------------------

fields = st.integers(0, WIDTH - 1)


@st.composite
def expressions(draw: st.DrawFn, width: int, depth: int, queries: int = 0) -> Expression:
    """An expression over so many columns, inside so many queries."""
    kind = draw(st.integers(0, 7 if depth else 2))
    if kind == 0 and queries:
        return outer(draw(fields), steps=draw(st.integers(1, queries)))
    if kind <= 1:
        return col(draw(st.integers(0, width - 1)))
    if kind == 2:
        return ONE
    if kind <= 4:
        parts = expressions(width, depth - 1, queries)
        return f(draw(parts), draw(parts))
    query = draw(relations(depth - 1, queries + 1))
    if kind == 5:
        return e.SetPredicate(predicate_op=e.PredicateOp.EXISTS, tuples=query)
    first = r.Project(input=query, expressions=(), common=r.RelCommon(emit=(draw(fields),)))
    if kind == 6:
        return e.ScalarSubquery(input=first)
    return e.InPredicate(needles=(col(draw(st.integers(0, width - 1))),), haystack=first)


@st.composite
def relations(draw: st.DrawFn, depth: int, queries: int = 0) -> Relation:
    """A relation of ``WIDTH`` columns, inside so many queries."""
    kind = draw(st.integers(0, 9 if depth else 0))
    below = relations(depth - 1, queries)

    def expression(width: int = WIDTH) -> Expression:
        return draw(expressions(width, max(depth - 1, 0), queries))

    def emitted(width: int) -> r.RelCommon:
        return r.RelCommon(emit=tuple(draw(st.integers(0, width - 1)) for _ in range(WIDTH)))

    if kind == 0:
        filter = expression() if draw(st.booleans()) else None
        return table(draw(st.sampled_from("ab")), WIDTH, filter=filter, common=emitted(WIDTH))
    input = draw(below)
    if kind == 1:
        return r.Filter(input=input, condition=expression(), common=emitted(WIDTH))
    if kind == 2:
        return r.Project(input=input, expressions=(expression(), expression()), common=emitted(WIDTH + 2))
    if kind == 3:
        return r.Fetch(input=r.Sort(input=input, sorts=by(expression())), count_expr=ONE, common=emitted(WIDTH))
    if kind == 4:
        keys = tuple(expression() for _ in range(draw(st.integers(0, 2))))
        grouping = (r.Grouping(tuple(range(len(keys)))),)
        measures = (
            r.Measure(measure=measure(expression())),
            r.Measure(measure=measure(expression()), filter=expression()),
        )
        return r.Aggregate(
            input=input,
            groupings=grouping,
            grouping_expressions=keys,
            measures=measures,
            common=emitted(len(keys) + 2),
        )
    if kind == 5:
        several = (expression(), expression())
        return r.Expand(input=input, fields=(r.SwitchingField(several), col(draw(fields))), common=emitted(WIDTH + 1))
    other = draw(below)
    if kind == 6:
        ops = (r.SetOp.UNION_ALL, r.SetOp.UNION_DISTINCT, r.SetOp.MINUS_PRIMARY, r.SetOp.INTERSECTION_PRIMARY)
        op, common = draw(st.sampled_from(ops)), emitted(WIDTH)
        both = r.Set(members=(input, other), op=op, common=common)
        # the index of an Expand and the mark of a join have types of their own
        return r.Set(members=(input, input), op=op, common=common) if any(both.faults()) else both
    if kind == 7:
        return r.Cross(left=input, right=other, common=emitted(2 * WIDTH))
    widths = {
        r.JoinType.INNER: 2 * WIDTH,
        r.JoinType.LEFT: 2 * WIDTH,
        r.JoinType.LEFT_SEMI: WIDTH,
        r.JoinType.LEFT_ANTI: WIDTH,
        r.JoinType.LEFT_MARK: WIDTH + 1,
    }
    type = draw(st.sampled_from([*widths]))
    return r.Join(left=input, right=other, type=type, expression=expression(2 * WIDTH), common=emitted(widths[type]))


tables = st.lists(st.tuples(*[st.integers(0, 3)] * WIDTH), min_size=2, max_size=4)


@settings(max_examples=250, deadline=None)
@given(relations(3), st.fixed_dictionaries({"a": tables, "b": tables}), st.data())
def test_only_what_depends_on_a_column_changes(node: Relation, data: dict[str, Rows], more: st.DataObject) -> None:
    found = lineage(plan(node))
    before = rows(node, data)
    for name, changed in itertools.product(data, range(WIDTH)):
        others = more.draw(st.lists(st.integers(0, 3), min_size=len(data[name]), max_size=len(data[name])))
        other = [(*row[:changed], new, *row[changed + 1 :]) for row, new in zip(data[name], others, strict=True)]
        after = rows(node, {**data, name: other})
        for position, port in enumerate(found.outputs[0]):
            bags = [Counter(row[position] for row in result) for result in (before, after)]
            depends = {(source.table, source.column) for source in found.sources(port, conditions=True)}
            assert bags[0] == bags[1] or (name, f"x{changed}") in depends


@settings(max_examples=100, deadline=None)
@given(relations(3))
def test_up_and_down_are_the_same_edges(node: Relation) -> None:
    found = lineage(plan(node))
    ports = [port for number in range(len(found.relations)) for port in found.ports(number)]
    for conditions in (False, True):
        up = {port: found.upstream(port, conditions=conditions) for port in ports}
        for port in ports:
            assert found.downstream(port, conditions=conditions) == {one for one in ports if port in up[one]}
            assert port in up[port]
            for origin in found.origins(port):
                assert (origin.kind.value == "condition" and not conditions) or up[origin.port] <= up[port]
    for number in range(len(found.relations)):
        for port in found.ports(number):
            decided = {
                one for condition in found.conditions(number) for one in found.upstream(condition, conditions=True)
            }
            assert decided <= found.upstream(port, conditions=True)

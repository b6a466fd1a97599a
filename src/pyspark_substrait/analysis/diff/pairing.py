"""The counterpart of each relation of two documents, from the comparison of their trees.

The comparison has steps: relations in the form in which they are compared. Here every relation gets its counterpart,
also those that aren't steps, because they change nothing, and those in subqueries that are the same in both plans.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from pyspark_substrait.analysis.diff.description import Step
from pyspark_substrait.analysis.diff.difference import Change, Line, Mark, Pair
from pyspark_substrait.analysis.diff.normalized import Steps, pick, stands_for
from pyspark_substrait.analysis.diff.relation_descriptions import describe
from pyspark_substrait.analysis.diff.relations import queries_in, queries_of, relations_of
from pyspark_substrait.analysis.diff.result_columns import Result
from pyspark_substrait.analysis.diff.tree_diff import TreeDiff
from pyspark_substrait.model.expressions import AggregateFunction, Expression
from pyspark_substrait.model.plan import ExtendedExpression, Plan
from pyspark_substrait.model.relations import Relation

__all__ = ["Pairing"]

_Document: TypeAlias = "Plan | ExtendedExpression"
_Node: TypeAlias = "Expression | AggregateFunction"
_Positions: TypeAlias = "tuple[tuple[int | None, int | None], ...]"


@dataclass(slots=True, eq=False)
class _Link:
    """Two relations that are counterparts, or one without a counterpart."""

    a: Relation | None
    b: Relation | None
    mark: Mark
    changes: list[Change] = field(default_factory=list)
    columns: _Positions = ()


class _Side:
    """The relations of one document, in their order, each once.

    ``clothes``: relations that change nothing, by the relation that they stand for. ``steps``: the steps by relation.
    """

    def __init__(self, document: _Document, steps: Steps) -> None:
        self.relations = list(relations_of(document))
        self.order = {id(relation): at for at, relation in enumerate(self.relations)}
        self.clothes: dict[int, list[Relation]] = {}
        for relation in self.relations:
            inner = stands_for(relation)
            if inner is not None:
                while (below := stands_for(inner)) is not None:
                    inner = below
                self.clothes.setdefault(id(inner), []).append(relation)
        self.steps = steps.by_relation()

    def above(self, step: Step) -> list[Relation]:
        """Return the relations that stand for the relation of a step and change nothing."""
        return self.clothes.get(id(step.relation), [])


class Pairing:
    """Finds the counterpart of every relation of two documents.

    Args:
        trees: the comparison of their trees, which is done.
    """

    def __init__(self, a: _Document, b: _Document, trees: TreeDiff) -> None:
        self.trees = trees
        self.a, self.b = _Side(a, trees.steps), _Side(b, trees.steps)
        self._links: dict[tuple[int, int], _Link] = {}
        self._found: set[int] = set()  # the relations that have a counterpart
        self._holders: list[tuple[list[Relation], list[Relation]]] = []  # the subqueries of counterparts
        self._others: list[Pair] = []
        self._columns: dict[int, tuple[int, ...]] = {}  # of steps, by the relations that made them

    # compared parts ---------------------------------------------------------------------------------------------------

    def root(self, a: Result | None, b: Result | None, line: Line) -> None:
        """Add two results, or one without a counterpart, and their line."""
        places = tuple(f"{x.path}.root" if x is not None and x.root is not None else "" for x in (a, b))
        if any(places):
            self.beside((places[0], places[1]), line.changes, tuple(line.positions()))
        if b is None and a is not None:
            self._lone(a.step, self.a, Mark.REMOVED, ())
        elif a is None and b is not None:
            self._lone(b.step, self.b, Mark.ADDED, ())

    def inside(self, a: Iterable[_Node], b: Iterable[_Node]) -> None:
        """Add expressions that aren't part of a relation."""
        self._holders.append((list(queries_in(a)), list(queries_in(b))))

    def beside(self, places: tuple[str, str], changes: Sequence[Change], columns: _Positions = ()) -> None:
        """Add two counterparts that aren't relations: roots, expressions; or one without a counterpart."""
        mark = Mark.CHANGED if any(change.kind.counts for change in changes) else Mark.SAME
        if not all(places):
            mark = Mark.REMOVED if places[0] else Mark.ADDED
        self._others.append(
            Pair(path_a=places[0], path_b=places[1], mark=mark, changes=tuple(changes), columns=columns)
        )

    def tree(self, top: Line) -> None:
        """Add everything in a line and below it."""
        pending: list[tuple[Line, list[Relation], list[Relation]]] = [(top, [], [])]
        while pending:
            line, over_a, over_b = pending.pop()
            a, b = line.a, line.b
            if a is not None and b is not None:
                if line.whole:
                    self._same(a, b, over_a, over_b)
                else:
                    mark = Mark.CHANGED if any(change.kind.counts for change in line.changes) else Mark.SAME
                    self._both(a, b, mark, line.changes, over_a, over_b).columns = tuple(line.positions())
                pending.extend((below, [], []) for below in reversed(line.below))
                continue
            for step, side, mark in ((a, self.a, Mark.REMOVED), (b, self.b, Mark.ADDED)):
                if step is not None and line.entire:
                    self._lone(step, side, mark, line.changes)
                elif step is not None:
                    self._link(*_sided(step.relation, mark), mark, line.changes)
                    self._lone_queries(step, side, mark)
            # a relation that changes nothing, above one without a counterpart, may have its counterpart further below
            over_a = [*over_a, *(self.a.above(a) if a is not None and not line.entire else ())]
            over_b = [*over_b, *(self.b.above(b) if b is not None and not line.entire else ())]
            for below in reversed(line.below):
                pending.append((below, [], []) if below.entire else (below, over_a, over_b))

    def _both(
        self,
        a: Step,
        b: Step,
        mark: Mark,
        changes: Sequence[Change] = (),
        over_a: Sequence[Relation] = (),
        over_b: Sequence[Relation] = (),
    ) -> _Link:
        """Link two counterparts, and the relations that stand for them."""
        link = self._link(a.relation, b.relation, mark, changes)
        self._holders.append((list(queries_of(a.relation)), list(queries_of(b.relation))))
        self._alike([*over_a, *self.a.above(a)], [*over_b, *self.b.above(b)])
        return link

    def _same(self, a: Step, b: Step, over_a: Sequence[Relation] = (), over_b: Sequence[Relation] = ()) -> None:
        """Link the relations of two trees that are the same."""
        pending = [(a, b, over_a, over_b)]
        while pending:
            a, b, over_a, over_b = pending.pop()
            if (id(a.relation), id(b.relation)) not in self._links:
                self._both(a, b, Mark.SAME, (), over_a, over_b)
                pending.extend(reversed([(one, other, (), ()) for one, other in zip(a.inputs, b.inputs, strict=False)]))

    def _alike(self, a: Sequence[Relation], b: Sequence[Relation]) -> None:
        """Link relations that change nothing: those of the same kind, in their order."""
        left = list(b)
        for relation in a:
            other = next((x for x in left if x.__class__ is relation.__class__), None)
            if other is not None:
                left = left[left.index(other) + 1 :]
                self._link(relation, other, Mark.SAME)

    def _lone(self, top: Step, side: _Side, mark: Mark, changes: Sequence[Change]) -> None:
        """Mark a tree that has no counterpart."""
        pending, seen = [top], set[int]()
        while pending:
            step = pending.pop()
            if id(step.relation) in seen:
                continue
            seen.add(id(step.relation))
            for relation in (step.relation, *side.above(step)):
                self._link(*_sided(relation, mark), mark, changes if step is top and relation is top.relation else ())
            self._lone_queries(step, side, mark)
            pending.extend(step.inputs)

    def _lone_queries(self, step: Step, side: _Side, mark: Mark) -> None:
        for query in queries_of(step.relation):
            for inner in side.steps.get(id(query), [])[:1]:
                self._lone(inner, side, mark, ())

    def _link(self, a: Relation | None, b: Relation | None, mark: Mark, changes: Iterable[Change] = ()) -> _Link:
        link = self._links.setdefault((id(a), id(b)), _Link(a, b, mark))
        link.changes.extend(changes)
        if a is not None and b is not None:
            self._found |= {id(a), id(b)}
        return link

    # parts that were not compared -------------------------------------------------------------------------------------

    def pairs(self) -> tuple[Pair, ...]:
        """Return every relation, root and expression of both documents, with its counterpart."""
        self._queries()
        self._moves()
        links = [link for link in self._links.values() if link.a and link.b] + self._lonely()
        linked = {id(item) for link in links for item in (link.a, link.b)}
        links += [_Link(relation, None, Mark.SAME) for relation in self.a.relations if id(relation) not in linked]
        links += [_Link(None, relation, Mark.SAME) for relation in self.b.relations if id(relation) not in linked]
        links.sort(key=self._order)
        return (*self._others, *filter(None, map(self._pair, links)))

    def _queries(self) -> None:
        """Link equal subqueries of counterparts; the other subqueries have no counterpart."""
        left: list[tuple[Step, _Side, Mark]] = []
        while self._holders:
            a, b = self._holders.pop()
            first = [step for query in a if (step := self._open(query, self.a)) is not None]
            second = [query for query in b if self._open(query, self.b) is not None]
            for step in first:
                pair = self._like(step, second)
                if pair is None:
                    left.append((step, self.a, Mark.REMOVED))
                    continue
                query, other = pair
                second.remove(query)
                self.tree(self.trees.compare(step, other)[1])
            left += [(self.b.steps[id(query)][0], self.b, Mark.ADDED) for query in second]
        for step, side, mark in left:
            self._lone(step, side, mark, ())

    def _open(self, query: Relation, side: _Side) -> Step | None:
        """Return the step of a subquery; None if it has a counterpart."""
        steps = side.steps.get(id(query), [])
        return steps[0] if steps and id(steps[0].relation) not in self._found else None

    def _like(self, step: Step, queries: Sequence[Relation]) -> tuple[Relation, Step] | None:
        """Return the query that means the same, and its step that does."""
        for at in (1, 0):  # first with the order of everything, then without
            for query in queries:
                for other in self.b.steps[id(query)]:
                    if other.form[at] == step.form[at]:
                        return query, other
        return None

    def _moves(self) -> None:
        """Link relations that were removed in one place and are the same in another."""
        lone = self._lonely()
        new: dict[int, list[_Link]] = {}
        for link in reversed(lone):
            if link.b is not None:
                for own in self._own(link.b, self.b):
                    new.setdefault(own, []).append(link)
        for link in lone:
            for own in () if link.a is None else self._own(link.a, self.a):
                if new.get(own):
                    other = new[own].pop()
                    self._link(link.a, other.b, Mark.MOVED, [*link.changes, *other.changes])
                    self._alike(self.a.clothes.get(id(link.a), []), self.b.clothes.get(id(other.b), []))

    def _lonely(self) -> list[_Link]:
        """Return the links of relations without a counterpart."""
        return [x for x in self._links.values() if id(x.a) not in self._found and id(x.b) not in self._found]

    def _own(self, relation: Relation, side: _Side) -> Iterator[int]:
        """Return the meaning of a relation without its inputs, over the columns as they were made, if it is a step."""
        for step in side.steps.get(id(relation), ())[:1]:
            if step.relation is relation:
                description = describe(
                    relation, [self._made(item) for item in step.inputs], step.outer, self.trees.forms
                )
                yield self.trees.steps.own(step.kind, description).meaning

    def _made(self, top: Step) -> tuple[int, ...]:
        """Return the columns that a step puts out, each identified by the relation that made it."""
        pending = [top]
        while pending:
            step = pending[-1]
            missing = [item for item in step.inputs if id(item) not in self._columns]
            if missing and id(step) not in self._columns:
                pending.extend(missing)
                continue
            pending.pop()
            self._columns[id(step)] = pick(list(self._columns_made(step)), step.picks, self.trees.forms)
        return self._columns[id(top)]

    def _columns_made(self, step: Step) -> Iterator[int]:
        """Return the columns of a step before emit; those of its inputs are known."""
        below = [self._columns[id(item)] for item in step.inputs]
        for column, source in zip(step.description.columns, step.description.sources, strict=True):
            if source is not None and source[1] < len(below[source[0]]):
                yield below[source[0]][source[1]]
            else:
                yield self.trees.forms.number("made", column, *(step.tables if step.kind == "Read" else ()))

    def _order(self, link: _Link) -> tuple[float, float]:
        missing = float("inf")
        return self.a.order.get(id(link.a), missing), self.b.order.get(id(link.b), missing)

    def _pair(self, link: _Link) -> Pair | None:
        """Return a pair; None for a link of which no relation has a path."""
        path_a = "" if link.a is None else self.trees.path_a(link.a)
        path_b = "" if link.b is None else self.trees.path_b(link.b)
        if not path_a and not path_b:
            return None
        changes = tuple(dict.fromkeys(link.changes))
        return Pair(path_a=path_a, path_b=path_b, mark=link.mark, changes=changes, columns=link.columns)


def _sided(relation: Relation, mark: Mark) -> tuple[Relation | None, Relation | None]:
    return (relation, None) if mark is Mark.REMOVED else (None, relation)

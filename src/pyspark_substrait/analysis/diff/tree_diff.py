"""Comparison of two relation trees: removed, added and changed relations, from the bottom up.

On the way up, the columns of the second tree get their identities in the first. So a change below isn't reported again
for everything that is built on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspark_substrait.analysis.diff.description import Description, Kind, Step
from pyspark_substrait.analysis.diff.difference import Change, Line
from pyspark_substrait.analysis.diff.equivalence import Forms
from pyspark_substrait.analysis.diff.normalized import Steps, lateral_record, pick, redescribed
from pyspark_substrait.analysis.diff.part_diff import PartDiff
from pyspark_substrait.analysis.diff.record import Record
from pyspark_substrait.analysis.diff.relation_descriptions import describe
from pyspark_substrait.analysis.diff.tree_matching import Match, Place, aligned, paired_inputs, rows
from pyspark_substrait.analysis.diff.wording import Wording, a_or_an, named
from pyspark_substrait.model.relations import LateralJoin, Read, Relation, SetOp, Update
from pyspark_substrait.model.relations import Set as SetRelation

__all__ = ["PathOf", "TreeDiff"]

#: Returns the path of a node; empty if it isn't known.
PathOf = Callable[[object], str]

#: The identities in the first tree of the columns of the second, and the merged trees.
_Compared = tuple[tuple[int, ...], Line]


class TreeDiff:
    """Compares trees. Trees that several relations share are compared once."""

    def __init__(self, steps: Steps, wording: Wording, path_a: PathOf, path_b: PathOf) -> None:
        self.steps = steps
        self.forms: Forms = steps.forms
        self.wording = wording
        self.path_a = path_a
        self.path_b = path_b
        self.part_diff = PartDiff(self.forms, wording, path_a, path_b, self.queries)
        self._known: dict[tuple[int, int], _Compared] = {}

    def queries(self, a: Relation, left: Record, b: Relation, right: Record) -> Line:
        """Compare two subqueries at the same place of two expressions."""
        first, second = self.steps.step(a, left), self.steps.step(b, right)
        columns, line = self.compare(first, second)
        if columns != first.columns:
            names = [", ".join(name or "$" for name in relation.names) for relation in (a, b)]
            what = f"the subquery over {', '.join(first.tables) or 'no table'} puts out other columns"
            line.changes.append(self._change(Kind.COLUMN, what, a, b, *names))
        return line

    def compare(self, a: Step, b: Step) -> _Compared:
        """Compare two trees: return the identities in the first of the columns of the second, and the differences."""
        key = (id(a), id(b))
        found = self._known.get(key)
        if found is not None:
            return found[0], Line(mark=" ", text=f"{_title(b)}, as above")
        if a.form.exact == b.form.exact:
            compared: _Compared = b.columns, Line(mark=" ", text=_title(b), whole=b.size, a=a, b=b)
        else:
            compared = self._compare(a, b)
        self._known[key] = compared
        return compared

    def _compare(self, a: Step, b: Step) -> _Compared:
        columns: tuple[int, ...] = ()
        line: Line | None = None
        path_a = path_b = ""  # the paths of the relations below
        for match in reversed(aligned(*rows(a, b), self.forms)):
            left, right = match.a, match.b
            if left is not None:
                path_a = self.path_a(left.step.relation)
            if right is not None:
                path_b = self.path_b(right.step.relation)
            if left is not None and right is not None:
                columns, line = self._both(left, right, match, columns, line)
                self._known[id(left.step), id(right.step)] = columns, line
            elif left is not None:
                columns, line = self._removed(left, columns, line, (path_a, path_b))
            elif right is not None:
                columns, line = self._added(right, columns, line, (path_a, path_b))
        assert line is not None, "there is a relation in each tree"
        return columns, line

    # one of both ------------------------------------------------------------------------------------------------------

    def _removed(self, place: Place, columns: tuple[int, ...], below: Line | None, paths: tuple[str, str]) -> _Compared:
        """Report a relation that only the first tree has; columns above it are mapped to its output."""
        step = place.step
        became: dict[int, int] = {}
        if place.main >= 0:
            known = step.inputs[place.main].columns
            for column, source in zip(step.description.columns, step.description.sources, strict=True):
                if source is not None and source[0] == place.main and source[1] < len(known):
                    became.setdefault(known[source[1]], column)
        after = tuple(became.get(column, self._alone(column)) for column in columns)
        line = Line(mark="-", text=_title(step), below=self._sides(place, below, "-"), a=step)
        about = self.wording.about(step)
        what = f"{named(step) if place.main < 0 else f'the {step.kind}'}{_quoted(about)}{_around(place)} was removed"
        line.changes.append(
            Change(kind=Kind.RELATION, what=what, before=_summary(step, about), path_a=paths[0], path_b=paths[1])
        )
        return after, line

    def _added(self, place: Place, columns: tuple[int, ...], below: Line | None, paths: tuple[str, str]) -> _Compared:
        """Report a relation that only the second tree has; columns that it passes on keep their identity."""
        step = place.step
        description = step.description
        if place.main >= 0:
            given = [
                columns if at == place.main else tuple(map(self._alone, item.columns))
                for at, item in enumerate(step.inputs)
            ]
            description = redescribed(step, given, step.outer, self.forms, False)
        made = []
        for column, source in zip(description.columns, description.sources, strict=True):
            passes = source is not None and source[0] == place.main and source[1] < len(columns)
            made.append(columns[source[1]] if passes and source is not None else self._alone(column))
        line = Line(mark="+", text=_title(step), below=self._sides(place, below, "+"), b=step)
        about = self.wording.about(step)
        with_sides, above = _beside(place), _above(place)
        what = f"{a_or_an(step)}{_quoted(about)}{with_sides} was added{above}"
        line.changes.append(
            Change(kind=Kind.RELATION, what=what, after=_summary(step, about), path_a=paths[0], path_b=paths[1])
        )
        return pick(made, step.picks, self.forms), line

    def _sides(self, place: Place, below: Line | None, mark: str) -> list[Line]:
        """Return the lines below a relation without a counterpart; its other inputs have none, either."""
        lines = []
        for at, item in enumerate(place.step.inputs):
            if at == place.main and below is not None:
                lines.append(below)
            else:
                more = f" (with {item.size - 1} below)" if item.size > 1 else ""
                a, b = (item, None) if mark == "-" else (None, item)
                lines.append(Line(mark=mark, text=_title(item) + more, entire=True, a=a, b=b))
        return lines or ([below] if below is not None else [])

    def _alone(self, column: int) -> int:
        return self.forms.number("only there", column)

    # both -------------------------------------------------------------------------------------------------------------

    def _both(self, left: Place, right: Place, match: Match, columns: tuple[int, ...], below: Line | None) -> _Compared:
        a, b = left.step, right.step
        if match.same:
            return b.columns, Line(mark=" ", text=_title(b), whole=b.size, a=a, b=b)
        line = Line(mark=" ", text=_title(b), a=a, b=b)
        given, swap, whole = self._inputs(left, right, columns, below, line)
        description = redescribed(b, given, b.outer, self.forms, swap)
        if isinstance(b.relation, Read | Update) and (known := self.part_diff.fields(a.description, description)):
            description = describe(b.relation, given, b.outer, self.forms, known=known)
        if a.kind != b.kind:
            first, second = self.wording.about(a), self.wording.about(b)
            over = named(a).removeprefix(f"the {a.kind}")
            what = f"the {a.kind}{_quoted(first)}{over} became {a_or_an(b)}{_quoted(second)}"
            if a.kind == "Read":
                what = f"{named(a)} became {a_or_an(b)}{_quoted(second)}"
            line.changes.append(
                self._change(Kind.RELATION, what, a.relation, b.relation, _summary(a, first), _summary(b, second))
            )
        became = self._member_columns(a, left, description, given, right) if isinstance(b.relation, SetRelation) else {}
        became |= self.part_diff.compare(a, description, b, line, skip={"column"} if became and not whole else set())
        line.outputs = a.columns, pick(description.columns, b.picks, self.forms)
        made = [became.get(column, column) for column in description.columns]
        return pick(made, b.picks, self.forms), line

    def _inputs(
        self, left: Place, right: Place, columns: tuple[int, ...], below: Line | None, line: Line
    ) -> tuple[list[tuple[int, ...]], bool, bool]:
        """Return the columns of the second relation's inputs, by their identities in the first; whether its two inputs
        were exchanged; and whether each input has a counterpart."""
        a, b = left.step, right.step
        if right.main < 0 or left.main < 0:
            if below is not None:
                line.below.append(below)
            return [item.columns for item in b.inputs], False, True
        assert below is not None, "there is an input"
        lines: dict[int, Line] = {right.main: below}
        found: dict[int, tuple[int, ...]] = {right.main: columns}
        order = {right.main: left.main}
        others = [at for at in range(len(b.inputs)) if at != right.main]
        whole = len(a.inputs) == len(b.inputs)
        if isinstance(a.relation, LateralJoin) and isinstance(b.relation, LateralJoin):
            return self._lateral(left, right, columns, below, line), False, True
        rest = [(at, item) for at, item in enumerate(a.inputs) if at != left.main]
        removed: list[Line] = []
        for one, other in paired_inputs([item for _, item in rest], [b.inputs[at] for at in others]):
            if other is None:
                assert one is not None, "one of both is there"
                removed.append(Line(mark="-", text=_title(one), a=one, entire=True))
                what = f"the input {self._input(one)} of {named(a)} was removed"
                removed[-1].changes.append(
                    self._change(
                        Kind.RELATION, what, one.relation, b.relation, before=_summary(one, self.wording.about(one))
                    )
                )
                continue
            at = next(at for at in others if b.inputs[at] is other and at not in found)
            if one is None:
                found[at] = tuple(map(self._alone, other.columns))
                lines[at] = Line(mark="+", text=_title(other), b=other, entire=True)
                what = f"the input {self._input(other)} was added to {named(b)}"
                lines[at].changes.append(
                    self._change(
                        Kind.RELATION,
                        what,
                        a.relation,
                        other.relation,
                        after=_summary(other, self.wording.about(other)),
                    )
                )
                continue
            order[at] = next(at for at, item in rest if item is one and at not in order.values())
            found[at], lines[at] = self.compare(one, other)
        line.below.extend([lines[at] for at in sorted(lines)] + removed)
        return self._arranged(left, right, order, found, line, whole)

    def _arranged(
        self,
        left: Place,
        right: Place,
        order: dict[int, int],
        found: dict[int, tuple[int, ...]],
        line: Line,
        whole: bool,
    ) -> tuple[list[tuple[int, ...]], bool, bool]:
        """Return the inputs in their order, and report a change of it."""
        a, b = left.step, right.step
        given = [found[at] for at in range(len(b.inputs))]
        turned = whole and [order[at] for at in range(len(b.inputs))] != list(range(len(b.inputs)))
        if not turned:
            return given, False, whole
        if not isinstance(b.relation, SetRelation):
            if len(given) == 2:
                what = f"the inputs of {named(b)} changed places"
                line.changes.append(self._change(Kind.ORDER, what, a.relation, b.relation))
            return given, len(given) == 2, True
        loose = b.relation.op in (SetOp.UNION_ALL, SetOp.UNION_DISTINCT)
        what = f"the inputs of {named(b)} stand in another order"
        line.changes.append(self._change(Kind.ORDER if loose else Kind.SET, what, a.relation, b.relation))
        places = {there: here for here, there in order.items()}
        return [found[places[at]] for at in range(len(given))], False, True

    def _lateral(
        self, left: Place, right: Place, columns: tuple[int, ...], below: Line, line: Line
    ) -> list[tuple[int, ...]]:
        """Compare the inputs of lateral joins, whose right input sees the left one."""
        a, b = left.step, right.step
        assert isinstance(b.relation, LateralJoin), "asked before"
        if left.main == right.main == 0:
            first, upper = columns, below
        else:
            first, upper = self.compare(a.inputs[0], b.inputs[0])
        inner = self.steps.step(b.relation.right, lateral_record(first, b.relation, b.outer, self.forms))
        if left.main == right.main == 1 and inner is b.inputs[1]:
            second, lower = columns, below
        else:
            second, lower = self.compare(a.inputs[1], inner)
        line.below.extend((upper, lower))
        return [first, second]

    def _member_columns(
        self, a: Step, left: Place, description: Description, given: Sequence[tuple[int, ...]], right: Place
    ) -> dict[int, int]:
        """Return the columns of a set operation that come from the same column of the input that both have."""
        if not isinstance(a.relation, SetRelation) or len(a.inputs) == len(given):
            return {}
        own = dict(zip(a.inputs[left.main].columns, a.description.columns, strict=False))
        return {
            column: own[below]
            for column, below in zip(description.columns, given[right.main], strict=False)
            if below in own
        }

    def _input(self, step: Step) -> str:
        about = self.wording.about(step)
        over = "" if step.kind == "Read" else f" over {', '.join(step.tables)}"
        return f"`{_title(step)}{over}{f': {about}' if about else ''}`"

    def _change(self, kind: Kind, what: str, a: Relation, b: Relation, before: str = "", after: str = "") -> Change:
        return Change(kind=kind, what=what, before=before, after=after, path_a=self.path_a(a), path_b=self.path_b(b))


def _title(step: Step) -> str:
    """Return the text of a relation's line."""
    return f"Read {step.tables[0]}" if step.kind == "Read" else step.kind


def _summary(step: Step, about: str) -> str:
    return f"{_title(step)}: {about}" if about else _title(step)


def _quoted(about: str) -> str:
    return f" `{about}`" if about else ""


def _around(place: Place) -> str:
    return _beside(place) + _above(place)


def _beside(place: Place) -> str:
    """Return the other inputs, which were added or removed with a relation."""
    others = [named(item) for at, item in enumerate(place.step.inputs) if at != place.main]
    return f" with {' and '.join(others)}" if others else ""


def _above(place: Place) -> str:
    return "" if place.main < 0 else f" above {named(place.step.inputs[place.main])}"

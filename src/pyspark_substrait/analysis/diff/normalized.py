"""Relations as steps: their descriptions, over columns that are known by identity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark_substrait.analysis.diff.description import Description, Step
from pyspark_substrait.analysis.diff.equivalence import Form, Forms
from pyspark_substrait.analysis.diff.record import Record
from pyspark_substrait.analysis.diff.relation_descriptions import describe
from pyspark_substrait.analysis.diff.value_descriptions import table_name
from pyspark_substrait.model.expressions import FieldReference, RootReference, StructField
from pyspark_substrait.model.relations import DetachedRel, LateralJoin, Project, Read, Reference, Relation
from pyspark_substrait.model.types import OpenStruct

__all__ = ["Steps", "beside", "picked", "stands_for"]


class Steps:
    """The steps of a plan's relations, each computed once."""

    def __init__(self, forms: Forms) -> None:
        self.forms = forms
        self._made: dict[tuple[int, int], Step] = {}

    def step(self, relation: Relation, outer: Record | None) -> Step:
        """Return the step of a relation; the steps below it are computed first."""
        pending = [(relation, outer)]
        while pending:
            node, around = pending[-1]
            key = (id(node), 0 if around is None else around.number)
            if key in self._made:
                pending.pop()
                continue
            missing = self._missing(node, around)
            if missing:
                pending.extend(missing)
                continue
            pending.pop()
            self._made[key] = self._make(node, around)
        return self._found(relation, outer)

    def _found(self, relation: Relation, outer: Record | None) -> Step:
        return self._made[id(relation), 0 if outer is None else outer.number]

    def _missing(self, node: Relation, outer: Record | None) -> list[tuple[Relation, Record | None]]:
        """Return the relations whose steps are needed first; the right input of a lateral join sees the left one."""
        below: list[tuple[Relation, Record | None]] = [(item, outer) for item in _below(node)]
        if isinstance(node, LateralJoin):
            left = (id(node.left), 0 if outer is None else outer.number)
            if left not in self._made:
                return below[:1]
            below[1] = (node.right, beside(self._made[left], node, outer, self.forms))
        return [item for item in below if (id(item[0]), 0 if item[1] is None else item[1].number) not in self._made]

    def _make(self, node: Relation, outer: Record | None) -> Step:
        match node:
            case Reference(subtree=inner):
                return self._found(inner, outer)
            case DetachedRel(relation=inner):
                return picked(self._found(inner, outer), node.common.emit)
            case Project() if (columns := _only_picks(node)) is not None:
                emit = node.common.emit
                return picked(
                    self._found(node.input, outer), columns if emit is None else tuple(columns[at] for at in emit)
                )
        inputs = [self._found(item, outer) for item in _below(node)[:1]]
        if isinstance(node, LateralJoin):
            inputs.append(self._found(node.right, beside(inputs[0], node, outer, self.forms)))
        else:
            inputs = [self._found(item, outer) for item in _below(node)]
        return self._step(node, tuple(inputs), outer)

    def _step(self, node: Relation, inputs: tuple[Step, ...], outer: Record | None) -> Step:
        description = describe(node, [item.columns for item in inputs], outer, self.forms)
        kind = node.__class__.__name__
        own, exact = self.own(kind, description)
        form = Form(
            self.forms.number("step", own, *(item.form.meaning for item in inputs)),
            self.forms.number("step", exact, *(item.form.exact for item in inputs)),
        )
        emit = node.common.emit
        tables = [table_name(node)] if isinstance(node, Read) else []
        return Step(
            relation=node,
            kind=kind,
            inputs=inputs,
            outer=outer,
            description=description,
            form=form,
            own=own,
            picks=emit,
            columns=pick(description.columns, emit, self.forms),
            size=1 + sum(item.size for item in inputs),
            tables=tuple(dict.fromkeys(tables + [name for item in inputs for name in item.tables]))[:_MANY],
        )

    def own(self, kind: str, description: Description) -> Form:
        """Return the form of a relation without its inputs."""
        forms = [part.form() for part in description.parts if part.items]
        return Form(
            self.forms.number("own", kind, *(meaning for meaning, _ in forms)),
            self.forms.number("own", kind, *(order for _, order in forms)),
        )

    def by_relation(self) -> dict[int, list[Step]]:
        """Return all steps made so far, by the relation that they are for. A relation in a subquery has a step for each
        record around it."""
        found: dict[int, list[Step]] = {}
        for (relation, _), step in self._made.items():
            found.setdefault(relation, []).append(step)
        return found


#: The most tables that a step lists of those below it.
_MANY = 8


def _below(node: Relation) -> tuple[Relation, ...]:
    return (node.subtree,) if isinstance(node, Reference) else node.inputs


def pick(columns: Sequence[int], picks: tuple[int, ...] | None, forms: Forms) -> tuple[int, ...]:
    """Return the columns at some positions; unknown ones stand for their positions."""
    if picks is None:
        return tuple(columns)
    return tuple(columns[at] if 0 <= at < len(columns) else forms.number("position", at) for at in picks)


def picked(step: Step, emit: tuple[int, ...] | None) -> Step:
    """Return a step of which only some columns are put out."""
    if emit is None:
        return step
    known = step.columns
    if not all(0 <= at < len(known) for at in emit):
        return step
    picks = emit if step.picks is None else tuple(step.picks[at] for at in emit)
    return replace(step, picks=picks, columns=tuple(known[at] for at in emit))


def _only_picks(node: Project) -> tuple[int, ...] | None:
    """Return the output of a projection as columns of its input; None if the projection computes something.

    Expressions that emit leaves out don't count.
    """
    if isinstance(node.input.schema, OpenStruct) or node.enhanced:
        return None
    width = len(node.input.schema.types)
    emit = node.common.emit
    columns = list(range(width))
    for position, expression in enumerate(node.expressions, start=width):
        match expression:
            case FieldReference(root=RootReference(), reference=(StructField(field=field),)) if field < width:
                columns.append(field)
            case _ if emit is not None and position not in emit:
                columns.append(0)
            case _:
                return None
    return tuple(columns)


def stands_for(node: Relation) -> Relation | None:
    """Return the relation below one that only chooses columns; None for all other relations."""
    match node:
        case Reference(subtree=inner) | DetachedRel(relation=inner):
            return inner
        case Project(input=inner) if _only_picks(node) is not None:
            return inner
        case _:
            return None


def beside(left: Step, node: LateralJoin, outer: Record | None, forms: Forms) -> Record:
    """Return the record around the right input of a lateral join."""
    return lateral_record(left.columns, node, outer, forms)


def lateral_record(columns: tuple[int, ...], node: LateralJoin, outer: Record | None, forms: Forms) -> Record:
    """Return the left record of a lateral join as its right input sees it."""
    above = 0 if outer is None else outer.number
    return Record(
        columns=columns,
        names=node.left.names,
        types=node.left.schema.types,
        anchor=node.common.rel_anchor,
        lateral=True,
        outer=outer,
        number=1 + forms.number("record", columns, node.common.rel_anchor, True, above),
    )


def redescribed(
    step: Step, inputs: Sequence[tuple[int, ...]], outer: Record | None, forms: Forms, swap: bool
) -> Description:
    """Return the description of a step over other columns."""
    same = outer is step.outer or (outer and outer.number) == (step.outer and step.outer.number)
    if same and not swap and all(given == item.columns for given, item in zip(inputs, step.inputs, strict=True)):
        return step.description
    return describe(step.relation, inputs, outer, forms, swap=swap)

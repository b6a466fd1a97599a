"""Comparison of whole plans and extended expressions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from pyspark_substrait.analysis.diff.description import Item, Kind, Part, Style
from pyspark_substrait.analysis.diff.difference import Change, Difference, Line, Pair
from pyspark_substrait.analysis.diff.equivalence import Forms
from pyspark_substrait.analysis.diff.item_matching import pairs
from pyspark_substrait.analysis.diff.normalized import Steps
from pyspark_substrait.analysis.diff.pairing import Pairing
from pyspark_substrait.analysis.diff.record import Record, Words
from pyspark_substrait.analysis.diff.result_columns import Result, output_changes
from pyspark_substrait.analysis.diff.tree_diff import TreeDiff
from pyspark_substrait.analysis.diff.value_descriptions import fields, message, schema_columns, single_item_part
from pyspark_substrait.analysis.diff.wording import Wording
from pyspark_substrait.extensions import Registry
from pyspark_substrait.model.expressions import AggregateFunction
from pyspark_substrait.model.findings import Places
from pyspark_substrait.model.plan import (
    ExpressionReference,
    ExtendedExpression,
    Plan,
    RelRoot,
    VariableEvaluationMode,
)
from pyspark_substrait.model.relations import Reference
from pyspark_substrait.model.walk import relations_within

__all__ = ["compared"]


def compared(
    a: Plan | ExtendedExpression,
    b: Plan | ExtendedExpression,
    places: tuple[Places, Places],
    *,
    registry: Registry,
    words: Words,
    called: Callable[[Callable[[], Any]], Any] = lambda function: function(),
) -> Difference:
    """Compare the meaning of two documents.

    Args:
        places: the paths of the nodes of each.
        registry: the extensions that both use.
        words: shows an expression.
        called: calls a function on a large enough stack; used for what is computed later.
    """
    comparing = _Documents(registry, words, places, called)
    match a, b:
        case Plan(), Plan():
            return comparing.plans(a, b)
        case ExtendedExpression(), ExtendedExpression():
            return comparing.extended(a, b)
        case _:
            kinds = ["a plan" if isinstance(item, Plan) else "an extended expression" for item in (a, b)]
            what = f"the first is {kinds[0]}, the second {kinds[1]}"
            change = Change(kind=Kind.PLAN, what=what, before=kinds[0], after=kinds[1])
            return Difference([Line(mark=" ", text="Plan", changes=[change], quiet=True)])


class _Documents:
    def __init__(
        self,
        registry: Registry,
        words: Words,
        places: tuple[Places, Places],
        called: Callable[[Callable[[], Any]], Any],
    ) -> None:
        self.forms = Forms(registry, query=lambda relation, record: self.steps.step(relation, record))
        self.steps = Steps(self.forms)
        self.places = places
        self.called = called
        self.trees = TreeDiff(self.steps, Wording(words), self._path_a, self._path_b)

    def _path_a(self, node: object) -> str:
        return self.places[0].path(node) or ""

    def _path_b(self, node: object) -> str:
        return self.places[1].path(node) or ""

    # plans ------------------------------------------------------------------------------------------------------------

    def plans(self, a: Plan, b: Plan) -> Difference:
        """Compare two plans."""
        lines = [self._settings(a, b)]
        results = self._results(a, b)
        trees = [self._result(left, right) for left, right in results]
        lines += [top for top, _ in trees]
        both = [(left, right) for left, right in results if left is not None and right is not None]
        order = [list(side) for side in zip(*both, strict=True)]
        if order and [item.path for item in order[1]] != sorted((x.path for x in order[1]), key=_natural):
            what = "the results stand in another order"
            lines[0].changes.append(Change(kind=Kind.RESULT, what=what))
        lines[0].changes.extend(self._sharing(a, b))
        return Difference(lines, lambda: self.called(lambda: self._relations(a, b, results, trees)))

    def _relations(
        self,
        a: Plan,
        b: Plan,
        results: list[tuple[Result | None, Result | None]],
        trees: list[tuple[Line, Line | None]],
    ) -> tuple[Pair, ...]:
        """Return the relations of the plans, each with its counterpart, according to the lines."""
        pairing = Pairing(a, b, self.trees)
        for (left, right), (top, tree) in zip(results, trees, strict=True):
            pairing.root(left, right, top)
            if tree is not None:
                pairing.tree(tree)
        return pairing.pairs()

    def _settings(self, a: Plan, b: Plan) -> Line:
        line = Line(mark=" ", text="Plan", quiet=True)
        first, second = self._setting_parts(a), self._setting_parts(b)
        for left, right in zip(first, second, strict=True):
            self.trees.part_diff.parts(left, right, "the plan", ("", ""), line)
        return line

    def _setting_parts(self, plan: Plan) -> list[Part]:
        mode = plan.execution_behavior
        if mode is VariableEvaluationMode.UNSPECIFIED:
            mode = VariableEvaluationMode.PER_PLAN
        record = Record()
        values = tuple(
            Item(
                form=self.forms.of(("bound", item.parameter_anchor), (self.forms.expression(item.value, record),)),
                node=item.value,
                record=record,
                name=str(item.parameter_anchor),
            )
            for item in sorted(plan.parameter_bindings, key=lambda item: item.parameter_anchor)
        )
        return [
            single_item_part("evaluation of context variables", Kind.PLAN, mode.value, self.forms),
            Part("parameter", Kind.PARAMETER, Style.BAG, values),
            self._enhancement(plan),
        ]

    def _enhancement(self, document: Plan | ExtendedExpression) -> Part:
        added = document.advanced_extensions
        if added is None or added.enhancement is None:
            return Part("enhancement", Kind.EXTENSION, Style.ONE, ())
        return message("enhancement", added.enhancement, self.forms)

    def _results(self, a: Plan, b: Plan) -> list[tuple[Result | None, Result | None]]:
        """Pair the results: first those that are the same, then the others in their order."""
        left, right = self._given(a), self._given(b)
        pairs: list[tuple[Result | None, Result | None]] = []
        for item in list(left):
            same = [x for x in right if x.step.form.exact == item.step.form.exact and x.columns() == item.columns()]
            if same:
                pairs.append((item, same[0]))
                left.remove(item)
                right.remove(same[0])
        pairs += [
            (left[at] if at < len(left) else None, right[at] if at < len(right) else None)
            for at in range(max(len(left), len(right)))
        ]
        return sorted(pairs, key=_place)

    def _given(self, plan: Plan) -> list[Result]:
        """Return the trees that give results. A tree without names that others refer to is part of those."""
        used = {id(reference.subtree) for reference in _references(plan)}
        results = []
        for at, tree in enumerate(plan.relations):
            path = f"relations[{at}]"
            if isinstance(tree, RelRoot):
                results.append(Result(self.steps.step(tree.input, None), tree, path))
            elif id(tree) not in used:
                results.append(Result(self.steps.step(tree, None), None, path))
        return results

    def _result(self, a: Result | None, b: Result | None) -> tuple[Line, Line | None]:
        """Return the line of a result, and that of its tree; None where there is no counterpart."""
        if a is None or b is None:
            return self._lone_result(a, b), None
        columns, line = self.trees.compare(a.step, b.step)
        top = Line(mark=" ", text=f"Root {', '.join(b.every)}" if b.root is not None else "Result", below=[line])
        if line.whole:
            top.whole = line.whole + 1
            top.below = []
        changes, top.columns = output_changes(a, b, columns)
        top.changes.extend(changes)
        top.outputs = range(len(a.step.columns)), range(len(columns))
        return top, line

    def _lone_result(self, a: Result | None, b: Result | None) -> Line:
        gone, new = (f"the result {', '.join(x.every)}".rstrip() if x is not None else "" for x in (a, b))
        change = Change(
            kind=Kind.RESULT,
            what=f"{gone} was removed" if a is not None else f"{new} was added",
            before=gone,
            after=new,
            path_a="" if a is None else a.path,
            path_b="" if b is None else b.path,
        )
        return Line(mark="+" if a is None else "-", text=(new or gone).removeprefix("the "), changes=[change])

    def _sharing(self, a: Plan, b: Plan) -> list[Change]:
        """Report whether trees are shared by references in one plan and repeated in the other."""
        shared = [Counter(self.steps.step(x.subtree, None).form.meaning for x in _references(y)) for y in (a, b)]
        if shared[0] == shared[1]:
            return []
        counts = [sum(item.values()) for item in shared]
        what = f"references to shared trees: {counts[0]} in the first plan, {counts[1]} in the second"
        return [Change(kind=Kind.SHARING, what=what, before=str(counts[0]), after=str(counts[1]))]

    # extended expressions ---------------------------------------------------------------------------------------------

    def extended(self, a: ExtendedExpression, b: ExtendedExpression) -> Difference:
        """Compare two extended expressions."""
        line = Line(mark=" ", text="Extended expression", quiet=True)
        part_diff = self.trees.part_diff
        part_diff.parts(self._enhancement(a), self._enhancement(b), "the message", ("", ""), line)
        schemas = [schema_columns(item.base_schema, self.forms) for item in (a, b)]
        first = fields(a.base_schema, schemas[0], self.forms)
        second = fields(b.base_schema, schemas[1], self.forms)
        became = part_diff.parts(first, second, "the base schema", ("base_schema", "base_schema"), line)
        columns = tuple(became.get(column, column) for column in schemas[1])
        left, right = self._referred(a, schemas[0]), self._referred(b, columns)
        part_diff.parts(left, right, "the message", ("referred_expr", "referred_expr"), line)
        before, after = ([item.output_names for item in x.referred_expr] for x in (a, b))
        if len(before) == len(after):
            for at, (was, now) in enumerate(zip(before, after, strict=True)):
                if was != now:
                    texts = [", ".join(names) for names in (was, now)]
                    what = f"the output {texts[0]} of expression {at + 1} is called {texts[1]} now"
                    path = f"referred_expr[{at}]"
                    line.changes.append(
                        Change(kind=Kind.NAMES, what=what, before=texts[0], after=texts[1], path_a=path, path_b=path)
                    )
        return Difference([line], lambda: self.called(lambda: self._expressions(a, b, left, right, line)))

    def _expressions(
        self, a: ExtendedExpression, b: ExtendedExpression, left: Part, right: Part, line: Line
    ) -> tuple[Pair, ...]:
        """Return the expressions and the relations in them, each with its counterpart; ``line`` has the changes."""
        pairing = Pairing(a, b, self.trees)
        over = "base_schema"
        pairing.beside((over, over), [change for change in line.changes if change.path_a == change.path_b == over])
        places = [{id(item): f"referred_expr[{at}]" for at, item in enumerate(part.items)} for part in (left, right)]
        for pair in pairs(left, right, self.trees.forms):
            first, second = (known.get(id(item), "") for known, item in zip(places, pair, strict=True))
            changes = [
                change
                for change in line.changes
                if (first and _within(change.path_a, first)) or (second and _within(change.path_b, second))
            ]
            pairing.beside((first, second), changes)
        pairing.inside([item.expr for item in a.referred_expr], [item.expr for item in b.referred_expr])
        for below in line.below:
            pairing.tree(below)
        return pairing.pairs()

    def _referred(self, document: ExtendedExpression, columns: tuple[int, ...]) -> Part:
        schema = document.base_schema
        record = Record(
            columns=columns,
            names=schema.top_level_names(),
            types=schema.struct.types,
            number=1 + self.forms.number("record", columns, None, 0),
        )

        def item(reference: ExpressionReference) -> Item:
            node = reference.expr
            measure = isinstance(node, AggregateFunction)
            form = self.forms.aggregate(node, record) if measure else self.forms.expression(node, record)  # type: ignore
            return Item(form=form, node=node, record=record)

        items = tuple(map(item, document.referred_expr))
        return Part("expression", Kind.EXPRESSION, Style.ROW, items)


def _within(path: str, place: str) -> bool:
    return path == place or path.startswith(f"{place}.")


def _place(pair: tuple[Result | None, Result | None]) -> tuple[int, str]:
    first, second = pair
    return _natural(first.path if first is not None else second.path if second is not None else "")


def _natural(path: str) -> tuple[int, str]:
    """Return a key that sorts paths by their numbers."""
    return len(path), path


def _references(plan: Plan) -> list[Reference]:
    """Return the references of a plan, each once."""
    return [relation for relation in relations_within(*plan.trees) if isinstance(relation, Reference)]

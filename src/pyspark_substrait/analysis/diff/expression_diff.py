"""The differences between two expressions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyspark_substrait.analysis.diff.equivalence import Forms
from pyspark_substrait.analysis.diff.record import Record
from pyspark_substrait.analysis.diff.wording import Wording
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Measure, Relation, WindowRelFunction
from pyspark_substrait.model.walk import expression_children, subquery_relation

__all__ = ["ExpressionDiff", "Queries", "parts_of"]

#: Two subqueries at the same place in two expressions, with the records around them.
Queries = tuple[Relation, Record, Relation, Record]

_Call = e.ScalarFunction | e.WindowFunction | e.AggregateFunction | WindowRelFunction


class ExpressionDiff:
    """Compares two expressions side by side.

    Args:
        found: the differences, in words.
        queries: the subqueries that differ.
    """

    def __init__(self, forms: Forms, wording: Wording) -> None:
        self.forms = forms
        self.wording = wording
        self.found: list[str] = []
        self.queries: list[Queries] = []

    def compare(self, a: object, left: Record, b: object, right: Record) -> None:
        """Compare two nodes, and add the differences to ``found`` and ``queries``."""
        match a, b:
            case e.SortField(), e.SortField():
                self.compare(a.expr, left, b.expr, right)
                if a.sort_kind != b.sort_kind:
                    self.found.append(f"{_order(a)} became {_order(b)}")
            case Measure(), Measure():
                self.compare(a.measure, left, b.measure, right)
                self._optional(a.filter, left, b.filter, right, "filter")
            case e.AggregateFunction() | WindowRelFunction(), e.AggregateFunction() | WindowRelFunction():
                if a.function.name != b.function.name:
                    self._became(a, left, b, right)
                else:
                    self._call(a, b)
                    self._each(_arguments(a), left, _arguments(b), right, a, b)
            case _ if _is_expression(a) and _is_expression(b):
                self._expression(a, left, b, right)  # type: ignore[arg-type]
            case _:
                pass

    def _expression(self, a: e.Expression, left: Record, b: e.Expression, right: Record) -> None:
        a, b = _plain(a), _plain(b)
        if self.forms.expression(a, left).meaning == self.forms.expression(b, right).meaning:
            return
        first, second = list(expression_children(a)), list(expression_children(b))
        if not self._alike(a, b) or len(first) != len(second):
            self._became(a, left, b, right)
            return
        before = len(self.found) + len(self.queries)
        if isinstance(a, e.ScalarFunction | e.WindowFunction):
            self._call(a, b)  # type: ignore[arg-type]
        elif isinstance(a, e.Cast) and isinstance(b, e.Cast):
            self._cast(a, b)
        query, other = subquery_relation(a), subquery_relation(b)
        if query is not None and other is not None:
            self.queries.append((query, left, other, right))
        self._each(first, left, second, right, a, b)
        if len(self.found) + len(self.queries) == before:
            self._became(a, left, b, right)

    def _alike(self, a: e.Expression, b: e.Expression) -> bool:
        """Whether two expressions are of the same kind, with different operands."""
        match a, b:
            case e.ScalarFunction() | e.WindowFunction(), e.ScalarFunction() | e.WindowFunction():
                return a.__class__ is b.__class__ and a.function.name == b.function.name
            case Literal() | e.FieldReference(), _:
                return False
            case e.SetPredicate(), e.SetPredicate():
                return a.predicate_op is b.predicate_op
            case e.SetComparison(), e.SetComparison():
                return (a.reduction_op, a.comparison_op) == (b.reduction_op, b.comparison_op)
            case e.IfThen(), e.IfThen():
                return len(a.ifs) == len(b.ifs)
            case _:
                return a.__class__ is b.__class__

    def _each(
        self,
        first: Sequence[e.Expression],
        left: Record,
        second: Sequence[e.Expression],
        right: Record,
        a: object,
        b: object,
    ) -> None:
        """Compare operands in their order; for AND and OR, without those that both have."""
        if isinstance(a, e.ScalarFunction) and len(first) == len(second) and _loose(a):
            numbers = [self.forms.expression(item, left).meaning for item in first]
            others = [self.forms.expression(item, right).meaning for item in second]
            second = [item for item, number in zip(second, others, strict=True) if not _use_up(number, numbers)]
            first = [item for item, number in zip(first, numbers, strict=True) if number >= 0]
        if len(first) != len(second):
            self._became(a, left, b, right)
            return
        for item, other in zip(first, second, strict=True):
            self._expression(item, left, other, right)

    def _call(self, a: _Call, b: _Call) -> None:
        if a.function != b.function:
            urns = "" if a.function.urn == b.function.urn else f" of {b.function.urn}"
            self.found.append(f"the function {a.function.key} became {b.function.key}{urns}")
        before, after = dict(_options(a)), dict(_options(b))
        for name in {**before, **after}:
            was, now = before.get(name), after.get(name)
            if was != now:
                self.found.append(
                    f"the option {name} of {a.function.name} is {now or 'not set'}, it was {was or 'not set'}"
                )
        for fact, was, now in _facts(a, b):
            if was != now:
                self.found.append(f"the {fact} of {a.function.name} is {now}, it was {was}")

    def _cast(self, a: e.Cast, b: e.Cast) -> None:
        if self.forms.type(a.type) != self.forms.type(b.type):
            self.found.append(f"the cast to {a.type} became one to {b.type}")
        if a.failure_behavior is not b.failure_behavior:
            self.found.append(
                f"on failure the cast to {b.type} does this: {b.failure_behavior.value}; "
                f"it was: {a.failure_behavior.value}"
            )

    def _optional(self, a: e.Expression | None, left: Record, b: e.Expression | None, right: Record, word: str) -> None:
        if a is not None and b is not None:
            self._expression(a, left, b, right)
        elif a is not None:
            self.found.append(f"the {word} `{self.wording.node(a, left)}` was removed")
        elif b is not None:
            self.found.append(f"the {word} `{self.wording.node(b, right)}` was added")

    def _became(self, a: object, left: Record, b: object, right: Record) -> None:
        before, after = self.wording.node(a, left), self.wording.node(b, right)  # type: ignore[arg-type]
        if before != after:
            self.found.append(f"`{before}` became `{after}`")
            return
        types = [str(getattr(node, "type", "")) for node in (a, b)]
        if types[0] != types[1]:
            self.found.append(f"`{before}` is of type {types[1]}, it was {types[0]}")
        else:
            self.found.append(f"`{before}` is another one than it was")


def _order(sort: e.SortField) -> str:
    kind = sort.sort_kind
    return f"`by {kind.name}`" if isinstance(kind, e.Function) else f"`{kind.value}`"


def _is_expression(node: object) -> bool:
    return hasattr(node, "type")


def _plain(node: e.Expression) -> e.Expression:
    while True:
        match node:
            case e.DetachedExpression(expression=inner):
                node = inner
            case e.NamedLambdaReference(lambda_=named):
                node = named.lambda_
            case _:
                return node


def _arguments(node: e.AggregateFunction | WindowRelFunction) -> list[e.Expression]:
    found = [item for item in node.arguments if not isinstance(item, e.EnumArgument | e.TypeArgument)]
    if isinstance(node, e.AggregateFunction):
        found += [sort.expr for sort in node.sorts]
    return found


def _loose(node: e.ScalarFunction) -> bool:
    return node.function.name in ("and", "or")


def _use_up(number: int, numbers: list[int]) -> bool:
    """Replace a number in a list by -1; return whether the list had it."""
    if number in numbers:
        numbers[numbers.index(number)] = -1
        return True
    return False


def _options(node: _Call) -> Iterator[tuple[str, str]]:
    for option in node.options:
        yield option.name, " or ".join(option.preference)


def _facts(a: _Call, b: _Call) -> Iterator[tuple[str, str, str]]:
    """Return the attributes of two calls besides functions, options and expressions: the name, and both texts."""
    for at, (was, now) in enumerate(zip(a.arguments, b.arguments, strict=False), start=1):
        match was, now:
            case e.EnumArgument(), e.EnumArgument():
                yield f"argument {at}", was.value, now.value
            case e.TypeArgument(), e.TypeArgument():
                yield f"argument {at}", str(was.type), str(now.type)
    stated = any(node.output_type != node.derived_type for node in (a, b))
    if a.function == b.function and stated:
        yield "stated type", str(a.output_type), str(b.output_type)
    if isinstance(a, e.ScalarFunction) or isinstance(b, e.ScalarFunction):
        return
    yield "phase", a.phase.value, b.phase.value
    yield "invocation", a.invocation.value, b.invocation.value
    first, second = getattr(a, "sorts", ()), getattr(b, "sorts", ())
    if len(first) == len(second):
        for was, now in zip(first, second, strict=True):
            yield "order", _order(was), _order(now)
    if not isinstance(a, e.AggregateFunction) and not isinstance(b, e.AggregateFunction):
        yield "bounds type", _bounds_type(a), _bounds_type(b)
        yield "lower bound", _bound(a.lower_bound), _bound(b.lower_bound)
        yield "upper bound", _bound(a.upper_bound), _bound(b.upper_bound)


def _bounds_type(node: e.WindowFunction | WindowRelFunction) -> str:
    return "unset" if node.bounds_type is None else node.bounds_type.value


_BOUNDS = {
    "Preceding": "preceding",
    "Following": "following",
    "CurrentRow": "the current row",
    "Unbounded": "unbounded",
}


def _bound(bound: e.Bound) -> str:
    return _BOUNDS[bound.__class__.__name__]


def parts_of(node: object, record: Record, forms: Forms) -> set[object]:
    """Return the forms of an expression's parts, as a measure of similarity."""
    found: set[object] = set()
    pending: list[object] = [node]
    while pending:
        current = pending.pop()
        match current:
            case e.SortField(expr=expr):
                pending.append(expr)
            case Measure(measure=measure, filter=filter):
                pending.append(measure)
                pending.extend([] if filter is None else [filter])
            case e.AggregateFunction() | WindowRelFunction():
                found.add(current.function.name)
                pending.extend(_arguments(current))
            case _ if _is_expression(current):
                found.add(forms.expression(current, record).meaning)  # type: ignore[arg-type]
                if isinstance(current, e.ScalarFunction | e.WindowFunction):
                    found.add(current.function.name)
                elif subquery_relation(current) is not None:  # type: ignore[arg-type]
                    found.add(current.__class__)
                pending.extend(expression_children(current))  # type: ignore[arg-type]
            case _:
                pass
    return found

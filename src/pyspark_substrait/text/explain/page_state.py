"""The state of a page while it is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

from pyspark_substrait.model.expressions import Expression, Function, FunctionOption, NamedLambda
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.text.explain.columns import Scope, quoted

__all__ = ["Options", "PageState", "Subquery"]

Options: TypeAlias = tuple[FunctionOption, ...]


@dataclass(frozen=True, slots=True)
class Subquery:
    """A subquery that a line names: its number, the expression, its relation, and the scope around it."""

    number: int
    expression: Expression
    relation: Relation
    scope: Scope


@dataclass(frozen=True, slots=True)
class PageState:
    """The subqueries, detached nodes and options met so far on the page.

    Args:
        named_lambdas: the named lambdas of the plan.
        common: the names of the functions whose options the page states once for all of their calls.
        subqueries: the subqueries of the current line that aren't shown yet.
        detached: the numbers of the detached nodes that were shown, by identity.
        calls: the options with which the functions are called, by name.
    """

    named_lambdas: tuple[NamedLambda, ...] = ()
    common: frozenset[str] = frozenset()
    subqueries: list[Subquery] = field(default_factory=list)
    detached: dict[int, int] = field(default_factory=dict)
    subquery_numbers: count[int] = field(default_factory=lambda: count(1))
    calls: dict[str, set[Options]] = field(default_factory=dict)

    def subquery(self, expression: Expression, relation: Relation, scope: Scope) -> str:
        """Number the relation of a subquery and keep it for the page."""
        number = next(self.subquery_numbers)
        self.subqueries.append(Subquery(number, expression, relation, scope))
        return f"subquery #{number}"

    def detach(self, node: object) -> tuple[int, bool]:
        """The number of a detached node, and whether it was shown already."""
        known = id(node) in self.detached
        return self.detached.setdefault(id(node), len(self.detached) + 1), known

    def lambda_name(self, named: NamedLambda) -> str:
        """Return the name of a named lambda in the text."""
        if named.name is not None:
            return f"@{quoted(named.name)}"
        return f"@lambda{self.named_lambdas.index(named) if named in self.named_lambdas else ''}"

    def options(self, function: Function, options: Options) -> Options:
        """Return the options of a call that have to be shown with it."""
        self.calls.setdefault(function.name, set()).add(options)
        return () if function.name in self.common else options

    def uniform(self) -> dict[str, Options]:
        """Return the options of the functions that are called with the same ones everywhere, by function name."""
        alike = {name: next(iter(found)) for name, found in self.calls.items() if len(found) == 1}
        return {name: options for name, options in alike.items() if options}

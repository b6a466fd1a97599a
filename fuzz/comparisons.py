"""Random expressions as most queries have them: columns, comparisons of columns, and few calls of functions.

Relations over these tell more of the others: records meet, and conditions are true of some of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, cast

from fuzz.calls import call_of, signatures
from fuzz.expressions import Expressions, Scope, is_sortable
from fuzz.literals import literal
from pyspark_substrait.model import types as t
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import Type, with_nullability

__all__ = ["Comparisons"]

_COMPARED: Final = ("equal", "equal", "equal", "is_not_distinct_from", "is_distinct_from", "not_equal", "lt", "gte")


class Comparisons(Expressions):
    """A generator of expressions with few calls of functions."""

    def any(self, scope: Scope, depth: int) -> Expression:
        """Return an expression, most often of a type of the record's columns."""
        types = list(scope.struct.types)
        chosen = self.chance.choice(types) if types and self.chance.random() < 0.85 else self.comparable()
        return self.of(with_nullability(chosen, False), scope, depth)

    def of(self, type: Type, scope: Scope, depth: int) -> Expression:
        """Return an expression of a type, required or nullable."""
        if depth <= 0 or self.chance.random() < 0.1:
            return self._leaf(type, scope)
        makers: list[Callable[[Type, Scope, int], Expression | None]] = [self._if]
        if isinstance(type, t.Boolean):
            makers += [*[self._pair] * 5, self._of_null, self._joined, self._joined, self._or_list, self._multi_or_list]
            if scope.queries and self.chance.random() < 0.3:
                makers = [self._in_predicate, self._set_predicate, self._set_predicate, self._set_comparison]
        else:
            makers += [self._leaf_or_none] * 8
            makers += [self._sum] * (2 * isinstance(type, t.I64 | t.I32))
            if scope.queries and self.chance.random() < 0.15:
                makers = [self._scalar_subquery]
        if scope.windows and self.chance.random() < 0.3:
            makers = [self._window]
        made = self.chance.choice(makers)(type, scope, depth)
        return self._leaf(type, scope) if made is None else made

    def _named(self, names: Sequence[str], arguments: Sequence[Expression]) -> Expression | None:
        """Return a call of one of some functions of any signature that takes the arguments."""
        name = self.chance.choice(names)
        types = tuple(with_nullability(one.type, False) for one in arguments)
        known = [one for one in signatures("scalar")[0] if one.definition.name == name and one.arguments == types]
        return cast(Expression, call_of(self.chance.choice(known), list(arguments), {})) if known else None

    def _pair(self, type: Type, scope: Scope, depth: int) -> Expression | None:
        """A comparison of two values, most of them columns."""
        types = [with_nullability(one, False) for one in scope.struct.types if is_sortable(one)]
        over = self.chance.choice(types) if types else self.comparable()
        left = self._leaf(over, scope)
        right = self._leaf(over, scope) if self.chance.random() < 0.8 else literal(over, self.chance)
        if isinstance(left, Literal) and isinstance(right, Literal):
            return None
        return self._named(_COMPARED, (left, right))

    def _of_null(self, type: Type, scope: Scope, depth: int) -> Expression | None:
        types = [with_nullability(one, False) for one in scope.struct.types] or [t.I32()]
        return self._named(("is_null", "is_not_null"), (self._leaf(self.chance.choice(types), scope),))

    def _joined(self, type: Type, scope: Scope, depth: int) -> Expression | None:
        left = self.of(type, scope, depth - 1)
        if self.chance.random() < 0.2:
            return self._named(("not",), (left,))
        return self._named(("and", "and", "or"), (left, self.of(type, scope, depth - 1)))

    def _sum(self, type: Type, scope: Scope, depth: int) -> Expression | None:
        return self._named(("add", "subtract"), (self._leaf(type, scope), literal(type, self.chance, extremes=0.0)))

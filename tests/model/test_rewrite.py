"""Rewriting visits the same expressions as walking, and changes nothing when told to change nothing."""

from __future__ import annotations

from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.rewrite import with_children
from pyspark_substrait.model.walk import expression_children
from tests.samples.expressions import EXPRESSIONS


def test_every_child_is_visited_and_kept() -> None:
    for name, sample in EXPRESSIONS.items():
        seen: list[Expression] = []

        def keep(child: Expression, seen: list[Expression] = seen) -> Expression:
            seen.append(child)
            return child

        assert with_children(sample, keep) == sample, name
        assert seen == list(expression_children(sample)), name

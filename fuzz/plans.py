"""Random plans: ``plan(seed)`` is the same for a seed, today and in every process."""

from __future__ import annotations

import random
from typing import Final

from fuzz.relations import Relations
from fuzz.tables import rooted_names
from pyspark_substrait.documents import Plan
from pyspark_substrait.model.plan import PlanRel, RelRoot, Version
from pyspark_substrait.model.relations import Relation

__all__ = ["OF_RELATIONS", "plan", "rooted"]

OF_RELATIONS: Final = 1_000_000
"""The first seed of plans that are about relations more than about functions."""

_PRODUCER = "fuzz"


def rooted(*trees: Relation) -> Plan:
    """Return a plan of some trees; the last one gives the result, the others are there to be referred to."""
    *shared, last = trees
    root = RelRoot(input=last, names=rooted_names(last.schema))
    relations: tuple[PlanRel, ...] = (*shared, root)
    return Plan(relations=relations, version=Version.current(_PRODUCER))


def plan(seed: int) -> Plan:
    """Return the random plan of a seed, over the tables of :mod:`fuzz.tables`. It is valid, its rows are determined.

    Its records have no order: those of two runs are compared as a bag. From a million on, expressions call few
    functions, and trees are deeper.
    """
    chance = random.Random(f"plan {seed}")
    calls = seed < OF_RELATIONS
    maker = Relations(chance, calls)
    if chance.random() < 0.15:
        maker.shared.append(maker.any(1))
    made = maker.any(chance.choice((1, 2, 2, 3) if calls else (2, 3, 3, 4)))
    return rooted(*maker.shared, made)

"""Plans in which one kind of node stands in itself, or beside itself, any number of times; written as messages.

A maker puts one node after the other without recursion, so it makes plans of any size in proportional time.
"""

from __future__ import annotations

from tests.nesting.nested_expressions import NESTED_EXPRESSIONS
from tests.nesting.nested_relations import NESTED_RELATIONS
from tests.nesting.nested_types import NESTED_TYPES
from tests.nesting.parts import Maker
from tests.nesting.repeated_parts import REPEATED_PARTS
from tests.nesting.whole_plans import REPEATED_IN_PLAN

__all__ = ["MAKERS"]

MAKERS: dict[str, Maker] = {
    **NESTED_RELATIONS,
    **NESTED_EXPRESSIONS,
    **NESTED_TYPES,
    **REPEATED_PARTS,
    **REPEATED_IN_PLAN,
}
"""How a plan grows, by name: the plan of a size as bytes. Twice the size is about twice the message."""

"""Samples of the model: at least one of every node class, every oneof and every field of the protobuf messages.

Each dictionary maps a short name to a sample. ``PLANS`` and ``EXTENDED_EXPRESSIONS`` contain all the others: every
type, literal, expression and relation stands in a plan, in which it is valid.
"""

from __future__ import annotations

from tests.samples.expressions import EXPRESSIONS
from tests.samples.literals import LITERALS
from tests.samples.plans import EXTENDED_EXPRESSIONS, PLANS
from tests.samples.relations import RELATIONS
from tests.samples.types import TYPES

__all__ = ["EXPRESSIONS", "EXTENDED_EXPRESSIONS", "LITERALS", "PLANS", "RELATIONS", "TYPES"]

"""Refusals of relations and expressions that an engine doesn't take, by their fields."""

from __future__ import annotations

from pyspark_substrait.engines.description import Target
from pyspark_substrait.engines.set_groups import BY_GROUPING
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import Cast, Expression, FailureBehavior, FieldReference, OuterReference
from pyspark_substrait.model.relations import Join, Relation, Set

__all__ = ["check"]

_OPTIMIZED = "Make the plan with optimized=True: Spark's optimizer makes joins of such subqueries"


def check(node: Relation | Expression, target: Target) -> None:
    """Refuse what the engine has no form for.

    Raises:
        UnsupportedPlanError: the node can't be written for the engine.
    """
    name = type(node).__name__
    if name in target.lacks:
        query = name in ("SetPredicate", "SetComparison")
        hint = _OPTIMIZED if query else "Make the plan without a target"
        raise UnsupportedPlanError(f"{target.engine} does not take {name} in plans", hint=hint)
    match node:
        case Join(type=kind) if target.joins is not None and kind not in target.joins:
            raise UnsupportedPlanError(f"{target.engine} has no {kind.value} join")
        case Set(op=op) if target.set_operations is not None and op not in (*target.set_operations, *BY_GROUPING):
            if target.multiplicities or not op.value.endswith("all"):
                raise UnsupportedPlanError(f"{target.engine} has no set operation `{op.value}`")
        case Cast(failure_behavior=FailureBehavior.RETURN_NULL) if not target.null_casts:
            raise UnsupportedPlanError(f"{target.engine} has no casts that give null where they fail")
        case FieldReference(root=OuterReference()) if not target.outer_references:
            raise UnsupportedPlanError(f"{target.engine} takes no correlated subqueries", hint=_OPTIMIZED)
        case _:
            pass

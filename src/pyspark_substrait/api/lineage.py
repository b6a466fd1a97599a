"""The lineage of a plan's columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark_substrait.analysis.lineage import Lineage
from pyspark_substrait.analysis.lineage import lineage as found
from pyspark_substrait.api.loading import PlanSource, loaded

if TYPE_CHECKING:
    from pyspark_substrait.extensions.registry import Registry

__all__ = ["lineage"]


def lineage(plan: PlanSource, *, registry: Registry | None = None) -> Lineage:
    """Return which columns of a plan are computed from which: from the tables, through every relation, to the result.

    Printed, it has a line for each column of the result. See :class:`pyspark_substrait.analysis.lineage.Lineage`.

    Args:
        plan: the plan or the extended expression, or anything that :func:`load` takes.
        registry: the extensions; by default those of the specification.

    Raises:
        PlanFormatError: the source isn't a plan, or has fields that no release has.
        InvalidPlanError: the plan contradicts the specification.

    Examples:
        >>> found = substrait.lineage(substrait.samples.plan())
        >>> print(found.text())
        product_name: products.product_name
        product_id: orders.product_id
        sales: orders.quantity, orders.price
    """
    return found(loaded(plan, registry=registry))

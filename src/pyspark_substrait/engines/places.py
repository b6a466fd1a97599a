"""The place of a refusal: the path of the innermost node of the plan in which it was raised."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.findings import Places
from pyspark_substrait.model.relations import Relation

__all__ = ["located"]


@contextmanager
def located(node: Relation | Expression, places: Places | None) -> Iterator[None]:
    """Give a refusal that is raised inside, and has no path so far, the path of a node, if that has one.

    Args:
        node: the node.
        places: the paths of the plan's nodes; None if they aren't known.
    """
    try:
        yield
    except UnsupportedPlanError as error:
        if places is not None and not error.path:
            error.path = places.path(node) or ""
        raise

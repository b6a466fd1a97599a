"""Plans for other engines: what each of them takes, in a description of its own, and plans brought into that form.

The specification is the default; an engine may know a function by another name, want its projections written in one
style, or lack shared subtrees. :mod:`description` says what there is to say of an engine, :mod:`adapting` does it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyspark_substrait.engines.acero import ACERO
from pyspark_substrait.engines.adapting import adapted
from pyspark_substrait.engines.datafusion import DATAFUSION
from pyspark_substrait.engines.description import Target
from pyspark_substrait.engines.duckdb import DUCKDB
from pyspark_substrait.errors import UnsupportedPlanError

__all__ = ["TARGETS", "Target", "adapted", "target"]

TARGETS: Final[Mapping[str, Target]] = {one.name: one for one in (DATAFUSION, ACERO, DUCKDB)}


def target(name: str) -> Target:
    """The description of an engine by its name.

    Raises:
        UnsupportedPlanError: there is none.
    """
    if name not in TARGETS:
        raise UnsupportedPlanError(
            f"there is no target `{name}`", hint=f"There are {', '.join(TARGETS)}; without one a plan is the standard's"
        )
    return TARGETS[name]

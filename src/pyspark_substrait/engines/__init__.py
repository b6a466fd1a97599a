"""Plans for other engines: a description of the form that each engine takes, and the conversion of plans to it.

The specification is the default; an engine may know a function by another name, need its projections in one style, or
lack shared subtrees. :mod:`description` defines the description of an engine, :mod:`adapting` converts plans,
:mod:`dialects` writes them as SQL.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyspark_substrait.engines.acero import ACERO
from pyspark_substrait.engines.adapting import adapted
from pyspark_substrait.engines.datafusion import DATAFUSION
from pyspark_substrait.engines.description import Target
from pyspark_substrait.engines.duckdb import DUCKDB
from pyspark_substrait.engines.file_reads import with_named_files
from pyspark_substrait.engines.isthmus import ISTHMUS
from pyspark_substrait.engines.substrait_spark import SUBSTRAIT_SPARK
from pyspark_substrait.errors import UnsupportedPlanError

__all__ = ["TARGETS", "Target", "adapted", "target", "with_named_files"]

TARGETS: Final[Mapping[str, Target]] = {one.name: one for one in (DATAFUSION, ACERO, DUCKDB, ISTHMUS, SUBSTRAIT_SPARK)}


def target(name: str) -> Target:
    """Return the description of an engine by its name.

    Raises:
        UnsupportedPlanError: there is no such engine.
    """
    if name not in TARGETS:
        raise UnsupportedPlanError(
            f"there is no target `{name}`",
            hint=f"There are {', '.join(TARGETS)}; without a target, the plan keeps to the specification",
        )
    return TARGETS[name]

"""Substrait plans on Apache Spark, from Python.

    >>> import pyspark_substrait as ps
    >>> plan = ps.load("plan.json")                                         # doctest: +SKIP
    >>> print(ps.explain(plan))                                             # doctest: +SKIP
    >>> ps.run_query(plan, tables={"orders": "orders.parquet"})             # doctest: +SKIP

Importing this package imports neither Spark nor protobuf; each verb brings what it needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark_substrait.api.checking import capabilities, dialect, diff, explain, fixed, lint, touches, validate
from pyspark_substrait.api.loading import load
from pyspark_substrait.api.producing import for_target, from_sql, to_substrait, to_substrait_expressions
from pyspark_substrait.api.running import evaluate, evaluate_arrow, from_substrait, run_query, to_sql
from pyspark_substrait.api.showing import lineage, profile, view
from pyspark_substrait.codes import Code, Level
from pyspark_substrait.errors import (
    ExecutionError,
    InvalidPlanError,
    JavaNotFoundError,
    ParameterError,
    PlanFormatError,
    SubstraitError,
    SubstraitWarning,
    TableError,
    UnsupportedPlanError,
)
from pyspark_substrait.model.limits import Limits, limited
from pyspark_substrait.text.notebook_output import register_formatter

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from pyspark_substrait.api.loading import PlanSource as PlanSource
    from pyspark_substrait.extensions.registry import Registry

__all__ = [
    "Code",
    "ExecutionError",
    "InvalidPlanError",
    "JavaNotFoundError",
    "Level",
    "Limits",
    "ParameterError",
    "PlanFormatError",
    "Registry",
    "SubstraitError",
    "SubstraitWarning",
    "TableError",
    "UnsupportedPlanError",
    "capabilities",
    "dialect",
    "diff",
    "evaluate",
    "evaluate_arrow",
    "explain",
    "fixed",
    "for_target",
    "from_sql",
    "from_substrait",
    "limited",
    "lineage",
    "lint",
    "load",
    "profile",
    "run_query",
    "to_sql",
    "to_substrait",
    "to_substrait_expressions",
    "touches",
    "validate",
    "view",
]


register_formatter("pyspark_substrait.notebooks.outputs")


def __getattr__(name: str) -> Any:
    if name == "Registry":  # imported when it is first used, like all that a verb needs
        from pyspark_substrait.extensions.registry import Registry

        return Registry
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell: InteractiveShell) -> None:
    """What ``%load_ext pyspark_substrait`` does in a notebook: the magics ``%substrait`` and ``%%substrait``."""
    from pyspark_substrait.notebooks.magic import register

    register(shell)

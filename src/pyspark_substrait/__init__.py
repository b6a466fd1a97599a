"""Substrait plans on Apache Spark, from Python.

    >>> import pyspark_substrait as ps
    >>> plan = ps.load("plan.json")                                         # doctest: +SKIP
    >>> print(ps.explain(plan))                                             # doctest: +SKIP
    >>> ps.run_query(plan, tables={"orders": "orders.parquet"})             # doctest: +SKIP

Importing this package imports neither Spark nor protobuf: each function is imported, with its dependencies, on first
access.
"""

from __future__ import annotations

import threading
from importlib import import_module
from typing import TYPE_CHECKING, Any

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
    from pyspark_substrait.api.bind import bind
    from pyspark_substrait.api.capabilities import capabilities
    from pyspark_substrait.api.compare import compare
    from pyspark_substrait.api.dialect import dialect
    from pyspark_substrait.api.diff import diff
    from pyspark_substrait.api.explain import explain, touches
    from pyspark_substrait.api.for_target import for_target
    from pyspark_substrait.api.lineage import lineage
    from pyspark_substrait.api.lint import fixed, lint
    from pyspark_substrait.api.loading import PlanSource as PlanSource
    from pyspark_substrait.api.loading import load
    from pyspark_substrait.api.produce import from_sql, to_substrait, to_substrait_expressions
    from pyspark_substrait.api.profile import profile
    from pyspark_substrait.api.run import evaluate, evaluate_arrow, from_substrait, run_query
    from pyspark_substrait.api.to_sql import to_sql
    from pyspark_substrait.api.validate import validate
    from pyspark_substrait.api.view import view
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
    "bind",
    "capabilities",
    "compare",
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

#: the modules of the names that are imported on first access
_MODULES = {
    "Registry": "extensions.registry",
    "bind": "api.bind",
    "capabilities": "api.capabilities",
    "compare": "api.compare",
    "dialect": "api.dialect",
    "diff": "api.diff",
    "evaluate": "api.run",
    "evaluate_arrow": "api.run",
    "explain": "api.explain",
    "fixed": "api.lint",
    "for_target": "api.for_target",
    "from_sql": "api.produce",
    "from_substrait": "api.run",
    "lineage": "api.lineage",
    "lint": "api.lint",
    "load": "api.loading",
    "load_ipython_extension": "notebooks.magic",
    "profile": "api.profile",
    "run_query": "api.run",
    "to_sql": "api.to_sql",
    "to_substrait": "api.produce",
    "to_substrait_expressions": "api.produce",
    "touches": "api.explain",
    "validate": "api.validate",
    "view": "api.view",
}
#: two threads that import modules with circular imports may deadlock; one thread at a time can't
_importing = threading.RLock()


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with _importing:
        value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""Substrait plans on Apache Spark, from Python.

    >>> import pyspark_substrait as substrait
    >>> plan = substrait.load(substrait.samples.plan())
    >>> print(substrait.explain(plan))                                      # doctest: +SKIP
    >>> substrait.run_query(plan, tables=substrait.samples.tables())        # doctest: +SKIP

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
    RunLimitError,
    SubstraitError,
    SubstraitWarning,
    TableError,
    UnsupportedPlanError,
)
from pyspark_substrait.model.limits import Limits, RunLimits, limited
from pyspark_substrait.text.notebook_output import register_formatter

if TYPE_CHECKING:
    from pyspark_substrait import builder as builder
    from pyspark_substrait import samples as samples
    from pyspark_substrait.api.bind import bind
    from pyspark_substrait.api.capabilities import capabilities
    from pyspark_substrait.api.compare import compare
    from pyspark_substrait.api.create_view import create_view
    from pyspark_substrait.api.dialect import dialect
    from pyspark_substrait.api.diff import diff
    from pyspark_substrait.api.explain import explain, touches
    from pyspark_substrait.api.for_target import for_target
    from pyspark_substrait.api.iceberg_view import create_iceberg_view, from_iceberg_view
    from pyspark_substrait.api.lineage import lineage
    from pyspark_substrait.api.lint import fixed, lint
    from pyspark_substrait.api.loading import PlanSource as PlanSource
    from pyspark_substrait.api.loading import load, load_expressions
    from pyspark_substrait.api.produce import from_sql, to_substrait, to_substrait_expressions
    from pyspark_substrait.api.profile import profile
    from pyspark_substrait.api.run import evaluate, evaluate_arrow, from_substrait, run_query
    from pyspark_substrait.api.session import session
    from pyspark_substrait.api.to_sql import to_sql, view_sql
    from pyspark_substrait.api.validate import validate
    from pyspark_substrait.api.view import view
    from pyspark_substrait.conformance.referee import conformance_report
    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.server.serving import serve

    __version__: str

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
    "RunLimitError",
    "RunLimits",
    "SubstraitError",
    "SubstraitWarning",
    "TableError",
    "UnsupportedPlanError",
    "__version__",
    "bind",
    "capabilities",
    "compare",
    "conformance_report",
    "create_iceberg_view",
    "create_view",
    "dialect",
    "diff",
    "evaluate",
    "evaluate_arrow",
    "explain",
    "fixed",
    "for_target",
    "from_iceberg_view",
    "from_sql",
    "from_substrait",
    "limited",
    "lineage",
    "lint",
    "load",
    "load_expressions",
    "profile",
    "run_query",
    "serve",
    "session",
    "to_sql",
    "to_substrait",
    "to_substrait_expressions",
    "touches",
    "validate",
    "view",
    "view_sql",
]


register_formatter("pyspark_substrait.notebooks.outputs")

#: the modules of the names that are imported on first access
_MODULES = {
    "Registry": "extensions.registry",
    "bind": "api.bind",
    "capabilities": "api.capabilities",
    "compare": "api.compare",
    "conformance_report": "conformance.referee",
    "create_iceberg_view": "api.iceberg_view",
    "create_view": "api.create_view",
    "dialect": "api.dialect",
    "diff": "api.diff",
    "evaluate": "api.run",
    "evaluate_arrow": "api.run",
    "explain": "api.explain",
    "fixed": "api.lint",
    "for_target": "api.for_target",
    "from_iceberg_view": "api.iceberg_view",
    "from_sql": "api.produce",
    "from_substrait": "api.run",
    "lineage": "api.lineage",
    "lint": "api.lint",
    "load": "api.loading",
    "load_expressions": "api.loading",
    "load_ipython_extension": "notebooks.magic",
    "profile": "api.profile",
    "run_query": "api.run",
    "serve": "server.serving",
    "session": "api.session",
    "to_sql": "api.to_sql",
    "to_substrait": "api.produce",
    "to_substrait_expressions": "api.produce",
    "touches": "api.explain",
    "validate": "api.validate",
    "view": "api.view",
    "view_sql": "api.to_sql",
}
#: the modules that are public names themselves
_PUBLIC_MODULES = frozenset({"builder", "samples"})
#: two threads that import modules with circular imports may deadlock; one thread at a time can't
_importing = threading.RLock()


def __getattr__(name: str) -> Any:
    with _importing:
        value = _imported(name)
    globals()[name] = value
    return value


def _imported(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("pyspark-substrait")
    if name in _PUBLIC_MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PUBLIC_MODULES})

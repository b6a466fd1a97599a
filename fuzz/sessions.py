"""The engines and the Spark session of the fuzzers."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from fuzz.trials import Engines

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["engines", "session"]


def engines(start: Callable[[], SparkSession]) -> Engines:
    """Return the engines, with the reference evaluator if the tests have one."""
    try:
        reference = importlib.import_module("tests.reference")
    except ImportError:
        return Engines(start)
    return Engines(start, reference.evaluate, (reference.NotCovered, reference.Undetermined), reference.Failure)


def session() -> SparkSession:
    """Return the session that the package starts, with one task at a time."""
    from pyspark_substrait.spark.session_start import embedded_session
    from tests.conftest import QUICK_SETTINGS

    return embedded_session("local[1]", None, **QUICK_SETTINGS)

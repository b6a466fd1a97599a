"""The settings of the Spark session that this package starts."""

from __future__ import annotations

import os
import re

from pyspark_substrait.spark.session import PLAN_SETTINGS

__all__ = ["DEEP_STACK", "JAVA_OPTIONS", "embedded_settings"]

_QUIET = {
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.catalogImplementation": "in-memory",
    # Spark's parser caches its states without limit, some kilobytes each: after thousands of different statements, the
    # memory is full. And without a UI, old executions needn't be retained.
    "spark.sql.parser.manageParserCaches": "true",
    "spark.sql.parser.parserDfaCacheFlushThreshold": "20000",
    "spark.sql.ui.retainedExecutions": "100",
    "spark.ui.retainedJobs": "100",
    "spark.ui.retainedStages": "100",
}

_FEWEST_PARTITIONS = 4
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
"""The setting with the options of the driver's Java."""

DEEP_STACK = "-Xss16m"
"""The option of Java for a stack that suits deeply nested plans."""

# Java's optimizing compiler takes most of the CPU time of a short run, for code not used again.
_QUICK_COMPILER = "-XX:TieredStopAtLevel=1"


def embedded_settings(master: str, *, brief: bool) -> dict[str, str]:
    """Return the settings of the session that :func:`embedded_session` or :func:`brief_session` starts."""
    return {
        "spark.app.name": "pyspark-substrait",
        **_QUIET,
        **(_local_settings(master, brief) if master.startswith("local") else {}),
        **PLAN_SETTINGS,
        "spark.master": master,
    }


def _local_settings(master: str, brief: bool) -> dict[str, str]:
    """Return the additional settings of a local session: few partitions, and no ports open to the network."""
    stated = re.match(r"local\[(\d+)", master)
    cores = int(stated[1]) if stated else (os.cpu_count() or 1) if "*" in master else 1
    return {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": str(max(_FEWEST_PARTITIONS, 2 * cores)),
        JAVA_OPTIONS: f"{DEEP_STACK} {_QUICK_COMPILER}" if brief else DEEP_STACK,
    }

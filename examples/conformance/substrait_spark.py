"""substrait-spark (substrait-java) as an engine that ``pyspark-substrait conformance`` tries.

``python substrait_spark.py JARS`` runs in an environment with this package and the Spark that the jars are made for.
JARS are spark40_2.13 and core of io.substrait with what they depend on, joined by colons::

    pyspark-substrait conformance --persistent --engine "python substrait_spark.py $JARS" --label substrait-spark
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from pyspark_substrait import for_target
from pyspark_substrait.conformance.adapters import Tables
from pyspark_substrait.conformance.worker import answer


class SubstraitSpark:
    """Plans as Spark's own operators, made by substrait-spark."""

    def __init__(self, jars: str) -> None:
        named = re.search(r"spark\d+_[\d.]+-([^/:]+)\.jar", jars)
        self._release = named[1] if named else ""
        settings = {
            "spark.driver.extraClassPath": jars,
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.shuffle.partitions": 2,
            "spark.ui.enabled": False,
        }
        self._session = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
        self._java: Any = self._session._jvm
        extensions = self._java.io.substrait.spark.SparkExtension.COLLECTION()
        self._reader = self._java.io.substrait.plan.ProtoPlanConverter(extensions)

    @property
    def version(self) -> str:
        return f"{self._release} (Spark {self._session.version})"

    def load(self, plan: bytes, tables: Tables, *, convert: bool) -> Callable[[], pa.Table]:
        given = for_target(plan, "substrait-spark").to_bytes() if convert else plan
        message = self._java.io.substrait.proto.Plan.parseFrom(given)
        read = getattr(self._reader, "from")(message)
        session: Any = self._session._jsparkSession
        logical = self._java.io.substrait.spark.logical.ToLogicalPlan(session).convert(read)
        frame = DataFrame(self._java.org.apache.spark.sql.classic.Dataset.ofRows(session, logical), self._session)
        return frame.toArrow


if __name__ == "__main__":
    answer(lambda: SubstraitSpark(sys.argv[1]))

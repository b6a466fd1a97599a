"""Runs in the environment: a Spark session with Delta and Iceberg that carries out plans and SQL, a line of JSON each.

``python -m tests.integration.server JAR,JAR,… WAREHOUSE``, with this package on the path.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from typing import Any

import pyarrow as pa

import pyspark_substrait as ps
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.spark.session import embedded_session

DELTA = "io.delta.sql.DeltaSparkSessionExtension"
ICEBERG = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"


def settings(jars: str, warehouse: str) -> dict[str, Any]:
    """Spark's own catalog has Delta tables, the catalog ``ice`` Iceberg tables."""
    return {
        "spark.jars": jars,
        "spark.sql.shuffle.partitions": 2,
        "spark.sql.extensions": f"{DELTA},{ICEBERG}",
        "spark.sql.warehouse.dir": f"{warehouse}/delta",
        "spark.sql.sources.default": "delta",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": f"{warehouse}/iceberg",
        # what a Delta table needs to have columns renamed, dropped, widened, and with defaults
        "spark.databricks.delta.properties.defaults.columnMapping.mode": "name",
        "spark.databricks.delta.properties.defaults.enableTypeWidening": "true",
        "spark.databricks.delta.properties.defaults.feature.allowColumnDefaults": "supported",
        # the tables are tiny: code for them isn't worth compiling
        "spark.databricks.delta.snapshotPartitions": 2,
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.codegen.wholeStage": False,
        "spark.driver.extraJavaOptions": "-Xss16m -XX:TieredStopAtLevel=1",
        "spark.driver.memory": "1g",
    }


def answer(spark: Any, asked: dict[str, Any]) -> dict[str, Any]:
    """The records of a plan or a statement, or the error."""
    try:
        if "sql" in asked:
            found = spark.sql(asked["sql"]).toArrow()
        else:
            plan = base64.b64decode(asked["plan"])
            found = ps.run_query(plan, spark=spark, allowed_paths=asked["allowed_paths"])
    except SubstraitError as error:
        return {"kind": type(error).__name__, "error": str(error)}
    except Exception as error:
        return {"kind": "", "error": f"{type(error).__name__}: {error}"}
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, found.schema) as writer:
        writer.write_table(found)
    return {"table": base64.b64encode(sink.getvalue()).decode()}


def main(jars: str, warehouse: str) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what others print doesn't come between
    spark = embedded_session("local[2]", **settings(jars, warehouse))
    for line in sys.stdin:
        print(json.dumps(answer(spark, json.loads(line))), file=answers, flush=True)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])

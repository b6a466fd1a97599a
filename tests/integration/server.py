"""Runs in the environment of a Spark: a session that carries out plans and SQL, a line of JSON each.

``python -m tests.integration.server SETTINGS``, with this package on the path; the settings are JSON.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from pyiceberg.catalog import load_catalog

import pyspark_substrait as ps
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.spark.arrow_transfer import collected
from pyspark_substrait.spark.session_start import embedded_session

#: the tables are tiny: code for them isn't worth compiling
_QUICK: Mapping[str, Any] = {
    "spark.sql.shuffle.partitions": 1,
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": False,
    "spark.driver.extraJavaOptions": "-Xss16m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.memory": "1g",
}


def answer(spark: Any, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The records of a plan or a statement, the plan that Spark executed, or the error."""
    try:
        if "sql" in asked:
            found = collected(spark.sql(asked["sql"]))
        elif "set" in asked:
            spark.conf.set(*asked["set"])
            return {}
        elif "view" in asked:
            view = load_catalog("views", type="rest", uri=asked["uri"]).load_view(asked["view"])
            return {"plan": base64.b64encode(ps.from_iceberg_view(view, spark).to_bytes()).decode()}
        elif "statement" in asked:
            return {"plan": base64.b64encode(ps.from_sql(asked["statement"], spark).to_bytes()).decode()}
        elif "produced" in asked:
            made = ps.to_substrait(spark.sql(asked["produced"]), optimized=asked["optimized"])
            return {"plan": base64.b64encode(made.to_bytes()).decode()}
        elif "executed" in asked:
            return {"executed": _executed(spark, base64.b64decode(asked["executed"]))}
        else:
            plan = base64.b64decode(asked["plan"])
            more = {"allowed_paths": asked["allowed_paths"], "tables": asked["tables"]}
            found = ps.run_query(plan, spark=spark, **more)
    except SubstraitError as error:
        return {"kind": type(error).__name__, "error": str(error)}
    except Exception as error:
        return {"kind": "", "error": f"{type(error).__name__}: {error}"}
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, found.schema) as writer:
        writer.write_table(found)
    return {"table": base64.b64encode(sink.getvalue()).decode()}


def _executed(spark: Any, plan: bytes) -> str:
    """The physical plan after it ran; a line of the metrics of each of its leaves stands behind it."""
    frame = ps.from_substrait(plan, spark=spark)
    frame.collect()
    executed = frame._jdf.queryExecution().executedPlan()
    lines = [executed.toString()]
    leaves = executed.collectLeaves()
    for place in range(leaves.size()):
        found = leaves.apply(place)
        if found.getClass().getSimpleName() == "AdaptiveSparkPlanExec":
            found = found.executedPlan()
        metrics = found.metrics().iterator()
        while metrics.hasNext():
            metric = metrics.next()
            lines.append(f"{metric._1()}={metric._2().value()}")
    return "\n".join(lines)


def main(settings: str) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what others print doesn't come between
    spark = embedded_session("local[1]", **{**_QUICK, **json.loads(settings)})
    print(json.dumps({"ready": spark.version}), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(spark, json.loads(line))), file=answers, flush=True)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])

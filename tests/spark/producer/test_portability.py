"""``plan.portability`` lists what only Spark has, and ``portable=True`` refuses it where the query has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F

import pyspark_substrait as ps
from pyspark_substrait.documents import ExtendedExpression, Plan
from pyspark_substrait.errors import UnsupportedPlanError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OWN = "extension:pyspark_substrait:functions_spark"


@pytest.fixture(autouse=True, scope="module")
def view(spark: SparkSession) -> None:
    spark.sql("SELECT id, CAST(id AS STRING) AS s, array(id) AS a FROM range(5)").createOrReplaceTempView("portable_t")


def places(document: Plan | ExtendedExpression) -> list[tuple[str, str, str]]:
    return [(use.kind, use.name, use.path) for use in document.portability]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id + 1, upper(s) FROM portable_t WHERE id > 2 ORDER BY id LIMIT 3",
        "SELECT s, count(*), sum(id), min(id) FROM portable_t GROUP BY s",
        "SELECT a.id, b.s FROM portable_t a JOIN portable_t b ON a.id = b.id",
        "SELECT row_number() OVER (PARTITION BY s ORDER BY id) FROM portable_t",
        "SELECT * FROM portable_t WHERE id IN (SELECT max(id) FROM portable_t)",
    ],
)
def test_a_standard_plan_has_no_uses(spark: SparkSession, query: str) -> None:
    plan = ps.to_substrait(spark.sql(query), portable=True)
    assert plan.portability == ()
    assert ps.from_sql(query, spark, portable=True) == ps.from_sql(query, spark)


@pytest.mark.parametrize(
    ("query", "name", "path"),
    [
        ("SELECT md5(CAST(s AS BINARY)) FROM portable_t", "md5:vbin", "project.expressions[0].scalar_function"),
        (
            "SELECT id FROM portable_t WHERE hash(id) > 0",
            "hash:any",
            "filter.condition.scalar_function.arguments[0].value.scalar_function",
        ),
        ("SELECT collect_list(s) FROM portable_t", "collect_list:any", "aggregate.measures[0].measure"),
        (
            "SELECT kurtosis(id) OVER (PARTITION BY s) FROM portable_t",
            "kurtosis:fp64",
            "project.expressions[0].window_function",
        ),
    ],
)
def test_a_use_has_its_name_and_its_place(spark: SparkSession, query: str, name: str, path: str) -> None:
    made = ps.to_substrait(spark.sql(query))
    loaded = ps.load(made.to_bytes())
    for document in (made, loaded):
        (use,) = document.portability
        assert (use.kind, use.name) == ("function", name)
        assert use.urn.startswith(OWN)
        assert use.path.startswith("relations[0].root.input.") and use.path.endswith(path)
        assert use.text.startswith(name.partition(":")[0] + "(")
        assert use.name in str(use) and use.path in str(use)


def test_every_place_is_listed(spark: SparkSession) -> None:
    plan = ps.to_substrait(
        spark.sql("SELECT md5(CAST(md5(CAST(s AS BINARY)) AS BINARY)), crc32(X'01') FROM portable_t")
    )
    assert [use.name for use in plan.portability] == ["md5:vbin", "md5:vbin", "crc32:vbin"]


def test_inside_subqueries_and_relations_of_our_own(spark: SparkSession) -> None:
    inside = ps.to_substrait(spark.sql("SELECT * FROM portable_t WHERE id IN (SELECT hash(id) FROM portable_t)"))
    assert {use.name for use in inside.portability} == {"hash:any"}
    assert all("subquery" in use.path for use in inside.portability)
    exploded = ps.to_substrait(spark.sql("SELECT explode(a) FROM portable_t"))
    assert "message" in {use.kind for use in exploded.portability}


def test_functions_of_users_count(spark: SparkSession) -> None:
    yaml = """%YAML 1.2
---
urn: extension:org.example:words
scalar_functions:
  - name: shout
    impls:
      - args: [{name: text, value: string}]
        return: string
"""
    registry = ps.Registry.default().with_yaml(yaml)
    plan = ps.load(
        {
            "extensionUrns": [{"extensionUrnAnchor": 1, "urn": "extension:org.example:words"}],
            "extensions": [
                {"extensionFunction": {"extensionUrnReference": 1, "functionAnchor": 0, "name": "shout:str"}}
            ],
            "relations": [
                {
                    "root": {
                        "names": ["x"],
                        "input": {
                            "project": {
                                "common": {"emit": {"outputMapping": [1]}},
                                "input": {
                                    "read": {
                                        "baseSchema": {
                                            "names": ["s"],
                                            "struct": {
                                                "nullability": "NULLABILITY_REQUIRED",
                                                "types": [{"string": {"nullability": "NULLABILITY_REQUIRED"}}],
                                            },
                                        },
                                        "namedTable": {"names": ["t"]},
                                    }
                                },
                                "expressions": [
                                    {
                                        "scalarFunction": {
                                            "functionReference": 0,
                                            "outputType": {"string": {"nullability": "NULLABILITY_REQUIRED"}},
                                            "arguments": [
                                                {
                                                    "value": {
                                                        "selection": {
                                                            "directReference": {"structField": {"field": 0}},
                                                            "rootReference": {},
                                                        }
                                                    }
                                                }
                                            ],
                                        }
                                    }
                                ],
                            }
                        },
                    }
                }
            ],
        },
        registry=registry,
    )
    (use,) = plan.portability
    assert (use.kind, use.name, use.urn) == ("function", "shout:str", "extension:org.example:words")
    assert use.text == "shout($0)"


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("SELECT id,\n  md5(CAST(s AS BINARY)) FROM portable_t", "(line 2:3, `md5(CAST(s AS BINARY))`)"),
        ("SELECT id FROM portable_t WHERE hash(id) > 0", "(line 1:33, `hash(id)`)"),
        ("SELECT id, collect_set(s) AS x FROM portable_t GROUP BY id", "(line 1:12, `collect_set(s)`)"),
        ("SELECT skewness(id) OVER (ORDER BY s) FROM portable_t", "(line 1:8, `skewness(id) OVER (ORDER BY s)`)"),
        ("SELECT explode(a) FROM portable_t", "(line 1:"),
        ("SELECT * FROM portable_t t WHERE EXISTS (SELECT 1 FROM range(3) WHERE hash(id) = t.id)", "`hash(id)`)"),
    ],
)
def test_portable_names_the_place_in_the_query(spark: SparkSession, query: str, place: str) -> None:
    with pytest.raises(UnsupportedPlanError) as caught:
        ps.to_substrait(spark.sql(query), portable=True)
    assert place in str(caught.value)
    with pytest.raises(UnsupportedPlanError) as caught:
        ps.from_sql(query, spark, portable=True)
    assert place in str(caught.value)


def test_portable_names_the_expression_of_a_dataframe(spark: SparkSession) -> None:
    frame = spark.table("portable_t").select(F.crc32(F.col("s").cast("binary")) + 1)
    with pytest.raises(UnsupportedPlanError, match=r"`crc32\(CAST\(.*s AS BINARY\)\)`.* is not portable"):
        ps.to_substrait(frame, portable=True)


def test_portable_expressions(spark: SparkSession) -> None:
    with pytest.raises(UnsupportedPlanError, match="not portable"):
        ps.to_substrait_expressions("a STRING", [F.md5(F.col("a").cast("binary"))], spark=spark, portable=True)
    document = ps.to_substrait_expressions("a STRING", [F.md5(F.col("a").cast("binary"))], spark=spark)
    assert places(document) == [("function", "md5:vbin", "referred_expr[0].expression.scalar_function")]


def _twice(value: Any) -> Any:
    return value


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda t: t.select(F.udf(_twice, "long")("id")), r"`_twice\(id\)`.*Python function.*Spark's own functions"),
        (lambda t: t.mapInPandas(_twice, "id long"), "mapInPandas"),
        (lambda t: t.mapInArrow(_twice, "id long"), "mapInArrow"),
        (lambda t: t.groupBy("id").applyInPandas(_twice, "id long"), "applyInPandas"),
        (lambda t: t.groupBy("id").cogroup(t.groupBy("id")).applyInPandas(lambda a, b: a, "id long"), "cogroup"),
        (lambda t: t.sparkSession.sql("SHOW TABLES"), "SHOW TABLES"),
        (lambda t: t.sparkSession.sql("DESCRIBE TABLE portable_t"), "DESCRIBE TABLE"),
        (lambda t: t.sparkSession.readStream.format("rate").load(), "stream"),
    ],
)
def test_what_cannot_go_out_is_named_as_the_user_wrote_it(spark: SparkSession, made: Any, words: str) -> None:
    with pytest.raises(UnsupportedPlanError, match=words):
        ps.to_substrait(made(spark.table("portable_t")))

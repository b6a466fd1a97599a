"""A plan can't make Spark's driver compute huge values while it plans; values of usual sizes are what they were."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import pyspark_substrait as ps
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.relations import Read
from tests.spark.plans import INT, LONG, TEXT, call, col, lit, long, number, plan, project, text, values

STRINGS = "extension:pyspark_substrait:functions_spark_string"
LISTS = "extension:pyspark_substrait:functions_spark_collection"


def table() -> Read:
    return values([TEXT, LONG, INT], [("ab", 3, 5), ("", 2**31 - 1, -1)])


def computed(*expressions: Expression) -> bytes:
    return plan(project(table(), *expressions)).to_bytes()


def test_usual_sizes_are_exact(spark: SparkSession) -> None:
    """Worked out by hand."""
    read = table()
    made = ps.run_query(
        computed(
            call("repeat", col(read, 0), col(read, 1)),
            call("repeat", text("xy"), long(3)),
            call("repeat", lit(TEXT.__class__(nullable=True), None), long(70_000_000)),
            call("lpad", col(read, 0), col(read, 2), text("-")),
            call("rpad", col(read, 0), number(4), text("-")),
            call("center", col(read, 0), number(6), text("*")),
            call("space", number(3), urn=STRINGS),
            call("repeat", text("z"), number(2), urn=LISTS),
            call("sequence", number(3), number(1), urn=LISTS),
        ),
        spark=spark,
    )
    assert [tuple(row.values())[-9:] for row in made.to_pylist()] == [
        ("ababab", "xyxyxy", None, "---ab", "ab--", "**ab**", "   ", ["z", "z"], [3, 2, 1]),
        ("", "xyxyxy", None, "", "----", "******", "   ", ["z", "z"], [3, 2, 1]),
    ]


def test_the_bound_itself_is_reached(spark: SparkSession) -> None:
    most = 64 * 1024 * 1024
    length = call("char_length", call("repeat", text("abcd"), long(most // 4)))
    assert ps.run_query(computed(length), spark=spark).column(0).to_pylist() == [most, most]


def nested() -> Expression:
    made: Expression = text("abcdefgh")
    for _ in range(6):
        made = call("repeat", made, long(1_000))
    return made


@pytest.mark.parametrize(
    "made",
    [
        lambda read: call("repeat", text("x"), long(2**31 - 1)),
        lambda read: call("repeat", col(read, 0), call("add", col(read, 1), long(2**31 - 100))),
        lambda read: nested(),
        lambda read: call("lpad", text("x"), call("add", col(read, 2), number(2**31 - 100)), text("-")),
        lambda read: call("space", call("add", number(2**30), number(5)), urn=STRINGS),
        lambda read: call("repeat", text("x"), call("add", number(2**30), number(5)), urn=LISTS),
        lambda read: call("sequence", long(0), long(2**40), urn=LISTS),
    ],
)
def test_what_is_computed_is_bounded(made: object, spark: SparkSession) -> None:
    content = computed(made(table()))  # type: ignore[operator]
    with pytest.raises(ps.ExecutionError, match=r"more than [0-9,]+ (bytes|characters|elements)"):
        ps.run_query(content, spark=spark)


@pytest.mark.parametrize(
    "made",
    [
        call("lpad", text("x"), number(2**31 - 1), text("-")),
        call("rpad", text("x"), number(2**31 - 1), text("-")),
        call("center", text("x"), number(2**31 - 1), text("-")),
        call("space", number(2**31 - 1), urn=STRINGS),
        call("repeat", text("x"), number(2**31 - 1), urn=LISTS),
        call("format_string", text("%2000000000d"), number(1), urn=STRINGS),
        call("format_string", text("%1$2000000000d"), number(1), urn=STRINGS),
        call("format_string", text("%1.2000000000s"), text("x"), urn=STRINGS),
        call("format_string", text(f"%{'9' * 5_000}d"), number(1), urn=STRINGS),
    ],
)
def test_literals_are_refused_beforehand(made: Expression) -> None:
    content = computed(made)
    with pytest.raises(ps.UnsupportedPlanError, match=r"more than [0-9,]+"):
        ps.to_sql(content)
    assert not ps.validate(content, "spark").ok

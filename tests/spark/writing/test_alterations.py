"""What makes the columns of a table those that are asked for, as statements; needs no session."""

from __future__ import annotations

import pytest
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.spark.writing.alterations import alterations, statement, value

INT, LONG, TEXT = IntegerType(), LongType(), StringType()


def struct(**fields: DataType | tuple[DataType, bool]) -> StructType:
    """Fields by name: a type, or a type and whether it must not be null."""
    made = []
    for name, field in fields.items():
        type, required = field if isinstance(field, tuple) else (field, False)
        made.append(StructField(name, type, not required))
    return StructType(made)


def statements(old: StructType, new: StructType, *, case_sensitive: bool = False) -> list[str]:
    found = alterations(old, new, str if case_sensitive else str.lower)
    return [statement("t", change, "7").removeprefix("ALTER TABLE t ") for change in found]


A = struct(a=INT, b=TEXT, c=INT)
CASES: list[tuple[StructType, StructType, list[str]]] = [
    (A, A, []),
    (A, struct(a=INT, b=TEXT), ["DROP COLUMN `c`"]),
    (A, struct(a=INT, b=TEXT, c=INT, d=INT), ["ADD COLUMNS (`d` INT DEFAULT 7)"]),
    (A, struct(a=INT, b=TEXT, c=INT, d=(INT, True)), ["ADD COLUMNS (`d` INT NOT NULL DEFAULT 7)"]),
    (A, struct(x=INT, b=TEXT, y=INT), ["RENAME COLUMN `a` TO `x`", "RENAME COLUMN `c` TO `y`"]),
    # another type, or another position: no rename
    (
        A,
        struct(x=LONG, b=TEXT, c=INT),
        ["DROP COLUMN `a`", "ADD COLUMNS (`x` BIGINT DEFAULT 7)", "ALTER COLUMN `x` FIRST"],
    ),
    (A, struct(b=TEXT, c=INT, x=INT), ["DROP COLUMN `a`", "ADD COLUMNS (`x` INT DEFAULT 7)"]),
    (A, struct(c=INT, a=INT, b=TEXT), ["ALTER COLUMN `c` FIRST"]),
    (A, struct(a=INT, c=INT, b=TEXT), ["ALTER COLUMN `c` AFTER `a`"]),
    (A, struct(a=(LONG, True), b=TEXT, c=INT), ["ALTER COLUMN `a` TYPE BIGINT", "ALTER COLUMN `a` SET NOT NULL"]),
    (struct(a=(INT, True)), struct(a=INT), ["ALTER COLUMN `a` DROP NOT NULL"]),
    (A, struct(A=INT, b=TEXT, c=INT), ["RENAME COLUMN `a` TO `A`"]),
    (
        struct(s=struct(x=INT, y=TEXT), l=ArrayType(struct(x=INT)), m=MapType(TEXT, FloatType())),
        struct(s=struct(x=LONG, z=TEXT, n=INT), l=ArrayType(struct(x=LONG)), m=MapType(TEXT, DoubleType())),
        [
            "ALTER COLUMN `s`.`x` TYPE BIGINT",
            "RENAME COLUMN `s`.`y` TO `z`",
            "ADD COLUMNS (`s`.`n` INT DEFAULT 7)",
            "ALTER COLUMN `l`.`element`.`x` TYPE BIGINT",
            "ALTER COLUMN `m`.`value` TYPE DOUBLE",
        ],
    ),
    (
        struct(**{"a`b": INT}),
        struct(**{"x; --": struct(**{"`": (INT, True)})}),
        ["DROP COLUMN `a``b`", "ADD COLUMNS (`x; --` STRUCT<````: INT NOT NULL> DEFAULT 7)"],
    ),
]


@pytest.mark.parametrize(("old", "new", "expected"), CASES)
def test_statements(old: StructType, new: StructType, expected: list[str]) -> None:
    assert statements(old, new) == expected


def test_names_that_differ_in_case_only() -> None:
    old, new = struct(a=INT, b=TEXT), struct(b=TEXT, A=LONG)
    assert statements(old, new) == [
        "RENAME COLUMN `a` TO `A`",
        "ALTER COLUMN `A` TYPE BIGINT",
        "ALTER COLUMN `b` FIRST",
    ]
    assert statements(old, new, case_sensitive=True) == ["DROP COLUMN `a`", "ADD COLUMNS (`A` BIGINT DEFAULT 7)"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (LONG, INT),
        (LONG, DoubleType()),
        (DoubleType(), FloatType()),
        (TEXT, INT),
        (INT, DecimalType(9, 0)),
        (DecimalType(5, 2), DecimalType(6, 4)),
        (INT, ArrayType(INT)),
        (struct(x=LONG), struct(x=INT)),
    ],
)
def test_types_that_lose_something(old: DataType, new: DataType) -> None:
    with pytest.raises(UnsupportedPlanError, match="which cannot become a"):
        list(alterations(struct(a=old), struct(a=new), str))


def test_values_are_taken_over_by_name() -> None:
    old, new = struct(x=INT, y=TEXT), struct(y=TEXT, x=LONG)
    assert value("`s`", old, old, str) == "`s`"
    assert (
        value("`s`", old, new, str) == "if(`s` IS NULL, NULL, struct(`s`.`y` AS `y`, CAST(`s`.`x` AS BIGINT) AS `x`))"
    )
    assert value("`l`", ArrayType(INT), ArrayType(LONG), str) == "transform(`l`, v1 -> CAST(v1 AS BIGINT))"

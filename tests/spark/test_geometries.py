"""Geometries: what their cases can't say, as circles, and how they get in and out."""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
import shapely

from pyspark_substrait.errors import ExecutionError
from pyspark_substrait.model.types import Binary, UserDefined, with_nullability
from tests.spark import plans

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GEOMETRY = UserDefined(urn="extension:io.substrait:functions_geometry", name="geometry", structure=Binary())
STORED = plans.stored("shapes", {"shape": with_nullability(GEOMETRY, True), "radius": plans.REAL})
SHAPE, RADIUS = plans.col(STORED, 0), plans.col(STORED, 1)


def point(x: float, y: float) -> bytes:
    """A point as well-known binary, most significant byte first."""
    return b"\x00" + struct.pack(">idd", 1, x, y)


def shapes(*items: bytes | None, radius: float = 2.0) -> pa.Table:
    schema = pa.schema([pa.field("shape", pa.binary()), pa.field("radius", pa.float64(), nullable=False)])
    return pa.table({"shape": list(items), "radius": [radius] * len(items)}, schema=schema)


def test_a_buffer_is_a_circle_of_32_corners(spark: SparkSession) -> None:
    relation = plans.project(STORED, plans.call("buffer", SHAPE, RADIUS))
    ((found,), nothing) = plans.rows(spark, relation, tables={"shapes": shapes(point(1, 1), None)})
    circle = shapely.from_wkb(found)
    assert shapely.area(circle) == pytest.approx(32 / 2 * 2.0**2 * math.sin(2 * math.pi / 32))
    assert all(math.dist(corner, (1, 1)) == pytest.approx(2) for corner in shapely.get_coordinates(circle))
    assert nothing == (None,)


def test_the_smallest_circle_touches_both_points(spark: SparkSession) -> None:
    both = shapely.to_wkb(shapely.from_wkt("MULTIPOINT ((0 0), (6 8))"))
    relation = plans.project(STORED, plans.call("minimum_bounding_circle", SHAPE))
    ((found,),) = plans.rows(spark, relation, tables={"shapes": shapes(both)})
    assert all(
        math.dist(corner, (3, 4)) == pytest.approx(5) for corner in shapely.get_coordinates(shapely.from_wkb(found))
    )


def test_geometries_of_a_table_filter_and_aggregate(spark: SparkSession) -> None:
    table = shapes(*(point(x, -x) for x in range(1000)), None)
    right = plans.where(STORED, plans.call("gt", plans.call("x_coordinate", SHAPE), plans.lit(plans.REAL, 989.5)))
    total = plans.aggregate("sum", plans.call("y_coordinate", plans.col(right, 0)))
    assert plans.rows(spark, plans.group(right, [], [total]), tables={"shapes": table}) == [(-sum(range(990, 1000)),)]


def test_what_is_no_geometry_is_told(spark: SparkSession) -> None:
    relation = plans.project(STORED, plans.call("is_empty", SHAPE))
    with pytest.raises(ExecutionError, match="a geometry is not well-known binary"):
        plans.run(spark, relation, tables={"shapes": shapes(b"no shape")})

"""The functions of ``functions_geometry.yaml`` in Python, on arrays of geometries.

A geometry is passed as well-known binary. These functions run on Spark's executors, which need ``shapely`` but not this
package: the module is sent there as a whole, so it imports nothing from the package. A null argument makes the result
null.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "buffer",
    "centroid",
    "collection_extract",
    "dimension",
    "envelope",
    "flip_coordinates",
    "geometry_type",
    "is_closed",
    "is_empty",
    "is_ring",
    "is_simple",
    "is_valid",
    "make_line",
    "minimum_bounding_circle",
    "num_points",
    "point",
    "remove_repeated_points",
    "x_coordinate",
    "y_coordinate",
]

#: the number of segments of a quarter of a circle in ``buffer``
_QUARTER = 8

_NAMES = (
    "POINT",
    "LINESTRING",
    "LINEARRING",
    "POLYGON",
    "MULTIPOINT",
    "MULTILINESTRING",
    "MULTIPOLYGON",
    "GEOMETRYCOLLECTION",
)
_POINT, _LINE, _RING, _POLYGON, _POINTS, _LINES, _POLYGONS, _COLLECTION = range(8)


def _read(array: Any) -> Any:
    """The geometries of an array of well-known binary, None for nulls."""
    import numpy as np
    import shapely

    values = np.empty(len(array), dtype=object)
    values[:] = array.to_pylist()
    try:
        return shapely.from_wkb(values)
    except shapely.errors.GEOSException as error:
        raise ValueError(f"a geometry is not well-known binary: {error}") from None


def _written(geometries: Any) -> Any:
    """Geometries as an array of well-known binary."""
    import pyarrow as pa
    import shapely

    return pa.array(list(shapely.to_wkb(geometries, byte_order=1, flavor="iso")), pa.binary())


def _values(values: Any, geometries: Any, type: Any, absent: Any = None) -> Any:
    """Return values as an array, null where the geometry is null or ``absent`` is true."""
    import pyarrow as pa
    import shapely

    mask = shapely.is_missing(geometries)
    return pa.array(values, mask=mask if absent is None else mask | absent).cast(type)


def _numbers(array: Any) -> Any:
    """Return an array of numbers, with NaN for nulls, and where it is null."""
    import numpy as np

    return array.to_numpy(zero_copy_only=False).astype(float), np.array(array.is_null())


def point(x: Any, y: Any) -> Any:
    import shapely

    (across, no_x), (up, no_y) = _numbers(x), _numbers(y)
    points = shapely.points(across, up)
    points[no_x | no_y] = None
    return _written(points)


def make_line(geom1: Any, geom2: Any) -> Any:
    """Return all points of the first geometry, followed by all of the second; both are points or lines.

    Repetitions of a geometry's first point are left out, and the start of the second one if it is the end of the first.
    """
    import numpy as np
    import shapely

    first, second = _read(geom1), _read(geom2)
    lines = np.empty(len(first), dtype=object)
    for position, (one, other) in enumerate(zip(first, second, strict=True)):
        if one is None or other is None:
            continue
        for geometry in (one, other):
            if shapely.get_type_id(geometry) not in (_POINT, _LINE, _RING, _POINTS):
                raise ValueError(f"make_line takes points and lines, not a {_NAMES[shapely.get_type_id(geometry)]}")
        deep = bool(shapely.has_z(one) or shapely.has_z(other))
        start, end = (_without_repeated_start(shapely.get_coordinates(item, include_z=deep)) for item in (one, other))
        if len(start) and len(end) > 1 and np.array_equal(start[-1], end[0], equal_nan=True):
            end = end[1:]
        points = np.concatenate([start, end])
        lines[position] = shapely.linestrings(points if len(points) != 1 else np.concatenate([points, points]))
    return _written(lines)


def _without_repeated_start(points: Any) -> Any:
    skipped = 0
    while skipped + 1 < len(points) and (points[skipped + 1] == points[0]).all():
        skipped += 1
    return points[skipped:]


def x_coordinate(point: Any) -> Any:
    import shapely

    return _coordinate(shapely.get_x, point)


def y_coordinate(point: Any) -> Any:
    import shapely

    return _coordinate(shapely.get_y, point)


def _coordinate(get: Any, array: Any) -> Any:
    """Return a coordinate; null for anything but a point that has it."""
    import numpy as np
    import pyarrow as pa
    import shapely

    geometries = _read(array)
    points = (shapely.get_type_id(geometries) == _POINT) & ~shapely.is_empty(geometries)
    found = np.full(len(geometries), np.nan)
    found[points] = get(geometries[points])
    return _values(found, geometries, pa.float64(), np.isnan(found))


def num_points(geom: Any) -> Any:
    """The number of points of a line; null for other geometries."""
    import numpy as np
    import pyarrow as pa
    import shapely

    geometries = _read(geom)
    other = ~np.isin(shapely.get_type_id(geometries), (_LINE, _RING))
    return _values(shapely.get_num_points(geometries), geometries, pa.int64(), other)


def is_empty(geom: Any) -> Any:
    import shapely

    return _predicate(shapely.is_empty, geom)


def is_simple(geom: Any) -> Any:
    import shapely

    return _predicate(shapely.is_simple, geom)


def is_ring(geom: Any) -> Any:
    import shapely

    return _predicate(shapely.is_ring, geom)


def is_valid(geom: Any) -> Any:
    import shapely

    return _predicate(shapely.is_valid, geom)


def _predicate(test: Any, array: Any) -> Any:
    import pyarrow as pa

    geometries = _read(array)
    return _values(test(geometries), geometries, pa.bool_())


def is_closed(geom: Any) -> Any:
    """Whether each line ends where it begins; points and polygons do, an empty geometry doesn't."""
    import numpy as np
    import shapely

    def closed(geometries: Any) -> Any:
        linear = np.isin(shapely.get_type_id(geometries), (_LINE, _RING, _LINES))
        mixed = shapely.get_type_id(geometries) == _COLLECTION
        found = np.where(linear, shapely.is_closed(geometries), ~shapely.is_empty(geometries))
        for position in np.flatnonzero(mixed):
            parts = shapely.get_parts(geometries[position])
            found[position] = len(parts) > 0 and bool(closed(parts).all())
        return found

    return _predicate(closed, geom)


def geometry_type(geom: Any) -> Any:
    """The keyword of well-known text: ``POINT``, ``MULTIPOLYGON``."""
    import pyarrow as pa
    import shapely

    kinds = shapely.get_type_id(_read(geom))
    return pa.array([None if kind < 0 else _NAMES[kind] for kind in kinds], pa.string())


def dimension(geom: Any) -> Any:
    """Return the dimension: 0, 1 or 2; null for an empty collection, which has none."""
    import pyarrow as pa
    import shapely

    geometries = _read(geom)
    found = shapely.get_dimensions(geometries)
    return _values(found, geometries, pa.int8(), found < 0)


def envelope(geom: Any) -> Any:
    import shapely

    return _written(shapely.envelope(_read(geom)))


def collection_extract(geom_collection: Any, type: Any = None) -> Any:
    """The points (0), lines (1) or polygons (2) of a geometry, or those of its highest dimension."""
    import numpy as np

    geometries = _read(geom_collection)
    wanted = [-1] * len(geometries) if type is None else type.to_pylist()
    found = np.empty(len(geometries), dtype=object)
    for position, (geometry, dimension) in enumerate(zip(geometries, wanted, strict=True)):
        if geometry is not None and dimension is not None:
            found[position] = _extracted(geometry, dimension)
    return _written(found)


def _extracted(geometry: Any, dimension: int) -> Any:
    import numpy as np
    import shapely

    parts = np.array([geometry], dtype=object)
    while (shapely.get_type_id(parts) > _POLYGON).any():
        parts = shapely.get_parts(parts)
    dimensions = shapely.get_dimensions(parts)
    if dimension == -1:
        if not len(parts):
            return shapely.geometrycollections([])
        dimension = int(dimensions.max())
    makers = (shapely.multipoints, shapely.multilinestrings, shapely.multipolygons)
    if not 0 <= dimension < len(makers):
        raise ValueError(f"collection_extract knows the types 0, 1 and 2, not {dimension}")
    return makers[dimension](parts[dimensions == dimension])


def flip_coordinates(geom_collection: Any) -> Any:
    import shapely

    geometries = _read(geom_collection)
    for deep in (False, True):
        chosen = shapely.has_z(geometries) == deep
        order = [1, 0, 2] if deep else [1, 0]
        geometries[chosen] = shapely.transform(
            geometries[chosen], lambda points, order=order: points[:, order], include_z=deep
        )
    return _written(geometries)


def remove_repeated_points(geom: Any, tolerance: Any = None) -> Any:
    """Return geometries without points that repeat the previous one, or are within the tolerance of it."""
    import shapely

    geometries = _read(geom)
    if tolerance is None:
        return _written(shapely.remove_repeated_points(geometries))
    distance, missing = _numbers(tolerance)
    distance[missing] = 0
    found = shapely.remove_repeated_points(geometries, distance)
    found[missing] = None
    return _written(found)


def buffer(geom: Any, buffer_radius: Any) -> Any:
    """The points within a distance; a quarter of a circle has eight segments."""
    import shapely

    geometries = _read(geom)
    radius, missing = _numbers(buffer_radius)
    radius[missing] = 0
    found = shapely.buffer(geometries, radius, quad_segs=_QUARTER)
    found[missing] = None
    return _written(found)


def centroid(geom: Any) -> Any:
    import shapely

    return _written(shapely.centroid(_read(geom)))


def minimum_bounding_circle(geom: Any) -> Any:
    """Return the smallest circle as a polygon; a point if all points are the same."""
    import shapely

    geometries = _read(geom)
    found = shapely.minimum_bounding_circle(geometries)
    lost = shapely.is_empty(found) & ~shapely.is_empty(geometries)
    found[lost] = shapely.centroid(geometries[lost])
    return _written(found)

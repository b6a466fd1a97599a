"""Emit and hints, which all relations have. Spec: relations/common_fields."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark_substrait.codes import Code
from pyspark_substrait.model.findings import Finding
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.types import OpenStruct, name_count

__all__ = ["emit", "hint"]


def emit(relation: Relation, path: Path) -> Iterator[Finding]:
    """Check for an emit of all columns in their order, and for one of negative columns."""
    mapping = relation.common.emit
    if not mapping:
        return
    direct = relation.direct_schema
    if isinstance(direct, OpenStruct) and min(mapping) < 0:
        what = f"emit names column {min(mapping)}"
        fix = "Columns are counted from 0"
        yield Finding.of(Code.TYPE_INVALID_SWIZZLE, (((path, "common"), "emit"), "output_mapping"), what, fix=fix)
    if mapping != tuple(range(len(mapping))):
        return
    if not isinstance(direct, OpenStruct) and len(direct.types) == len(mapping):
        place: Path = ((path, "common"), "emit")
        yield Finding.of(
            Code.REDUNDANT_FIELD,
            place,
            f"emit puts out all {len(mapping)} columns as they are",
            fix="Set direct instead",
        )


def hint(relation: Relation, path: Path) -> Iterator[Finding]:
    """Check for impossible statistics, and for a wrong number of output names."""
    hint = relation.common.hint
    if hint is None:
        return
    place: Path = ((path, "common"), "hint")
    if hint.stats is not None:
        for name, number in (("row_count", hint.stats.row_count), ("record_size", hint.stats.record_size)):
            if not 0 <= number < float("inf"):
                yield Finding.of(
                    Code.ILLEGAL_VALUE_IN_HINT, ((place, "stats"), name), f"{name} is {number:g}", fix="Leave it out"
                )
    schema = relation.schema
    if hint.output_names and not isinstance(schema, OpenStruct):
        expected = name_count(schema)
        if len(hint.output_names) != expected:
            what = f"there are {len(hint.output_names)} output names for {expected} fields"
            fix = "Name every field, those of nested structs included, in depth-first order"
            yield Finding.of(Code.ILLEGAL_VALUE_IN_HINT, (place, "output_names"), what, fix=fix)

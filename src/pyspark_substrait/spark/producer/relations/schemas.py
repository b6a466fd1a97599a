"""Convert attributes of Catalyst and Spark schemas to the schemas of reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pyspark_substrait.model.types import NamedStruct, Struct
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.collated import refuse_collation
from pyspark_substrait.spark.producer.types import names_of, type_of

__all__ = ["schema_of", "schema_of_fields"]


def schema_of(attributes: Iterable[Node]) -> NamedStruct:
    """Return the schema of attributes as the columns of a table."""
    return schema_of_fields(
        {"name": item.value("name"), "type": item.value("dataType"), "nullable": item.value("nullable")}
        for item in attributes
    )


def schema_of_fields(fields: Iterable[Mapping[str, Any]]) -> NamedStruct:
    """Return the schema for fields of a Spark schema, in its JSON form."""
    listed = tuple(fields)
    for field in listed:
        refuse_collation(field)
    return NamedStruct(
        names=tuple(name for field in listed for name in (field["name"], *names_of(field["type"]))),
        struct=Struct(types=tuple(type_of(field["type"], field["nullable"]) for field in listed)),
    )

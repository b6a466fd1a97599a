"""The columns of tables: attributes of Catalyst and schemas of Spark as what a plan says of a read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pyspark_substrait.model.types import NamedStruct, Struct
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.collated import refuse_collation
from pyspark_substrait.spark.producer.types import names_of, type_of

__all__ = ["schema_of", "schema_of_fields"]


def schema_of(attributes: Iterable[Node]) -> NamedStruct:
    """The schema that some attributes have as the columns of a table."""
    return schema_of_fields(
        {"name": item.value("name"), "type": item.value("dataType"), "nullable": item.value("nullable")}
        for item in attributes
    )


def schema_of_fields(fields: Iterable[Mapping[str, Any]]) -> NamedStruct:
    """The schema that fields of a schema of Spark, in its JSON, are."""
    listed = tuple(fields)
    for field in listed:
        refuse_collation(field)
    return NamedStruct(
        names=tuple(name for field in listed for name in (field["name"], *names_of(field["type"]))),
        struct=Struct(types=tuple(type_of(field["type"], field["nullable"]) for field in listed)),
    )

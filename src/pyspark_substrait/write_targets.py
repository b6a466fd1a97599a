"""Targets of writes besides the tables of a catalog, for programs that build plans.

Each function returns the detail of an ``ExtensionObject``, used in a ``WriteRel`` as ``extension_table`` and in a
``DdlRel`` as ``extension_object``:

    >>> from pyspark_substrait.write_targets import in_memory_table
    >>> in_memory_table("sales").type_url
    'type.googleapis.com/pyspark_substrait.v1.InMemoryTable'

Other languages can generate the messages from ``pyspark_substrait/proto/write_targets.proto``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark_substrait.model.relations import Files, InMemoryTable
from pyspark_substrait.proto.write_targets import encoded

if TYPE_CHECKING:
    from google.protobuf.any_pb2 import Any

__all__ = ["files", "in_memory_table"]


def in_memory_table(name: str, *, pin: bool = False) -> Any:
    """Records that the session holds, under a name by which its later plans read them.

    Args:
        name: the name, of one part: a dot in it is only a character.
        pin: keep the records in memory, as far as they fit; otherwise they are on disk.
    """
    return encoded(InMemoryTable(name=name, pin=pin))


def files(path: str) -> Any:
    """Parquet files in a folder.

    Args:
        path: the folder, as a path or URI. ``{name}`` stands for the value of the column ``name``: the records of each
            value go to a folder of their own. ``{{`` and ``}}`` are braces.
    """
    return encoded(Files(path=path))

"""Binding: fit the reads of a plan to the tables that it will meet.

* ``tables``: find the table of a read, match its columns, and put a projection over them where they differ
* ``conversions``: the casts that a column of another type may take
* ``schemas``: the schemas of Arrow data, files, and the tables of other engines' sessions
"""

from __future__ import annotations

from pyspark_substrait.binding.tables import Schemas, Tables

__all__ = ["Schemas", "Tables"]

"""Lineage: which columns of a plan are computed from which, and on which they depend. A pure function of the model.

* ``traversal``: the relations of a document, and the queries around each
* ``relations``: the dependencies of the columns and the records of each kind of relation
* ``expressions``: the columns that an expression depends on
* ``graph_builder``: puts these together as the nodes of a graph
* ``graph``: follows the graph up and down
* ``ends``: the columns of tables, at which lineage ends; ``written_columns``: the columns of tables that a plan writes
* ``result``: the result for users; ``text``: the result as text and as JSON
"""

from __future__ import annotations

from pyspark_substrait.analysis.lineage.column_sources import Source
from pyspark_substrait.analysis.lineage.relations import Kind
from pyspark_substrait.analysis.lineage.result import EXPRESSIONS, Lineage, Origin, Output, Port, Written, lineage
from pyspark_substrait.analysis.lineage.traversal import BASE_SCHEMA

__all__ = ["BASE_SCHEMA", "EXPRESSIONS", "Kind", "Lineage", "Origin", "Output", "Port", "Source", "Written", "lineage"]

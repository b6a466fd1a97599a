"""Lineage: which columns of a plan are made of which, and on which they depend. A pure function of the model.

* ``order``: which relations there are, and what stands around each
* ``kinds``: what each kind of relation makes its columns of
* ``resolving``: which columns an expression is made of
* ``building``: both together, as nodes of a graph
* ``graph``: following that up and down
* ``ends``: the columns of tables, at which it ends; ``written``: those into which a plan writes
* ``result``: what users see of it; ``text``: the same as text
"""

from __future__ import annotations

from pyspark_substrait.analysis.lineage.ends import Source
from pyspark_substrait.analysis.lineage.relations import Kind
from pyspark_substrait.analysis.lineage.result import EXPRESSIONS, Lineage, Origin, Output, Port, Written, lineage
from pyspark_substrait.analysis.lineage.traversal import BASE_SCHEMA

__all__ = ["BASE_SCHEMA", "EXPRESSIONS", "Kind", "Lineage", "Origin", "Output", "Port", "Source", "Written", "lineage"]

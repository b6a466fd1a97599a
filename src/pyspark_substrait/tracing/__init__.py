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

from pyspark_substrait.tracing.ends import Source
from pyspark_substrait.tracing.kinds import Kind
from pyspark_substrait.tracing.order import BASE_SCHEMA
from pyspark_substrait.tracing.result import EXPRESSIONS, Lineage, Origin, Output, Port, Written, lineage

__all__ = ["BASE_SCHEMA", "EXPRESSIONS", "Kind", "Lineage", "Origin", "Output", "Port", "Source", "Written", "lineage"]

"""Plans without the subqueries that Spark can't run: rewritten in the model, before anything is compiled.

Spark runs most subqueries that refer to the directly enclosing query, and those stay as they are (``native``). Every
other one becomes a join: the values of the outer columns that it uses become a relation of their own, without
duplicates; the subquery's relation is changed to carry them as additional columns, so that it gives the records for all
of them at once (``domain_pushdown``); and the outer relation is joined with that, null-safely (``lifting``). Where
Spark takes no subquery at all, its value becomes a column of the input first.

The result has the same records, and every outer reference in it goes one query out.
"""

from __future__ import annotations

from pyspark_substrait.sql.decorrelation.native import Natives, Place, SparkNatives
from pyspark_substrait.sql.decorrelation.rewriting import decorrelated, may_vary, needing_decorrelation

__all__ = ["Natives", "Place", "SparkNatives", "decorrelated", "may_vary", "needing_decorrelation"]

"""Comparison of two plans by their meaning.

* ``plan_diff``: whole plans and extended expressions
* ``tree_diff``: two relation trees, from the bottom up; ``tree_matching``: the counterparts of their relations
* ``part_diff``, ``item_matching``: two relations, part by part, item by item
* ``expression_diff``: the differences between two expressions
* ``normalized``, ``describe*``: relations in the form in which they are compared: columns by identity, not by position
* ``equivalence``: parts as numbers that are equal if the parts mean the same
* ``description``, ``record``: the classes of these
* ``pairing``: the counterpart of each relation, also of those that weren't compared; ``relations``: all relations
* ``difference``: the result; ``result_columns``: the output columns; ``wording``: the texts of changes
"""

from pyspark_substrait.analysis.diff.description import Kind
from pyspark_substrait.analysis.diff.difference import Change, Difference, Mark, Pair
from pyspark_substrait.analysis.diff.plan_diff import compared
from pyspark_substrait.analysis.diff.record import Record, Shown, Words

__all__ = ["Change", "Difference", "Kind", "Mark", "Pair", "Record", "Shown", "Words", "compared"]

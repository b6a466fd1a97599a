"""Comparison of two plans by their meaning.

* ``plans``: whole plans and extended expressions
* ``trees``: two relation trees, from the bottom up; ``aligning``: the counterparts of their relations
* ``part_diff``, ``items``: two relations, part by part, item by item; ``expression_diff``: where two expressions differ
* ``normalized``, ``describe*``: relations in the form in which they are compared: columns by identity, not by position
* ``forms``: parts as numbers that are equal if the parts mean the same
* ``parts``, ``record``: the building blocks of these
* ``pairing``: the counterpart of each relation, also of those that weren't compared; ``relations``: all relations
* ``difference``: the result; ``results``: the output columns; ``wording``: the texts of changes
"""

from pyspark_substrait.analysis.diff.difference import Change, Difference, Mark, Pair
from pyspark_substrait.analysis.diff.parts import Kind
from pyspark_substrait.analysis.diff.plans import compared
from pyspark_substrait.analysis.diff.record import Record, Shown, Words

__all__ = ["Change", "Difference", "Kind", "Mark", "Pair", "Record", "Shown", "Words", "compared"]

"""Two plans compared by what they mean.

* ``plans``: whole plans and extended expressions
* ``trees``: two relation trees, from the bottom up; ``aligning``: which of their relations belong together
* ``said``, ``items``: what two relations say, part by part, item by item; ``inside``: where two expressions differ
* ``steps``, ``telling*``: relations in the form in which they are compared: columns are what they are, not positions
* ``forms``: parts as numbers that are equal where they mean the same
* ``parts``, ``record``: what these are made of
* ``pairing``: which relation of one plan belongs to which of the other; ``relations``: all there are
* ``difference``: the result; ``wording``: how things are called in it
"""

from pyspark_substrait.analysis.diff.difference import Change, Difference, Mark, Pair
from pyspark_substrait.analysis.diff.parts import Kind
from pyspark_substrait.analysis.diff.plans import compared
from pyspark_substrait.analysis.diff.record import Record, Shown, Words

__all__ = ["Change", "Difference", "Kind", "Mark", "Pair", "Record", "Shown", "Words", "compared"]

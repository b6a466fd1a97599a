"""The classes of findings in a plan, each with its number. ``docs/findings.md`` is generated from them.

* ``numbers``: the numbers, by name, and the levels
* ``classes``: the title, level and reason of each
"""

from pyspark_substrait.codes.classes import Class, class_of, classes
from pyspark_substrait.codes.numbers import Code, Level

__all__ = ["Class", "Code", "Level", "class_of", "classes"]

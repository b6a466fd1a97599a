"""The classes of what can be found in a plan, each with its number. ``docs/findings.md`` is made of them.

* ``numbers``: the numbers, by name, and the levels
* ``classes``: what each of them stands for
"""

from pyspark_substrait.codes.classes import Class, class_of, classes
from pyspark_substrait.codes.numbers import Code, Level

__all__ = ["Class", "Code", "Level", "class_of", "classes"]

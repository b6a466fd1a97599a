"""What could be written better in a plan that is right: rules, and fixes where the result is provably the same.

* ``rule``: what a rule is
* ``rules``: the rules, each a function whose docstring explains it
* ``looks``, ``columns``: what rules need
* ``selection``, ``linter``, ``together``: go through a plan with them, to tell or to fix
* ``page``: the page of the documentation
"""

from pyspark_substrait.analysis.lint import rules
from pyspark_substrait.analysis.lint.rule import RULES

__all__ = ["RULES", "rules"]

"""Lint: rules for valid plans that could be written better, with fixes where the result is provably the same.

* ``rule``: what a rule is
* ``rules``: the rules, each a function whose docstring explains it
* ``expression_match``, ``columns``, ``column_usage``: helpers of the rules
* ``selection``, ``linter``, ``merge_findings``: apply the rules to a plan, to report or to fix
* ``page``: the page of the documentation
"""

from pyspark_substrait.analysis.lint import rules
from pyspark_substrait.analysis.lint.rule import RULES

__all__ = ["RULES", "rules"]

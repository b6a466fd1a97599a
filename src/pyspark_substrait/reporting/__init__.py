"""Findings as people and programs take them.

* ``report``: the findings of one plan
"""

from pyspark_substrait.reporting.report import Report

__all__ = ["Report"]

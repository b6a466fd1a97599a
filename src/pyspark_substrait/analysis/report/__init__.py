"""Findings as people and programs take them.

* ``report``: the findings of one plan, and the order in which they are told
* ``text``: for a terminal; ``as_json``, ``sarif``: for programs; ``html``: a page for the browser
* ``json_places``: where in a JSON file the parts of a plan stand
* ``classes``: the page that lists all classes of findings
"""

from pyspark_substrait.analysis.report.as_json import json_schema
from pyspark_substrait.analysis.report.report import Report

__all__ = ["Report", "json_schema"]

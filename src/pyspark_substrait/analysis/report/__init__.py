"""Reports: the findings of a plan, for people and for programs.

* ``report``: the findings of one plan; ``finding_order``: the order in which they are listed
* ``facts``, ``groups``, ``schemas``: what several forms of a report show
* ``text``: for a terminal; ``as_json``, ``sarif``: for programs; ``html``: a page for the browser
* ``json_places``: the lines of a JSON file at which the parts of a plan are
* ``classes``: the page that lists all classes of findings
"""

from pyspark_substrait.analysis.report.as_json import json_schema
from pyspark_substrait.analysis.report.report import Report

__all__ = ["Report", "json_schema"]

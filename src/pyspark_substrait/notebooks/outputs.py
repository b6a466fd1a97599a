"""The HTML and the text of each result that notebooks show."""

from __future__ import annotations

from pyspark_substrait.analysis.diff import Difference
from pyspark_substrait.analysis.profile import Profile
from pyspark_substrait.analysis.report import Report
from pyspark_substrait.api.explain import explain
from pyspark_substrait.documents import ExtendedExpression, Plan
from pyspark_substrait.model.deep_stack import with_enough_stack
from pyspark_substrait.notebooks.differences import difference_html
from pyspark_substrait.notebooks.plans import plan_html
from pyspark_substrait.notebooks.profiles import profile_html
from pyspark_substrait.notebooks.reports import report_html
from pyspark_substrait.notebooks.rows import Rows, rows_html, rows_text
from pyspark_substrait.notebooks.views import view_html
from pyspark_substrait.render.view import View
from pyspark_substrait.text.notebook_output import NotebookOutput

__all__ = ["html", "text"]


def html(output: NotebookOutput) -> str:
    """Return the HTML of a result.

    Raises:
        SubstraitError: it has no HTML; the message states the reason.
    """
    match output:
        case Plan() | ExtendedExpression():
            return with_enough_stack(plan_html, output)
        case Report():
            return report_html(output)
        case Difference():
            return difference_html(output)
        case Profile():
            return profile_html(output)
        case View():
            return view_html(output)
        case Rows(table=table, caption=caption):
            return rows_html(table, caption)
    raise TypeError(f"notebooks have no form for a {output.__class__.__name__}")


def text(output: NotebookOutput) -> str:
    """Return the text for viewers that can't show the HTML."""
    match output:
        case Plan() | ExtendedExpression():
            return explain(output)
        case View():
            return f"{output!r}: save(…) writes it, open() shows it"
        case Rows(table=table, caption=caption):
            return rows_text(table, caption)
        case _:
            return str(output)

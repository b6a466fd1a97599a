"""Plans as text for people. The text is not meant to be parsed back.

* ``blocks``: the description of each relation, part by part
* ``graph``: a plan as a graph
* ``page``: the page as lines: header, one line a relation, subqueries, notes
* ``lines``: the kinds of lines, and the findings of each
* ``text``: the page as text; ``folding``: its long lines
* ``effects``: what a plan would read and change
* ``relations``: the content of a relation's line
* ``expressions``, ``literals``: expressions and values, in a syntax close to SQL
* ``columns``: columns, their labels, and the scopes in which expressions name them
"""

from pyspark_substrait.text.explain.effects import Action, Touch, touches
from pyspark_substrait.text.explain.lines import Line, LineKind
from pyspark_substrait.text.explain.page import page
from pyspark_substrait.text.explain.text import explain

__all__ = ["Action", "Line", "LineKind", "Touch", "explain", "page", "touches"]

"""Plans as text for people. The text has no other reader: nothing in this package is meant to be parsed back.

* ``blocks``: what shows each relation, part by part
* ``graph``: a plan as a graph
* ``page``: the page as lines: header, one line a relation, subqueries, notes
* ``lines``: what a line is, and which findings stand at which
* ``text``: the page as text; ``folding``: its long lines
* ``effects``: what a plan would read and change
* ``relations``: what a relation's line says
* ``expressions``, ``literals``: expressions and values, near SQL
* ``columns``: columns, their labels, and the scopes in which expressions name them
"""

from pyspark_substrait.text.explain.effects import Action, Touch, touches
from pyspark_substrait.text.explain.lines import Line, LineKind
from pyspark_substrait.text.explain.page import page
from pyspark_substrait.text.explain.text import explain

__all__ = ["Action", "Line", "LineKind", "Touch", "explain", "page", "touches"]

"""Plans as text for people. The text has no other reader: nothing in this package is meant to be parsed back.

* ``text``: the page: header, one line a relation, subqueries, notes
* ``relations``: what a relation's line says
* ``expressions``, ``literals``: expressions and values, near SQL
* ``columns``: columns, their labels, and the scopes in which expressions name them
"""

from pyspark_substrait.display.text import explain

__all__ = ["explain"]

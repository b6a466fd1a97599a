"""Producers' habits: forms that mean something else than the specification gives them, or that it doesn't have.

A habit is a row (:class:`~pyspark_substrait.proto.read.habits.habit.Habit`), with the function that applies it beside
it. It is applied where the plan states the producer, or where the form can mean one thing only.
The table is in ``table``; ``docs/other-engines.md`` shows it.

* ``acero`` (in ``proto/read/arrow.py``), ``datafusion``, ``duckdb``, ``ibis``, ``isthmus``, ``substrait_spark``: those
  of one producer
* ``decimals``: those of several
* ``unambiguous``: those of any
"""

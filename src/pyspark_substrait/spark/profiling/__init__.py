"""Run a plan with a profile: rows, times and bytes of each relation.

* ``running``: the run and its profile
* ``observation``: which relations are counted while the plan runs
* ``predicate_pushdown``: the optimizations that counting would prevent
* ``operators``: the operators that Spark ran, as a tree with their metrics
* ``reliable_counts``: which counts are those of one complete pass
* ``cost_attribution``: times and bytes of operators, assigned to relations
"""

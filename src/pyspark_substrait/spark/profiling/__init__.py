"""Run a plan with a profile: rows, times and bytes of each relation.

* ``running``: the run and its profile
* ``watching``: which relations are counted while the plan runs; ``pushing``: the optimizations that this would prevent
* ``operators``: the operators that Spark ran, as a tree with their metrics
* ``trust``: which counts are those of one complete pass
* ``attributing``: times and bytes of operators, assigned to relations
"""

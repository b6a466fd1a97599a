"""Running a plan so that one sees afterwards what happened in each of its relations.

* ``running``: the run and its profile
* ``watching``: which relations are counted while the plan runs; ``pushing``: what would be lost by counting one
* ``operators``: what Spark ran, as a tree of operators with their metrics
* ``trust``: which counts are those of one complete pass
* ``attributing``: times and bytes of operators as those of relations
"""

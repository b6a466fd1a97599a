"""The model: immutable, typed nodes for every message of Substrait, free of protobuf, Spark and YAML.

* ``types``, ``literals``: types and constant values
* ``expressions``, ``masks``: computations on one record
* ``relations``: computations on many records
* ``plan``: the top-level messages
* ``notes``: changes and assumptions made while reading
"""

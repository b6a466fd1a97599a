"""The model: immutable, typed nodes for every message of Substrait, free of protobuf, Spark and YAML.

* ``types``, ``literals``: what values are
* ``expressions``, ``masks``: what is computed from a record
* ``relations``: what is computed from records
* ``plan``: the top-level messages
* ``notes``: what reading changed or assumed
"""

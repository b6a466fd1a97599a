"""The model as Spark SQL text. Pure Python: no module here uses a session.

* ``compiler``: relations, expressions, types and literals
* ``functions``: the Spark SQL form of each standard function
"""

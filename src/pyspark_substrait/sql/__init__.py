"""The model as Spark SQL text. Pure Python: nothing here knows a session.

* ``compiler``: relations, expressions, types and literals
* ``functions``: what each standard function is in Spark SQL
"""

"""SQL to plans without a JVM: DataFusion parses and plans a text, and the plan has the meaning of Spark SQL.

* ``differences``: what the two dialects mean by the same text, and what is done about it
* ``intervals``: their literals
* ``tokens``, ``text``: the text in the form that DataFusion takes, with the places of the original
* ``correlation``: subqueries that refer to the query around them
* ``datafusion``: the parser and planner; ``schemas``: tables, from their schemas
* ``coercion``, ``operators``, ``windows``, ``spark_meaning``: implicit conversions, functions and types of Spark
* ``plan``: all of it
"""

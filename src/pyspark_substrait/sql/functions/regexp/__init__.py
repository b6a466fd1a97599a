"""Regular expressions: ``parser`` reads those of ICU, ``java`` writes those of Java, ``rows`` has the functions."""

from pyspark_substrait.sql.functions.regexp.rows import ROWS

__all__ = ["ROWS"]

"""Regular expressions: ``parser`` reads ICU's, ``java`` writes Java's, ``rows`` has the functions."""

from pyspark_substrait.sql.functions.regexp.rows import ROWS

__all__ = ["ROWS"]

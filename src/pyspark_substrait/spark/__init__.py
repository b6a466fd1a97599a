"""Everything that needs Spark: the only part of the package that imports pyspark."""

from pyspark_substrait.spark.pandas_imports import leave_out_pandas_notice

leave_out_pandas_notice()

"""Everything that needs Spark: the only part of the package that imports pyspark."""

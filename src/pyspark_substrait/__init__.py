"""Substrait plans on Apache Spark, from Python."""

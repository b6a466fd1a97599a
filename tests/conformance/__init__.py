"""The function cases of the specification and ours, run on Spark."""

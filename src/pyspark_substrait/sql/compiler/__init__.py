"""From the model to Spark SQL text."""

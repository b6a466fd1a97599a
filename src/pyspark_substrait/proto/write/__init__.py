"""The model to messages. What was bound gets anchors again.

The functions fill the message they are given, so that a deep plan is never copied level by level.
"""

# The writers of expressions and relations need each other. Whoever comes first, this one finds all it needs.
from pyspark_substrait.proto.write import expressions as _expressions  # noqa: F401
from pyspark_substrait.proto.write.plan import extended_expression, plan

__all__ = ["extended_expression", "plan"]

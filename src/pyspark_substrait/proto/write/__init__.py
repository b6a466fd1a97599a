"""The model to messages. Functions and types get anchors again.

The functions fill the message that they are given, so that a deep plan is never copied level by level.
"""

# The writers of expressions and relations import each other; this order of imports works for all of them.
from pyspark_substrait.proto.write import expressions as _expressions  # noqa: F401
from pyspark_substrait.proto.write import forms as _forms  # noqa: F401
from pyspark_substrait.proto.write.plan import extended_expression, plan

__all__ = ["extended_expression", "plan"]

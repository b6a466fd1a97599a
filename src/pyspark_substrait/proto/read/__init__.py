"""Messages to the model: anchors become definitions, every expression gets its type, every relation its schema.

Binding happens here, once. Nothing after it looks at an anchor.

* ``plan``: the two top-level messages
* ``expressions``, ``functions``, ``references``, ``literals``, ``types``: what is computed
* ``relations``, ``reads``, ``joins``, ``physical``, ``writing``, ``trees``, ``base``: on what
* ``agreement``, ``frames``: what has to be of one type, and what bounds of windows may be
* ``quirks``, ``arrow``: where a plan means something else than it says
* ``context``: what all of them are told
"""

# The readers of expressions and relations need each other. Whoever comes first, this one finds all it needs.
from pyspark_substrait.proto.read import expressions as _expressions  # noqa: F401
from pyspark_substrait.proto.read.plan import Bound, Checked, bound, checked, extended_expression, plan

__all__ = ["Bound", "Checked", "bound", "checked", "extended_expression", "plan"]

"""Messages to the model: anchors become definitions, every expression gets its type, every relation its schema.

Binding happens here, once. Nothing after it looks at an anchor.

* ``plan``: the two top-level messages
* ``expressions``, ``functions``, ``constructors``, ``references``, ``literals``, ``types``: expressions and types
* ``fields``: nodes field by field, as their types say; ``forms``: what has another form in the message
* ``relations``, ``reads``, ``joins``, ``physical``, ``writing``, ``trees``, ``rel_common``: relations
* ``type_checks``, ``call_checks``, ``frames``: checks of types, of calls, and of the bounds of windows
* ``habits``, ``arrow``: where a plan means something else than it states; ``quirks``: what the readers ask of them
* ``context``: the state that all of them share
"""

# The readers of expressions and relations import each other; this order of imports works for all of them.
from pyspark_substrait.proto.read import expressions as _expressions  # noqa: F401
from pyspark_substrait.proto.read import forms as _forms  # noqa: F401
from pyspark_substrait.proto.read.plan import Bound, Checked, bound, checked, extended_expression, plan, subquery

__all__ = ["Bound", "Checked", "bound", "checked", "extended_expression", "plan", "subquery"]

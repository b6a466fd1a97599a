"""Validation of plans: rules over the model.

Reading itself finds references that lead nowhere and calls that no overload takes; that is in ``proto/read``. Checks
of the message, such as unused anchors, are in ``proto/checks``.

* ``rules``: the other rules of the specification
* ``notes``: upgrades and assumptions, as findings; ``unread``: parts that couldn't be read
* ``dialects``, ``dialect_rules``: dialect files, and checks of a plan against one
"""

"""What is found in a plan that was read: rules over the model.

What reading itself sees (a reference that leads nowhere, a call that no overload takes) is found there, in
``proto/read``; what only the message shows (anchors that nobody uses, say), in ``proto/checks``.

* ``rules``: what the specification says beyond that
* ``notes``: what was upgraded or assumed, as findings
"""

"""What notebooks and Python shells show of plans, reports and results; and the magics.

Outputs are HTML that shows wherever HTML does: without scripts, with styles that reach nothing else on the page, and
still legible where a viewer takes the styles away. A drawing is an image, so that nothing in it can become a part of
the page. Beside each HTML there is a text.

* ``brief``: the one line that a shell shows
* ``mime``: an output in the forms that are asked for
* ``plans``, ``reports``, ``differences``, ``profiles``, ``views``, ``rows``: one object each
* ``pictures``: the drawing of a plan as an image; ``markup``: the templates
* ``magic``: ``%substrait`` and ``%%substrait``; ``tables``: what their ``--tables`` means; ``errors``: how they fail
"""

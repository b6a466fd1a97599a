"""Plans, reports and results in notebooks and Python shells, and the magics.

Outputs are HTML that is displayed wherever HTML is: without scripts, with styles that affect nothing else on the page,
and still legible if a viewer removes the styles. A drawing is an image, so that nothing in it can become part of the
page. Each HTML output has a text beside it.

* ``outputs``: the HTML and the text of each kind of result
* ``plans``, ``reports``, ``differences``, ``profiles``, ``views``, ``rows``: one kind each
* ``pictures``: the drawing of a plan as an image; ``markup``: the templates
* ``magic``: ``%substrait`` and ``%%substrait``; ``tables``: their ``--tables`` option; ``errors``: their errors
"""

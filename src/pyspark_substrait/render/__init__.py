"""Plans as drawings, and as pages for the browser.

The drawing, which serves the page, notebooks and files alike:

* ``drawing``: a plan as an SVG drawing
* ``cards``: what a card shows, and how large that makes it; ``text_widths``: how wide texts are
* ``layout``: where cards stand and how edges run, by Graphviz; ``subquery_frames``: which stand in a frame together
* ``svg``: elements of a drawing, and how texts are made safe in it; ``svg_style``: its colours and its style sheet
* ``svg_symbols``: which family of relations has which colour, and their symbols

The page:

* ``view``: a plan to look at; ``page``: the page; ``assets/`` and ``templates/``: its script, its styles, its parts
* ``data``: what its script gets to know; ``figures``: the figures of a profile; ``kinds``: what each relation is
* ``comparison``: two plans beside each other
"""

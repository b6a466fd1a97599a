"""Plans as drawings, and as pages for the browser.

The drawing, which serves the page, notebooks and files alike:

* ``drawing``: a plan as an SVG drawing
* ``cards``: the content and the size of cards; ``text_widths``: the widths of texts
* ``layout``: the positions of cards and edges, by Graphviz; ``subquery_frames``: the cards in the frame of a subquery
* ``svg``: elements of a drawing, and escaping of its texts; ``svg_style``: its colours and its style sheet
* ``svg_symbols``: the families of relations, and their symbols

The page:

* ``view``: a plan to look at; ``page``: the page; ``assets/`` and ``templates/``: its scripts, styles and templates
* ``page_data``: the data for its script; ``node_help``: explanations of relations; ``figures``: those of a profile
* ``comparison``: two plans side by side
"""

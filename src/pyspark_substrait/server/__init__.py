"""A Flight SQL server over a Spark session: plans and SQL from any language, answered in Arrow.

``serving`` starts it; ``flight_server`` is what pyarrow calls; ``statements`` run on Spark; ``requests`` watches,
cancels and logs each call; ``limits`` says how much clients may ask, ``turns`` who is next; ``access_control`` says who
may call, ``json_web_tokens`` whose the tokens of an identity provider are; ``monitoring`` tells health and figures.
"""

from __future__ import annotations

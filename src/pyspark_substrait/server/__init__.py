"""A Flight SQL server over a Spark session: plans and SQL from any language, answered in Arrow.

``serving`` starts it; ``flight_server`` is what pyarrow calls; ``statements`` run on Spark; ``requests`` bounds,
watches, cancels and logs each call; ``access_control`` says who may call.
"""

from __future__ import annotations

"""The Spark session for who has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark_substrait.spark.session_start import embedded_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pyspark_substrait.spark.session_start import Setting

__all__ = ["session"]


def session(master: str | None = None, *, remote: str | None = None, **settings: Setting) -> SparkSession:
    """Return a Spark session that plans run in: the running one, unchanged, or else one that is started.

    Every function of this package that needs a session, and is given none, takes this one. A session that is started
    runs on this machine, starts fast, is quiet (no UI, no log on the screen), has an in-memory catalog and all settings
    that plans need. It finds Java by itself, the runtime of the extra ``java`` too.

    Args:
        master: where Spark runs, like ``local[2]`` or ``spark://host:7077``; by default here, on all cores.
        remote: a Spark Connect server instead, like ``sc://host:15002``; without either, ``SPARK_REMOTE`` is honoured.
        settings: further Spark settings, which override ours: ``session(**{"spark.driver.memory": "4g"})``.

    Raises:
        JavaNotFoundError: Spark has to be started, and there is no Java for it.
        SubstraitError: Spark did not start, or the running session is not the one that the arguments ask for.

    Examples:
        >>> spark = substrait.session()
        >>> spark.range(3).count()
        3
    """
    return embedded_session(master, remote, **settings)

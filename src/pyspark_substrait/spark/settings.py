"""The settings of a session, as one run of a plan reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from pyspark_substrait.spark.session import is_connect, require_settings, session_with, spark_errors
from pyspark_substrait.sql.compiler.types import MAP_SETTINGS, MATCH_SETTINGS, PATTERN_SETTINGS, SETTINGS, TIME_SETTINGS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["OF_PLANS", "Settings"]

_CASE: Final = "spark.sql.caseSensitive"
#: the settings that plans depend on
OF_PLANS: Final = (_CASE, *SETTINGS, *TIME_SETTINGS, *MAP_SETTINGS, *MATCH_SETTINGS, *PATTERN_SETTINGS)


class Settings:
    """The settings of a session.

    From a Connect server, all settings that plans depend on are read in one request when the run begins; from a classic
    session, each when it is needed, except those that are :meth:`known <know>`.

    Args:
        spark: the session.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._known: dict[str, str | None] = _together(spark) if is_connect(spark) else {}

    def know(self, found: Mapping[str, str | None]) -> None:
        """Set values that were just read from the session."""
        self._known = dict(found)

    def value(self, key: str) -> str | None:
        """The value of a setting, or Spark's default; None where Spark doesn't know it."""
        if key in self._known:
            return self._known[key]
        try:
            return self._spark.conf.get(key)
        except spark_errors():
            return None

    @property
    def case_sensitive(self) -> bool:
        """Whether names that differ in case are different."""
        return str(self.value(_CASE)).lower() == "true"

    def require(self, needed: Mapping[str, str]) -> None:
        """Check that the session has the settings that a plan needs.

        Raises:
            UnsupportedPlanError: as :func:`require_settings`.
        """
        if self._lack(needed):
            require_settings(self._spark, needed)

    def session(self, needed: Mapping[str, str]) -> SparkSession:
        """Return the session, or a copy of it that has the settings that a plan needs.

        Raises:
            UnsupportedPlanError: as :func:`session_with`.
        """
        return session_with(self._spark, needed) if self._lack(needed) else self._spark

    def _lack(self, needed: Mapping[str, str]) -> bool:
        return any((self.value(key) or "").lower() != value.lower() for key, value in needed.items())


def _together(spark: Any) -> dict[str, str | None]:
    """Read all settings that plans depend on from a Connect server; empty if it doesn't know one of them."""
    if not hasattr(spark.client, "get_config_dict"):
        return {}
    try:
        return dict(spark.client.get_config_dict(*OF_PLANS))
    except spark_errors():
        return {}

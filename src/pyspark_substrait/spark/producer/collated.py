"""Spark types with a collation, which Substrait doesn't have."""

from __future__ import annotations

from typing import Any, Final

from pyspark_substrait.errors import UnsupportedPlanError

__all__ = ["collation_in", "refuse_collation"]

_PREFIX: Final = "string collate "
_METADATA: Final = "__COLLATIONS"


def collation_in(json: Any) -> str | None:
    """Return the collation of a type (``DataType.jsonValue``); None for the binary one and types without any."""
    if not isinstance(json, str) or not json.startswith(_PREFIX):
        return None
    name = json[len(_PREFIX) :].upper()
    return None if name == "UTF8_BINARY" else name


def refuse_collation(json: Any) -> None:
    """Refuse a type, or a field of a schema, with a collation; in a field, the metadata has it.

    Raises:
        UnsupportedPlanError: it has a collation.
    """
    found = collation_in(json)
    if found is None and isinstance(json, dict):
        stated = (json.get("metadata") or {}).get(_METADATA)
        found = ", ".join(stated.values()) if stated else None
    if found is not None:
        raise UnsupportedPlanError(
            f"Substrait has no strings with the collation {found}",
            hint="Cast them to STRING COLLATE UTF8_BINARY at the source, and name the collation in each comparison",
        )

"""Types of Spark with a collation, which plans don't have."""

from __future__ import annotations

from typing import Any, Final

from pyspark_substrait.errors import UnsupportedPlanError

__all__ = ["collation_in", "refuse_collation"]

_PREFIX: Final = "string collate "
_METADATA: Final = "__COLLATIONS"


def collation_in(json: Any) -> str | None:
    """The collation that a type (``DataType.jsonValue``) says; None for that of bytes, and for a type without one."""
    if not isinstance(json, str) or not json.startswith(_PREFIX):
        return None
    name = json[len(_PREFIX) :].upper()
    return None if name == "UTF8_BINARY" else name


def refuse_collation(json: Any) -> None:
    """Refuse a type, or a field of a schema, with texts of a collation: there they stand beside the type.

    Raises:
        UnsupportedPlanError: it has them.
    """
    found = collation_in(json)
    if found is None and isinstance(json, dict):
        stated = (json.get("metadata") or {}).get(_METADATA)
        found = ", ".join(stated.values()) if stated else None
    if found is not None:
        raise UnsupportedPlanError(
            f"Substrait has no texts of the collation {found}",
            hint="Cast them to STRING COLLATE UTF8_BINARY where they come from, and name the collation where texts "
            "are compared",
        )

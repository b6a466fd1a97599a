"""Plans made by hand, whose faults are known."""

from __future__ import annotations

from typing import Any

__all__ = ["HOSTILE", "field", "plan"]

HOSTILE = (
    "<script>document.title = 'taken'</script>",
    "<img src=x onerror=\"document.title = 'taken'\">",
    "\"'><svg onload=alert(1)>",
    "{{ 7 * 7 }}{% raw %}",
    "]]></style><style>*{display:none}</style>",
    "a\u202eb\u2066c\x1b[31m\x07\n\t",
    "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd",
    "x" * 5_000,
    "<!--",
    "javascript:alert(1)",
    "",
)
"""Names that want to be something else than names."""

_REQUIRED = "NULLABILITY_REQUIRED"


def plan(
    condition: dict[str, Any] | None = None,
    *,
    names: tuple[str, ...] = ("id", "status"),
    table: str = "orders",
    producer: str = "by hand",
) -> dict[str, Any]:
    """A filter over a table of two columns, i64 and string, in the JSON form; the usual condition is right."""
    schema = {
        "names": list(names),
        "struct": {"nullability": _REQUIRED, "types": [{"i64": {"nullability": _REQUIRED}}, {"string": {}}]},
    }
    schema["struct"]["types"][1]["string"]["nullability"] = "NULLABILITY_NULLABLE"  # type: ignore[index]
    read = {"common": {"direct": {}}, "baseSchema": schema, "namedTable": {"names": [table]}}
    condition = {"literal": {"boolean": True}} if condition is None else condition
    filtered = {"common": {"direct": {}}, "input": {"read": read}, "condition": condition}
    return {
        "version": {"majorNumber": 0, "minorNumber": 108, "producer": producer},
        "executionBehavior": {"variableEvalMode": "VARIABLE_EVALUATION_MODE_PER_PLAN"},
        "relations": [{"root": {"names": list(names), "input": {"filter": filtered}}}],
    }


def field(number: int) -> dict[str, Any]:
    """A reference to a column."""
    return {"selection": {"rootReference": {}, "directReference": {"structField": {"field": number}}}}

"""Restore sums and averages of short decimals, which Spark's optimizer rewrites to integer arithmetic.

Its rule ``DecimalAggregates`` rewrites ``sum(x)`` to ``MakeDecimal(sum(UnscaledValue(x)))``, and ``avg(x)`` to
``CAST(avg(UnscaledValue(x)) / 10^scale AS DECIMAL(p + 4, s + 4))``; over windows, too. Other rules then remove a cast
of ``x`` to a longer decimal of the same scale; the type of the result still determines the precision.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark_substrait.spark.producer.catalyst import Node

__all__ = ["restored"]


def restored(node: Node) -> Node:
    """Return the aggregate function that was rewritten to an expression; any other expression unchanged."""
    match node.name:
        case "MakeDecimal":
            scale = int(node.value("scale"))
            argument = f"decimal({int(node.value('precision')) - 10},{scale})"
            return _of_decimals(node.children[0], "Sum", argument) or node
        case "Cast" if node.children[0].name == "Divide":
            average, power = node.children[0].children
            if power.name == "Literal" and power.value("value") == _power(node.value("dataType")):
                precision, scale = _digits(node.value("dataType")) or (0, 0)
                return _of_decimals(average, "Average", f"decimal({precision - 4},{scale - 4})") or node
    return node


def _digits(type: object) -> tuple[int, int] | None:
    """The precision and the scale of a decimal type."""
    found = re.fullmatch(r"decimal\((\d+),(\d+)\)", str(type))
    return None if found is None else (int(found[1]), int(found[2]))


def _power(type: object) -> str | None:
    """Return the power of ten, as text, that the average of unscaled values is divided by, for a result type."""
    found = _digits(type)
    return None if found is None else str(10.0 ** (found[1] - 4))


def _of_decimals(node: Node, name: str, type: str) -> Node | None:
    """Replace the unscaled values in a call of an aggregate function, also over a window, by decimals of a type."""
    match node.name:
        case "WindowExpression":
            position: int = node.fields["windowFunction"]
        case "AggregateExpression":
            position = node.fields["aggregateFunction"]
        case _ if node.name == name and node.children[0].name == "UnscaledValue":
            unscaled = node.children[0]
            fields = {"dataType": type, "nullable": unscaled.children[0].value("nullable")}
            return node.with_child(0, replace(unscaled, name="Cast", fields=fields))
        case _:
            return None
    inner = _of_decimals(node.children[position], name, type)
    return None if inner is None else node.with_child(position, inner)

"""Sums and averages of short decimals, which Spark's optimizer computes of whole numbers, as they were before.

Its rule ``DecimalAggregates`` makes ``MakeDecimal(sum(UnscaledValue(x)))`` of ``sum(x)``, and
``CAST(avg(UnscaledValue(x)) / 10^scale AS DECIMAL(p + 4, s + 4))`` of ``avg(x)``; over windows, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark_substrait.spark.producer.catalyst import Node

__all__ = ["restored"]


def restored(node: Node) -> Node:
    """The aggregate function that an expression stands for; the expression itself where it is none of these."""
    match node.name:
        case "MakeDecimal":
            return _of_decimals(node.children[0], "Sum") or node
        case "Cast" if node.children[0].name == "Divide":
            average, power = node.children[0].children
            if power.name == "Literal" and power.value("value") == _power(node.value("dataType")):
                return _of_decimals(average, "Average") or node
    return node


def _power(type: object) -> str | None:
    """The power of ten that the average of whole numbers is divided by, for an average of this type."""
    found = re.fullmatch(r"decimal\(\d+,(\d+)\)", str(type))
    return None if found is None else str(10.0 ** (int(found[1]) - 4))


def _of_decimals(node: Node, name: str) -> Node | None:
    """A call of an aggregate function, or one over a window, of the decimals themselves."""
    match node.name:
        case "WindowExpression":
            position: int = node.fields["windowFunction"]
        case "AggregateExpression":
            position = node.fields["aggregateFunction"]
        case _ if node.name == name and node.children[0].name == "UnscaledValue":
            return node.with_child(0, node.children[0].children[0])
        case _:
            return None
    inner = _of_decimals(node.children[position], name)
    return None if inner is None else node.with_child(position, inner)

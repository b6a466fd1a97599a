"""The types of decimal arithmetic in Spark, which differ from those that extensions derive."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import Decimal, Type, concrete
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.refusals import written
from pyspark_substrait.spark.producer.scope import Production

__all__ = ["result"]

_MAX = 38
_SMALLEST_SCALE = 6


def result(node: Node, types: Sequence[Type], production: Production) -> Type | None:
    """Return the type of a node of decimal arithmetic; None if the extension's type is used.

    Spark's rules (``spark.sql.decimalOperations.allowPrecisionLoss`` is on by default;
    ``org.apache.spark.sql.catalyst.expressions.BinaryArithmetic``, ``aggregate.Sum``, ``Average``).
    """
    kinds = [concrete(type) for type in types]
    if any(isinstance(kind, Decimal) for kind in kinds):
        _refuse_lost_range(node, production)
    match node.name, kinds:
        case "Divide", [Decimal() as one, Decimal() as other]:
            scale = max(_SMALLEST_SCALE, one.scale + other.precision + 1)
            return _adjusted(one.precision - one.scale + other.scale + scale, scale)
        case "Remainder" | "Pmod", [Decimal() as one, Decimal() as other]:
            scale = max(one.scale, other.scale)
            return _adjusted(min(one.precision - one.scale, other.precision - other.scale) + scale, scale)
        case "Sum", [Decimal() as one]:
            return Decimal(precision=min(one.precision + 10, _MAX), scale=one.scale)
        case "Average", [Decimal() as one]:
            return Decimal(precision=min(one.precision + 4, _MAX), scale=min(one.scale + 4, _MAX))
        case _:
            return None


def _refuse_lost_range(node: Node, production: Production) -> None:
    if "evalContext" in node.fields:
        allowed = node.value("evalContext")["allowDecimalPrecisionLoss"]
    else:  # before Spark 4.1, expressions don't keep the setting that they are analysed with
        allowed = "evalMode" not in node.fields or production.allows_precision_loss
    if not allowed:
        raise UnsupportedPlanError(
            f"`{written(node)}` keeps all fractional digits, which no function does",
            hint="Set spark.sql.decimalOperations.allowPrecisionLoss to true",
        )


def _adjusted(precision: int, scale: int) -> Decimal:
    if precision <= _MAX:
        return Decimal(precision=precision, scale=scale)
    kept = max(_MAX - (precision - scale), min(scale, _SMALLEST_SCALE))
    return Decimal(precision=_MAX, scale=kept)

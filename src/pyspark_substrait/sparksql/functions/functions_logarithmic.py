"""Logarithms (``functions_logarithmic.yaml``). Spark's own are null for zero and for negative numbers."""

from __future__ import annotations

from collections.abc import Callable

from pyspark_substrait.model.types import Type
from pyspark_substrait.sparksql.functions.fragments import as_double, constant, infinity, narrowed, raised
from pyspark_substrait.sparksql.functions.table import Call, Row, Table, row

__all__ = ["TABLE"]


def _not_a_number(type: Type) -> str:
    return constant(float("nan"), type)


def logarithm(name: str, at_zero: str, outside: str, zero: str = "0") -> Callable[[Call], str]:
    """A logarithm.

    Args:
        name: Spark's function.
        at_zero: the value of ``on_log_zero``.
        outside: the value of ``on_domain_error``.
        zero: where the logarithm is minus infinity.
    """

    def body(call: Call) -> str:
        x = call.sql(0)
        results = {
            "NAN": _not_a_number(call.output),
            "NULL": "NULL",
            "ERROR": raised(call, "the argument is outside the domain"),
            "MINUS_INFINITY": f"(-{infinity(call.output)})",
        }
        value = narrowed(f"{name}({as_double(call, 0)})", call.output)
        # NaN is larger than every number, and its logarithm is NaN
        return (
            f"CASE WHEN {x} = {zero} THEN {results[at_zero]} WHEN {x} < {zero} THEN {results[outside]} ELSE {value} END"
        )

    return body


def with_base(at_zero: str, outside: str) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        x, base = call.sql(0), call.sql(1)
        results = {
            "NAN": _not_a_number(call.output),
            "NULL": "NULL",
            "ERROR": raised(call, "an argument is outside the domain"),
            "MINUS_INFINITY": f"(-{infinity(call.output)})",
        }
        value = narrowed(f"log({as_double(call, 1)}, {as_double(call, 0)})", call.output)
        domain = f"{x} < 0 OR {base} <= 0 OR {base} = 1"
        return f"CASE WHEN {domain} THEN {results[outside]} WHEN {x} = 0 THEN {results[at_zero]} ELSE {value} END"

    return body


def _rows() -> tuple[Row, ...]:
    rows = []
    for outside in ("NAN", "NULL", "ERROR"):
        for at_zero in ("MINUS_INFINITY", "NAN", "ERROR"):
            bodies = {
                **{name: logarithm(name, at_zero, outside) for name in ("ln", "log10", "log2")},
                "log1p": logarithm("log1p", at_zero, outside, "-1"),
                "logb": with_base(at_zero, outside),
            }
            for name, body in bodies.items():
                rows.append(row(name, body, rounding="TIE_TO_EVEN", on_domain_error=outside, on_log_zero=at_zero))
    return tuple(rows)


TABLE = Table("extension:io.substrait:functions_logarithmic", _rows())

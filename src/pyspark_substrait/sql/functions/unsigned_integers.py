"""Unsigned integers (``unsigned_integers.yaml``).

Their carriers are the next larger types of Spark. All values are computed as DECIMAL, which holds every sum, difference
and quotient, and then limited to the range of the type. SILENT leaves the result of an overflow open, so it takes the
form of SATURATE.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark_substrait.model.types import UNSIGNED_INTEGERS, Type
from pyspark_substrait.sql.compiler.types import spark_type, unsigned_bits
from pyspark_substrait.sql.fragment import Atom, atom
from pyspark_substrait.sql.functions.arithmetic.divisions import remainder_or_null
from pyspark_substrait.sql.functions.common_expressions import any_null, bound, raised
from pyspark_substrait.sql.functions.table import Call, Foreign, Row, Table, in_steps, row

__all__ = ["TABLE"]

_NO_ERROR = ("SATURATE", "SILENT")
_WIDE = "DECIMAL(20, 0)"


def largest(type: Type) -> str:
    """The largest value of an unsigned integer type."""
    bits = unsigned_bits(type)
    assert bits is not None
    return f"{2**bits - 1}BD"


def fitted(call: Call, text: str, saturate: bool) -> str:
    """Return a DECIMAL as a value of the call's type: if out of range, an error or the nearest value."""
    top, target = largest(call.output), spark_type(call.output)
    if saturate:
        chosen = f"CASE WHEN z > {top} THEN {top} WHEN z < 0 THEN 0BD ELSE z END"
    else:
        chosen = f"if(z NOT BETWEEN 0 AND {top}, {raised(call, 'overflow')}, z)"
    return bound(text, "z", f"CAST({chosen} AS {target})")


def operation(operator: str, saturate: bool) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        x, y = (f"CAST({call.sql(position)} AS {_WIDE})" for position in (0, 1))
        return fitted(call, f"{x} {operator} {y}", saturate)

    return body


def saturating_product(call: Call) -> str:
    x, y = (f"CAST({call.sql(position)} AS {_WIDE})" for position in (0, 1))
    # a product of two numbers of 64 bits may need more digits than a DECIMAL has
    text = fitted(call, f"coalesce(try_multiply({x}, {y}), {largest(call.output)})", True)
    return Atom(f"if({any_null(call.sql(0), call.sql(1))}, NULL, {text})")


def quotient(by_zero_null: bool) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        x, y = (f"CAST({call.sql(position)} AS {_WIDE})" for position in (0, 1))
        target = spark_type(call.output)
        if unsigned_bits(call.output) != 64:
            y = f"nullif({y}, 0BD)" if by_zero_null else y
            return Atom(f"CAST({x} div {y} AS {target})")
        # div gives a BIGINT, which is too small; minus the remainder, the division is exact
        if by_zero_null:
            return Atom(f"CAST(({x} - {atom(remainder_or_null(call, x, y, '0BD'))}) / nullif({y}, 0BD) AS {target})")
        return Atom(f"CAST(({x} - {x} % {y}) / {y} AS {target})")

    return body


def total(saturate: bool) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        return fitted(call, call.aggregate("sum", f"CAST({call.sql(0)} AS {_WIDE})"), saturate)

    return body


def _operations() -> tuple[Row, ...]:
    made = []
    for name, operator in (("add", "+"), ("subtract", "-"), ("multiply", "*")):
        saturated = saturating_product if name == "multiply" else operation(operator, True)
        made.append(row(name, operation(operator, False), foreign=Foreign.MOVED, overflow="ERROR"))
        made.append(row(name, saturated, foreign=Foreign.MOVED, overflow=_NO_ERROR))
    for by_zero in ("ERROR", "NULL"):
        made.append(
            row(
                "divide",
                quotient(by_zero == "NULL"),
                foreign=Foreign.MOVED,
                on_division_by_zero=by_zero,
                on_domain_error=("ERROR", "NULL"),  # no value is outside the domain
            )
        )
    return tuple(made)


TABLE = Table(
    UNSIGNED_INTEGERS,
    (
        *_operations(),
        row("sum", total(False), steps=in_steps(total(False)), foreign=Foreign.MOVED, overflow="ERROR"),
        # no value is negative, so a bound on a partial sum bounds the whole
        row("sum", total(True), steps=in_steps(total(True)), foreign=Foreign.MOVED, overflow=_NO_ERROR),
        row("min", "[min({x})]", steps=in_steps("[min({0})]"), foreign=Foreign.ORDERED),
        row("max", "[max({x})]", steps=in_steps("[max({0})]"), foreign=Foreign.ORDERED),
    ),
)

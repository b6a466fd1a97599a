"""Window functions that only Spark has (``functions_spark_window.yaml``): those that ignore nulls."""

from __future__ import annotations

from collections.abc import Callable

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.sql.functions.arithmetic.windows import at_end, nth_value, position_error, shifted
from pyspark_substrait.sql.functions.over import Over
from pyspark_substrait.sql.functions.table import Call, Foreign, Row, Table, row

__all__ = ["TABLE"]

_LARGEST = 2**31 - 1


def _window(call: Call) -> Over:
    assert call.over is not None, f"{call.function.key} stands outside windows"
    return call.over


def _constant(call: Call, position: int, smallest: int) -> int:
    value = call.operands[position].literal
    if not isinstance(value, int) or not smallest <= value <= _LARGEST:
        raise InvalidPlanError(f"it must be a literal between {smallest} and {_LARGEST}", path=f"arguments[{position}]")
    return value


def known_at_end(name: str, position: int) -> Callable[[Call], str]:
    """The first or the last value of the frame that isn't null."""

    def body(call: Call) -> str:
        over = _window(call)
        if over.frame is not None:
            return call.aggregate(name, call.sql(0), ignore_nulls=True)
        return _known(call, position)

    return body


def known_nth_value(call: Call) -> str:
    """Return the value at a position among the non-null values of the frame."""
    position = _constant(call, 1, 1)
    if _window(call).frame is not None:
        return call.aggregate("nth_value", call.sql(0), str(position), ignore_nulls=True)
    return _known(call, position)


def _known(call: Call, position: int) -> str:
    values = f"filter({_window(call).elements(call.sql(0))}, e -> e.f0 IS NOT NULL)"
    return f"try_element_at({values}, {position}).f0"


def known_shifted(name: str) -> Callable[[Call], str]:
    """Return the value of a record before or after, among those whose value isn't null."""

    def body(call: Call) -> str:
        arguments = [call.sql(0), str(_constant(call, 1, -_LARGEST)), *(operand.sql for operand in call.operands[2:])]
        return f"{name}({', '.join(arguments)}) IGNORE NULLS OVER ({_window(call).ordered})"

    return body


def _both(name: str, known: Callable[[Call], str], plain: Callable[[Call], str]) -> tuple[Row, ...]:
    return (
        row(name, plain, ignore_nulls="FALSE", foreign=Foreign.MOVED),
        row(name, known, ignore_nulls="TRUE", foreign=Foreign.MOVED),
    )


TABLE = Table(
    "extension:pyspark_substrait:functions_spark_window",
    (
        *_both("first_value", known_at_end("first_value", 1), at_end("first_value", 1)),
        *_both("last_value", known_at_end("last_value", -1), at_end("last_value", -1)),
        *_both("nth_value", known_nth_value, nth_value(position_error)),
        *_both("lead", known_shifted("lead"), shifted("lead", "+")),
        *_both("lag", known_shifted("lag"), shifted("lag", "-")),
    ),
)

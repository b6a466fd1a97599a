"""The elementary functions of ``functions_arithmetic.yaml``: exponential, trigonometric and hyperbolic ones.

TIE_TO_EVEN is Spark's own function, whose results are within two units of the last place; so is TIE_AWAY_FROM_ZERO,
because none of these functions has a value that is a midpoint between two numbers. The other directions are exact.
Before 4.2, Spark's ``asinh`` and ``acosh`` are far from it (``asinh(-1e9)`` is negative infinity): they are composed.

A NaN isn't outside a domain: it gives NaN. The arguments of ``atan2`` are y, then x, as in the specification's cases.
No pair is outside its domain: the angle of (0, 0) is 0, as IEEE 754 has it, so both values of
``on_domain_error`` mean the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from pyspark_substrait.model.types import FP64
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.catalyst import CatalystForms
from pyspark_substrait.sql.functions.common_expressions import LAMBDAS_SINCE, as_double, bound, narrowed, raised
from pyspark_substrait.sql.functions.elementary import formulas
from pyspark_substrait.sql.functions.elementary.arguments import directions, turned
from pyspark_substrait.sql.functions.elementary.machine import machine
from pyspark_substrait.sql.functions.elementary.rounding import DIRECTIONS, NEAREST, rounded
from pyspark_substrait.sql.functions.table import Call, Row, row
from pyspark_substrait.sql.spark_version import OLDEST, SparkVersion

__all__ = ["ROWS", "failed", "through_double"]


def failed(call: Call) -> str:
    """Return the error for an exact value that can't be distinguished from a number of the type."""
    reason = "the result is too near to a number to be rounded in a direction"
    return raised(replace(call, output=FP64()), reason)


def through_double(name: str) -> Callable[[Call], str]:
    """A function that Spark has for DOUBLE only."""

    def body(call: Call) -> str:
        operands = ", ".join(as_double(call, position) for position in range(len(call.operands)))
        return narrowed(Atom(f"{name}({operands})"), call.output)

    return body


@dataclass(frozen=True, slots=True, kw_only=True)
class Elementary:
    """An elementary function and its exact form.

    Args:
        name: its name, which is also that of Spark's function.
        exact: the condition on ``x`` that Spark's result is exact (infinite ones are).
        formula: the value to be rounded elsewhere.
        outside: the condition on ``{x}`` that it is outside the domain, if there is such a number.
        turned: whether the formula is of the rest after the quarter turns of an angle.
        catalyst: the Catalyst class, if it isn't the capitalized name.
        since: the first version of Spark whose analyser takes the text of the formula.
        before: the text of the function for versions of Spark before :data:`_PRECISE`; by default Spark's own.
    """

    name: str
    exact: str
    formula: Callable[[], formulas.Cases]
    outside: str | None = None
    turned: bool = False
    catalyst: str = ""
    since: SparkVersion = OLDEST
    before: str = ""

    def _of_x(self, call: Call) -> str:
        """Return the text of the function of a column ``x``, to the nearest."""
        return self.before if self.before and call.spark < _PRECISE else f"{self.name}(x)"

    def nearest(self, call: Call) -> str:
        if self.before and call.spark < _PRECISE:
            return bound(as_double(call, 0), "x", narrowed(self._of_x(call), call.output))
        return through_double(self.name)(call)

    def directed(self, direction: str) -> Callable[[Call], str]:
        """The body for a direction of rounding."""

        def body(call: Call) -> str:
            exact = f"x IS NULL OR isnan(x) OR {self.exact}"
            if self.outside is not None:
                exact += f" OR {self.outside.format(x='x')}"
            own = narrowed(self._of_x(call), call.output)
            text = rounded(machine(self.formula()), direction, call.output, failed(call))
            if self.turned:
                text = bound(turned("x"), "g", text)
            return bound(as_double(call, 0), "x", f"if({exact}, {own}, {text})")

        return body

    def rows(self) -> Iterator[Row]:
        bodies: dict[tuple[str, ...], Callable[[Call], str]] = {NEAREST: self.nearest}
        bodies.update({(direction,): self.directed(direction) for direction in DIRECTIONS})
        for rounding, body in bodies.items():
            meant: CatalystForms = (self.catalyst or self.name.capitalize()) if rounding is NEAREST else ()
            since = OLDEST if rounding is NEAREST else self.since
            if self.outside is None:
                yield row(self.name, body, rounding=rounding, catalyst=meant, since=since)
            else:
                yield row(self.name, body, rounding=rounding, on_domain_error="NAN", catalyst=meant, since=since)
                failing = _failing(self.outside, body)
                yield row(self.name, failing, rounding=rounding, on_domain_error="ERROR", since=since)


def _failing(outside: str, body: Callable[[Call], str]) -> Callable[[Call], str]:
    """Return a body that raises an error outside the domain."""

    def failing(call: Call) -> str:
        failed = raised(call, "the argument is outside the domain")
        return Atom(f"if({outside.format(x=as_double(call, 0))}, {failed}, {body(call)})")

    return failing


def angle(direction: str) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        point = f"named_struct('y', {as_double(call, 0)}, 'x', {as_double(call, 1)})"
        infinity = "double('infinity')"
        exact = "x.x IS NULL OR x.y IS NULL OR isnan(x.x) OR isnan(x.y) OR x.y = 0D AND x.x >= 0D"
        exact += f" OR x.x = {infinity} AND abs(x.y) < {infinity}"
        own = narrowed("atan2(x.y, x.x)", call.output)
        text = rounded(machine(formulas.angle()), direction, call.output, failed(call))
        return bound(point, "x", f"if({exact}, {own}, {bound(directions('x.y', 'x.x'), 'g', text)})")

    return body


_INFINITE = "x = 0D OR abs(x) = double('infinity')"
_UNIT = "abs({x}) > 1D AND NOT isnan({x})"
#: the first version with precise asinh and acosh
_PRECISE = SparkVersion(4, 2)
#: above it, the square root of ``x * x + 1`` is ``x``
_LARGE, _LN_2 = f"{2.0**28!r}D", f"{math.log(2.0)!r}D"

_FUNCTIONS = (
    Elementary(name="exp", exact=_INFINITE, formula=formulas.exponential),
    *(
        Elementary(name=name, exact=_INFINITE, formula=partial(formulas.hyperbolic, name))
        for name in ("sinh", "cosh", "tanh")
    ),
    *(
        Elementary(
            name=name,
            exact=_INFINITE,
            formula=partial(formulas.trigonometric, name),
            turned=True,
            since=LAMBDAS_SINCE,
        )
        for name in ("sin", "cos", "tan")
    ),
    Elementary(
        name="asinh",
        exact=_INFINITE,
        formula=partial(formulas.area, "asinh"),
        before=(
            f"sign(x) * if(abs(x) > {_LARGE}, ln(abs(x)) + {_LN_2}, log1p(abs(x) + x * x / (1D + sqrt(x * x + 1D))))"
        ),
    ),
    Elementary(
        name="acosh",
        exact="x = 1D OR x = double('infinity')",
        formula=partial(formulas.area, "acosh"),
        outside="{x} < 1D",
        before=(
            "CASE WHEN x < 1D THEN double('nan') "
            f"WHEN x > {_LARGE} THEN ln(x) + {_LN_2} ELSE log1p(x - 1D + sqrt((x - 1D) * (x + 1D))) END"
        ),
    ),
    Elementary(name="atanh", exact="x = 0D OR abs(x) = 1D", formula=partial(formulas.area, "atanh"), outside=_UNIT),
    Elementary(name="asin", exact="x = 0D", formula=formulas.arcus_sine, outside=_UNIT),
    Elementary(name="acos", exact="x = 1D", formula=formulas.arcus_cosine, outside=_UNIT),
    Elementary(name="atan", exact="x = 0D", formula=formulas.arcus_tangent),
    Elementary(
        name="radians", exact=_INFINITE, formula=partial(formulas.proportional, formulas.PI / 180), catalyst="ToRadians"
    ),
    Elementary(
        name="degrees", exact=_INFINITE, formula=partial(formulas.proportional, 180 / formulas.PI), catalyst="ToDegrees"
    ),
)

ROWS = (
    *(made for function in _FUNCTIONS for made in function.rows()),
    row("atan2", through_double("atan2"), rounding=NEAREST, on_domain_error=("NAN", "ERROR"), catalyst="Atan2"),
    *(row("atan2", angle(direction), rounding=direction, on_domain_error=("NAN", "ERROR")) for direction in DIRECTIONS),
)

"""The internal functions that rewriting adds to a plan (see ``decorrelation``); no plan can name them."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark_substrait.model.expressions import Function
from pyspark_substrait.model.types import Type
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.decorrelation.constructors import FETCHED, NOT_NEGATIVE, ONCE, ONLY_VALUE
from pyspark_substrait.sql.fragment import Atom, Constant

__all__ = ["checked_bound", "fetched", "internal"]


def internal(function: Function, operands: Sequence[str], output: Type) -> Atom | None:
    """Return the text of a call; None if the function isn't internal."""
    if function is ONLY_VALUE:
        number, value = operands
        error = f"raise_error({string_literal('more than one row returned by a scalar subquery')})"
        return Atom(f"(CASE WHEN {number} > 1 THEN CAST({error} AS {spark_type(output)}) ELSE {value} END)")
    if function is NOT_NEGATIVE:
        return Atom(f"({' AND '.join(f'coalesce({checked_bound(bound)}, 0L) >= 0L' for bound in operands)})")
    if function is FETCHED:
        number, offset, count = operands
        return fetched(number, checked_bound(offset), checked_bound(count))
    if function is ONCE:
        # Spark inlines a WITH clause at each use, unless it contains something nondeterministic
        return Atom("monotonically_increasing_id()")
    return None


def fetched(number: str, offset: str | None, count: str | None) -> Atom:
    """Return whether a fetch keeps the record with this number; its bounds are of i64, null or None if absent."""
    conditions = []
    skipped = "0L" if offset is None else f"coalesce({offset}, 0L)"
    if offset is not None:
        conditions.append(f"{number} > {skipped}")
    if count is not None:
        conditions.append(f"({count} IS NULL OR {number} - {skipped} <= {count})")
    return Atom(f"({' AND '.join(conditions)})") if conditions else Constant("true")


def checked_bound(bound: str) -> Atom:
    """A bound as an i64 that raises when it is negative."""
    negative = f"raise_error({string_literal('a bound of a fetch is negative')})"
    return Atom(f"(CASE WHEN {bound} < 0 THEN CAST({negative} AS BIGINT) ELSE CAST({bound} AS BIGINT) END)")

"""One conversion from a type to another, and the fragments that the cast modules share."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import Type, with_nullability
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.fragment import Atom, Constant, Name
from pyspark_substrait.sql.spark_version import NEWEST, SparkVersion

__all__ = ["Conversion"]

#: an operand up to this length is repeated as it is; a longer one gets a name
_SHORT: Final = 60


@dataclass(frozen=True)
class Conversion:
    """From ``source`` to ``target``: a value that doesn't fit becomes null, or else raises.

    A cast module writes different texts for the two only where a value may fail to fit. ``depth`` counts the enclosing
    lambdas, so that each has its own parameters. ``holds_query``: whether the text that is cast contains a subquery.
    ``version``: the Spark that the text is for.
    """

    source: Type
    target: Type
    null: bool
    depth: int = 0
    holds_query: bool = False
    version: SparkVersion = NEWEST

    @property
    def carrier(self) -> str:
        """The Spark type of the target."""
        return spark_type(self.target)

    def raising(self) -> Conversion:
        """The same conversion, which raises where a value doesn't fit."""
        return replace(self, null=False)

    def spark(self, sql: str, carrier: str | None = None) -> str:
        """Spark's own cast, where it may fail."""
        return Atom(f"{'try_cast' if self.null else 'CAST'}({sql} AS {carrier or self.carrier})")

    def times(self, sql: str, factor: int) -> str:
        """Multiply a BIGINT by a factor, where the product may be too large."""
        return Atom(f"try_multiply({sql}, {factor}L)") if self.null else Atom(f"({sql} * {factor}L)")

    def failed(self) -> str:
        """The text for a value that doesn't fit: a null or an error."""
        if self.null:
            return Atom(f"CAST(NULL AS {self.carrier})")
        source, target = with_nullability(self.source, False), with_nullability(self.target, False)
        message = f"CAST from {source} to {target}: a value doesn't fit"
        return Atom(f"CAST(raise_error({string_literal(message)}) AS {self.carrier})")

    def unless(self, condition: str, sql: str) -> str:
        """Return ``sql``, or a failure if the condition is true; a null condition isn't a failure."""
        return Atom(f"if({condition}, {self.failed()}, {sql})")

    def matching(self, operand: str, pattern: str, sql: str) -> str:
        """Return ``sql`` if the text ``operand`` matches; null for a null, and a failure for any other text."""
        known = operand.value if isinstance(operand, Constant) else None
        # an escaped text is left to Spark
        if isinstance(known, str) and operand == f"'{known}'" and re.search(pattern, known, re.ASCII):
            return sql
        return (
            f"CASE WHEN {operand} IS NULL THEN CAST(NULL AS {self.carrier}) "
            f"WHEN {operand} RLIKE {string_literal(pattern)} THEN {sql} ELSE {self.failed()} END"
        )

    def bound(self, letter: str, sql: str, body: Callable[[str], str]) -> str:
        """Return ``body`` of an operand. A long operand that is used several times is computed once, under a name.

        Without that, nested casts would grow exponentially. A subquery is repeated all the same: Spark takes none in
        the operands of functions with lambdas, and runs equal ones once. ``letter`` must differ from those of the
        enclosing bindings in the same conversion.
        """
        if len(sql) <= _SHORT:
            return body(sql)
        name = Name(f"{letter}{self.depth}")
        text = body(name)
        if text.count(name) < 2 or self.holds_query:
            return body(sql)
        return f"transform(array({sql}), {name} -> {text})[0]"

    def no_cast(self) -> UnsupportedPlanError:
        """Return the error for a pair of types that has no rule."""
        source, target = with_nullability(self.source, False), with_nullability(self.target, False)
        return UnsupportedPlanError(f"there is no cast from {source} to {target} whose result is certain")

"""Calls of the specification's functions in the rows of an engine's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pyspark_substrait.model.types import I64, String
from pyspark_substrait.sql import functions
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.fragment import Atom, Constant
from pyspark_substrait.sql.functions.table import Call, Operand

__all__ = ["as_specified", "bounded_int", "integer_operand", "text_operand"]


def as_specified(extension: str, name: str | None = None, **options: str) -> Callable[[Call], str]:
    """Return the body of a function of the specification, of the same name by default, with these option values."""

    def body(call: Call) -> str:
        urn = extension if ":" in extension else f"extension:io.substrait:{extension}"
        table = functions.table(urn, call.spark)
        assert table is not None
        if name is not None:
            call = replace(call, function=replace(call.function, name=name))
        return table.text(call, tuple((option, (value,)) for option, value in options.items()))

    return body


def text_operand(value: str) -> Operand:
    return Operand(Constant(string_literal(value), value), String())


def integer_operand(value: int) -> Operand:
    return Operand(Constant(f"{value}L", value), I64())


def bounded_int(number: str, low: int | str, high: int | str) -> Atom:
    """Return a number as an INT, the nearest one between two; null if it is null, which LEAST would ignore."""
    return Atom(
        f"CAST(CASE WHEN {number} < {low} THEN {low} WHEN {number} > {high} THEN {high} ELSE {number} END AS INT)"
    )

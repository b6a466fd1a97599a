"""Dynamic parameters and their values. Spec: expressions/dynamic_parameters."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark_substrait.codes import Code, Level
from pyspark_substrait.model.expressions import DynamicParameter
from pyspark_substrait.model.findings import Finding
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.plan import ExtendedExpression, Plan
from pyspark_substrait.model.types import Type, Unbound, concrete, same_type

__all__ = ["parameters"]


def parameters(document: Plan | ExtendedExpression, uses: list[tuple[DynamicParameter, Path]]) -> Iterator[Finding]:
    """Check for parameters with two types, for values of another type than their parameter, and for unused values."""
    types: dict[int, Type] = {}
    for parameter, path in uses:
        anchor = parameter.parameter_reference
        known = types.setdefault(anchor, parameter.type)
        if not _alike(known, parameter.type):
            what = f"the parameter {anchor} is {parameter.type} here and {known} elsewhere"
            fix = "Give it one type, or another number"
            yield Finding.of(Code.TYPE_MISMATCH, (path, "dynamic_parameter"), what, level=Level.WARNING, fix=fix)
    if not isinstance(document, Plan):
        return
    for index, binding in enumerate(document.parameter_bindings):
        place: Path = (((None, "parameter_bindings"), index), "value")
        wanted = types.get(binding.parameter_anchor)
        if wanted is None:
            what = f"the parameter {binding.parameter_anchor} has a value, and nothing refers to it"
            yield Finding.of(Code.REDUNDANT_FIELD, place, what, fix="Leave it out")
        elif not _alike(binding.value.type, wanted):
            what = f"the value of the parameter {binding.parameter_anchor} is {binding.value.type}, not {wanted}"
            why = "The type of a parameter is the type that its value is expected to have."
            yield Finding.of(Code.TYPE_MISMATCH, place, what, why=why, fix="Give it a value of that type")


def _alike(left: Type, right: Type) -> bool:
    left, right = concrete(left), concrete(right)
    return isinstance(left, Unbound) or isinstance(right, Unbound) or same_type(left, right)

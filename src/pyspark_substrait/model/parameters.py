"""The dynamic parameters of a plan, and their values. Spec: expressions/dynamic_parameters.

The specification says that a plan may bind its parameters itself, but not what happens when the caller gives a value
too. A value in the plan counts as a default: the caller's wins.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark_substrait.errors import ParameterError, at
from pyspark_substrait.model.expressions import DynamicParameter
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.plan import Plan
from pyspark_substrait.model.types import Type, same_type
from pyspark_substrait.model.value_texts import literal_of_text
from pyspark_substrait.model.values import literal_of
from pyspark_substrait.model.walk import all_expressions

__all__ = ["declared_parameters", "parameter_texts", "parameter_values"]


def declared_parameters(plan: Plan) -> dict[int, Type]:
    """Return the type of each dynamic parameter that a plan refers to, by its number.

    A parameter that is nullable in one place and not in another can't be null.

    Raises:
        ParameterError: the plan refers to one parameter with two types.
    """
    found: dict[int, Type] = {}
    for node in all_expressions(*plan.trees, named_lambdas=True):
        if not isinstance(node, DynamicParameter):
            continue
        known = found.get(node.parameter_reference)
        if known is not None and not same_type(known, node.type):
            raise ParameterError(
                f"the plan refers to the dynamic parameter {node.parameter_reference} as {known} and as {node.type}"
            )
        if known is None or known.nullable:
            found[node.parameter_reference] = node.type
    return dict(sorted(found.items()))


def parameter_values(plan: Plan, given: Mapping[int, object] | None = None) -> dict[int, Literal]:
    """Return the value of each parameter, by its number: the given one, or else the one that the plan binds.

    Args:
        plan: the plan.
        given: Python values (see ``values``), or literals, by the parameter's number.

    Raises:
        ParameterError: the plan has no such parameter, or the value isn't one of its type.
    """
    values = {binding.parameter_anchor: binding.value for binding in plan.parameter_bindings}
    if not given:
        return values
    for number, type in _chosen(plan, given).items():
        with at(f"parameters[{number}]"):
            values[number] = literal_of(given[number], type)
    return values


def parameter_texts(plan: Plan, given: Mapping[int, str | None]) -> dict[int, Literal]:
    """Return literals for values given as text (see ``value_texts``); None stands for null.

    Raises:
        ParameterError: as :func:`parameter_values`.
    """
    found = {}
    for number, type in _chosen(plan, given).items():
        text = given[number]
        with at(f"parameters[{number}]"):
            found[number] = literal_of(None, type) if text is None else literal_of_text(text, type)
    return found


def _chosen(plan: Plan, given: Mapping[int, object]) -> dict[int, Type]:
    """Return the types of the given parameters."""
    declared = declared_parameters(plan)
    for number in given:
        if number not in declared:
            has = ", ".join(f"{known} ({type})" for known, type in declared.items())
            raise ParameterError(f"the plan has no dynamic parameter {number!r}", hint=f"It has {has or 'none'}")
    return {number: declared[number] for number in given}

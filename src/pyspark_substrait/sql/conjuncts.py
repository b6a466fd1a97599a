"""The operands of a chain of AND, or of another associative function."""

from __future__ import annotations

from pyspark_substrait.model.expressions import EnumArgument, Expression, ScalarFunction, TypeArgument

__all__ = ["BOOLEAN", "COMPARISON", "conjuncts", "operands_of"]

BOOLEAN = "extension:io.substrait:functions_boolean"
COMPARISON = "extension:io.substrait:functions_comparison"


def conjuncts(condition: Expression) -> list[Expression]:
    """Return the conditions that a condition combines with AND."""
    return operands_of(condition, BOOLEAN, "and")


def operands_of(call: Expression, urn: str, name: str) -> list[Expression]:
    """Return the operands of nested calls of an associative function: ``and(and(a, b), c)`` has a, b, c.

    An expression that isn't such a call is its only operand.
    """
    found: list[Expression] = []
    pending = [call]
    while pending:
        current = pending.pop()
        if isinstance(current, ScalarFunction) and _is(current, urn, name):
            pending.extend(
                item for item in reversed(current.arguments) if not isinstance(item, EnumArgument | TypeArgument)
            )
        else:
            found.append(current)
    return found


def _is(call: ScalarFunction, urn: str, name: str) -> bool:
    """Whether a call with arguments and without options is one of a certain function."""
    function = call.function
    return function.name == name and function.urn == urn and bool(call.arguments) and not call.options

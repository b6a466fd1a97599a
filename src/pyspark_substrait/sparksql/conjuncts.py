"""What a chain of AND, or of another associative function, is made of."""

from __future__ import annotations

from pyspark_substrait.model.expressions import EnumArgument, Expression, Function, ScalarFunction, TypeArgument

__all__ = ["BOOLEAN", "COMPARISON", "conjuncts", "operands_of"]

BOOLEAN = "extension:io.substrait:functions_boolean"
COMPARISON = "extension:io.substrait:functions_comparison"


def conjuncts(condition: Expression) -> list[Expression]:
    """The conditions with AND between them that a condition is made of."""
    return operands_of(condition, BOOLEAN, "and")


def operands_of(call: Expression, urn: str, name: str) -> list[Expression]:
    """The operands of nested calls of an associative function: ``and(and(a, b), c)`` has a, b, c.

    An expression that isn't such a call is its own only operand.
    """
    found: list[Expression] = []
    pending = [call]
    while pending:
        current = pending.pop()
        match current:
            case ScalarFunction(function=Function(urn=at_urn, name=at_name), arguments=arguments, options=()) if (
                at_urn,
                at_name,
            ) == (urn, name) and arguments:
                pending.extend(
                    item for item in reversed(arguments) if not isinstance(item, EnumArgument | TypeArgument)
                )
            case _:
                found.append(current)
    return found

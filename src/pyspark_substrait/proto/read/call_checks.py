"""Checks of a call that don't change it: its options, constant arguments, and what is known without types."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark_substrait.codes import Code
from pyspark_substrait.extensions.definitions import FunctionDefinition, ValueArgument
from pyspark_substrait.extensions.resolution import Resolved
from pyspark_substrait.model.expressions import (
    Argument,
    EnumArgument,
    Expression,
    FieldReference,
    LambdaParameterReference,
    OuterReference,
    RootReference,
    TypeArgument,
)
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.plan import ExtensionDeclaration
from pyspark_substrait.model.walk import expression_children, subquery_relation
from pyspark_substrait.proto.read.arrow import Option
from pyspark_substrait.proto.read.context import Reading, invalid

__all__ = ["check_constants", "check_loosely", "check_named_options", "checked_options"]


def checked_options(given: list[Option], definition: FunctionDefinition, reading: Reading, path: Path) -> list[Option]:
    """The options of a call in the spelling of the definition, without those that it doesn't have."""
    kept: list[Option] = []
    for option in given:
        with reading.going_on(path, Code.EXPRESSION_OPTION):
            kept.append(definition.check_option(option, kept))
    return kept


def check_loosely(
    declared: ExtensionDeclaration, count: int, given: list[Option], reading: Reading, path: Path
) -> None:
    """Report the faults of a call that don't depend on the types of its arguments, where these aren't known."""
    name = declared.name.partition(":")[0]
    if reading.findings is None or not declared.urn or declared.urn not in reading.registry.urns():
        return
    overloads = reading.registry.overloads(declared.urn, name)
    if not overloads:
        what = f"there is no function `{name}` of `{declared.urn}`"
        hint = "`pyspark-substrait functions` lists the known ones"
        reading.fault(invalid(what, path, hint, Code.LINK_UNRESOLVED_NAME))
    elif not any(overload.takes(count) for overload in overloads):
        what = f"no overload of `{name}` takes {count} arguments"
        hint = f"There are: {'; '.join(overload.signature() for overload in overloads[:8])}"
        reading.fault(invalid(what, path, hint, Code.EXPRESSION_NO_OVERLOAD))
    check_named_options(overloads, given, reading, path)


def check_named_options(
    overloads: Sequence[FunctionDefinition], given: list[Option], reading: Reading, path: Path
) -> None:
    """Report options that no overload of a function has."""
    known = {option.lower() for overload in overloads for option, _ in overload.options}
    for option, _ in given if overloads else ():
        if option.lower() not in known:
            what = f"no overload of `{overloads[0].name}` has an option `{option}`"
            reading.fault(invalid(what, path, code=Code.EXPRESSION_OPTION))


def check_constants(found: Resolved, arguments: list[Argument], reading: Reading, path: Path) -> None:
    """Refuse an argument that depends on the record where the function requires a constant."""
    assert found.definition is not None
    sources = found.sources if found.notes else range(len(arguments))
    for position, source in enumerate(sources):
        declared = found.definition.argument(position) if found.definition.arguments else None
        if source is None or not isinstance(declared, ValueArgument) or not declared.constant:
            continue
        argument = arguments[source]
        if not isinstance(argument, EnumArgument | TypeArgument) and _varies(argument):
            fault = f"`{found.definition.key}` takes only a constant here"
            hint = "Write the value in the plan"
            reading.fault(invalid(fault, (path, source), hint, Code.EXPRESSION_NOT_CONSTANT))


def _varies(expression: Expression) -> bool:
    """Whether an expression refers to data."""
    if subquery_relation(expression) is not None:
        return True
    if isinstance(expression, FieldReference) and isinstance(
        expression.root, RootReference | OuterReference | LambdaParameterReference
    ):
        return True
    return any(map(_varies, expression_children(expression)))

"""Rules about ``and``, ``or`` and ``not``."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark_substrait.analysis.lint.expression_match import (
    BOOLEAN,
    COMPARISON,
    arguments,
    called,
    deterministic,
    is_constant,
    logical,
    worded,
)
from pyspark_substrait.analysis.lint.expression_match import plain as _plain
from pyspark_substrait.analysis.lint.rule import Context, Remark, rule
from pyspark_substrait.codes import Code
from pyspark_substrait.model.expressions import Expression, Function, ScalarFunction
from pyspark_substrait.model.types import Boolean

__all__: list[str] = []

_OPPOSITE = {
    "is_null": "is_not_null",
    "is_not_null": "is_null",
    "is_true": "is_not_true",
    "is_not_true": "is_true",
    "is_false": "is_not_false",
    "is_not_false": "is_false",
}
_TURNED = {"equal": "not_equal", "not_equal": "equal"}


def _operands(node: ScalarFunction) -> tuple[Expression, ...] | None:
    """The operands of an ``and`` or an ``or`` that takes booleans; None for other calls."""
    return arguments(node) if called(node, BOOLEAN, "and", "or") else None


@rule(Code.LINT_DOUBLE_NEGATION, ScalarFunction, fixes=True)
def double_negation(node: ScalarFunction, context: Context) -> Iterator[Remark]:
    """Two negations cancel each other, also for null: `not` of null is null."""
    if called(node, BOOLEAN, "not"):
        inner = _plain(arguments(node)[0])
        if isinstance(inner, ScalarFunction) and called(inner, BOOLEAN, "not"):
            operand = arguments(inner)[0]
            yield Remark(what=f"{worded(operand, context.names)} is negated twice", instead=operand)


@rule(Code.LINT_NEGATED_TEST, ScalarFunction, fixes=True)
def negated_test(node: ScalarFunction, context: Context) -> Iterator[Remark]:
    """A negated test for null, true or false is the opposite test, and a negated equality is an inequality. The tests
    never give null, so nothing else is negated with them."""
    if not called(node, BOOLEAN, "not"):
        return
    inner = _plain(arguments(node)[0])
    if not isinstance(inner, ScalarFunction) or not called(inner, COMPARISON, *_OPPOSITE, *_TURNED):
        return
    name = inner.function.name
    if name in _OPPOSITE:
        other = Function(COMPARISON, _OPPOSITE[name], inner.function.signature)
        call = None
        if context.registry.function(COMPARISON, other.key) is not None and inner.type == Boolean():
            call = ScalarFunction(
                function=other, arguments=inner.arguments, output_type=Boolean(), derived_type=Boolean()
            )
        yield Remark(what=f"{name} is negated", fix=f"Call {_OPPOSITE[name]}", instead=call)
    else:
        yield Remark(what=f"{name} is negated", fix=f"Call {_TURNED[name]}")


@rule(Code.LINT_NESTED_LOGIC, ScalarFunction, fixes=True)
def nested_logic(node: ScalarFunction, context: Context) -> Iterator[Remark]:
    """`and` and `or` take any number of conditions, so an `and` inside an `and` is the same as one `and` with all
    conditions."""
    operands = _operands(node)
    name = node.function.name
    nested = [operand for operand in operands or () if called(operand, BOOLEAN, name)]
    # of a whole chain, only the innermost is reported
    deeper = [item for operand in nested for item in arguments(operand) if called(item, BOOLEAN, name)]  # type: ignore[arg-type]
    if operands is None or not nested or deeper:
        return
    flat: list[Expression] = []
    for operand in operands:
        if isinstance(operand, ScalarFunction) and called(operand, BOOLEAN, name):
            flat.extend(arguments(operand))
        else:
            flat.append(operand)
    what = f"an `{name}` is an argument of an `{name}`"
    yield Remark(what=what, fix="Write one call with all conditions", instead=logical(name, tuple(flat)))


@rule(Code.LINT_SINGLE_OPERAND, ScalarFunction, fixes=True)
def single_operand(node: ScalarFunction, context: Context) -> Iterator[Remark]:
    """`and` or `or` of one condition is that condition."""
    operands = _operands(node)
    if operands is not None and len(operands) == 1:
        yield Remark(what=f"`{node.function.name}` has one condition only", instead=operands[0])


@rule(Code.LINT_REPEATED_CONDITION, ScalarFunction, fixes=True)
def repeated_condition(node: ScalarFunction, context: Context) -> Iterator[Remark]:
    """A condition that occurs twice in the same `and` or `or` has no further effect. It may be a slip: another column
    was meant."""
    operands = _operands(node)
    if operands is None:
        return
    kept: list[Expression] = []
    repeated = None
    for operand in operands:
        if operand in kept and deterministic(operand, context):
            repeated = operand
        else:
            kept.append(operand)
    if repeated is not None:
        what = f"the condition {worded(repeated, context.names)} is repeated in an `{node.function.name}`"
        yield Remark(what=what, instead=logical(node.function.name, tuple(kept)))


@rule(Code.LINT_NEUTRAL_CONDITION, ScalarFunction, fixes=True)
def neutral_condition(node: ScalarFunction, context: Context) -> Iterator[Remark]:
    """True in an `and`, and false in an `or`, have no effect."""
    operands = _operands(node)
    neutral = node.function.name == "and"
    if operands is None or not any(is_constant(operand, neutral) for operand in operands):
        return
    kept = tuple(operand for operand in operands if not is_constant(operand, neutral)) or operands[:1]
    if kept != operands:
        what = f"{str(neutral).lower()} in an `{node.function.name}` has no effect"
        yield Remark(what=what, instead=logical(node.function.name, kept))


@rule(Code.LINT_DECIDED_CONDITION, ScalarFunction)
def decided_condition(node: ScalarFunction, context: Context) -> Iterator[Remark]:
    """False decides an `and`, and true an `or`: the other conditions have no effect."""
    operands = _operands(node)
    deciding = node.function.name == "or"
    if operands is not None and len(operands) > 1 and any(is_constant(operand, deciding) for operand in operands):
        text = str(deciding).lower()
        yield Remark(what=f"the `{node.function.name}` is always {text}, as it has {text} in it")

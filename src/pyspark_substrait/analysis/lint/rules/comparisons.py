"""Rules about comparisons."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark_substrait.analysis.lint.expression_match import (
    BOOLEAN,
    COMPARISON,
    arguments,
    called,
    deterministic,
    harmless,
    has_floats,
    is_constant,
    plain,
    worded,
)
from pyspark_substrait.analysis.lint.rule import Context, Remark, rule
from pyspark_substrait.codes import Code
from pyspark_substrait.model.expressions import FieldReference, ScalarFunction
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import Boolean

__all__: list[str] = []

_ALIKE = {"equal": True, "gte": True, "lte": True, "not_equal": False, "gt": False, "lt": False}
_ALIKE_WITH_NULLS = {"is_not_distinct_from": True, "is_distinct_from": False}
_STRING = "extension:io.substrait:functions_string"


@rule(Code.LINT_SELF_COMPARISON, ScalarFunction, fixes=True)
def self_comparison(node: ScalarFunction, context: Context) -> Iterator[Remark]:
    """A value compared with itself is equal, unless it is null (or a NaN, which not all engines treat as equal to
    itself). `x = x` tests for that in a roundabout way, and is more often a slip."""
    if not called(node, COMPARISON, *_ALIKE, *_ALIKE_WITH_NULLS):
        return
    left, right = arguments(node)
    if left != right or not deterministic(left, context) or isinstance(plain(left), Literal):
        return
    name = node.function.name
    outcome = _ALIKE.get(name, _ALIKE_WITH_NULLS.get(name))
    text = str(outcome).lower()
    exact = harmless(left) and not has_floats(left.type) and (name in _ALIKE_WITH_NULLS or not left.type.nullable)
    unless = "" if name in _ALIKE_WITH_NULLS or not left.type.nullable else " where it is not null"
    yield Remark(
        what=f"{worded(left, context.names)} is compared with itself by {name}, which is {text}{unless}",
        fix="Compare it with another value, or test it with is_not_null",
        instead=Literal(type=Boolean(), value=outcome) if exact else None,
    )


@rule(Code.LINT_NULL_TEST, ScalarFunction, fixes=True)
def null_test_of_required(node: ScalarFunction, context: Context) -> Iterator[Remark]:
    """A value of a required type is never null, so the test has no effect."""
    if not called(node, COMPARISON, "is_null", "is_not_null"):
        return
    (operand,) = arguments(node)
    if operand.type.nullable:
        return
    outcome = node.function.name == "is_not_null"
    yield Remark(
        what=f"{worded(operand, context.names)} is {operand.type} and never null, so {node.function.name} is always "
        f"{str(outcome).lower()}",
        instead=Literal(type=Boolean(), value=outcome) if harmless(operand) else None,
    )


@rule(Code.LINT_NULL_COMPARISON, ScalarFunction)
def comparison_with_null(node: ScalarFunction, context: Context) -> Iterator[Remark]:
    """A comparison with null gives null, never true: a filter with it drops every record."""
    if called(node, COMPARISON, *_ALIKE) and any(is_constant(plain(item), None) for item in arguments(node)):
        fix = "Call is_null, or is_not_distinct_from"
        yield Remark(what=f"{node.function.name} with null is always null", fix=fix)


@rule(Code.LINT_CONSTANT_COMPARISON, ScalarFunction)
def comparison_of_constants(node: ScalarFunction, context: Context) -> Iterator[Remark]:
    """A comparison of two literals gives the same for each record."""
    if called(node, COMPARISON, *_ALIKE, *_ALIKE_WITH_NULLS) and all(
        isinstance(plain(item), Literal) and not is_constant(plain(item), None) for item in arguments(node)
    ):
        yield Remark(what=f"{worded(node, context.names)} is the same for every record", fix="Write its value")


@rule(Code.LINT_CHAIN_OF_EQUALITIES, ScalarFunction)
def chain_of_equalities(node: ScalarFunction, context: Context) -> Iterator[Remark]:
    """Equalities of one value with many literals, combined by `or`, are one or-list, which engines can look up."""
    if not called(node, BOOLEAN, "or"):
        return
    compared = [
        arguments(item)[0]
        for item in arguments(node)
        if isinstance(item, ScalarFunction)
        and called(item, COMPARISON, "equal")
        and isinstance(arguments(item)[1], Literal)
    ]
    if len(compared) == len(arguments(node)) > 2 and all(item == compared[0] for item in compared):
        what = f"{worded(compared[0], context.names)} is compared with {len(compared)} literals one by one"
        yield Remark(what=what, fix="Write an or-list (singular_or_list)")


@rule(Code.LINT_PATTERN_WITHOUT_WILDCARD, ScalarFunction)
def pattern_without_wildcard(node: ScalarFunction, context: Context) -> Iterator[Remark]:
    """`like` with a pattern without % and _ compares whole texts, which `equal` does at less cost."""
    if node.function.urn != _STRING or node.function.name != "like":
        return
    items = arguments(node)
    pattern = plain(items[1]) if len(items) == 2 else None
    if isinstance(pattern, Literal) and isinstance(pattern.value, str) and not set("%_\\") & set(pattern.value):
        subject = items[0]
        what = f"{worded(subject, context.names)} is matched with {pattern.value!r}, which has no wildcard"
        if isinstance(subject, FieldReference):
            yield Remark(what=what, fix="Call equal, or add the missing wildcard")

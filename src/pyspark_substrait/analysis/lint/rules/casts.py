"""Rules about casts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pyspark_substrait.analysis.lint.expression_match import plain, worded
from pyspark_substrait.analysis.lint.rule import Context, Remark, rule
from pyspark_substrait.codes import Code
from pyspark_substrait.model.expressions import Cast
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import FP32, FP64, I8, I16, I32, I64, Decimal, Type, same_type

__all__: list[str] = []

_INTEGERS = (I8, I16, I32, I64)


def _keeps(source: Type, target: Type) -> bool:
    """Whether a cast keeps every value of a type as the same number, and a null as a null."""
    if source.variation is not None or target.variation is not None or (source.nullable and not target.nullable):
        return False
    if isinstance(source, _INTEGERS) and isinstance(target, _INTEGERS):
        return _INTEGERS.index(type(source)) <= _INTEGERS.index(type(target))
    return isinstance(source, FP32) and isinstance(target, FP64)


def _ends(source: Type, target: Type) -> bool:
    """Whether a cast to ``target`` gives the same for a number of ``source`` and for that number in a wider type."""
    if target.variation is not None:
        return False
    if isinstance(source, FP32):
        return isinstance(target, FP32 | FP64)
    return isinstance(target, (*_INTEGERS, Decimal, FP64))


@rule(Code.LINT_CAST_TO_SAME, Cast, fixes=True)
def cast_to_same_type(node: Cast, context: Context) -> Iterator[Remark]:
    """A cast of a value to its own type has no effect."""
    if node.input.type == node.type:
        yield Remark(
            what=f"{worded(node.input, context.names)} is {node.type} already and cast to it", instead=node.input
        )


@rule(Code.LINT_CAST_OF_CAST, Cast, fixes=True)
def cast_of_cast(node: Cast, context: Context) -> Iterator[Remark]:
    """A cast of a lossless cast, for example of an integer to a wider one, is a single cast."""
    inner = plain(node.input)
    if not isinstance(inner, Cast):
        return
    source = inner.input.type
    if _keeps(source, inner.type) and _ends(source, node.type) and inner.type != source:
        direct = inner.input if source == node.type else replace(node, input=inner.input)
        yield Remark(
            what=f"{worded(inner.input, context.names)} is cast from {source} to {inner.type} and then to {node.type}",
            fix="Cast once",
            instead=direct,
        )


@rule(Code.LINT_CAST_OF_LITERAL, Cast)
def cast_of_literal(node: Cast, context: Context) -> Iterator[Remark]:
    """A literal can be written in the required type; a cast of it is work for each reader of the plan. A cast that only
    makes it nullable is not reported: some producers need it."""
    inner = plain(node.input)
    if isinstance(inner, Literal) and not same_type(inner.type, node.type):
        what = f"the literal {worded(inner, context.names)} of type {inner.type} is cast to {node.type}"
        yield Remark(what=what, fix=f"Write a literal of type {node.type}")

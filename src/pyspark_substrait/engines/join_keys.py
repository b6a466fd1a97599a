"""Conditions of joins that an engine would take for other keys than they are.

DataFusion makes ``a IS NOT DISTINCT FROM b`` a key of a join in which nulls are equal. An equality that its optimizer
finds later, in a filter above or beside columns that are keys already, becomes another key of that join, and nulls are
equal there as well: ``t JOIN u ON (a IS NOT DISTINCT FROM c) WHERE b = d`` has records whose ``b`` and ``d`` are null.

It leaves out records of one input that are not between the least and the greatest key of the other; where fields of
structs are null, these are wrong. So structs are compared in another condition than a key.

Nor does it take an equality of two columns of one input.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal as Digits
from typing import Final

from pyspark_substrait.engines.constructors import (
    BOOLEAN,
    boolean_call,
    coalesced,
    compared,
    equal,
    is_null,
)
from pyspark_substrait.engines.inner_joins import conjunction, conjuncts, disjunction
from pyspark_substrait.model import types
from pyspark_substrait.model.expressions import (
    Expression,
    FieldReference,
    Function,
    IfClause,
    IfThen,
    RootReference,
    ScalarFunction,
    StructField,
)
from pyspark_substrait.model.literals import Literal, LiteralValue
from pyspark_substrait.model.relations import Join, JoinType
from pyspark_substrait.model.types import Type, concrete, with_nullability
from pyspark_substrait.model.walk import expression_children, root_fields

__all__ = ["with_known_keys", "without_one_sided_keys"]

#: joins below whose filters an optimizer may find further keys
_PAIRED: Final = frozenset({JoinType.INNER, JoinType.LEFT, JoinType.RIGHT, JoinType.OUTER})
_MOST_BLANKS: Final = 100
#: some value of a type
_VALUES: Final[dict[type[Type], LiteralValue]] = {
    types.Boolean: False,
    **dict.fromkeys((types.I8, types.I16, types.I32, types.I64), 0),
    **dict.fromkeys((types.Date, types.PrecisionTime, types.PrecisionTimestamp, types.PrecisionTimestampTZ), 0),
    **dict.fromkeys((types.FP32, types.FP64), 0.0),
    **dict.fromkeys((types.String, types.VarChar), ""),
    types.Binary: b"",
}


def with_known_keys(node: Join) -> Join:
    """Return a join in which values that are equal or both null are no key with nulls, if it may have other keys.

    Nor are structs keys in it.
    """
    conditions = conjuncts(node.expression)
    width = len(node.left.schema.types)
    found = [_pair(condition, width) for condition in conditions]
    has_others = node.type in _PAIRED or not all(pair and pair.nulls for pair in found)

    def known(condition: Expression, pair: _Pair | None) -> Expression:
        if pair is None or not (pair.of_structs or (pair.nulls and has_others)):
            return condition
        return _known(pair)

    made = [known(condition, pair) for condition, pair in zip(conditions, found, strict=True)]
    return node if made == conditions else replace(node, expression=conjunction(made))


@dataclass(frozen=True, slots=True)
class _Pair:
    """A value of each input that must be equal; ``nulls``: or both null."""

    one: Expression
    other: Expression
    nulls: bool

    @property
    def of_structs(self) -> bool:
        """Whether the values are structs."""
        return isinstance(concrete(self.one.type), types.Struct)


def _pair(condition: Expression, width: int) -> _Pair | None:
    """Return the values that a condition wants to be equal, if they are of both inputs."""
    match condition:
        case ScalarFunction(
            function=Function(name="not"),
            arguments=(ScalarFunction(function=Function(name="is_distinct_from")) as inner,),
        ):
            (one, other), nulls = expression_children(inner), True
        case ScalarFunction(function=Function(name="is_not_distinct_from" | "equal" as name)):
            (one, other), nulls = expression_children(condition), name != "equal"
        case _:
            return None
    if {_side(one, width), _side(other, width)} != {0, 1}:
        return None
    return _Pair(one, other, nulls)


def _side(value: Expression, width: int) -> int | None:
    """Return which input all columns of a value are of: 0 or 1, None if there is no such input."""
    sides = {int(position >= width) for position in root_fields(value) or ()}
    return sides.pop() if len(sides) == 1 else None


def _known(pair: _Pair) -> Expression:
    """Return that two values are equal, or both null, by keys that are never null where they can be."""
    one, other = pair.one, pair.other
    nothing = [is_null(one), is_null(other)]
    value = _value(one.type)
    if not (pair.of_structs or (one.type.nullable and other.type.nullable)):
        return equal(one, other)
    if value is not None:
        values = (coalesced(each.type, each, value) for each in (one, other))
        return conjunction([equal(*values), equal(*nothing)])
    unknown = conjunction(nothing) if pair.nulls else Literal(type=types.Boolean(nullable=True), value=None)
    same = compared("is_not_distinct_from" if pair.nulls else "equal", one, other)
    return IfThen(ifs=(IfClause(disjunction(nothing), unknown),), else_=same)


def _value(type: Type) -> Literal | None:
    """Return some value of a type; None if it is none that is written."""
    known = with_nullability(concrete(type), False)
    value = _VALUES.get(known.__class__)
    match known:
        case types.FixedChar(length=length) if length <= _MOST_BLANKS:
            value = " " * length
        case types.Decimal(scale=scale):
            value = Digits(0).scaleb(-scale)
    return None if value is None else Literal(type=known, value=value)


def without_one_sided_keys(node: Join) -> Join:
    """Return a join without equalities of two columns of one input: each is the negation of the inequality."""
    width = len(node.left.schema.types)
    conditions = [_negated(condition, width) for condition in conjuncts(node.expression)]
    return node if conditions == conjuncts(node.expression) else replace(node, expression=conjunction(conditions))


def _negated(condition: Expression, width: int) -> Expression:
    match condition:
        case ScalarFunction(
            function=Function(name="equal" | "is_not_distinct_from" as name),
            arguments=(
                FieldReference(root=RootReference(), reference=(StructField(field=one),)),
                FieldReference(root=RootReference(), reference=(StructField(field=other),)),
            ),
        ) if (one < width) is (other < width):
            opposite = "not_equal" if name == "equal" else "is_distinct_from"
            function = replace(condition.function, name=opposite)
            return boolean_call(
                Function(BOOLEAN, "not", "bool"), (replace(condition, function=function),), condition.type.nullable
            )
        case _:
            return condition

"""Elements of lists and values of maps by DataFusion's functions, which give null where there are none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark_substrait.engines.calls import cast
from pyspark_substrait.engines.compositions import Composition, refuse_long
from pyspark_substrait.engines.constructors import called, compared
from pyspark_substrait.engines.inner_joins import disjunction
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions import engines
from pyspark_substrait.model.expressions import Expression, Function, IfClause, IfThen, ScalarFunction
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import FP32, FP64, I64, String, concrete

__all__ = ["element_from_one", "element_from_zero", "map_value"]

_ARITHMETIC = "extension:io.substrait:functions_arithmetic"
_STRINGS = "extension:io.substrait:functions_string"


def _number(value: int) -> Literal:
    return Literal(type=I64(), value=value)


def _length(values: Expression) -> Expression:
    return called(Function(engines.DATAFUSION.urn, "array_length", "list"), I64(nullable=values.type.nullable), values)


def _as_i64(position: Expression) -> Expression:
    if isinstance(position, Literal) and isinstance(position.value, int):
        return _number(position.value)
    return (
        position if isinstance(concrete(position.type), I64) else cast(position, I64(nullable=position.type.nullable))
    )


def _failing(values: Expression) -> Expression:
    """Return a position that fails: a text that is no number. With the length, it is no constant."""
    type = String(nullable=values.type.nullable)
    said = Literal(type=String(), value="the list does not have this element, but so many: ")
    text = called(Function(_STRINGS, "concat", "str"), type, said, cast(_length(values), type))
    return cast(text, I64(nullable=type.nullable))


def element_from_zero(*, fails: bool) -> Composition:
    """Return the form of an element at a position from 0; where there is none, it ``fails`` or is null."""

    def made(call: ScalarFunction, given: tuple[Expression, ...]) -> Expression:
        values, position = given[0], _as_i64(given[1])
        missing = []
        if isinstance(position, Literal) and isinstance(position.value, int):
            behind: Expression = _number(position.value + 1)
            missing += [compared("lt", position, _number(0))] if position.value < 0 else []
            missing += [compared("gte", position, _length(values))] if fails else []
        else:
            behind = called(Function(_ARITHMETIC, "add", "i64_i64"), position.type, position, _number(1))
            missing += [compared("lt", position, _number(0)), compared("gte", position, _length(values))]
        arms = [(disjunction(missing), _failing(values) if fails else _NOWHERE)] if missing else []
        return _element(call, values, behind, arms)

    return made


def element_from_one(*, fails: bool) -> Composition:
    """Return the form of an element at a position from 1, or from -1 at the end; 0 always fails."""

    def made(call: ScalarFunction, given: tuple[Expression, ...]) -> Expression:
        values, position = given[0], _as_i64(given[1])
        arms = []
        if not isinstance(position, Literal) or not position.value:
            arms.append((compared("equal", position, _number(0)), _failing(values)))
        if fails or not isinstance(position, Literal):
            size = called(Function(_ARITHMETIC, "abs", "i64"), position.type, position)
            arms.append((compared("gt", size, _length(values)), _failing(values) if fails else _NOWHERE))
        return _element(call, values, position, arms)

    return made


#: a position that leads to null; one behind the end may be too large for the function
_NOWHERE: Final = Literal(type=I64(nullable=True), value=None)


def _element(
    call: ScalarFunction, values: Expression, position: Expression, arms: Sequence[tuple[Expression, Expression]]
) -> Expression:
    """Return the element at a position from 1, or at another one if a condition is true."""
    if arms:
        refuse_long(call, (values, position), "DataFusion")
        position = IfThen(ifs=tuple(IfClause(condition, other) for condition, other in arms), else_=position)
    return called(Function(engines.DATAFUSION.urn, "array_element", "list_i64"), call.output_type, values, position)


def map_value(call: ScalarFunction, given: tuple[Expression, ...]) -> Expression:
    """Return the value of a constant key.

    Raises:
        UnsupportedPlanError: the key is computed, or a floating-point number, of which the bits are compared there.
    """
    values, key = given
    if not isinstance(key, Literal) or isinstance(concrete(key.type), FP32 | FP64):
        raise UnsupportedPlanError(f"DataFusion has a form for {call.function.key} with constant keys only")
    return called(Function(engines.DATAFUSION.urn, "get_field", "map_any"), call.output_type, values, key)

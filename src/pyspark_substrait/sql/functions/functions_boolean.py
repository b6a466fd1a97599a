"""Boolean functions (``functions_boolean.yaml``)."""

from __future__ import annotations

from pyspark_substrait.sql.fragment import Constant
from pyspark_substrait.sql.functions.table import Call, Table, row

__all__ = ["TABLE"]


def conjunction(call: Call) -> str:
    return _joined(call, " AND ", "true")


def disjunction(call: Call) -> str:
    return _joined(call, " OR ", "false")


def _joined(call: Call, operator: str, of_none: str) -> str:
    match call.operands:
        case ():
            return Constant(of_none)
        case (operand,):
            return operand.sql
        case operands:
            return operator.join(operand.sql for operand in operands)


TABLE = Table(
    "extension:io.substrait:functions_boolean",
    (
        row("and", conjunction, catalyst="And"),
        row("or", disjunction, catalyst="Or"),
        row("and_not", "{a} AND NOT {b}"),
        row("xor", "{a} <> {b}"),
        row("not", "NOT {a}", catalyst="Not"),
        row("bool_and", "[bool_and({a})]", catalyst="BoolAnd"),
        row("bool_or", "[bool_or({a})]", catalyst="BoolOr"),
    ),
)

"""Expressions of the model as nodes of Catalyst, so that the producer of Spark's plans translates what is done to them.

The producer knows what each expression of Catalyst is in a plan. A call in a SQL text becomes the expression that
Spark's analyzer makes of it, with its arguments, which are translated already, as leaves.
"""

from __future__ import annotations

import decimal
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    Binary,
    Boolean,
    Date,
    Decimal,
    IntervalDay,
    IntervalYear,
    List,
    Map,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Struct,
    Type,
    concrete,
)
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions.aggregate_forms import Aggregated, aggregated
from pyspark_substrait.spark.producer.expressions.forms import translated
from pyspark_substrait.spark.producer.scope import Forms, Output, Production, Scope

__all__ = ["Translation", "json_of", "node"]

_NAMES: Final[Mapping[type[Type], str]] = {
    Boolean: "boolean",
    I8: "byte",
    I16: "short",
    I32: "integer",
    I64: "long",
    FP32: "float",
    FP64: "double",
    String: "string",
    Binary: "binary",
    Date: "date",
    PrecisionTimestampTZ: "timestamp",
    PrecisionTimestamp: "timestamp_ntz",
    IntervalYear: "interval year to month",
    IntervalDay: "interval day to second",
}


def json_of(type: Type) -> Any:
    """Return Spark's JSON of a type.

    Raises:
        UnsupportedPlanError: Spark has no such type.
    """
    match concrete(type):
        case Decimal(precision=precision, scale=scale):
            return f"decimal({precision},{scale})"
        case List(type=element):
            return {"type": "array", "elementType": json_of(element), "containsNull": element.nullable}
        case Map(key=key, value=value):
            return {
                "type": "map",
                "keyType": json_of(key),
                "valueType": json_of(value),
                "valueContainsNull": value.nullable,
            }
        case Struct(types=types):
            fields = [
                {"name": f"col{number}", "type": json_of(one), "nullable": one.nullable, "metadata": {}}
                for number, one in enumerate(types, 1)
            ]
            return {"type": "struct", "fields": fields}
        case kind if kind.__class__ in _NAMES:
            return _NAMES[kind.__class__]
        case _:
            raise UnsupportedPlanError(f"Spark has no type for {type}")


@dataclass(frozen=True)
class _Java:
    """The parts of an expression of the JVM that the producer asks for.

    For any other part, the expression is refused: Spark would compute it.
    """

    text: str
    type: Any = None

    def sql(self) -> str:
        return self.text

    def dataType(self) -> _Java:
        return self

    def json(self) -> str:
        import json

        return json.dumps(self.type)

    def typeName(self) -> str:
        return str(self.type)

    simpleString = catalogString = typeName

    def __getattr__(self, name: str) -> Any:
        raise UnsupportedPlanError(f"`{self.text}` is a constant that only Spark computes", hint="Write a literal")


@dataclass(eq=False)
class _Given(Node):
    """An expression of the model as a leaf."""

    given: Expression = field(kw_only=True)


def node(name: str, *children: Expression | Node, sql: str = "", zone: str = "UTC", **fields: Any) -> Node:
    """Return a node of Catalyst.

    Args:
        name: its class.
        children: its children: nodes, and expressions of the model.
        sql: how messages write it; by default its class.
        zone: the time zone of the session.
        fields: its fields; those that every expression has are added.
    """
    known = {"evalMode": "ANSI", "timeZoneId": zone, **fields}
    return Node(name, known, tuple(map(_leaf, children)), lambda: _Java(sql or name, fields.get("dataType")))


def _leaf(value: Expression | Node) -> Node:
    if isinstance(value, Node):
        return value
    json = json_of(value.type)
    fields: dict[str, Any] = {"dataType": json, "nullable": value.type.nullable}
    name = "Given"
    if isinstance(value, Literal):
        name, fields["value"] = "Literal", _text(value)
    return _Given(name, fields, (), lambda: _Java("…", json), given=value)


def _text(value: Literal) -> str | None:
    """Return the value of a literal as Catalyst writes it."""
    match value.value:
        case None:
            return None
        case bool() as truth:
            return str(truth).lower()
        case decimal.Decimal() as number:
            return f"{number:f}"
        case other:
            return str(other)


class Translation:
    """Translates nodes by the producer's forms."""

    def __init__(self, registry: Registry) -> None:
        forms = Forms(expression=self._expression, relation=_no_relation)
        self._scope = Scope(Production(forms=forms, session=_Session(), registry=registry))

    @property
    def production(self) -> Production:
        """The state that the forms share."""
        return self._scope.production

    def expression(self, made: Node) -> Expression:
        """Translate a node.

        Raises:
            UnsupportedPlanError: no plan can express it.
        """
        return self._expression(made, self._scope)

    def aggregate(self, made: Node, *, distinct: bool) -> Aggregated:
        """Translate an aggregate function."""
        return aggregated(made, self._scope, distinct=distinct)

    def window(self, made: Node) -> Any:
        """Translate a function over a window."""
        return self._expression(made, self._scope)

    @staticmethod
    def _expression(made: Node, scope: Scope) -> Expression:
        return made.given if isinstance(made, _Given) else translated(made, scope)


def _no_relation(made: Node, production: Production, outer: Scope | None) -> Output:
    raise AssertionError("relations are read from the plan")


class _Settings:
    def get(self, name: str, default: str | None = None) -> str | None:
        """Return a setting: Spark's own default."""
        return {"spark.sql.session.timeZone": "UTC", "spark.sql.legacy.timeParserPolicy": "CORRECTED"}.get(
            name, default
        )


class _Session:
    """The settings of a session that is as Spark starts it, in UTC."""

    conf: Final = _Settings()

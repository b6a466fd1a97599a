"""Spark-specific functions: calls of our own extension that the function tables can't express.

Structs of Substrait have no field names; a function that uses them gets them as an argument. A function whose result
type isn't that of an argument gets a null of that type. Options are arguments, too: names and values in turn.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import Argument, Expression
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import I32, I64, String, Type
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import expression, expressions, typed
from pyspark_substrait.spark.producer.refusals import written
from pyspark_substrait.spark.producer.scope import Scope
from pyspark_substrait.spark.producer.types import names_of, type_of

__all__ = ["FORMS", "URN", "raised"]

URN: Final = "extension:pyspark_substrait:functions_spark"
_HASH_SEED: Final = 42
Form: TypeAlias = Callable[[Node, Scope], Expression]

#: intervals without the full range of units, which shows in a text, but not in Substrait's types
_NARROW_INTERVAL: Final = re.compile(r"interval (?!year to month$|day to second$)")


def reader(name: str) -> Form:
    """``from_json`` and similar functions: the type of the result is a field of the node."""

    def form(node: Node, scope: Scope) -> Expression:
        schema = node.value("schema")
        if node.value("requiredSchema") is not None:
            raise UnsupportedPlanError(
                f"`{written(node)}` reads only some of its fields", hint="Make the plan of the analysed query"
            )
        _refuse_narrow_intervals(node, schema)
        arguments = [
            expression(node.children[0], scope),
            _text(json.dumps(list(names_of(schema)), ensure_ascii=False)),
            Literal(type=type_of(_nullable(schema), True), value=None),
            *_options(node, zone=True),
        ]
        return _call(scope, name, arguments)

    return form


def writer(name: str) -> Form:
    """``to_json`` and similar functions: they use the field names in the type of the argument."""

    def form(node: Node, scope: Scope) -> Expression:
        child = node.children[0]
        schema = json.loads(child.java.dataType().json())
        _refuse_narrow_intervals(node, schema)
        options = _options(node, zone=True)
        if name == "to_json":
            options += _of_session(
                scope, options, "ignoreNullFields", "spark.sql.jsonGenerator.ignoreNullFields", "true"
            )
        names = _text(json.dumps(list(names_of(schema)), ensure_ascii=False))
        return _call(scope, name, [expression(child, scope), names, *options])

    return form


def schema_of(name: str) -> Form:
    """``schema_of_json`` and similar functions."""
    return lambda node, scope: _call(scope, name, [expression(node.children[0], scope), *_options(node, zone=False)])


def hashed(name: str) -> Form:
    """A hash of all children; only with the default seed."""

    def form(node: Node, scope: Scope) -> Expression:
        if int(node.value("seed")) != _HASH_SEED:
            raise UnsupportedPlanError(f"`{written(node)}` has another seed than {_HASH_SEED}, which no function takes")
        return _call(scope, name, expressions(node.children, scope))

    return form


def random(name: str) -> Form:
    """A random value: its seed is the last child."""

    def form(node: Node, scope: Scope) -> Expression:
        *values, seed = expressions(node.children, scope)
        if name == "uniform":  # bounds of two types are cast to the wider one
            wanted = type_of(json.loads(node.java.dataType().json()), False)
            values = [typed(value, wanted) for value in values]
        return _call(scope, name, [*values, _long(seed)])

    return form


def uuid(node: Node, scope: Scope) -> Expression:
    """``uuid()``: Spark gives it a seed when it analyses the query."""
    seed = node.value("randomSeed")
    if seed is None:
        raise UnsupportedPlanError("`uuid()` has no seed yet", hint="Give it one: uuid(42)")
    return _call(scope, "uuid", [Literal(type=I64(), value=int(seed))])


def type_name(node: Node, scope: Scope) -> Expression:
    """``typeof(value)``: a text that only depends on the type."""
    return _text(node.children[0].java.dataType().catalogString())


def collation(node: Node, scope: Scope) -> Expression:
    """``collation(value)``: a text that only depends on the type."""
    return _text(str(node.java.replacement().eval(None).toString()))


def try_aes_decrypt(node: Node, scope: Scope) -> Expression:
    """``try_aes_decrypt``: Spark replaces it by ``aes_decrypt`` in an expression that catches the error."""
    (caught,) = node.children[0].children
    return _call(scope, "try_aes_decrypt", expressions(caught.children, scope))


def raise_error(node: Node, scope: Scope) -> Expression:
    """``raise_error``, of the type of its context; of BOOLEAN if it has none, like untyped nulls."""
    json_type = node.value("dataType")
    return raised(node, type_of("boolean" if json_type == "void" else json_type, True), scope)


def raised(node: Node, type: Type, scope: Scope) -> Expression:
    """Return a call that raises an error in place of a value of a type."""
    if len(node.children) == 1:  # before Spark 4.0, a message is all that it has
        return _call(scope, "raise_error", [expression(node.children[0], scope), Literal(type=type, value=None)])
    error_class, parameters = node.children
    match error_class.value("value"), parameters:
        case "USER_RAISED_EXCEPTION", Node(name="CreateMap", children=(key, message)) if (
            key.value("value") == "errorMessage"
        ):
            return _call(scope, "raise_error", [expression(message, scope), Literal(type=type, value=None)])
        case _:
            raise UnsupportedPlanError(
                f"`{written(node)}` has no Substrait form: it is an error with a class of its own",
                hint="Write raise_error('...') with a message alone",
            )


def _call(scope: Scope, name: str, arguments: Sequence[Argument]) -> Expression:
    return scope.production.call(URN, name, arguments)


def _text(value: str) -> Literal:
    return Literal(type=String(), value=value)


def _long(value: Expression) -> Expression:
    match value:
        case Literal(type=I32(), value=int() as number):
            return Literal(type=I64(), value=number)
        case _:
            return typed(value, I64())


def _options(node: Node, *, zone: bool) -> list[Expression]:
    """Return the options of a node, which its JSON leaves out; with ``zone``, including its time zone."""
    pairs = node.java.options().toSeq()
    found = {str(pairs.apply(number)._1()): str(pairs.apply(number)._2()) for number in range(pairs.size())}
    if zone and node.value("timeZoneId") is not None and not any(name.lower() == "timezone" for name in found):
        found["timeZone"] = node.value("timeZoneId")
    return [_text(part) for pair in found.items() for part in pair]


def _of_session(scope: Scope, options: list[Expression], name: str, setting: str, usual: str) -> list[Expression]:
    """Return an option from a setting of the session, unless the query states it or it is the default."""
    given = {str(value.value).lower() for value in options[::2] if isinstance(value, Literal)}
    value = scope.production.session.conf.get(setting, usual)
    return [] if value == usual or name.lower() in given else [_text(name), _text(value)]


def _nullable(schema: Any) -> Any:
    """Make all parts of a type nullable, as Spark does when it reads text."""
    match schema:
        case {"type": "struct", "fields": fields}:
            made = [{**field, "nullable": True, "type": _nullable(field["type"])} for field in fields]
            return {**schema, "fields": made}
        case {"type": "array", "elementType": element}:
            return {**schema, "elementType": _nullable(element), "containsNull": True}
        case {"type": "map", "valueType": value}:
            return {
                **schema,
                "keyType": _nullable(schema["keyType"]),
                "valueType": _nullable(value),
                "valueContainsNull": True,
            }
        case _:
            return schema


def _refuse_narrow_intervals(node: Node, schema: Any) -> None:
    match schema:
        case str() if _NARROW_INTERVAL.match(schema):
            raise UnsupportedPlanError(
                f"`{written(node)}` writes or reads an {schema}, indistinguishable from a longer interval in a plan",
                hint="Cast it to INTERVAL YEAR TO MONTH or INTERVAL DAY TO SECOND",
            )
        case dict():
            for value in schema.values():
                _refuse_narrow_intervals(node, value)
        case list():
            for value in schema:
                _refuse_narrow_intervals(node, value)
        case _:
            return


FORMS: Final = {
    "JsonToStructs": reader("from_json"),
    "CsvToStructs": reader("from_csv"),
    "XmlToStructs": reader("from_xml"),
    "StructsToJson": writer("to_json"),
    "StructsToCsv": writer("to_csv"),
    "StructsToXml": writer("to_xml"),
    "SchemaOfJson": schema_of("schema_of_json"),
    "SchemaOfCsv": schema_of("schema_of_csv"),
    "SchemaOfXml": schema_of("schema_of_xml"),
    "Murmur3Hash": hashed("hash"),
    "XxHash64": hashed("xxhash64"),
    "Rand": random("rand"),
    "Randn": random("randn"),
    "RandStr": random("randstr"),
    "Uniform": random("uniform"),
    "Uuid": uuid,
    "TypeOf": type_name,
    "Collation": collation,
    "TryAesDecrypt": try_aes_decrypt,
    "RaiseError": raise_error,
}

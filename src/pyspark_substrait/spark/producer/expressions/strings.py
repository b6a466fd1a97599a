"""Texts and binary values: functions that the function tables can't express."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import reduce
from typing import Any, Final

from pyspark_substrait.errors import NewerSparkError, UnsupportedPlanError
from pyspark_substrait.model.expressions import Expression, NestedList
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import I32, I64, List, String, concrete
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import expression, expressions, typed
from pyspark_substrait.spark.producer.refusals import written
from pyspark_substrait.spark.producer.scope import Scope
from pyspark_substrait.spark.producer.types import type_of
from pyspark_substrait.sql.spark_version import SparkVersion

__all__ = ["FORMS", "OWN", "as_i64", "text"]

OWN: Final = "extension:pyspark_substrait:functions_spark_string"
_MOST: Final = 2**31 - 1
_SENSITIVE: Final = {"case_sensitivity": "CASE_SENSITIVE"}


def text(value: str) -> Literal:
    """A string literal."""
    return Literal(type=String(), value=value)


def as_i64(value: Expression) -> Expression:
    """Cast an integer to i64."""
    match value:
        case Literal(type=type, value=int() as number) if not isinstance(number, bool):
            return Literal(type=I64(nullable=type.nullable), value=number)
        case _:
            return typed(value, I64())


def substring(node: Node, scope: Scope) -> Expression | None:
    """``Substring``: without a length, Spark passes the largest one.

    The two only differ for a start that is further from the end than the largest length.
    """
    value, start, length = expressions(node.children, scope)
    match start, length, concrete(value.type):
        case Literal(value=int() as first), Literal(value=int() as most), String() if first > -_MOST and most == _MOST:
            options = {"negative_start": "WRAP_FROM_END"}
            return scope.production.call("functions_string", "substring", (value, start), options)
        case _:
            return None


def trim(node: Node, scope: Scope) -> Expression | None:
    """``StringTrim`` and similar functions; by default they trim blanks."""
    if len(node.children) == 2:
        return None
    name = {"StringTrim": "trim", "StringTrimLeft": "ltrim", "StringTrimRight": "rtrim"}[node.name]
    return scope.production.call("functions_string", name, (expression(node.children[0], scope), text(" ")))


def repeat(node: Node, scope: Scope) -> Expression:
    """``StringRepeat``; in Substrait, the count is an i64."""
    value, count = expressions(node.children, scope)
    return scope.production.call("functions_string", "repeat", (value, as_i64(count)))


def locate(node: Node, scope: Scope) -> Expression | None:
    """``StringLocate``; from the first character on, the specification's ``strpos``."""
    part, value, start = expressions(node.children, scope)
    match start:
        case Literal(value=1):
            return typed(scope.production.call("functions_string", "strpos", (value, part), _SENSITIVE), I32())
        case _:
            return None


def concat_ws(node: Node, scope: Scope) -> Expression:
    """``ConcatWs``: of texts, and of lists of texts."""
    separator, *values = expressions(node.children, scope)
    if values and all(isinstance(concrete(value.type), String) for value in values):
        return scope.production.call("functions_string", "concat_ws", (separator, *values))
    return scope.production.call(OWN, "concat_ws", (separator, *(_listed(value) for value in values or [_NOTHING])))


_TEXTS: Final = List(type=String(nullable=True))
_NOTHING: Final = Literal(type=_TEXTS, value=())


def _listed(value: Expression) -> Expression:
    """Convert a text to a list of it; make the elements of a list nullable."""
    match value, concrete(value.type):
        case Literal(value=None), String():
            return _NOTHING
        case _, String():
            return NestedList(values=(value,))
        case _:
            return value


def like(node: Node, scope: Scope) -> Expression:
    """``Like`` and ``ILike``."""
    value, pattern = expressions(node.children, scope)
    return _liked(value, pattern, str(node.value("escapeChar")), scope, "ilike" if node.name == "ILike" else "like")


def _liked(value: Expression, pattern: Expression, escape: str, scope: Scope, name: str = "like") -> Expression:
    """Return the specification's ``like``, which has no escape character, if the pattern has none; else our own."""
    match pattern:
        case Literal(value=str() as known) if name == "like" and escape not in known:
            return scope.production.call("functions_string", "like", (value, pattern), _SENSITIVE)
        case _:
            return scope.production.call(OWN, name, (value, pattern, text(escape)))


def like_several(node: Node, scope: Scope) -> Expression:
    """``LIKE ALL`` and ``LIKE ANY``: several ``like``, combined by AND or OR."""
    value = expression(node.children[0], scope)
    patterns = node.java.patterns()
    negated, joint = node.name.startswith("Not"), "and" if node.name.endswith("All") else "or"
    found = []
    for position in range(patterns.size()):
        one: Any = patterns.apply(position)
        pattern = Literal(type=String(nullable=True), value=None) if one is None else text(one.toString())
        matched = _liked(value, pattern, "\\", scope)
        found.append(scope.production.call("functions_boolean", "not", (matched,)) if negated else matched)
    return reduce(lambda one, other: scope.production.call("functions_boolean", joint, (one, other)), found)


def binary_pad(node: Node, scope: Scope) -> Expression:
    """``lpad`` and ``rpad`` of binary values."""
    return scope.production.call(OWN, str(node.value("funcName")), expressions(node.children, scope))


def binary_predicate(node: Node, scope: Scope) -> Expression:
    """``contains``, ``startswith`` and ``endswith`` of binary values."""
    names = {"contains": "contains", "startswith": "starts_with", "endswith": "ends_with"}
    return scope.production.call(OWN, names[str(node.value("prettyName"))], expressions(node.children, scope))


def base64(node: Node, scope: Scope) -> Expression:
    """``Base64``, in one line or in several."""
    name = "base64_lines" if node.value("chunkBase64") else "base64"
    return scope.production.call(OWN, name, expressions(node.children, scope))


def in_character_set(node: Node, scope: Scope) -> Expression:
    """``Encode`` and ``StringDecode``, unless a setting selects the behaviour of older versions, or it is one."""
    if "legacyErrorAction" not in node.fields:
        raise NewerSparkError(
            f"`{written(node)}` has no Substrait form in this version of Spark, where it replaces characters that the "
            "character set lacks; since 4.0 that is an error",
            feature="encode and decode, which fail where a character set lacks a character",
            since=SparkVersion(4, 0),
            hint="Between strings and UTF-8 bytes, use CAST",
        )
    if node.value("legacyCharsets") or node.value("legacyErrorAction"):
        raise UnsupportedPlanError(
            f"`{written(node)}` has no Substrait form as it is under the legacy settings of the session",
            hint="Turn spark.sql.legacy.javaCharsets and spark.sql.legacy.codingErrorAction off",
        )
    name = "encode" if node.name == "Encode" else "decode"
    return scope.production.call(OWN, name, expressions(node.children, scope))


def to_number(node: Node, scope: Scope) -> Expression:
    """``ToNumber``: its type depends on its format."""
    name = "to_number" if node.name == "ToNumber" else "try_to_number"
    found = scope.production.call(OWN, name, expressions(node.children, scope))
    return typed(found, type_of(json.loads(node.java.dataType().json()), True))


def try_to_binary(node: Node, scope: Scope) -> Expression:
    """``TryToBinary``."""
    inner = next(item for item in node.walk() if item.name == "ToBinary")
    return scope.production.call(OWN, "try_to_binary", _with_format(inner, scope))


def to_binary(node: Node, scope: Scope) -> Expression:
    """``ToBinary``; the default format is hexadecimal."""
    return scope.production.call(OWN, "to_binary", _with_format(node, scope))


def _with_format(node: Node, scope: Scope) -> Sequence[Expression]:
    values = expressions(node.children, scope)
    return values if len(values) == 2 else (*values, text("hex"))


FORMS: Final = {
    "Substring": substring,
    "StringTrim": trim,
    "StringTrimLeft": trim,
    "StringTrimRight": trim,
    "StringRepeat": repeat,
    "StringLocate": locate,
    "ConcatWs": concat_ws,
    "Like": like,
    "ILike": like,
    "LikeAll": like_several,
    "LikeAny": like_several,
    "NotLikeAll": like_several,
    "NotLikeAny": like_several,
    "BinaryPad": binary_pad,
    "BinaryPredicate": binary_predicate,
    "Base64": base64,
    "Encode": in_character_set,
    "StringDecode": in_character_set,
    "ToNumber": to_number,
    "TryToNumber": to_number,
    "ToBinary": to_binary,
    "TryToBinary": try_to_binary,
}

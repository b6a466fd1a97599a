"""Collations: texts that aren't compared by their bytes.

Substrait has no collations. If texts are directly compared or sorted under a collation, they are replaced by a key,
whose bytes have the order of the collation, if functions of the specification can compute it. Other uses are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import String
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.collated import collation_in
from pyspark_substrait.spark.producer.expressions import expression
from pyspark_substrait.spark.producer.refusals import written
from pyspark_substrait.spark.producer.scope import Scope

__all__ = ["FORMS", "keyed"]

#: expressions that use only the order or the equality of their operands
_COMPARING: Final = frozenset(
    {
        "EqualTo",
        "EqualNullSafe",
        "LessThan",
        "LessThanOrEqual",
        "GreaterThan",
        "GreaterThanOrEqual",
        "In",
        "SortOrder",
    }
)


def keyed(node: Node, scope: Scope) -> Scope:
    """Return the scope of a comparison, in which its operands with a collation are replaced by their keys.

    Raises:
        UnsupportedPlanError: there is no key for the collation.
    """
    if node.name not in _COMPARING:
        return scope
    found = {child.signature: name for child in node.children if (name := _collation_of(child)) is not None}
    if not found:
        return scope
    keys = {child.signature: _key(child, scope) for child in node.children if child.signature in found}
    return replace(scope, replaced={**scope.replaced, **keys})


def _collation_of(node: Node) -> str | None:
    """Return the collation of an expression, if its node states the type; others are refused through their parts."""
    if node.name == "Collate":
        return str(node.children[1].value("collationName")).upper()
    return collation_in(node.value("dataType"))


def _key(node: Node, scope: Scope) -> Expression:
    collation = _collation_of(node)
    of = None if collation is None else _KEYS.get(collation)
    if of is None:
        raise _refused(node)
    return of(_text(node, scope), scope)


def _text(node: Node, scope: Scope) -> Expression:
    """Translate an expression with a collation to its text without it."""
    match node.name:
        case "Literal":
            return Literal(type=String(nullable=node.value("value") is None), value=node.value("value"))
        case "Collate" | "Cast" if _collation_of(node.children[0]) is not None:
            return _text(node.children[0], scope)
        case "Collate":
            return expression(node.children[0], scope)
        case "Cast" if node.children[0].value("dataType") == "void":
            return Literal(type=String(nullable=True), value=None)
        case "Cast" if _is_text(node.children[0]):
            return expression(node.children[0], scope)
        case _:
            raise _refused(node)


def _is_text(node: Node) -> bool:
    return bool(node.java.dataType().simpleString() == "string")


def _lowered(value: Expression, scope: Scope) -> Expression:
    """Convert each character to lower case regardless of its position: a final sigma becomes the usual one."""
    call = scope.production.call
    lowered = call("functions_string", "lower", (value,), {"char_set": "UTF8"})
    final, usual = (Literal(type=String(), value=character) for character in "\u03c2\u03c3")
    return call("functions_string", "replace", (lowered, final, usual), {"case_sensitivity": "CASE_SENSITIVE"})


def _trimmed(value: Expression, scope: Scope) -> Expression:
    return scope.production.call("functions_string", "rtrim", (value, Literal(type=String(), value=" ")))


_KEYS: Final[Mapping[str, Callable[[Expression, Scope], Expression]]] = {
    "UTF8_BINARY": lambda value, scope: value,
    "UTF8_BINARY_RTRIM": _trimmed,
    "UTF8_LCASE": _lowered,
    "UTF8_LCASE_RTRIM": lambda value, scope: _trimmed(_lowered(value, scope), scope),
}


def collate(node: Node, scope: Scope) -> Expression:
    """``COLLATE`` to the binary collation; others are refused."""
    if _collation_of(node) == "UTF8_BINARY" and _collation_of(node.children[0]) is None:
        return expression(node.children[0], scope)
    raise _refused(node)


def _refused(node: Node) -> UnsupportedPlanError:
    return UnsupportedPlanError(
        f"`{written(node)}` has no Substrait form: Substrait has no strings with a collation",
        hint="Compare and sort by UTF8_LCASE where it is used (a COLLATE UTF8_LCASE = b, ORDER BY a COLLATE "
        "UTF8_LCASE), or by a column of lower(a)",
    )


def collation(node: Node, scope: Scope) -> Expression:
    """``collation(text)``: the name, which the type determines."""
    return Literal(type=String(), value=str(node.java.replacement().eval(None).toString()))


FORMS: Final = {"Collate": collate, "Collation": collation}

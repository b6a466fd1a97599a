"""Functions of regular expressions: the specification's, if the pattern is a constant that ICU supports."""

from __future__ import annotations

from typing import Final

from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import I32, I64
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import expressions, typed
from pyspark_substrait.spark.producer.expressions.java_patterns import Pattern, icu
from pyspark_substrait.spark.producer.expressions.strings import text
from pyspark_substrait.spark.producer.scope import Scope

__all__ = ["FORMS"]

_STRINGS: Final = "functions_string"
_OPTIONS: Final = {
    "case_sensitivity": "CASE_SENSITIVE",
    "multiline": "MULTILINE_DISABLED",
    "dotall": "DOTALL_DISABLED",
}
_ONE: Final = Literal(type=I64(), value=1)


def _known(node: Node, position: int) -> Pattern | None:
    """Return the ICU pattern of a child; None if it isn't a constant, or has no ICU form."""
    child = node.children[position]
    java = child.value("value")
    if child.name != "Literal" or child.value("dataType") != "string" or not isinstance(java, str):
        return None
    return None if "\ufffd" in java else icu(java)  # it may stand for invalid bytes


def _place(scope: Scope, value: Expression, pattern: Pattern) -> Expression:
    arguments = (value, text(pattern.text), _ONE, _ONE)
    return scope.production.call(_STRINGS, "regexp_strpos", arguments, _OPTIONS)


def matched(node: Node, scope: Scope) -> Expression | None:
    """``RLike``: whether the pattern matches somewhere in the text."""
    pattern = _known(node, 1)
    if pattern is None:
        return None
    value, _ = expressions(node.children, scope)
    if pattern.plain is not None:
        options = {"case_sensitivity": "CASE_SENSITIVE"}
        return scope.production.call(_STRINGS, "contains", (value, text(pattern.plain)), options)
    zero = Literal(type=I64(), value=0)
    return scope.production.call("functions_comparison", "gt", (_place(scope, value, pattern), zero))


def counted(node: Node, scope: Scope) -> Expression | None:
    """``RegExpCount``; not for patterns of the empty text, which Java also finds between surrogates."""
    pattern = _known(node, 1)
    if pattern is None or pattern.may_be_empty:
        return None
    value, _ = expressions(node.children, scope)
    arguments = (value, text(pattern.text))
    return typed(scope.production.call(_STRINGS, "regexp_count_substring", arguments, _OPTIONS), I32())


def found(node: Node, scope: Scope) -> Expression | None:
    """``RegExpInStr``; the number of a group doesn't change the result unless it is null."""
    pattern = _known(node, 1)
    if pattern is None or node.children[2].name != "Literal" or node.children[2].value("value") is None:
        return None
    value, _, _ = expressions(node.children, scope)
    return typed(_place(scope, value, pattern), I32())


def replaced(node: Node, scope: Scope) -> Expression | None:
    """``RegExpReplace`` from the first character on, with a replacement without references to groups."""
    pattern = _known(node, 1)
    if pattern is None or pattern.may_be_empty:
        return None
    value, _, replacement, position = expressions(node.children, scope)
    match replacement, position:
        case Literal(value=str() as plain), Literal(value=1) if "$" not in plain and "\\" not in plain:
            arguments = (value, text(pattern.text), replacement)
            return scope.production.call(_STRINGS, "regexp_replace", arguments, _OPTIONS)
        case _:
            return None


def split(node: Node, scope: Scope) -> Expression | None:
    """``StringSplit`` without a limit, by a pattern that never matches the empty text."""
    pattern = _known(node, 1)
    limit = node.children[2]
    if pattern is None or pattern.may_be_empty or limit.name != "Literal" or int(limit.value("value") or 1) > 0:
        return None
    value, _, _ = expressions(node.children, scope)
    if pattern.plain is not None:
        return scope.production.call(_STRINGS, "string_split", (value, text(pattern.plain)))
    return scope.production.call(_STRINGS, "regexp_string_split", (value, text(pattern.text)), _OPTIONS)


FORMS: Final = {
    "RLike": matched,
    "RegExpCount": counted,
    "RegExpInStr": found,
    "RegExpReplace": replaced,
    "StringSplit": split,
}

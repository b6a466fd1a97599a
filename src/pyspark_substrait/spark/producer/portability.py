"""Refuse Spark-specific functions and relations, with their place in the query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions.registry import OFFICIAL
from pyspark_substrait.model.expressions import AggregateFunction, Expression, Function, ScalarFunction, WindowFunction
from pyspark_substrait.model.relations import (
    ExtensionLeaf,
    ExtensionMulti,
    ExtensionSingle,
    ExtensionTable,
    Generate,
    Read,
    Relation,
)
from pyspark_substrait.model.walk import expressions_within
from pyspark_substrait.spark.compatibility import python_context
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.refusals import operator, written

__all__ = ["check_aggregate", "check_expression", "check_relation", "place"]

_LONGEST = 200


def check_expression(node: Node, made: Expression) -> None:
    """Refuse an expression that contains a function outside of the specification.

    Expressions are checked from the inside out, so the error names the innermost one.

    Raises:
        UnsupportedPlanError: there is such a function; the message has the place in the query.
    """
    for function in _functions(made):
        _check(node, function)


def check_aggregate(node: Node, made: AggregateFunction) -> None:
    """Refuse an aggregate function, like :func:`check_expression`."""
    _check(node, made.function)


def check_relation(node: Node, made: Relation) -> None:
    """Refuse an extension relation, like :func:`check_expression`."""
    match made:
        case ExtensionLeaf() | ExtensionSingle() | ExtensionMulti() | Generate() | Read(read_type=ExtensionTable()):
            raise UnsupportedPlanError(f"{_operator(node)}{place(node)} is a relation of an extension", hint=_HINT)
        case _:
            return


_HINT = "Remove portable=True, or use functions of the specification"


def _operator(node: Node) -> str:
    generator = node.tree("generator") if node.name == "Generate" else None
    if generator is None and isinstance(node.value("generator"), int):
        generator = node.child("generator")
    return operator(node.name) if generator is None else f"`{_shortened(written(generator))}`"


def _check(node: Node, function: Function) -> None:
    if function.urn and not function.urn.startswith(OFFICIAL):
        raise UnsupportedPlanError(
            f"`{_shortened(written(node))}`{place(node)} is not portable: it needs the function {function.key} of "
            f"{function.urn}",
            hint=_HINT,
        )


def _functions(expression: Expression) -> Iterator[Function]:
    for current in expressions_within((expression,)):
        if isinstance(current, ScalarFunction | WindowFunction):
            yield current.function


def place(node: Node) -> str:
    """Return the place of a node in the query, as text to follow its name in a message; empty if it isn't known.

    For SQL, the line and the column, both from 1, and the text there; for a DataFrame, the line of the program that
    made it.
    """
    origin = node.java.origin()
    text = _given(origin.sqlText())
    if text is not None and _given(origin.line()) is not None:
        line, column = int(_given(origin.line())), int(_given(origin.startPosition()) or 0) + 1
        start, stop = _given(origin.startIndex()), _given(origin.stopIndex())
        fragment = str(text)[int(start) : int(stop) + 1] if start is not None and stop is not None else ""
        return f" (line {line}:{column}{f', `{_shortened(fragment)}`' if fragment else ''})"
    context = python_context(origin)
    if context is not None:
        fragment, site = context
        return f" ({fragment} at {site.splitlines()[0] if site else 'an unknown line'})"
    return ""


def _given(option: Any) -> Any:
    return option.get() if option.isDefined() else None


def _shortened(text: str) -> str:
    whole = " ".join(text.split())
    return whole if len(whole) <= _LONGEST else f"{whole[:_LONGEST]}…"

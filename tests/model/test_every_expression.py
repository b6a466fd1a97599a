"""Going through a relation or an expression gives all expressions in it, by the types of the fields of its class."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from typing import Any, ClassVar, get_args, get_type_hints

import pytest

from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model import types as t
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.walk import expression_children, relation_expressions, with_children, with_expressions
from tests.samples.expressions import EXPRESSIONS
from tests.samples.relations import RELATIONS

_WINDOW = RELATIONS["window"]
assert isinstance(_WINDOW, r.ConsistentPartitionWindow)
_BOUND = e.Following(Literal(type=t.I64(), value=2))
NODES: dict[str, r.Relation] = {
    **RELATIONS,
    "window with an end": dataclasses.replace(
        _WINDOW, window_functions=(dataclasses.replace(_WINDOW.window_functions[0], upper_bound=_BOUND),)
    ),
}
RELATION_CLASSES, EXPRESSION_CLASSES = set(get_args(r.Relation)), set(get_args(e.Expression))
TYPES = {kind for kind in vars(t).values() if isinstance(kind, type)}
#: inside an expression, and yet not to be looked at as a part of it
APART = {
    # the values that a switch compares with are literals
    "SwitchExpression.ifs.if_",
    # values inside of values, and keys that a reference leads along
    "Literal.value",
    "FieldReference.reference.map_key",
    # the lambda stands elsewhere in the plan
    "NamedLambdaReference.lambda_.lambda_",
    # only what couldn't be read becomes one
    "BrokenExpression.parts",
}


def hints(kind: type) -> dict[str, Any]:
    names = {"ClassVar": ClassVar, **vars(e), **vars(r), **vars(sys.modules[kind.__module__])}
    return get_type_hints(kind, globalns=names)


def declared(kind: Any, path: str, seen: frozenset[Any]) -> Iterator[str]:
    """The paths of the fields that hold an expression directly, by the types of the fields."""
    if kind in EXPRESSION_CLASSES and seen:
        yield path
    elif (kind in RELATION_CLASSES and seen) or kind in TYPES or kind in seen:
        return
    elif dataclasses.is_dataclass(kind):
        for name, inner in hints(kind).items():  # type: ignore[arg-type]
            if name in {field.name for field in dataclasses.fields(kind)}:
                yield from declared(inner, f"{path}.{name}", seen | {kind})
    else:
        for inner in get_args(kind):
            yield from declared(inner, path, seen or frozenset([None]))


def present(node: Any, path: str, top: bool = True) -> Iterator[tuple[str, Any]]:
    """The expressions that stand directly in a node, with the paths of their fields."""
    if isinstance(node, tuple):
        for item in node:
            yield from present(item, path, False)
    elif not top and type(node) in EXPRESSION_CLASSES:
        yield path, node
    elif dataclasses.is_dataclass(node) and (top or type(node) not in RELATION_CLASSES) and type(node) not in TYPES:
        for field in dataclasses.fields(node):
            yield from present(getattr(node, field.name), f"{path}.{field.name}", False)


def of_relation(node: Any) -> list[tuple[str, Any]]:
    """Of a virtual table, the cells instead of its records."""
    found = [item for item in present(node, type(node).__name__) if item[0].partition(".")[0] == type(node).__name__]
    return [
        (path, cell)
        for path, item in found
        for cell in (item.fields if path == "Read.read_type.expressions" else (item,))
    ]


def paths(classes: set[Any]) -> set[str]:
    return {path for kind in classes for path in declared(kind, kind.__name__, frozenset())} - APART


def test_the_samples_have_each_field_that_holds_an_expression() -> None:
    found = {path for node in NODES.values() for path, _ in of_relation(node)}
    assert paths(RELATION_CLASSES) - found == set()
    inside = {path for node in EXPRESSIONS.values() for path, _ in present(node, type(node).__name__)}
    assert paths(EXPRESSION_CLASSES) - inside == set()


@pytest.mark.parametrize("name", NODES)
def test_all_expressions_of_a_relation(name: str) -> None:
    node = NODES[name]
    wanted = sorted(id(item) for _, item in of_relation(node))
    assert sorted(map(id, relation_expressions(node))) == wanted
    seen: list[Any] = []

    def change(item: e.Expression) -> e.Expression:
        seen.append(item)
        return dataclasses.replace(item)

    changed = with_expressions(node, change)
    assert [*map(id, seen)] == [*map(id, relation_expressions(node))], "in the same order"
    assert changed == node
    assert not {*map(id, relation_expressions(changed))} & set(wanted), "each was replaced"


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_all_expressions_of_an_expression(name: str) -> None:
    node = EXPRESSIONS[name]
    wanted = [item for path, item in present(node, type(node).__name__) if path not in APART]
    assert sorted(map(id, expression_children(node))) == sorted(map(id, wanted))
    seen: list[Any] = []

    def same(item: e.Expression) -> e.Expression:
        seen.append(item)
        return item

    assert with_children(node, same) == node
    assert sorted(map(id, seen)) == sorted(map(id, wanted))


def test_what_must_stay_a_reference_or_a_literal() -> None:
    """A key that becomes something else is no key any more."""
    for name, node in NODES.items():
        if isinstance(node, r.HashJoin | r.MergeJoin) and node.keys:
            with pytest.raises(TypeError, match="must stay"):
                with_expressions(node, lambda _: Literal(type=t.I32(), value=1))
        assert name

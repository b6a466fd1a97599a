"""Spark's logical plans and expressions in Python: trees of nodes, built from the JSON that the JVM writes.

A plan is read in one call, with the expressions inside it (:mod:`transfer`). Each tree is a list of nodes, depth first;
a field for a child has the child's number; a tree that isn't a child (an expression of a relation, the plan of a
subquery) is in its field as a list of its own. Data that the JSON leaves out (bytes, the sources of relations) is read
from the JVM: :attr:`Node.java` is the object itself.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

from pyspark_substrait.model.computed_once import computed_once
from pyspark_substrait.spark.producer.decimal_aggregates import restored
from pyspark_substrait.spark.producer.transfer import query_json, tree_json

__all__ = ["Node", "plan_of", "query_of"]

_T = TypeVar("_T")


@dataclass(eq=False)
class Node:
    """A relation or an expression of Catalyst.

    Args:
        name: the simple name of its class: ``Project``, ``Add``, ``CurrentRow$``.
        fields: its JSON object, unchanged.
        children: its children in order.
    """

    name: str
    fields: Mapping[str, Any]
    children: tuple[Node, ...]
    _java: Callable[[], Any] = field(repr=False)
    _trees: dict[str, Any] = field(default_factory=dict, repr=False)

    @computed_once
    def java(self) -> Any:
        """The object in the JVM."""
        return self._java()

    def value(self, field: str, default: Any = None) -> Any:
        """Return a plain value: a number, a text, a boolean, a type in JSON."""
        return self.fields.get(field, default)

    def object_name(self, field: str) -> str:
        """Return the simple name of the Scala object in a field: ``Inner`` for ``...Inner$``; empty without one."""
        value = self.fields.get(field)
        name = value.get("object") or value.get("product-class") or "" if isinstance(value, Mapping) else ""
        return str(name).rsplit(".", 1)[-1].removesuffix("$")

    def child(self, field: str) -> Node:
        """Return the child in a field."""
        number: int = self.fields[field]
        return self.children[number]

    def listed(self, field: str) -> tuple[Node, ...]:
        """Return the children in a field that is a list."""
        return tuple(self.children[number] for number in self.fields[field])

    def tree(self, field: str) -> Node | None:
        """Return the tree in a field that isn't a child; None without one."""
        value = self.fields.get(field)
        if not _is_tree(value):
            return None
        return self._kept(field, lambda: _tree(value or (), lambda: _plain(self._of_java(field))))

    def trees(self, field: str) -> tuple[Node, ...]:
        """Return the trees in a field that is a list."""
        return self._kept(field, lambda: _nodes(self.fields.get(field), lambda: self._of_java(field)))

    def tree_lists(self, field: str) -> tuple[tuple[Node, ...], ...]:
        """Return the trees in a field that is a list of lists."""

        def made() -> tuple[tuple[Node, ...], ...]:
            if field in self.fields and self.fields[field] is None:
                # the JSON leaves out lists of some classes of Scala
                whole = self._of_java(field)
                return tuple(tuple(map(plan_of, _elements(whole.apply(row)))) for row in range(whole.size()))
            lists = self.fields.get(field) or ()
            return tuple(
                _nodes(values, partial(_element, lambda: self._of_java(field), number))
                for number, values in enumerate(lists)
            )

        return self._kept(field, made)

    def _children_of_java(self) -> Any:
        return self.java.children()

    def _of_java(self, field: str) -> Any:
        return getattr(self.java, field)()

    def _kept(self, field: str, make: Callable[[], _T]) -> _T:
        if field not in self._trees:
            self._trees[field] = make()
        found: _T = self._trees[field]
        return found

    @property
    def expression_id(self) -> int:
        """Catalyst's id of the column or variable that this expression defines or refers to."""
        return int(self.fields["exprId"]["id"])

    @computed_once
    def mode(self) -> str:
        """The evaluation mode of an expression that has one: ANSI, TRY or LEGACY."""
        for flag in ("failOnError", "ansiEnabled"):
            if isinstance(self.fields.get(flag), bool):
                return "ANSI" if self.fields[flag] else "LEGACY"
        context: Mapping[str, Any] = self.fields.get("evalContext", self.fields)
        return str(context.get("evalMode", _MODES_BEFORE.get(self.name, "")))

    @computed_once
    def signature(self) -> Hashable:
        """A key that is equal for expressions of the same meaning, regardless of names and qualifiers."""
        fields = _Subquery(self.java) if "plan" in self.fields else _frozen(self.fields)
        return _Signature((self.name, fields, tuple(child.signature for child in self.children)))

    @property
    def sql(self) -> str:
        """The SQL text of an expression, from Spark, for messages."""
        return str(self.java.sql())

    def with_child(self, position: int, child: Node) -> Node:
        """Return the node with another child at a position."""
        children = (*self.children[:position], child, *self.children[position + 1 :])
        return Node(self.name, self.fields, children, self._java)

    def walk(self) -> Iterator[Node]:
        """Yield the node and its descendants, depth first, without the trees in its fields."""
        ahead = [self]
        while ahead:
            node = ahead.pop()
            yield node
            ahead.extend(reversed(node.children))


def plan_of(java: Any) -> Node:
    """Return the tree of a logical plan or expression, given as a Java object."""
    return _tree(tree_json(java), lambda: java)


def query_of(execution: Any, *, optimized: bool) -> tuple[Node, list[Any]]:
    """Return the plan of a ``QueryExecution`` of the JVM, and the columns of its result in Spark's JSON."""
    found = query_json(execution, optimized=optimized)
    java = execution.optimizedPlan if optimized else execution.analyzed
    return _tree(found["plan"], java), found["schema"]["fields"]


def _tree(items: Sequence[Mapping[str, Any]], java: Callable[[], Any]) -> Node:
    """Build the tree of a list of nodes.

    In an expression without subqueries, Spark finds a node by its depth-first number, in one call.
    """
    numbered = ".expressions." in items[0]["class"] and not any("plan" in item for item in items)
    made: list[Node] = []  # the nodes after the current one without a parent so far, the next one last
    for number in range(len(items) - 1, -1, -1):
        item = items[number]
        count = item["num-children"]
        children = tuple(reversed(made[-count:])) if count else ()
        if count:
            del made[-count:]
        node = Node(item["class"].rsplit(".", 1)[-1], item, children, java)
        if numbered:
            node._java = partial(_numbered, made, number)
        else:
            for position, child in enumerate(children):
                child._java = partial(_element, node._children_of_java, position)
        made.append(restored(node))
    (root,) = made
    root._java = java
    return root


def _numbered(root: Sequence[Node], number: int) -> Any:
    return root[0].java.p(number)


def _nodes(trees: Any, java: Callable[[], Any]) -> tuple[Node, ...]:
    return tuple(_tree(tree, partial(_element, java, number)) for number, tree in enumerate(trees or ()))


def _elements(sequence: Any) -> Iterator[Any]:
    return (sequence.apply(number) for number in range(sequence.size()))


def _element(sequence: Callable[[], Any], number: int) -> Any:
    return sequence().apply(number)


def _frozen(value: Any) -> Hashable:
    match value:
        case {"class": "org.apache.spark.sql.catalyst.expressions.AttributeReference"}:
            return ("AttributeReference", value["exprId"]["id"])
        case dict():
            return tuple((key, _frozen(item)) for key, item in value.items())
        case list():
            return tuple(map(_frozen, value))
        case _:
            plain: Hashable = value
            return plain


class _Signature:
    """A tuple with a cached hash, so that looking up an expression doesn't visit all of it."""

    __slots__ = ("hash", "parts")

    def __init__(self, parts: Hashable) -> None:
        self.parts = parts
        self.hash = hash(parts)

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, _Signature) and self.hash == other.hash and self.parts == other.parts
        )

    def __hash__(self) -> int:
        return self.hash


@dataclass(frozen=True, eq=False)
class _Subquery:
    """A subquery expression, with Spark's semantic equality, because its columns have other ids each time."""

    java: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Subquery) and bool(self.java.semanticEquals(other.java))

    def __hash__(self) -> int:
        return int(self.java.semanticHash())


#: the modes of expressions in versions of Spark where they have no flag for it: before 4.3, before 4.0
_MODES_BEFORE: Final = {"Ceil": "LEGACY", "Floor": "LEGACY", "UrlDecode": "ANSI"}


def _is_tree(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping) and "num-children" in value[0]


def _plain(value: Any) -> Any:
    """Return the value in a Scala ``Some``; any other value unchanged."""
    return value.get() if value.getClass().getName() == "scala.Some" else value

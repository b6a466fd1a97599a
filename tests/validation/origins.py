"""The valid plans that mutants are made of, and what is known of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from pyspark_substrait import validate
from pyspark_substrait.codes import Level
from pyspark_substrait.errors import PlanFormatError
from pyspark_substrait.extensions import Registry
from pyspark_substrait.model.types import OpenStruct, Struct
from pyspark_substrait.proto import read, wire, write
from tests import samples

__all__ = ["REGISTRY", "Node", "Origin", "grave", "nodes", "origins"]

SHARED = Path(__file__).resolve().parents[3] / "shared" / "plans"
REGISTRY = Registry.default()
MESSAGE = FieldDescriptor.TYPE_MESSAGE


@dataclass(frozen=True)
class Node:
    """A message inside a plan, where it stands, and what is around it (the nearest first)."""

    message: Any
    path: str
    around: tuple[Any, ...]

    @property
    def kind(self) -> str:
        return str(self.message.DESCRIPTOR.full_name).removeprefix("substrait.")


def nodes(message: Any, path: str = "", around: tuple[Any, ...] = ()) -> Iterator[Node]:
    """A message and all below it."""
    yield Node(message, path, around)
    for descriptor, value in message.ListFields():
        if descriptor.type != MESSAGE or descriptor.message_type.GetOptions().map_entry:
            continue
        place = f"{path}.{descriptor.name}" if path else descriptor.name
        if descriptor.is_repeated:
            for index, child in enumerate(value):
                yield from nodes(child, f"{place}[{index}]", (message, *around))
        else:
            yield from nodes(value, place, (message, *around))


overloads = cache(REGISTRY.overloads)


@dataclass(eq=False)
class Origin:
    """A valid plan."""

    name: str
    message: Any

    @cached_property
    def checked(self) -> read.Checked:
        return read.checked(self.message, REGISTRY)

    @cached_property
    def found(self) -> frozenset[tuple[int, str, str]]:
        return frozenset(grave(validate(self.message)))

    @cached_property
    def at(self) -> dict[str, Any]:
        """What was read, by path."""
        places = self.checked.places
        return {places.path(node) or "": node for node, _ in places}

    @cached_property
    def functions(self) -> dict[int, tuple[str, str]]:
        """The URN and the name of each declared function."""
        urns = {item.extension_urn_anchor: item.urn for item in self.message.extension_urns}
        declared = [item.extension_function for item in self.message.extensions if item.HasField("extension_function")]
        return {item.function_anchor: (urns.get(item.extension_urn_reference, ""), item.name) for item in declared}

    def overloads(self, anchor: int) -> list[Any]:
        """The definitions that a declaration may mean."""
        urn, name = self.functions[anchor]
        found = [item for one in ([urn] if urn else REGISTRY.urns()) for item in overloads(one, name.partition(":")[0])]
        return [item for item in found if item.key == name] or found

    def known(self, anchor: int) -> bool:
        """Whether the definition of a function is at hand."""
        return bool(self.overloads(anchor))

    def signature(self, anchor: int) -> list[str]:
        """The short names of the types of a function's arguments, of its declared name."""
        _, _, text = self.functions[anchor][1].partition(":")
        return text.split("_") if text else []

    def variadic(self, anchor: int) -> bool:
        return any(item.variadic for item in self.overloads(anchor))

    def record(self, path: str) -> Struct | None:
        """What an expression at ``path`` sees, where that is known."""
        while path:
            node = self.at.get(path)
            if node is not None and hasattr(node, "schema"):
                return _seen(node)
            path = path.rpartition(".")[0]
        return None


def _seen(relation: Any) -> Struct | None:
    if hasattr(relation, "input"):
        schema = relation.input.schema
        return None if isinstance(schema, OpenStruct) else schema
    if hasattr(relation, "left") and hasattr(relation, "right"):
        sides = (relation.left.schema, relation.right.schema)
        return None if OpenStruct in map(type, sides) else Struct(types=(*sides[0].types, *sides[1].types))
    return None


def grave(report: Any) -> Iterator[tuple[int, str, str]]:
    return ((item.code, item.path, item.what) for item in report if item.level is not Level.INFO)


def origins() -> list[Origin]:
    """The samples, and the plans of others where they are."""
    found = [Origin(f"sample {name}", write.plan(plan)) for name, plan in samples.PLANS.items()]
    found += [
        Origin(f"sample {name}", write.extended_expression(expression))
        for name, expression in samples.EXTENDED_EXPRESSIONS.items()
    ]
    for file in sorted(SHARED.rglob("*")):
        if file.suffix in (".json", ".pb"):
            with suppress(PlanFormatError):  # not all of the files there are plans
                found.append(Origin(str(file.relative_to(SHARED)), wire.parse(file).message))
    return [origin for origin in found if validate(origin.message).ok]

"""The effects of a plan: the objects that it would read and change, found without running it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Literal, TypeAlias

from typing_extensions import assert_never

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.plan import Plan, RelRoot
from pyspark_substrait.model.relations import (
    CreateMode,
    Ddl,
    DdlOp,
    DetachedRel,
    ExtensionLeaf,
    ExtensionMulti,
    ExtensionObject,
    ExtensionSingle,
    ExtensionTable,
    Files,
    IcebergTable,
    InMemoryTable,
    LocalFiles,
    NamedObjectWrite,
    NamedTable,
    Read,
    Reference,
    Relation,
    Set,
    Update,
    VirtualTable,
    Write,
    WriteOp,
)
from pyspark_substrait.model.walk import relation_subqueries
from pyspark_substrait.text.explain.columns import dotted, escaped

__all__ = ["Action", "Touch", "touches"]


class Action(Enum):
    """The kind of access to an object; its values are the wordings before and after the run."""

    READ = "read", "read"
    CREATE = "create", "created"
    CREATE_OR_ADD = "create or add records to", "created, or added records to,"
    CREATE_OR_REPLACE = "create or replace", "created or replaced"
    CREATE_IF_MISSING = "create, if it is missing,", "created, if it was missing,"
    ADD = "add records to", "added records to"
    REMOVE = "remove records from", "removed records from"
    CHANGE = "change records of", "changed records of"
    ALTER = "alter", "altered"
    DROP = "drop", "dropped"
    DROP_IF_THERE = "drop, if it is there,", "dropped, if it was there,"

    @property
    def changes(self) -> bool:
        """Whether the action does more than read."""
        return self is not Action.READ


_Kind: TypeAlias = Literal["table", "view", "files", "in-memory table", "Iceberg table", "extension"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """An object that a plan reads or changes.

    Args:
        action: the kind of access.
        kind: the kind of object; one that is read by name counts as a table, though it may be a view.
        name: its name, quoted where it must be; of files, their path; of an extension, the type URL of its message.
        path: its path in the plan.
    """

    action: Action
    kind: _Kind
    name: str
    path: str

    def __str__(self) -> str:
        return f"{self.action.value[0]} the {self.kind} {self.name}"

    def done(self) -> str:
        """Return the description of the access after the run."""
        return f"{self.action.value[1]} the {self.kind} {self.name}"


def touches(plan: Plan, root: int | None = None) -> tuple[Touch, ...]:
    """Return the objects that a plan would read and change, in order of execution, once per access.

    Args:
        plan: the plan.
        root: which of several roots, from 0; None for all.

    Raises:
        InvalidPlanError: there is no such root.
    """
    trees = [(place, tree) for place, tree in enumerate(plan.relations) if isinstance(tree, RelRoot)]
    if root is not None and not 0 <= root < len(trees):
        raise InvalidPlanError(f"there is no root {root}; the plan has {len(trees)}", path="relations")
    chosen = list(enumerate(plan.relations)) if not trees else trees if root is None else [trees[root]]
    walk = _Walk(plan)
    return tuple(touch for place, _ in chosen for touch in walk.tree(place))


class _Walk:
    """A walk through a plan, inputs first. A tree with several references is visited once."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._seen: set[int] = set()

    def tree(self, place: int) -> Iterator[Touch]:
        """Yield the objects that one of the plan's trees reads and changes."""
        if place in self._seen:
            return
        self._seen.add(place)
        tree = self._plan.relations[place]
        if isinstance(tree, RelRoot):
            yield from self._relation(tree.input, f"relations[{place}].root.input")
        else:
            yield from self._relation(tree, f"relations[{place}].rel")

    def _relation(self, node: Relation, path: str) -> Iterator[Touch]:
        if isinstance(node, Reference):
            yield from self.tree(node.subtree_ordinal)
            return
        if isinstance(node, DetachedRel):
            yield from self._relation(node.relation, path)
            return
        here = f"{path}.{node.info.field}"
        for field, input in zip(_inputs(node), node.inputs, strict=True):
            yield from self._relation(input, f"{here}.{field}")
        for query in relation_subqueries(node):
            yield from self._relation(query, f"{here}.(subquery)")
        yield from _own(node, here)


def _inputs(node: Relation) -> list[str]:
    """Return the fields that hold a relation's inputs."""
    if isinstance(node, Set | ExtensionMulti):
        return [f"inputs[{place}]" for place in range(len(node.inputs))]
    if isinstance(node, Ddl):
        return ["view_definition"] * len(node.inputs)
    return ["input"] if len(node.inputs) == 1 else ["left", "right"][: len(node.inputs)]


# relations that read or change an object ------------------------------------------------------------------------------


def _own(node: Relation, path: str) -> Iterator[Touch]:
    match node:
        case Read():
            yield from _read(node, path)
        case ExtensionLeaf() | ExtensionSingle() | ExtensionMulti():
            name = escaped(node.detail.type_url) if node.detail is not None else ""
            yield Touch(action=Action.READ, kind="extension", name=name, path=path)
        case Write():
            yield _target(node.write_type, _written(node), "table", path)
        case Ddl():
            yield _target(node.write_type, _DEFINED[node.op], node.object.value, path)
        case Update():
            yield Touch(action=Action.CHANGE, kind="table", name=dotted(node.update_type.names, whole=True), path=path)
        case _:
            return


def _read(node: Read, path: str) -> Iterator[Touch]:
    def touch(kind: _Kind, name: str, field: str) -> Touch:
        return Touch(action=Action.READ, kind=kind, name=name, path=f"{path}.{field}")

    match node.read_type:
        case NamedTable(names=names):
            yield touch("table", dotted(names, whole=True), "named_table")
        case LocalFiles(items=items):
            for place, item in enumerate(items):
                yield touch("files", escaped(item.path), f"local_files.items[{place}]")
        case IcebergTable(metadata_uri=uri):
            yield touch("Iceberg table", escaped(uri), "iceberg_table")
        case ExtensionTable(detail=detail):
            yield touch("extension", escaped(detail.type_url), "extension_table")
        case VirtualTable():
            return
        case _:
            assert_never(node.read_type)


def _target(
    target: NamedObjectWrite | ExtensionObject, action: Action, kind: Literal["table", "view"], path: str
) -> Touch:
    match target:
        case NamedObjectWrite(names=names):
            return Touch(action=action, kind=kind, name=dotted(names, whole=True), path=path)
        case ExtensionObject(target=InMemoryTable(name=name)):
            return Touch(action=action, kind="in-memory table", name=dotted((name,), whole=True), path=path)
        case ExtensionObject(target=Files(path=place)):
            return Touch(action=action, kind="files", name=escaped(place), path=path)
        case ExtensionObject(detail=detail):
            return Touch(action=action, kind="extension", name=escaped(detail.type_url), path=path)
        case _:
            assert_never(target)


_DEFINED = {
    DdlOp.CREATE: Action.CREATE,
    DdlOp.CREATE_OR_REPLACE: Action.CREATE_OR_REPLACE,
    DdlOp.ALTER: Action.ALTER,
    DdlOp.DROP: Action.DROP,
    DdlOp.DROP_IF_EXIST: Action.DROP_IF_THERE,
}
_CHANGED = {WriteOp.INSERT: Action.ADD, WriteOp.DELETE: Action.REMOVE, WriteOp.UPDATE: Action.CHANGE}
_MADE = {
    CreateMode.APPEND_IF_EXISTS: Action.CREATE_OR_ADD,
    CreateMode.REPLACE_IF_EXISTS: Action.CREATE_OR_REPLACE,
    CreateMode.IGNORE_IF_EXISTS: Action.CREATE_IF_MISSING,
}


def _written(node: Write) -> Action:
    return _MADE.get(node.create_mode, Action.CREATE) if node.op is WriteOp.CTAS else _CHANGED[node.op]

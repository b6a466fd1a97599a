"""Carry out the writing relations of a plan, and replace them in the query above."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pyspark_substrait.errors import ExecutionError, TableError, at
from pyspark_substrait.model.relations import (
    Ddl,
    DetachedRel,
    ExtensionMulti,
    ExtensionObject,
    NamedObjectWrite,
    NamedTable,
    Read,
    Reference,
    Relation,
    RelCommon,
    Set,
    Update,
    VirtualTable,
    Write,
    WriteOp,
)
from pyspark_substrait.model.types import Boolean, NamedStruct, Struct
from pyspark_substrait.model.walk import (
    relation_subqueries,
    relations_within,
    with_inputs,
    writes,
)
from pyspark_substrait.spark.tables import Table
from pyspark_substrait.spark.writing import definitions, records, replacing, targets, updates
from pyspark_substrait.spark.writing.stored_tables import depth_first
from pyspark_substrait.spark.writing.write_context import WriteContext
from pyspark_substrait.sql.compiler.relations import refuse_enhancements
from pyspark_substrait.sql.compiler.writes import misplaced

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["WRITING", "with_writes_executed"]

#: The relations that change data or schemas.
WRITING: Final = (Write, Update, Ddl)


def with_writes_executed(node: Relation, session: WriteContext) -> Relation:
    """Carry out the writing relations of a tree, and replace each by a read of its output records.

    All of them, and the query above them, are checked before the first one changes anything.

    Raises:
        InvalidPlanError, UnsupportedPlanError, TableError: as for queries; then nothing was changed by that relation.
        ExecutionError: a relation fails on its data, or somebody else changes its table at the same time.
    """
    _refuse_inside(node)
    with _reporting_files():
        _recover(node, session)
        checking = _Checking(session)
        above = checking.relation(node)
    if not isinstance(node, WRITING):
        session.frame(above, depth_first(above.schema))
    return _Writing(session).relation(node)


@contextmanager
def _reporting_files() -> Iterator[None]:
    """Raise an error of this package if the system refuses to look at files or to change them.

    Raises:
        ExecutionError: the disk is full, a folder is read-only, or files have vanished.
    """
    try:
        yield
    except ConnectionError:
        raise  # of the connection to Spark
    except FileNotFoundError as error:
        raise ExecutionError(
            f"a file has vanished during the write: {error}",
            hint="Another process may have changed the table. Run the plan again",
        ) from error
    except OSError as error:
        raise ExecutionError(
            f"files cannot be changed: {error}",
            hint="Free some space, or make the folder writable. Then run the plan again",
        ) from error


class _Pass:
    """A bottom-up pass over a tree that replaces writing relations by reads."""

    def __init__(self, session: WriteContext) -> None:
        self._session = session
        #: the replaced shared subtrees: each is carried out once
        self._subtrees: dict[int, Relation] = {}

    def relation(self, node: Relation) -> Relation:
        """Return the relation with the writing relations in it replaced by reads."""
        if isinstance(node, Reference):
            with at("reference"):
                if node.subtree_ordinal not in self._subtrees:
                    self._subtrees[node.subtree_ordinal] = self.relation(node.subtree)
                return replace(node, subtree=self._subtrees[node.subtree_ordinal])
        if isinstance(node, DetachedRel):
            return self.relation(node.relation)
        if not writes(node):
            return node
        with at(node.info.field):
            places = _places(node)

            def input(inner: Relation) -> Relation:
                with at(*next(places)):
                    return self.relation(inner)

            node = with_inputs(node, input)
            if not isinstance(node, WRITING):
                return node
            refuse_enhancements(node)
            return self._written(node)

    def _written(self, node: Write | Update | Ddl) -> Relation:
        """Return the replacement of a writing relation whose inputs are replaced already."""
        raise NotImplementedError


def _places(node: Relation) -> Iterator[tuple[str | int, ...]]:
    """The field of each input of a relation, in order."""
    match node:
        case Set() | ExtensionMulti():
            return (("inputs", position) for position in range(len(node.inputs)))
        case Ddl():
            return iter([("view_definition",)])
        case _:
            return iter([("input",)] if len(node.inputs) == 1 else [("left",), ("right",)])


class _Checking(_Pass):
    """Checks the writing relations without changing anything."""

    def __init__(self, session: WriteContext) -> None:
        super().__init__(session)
        self._defines = False

    def _written(self, node: Write | Update | Ddl) -> Relation:
        try:
            if isinstance(node, Write) and not isinstance(node.write_type, ExtensionObject):
                records.checked(node, self._session)
            elif isinstance(node, Write):
                targets.checked(node, self._session)
            elif isinstance(node, Update):
                updates.checked(node, self._session)
        except TableError:
            # an inner relation may define the table, which doesn't exist yet
            if not self._defines:
                raise
        self._defines |= isinstance(node, Ddl) or (isinstance(node, Write) and node.op is WriteOp.CTAS)
        return _nothing(node)


class _Writing(_Pass):
    """Carries out the writing relations."""

    def _written(self, node: Write | Update | Ddl) -> Relation:
        with _reporting_files():
            found = self._carried_out(node)
        self._session.look_up_anew()
        if found is None or not node.direct_schema.types:
            return _nothing(node)
        table = Table(found, frozenset(found.columns))
        names = self._session.bind(table)
        return Read(common=node.common, base_schema=_positional(node.direct_schema), read_type=NamedTable(names=names))

    def _carried_out(self, node: Write | Update | Ddl) -> DataFrame | None:
        match node:
            case Write(write_type=ExtensionObject()):
                return targets.write(node, self._session)
            case Write():
                return records.write(node, self._session)
            case Update():
                return updates.update(node, self._session)
            case Ddl():
                definitions.define(node, self._session)
                return None


def _recover(node: Relation, session: WriteContext) -> None:
    """Finish or undo interrupted replacements of the tables in Spark's own catalog that a tree changes."""
    changed: set[tuple[str, ...]] = set()
    for found in relations_within(node):
        match found:
            case Update(update_type=target):
                changed.add(target.names)
            case Write(write_type=NamedObjectWrite(names=names)) | Ddl(write_type=NamedObjectWrite(names=names)):
                changed.add(names)
    for names in sorted(changed):
        if session.tables.find(names) is None and replacing.recover(session.spark, names):
            session.look_up_anew()


def _nothing(node: Relation) -> Relation:
    """Return an empty read with the output columns of a relation."""
    types, common = node.direct_schema.types, node.common
    if not types:
        types, common = (Boolean(),), RelCommon(emit=(), rel_anchor=node.common.rel_anchor)
    return Read(common=common, base_schema=_positional(Struct(types=types)), read_type=VirtualTable(expressions=()))


def _positional(schema: Struct) -> NamedStruct:
    return NamedStruct(names=depth_first(schema), struct=schema)


def _refuse_inside(node: Relation) -> None:
    """Refuse writes where they might be carried out several times, or never: in subqueries, and in views."""
    pending: list[tuple[Relation, bool]] = [(node, False)]
    seen: set[tuple[int, bool]] = set()
    while pending:
        current, inside = pending.pop()
        if (id(current), inside) in seen:
            continue
        seen.add((id(current), inside))
        if inside and isinstance(current, WRITING):
            raise misplaced(current)
        below = inside or isinstance(current, Ddl)
        pending.extend((input, below) for input in current.inputs)
        if isinstance(current, Reference):
            pending.append((current.subtree, inside))
        pending.extend((query, True) for query in relation_subqueries(current))

"""Reads and the names of their columns. Spec: relations/logical_relations "Read Operator", types/named_structs."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import assert_never

from pyspark_substrait.codes import Code, Level
from pyspark_substrait.model.expressions import FieldReference
from pyspark_substrait.model.findings import Finding
from pyspark_substrait.model.masks import ListSelect, ListSlice, MapSelect, MaskExpression, Select, StructSelect
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import LocalFiles, NamedTable, Read
from pyspark_substrait.model.types import List, Map, NamedStruct, Struct, Type, concrete, name_count
from pyspark_substrait.model.unbound import is_unbound

__all__ = ["names", "schema", "slices", "source"]


def schema(read: Read, path: Path) -> Iterator[Finding]:
    """Check the names of the columns, and that they have types."""
    yield from names(read.base_schema, (path, "base_schema"))
    types = read.base_schema.struct.types
    if any(map(is_unbound, types)):
        columns = zip(read.base_schema.top_level_names(), types, strict=False)
        listed = ", ".join(name for name, type in columns if is_unbound(type))
        yield Finding.of(
            Code.TYPE_UNBOUND,
            (path, "base_schema"),
            f"the plan leaves the types of these columns open: {listed}",
            fix="bind(plan, tables) takes them from the tables; run_query(plan, tables=…) does so by itself",
        )


def names(schema: NamedStruct, path: Path) -> Iterator[Finding]:
    """Check for empty names, and for names that two fields of a struct share."""
    given = schema.names
    if len(given) == len(schema.struct.types) == len(set(given)) and "" not in given:
        return
    if len(given) == name_count(schema.struct):
        yield from _struct_names(schema.struct, list(enumerate(given)), (path, "names"))


def _struct_names(struct: Struct, given: list[tuple[int, str]], path: Path) -> Iterator[Finding]:
    """Check the names of one struct; its names, nested ones included, are taken from the front of ``given``."""
    seen: set[str] = set()
    for type in struct.types:
        index, name = given.pop(0)
        if not name:
            yield Finding.of(
                Code.TYPE_INVALID_FIELD_NAME, (path, index), "the name of a field is empty", fix="Name the field"
            )
        elif name in seen:
            yield Finding.of(
                Code.TYPE_INVALID_FIELD_NAME,
                (path, index),
                f"two fields of the same struct are named `{name}`",
                fix="Give each a name of its own",
            )
        seen.add(name)
        yield from _inner_names(type, given, path)


def _inner_names(type: Type, given: list[tuple[int, str]], path: Path) -> Iterator[Finding]:
    match concrete(type):
        case Struct() as struct:
            yield from _struct_names(struct, given, path)
        case List(type=element):
            yield from _inner_names(element, given, path)
        case Map(key=key, value=value):
            yield from _inner_names(key, given, path)
            yield from _inner_names(value, given, path)
        case _:
            pass


def source(read: Read, path: Path) -> Iterator[Finding]:
    """Check for a table without a name, and for a read without files."""
    match read.read_type:
        case NamedTable(names=()):
            yield Finding.of(
                Code.PROTO_MISSING_FIELD, (path, "named_table"), "the table has no name", fix="Name the table"
            )
        case NamedTable(names=given) if "" in given:
            what = f"a part of the table's name is empty: {list(given)}"
            yield Finding.of(Code.ILLEGAL_VALUE, ((path, "named_table"), "names"), what, level=Level.WARNING)
        case LocalFiles(items=()):
            what = "the read lists no file, so it reads nothing"
            yield Finding.of(Code.RELATION_INVALID, (path, "local_files"), what, level=Level.WARNING)
        case _:
            pass


def slices(node: Read | FieldReference, path: Path) -> Iterator[Finding]:
    """Check for slices of lists that select one element or none. Spec: expressions/field_references."""
    match node:
        case Read(projection=mask):
            place: Path = (path, "projection")
        case FieldReference(reference=MaskExpression() as mask):
            place = ((path, "selection"), "masked_reference")
        case _:
            return
    if mask is not None:
        yield from _slices(mask.select, (place, "select"))


def _slices(select: Select, path: Path) -> Iterator[Finding]:
    match select:
        case StructSelect(struct_items=items):
            for index, item in enumerate(items):
                yield from _child(item.child, ((path, "struct_items"), index))
        case ListSelect(selection=selection, child=child):
            for index, part in enumerate(selection):
                if isinstance(part, ListSlice) and (part.start < 0) == (part.end < 0) and part.start >= part.end:
                    count = "one element" if part.start == part.end else "nothing"
                    what = f"the slice from {part.start} to {part.end} selects {count}"
                    yield Finding.of(Code.REDUNDANT_LIST_SLICE, (((path, "selection"), index), "slice"), what)
            yield from _child(child, path)
        case MapSelect(child=child):
            yield from _child(child, path)
        case _:
            assert_never(select)


def _child(select: Select | None, path: Path) -> Iterator[Finding]:
    match select:
        case None:
            pass
        case StructSelect():
            yield from _slices(select, ((path, "child"), "struct"))
        case ListSelect():
            yield from _slices(select, ((path, "child"), "list"))
        case MapSelect():
            yield from _slices(select, ((path, "child"), "map"))
        case _:
            assert_never(select)

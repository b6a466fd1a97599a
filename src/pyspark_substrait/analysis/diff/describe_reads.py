"""Descriptions of reads, and parts about tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from typing_extensions import assert_never

from pyspark_substrait.analysis.diff.description import Description, Item, Kind, Part, Source, Style
from pyspark_substrait.analysis.diff.equivalence import Forms, conjuncts
from pyspark_substrait.analysis.diff.record import Record
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations import (
    ExtensionTable,
    FileOrFiles,
    IcebergTable,
    LocalFiles,
    NamedTable,
    Read,
    ReadType,
    VirtualTable,
)
from pyspark_substrait.model.relations.writing import ExtensionObject, NamedObjectWrite
from pyspark_substrait.model.types import NamedStruct, name_count

__all__ = ["bag", "fields", "object_text", "one", "read", "schema_columns", "table_name"]


def one(word: str, kind: Kind, text: str, forms: Forms, form: object = None) -> Part:
    """Return a part with a single item."""
    number = forms.plain("text", text if form is None else form)
    return Part(word, kind, Style.ONE, (Item(form=number, text=text),))


def bag(word: str, kind: Kind, condition: object, record: Record, forms: Forms) -> Part:
    """Return a condition as a part, with an item for each operand of the conjunction."""
    items = tuple(
        Item(form=forms.expression(node, record), node=node, record=record)
        for node in conjuncts(condition)  # type: ignore[arg-type]
    )
    return Part(word, kind, Style.BAG, items)


def read(relation: Read, outer: Record | None, forms: Forms, known: Mapping[int, int]) -> Description:
    """Describe a read; ``known``: the identities of some of its columns in the other plan."""
    schema, type = relation.base_schema, relation.read_type
    columns = tuple(known.get(column, column) for column in schema_columns(schema, forms))
    record = Record(
        columns=columns,
        names=schema.top_level_names(),
        types=schema.struct.types,
        anchor=relation.common.rel_anchor,
        outer=outer,
        number=1 + forms.number("record", columns, relation.common.rel_anchor, 0 if outer is None else outer.number),
    )
    parts = [
        *_read_type(type, forms),
        fields(schema, columns, forms),
        bag("filter", Kind.CONDITION, relation.filter, record, forms),
        bag("best-effort filter", Kind.CONDITION, relation.best_effort_filter, record, forms),
    ]
    if relation.projection is None:
        return Description(parts=tuple(parts), columns=columns, sources=(None,) * len(columns))
    kept, sources = [], list[Source]()
    for item in relation.projection.select.struct_items:
        column = forms.column(record, item.field)
        if item.child is not None:
            column = forms.number("masked", column, item.child, relation.projection.maintain_singular_struct)
            name = record.names[item.field]
            text = f"what is kept of {name}"
            parts.append(one(text, Kind.COLUMN, str(item.child), forms, column))
        kept.append(column)
        sources.append(None)
    return Description(parts=tuple(parts), columns=tuple(kept), sources=tuple(sources))


def schema_columns(schema: NamedStruct, forms: Forms) -> tuple[int, ...]:
    """Return the identities of a table's columns, which follow from their names."""
    seen: Counter[str] = Counter()
    columns = []
    for name in schema.top_level_names():
        columns.append(forms.number("field", name, seen[name]))
        seen[name] += 1
    return tuple(columns)


def fields(schema: NamedStruct, columns: tuple[int, ...], forms: Forms, word: str = "column") -> Part:
    """Return the columns of a table, each with its name and type, as a part."""
    items = []
    position = 0
    for type, column in zip(schema.struct.types, columns, strict=False):
        count = name_count(type)
        name, *inner = schema.names[position : position + 1 + count] or ("",)
        position += 1 + count
        plain = forms.type(type)
        nested = f" ({', '.join(inner)})" if inner else ""
        form = forms.plain("declared", name, tuple(inner), plain)
        items.append(Item(form=form, text=f"{plain}{nested}", column=column, name=name))
    return Part(word, Kind.SCHEMA, Style.FIELDS, tuple(items))


def _read_type(type: ReadType, forms: Forms) -> Iterator[Part]:
    match type:
        case NamedTable(names=names, advanced_extension=extension):
            yield one("table", Kind.TABLE, ".".join(names), forms, names)
            if extension is not None and extension.enhancement is not None:
                yield message("enhancement of the table", extension.enhancement, forms)
        case VirtualTable(expressions=records):
            empty = Record()
            yield one("table", Kind.TABLE, "a virtual table", forms)
            yield Part(
                "record",
                Kind.ROWS,
                Style.ROW,
                tuple(Item(form=forms.expression(node, empty), node=node, record=empty) for node in records),
            )
        case LocalFiles(items=items, advanced_extension=extension):
            yield one("table", Kind.TABLE, "files", forms)
            files = tuple(Item(form=forms.plain(item), text=_file(item)) for item in items)
            yield Part("file", Kind.TABLE, Style.BAG, files)
            if extension is not None and extension.enhancement is not None:
                yield message("enhancement of the files", extension.enhancement, forms)
        case ExtensionTable(detail=detail):
            yield message("table", detail, forms, Kind.TABLE)
        case IcebergTable(metadata_uri=uri, snapshot_id=snapshot, snapshot_timestamp=time):
            yield one("table", Kind.TABLE, f"the Iceberg table {uri}", forms, ("iceberg", uri))
            shown = f"id {snapshot}" if snapshot is not None else "the current one" if time is None else f"at {time}"
            yield one("snapshot", Kind.TABLE, shown, forms, ("snapshot", snapshot, time))
        case _:
            assert_never(type)


def _file(item: FileOrFiles) -> str:
    part = f" [{item.start} + {item.length}]" if item.start or item.length else ""
    partition = f" (partition {item.partition_index})" if item.partition_index else ""
    form = item.file_format
    shown = form.type_url if isinstance(form, AnyMessage) else form.__class__.__name__.removesuffix("ReadOptions")
    kind = "" if item.path_type == "uri_file" else f" ({item.path_type})"
    return f"{item.path}{kind}{part}{partition}" + ("" if form is None else f" as {shown}")


def message(word: str, detail: AnyMessage, forms: Forms, kind: Kind = Kind.EXTENSION) -> Part:
    """Return an extension message as a part."""
    return one(word, kind, f"{detail.type_url} ({len(detail.value)} bytes)", forms, detail)


def table_name(relation: Read) -> str:
    """Return the name of a read's table for texts."""
    match relation.read_type:
        case NamedTable(names=names):
            return ".".join(names)
        case VirtualTable():
            return "a virtual table"
        case LocalFiles(items=items):
            return items[0].path.rstrip("/").rsplit("/", 1)[-1] if items else "no files"
        case IcebergTable(metadata_uri=uri):
            return uri
        case ExtensionTable(detail=detail):
            return detail.type_url
        case _:
            assert_never(relation.read_type)


def object_text(target: NamedObjectWrite | ExtensionObject | NamedTable) -> str:
    """Return the name of a write's target for texts."""
    return target.detail.type_url if isinstance(target, ExtensionObject) else ".".join(target.names)

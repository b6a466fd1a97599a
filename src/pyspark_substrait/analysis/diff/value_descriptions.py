"""Parts of descriptions that are about values: tables, schemas, targets, operations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import Enum

from typing_extensions import assert_never

from pyspark_substrait.analysis.diff.description import Item, Kind, Part, Style
from pyspark_substrait.analysis.diff.equivalence import Forms
from pyspark_substrait.analysis.diff.record import Record
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations import (
    Broadcast,
    ExchangeKind,
    ExtensionTable,
    FileOrFiles,
    Generator,
    IcebergTable,
    LocalFiles,
    MultiBucketExpression,
    NamedTable,
    Read,
    ReadType,
    RoundRobin,
    ScatterFields,
    SingleBucketExpression,
    VirtualTable,
)
from pyspark_substrait.model.relations.writing import ExtensionObject, NamedObjectWrite
from pyspark_substrait.model.types import NamedStruct, name_count

__all__ = ["fields", "message", "schema_columns", "single_item_part", "table_name", "value_parts"]


def single_item_part(word: str, kind: Kind, text: str, forms: Forms, form: object = None) -> Part:
    """Return a part with a single item."""
    number = forms.plain("text", text if form is None else form)
    return Part(word, kind, Style.ONE, (Item(form=number, text=text),))


def value_parts(word: str, kind: Kind, value: object, record: Record, forms: Forms) -> list[Part]:
    """Return the parts for a value; expressions in it see a record."""
    match value:
        case NamedTable() | VirtualTable() | LocalFiles() | ExtensionTable() | IcebergTable():
            return [*_read_type(value, forms)]
        case ExtensionObject(detail=detail):
            return [message(word, detail, forms, kind)]
        case NamedObjectWrite(names=names):
            return [single_item_part(word, kind, ".".join(names), forms, names)]
        case ScatterFields() | SingleBucketExpression() | MultiBucketExpression() | RoundRobin() | Broadcast():
            return [*_exchange_kind(value, record, forms)]
        case Generator():
            rows = "" if value.rows is None else f" of {value.rows} rows"
            text = f"{value.kind.value}{rows}{', keeping records without any' if value.outer else ''}"
            return [single_item_part(word, kind, text, forms)]
        case AnyMessage():
            return [message(word, value, forms)]
        case Enum():
            return [single_item_part(word, kind, str(value.value), forms)]
        case tuple() if all(isinstance(item, Enum) for item in value) and value:
            return [single_item_part(word, kind, " ".join(str(item.value) for item in value), forms)]
        case tuple():
            targets = tuple(
                Item(form=forms.plain(item), text=f"{item.target_type} for partitions {list(item.partition_id)}")
                for item in value
            )
            return [Part(word, kind, Style.BAG, targets)]
        case _:
            return [single_item_part(word, kind, str(value), forms)]


def _exchange_kind(kind: ExchangeKind, record: Record, forms: Forms) -> Iterator[Part]:
    def listed(word: str, style: Style, *nodes: Expression) -> Part:
        items = tuple(Item(form=forms.expression(node, record), node=node, record=record) for node in nodes)
        return Part(word, Kind.EXCHANGE, style, items)

    match kind:
        case ScatterFields(fields=scattered):
            yield single_item_part("kind", Kind.EXCHANGE, "by fields", forms)
            yield listed("field", Style.ROW, *scattered)
        case SingleBucketExpression(expression=node):
            yield listed("bucket", Style.ONE, node)
        case MultiBucketExpression(expression=node, constrained_to_count=limited):
            yield listed("buckets", Style.ONE, node)
            yield single_item_part("limit", Kind.EXCHANGE, "to the count" if limited else "none", forms)
        case RoundRobin(exact=exact):
            yield single_item_part("kind", Kind.EXCHANGE, "round robin, exactly" if exact else "round robin", forms)
        case Broadcast():
            yield single_item_part("kind", Kind.EXCHANGE, "broadcast", forms)
        case _:
            assert_never(kind)


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
            yield single_item_part("table", Kind.TABLE, ".".join(names), forms, names)
            if extension is not None and extension.enhancement is not None:
                yield message("enhancement of the table", extension.enhancement, forms)
        case VirtualTable(expressions=records):
            empty = Record()
            yield single_item_part("table", Kind.TABLE, "a virtual table", forms)
            yield Part(
                "record",
                Kind.ROWS,
                Style.ROW,
                tuple(Item(form=forms.expression(node, empty), node=node, record=empty) for node in records),
            )
        case LocalFiles(items=items, advanced_extension=extension):
            yield single_item_part("table", Kind.TABLE, "files", forms)
            files = tuple(Item(form=forms.plain(item), text=_file(item)) for item in items)
            yield Part("file", Kind.TABLE, Style.BAG, files)
            if extension is not None and extension.enhancement is not None:
                yield message("enhancement of the files", extension.enhancement, forms)
        case ExtensionTable(detail=detail):
            yield message("table", detail, forms, Kind.TABLE)
        case IcebergTable(metadata_uri=uri, snapshot_id=snapshot, snapshot_timestamp=time):
            yield single_item_part("table", Kind.TABLE, f"the Iceberg table {uri}", forms, ("iceberg", uri))
            shown = f"id {snapshot}" if snapshot is not None else "the current one" if time is None else f"at {time}"
            yield single_item_part("snapshot", Kind.TABLE, shown, forms, ("snapshot", snapshot, time))
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
    return single_item_part(word, kind, f"{detail.type_url} ({len(detail.value)} bytes)", forms, detail)


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

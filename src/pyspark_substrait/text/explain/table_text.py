"""The sources and targets of relations as text: tables, files and schemas, with hints and extensions."""

from __future__ import annotations

from typing_extensions import assert_never

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.literals import AnyMessage, Literal
from pyspark_substrait.model.masks import masked_schema
from pyspark_substrait.model.relations import (
    AdvancedExtension,
    ArrowReadOptions,
    DelimiterSeparatedTextReadOptions,
    DwrfReadOptions,
    ExchangeTarget,
    ExtensionObject,
    ExtensionTable,
    FileFormat,
    FileOrFiles,
    Files,
    Hint,
    IcebergTable,
    InMemoryTable,
    LocalFiles,
    NamedObjectWrite,
    NamedTable,
    OrcReadOptions,
    ParquetReadOptions,
    Read,
    ReadType,
    Relation,
    VirtualTable,
)
from pyspark_substrait.model.types import NamedStruct, PrecisionTimestampTZ, name_count
from pyspark_substrait.text.explain.columns import Column, Scope, dotted, labels, name_text, type_text
from pyspark_substrait.text.explain.expressions import list_text
from pyspark_substrait.text.explain.literals import counted, limited, literal_text, message_text, string_text
from pyspark_substrait.text.explain.masks import mask_text
from pyspark_substrait.text.explain.page_state import PageState

__all__ = [
    "exchange_targets",
    "extension_texts",
    "margin_text",
    "named_columns",
    "object_text",
    "read_columns",
    "read_text",
    "schema_text",
]

_PATH_TYPES = {"uri_path": "path", "uri_path_glob": "glob", "uri_file": "file", "uri_folder": "folder"}


def named_columns(schema: NamedStruct, source: ReadType | None = None) -> tuple[Column, ...]:
    """Return the columns of a schema; those of a named table carry its name."""
    table = source.names[-1] if isinstance(source, NamedTable) and source.names else ""
    columns, position = [], 0
    for type in schema.struct.types:
        name = schema.names[position] if position < len(schema.names) else None
        inner = schema.names[position + 1 : position + 1 + name_count(type)]
        columns.append(Column(name=name, type=type, inner=inner, table=table))
        position += 1 + name_count(type)
    return tuple(columns)


def schema_text(schema: NamedStruct) -> str:
    """The columns of a table, in parentheses."""
    columns = named_columns(schema)
    listed = [
        f"{label}: {type_text(column.type, column.inner)}" if column.type is not None else label
        for column, label in zip(columns, labels(columns), strict=True)
    ]
    return f"({', '.join(listed)})"


# --- reads ------------------------------------------------------------------------------------------------------------


def read_columns(relation: Read, scope: Scope) -> tuple[list[str], tuple[Column, ...]]:
    """Return the projection of a read as a property, if it has one, and the columns that it keeps.

    ``scope`` is the scope of the table's own columns.
    """
    mask = relation.projection
    if mask is None:
        return [], scope.columns
    try:
        columns = named_columns(masked_schema(relation.base_schema, mask), relation.read_type)
    except (InvalidPlanError, IndexError):  # the mask doesn't fit; the page says so where it derives the schema
        columns = ()
    if any(item.child is not None for item in mask.select.struct_items) or not columns:
        return [f"keep {mask_text(mask, [column.name for column in scope.columns])}"], columns
    return [f"{len(columns)} of {counted(len(scope.columns), 'column')}"], columns


def read_text(read_type: ReadType, scope: Scope, marks: PageState) -> str:
    """Return the source of a read as text."""
    match read_type:
        case NamedTable():
            return object_text(read_type)
        case VirtualTable(row_count=count):
            blank = Scope(columns=(), labels=(), outer=scope.outer)
            shown = limited([f"({list_text(row.fields, blank, marks)})" for row in read_type.first_rows(21)], count)
            return f"{counted(count, 'row')}: {shown}" if count else "no rows"
        case LocalFiles(items=files, advanced_extension=extension):
            listed = limited([_file(file) for file in files]) or "no files"
            return listed + _in_braces(extension_texts(extension))
        case ExtensionTable(detail=detail):
            return message_text(detail)
        case IcebergTable(metadata_uri=uri, snapshot_id=snapshot, snapshot_timestamp=time):
            version = "" if snapshot is None else f" snapshot {name_text(snapshot)}"
            if time is not None:
                version += f" as of {literal_text(Literal(type=PrecisionTimestampTZ(precision=6), value=time))}"
            return f"Iceberg {string_text(uri)}{version}"
        case _:
            assert_never(read_type)


def _file(file: FileOrFiles) -> str:
    text = f"{_PATH_TYPES[file.path_type]} {string_text(file.path)}"
    parts = [] if file.file_format is None else [_file_format(file.file_format)]
    parts.extend([f"partition {file.partition_index}"] if file.partition_index else [])
    if file.start or file.length:
        parts.append(f"{file.length:,} bytes from byte {file.start:,}")
    return f"{text} ({', '.join(parts)})" if parts else text


def _file_format(format: FileFormat) -> str:
    match format:
        case ParquetReadOptions():
            return "Parquet"
        case ArrowReadOptions():
            return "Arrow"
        case OrcReadOptions():
            return "ORC"
        case DwrfReadOptions():
            return "DWRF"
        case DelimiterSeparatedTextReadOptions():
            parts = [f"text delimited by {string_text(format.field_delimiter)}"]
            parts.extend([f"quote {string_text(format.quote)}"] if format.quote else [])
            parts.extend([f"escape {string_text(format.escape)}"] if format.escape else [])
            skipped = format.header_lines_to_skip
            parts.extend([f"skip {counted(skipped, 'line')}"] if skipped else [])
            parts.extend([f"lines up to {format.max_line_size:,} bytes"] if format.max_line_size else [])
            null = format.value_treated_as_null
            parts.extend([] if null is None else [f"null is {string_text(null)}"])
            return ", ".join(parts)
        case AnyMessage():
            return message_text(format)
        case _:
            assert_never(format)


# --- writes and exchanges ---------------------------------------------------------------------------------------------


def object_text(target: NamedTable | NamedObjectWrite | ExtensionObject) -> str:
    """Return the name of a table or view, or a description of an extension's target."""
    match target:
        case ExtensionObject(target=InMemoryTable(name=name, pin=pin)):
            return f"in-memory table {dotted((name,))}{' (pinned)' if pin else ''}"
        case ExtensionObject(target=Files(path=path)):
            return f"Parquet files {string_text(path)}"
        case ExtensionObject(detail=detail):
            return message_text(detail)
        case NamedTable(names=names, advanced_extension=extension):
            return dotted(names) + _in_braces(extension_texts(extension))
        case NamedObjectWrite(names=names, advanced_extension=extension):
            return dotted(names) + _in_braces(extension_texts(extension))
        case _:
            assert_never(target)


def exchange_targets(targets: tuple[ExchangeTarget, ...]) -> list[str]:
    """Return the targets of an exchange's partitions as text."""
    texts = []
    for target in targets:
        partitions = limited([str(partition) for partition in target.partition_id])
        match target.target_type:
            case None:
                place = ""
            case str(uri):
                place = f" to {string_text(uri)}"
            case AnyMessage() as message:
                place = f" to {message_text(message)}"
            case _:
                assert_never(target.target_type)
        noun = "partition" if len(target.partition_id) == 1 else "partitions"
        texts.append(f"{noun} {partitions or 'none'}{place}")
    return texts


# --- hints and extensions ---------------------------------------------------------------------------------------------


def margin_text(relation: Relation) -> str:
    """Return the hint and the extension messages of a relation, in braces."""
    texts = [] if relation.common.hint is None else _hint(relation.common.hint)
    for _, extension in relation.extensions:
        texts.extend(extension_texts(extension))
    return _in_braces(texts)


def extension_texts(extension: AdvancedExtension | None) -> list[str]:
    """Return the messages of an advanced extension as text."""
    if extension is None:
        return []
    texts = [f"optimization {message_text(message)}" for message in extension.optimization]
    if extension.enhancement is not None:
        texts.append(f"enhancement {message_text(extension.enhancement)}")
    return texts


def _in_braces(texts: list[str]) -> str:
    return f" {{{'; '.join(texts)}}}" if texts else ""


def _hint(hint: Hint) -> list[str]:
    texts = [f"alias {name_text(hint.alias)}"] if hint.alias else []
    if hint.stats is not None:
        size = f" of {hint.stats.record_size:,.10g} bytes" if hint.stats.record_size else ""
        texts.append(f"about {hint.stats.row_count:,.10g} rows{size}")
        texts.extend(extension_texts(hint.stats.advanced_extension))
    texts.extend(f"constraint {text}" for text in extension_texts(hint.constraint))
    for saved in hint.saved_computations:
        texts.append(f"saves {saved.type.value} {saved.computation_id}")
        texts.extend(extension_texts(saved.advanced_extension))
    for loaded in hint.loaded_computations:
        texts.append(f"loads {loaded.type.value} {loaded.computation_id_reference}")
        texts.extend(extension_texts(loaded.advanced_extension))
    texts.extend(extension_texts(hint.advanced_extension))
    return texts

"""Descriptions of writes, exchanges and extension relations; and helpers for all kinds of relations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from typing_extensions import assert_never

from pyspark_substrait.analysis.diff.describe_reads import bag, fields, message, object_text, one, schema_columns
from pyspark_substrait.analysis.diff.description import Description, Item, Kind, Part, Source, Style
from pyspark_substrait.analysis.diff.equivalence import Forms
from pyspark_substrait.analysis.diff.record import Record
from pyspark_substrait.model.expressions import Expression, FieldReference, RootReference, StructField
from pyspark_substrait.model.relations import (
    Broadcast,
    Ddl,
    Exchange,
    ExtensionLeaf,
    ExtensionMulti,
    ExtensionSingle,
    Generate,
    MultiBucketExpression,
    OutputMode,
    Relation,
    RoundRobin,
    ScatterFields,
    SingleBucketExpression,
    Update,
    Write,
)
from pyspark_substrait.model.relations.writing import CreateMode, ExtensionObject, NamedObjectWrite
from pyspark_substrait.model.types import NamedStruct

__all__ = ["describe", "passed", "record_of", "whole"]

_Tables = Write | Ddl | Update
_Others = ExtensionLeaf | ExtensionSingle | ExtensionMulti


def record_of(
    relation: Relation, inputs: Sequence[tuple[int, ...]], outer: Record | None, forms: Forms, at: int = 0
) -> Record:
    """Return the record that the expressions of a relation with one input see, or that of another input."""
    below = relation.inputs[at]
    above = 0 if outer is None else outer.number
    return Record(
        columns=inputs[at],
        names=below.names,
        types=below.schema.types,
        anchor=relation.common.rel_anchor,
        outer=outer,
        number=1 + forms.number("record", inputs[at], relation.common.rel_anchor, above),
    )


def passed(columns: tuple[int, ...], *parts: Part) -> Description:
    """Describe a relation that puts out the columns of its input."""
    return Description(parts=parts, columns=columns, sources=tuple((0, at) for at in range(len(columns))))


def whole(record: Record, forms: Forms, word: str, kind: Kind, start: int = 0) -> Part:
    """Return the columns of a record, from ``start`` on, as a part in which their order counts."""
    items = []
    for at, type in enumerate(record.types):
        node = FieldReference(root=RootReference(), reference=(StructField(at),), type=type)
        if at >= start:
            items.append(Item(form=forms.expression(node, record), node=node, record=record))
    return Part(word, kind, Style.ROW, tuple(items))


def describe(
    relation: Exchange | Generate | _Tables | _Others,
    inputs: Sequence[tuple[int, ...]],
    outer: Record | None,
    forms: Forms,
    known: Mapping[int, int],
) -> Description:
    """Describe a write, an exchange or an extension relation."""
    match relation:
        case Exchange():
            return passed(inputs[0], *_exchange(relation, record_of(relation, inputs, outer, forms), forms))
        case Write() | Ddl() | Update():
            return _table(relation, inputs, outer, forms, known)
        case Generate():
            return _generator(relation, inputs, outer, forms)
        case ExtensionLeaf() | ExtensionSingle() | ExtensionMulti():
            return _extension(relation, inputs, outer, forms)
        case _:
            assert_never(relation)


def _exchange(relation: Exchange, record: Record, forms: Forms) -> list[Part]:
    parts = []
    match relation.exchange_kind:
        case ScatterFields(fields=scattered):
            parts.append(one("kind", Kind.EXCHANGE, "by fields", forms))
            items = tuple(Item(form=forms.expression(x, record), node=x, record=record) for x in scattered)
            parts.append(Part("field", Kind.EXCHANGE, Style.ROW, items))
        case SingleBucketExpression(expression=node):
            parts.append(_bucket("bucket", node, record, forms))
        case MultiBucketExpression(expression=node, constrained_to_count=limited):
            parts.append(_bucket("buckets", node, record, forms))
            parts.append(one("limit", Kind.EXCHANGE, "to the count" if limited else "none", forms))
        case RoundRobin(exact=exact):
            parts.append(one("kind", Kind.EXCHANGE, "round robin, exactly" if exact else "round robin", forms))
        case Broadcast():
            parts.append(one("kind", Kind.EXCHANGE, "broadcast", forms))
        case kind:
            assert_never(kind)
    parts.append(one("number of partitions", Kind.EXCHANGE, str(relation.partition_count), forms))
    targets = tuple(
        Item(form=forms.plain(target), text=f"{target.target_type} for partitions {list(target.partition_id)}")
        for target in relation.targets
    )
    return [*parts, Part("target", Kind.EXCHANGE, Style.BAG, targets)]


def _bucket(word: str, node: Expression, record: Record, forms: Forms) -> Part:
    item = Item(form=forms.expression(node, record), node=node, record=record)
    return Part(word, Kind.EXCHANGE, Style.ONE, (item,))


def _target(target: NamedObjectWrite | ExtensionObject, forms: Forms) -> Part:
    if isinstance(target, ExtensionObject):
        return message("table", target.detail, forms, Kind.TABLE)
    return one("table", Kind.TABLE, object_text(target), forms, target.names)


def _schema(schema: NamedStruct, forms: Forms) -> tuple[Part, tuple[int, ...]]:
    columns = schema_columns(schema, forms)
    return fields(schema, columns, forms, "column of the table"), columns


def _table(
    relation: _Tables,
    inputs: Sequence[tuple[int, ...]],
    outer: Record | None,
    forms: Forms,
    known: Mapping[int, int],
) -> Description:
    match relation:
        case Write(write_type=target, table_schema=schema, op=op, create_mode=mode, output=output):
            declared, columns = _schema(schema, forms)
            record = record_of(relation, inputs, outer, forms)
            parts = [_target(target, forms), one("operation", Kind.WRITE, op.value, forms), declared]
            parts.append(whole(record, forms, "column written", Kind.WRITE))
            if mode is not CreateMode.UNSPECIFIED:
                parts.append(one("create mode", Kind.WRITE, mode.value, forms))
            if output is not OutputMode.UNSPECIFIED:
                parts.append(one("output", Kind.WRITE, output.value, forms))
            put_out = columns[: len(relation.direct_schema.types)]
            return Description(parts=tuple(parts), columns=put_out, sources=(None,) * len(put_out))
        case Ddl(write_type=target, object=kind, op=op, table_schema=declared_schema, table_defaults=defaults):
            parts = [_target(target, forms), one("operation", Kind.WRITE, f"{op.value} {kind.value}", forms)]
            if declared_schema is not None:
                parts.append(_schema(declared_schema, forms)[0])
            empty = Record()
            items = tuple(Item(form=forms.expression(x, empty), node=x, record=empty) for x in defaults or ())
            parts.append(Part("default", Kind.WRITE, Style.ROW, items))
            if inputs:
                parts.append(whole(record_of(relation, inputs, outer, forms), forms, "column", Kind.WRITE))
            return Description(parts=tuple(parts), columns=(), sources=())
        case Update(update_type=table, table_schema=schema, condition=condition, transformations=changes):
            declared, columns = _schema(schema, forms)
            columns = tuple(known.get(column, column) for column in columns)
            names = schema.top_level_names()
            record = Record(
                columns=columns,
                names=names,
                types=schema.struct.types,
                anchor=relation.common.rel_anchor,
                outer=outer,
                number=1 + forms.number("record", columns, relation.common.rel_anchor),
            )
            parts = [one("table", Kind.TABLE, ".".join(table.names), forms, table.names), declared]
            parts.append(bag("condition", Kind.CONDITION, condition, record, forms))
            changed = []
            for change in changes:
                target_column = forms.column(record, change.column_target)
                value = forms.expression(change.transformation, record)
                form = forms.of(("set", target_column), (value,))
                name = names[change.column_target] if change.column_target < len(names) else ""
                changed.append(Item(form=form, node=change.transformation, record=record, name=name))
            parts.append(Part("new value", Kind.WRITE, Style.BAG, tuple(changed)))
            return Description(parts=tuple(parts), columns=(forms.number("updated"),), sources=(None,))
        case _:
            assert_never(relation)


def _extension(relation: _Others, inputs: Sequence[tuple[int, ...]], outer: Record | None, forms: Forms) -> Description:
    detail = relation.detail
    parts = [] if detail is None else [message("detail", detail, forms)]
    for at in range(len(inputs)):
        word = "column" if len(inputs) == 1 else f"column of input {at + 1}"
        parts.append(whole(record_of(relation, inputs, outer, forms, at), forms, word, Kind.EXTENSION))
    width = len(relation.direct_schema.types)
    columns = tuple(forms.number("made", at) for at in range(width))
    return Description(parts=tuple(parts), columns=columns, sources=(None,) * width)


def _generator(
    relation: Generate, inputs: Sequence[tuple[int, ...]], outer: Record | None, forms: Forms
) -> Description:
    generator = relation.generator
    record = record_of(relation, inputs, outer, forms)
    kept = len(inputs[0]) - generator.arguments
    rows = "" if generator.rows is None else f" of {generator.rows} rows"
    text = f"{generator.kind.value}{rows}{', keeping records without any' if generator.outer else ''}"
    arguments = whole(record, forms, "argument", Kind.ROWS, kept)
    parts = (one("generator", Kind.ROWS, text, forms), arguments)
    made = len(relation.direct_schema.types) - kept
    form = forms.number("generated", generator, *(item.form.meaning for item in arguments.items))
    columns = (*inputs[0][:kept], *(forms.number("generated", form, at) for at in range(made)))
    sources: list[Source] = [(0, at) for at in range(kept)]
    return Description(parts=parts, columns=columns, sources=(*sources, *(None for _ in range(made))))

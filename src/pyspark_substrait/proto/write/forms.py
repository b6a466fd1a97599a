"""The forms of messages that don't follow from the fields of nodes (:mod:`~pyspark_substrait.proto.write.fields`)."""

from __future__ import annotations

from pyspark_substrait.proto import generates
from pyspark_substrait.proto.write import expressions, functions, references, relations, virtual_tables
from pyspark_substrait.proto.write.fields import declare, fields
from pyspark_substrait.proto.write.literals import any_message, literal
from pyspark_substrait.proto.write.types import data_type, named_struct, struct

declare(
    values={
        "google.protobuf.Any": lambda value, into, parts: any_message(value, into),
        "substrait.AggregateFunction": functions.aggregate_function,
        "substrait.ComparisonJoinKey.ComparisonType": relations.comparison,
        "substrait.ConsistentPartitionWindowRel.WindowRelFunction": functions.window_rel_function,
        "substrait.ExpandRel.ExpandField": relations.expand_field,
        "substrait.Expression": expressions.expression,
        "substrait.Expression.FieldReference": references.field_reference,
        "substrait.Expression.Literal": lambda value, into, parts: literal(value, into, parts.declarations),
        "substrait.Expression.Literal.Struct": relations.defaults,
        "substrait.Expression.MaskExpression": lambda value, into, parts: references.mask(value, into),
        "substrait.Expression.MultiOrList.Record": lambda value, into, parts: expressions.expressions(
            value, into.fields, parts
        ),
        "substrait.Expression.Nested.Struct": expressions.nested_struct,
        "substrait.NamedStruct": lambda value, into, parts: named_struct(value, into, parts.declarations),
        "substrait.ReadRel.IcebergTable": lambda value, into, parts: fields(value, into.direct, parts),
        "substrait.ReadRel.LocalFiles.FileOrFiles": relations.file_or_files,
        "substrait.ReadRel.VirtualTable": virtual_tables.virtual_table,
        "substrait.Rel": relations.relation,
        "substrait.RelCommon": relations.common,
        "substrait.RelCommon.Emit": relations.emit,
        "substrait.RelCommon.Hint.RuntimeConstraint": lambda value, into, parts: fields(
            value, into.advanced_extension, parts
        ),
        "substrait.SortField": functions.sort_field,
        "substrait.Type": lambda value, into, parts: data_type(value, into, parts.declarations),
        "substrait.Type.Struct": lambda value, into, parts: struct(value, into, parts.declarations),
    },
    own={
        "generator": lambda value, message, parts: any_message(generates.encoded(value), message.detail),
        # written with the node
        "path": None,
        "path_type": None,
        # derived from others
        "derived": None,
        "taken": None,
        "target": None,
    },
)

"""The forms of messages that don't follow from the fields of nodes (:mod:`~pyspark_substrait.proto.read.fields`)."""

from __future__ import annotations

from pyspark_substrait.model.relations import (
    Aggregate,
    ConsistentPartitionWindow,
    Ddl,
    Exchange,
    ExtensionLeaf,
    ExtensionMulti,
    ExtensionSingle,
    HashJoin,
    Join,
    LateralJoin,
    MergeJoin,
    NestedLoopJoin,
    Project,
    Read,
    Set,
    Update,
    Write,
)
from pyspark_substrait.proto.read import (
    expressions,
    files,
    functions,
    joins,
    physical,
    reads,
    references,
    relations,
    writing,
)
from pyspark_substrait.proto.read.fields import declare
from pyspark_substrait.proto.read.literals import any_message, literals
from pyspark_substrait.proto.read.rel_common import advanced_extension, common
from pyspark_substrait.proto.read.types import named_struct

declare(
    values={
        "google.protobuf.Any": lambda message, scope, path: any_message(message),
        "substrait.AggregateRel.Measure": relations.measure,
        "substrait.ExpandRel.ExpandField": physical.expand_field,
        "substrait.Expression": expressions.expression,
        "substrait.Expression.FieldReference": references.field_reference,
        "substrait.Expression.Literal.Struct": lambda message, scope, path: literals(
            message.fields, scope.reading, (path, "fields")
        ),
        "substrait.ExtensionObject": writing.extension_object,
        "substrait.NamedStruct": lambda message, scope, path: named_struct(message, scope.reading, path),
        "substrait.ReadRel.LocalFiles.FileOrFiles": files.file_or_files,
        "substrait.Rel": relations.relation,
        "substrait.RelCommon": common,
        "substrait.RelCommon.Hint.RuntimeConstraint": advanced_extension,
        "substrait.SortField": functions.sort_field,
        "substrait.UpdateRel.TransformExpression": writing.transformation,
    },
    own={
        "base_schema": reads.base_schema,
        "derived": None,
        "detail": relations.detail,
        "keys": joins.keys,
        "projection": None,
        "read_type": reads.read_type,
        "window_functions": physical.window_functions,
    },
    last={
        ConsistentPartitionWindow: ("window_functions", "partition_expressions"),
        Ddl: ("write_type", "object", "op", "view_definition"),
        Update: ("condition",),
    },
    finished={
        Aggregate: relations.aggregate,
        Ddl: writing.ddl,
        Exchange: physical.exchange,
        ExtensionLeaf: relations.extension,
        ExtensionMulti: relations.extension,
        ExtensionSingle: relations.extension_single,
        HashJoin: joins.join,
        Join: joins.join,
        LateralJoin: joins.typed_join,
        MergeJoin: joins.join,
        NestedLoopJoin: joins.join,
        Project: relations.project,
        Read: reads.read,
        Set: relations.set_,
        Update: writing.update,
        Write: writing.write,
    },
    missing={
        "substrait.DdlRel.write_type": ("the table or view is missing", "Set named_object"),
        "substrait.ExchangeRel.exchange_kind": ("the exchange does not state how records are distributed", None),
        "substrait.UpdateRel.update_type": ("the table is missing", "Set named_table"),
        "substrait.WriteRel.write_type": ("the table or view is missing", "Set named_table"),
    },
)

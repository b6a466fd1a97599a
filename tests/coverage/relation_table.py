"""What becomes of each field of each relation message, and the test that shows it.

``python -m tests.coverage.relation_table`` writes the table into ``docs/relations.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.coverage.relation_fields import fields

PAGE = Path(__file__).resolve().parents[2] / "docs" / "relations.md"
HEADING = "## Every field"


@dataclass(frozen=True)
class Field:
    """What becomes of a field.

    Args:
        test: the test that shows it, as its path below ``tests`` and its name.
        refused: why a plan that sets the field is refused; None where the field is honoured.
        note: what else there is to say.
    """

    test: str
    refused: str | None = None
    note: str = ""

    @property
    def outcome(self) -> str:
        told = "honoured" if self.refused is None else f"refused: {self.refused}"
        return f"{told} ({self.note})" if self.note else told


def rows() -> Iterator[tuple[str, Field]]:
    """Every field with what becomes of it, in the order of the messages.

    Raises:
        KeyError: nothing is said about a field.
    """
    for name in fields():
        own = FIELDS.get(name)
        yield name, own if own is not None else EVERYWHERE[name.rpartition(".")[2]]


def section() -> str:
    """The part of the page below the heading."""
    lines = ["", "| field | on Spark | seen in |", "|---|---|---|"]
    for name, field in rows():
        lines.append(f"| `{name}` | {field.outcome} | `{field.test}` |")
    return "\n".join([*lines, ""])


def page() -> str:
    """The page with the table as it is now."""
    above, heading, _ = PAGE.read_text(encoding="utf-8").partition(f"{HEADING}\n")
    return above + heading + section()


ENHANCED = "spark/test_safety.py::test_enhancements_are_refused_and_optimizations_ignored"

#: fields that many messages have
EVERYWHERE = {
    "common": Field("spark/test_reads.py::test_emit", note="see RelCommon"),
    "advanced_extension": Field(
        ENHANCED, note="optimizations may be ignored; an enhancement is refused by its type URL"
    ),
}

FIELDS: dict[str, Field] = {
    "PlanRel.rel": Field("spark/test_roots.py::test_each_root_is_a_result"),
    "PlanRel.root": Field("spark/test_roots.py::test_each_root_is_a_result"),
    "PlanRel.detached_expressions": Field("proto/test_round_trip.py::test_chains_of_detached_expressions"),
    "PlanRel.detached_rels": Field("proto/test_read_scopes.py::test_shared_relations_are_bound_where_they_are_used"),
    "RelRoot.input": Field("spark/test_roots.py::test_each_root_is_a_result"),
    "RelRoot.names": Field("spark/test_safety.py::test_names_of_results_are_names"),
    "RelCommon.direct": Field("spark/test_reads.py::test_emit"),
    "RelCommon.emit": Field("spark/test_reads.py::test_emit"),
    "RelCommon.Emit.output_mapping": Field("spark/test_reads.py::test_emit"),
    "RelCommon.rel_anchor": Field("proto/test_read_scopes.py::test_rel_references"),
    "ReadRel.base_schema": Field("spark/test_tables.py::test_columns_are_found_by_name"),
    "ReadRel.filter": Field("spark/test_reads.py::test_filters_and_projection_of_a_read"),
    "ReadRel.best_effort_filter": Field("spark/test_reads.py::test_filters_and_projection_of_a_read", note="applied"),
    "ReadRel.projection": Field("spark/test_masks.py::test_the_example_of_the_specification"),
    "ReadRel.virtual_table": Field("spark/test_reads.py::test_virtual_tables_of_every_kind"),
    "ReadRel.VirtualTable.expressions": Field("spark/test_reads.py::test_virtual_tables_with_expressions"),
    "ReadRel.named_table": Field("spark/test_tables.py::test_names"),
    "ReadRel.NamedTable.names": Field("spark/reading/test_named_tables.py::test_names_of_several_parts"),
    "FilterRel.input": Field("spark/test_safety.py::test_300_relations_in_a_chain"),
    "FilterRel.condition": Field("spark/test_safety.py::test_300_relations_in_a_chain"),
    "FetchRel.input": Field("spark/test_fetch_sort.py::test_bounds"),
    "FetchRel.offset_expr": Field("spark/test_fetch_sort.py::test_bounds"),
    "FetchRel.count_expr": Field("spark/test_fetch_sort.py::test_bounds"),
    "AggregateRel.input": Field("spark/test_aggregates.py::test_the_evaluator_agrees_with_duckdb"),
    "AggregateRel.groupings": Field("spark/test_aggregates.py::test_grouping_sets"),
    "AggregateRel.measures": Field("spark/test_aggregates.py::test_filters_and_distinct"),
    "AggregateRel.grouping_expressions": Field("spark/test_aggregates.py::test_grouping_sets"),
    "AggregateRel.Grouping.expression_references": Field("spark/test_aggregates.py::test_grouping_sets"),
    "AggregateRel.Measure.measure": Field("spark/test_aggregates.py::test_filters_and_distinct"),
    "AggregateRel.Measure.filter": Field("spark/test_aggregates.py::test_filters_and_distinct"),
    "SortRel.input": Field("spark/test_fetch_sort.py::test_directions"),
    "SortRel.sorts": Field("spark/test_sort_fields.py::test_directions"),
    "JoinRel.left": Field("spark/test_joins.py::test_every_type_with_every_condition"),
    "JoinRel.right": Field("spark/test_joins.py::test_every_type_with_every_condition"),
    "JoinRel.expression": Field("spark/test_joins.py::test_every_type_with_every_condition"),
    "JoinRel.post_join_filter": Field("spark/test_joins.py::test_every_type_with_every_condition"),
    "JoinRel.type": Field("spark/test_joins.py::test_every_type_with_every_condition"),
    "ProjectRel.input": Field("spark/test_reads.py::test_relations_over_a_projected_read"),
    "ProjectRel.expressions": Field("spark/test_coverage.py::test_every_kind_stands_in"),
    "SetRel.inputs": Field("spark/test_sets.py::test_the_examples_of_the_specification"),
    "SetRel.op": Field("spark/test_sets.py::test_the_examples_of_the_specification"),
    "CrossRel.left": Field("spark/test_joins.py::test_joins_stand_on_either_side_of_joins"),
    "CrossRel.right": Field("spark/test_joins.py::test_joins_stand_on_either_side_of_joins"),
    "ConsistentPartitionWindowRel.input": Field("spark/test_windows.py::test_window_relation"),
    "ConsistentPartitionWindowRel.window_functions": Field("spark/test_windows.py::test_window_relation"),
    "ConsistentPartitionWindowRel.partition_expressions": Field("spark/test_windows.py::test_window_relation"),
    "ConsistentPartitionWindowRel.sorts": Field("spark/test_windows.py::test_window_relation"),
    "RelCommon.hint": Field("spark/test_hints.py::test_names_are_in_the_analysed_plan", note="a name in Spark's plan"),
    "RelCommon.Hint.alias": Field(
        "spark/test_hints.py::test_names_are_in_the_analysed_plan", note="a name in Spark's plan"
    ),
    "RelCommon.Hint.output_names": Field(
        "spark/test_hints.py::test_names_are_in_the_analysed_plan",
        note="names in Spark's plan; those of nested fields are kept in the plan only",
    ),
    "RelCommon.Hint.stats": Field(
        "spark/test_hints.py::test_other_hints_are_kept_and_change_nothing",
        note="kept in the plan, without effect on rows",
    ),
    "RelCommon.Hint.constraint": Field(
        "spark/test_hints.py::test_other_hints_are_kept_and_change_nothing",
        note="kept in the plan, without effect on rows",
    ),
    "RelCommon.Hint.saved_computations": Field(
        "spark/test_hints.py::test_other_hints_are_kept_and_change_nothing",
        note="kept in the plan, without effect on rows",
    ),
    "RelCommon.Hint.loaded_computations": Field(
        "spark/test_hints.py::test_other_hints_are_kept_and_change_nothing",
        note="kept in the plan, without effect on rows",
    ),
    "RelCommon.Hint.Stats.row_count": Field(
        "spark/test_hints.py::test_other_hints_are_kept_and_change_nothing",
        note="kept in the plan, without effect on rows",
    ),
    "RelCommon.Hint.Stats.record_size": Field(
        "spark/test_hints.py::test_other_hints_are_kept_and_change_nothing",
        note="kept in the plan, without effect on rows",
    ),
    "RelCommon.Hint.SavedComputation.computation_id": Field(
        "spark/test_hints.py::test_other_hints_are_kept_and_change_nothing",
        note="kept in the plan, without effect on rows",
    ),
    "RelCommon.Hint.SavedComputation.type": Field(
        "spark/test_hints.py::test_other_hints_are_kept_and_change_nothing",
        note="kept in the plan, without effect on rows",
    ),
    "RelCommon.Hint.LoadedComputation.computation_id_reference": Field(
        "spark/test_hints.py::test_other_hints_are_kept_and_change_nothing",
        note="kept in the plan, without effect on rows",
    ),
    "RelCommon.Hint.LoadedComputation.type": Field(
        "spark/test_hints.py::test_other_hints_are_kept_and_change_nothing",
        note="kept in the plan, without effect on rows",
    ),
    "RelCommon.Hint.advanced_extension": Field(
        "spark/test_hints.py::test_other_hints_are_kept_and_change_nothing",
        note="kept in the plan, without effect on rows",
    ),
    "RelCommon.Hint.Stats.advanced_extension": Field(
        "spark/test_hints.py::test_other_hints_are_kept_and_change_nothing",
        note="kept in the plan, without effect on rows",
    ),
    "RelCommon.Hint.RuntimeConstraint.advanced_extension": Field(
        "spark/test_hints.py::test_other_hints_are_kept_and_change_nothing",
        note="kept in the plan, without effect on rows",
    ),
    "RelCommon.Hint.SavedComputation.advanced_extension": Field(
        "spark/test_hints.py::test_other_hints_are_kept_and_change_nothing",
        note="kept in the plan, without effect on rows",
    ),
    "RelCommon.Hint.LoadedComputation.advanced_extension": Field(
        "spark/test_hints.py::test_other_hints_are_kept_and_change_nothing",
        note="kept in the plan, without effect on rows",
    ),
    "ReadRel.local_files": Field("spark/reading/test_files.py::test_formats_in_one_read"),
    "ReadRel.LocalFiles.items": Field("spark/reading/test_files.py::test_formats_in_one_read"),
    "ReadRel.LocalFiles.FileOrFiles.uri_path": Field("spark/reading/test_files.py::test_files_folders_and_patterns"),
    "ReadRel.LocalFiles.FileOrFiles.uri_path_glob": Field(
        "spark/reading/test_files.py::test_files_folders_and_patterns"
    ),
    "ReadRel.LocalFiles.FileOrFiles.uri_file": Field("spark/reading/test_files.py::test_files_folders_and_patterns"),
    "ReadRel.LocalFiles.FileOrFiles.uri_folder": Field("spark/reading/test_files.py::test_files_folders_and_patterns"),
    "ReadRel.LocalFiles.FileOrFiles.partition_index": Field(
        "spark/reading/test_files.py::test_files_folders_and_patterns",
        note="a hint: Spark divides the files its own way",
    ),
    "ReadRel.LocalFiles.FileOrFiles.start": Field(
        "spark/reading/test_slices.py::test_slices_are_read_exactly_once",
        note="of one file each; a length of 0 is all from the start on",
    ),
    "ReadRel.LocalFiles.FileOrFiles.length": Field(
        "spark/reading/test_slices.py::test_slices_are_read_exactly_once",
        note="of one file each; a length of 0 is all from the start on",
    ),
    "ReadRel.LocalFiles.FileOrFiles.parquet": Field(
        "spark/reading/test_evolution.py::test_missing_moved_added_and_widened_columns"
    ),
    "ReadRel.LocalFiles.FileOrFiles.orc": Field(
        "spark/reading/test_evolution.py::test_missing_moved_added_and_widened_columns"
    ),
    "ReadRel.LocalFiles.FileOrFiles.arrow": Field("spark/reading/test_arrow_files.py::test_types"),
    "ReadRel.LocalFiles.FileOrFiles.text": Field("spark/reading/test_text.py::test_what_the_csv_module_writes"),
    "ReadRel.LocalFiles.FileOrFiles.dwrf": Field(
        "spark/reading/test_files.py::test_what_is_refused", refused="Spark has no reader for it"
    ),
    "ReadRel.LocalFiles.FileOrFiles.extension": Field(
        "spark/reading/test_files.py::test_what_is_refused", refused="only its makers know the format, by its type URL"
    ),
    "ReadRel.LocalFiles.FileOrFiles.DelimiterSeparatedTextReadOptions.field_delimiter": Field(
        "spark/reading/test_text.py::test_delimiters"
    ),
    "ReadRel.LocalFiles.FileOrFiles.DelimiterSeparatedTextReadOptions.max_line_size": Field(
        "spark/reading/test_text.py::test_longest_lines", note="a longer line is an error"
    ),
    "ReadRel.LocalFiles.FileOrFiles.DelimiterSeparatedTextReadOptions.quote": Field(
        "spark/reading/test_text.py::test_what_the_csv_module_writes"
    ),
    "ReadRel.LocalFiles.FileOrFiles.DelimiterSeparatedTextReadOptions.escape": Field(
        "spark/reading/test_text.py::test_what_the_csv_module_writes"
    ),
    "ReadRel.LocalFiles.FileOrFiles.DelimiterSeparatedTextReadOptions.header_lines_to_skip": Field(
        "spark/reading/test_text.py::test_header_lines"
    ),
    "ReadRel.LocalFiles.FileOrFiles.DelimiterSeparatedTextReadOptions.value_treated_as_null": Field(
        "spark/reading/test_text.py::test_what_stands_for_null"
    ),
    "ReadRel.extension_table": Field(
        "spark/test_extension_tables.py::test_columns_by_name_filters_and_projections",
        note="by the handler for its type URL; refused without one",
    ),
    "ReadRel.ExtensionTable.detail": Field(
        "spark/test_extension_tables.py::test_columns_by_name_filters_and_projections",
        note="by the handler for its type URL; refused without one",
    ),
    "ExtensionSingleRel.input": Field("spark/test_extension_relations.py::test_leaf_single_and_multi"),
    "ExtensionMultiRel.inputs": Field("spark/test_extension_relations.py::test_leaf_single_and_multi"),
    "ExtensionSingleRel.detail": Field(
        "spark/test_extension_relations.py::test_leaf_single_and_multi",
        note="by the handler for its type URL; refused without one",
    ),
    "ExtensionMultiRel.detail": Field(
        "spark/test_extension_relations.py::test_leaf_single_and_multi",
        note="by the handler for its type URL; refused without one",
    ),
    "ExtensionLeafRel.detail": Field(
        "spark/test_extension_relations.py::test_leaf_single_and_multi",
        note="by the handler for its type URL; refused without one",
    ),
    "ExtensionSingleRel.common": Field("spark/test_extension_relations.py::test_emit_and_hints"),
    "ExtensionMultiRel.common": Field("spark/test_extension_relations.py::test_emit_and_hints"),
    "ExtensionLeafRel.common": Field("spark/test_extension_relations.py::test_emit_and_hints"),
    "LateralJoinRel.left": Field("spark/test_lateral_joins.py::test_every_type_with_every_right_input"),
    "LateralJoinRel.right": Field("spark/test_lateral_joins.py::test_every_type_with_every_right_input"),
    "LateralJoinRel.expression": Field("spark/test_lateral_joins.py::test_every_type_with_every_right_input"),
    "LateralJoinRel.post_join_filter": Field("spark/test_lateral_joins.py::test_every_type_with_every_right_input"),
    "LateralJoinRel.type": Field("spark/test_lateral_joins.py::test_every_type_with_every_right_input"),
    "HashJoinRel.left": Field("spark/test_physical_joins.py::test_every_kind_with_every_comparison"),
    "HashJoinRel.right": Field("spark/test_physical_joins.py::test_every_kind_with_every_comparison"),
    "HashJoinRel.keys": Field("spark/test_physical_joins.py::test_every_kind_with_every_comparison"),
    "HashJoinRel.post_join_filter": Field("spark/test_physical_joins.py::test_every_kind_with_every_comparison"),
    "HashJoinRel.type": Field("spark/test_physical_joins.py::test_every_kind_with_every_comparison"),
    "HashJoinRel.residual_expression": Field("spark/test_physical_joins.py::test_every_kind_with_every_comparison"),
    "MergeJoinRel.left": Field("spark/test_physical_joins.py::test_every_kind_with_every_comparison"),
    "MergeJoinRel.right": Field("spark/test_physical_joins.py::test_every_kind_with_every_comparison"),
    "MergeJoinRel.keys": Field("spark/test_physical_joins.py::test_every_kind_with_every_comparison"),
    "MergeJoinRel.post_join_filter": Field("spark/test_physical_joins.py::test_every_kind_with_every_comparison"),
    "MergeJoinRel.type": Field("spark/test_physical_joins.py::test_every_kind_with_every_comparison"),
    "MergeJoinRel.residual_expression": Field("spark/test_physical_joins.py::test_every_kind_with_every_comparison"),
    "HashJoinRel.build_input": Field(
        "spark/test_join_hints.py::test_hash_joins_build_the_side_that_they_name", note="a hint; see [joins](joins.md)"
    ),
    "NestedLoopJoinRel.left": Field("spark/test_physical_joins.py::test_nested_loops"),
    "NestedLoopJoinRel.right": Field("spark/test_physical_joins.py::test_nested_loops"),
    "NestedLoopJoinRel.expression": Field("spark/test_physical_joins.py::test_nested_loops"),
    "NestedLoopJoinRel.type": Field("spark/test_physical_joins.py::test_nested_loops"),
    "ComparisonJoinKey.left": Field("spark/test_physical_joins.py::test_keys_inside_of_a_column_and_required_ones"),
    "ComparisonJoinKey.right": Field("spark/test_physical_joins.py::test_keys_inside_of_a_column_and_required_ones"),
    "ComparisonJoinKey.comparison": Field("spark/test_physical_joins.py::test_every_kind_with_every_comparison"),
    "ComparisonJoinKey.ComparisonType.simple": Field(
        "spark/test_physical_joins.py::test_every_kind_with_every_comparison"
    ),
    "ComparisonJoinKey.ComparisonType.custom_function_reference": Field(
        "spark/test_physical_joins.py::test_functions_as_comparisons"
    ),
    "ReferenceRel.subtree_ordinal": Field("spark/test_shared_subtrees.py::test_a_subtree_used_twice_is_computed_once"),
    "ExpandRel.input": Field("spark/test_expand.py::test_each_record_once_for_each_duplicate"),
    "ExpandRel.fields": Field("spark/test_expand.py::test_each_record_once_for_each_duplicate"),
    "ExpandRel.ExpandField.switching_field": Field("spark/test_expand.py::test_each_record_once_for_each_duplicate"),
    "ExpandRel.ExpandField.consistent_field": Field("spark/test_expand.py::test_each_record_once_for_each_duplicate"),
    "ExpandRel.SwitchingField.duplicates": Field("spark/test_expand.py::test_each_record_once_for_each_duplicate"),
    "ExchangeRel.input": Field("spark/test_exchange.py::test_the_number_of_partitions_is_the_one_stated"),
    "ExchangeRel.partition_count": Field("spark/test_exchange.py::test_the_number_of_partitions_is_the_one_stated"),
    "ExchangeRel.targets": Field(
        "spark/test_exchange.py::test_refusals", refused="the records stay in Spark, which sends no partition elsewhere"
    ),
    "ExchangeRel.ExchangeTarget.partition_id": Field(
        "spark/test_exchange.py::test_refusals", refused="the records stay in Spark, which sends no partition elsewhere"
    ),
    "ExchangeRel.ExchangeTarget.uri": Field(
        "spark/test_exchange.py::test_refusals", refused="the records stay in Spark, which sends no partition elsewhere"
    ),
    "ExchangeRel.ExchangeTarget.extended": Field(
        "spark/test_exchange.py::test_refusals", refused="the records stay in Spark, which sends no partition elsewhere"
    ),
    "ExchangeRel.scatter_by_fields": Field(
        "spark/test_exchange.py::test_scattered_records_with_equal_keys_stay_together"
    ),
    "ExchangeRel.ScatterFields.fields": Field(
        "spark/test_exchange.py::test_scattered_records_with_equal_keys_stay_together"
    ),
    "ExchangeRel.single_target": Field("spark/test_exchange.py::test_a_single_bucket_is_the_partition_of_its_number"),
    "ExchangeRel.SingleBucketExpression.expression": Field(
        "spark/test_exchange.py::test_a_single_bucket_is_the_partition_of_its_number"
    ),
    "ExchangeRel.multi_target": Field("spark/test_exchange.py::test_a_record_goes_into_all_of_its_buckets"),
    "ExchangeRel.MultiBucketExpression.expression": Field(
        "spark/test_exchange.py::test_a_record_goes_into_all_of_its_buckets"
    ),
    "ExchangeRel.MultiBucketExpression.constrained_to_count": Field(
        "spark/test_exchange.py::test_buckets_that_are_none"
    ),
    "ExchangeRel.round_robin": Field("spark/test_exchange.py::test_round_robin"),
    "ExchangeRel.RoundRobin.exact": Field("spark/test_exchange.py::test_round_robin"),
    "ExchangeRel.broadcast": Field(
        "spark/test_exchange.py::test_a_broadcast_is_the_same_records_and_a_hint", note="each record once, and a hint"
    ),
    "TopNRel.input": Field("spark/test_top_n.py::test_without_ties"),
    "TopNRel.sorts": Field("spark/test_top_n.py::test_without_ties"),
    "TopNRel.offset": Field("spark/test_top_n.py::test_without_ties"),
    "TopNRel.count": Field("spark/test_top_n.py::test_without_ties"),
    "TopNRel.mode": Field("spark/test_top_n.py::test_with_ties"),
    "ConsistentPartitionWindowRel.WindowRelFunction.function_reference": Field(
        "spark/test_window_relation.py::test_every_frame_with_several_functions"
    ),
    "ConsistentPartitionWindowRel.WindowRelFunction.arguments": Field(
        "spark/test_window_relation.py::test_every_frame_with_several_functions"
    ),
    "ConsistentPartitionWindowRel.WindowRelFunction.output_type": Field(
        "spark/test_window_relation.py::test_every_frame_with_several_functions"
    ),
    "ConsistentPartitionWindowRel.WindowRelFunction.lower_bound": Field(
        "spark/test_window_relation.py::test_every_frame_with_several_functions"
    ),
    "ConsistentPartitionWindowRel.WindowRelFunction.upper_bound": Field(
        "spark/test_window_relation.py::test_every_frame_with_several_functions"
    ),
    "ConsistentPartitionWindowRel.WindowRelFunction.bounds_type": Field(
        "spark/test_window_relation.py::test_every_frame_with_several_functions"
    ),
    "ConsistentPartitionWindowRel.WindowRelFunction.phase": Field(
        "spark/test_windows.py::test_refusals", note="the whole function; others are refused"
    ),
    "ConsistentPartitionWindowRel.WindowRelFunction.options": Field(
        "spark/test_windows.py::test_aggregates_over_windows"
    ),
    "ConsistentPartitionWindowRel.WindowRelFunction.invocation": Field(
        "spark/test_windows.py::test_distinct_values_over_windows"
    ),
    "DdlRel.named_object": Field("spark/writing/test_tables_made.py::test_dropping"),
    "NamedObjectWrite.names": Field("spark/writing/test_tables_made.py::test_dropping"),
    "DdlRel.extension_object": Field(
        "spark/writing/test_write_targets.py::test_definitions_of_a_table_in_memory",
        note="tables in memory and files; others are refused by their type URL",
    ),
    "DdlRel.table_schema": Field(
        "spark/writing/test_tables_made.py::test_every_type_has_its_carrier_and_can_have_a_default"
    ),
    "DdlRel.table_defaults": Field(
        "spark/writing/test_tables_made.py::test_columns_types_not_null_and_defaults_are_in_the_catalog"
    ),
    "DdlRel.object": Field("spark/writing/test_tables_made.py::test_what_is_there_already_or_is_something_else"),
    "DdlRel.op": Field("spark/writing/test_tables_altered.py::test_columns_go_and_are_renamed"),
    "DdlRel.view_definition": Field("spark/writing/test_views.py::test_a_catalog_view_is_text_that_every_client_runs"),
    "WriteRel.extension_table": Field(
        "spark/writing/test_write_targets.py::test_modes_of_files",
        note="tables in memory and files; others are refused by their type URL",
    ),
    "ExtensionObject.detail": Field(
        "spark/writing/test_write_targets.py::test_modes_of_files",
        note="tables in memory and files; others are refused by their type URL",
    ),
    "ReadRel.iceberg_table": Field("spark/reading/test_iceberg.py::test_the_current_snapshot"),
    "ReadRel.IcebergTable.direct": Field("spark/reading/test_iceberg.py::test_the_current_snapshot"),
    "ReadRel.IcebergTable.MetadataFileRead.metadata_uri": Field(
        "spark/reading/test_iceberg.py::test_the_current_snapshot"
    ),
    "ReadRel.IcebergTable.MetadataFileRead.snapshot_id": Field(
        "spark/reading/test_iceberg.py::test_snapshots_by_id_and_by_time"
    ),
    "ReadRel.IcebergTable.MetadataFileRead.snapshot_timestamp": Field(
        "spark/reading/test_iceberg.py::test_snapshots_by_id_and_by_time"
    ),
    "WriteRel.named_table": Field("spark/writing/test_insert.py::test_the_records_of_the_input_are_added"),
    "WriteRel.input": Field("spark/writing/test_insert.py::test_the_records_of_the_input_are_added"),
    "WriteRel.table_schema": Field(
        "spark/writing/test_insert.py::test_columns_are_found_by_name_and_others_get_their_default"
    ),
    "WriteRel.op": Field("spark/writing/test_delete.py::test_records_for_which_a_condition_is_true_go"),
    "WriteRel.create_mode": Field("spark/writing/test_create_as.py::test_replacing_the_records"),
    "WriteRel.output": Field("spark/writing/test_modified_records.py::test_an_indeterministic_input_is_computed_once"),
    "WriteRel.common": Field("spark/writing/test_modified_records.py::test_emit_picks_of_the_modified_records"),
    "UpdateRel.named_table": Field("spark/writing/test_update.py::test_columns_change_where_the_condition_is_true"),
    "NamedTable.names": Field("spark/writing/test_update.py::test_columns_change_where_the_condition_is_true"),
    "UpdateRel.condition": Field("spark/writing/test_update.py::test_columns_change_where_the_condition_is_true"),
    "UpdateRel.transformations": Field("spark/writing/test_update.py::test_columns_change_where_the_condition_is_true"),
    "UpdateRel.table_schema": Field("spark/writing/test_update.py::test_updates_that_contradict_themselves"),
    "UpdateRel.TransformExpression.transformation": Field(
        "spark/writing/test_update.py::test_updates_that_contradict_themselves"
    ),
    "UpdateRel.TransformExpression.column_target": Field(
        "spark/writing/test_update.py::test_updates_that_contradict_themselves"
    ),
    "UpdateRel.common": Field("spark/writing/test_update.py::test_the_number_of_changed_records_can_be_used_above"),
    "WriteRel.advanced_extension": Field(
        "spark/writing/test_modified_records.py::test_enhancements_are_refused",
        note="optimizations may be ignored; an enhancement is refused by its type URL",
    ),
    "NamedObjectWrite.advanced_extension": Field(
        "spark/writing/test_modified_records.py::test_enhancements_are_refused",
        note="optimizations may be ignored; an enhancement is refused by its type URL",
    ),
}


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

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
NO_EFFECT = "kept in the plan, no effect on rows"

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
    "ReadRel.NamedTable.names": Field("spark/test_tables.py::test_names"),
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
}


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

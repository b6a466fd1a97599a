"""The lines of relations stay as they are: the fields without names follow from the messages and the nodes."""

from __future__ import annotations

import pytest

from pyspark_substrait.model import relations as r
from pyspark_substrait.model.fields import RECORDS, Over
from pyspark_substrait.text.lossless.shapes import Kind, field_of, shape_of, titles

UNNAMED = {
    "Read": (None, None),
    "Filter": (None, "condition"),
    "Fetch": (None, None),
    "Aggregate": (None, "measures"),
    "Sort": (None, "sorts"),
    "Join": ("type", "expression"),
    "LateralJoin": ("type", "expression"),
    "Project": (None, "expressions"),
    "Set": ("op", None),
    "ExtensionSingle": (None, "detail"),
    "ExtensionMulti": (None, "detail"),
    "ExtensionLeaf": (None, "detail"),
    "Cross": (None, None),
    "Reference": (None, "subtree_ordinal"),
    "Write": ("op", None),
    "Ddl": ("op", None),
    "Update": (None, None),
    "HashJoin": ("type", "keys"),
    "MergeJoin": ("type", "keys"),
    "NestedLoopJoin": ("type", "expression"),
    "Window": (None, "window_functions"),
    "Exchange": (None, None),
    "Expand": (None, "fields"),
    "TopN": (None, "sorts"),
}


@pytest.mark.parametrize("title", UNNAMED)
def test_the_fields_without_names(title: str) -> None:
    shape = shape_of(titles()[title])
    assert (shape.title, (shape.first, shape.rest)) == (title, UNNAMED[title])


def test_a_name_means_one_thing_unless_the_relation_tells() -> None:
    assert field_of("fields").kind is Kind.FIELD_REFERENCE
    assert field_of("fields", shape_of("expand")).kind is Kind.EXPAND_FIELD
    assert field_of("offset").kind is Kind.PLAIN
    assert field_of("offset", shape_of("top_n")).kind is Kind.EXPRESSION
    assert field_of("type").prefix == ""
    assert field_of("type", shape_of("merge_join")).prefix == "JOIN_TYPE_"


def test_the_records_of_a_relation_s_expressions() -> None:
    assert RECORDS[r.Fetch] == {"offset_expr": {Over.NOTHING}, "count_expr": {Over.NOTHING}}
    assert RECORDS[r.HashJoin] == {
        "keys": {Over.LEFT, Over.RIGHT},
        "residual_expression": {Over.INPUT},
        "post_join_filter": {Over.OUTPUT},
    }
    assert RECORDS[r.Update] == {"condition": {Over.TABLE}, "transformations": {Over.TABLE}}
    assert RECORDS[r.Set] == {}

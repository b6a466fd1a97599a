"""The schemas that a page shows: what the plan expects of its tables, and what is derived."""

from __future__ import annotations

from typing import Any

import pyspark_substrait as ps
from pyspark_substrait.analysis.report.schemas import Table, TableColumn, schemas
from tests.report.plans import field, plan


def of(source: Any) -> tuple[Table, ...]:
    found = ps.validate(source)
    assert found.document is not None
    return schemas(found.document, found.places)


def test_a_result_and_the_table_it_is_made_of() -> None:
    result, table = of(plan(names=("id", "status")))
    assert (result.title, result.path) == ("result", "relations[0].root")
    assert result.columns == (TableColumn(name="id", derived="i64"), TableColumn(name="status", derived="string?"))
    assert (table.title, table.path) == ("reads orders", "relations[0].root.input.filter.input.read")
    assert table.columns == (TableColumn(name="id", expected="i64"), TableColumn(name="status", expected="string?"))


def test_a_broken_plan_has_what_can_be_told() -> None:
    assert [table.title for table in of(plan(field(9)))] == ["result", "reads orders"]


def test_a_table_that_is_read_twice_is_told_once() -> None:
    twice = plan()
    read = twice["relations"][0]["root"]["input"]
    both = {"common": {"direct": {}}, "inputs": [read, read], "op": "SET_OP_UNION_ALL"}
    twice["relations"][0]["root"]["input"] = {"set": both}
    tables = of(twice)
    assert [table.title for table in tables] == ["result", "reads orders"]
    assert tables[1].path == "relations[0].root.input.set.inputs[0].filter.input.read"


def write(types: list[dict[str, Any]]) -> dict[str, Any]:
    made = plan()
    schema = {"names": ["a", "b", "c"][: len(types)], "struct": {"nullability": "NULLABILITY_REQUIRED", "types": types}}
    made["relations"][0]["root"] = {
        "names": [],
        "input": {
            "write": {
                "namedTable": {"names": ["archive"]},
                "tableSchema": schema,
                "op": "WRITE_OP_INSERT",
                "input": made["relations"][0]["root"]["input"],
                "output": "OUTPUT_MODE_NO_OUTPUT",
            }
        },
    }
    return made


def written(types: list[dict[str, Any]]) -> Table:
    (table,) = [table for table in of(write(types)) if table.title == "writes archive"]
    return table


I64 = {"i64": {"nullability": "NULLABILITY_REQUIRED"}}
STRING = {"string": {"nullability": "NULLABILITY_NULLABLE"}}


def test_a_table_that_is_written_is_compared_with_what_goes_there() -> None:
    fits = written([I64, STRING])
    assert fits.compared and not any(column.differs for column in fits.columns)
    differs = written([I64, {"string": {"nullability": "NULLABILITY_REQUIRED"}}])
    assert [column.differs for column in differs.columns] == [False, True]
    assert differs.columns[1] == TableColumn(name="b", expected="string", derived="string?")


def test_a_column_that_nothing_goes_to() -> None:
    assert written([I64, STRING, I64]).columns[2].derived == "missing"


def test_the_page_shows_both_types() -> None:
    page = ps.validate(write([I64, {"string": {"nullability": "NULLABILITY_REQUIRED"}}])).to_html()
    assert 'class="code differs">string?' in page and ">expected</th>" in page

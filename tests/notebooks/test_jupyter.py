"""The notebook of the examples, in a real kernel of Jupyter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

from tests.notebooks.outputs import Output, output

pytestmark = pytest.mark.sweep(sample=0.02)

TOUR = Path(__file__).resolve().parents[2] / "examples" / "notebook" / "tour.ipynb"
#: Cells that the example has not: an error in the magic, and how a plan is told where only text is.
MORE = (
    "%%substrait --name again --rows again_rows\nSELECT * FROM nowhere",
    "print(sales)",
    "import json\nprint(json.dumps([[row['product_name'], str(row['sales'])] for row in best.to_pylist()]))",
    "from IPython.core.formatters import format_display_data\nformat_display_data(sales)[0].keys()",
)


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """The outputs of the cells, by how these begin."""
    notebook = nbformat.read(TOUR, as_version=4)  # type: ignore[no-untyped-call]
    notebook.cells.extend(nbformat.v4.new_code_cell(source) for source in MORE)  # type: ignore[no-untyped-call]
    client = nbclient.NotebookClient(
        notebook, kernel_name="python3", timeout=300, allow_errors=True, resources={"metadata": {"path": TOUR.parent}}
    )
    client.execute()
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return {cell.source: [found for found in cell.outputs if found.get("data") != EMPTY] for cell in code}


#: What is left of a progress bar.
EMPTY = {"text/html": "", "text/plain": ""}


def of(cells: dict[str, list[Any]], beginning: str) -> list[Any]:
    [found] = [outputs for source, outputs in cells.items() if source.startswith(beginning)]
    return found


def html(found: Any) -> Output:
    assert found.data.keys() == {"text/html", "text/plain"} and found.data["text/plain"]
    return output(found.data["text/html"])


def test_no_cell_of_the_example_fails(cells: dict[str, list[Any]]) -> None:
    assert [source for source, found in cells.items() if any(each.output_type == "error" for each in found)] == [
        MORE[0]
    ]
    assert not [each.text for found in cells.values() for each in found if each.get("name") == "stderr"]


@pytest.mark.parametrize(
    ("beginning", "said"),
    [
        ("plan = substrait.load", "5 relations"),
        ("substrait.validate", "warning"),
        ("%%substrait --tables orders products --name large", "Result: 2 columns"),
        ("substrait.diff", "1 change"),
        ("substrait.profile", "4 rows"),
    ],
)
def test_objects_show_themselves(cells: dict[str, list[Any]], beginning: str, said: str) -> None:
    [found] = of(cells, beginning)
    assert said in html(found).text


def test_sql_shows_plan_and_rows(cells: dict[str, list[Any]]) -> None:
    drawn, rows = of(cells, "%%substrait --tables orders products --name sales")
    assert "img" in html(drawn).tags
    # by hand, from tests/sample_files.py: 349.90 + 4 × 329.00; 2 × 499.00 + 489.50; 10 × 19.95; 6 × 4.25
    want = [("Oak Desk", "1665.90"), ("Trail Bicycle", "1487.50"), ("Reading Lamp", "199.50"), ("null", "25.50")]
    assert html(rows).tables == [[["product_name", "sales"], *map(list, want)]]
    kept = json.loads(of(cells, "import json")[0].text)
    assert [(name or "null", sales) for name, sales in kept] == want


def test_an_error_is_short_and_stops_the_cell(cells: dict[str, list[Any]]) -> None:
    [error] = of(cells, MORE[0][:30])
    assert error.ename == "InvalidPlanError" and len(error.traceback) == 1
    assert "`nowhere` cannot be found" in error.traceback[0] and "(line 1, column 15)" in error.traceback[0]


def test_a_view_is_a_frame(cells: dict[str, list[Any]]) -> None:
    [found] = of(cells, "substrait.view")
    assert "<iframe " in found.data["text/html"] and "<script" not in found.data["text/html"]


def test_a_plan_is_one_line_where_it_is_printed(cells: dict[str, list[Any]]) -> None:
    printed = of(cells, "print(sales)")[0]
    assert printed.text == "<Plan 0.108.0: 7 relations, result (product_name, sales)>\n"
    assert "text/html" in of(cells, MORE[3][:30])[0].data["text/plain"]

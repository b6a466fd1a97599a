"""A click on a column lights up what the model says: its lineage, and no more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import pyspark_substrait as ps
from pyspark_substrait.analysis.lineage import Lineage
from pyspark_substrait.render.view import View
from tests.render.plans import TUTORIAL, by_hand, large

pytestmark = pytest.mark.sweep

#: The columns that are lit, also those that stand in the row of those which aren't shown.
LIT = """
const shown = [...document.querySelectorAll("g.column.lit")].map((row) => row.dataset.port);
const hidden = [...document.querySelectorAll("g.more.lit")].flatMap((row) => row.dataset.lit.split(" "));
return [...shown, ...hidden];
"""
CLICK = """
const row = document.querySelector(`g.column[data-port="${arguments[0]}"] rect.hit`);
row.dispatchEvent(new MouseEvent("click", { bubbles: true }));
"""
#: What cards that show no rows of columns can't light: their card is lit as a whole.
WITHOUT_ROWS = """
return [...document.querySelectorAll("g.node")]
  .filter((card) => !card.querySelector("g.column, g.more")).map((card) => Number(card.dataset.node));
"""


def expected(view: View, lineage: Lineage, port: tuple[int, int], conditions: bool) -> set[str]:
    """The lineage of a column in the numbers of the page, and that of the root's columns above it."""
    graph = view.sheets[0].graph
    numbers: dict[int, int] = {}
    for node in graph.nodes:
        if node.relation is not None:
            numbers.setdefault(lineage.number(node.relation), node.number)
    found = lineage.upstream(port, conditions=conditions) | lineage.downstream(port, conditions=conditions)
    ports = {(numbers[number], position) for number, position in found}
    # a root is no relation: its columns are those of its input
    roots = {edge.source: edge.target for edge in graph.edges if graph.nodes[edge.target].relation is None}
    ports |= {(roots[number], position) for number, position in ports if number in roots}
    return {f"{number}:{position}" for number, position in ports}


def ports(view: View, lineage: Lineage, most: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """Some columns of relations, evenly spread: in the numbers of the page, and of the model."""
    graph = view.sheets[0].graph
    every = [
        (f"{node.number}:{position}", (lineage.number(node.relation), position))
        for node in graph.nodes
        if node.relation is not None
        for position in range(len(lineage.ports(lineage.number(node.relation))))
    ]
    return islice(every, 0, None, max(len(every) // most, 1))


def check(driver: Any, view: View, most: int) -> None:
    lineage = view.sheets[0].lineage
    assert lineage is not None
    blind = set(driver.execute_script(WITHOUT_ROWS))
    for conditions in (False, True):
        driver.execute_script("document.querySelector('.trace input').click()") if conditions else None
        for shown, port in ports(view, lineage, most):
            driver.execute_script("location.hash = arguments[0]", f"#n{shown}")
            driver.execute_async_script("const done = arguments[0]; setTimeout(done, 0)")
            wanted = {
                port for port in expected(view, lineage, port, conditions) if int(port.split(":")[0]) not in blind
            }
            assert set(driver.execute_script(LIT)) == wanted, (shown, conditions)


TPCH = [
    *(f"isthmus/q{number:02}.json" for number in range(1, 23) if number != 15),
    *(f"datafusion/q{number:02}.pb" for number in range(1, 23)),
]


@pytest.mark.parametrize("name", ["tutorial", *TPCH])
def test_a_column_lights_its_lineage(name: str, opened: Callable[..., Any], request: pytest.FixtureRequest) -> None:
    file: Path = TUTORIAL if name == "tutorial" else request.getfixturevalue("shared") / "plans" / "tpch" / name
    view = ps.view(file)
    check(opened(view), view, 6)


@pytest.mark.parametrize("name", by_hand())
def test_a_column_lights_its_lineage_in_every_relation(name: str, opened: Callable[..., Any]) -> None:
    view = ps.view(by_hand()[name])
    check(opened(view), view, 20)


def test_a_column_lights_its_lineage_among_500_relations(opened: Callable[..., Any]) -> None:
    view = ps.view(large(500))
    check(opened(view), view, 4)


def test_a_click_says_where_a_column_comes_from(opened: Callable[..., Any]) -> None:
    driver = opened(ps.view(TUTORIAL))
    driver.execute_script(CLICK, "0:2")
    said = "return document.querySelector('.trace:not([hidden]) output')?.textContent"
    assert driver.execute_script(said) == "sales ← orders.quantity, orders.price"
    # the join is by orders.product_id and products.product_id, the filter by products.categories, the groups by names
    driver.execute_script("document.querySelector('.trace input').click()")
    decided = "; decided by orders.product_id, products.product_id, products.categories, products.product_name"
    assert driver.execute_script(said) == f"sales ← orders.quantity, orders.price{decided}"
    # the price has no columns that it is made of, and the result has one that is made of it
    driver.execute_script("document.querySelector('.trace input').click()")
    driver.execute_script(CLICK, "3:3")
    assert driver.execute_script(said) == "price ← orders; goes into sales"
    # again: it goes out
    driver.execute_script(CLICK, "3:3")
    assert driver.execute_script(said) is None
    assert driver.execute_script(LIT) == []
    assert driver.execute_script("return document.querySelectorAll('g.paths').length") == 0


def test_curves_run_between_the_columns(opened: Callable[..., Any]) -> None:
    """sales: 2 curves from the table to the join, 2 into the aggregate, 1 into the root."""
    driver = opened(ps.view(TUTORIAL), hash="#n0:2")
    assert driver.execute_script("return document.querySelectorAll('g.paths path').length") == 5
    edges = "return [...document.querySelectorAll('g.edge.lit')].map(({dataset: of}) => `${of.source}>${of.target}`)"
    assert set(driver.execute_script(edges)) == {"3>2", "2>1", "1>0"}


def test_conditions_lead_to_the_cards_that_they_decide_on(opened: Callable[..., Any]) -> None:
    """Two keys of the join, one column of the filter, and two keys of the groups.

    Beside the five curves of the values: each key once on its way, and product_name from the table through the filter.
    """
    driver = opened(ps.view(TUTORIAL), hash="#n0:2")
    driver.execute_script("document.querySelector('.trace input').click()")
    assert driver.execute_script("return document.querySelectorAll('g.paths path.made').length") == 5 + 2 + 2
    assert driver.execute_script("return document.querySelectorAll('g.paths path.decided').length") == 5
    lit = "return [...document.querySelectorAll('g.node.lit')].map(card => card.dataset.node)"
    assert set(driver.execute_script(lit)) == {"0", "1", "2", "3", "4", "5"}

"""What people do with the page: collapse, search, press keys, read the panel, save the drawing."""

from __future__ import annotations

import json
import struct
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict

import pyspark_substrait as ps
from pyspark_substrait.api.loading import message_of
from pyspark_substrait.render.view import View
from pyspark_substrait.text.explain.graph import EdgeKind, Graph
from tests.render.plans import TUTORIAL, large

pytestmark = pytest.mark.sweep

AWAY = "return [...document.querySelectorAll('g.node.away')].map(card => Number(card.dataset.node))"
FOCUSED = "return document.activeElement.dataset?.node ?? document.activeElement.id"
PANEL = "return document.getElementById('relation').innerText"
#: When the page was first painted, and when it could be used, in milliseconds.
TIMES = """
const [painted] = performance.getEntriesByName("first-contentful-paint");
const { domInteractive, loadEventEnd } = performance.getEntriesByType("navigation")[0];
return { painted: painted.startTime, parsed: domInteractive, loaded: loadEventEnd };
"""
#: Cards that overlap: pairs of numbers.
OVERLAPS = """
const cards = [...document.querySelectorAll("g.node:not(.away)")].map((card) => {
  const [x, y] = card.getAttribute("transform").match(/-?[\\d.]+/g).map(Number);
  return { node: card.dataset.node, x, y, right: x + Number(card.dataset.w), bottom: y + Number(card.dataset.h) };
});
const found = [];
for (const a of cards) for (const b of cards) {
  if (a !== b && a.x < b.right && b.x < a.right && a.y < b.bottom && b.y < a.bottom) found.push([a.node, b.node]);
}
return found;
"""


def press(driver: Any, *keys: str) -> None:
    from selenium.webdriver import ActionChains

    actions = ActionChains(driver)
    for key in keys:
        actions.send_keys(key)
    actions.perform()


def focus(driver: Any, node: int) -> None:
    driver.execute_script("document.querySelector(`g.node[data-node='${arguments[0]}']`).focus()", node)


def inputs(graph: Graph) -> Mapping[int, list[int]]:
    found: dict[int, list[int]] = {node.number: [] for node in graph.nodes}
    for edge in graph.edges:
        if edge.kind is not EdgeKind.OUTER:
            found[edge.target].append(edge.source)
    return found


def hidden(graph: Graph, collapsed: set[int]) -> set[int]:
    """What no visible card uses any more."""
    below = inputs(graph)
    used = {source for sources in below.values() for source in sources}
    seen: set[int] = set()
    pending = [number for number in below if number not in used]
    while pending:
        number = pending.pop()
        if number not in seen:
            seen.add(number)
            pending.extend([] if number in collapsed else below[number])
    return set(below) - seen


PLANS = {
    "tutorial": lambda shared: ps.view(TUTORIAL),
    "a subquery that refers out": lambda shared: ps.view(shared / "plans" / "tpch" / "isthmus" / "q21.json"),
    "a subquery": lambda shared: ps.view(shared / "plans" / "tpch" / "datafusion" / "q15.pb"),
    "a shared subtree": lambda shared: ps.view(_shared()),
}


def _shared() -> Any:
    from pyspark_substrait.builder import read

    once = read("orders", {"id": "i64", "amount": "i64?"}).filter(lambda o: o.amount > 1).shared()
    return once.join(once.sort("id"), lambda one, other: one.id == other.amount).to_plan()


@pytest.mark.parametrize("name", PLANS)
def test_collapsing_hides_what_nothing_else_uses(name: str, opened: Callable[..., Any], shared: Path) -> None:
    view: View = PLANS[name](shared)
    graph, driver = view.sheets[0].graph, opened(view)
    collapsed: set[int] = set()
    size = driver.execute_script("return document.querySelector('svg.plan-graph').viewBox.baseVal.width")
    for number, below in inputs(graph).items():
        if not below:
            assert not driver.execute_script(f"return document.querySelector(\"[data-node='{number}'] .handle\")")
            continue
        if number in hidden(graph, collapsed):
            continue
        focus(driver, number)
        press(driver, " ")
        assert set(driver.execute_script(AWAY)) == hidden(graph, collapsed | {number})
        assert driver.execute_script(OVERLAPS) == []
        if number % 2:
            press(driver, " ")
            assert set(driver.execute_script(AWAY)) == hidden(graph, collapsed)
        else:
            collapsed.add(number)
    assert driver.execute_script("return document.querySelector('svg.plan-graph').viewBox.baseVal.width") < size
    press(driver, "e")
    assert driver.execute_script(AWAY) == []
    assert driver.execute_script("return document.querySelector('svg.plan-graph').viewBox.baseVal.width") == size


def test_500_relations_are_drawn_and_collapse(opened: Callable[..., Any]) -> None:
    """How long that takes is printed (``pytest -s``)."""
    view = ps.view(large(500))
    graph, driver = view.sheets[0].graph, opened(view)
    assert driver.execute_script("return document.querySelectorAll('g.node').length") == len(graph.nodes) > 500
    print(driver.execute_script(TIMES))
    press(driver, "c")
    [root] = [node.number for node in graph.nodes if node.relation is None]
    assert set(driver.execute_script(AWAY)) == {*range(len(graph.nodes))} - {root, *inputs(graph)[root]}
    said = driver.execute_script("return document.querySelector('g.node.folded .told').textContent")
    assert said == f"{len(graph.nodes) - 2} relations hidden"


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("INDEX_IN", {4}),  # a function in a filter
        ("order_date", {2, 3}),  # a column that the join still has
        ("list<string>", {2, 4, 5}),  # a type
        ("right.filter", {4, 5}),  # a path
        ("3010", {1, 2, 4}),  # a finding
        ("nothing of that", set()),
    ],
)
def test_search_finds(wanted: str, found: set[int], opened: Callable[..., Any]) -> None:
    from selenium.webdriver import Keys

    driver = opened(ps.view(TUTORIAL))
    press(driver, "/")
    assert driver.execute_script(FOCUSED) == "search"
    press(driver, wanted, Keys.ENTER)
    cards = "return [...document.querySelectorAll('g.node.found')].map(card => Number(card.dataset.node))"
    assert set(driver.execute_script(cards)) == found
    count = "return document.getElementById('search-count').textContent"
    assert driver.execute_script(count) == (f"1 of {len(found)}" if found else "nothing found")
    if len(found) > 1:
        press(driver, Keys.ENTER)
        assert driver.execute_script(count) == f"2 of {len(found)}"
        selected = driver.execute_script("return document.querySelector('g.node.selected').dataset.node")
        assert int(selected) == sorted(found)[1]
    press(driver, Keys.ESCAPE)
    assert driver.execute_script(cards) == []


def test_keys_move_along_the_edges(opened: Callable[..., Any]) -> None:
    """Root 0, aggregate 1, join 2 with orders 3 above and filter 4 over products 5."""
    from selenium.webdriver import Keys

    driver = opened(ps.view(TUTORIAL))
    focus(driver, 0)
    ways = [
        *((Keys.LEFT, "1"), (Keys.LEFT, "2"), (Keys.LEFT, "3"), (Keys.DOWN, "4"), (Keys.LEFT, "5")),
        *((Keys.LEFT, "5"), (Keys.RIGHT, "4"), (Keys.UP, "3"), (Keys.RIGHT, "2")),
    ]
    for key, node in ways:
        press(driver, key)
        assert driver.execute_script(FOCUSED) == node
    press(driver, Keys.ENTER)
    assert driver.execute_script(PANEL).startswith("Join\n")
    assert driver.execute_script("return location.hash") == "#n2"
    press(driver, "l")
    assert driver.execute_script("return location.hash") == "#n2:0"
    press(driver, "l")
    assert driver.execute_script("return location.hash") == "#n2:1"
    press(driver, "L", "L")
    assert driver.execute_script("return location.hash") == "#n2:7"
    press(driver, Keys.ESCAPE)
    assert not driver.execute_script("return document.querySelector('svg.tracing')")
    press(driver, Keys.ESCAPE)
    assert not driver.execute_script("return document.querySelector('g.node.selected')")
    press(driver, "?")
    assert driver.execute_script("return document.getElementById('help').open")
    press(driver, Keys.ESCAPE, "t")
    assert driver.execute_script("return document.documentElement.dataset.theme") == "dark"
    press(driver, "t")


def test_zoom_and_drag(opened: Callable[..., Any]) -> None:
    from selenium.webdriver import ActionChains

    driver = opened(ps.view(TUTORIAL))
    place = (
        "return new DOMMatrix(getComputedStyle(document.querySelector('.stage')).transform).toFloat64Array().join(' ')"
    )

    def stage() -> tuple[float, float, float]:
        numbers = [float(part) for part in driver.execute_script(place).split()]
        return numbers[0], numbers[12], numbers[13]

    scale, x, y = stage()
    press(driver, "+")
    assert stage()[0] == pytest.approx(scale * 1.25, rel=1e-3)
    press(driver, "-")
    assert stage() == pytest.approx((scale, x, y), rel=1e-3)
    board = driver.find_element("id", "board")
    ActionChains(driver).move_to_element_with_offset(board, -300, 250).click_and_hold().move_by_offset(
        40, -30
    ).release().perform()
    assert stage() == pytest.approx((scale, x + 40, y - 30), rel=1e-3)
    assert not driver.execute_script("return document.querySelector('g.node.selected')")


def test_the_panel_says_all_of_a_relation(opened: Callable[..., Any]) -> None:
    driver = opened(ps.view(TUTORIAL), hash="#n1")
    text = driver.execute_script(PANEL)
    path = "relations[0].root.input.aggregate"
    for part in (
        "Groups the records",
        "by orders.product_id, product_name",
        "emit: 1, 0, 2",
        path,
        "sum(quantity::decimal<10, 2>[on failure: unspecified] * price)",
        "warning 1102",
        "INITIAL_TO_RESULT",
    ):
        assert part in text
    rows = "return [...document.querySelectorAll(arguments[0])].map(row => row.innerText.split('\\t').slice(0, 4))"
    after = driver.execute_script(rows, "#relation tr[data-port]")
    assert [row[:3] for row in after] == [["0", "1", "product_name"], ["1", "0", "product_id"], ["2", "2", "$2"]]
    # the message of the aggregate itself, its input left out
    driver.execute_script("document.querySelector('#relation details').open = true")
    shown = json.loads(driver.execute_script("return document.querySelector('#relation .json').textContent"))
    message = message_of(TUTORIAL).message.relations[0].root.input.aggregate
    assert shown == {**MessageToDict(message), "input": {"join": "…"}}


def test_the_drawing_can_be_saved(opened: Callable[..., Any], driver: Any) -> None:
    view = ps.view(TUTORIAL, name="../my plan?.json")
    opened(view, hash="#n0:2")
    focus(driver, 4)
    press(driver, " ")
    driver.find_element("id", "save-svg").click()
    driver.find_element("id", "save-png").click()
    svg, png = _saved(driver.downloads / "my-plan.svg"), _saved(driver.downloads / "my-plan.png")
    space = "{http://www.w3.org/2000/svg}"
    root = ET.fromstring(svg)
    assert root.tag == f"{space}svg"
    nodes = {
        int(each.get("data-node", "")) for each in root.iter(f"{space}g") if "node" in each.get("class", "").split()
    }
    assert nodes == {0, 1, 2, 3, 4}  # products are collapsed
    assert sum("lit" in each.get("class", "").split() for each in root.iter(f"{space}g")) > 5
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", png[16:24])
    assert (width, height) == (int(float(root.get("width", "0")) * 2), int(float(root.get("height", "0")) * 2))
    # it isn't empty: nothing compresses so badly but a drawing
    assert len(png) > 20_000


def _saved(file: Path) -> bytes:
    until = time.monotonic() + 20
    while not file.exists() or not file.stat().st_size:
        assert time.monotonic() < until, f"{file.name} was not saved"
        time.sleep(0.05)
    return file.read_bytes()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 800, 1440])
def test_nothing_is_wider_than_the_window(width: int, scheme: str, opened: Callable[..., Any]) -> None:
    driver = opened(ps.view(TUTORIAL), width=width, scheme=scheme, hash="#n1:2")
    assert driver.execute_script("return document.documentElement.scrollWidth") == width
    board = driver.execute_script("return document.querySelector('.board').getBoundingClientRect().toJSON()")
    assert board["width"] > 300
    assert board["height"] > 200

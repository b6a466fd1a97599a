"""A page as it opens, and at other scales: a whole plan that can be read, a map of it, findings by their classes."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import pyspark_substrait as ps
from pyspark_substrait.render.view import View
from tests.render.browser.test_using import _saved, focus, hidden, inputs, press
from tests.render.plans import TUTORIAL, chain, large

pytestmark = pytest.mark.sweep

PLANS: dict[str, Callable[[Path], View]] = {
    "5": lambda shared: ps.view(TUTORIAL),
    "13": lambda shared: ps.view(shared / "plans" / "tpch" / "isthmus" / "q10.json"),
    "16, subqueries": lambda shared: ps.view(shared / "plans" / "tpch" / "isthmus" / "q21.json"),
    "35": lambda shared: ps.view(shared / "plans" / "tpch" / "datafusion" / "q02.pb"),
    "30, deep": lambda shared: ps.view(shared / "plans" / "tpch" / "datafusion" / "q08.pb"),
    "43": lambda shared: ps.view(large(40)),
    "61, a chain": lambda shared: ps.view(chain(60)),
    "202": lambda shared: ps.view(large(202)),
}
#: The size of a window, and the smallest names that a plan of so many relations may have there, in pixels.
WINDOWS = {
    "1440": (1440, 900, "light", 9.0),
    "1280": (1280, 720, "dark", 7.0),
}
#: Boxes in pixels of the window: of the board, the map, the tools, and what is drawn of each card by its number.
BOXES = """
const box = (element) => {
  const { left, top, right, bottom } = element.getBoundingClientRect();
  return [left, top, right, bottom];
};
const drawn = (card) => [...card.querySelectorAll("rect.card")].find((rect) => rect.getClientRects().length);
const cards = [...document.querySelectorAll("g.node:not(.away)")];
return {
  board: box(document.querySelector(".board")), map: box(document.querySelector(".minimap")),
  seen: box(document.querySelector(".minimap-seen")), tools: box(document.querySelector(".tools")),
  cards: Object.fromEntries(cards.map((card) => [card.dataset.node, box(drawn(card))])),
};
"""
#: The sizes of the names that are seen, in pixels of the window, and the texts that are wider than their card.
NAMES = """
const names = [...document.querySelectorAll("g.node:not(.away) :is(.title, .brief-name)")];
const seen = names.filter((name) => name.getClientRects().length);
const wide = (name) => {
  const card = [...name.parentElement.children].find((each) => each.matches("rect.card"));
  return name.getBoundingClientRect().right > card.getBoundingClientRect().right;
};
return {
  sizes: seen.map((name) => parseFloat(getComputedStyle(name).fontSize) * name.getScreenCTM().a),
  wide: seen.filter(wide).map((name) => name.textContent),
};
"""
OVERVIEW = "return document.querySelector('svg.plan-graph').classList.contains('overview')"
#: Turns the wheel over a card.
WHEEL = """
const card = document.querySelector(`g.node[data-node='${arguments[0]}']`);
const drawn = [...card.querySelectorAll("rect.card")].find((rect) => rect.getClientRects().length);
const { left, top, width, height } = drawn.getBoundingClientRect();
const at = [left + width / 2, top + height / 2];
card.dispatchEvent(new WheelEvent("wheel", {
  deltaY: arguments[1], clientX: at[0], clientY: at[1], bubbles: true, cancelable: true,
}));
return document.elementFromPoint(...at)?.closest("g.node")?.dataset.node;
"""

Box = list[float]


def meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def inside(one: Box, other: Box) -> bool:
    return one[0] >= other[0] and one[1] >= other[1] and one[2] <= other[2] and one[3] <= other[3]


def check_whole(driver: Any, count: int) -> None:
    """All cards are seen: none lies outside, under another one, or under what lies over the drawing."""
    boxes = driver.execute_script(BOXES)
    cards = boxes["cards"]
    assert len(cards) == count
    assert not [node for node, box in cards.items() if not inside(box, boxes["board"])]
    assert not [node for node, box in cards.items() if meet(box, boxes["map"]) or meet(box, boxes["tools"])]
    assert not [pair for pair in combinations(cards.values(), 2) if meet(*pair)]
    # the map is there, all of the plan is in it, and the part that is seen is all of it
    assert inside(boxes["map"], boxes["board"])
    assert boxes["map"][2] - boxes["map"][0] > 40
    assert inside(boxes["seen"], boxes["map"])
    width, height = (boxes["seen"][at + 2] - boxes["seen"][at] for at in (0, 1))
    assert width > 0.8 * (boxes["map"][2] - boxes["map"][0]) - 12
    assert height > 0.8 * (boxes["map"][3] - boxes["map"][1]) - 12


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("name", PLANS)
def test_a_plan_opens_whole_and_readable(name: str, window: str, opened: Callable[..., Any], shared: Path) -> None:
    view = PLANS[name](shared)
    width, height, scheme, least = WINDOWS[window]
    driver = opened(view, width=width, height=height, scheme=scheme)
    nodes = len(view.sheets[0].graph.nodes)
    check_whole(driver, nodes)
    names = driver.execute_script(NAMES)
    assert len(names["sizes"]) == nodes
    assert min(names["sizes"]) >= least
    assert names["wide"] == []


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_opens_whole_on_a_phone(name: str, opened: Callable[..., Any], shared: Path) -> None:
    view = PLANS[name](shared)
    driver = opened(view, width=390, height=844)
    check_whole(driver, len(view.sheets[0].graph.nodes))
    assert driver.execute_script("return document.documentElement.scrollWidth") == 390
    # names that nobody could read aren't there: their cards have the colour of their kind
    sizes = driver.execute_script(NAMES)["sizes"]
    assert min(sizes, default=8) >= 6
    assert (sizes == []) == (name in ("43", "202"))


def test_a_plan_opens_whole_on_a_phone_that_lies(opened: Callable[..., Any], shared: Path) -> None:
    driver = opened(PLANS["13"](shared), width=844, height=390)
    check_whole(driver, 14)
    assert min(driver.execute_script(NAMES)["sizes"]) >= 7
    boxes = driver.execute_script(BOXES)
    assert not meet(boxes["map"], boxes["tools"])


def test_what_is_small_becomes_an_overview_and_what_is_near_detailed(opened: Callable[..., Any], shared: Path) -> None:
    driver = opened(PLANS["13"](shared))
    assert driver.execute_script(OVERVIEW)
    node = "4"
    while driver.execute_script(OVERVIEW):
        assert driver.execute_script(WHEEL, node, -120) == node
    assert min(driver.execute_script(NAMES)["sizes"]) > 9
    assert driver.find_element("css selector", f"g.node[data-node='{node}'] .title").is_displayed()
    while not driver.execute_script(OVERVIEW):
        driver.execute_script(WHEEL, node, 120)
    check_whole(driver, 14)


def test_an_overview_that_is_not_seen_whole_keeps_its_place(opened: Callable[..., Any], shared: Path) -> None:
    driver = opened(PLANS["202"](shared))
    node = "100"
    for way, overview in ((-120, True), (120, False)):
        while driver.execute_script(OVERVIEW) == overview:
            assert driver.execute_script(WHEEL, node, way) == node


def test_the_overview_can_be_chosen(opened: Callable[..., Any]) -> None:
    pressed = """
    return ["overview", "details"].map((name) =>
      document.querySelector(`[data-action=${name}]`).getAttribute("aria-pressed"));
    """
    driver = opened(ps.view(TUTORIAL))
    assert driver.execute_script(pressed) == ["false", "true"]
    press(driver, "o")
    assert driver.execute_script(pressed) == ["true", "false"]
    check_whole(driver, 6)
    assert min(driver.execute_script(NAMES)["sizes"]) > 11
    driver.find_element("css selector", "[data-action=details]").click()
    assert driver.execute_script(pressed) == ["false", "true"]


@pytest.mark.parametrize("name", ["13", "16, subqueries", "43", "61, a chain"])
def test_an_overview_collapses(name: str, opened: Callable[..., Any], shared: Path) -> None:
    view = PLANS[name](shared)
    graph, driver = view.sheets[0].graph, opened(view)
    number = next((node for node, below in inputs(graph).items() if len(below) > 1), len(graph.nodes) // 2)
    focus(driver, number)
    press(driver, " ")
    boxes = driver.execute_script(BOXES)["cards"]
    assert {*map(int, boxes)} == {*range(len(graph.nodes))} - hidden(graph, {number})
    assert not [pair for pair in combinations(boxes.values(), 2) if meet(*pair)]
    press(driver, " ")
    assert len(driver.execute_script(BOXES)["cards"]) == len(graph.nodes)


def test_keys_follow_the_arrows_of_an_overview(opened: Callable[..., Any], shared: Path) -> None:
    """Here they go down: the inputs of a card are above it."""
    from selenium.webdriver import Keys

    view = PLANS["13"](shared)
    graph, driver = view.sheets[0].graph, opened(view)
    focus(driver, 0)
    node = 0
    while inputs(graph)[node]:
        above = inputs(graph)[node][0]
        boxes = driver.execute_script(BOXES)["cards"]
        assert boxes[str(above)][3] < boxes[str(node)][1]
        press(driver, Keys.UP)
        assert driver.execute_script("return document.activeElement.dataset.node") == str(above)
        node = above
    press(driver, Keys.RIGHT)
    beside = driver.execute_script("return document.activeElement.dataset.node")
    assert beside != str(node)
    press(driver, Keys.LEFT, Keys.ENTER)
    assert driver.execute_script("return location.hash") == f"#n{node}"


def test_two_fingers_zoom(opened: Callable[..., Any], shared: Path) -> None:
    driver = opened(PLANS["13"](shared), width=390, height=844)
    before = min(driver.execute_script(NAMES)["sizes"])

    def touch(kind: str, *distances: int) -> None:
        points = [
            {"x": 195 + way * distance, "y": 430, "id": number}
            for distance in distances
            for number, way in enumerate((-1, 1))
        ]
        driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", 60)
    for distance in range(64, 81, 4):
        touch("touchMove", distance)
    touch("touchEnd")
    after = min(driver.execute_script(NAMES)["sizes"])
    assert after == pytest.approx(before * 80 / 60, rel=0.1)


def test_lineage_lights_the_cards_of_an_overview(opened: Callable[..., Any], shared: Path) -> None:
    driver = opened(PLANS["13"](shared), hash="#n0:2")
    lit = driver.execute_script("return [...document.querySelectorAll('g.node.lit')].map((card) => card.dataset.node)")
    assert len(lit) > 5
    ends = driver.execute_script("return [...document.querySelectorAll('g.paths path')].length")
    assert ends >= len(lit) - 1


def test_an_overview_is_saved_as_it_is(opened: Callable[..., Any], driver: Any, shared: Path) -> None:
    opened(ps.view(shared / "plans" / "tpch" / "isthmus" / "q10.json", name="overview.json"))
    driver.find_element("id", "save-svg").click()
    root = ET.fromstring(_saved(driver.downloads / "overview.svg"))
    kinds = Counter(each.get("class", "") for each in root.iter())
    assert kinds["brief-name"] == 14
    assert kinds["title"] == kinds["column"] == 0


@pytest.mark.parametrize("name", ["5", "35"])
def test_findings_stand_by_their_classes(name: str, opened: Callable[..., Any], shared: Path) -> None:
    file = TUTORIAL if name == "5" else shared / "plans" / "tpch" / "datafusion" / "q02.pb"
    report = ps.validate(file)
    driver = opened(ps.view(file))
    groups = driver.find_elements("css selector", "#plan details.group")
    shown = {}
    for group in groups:
        level = group.get_attribute("class").split()[-1]
        code = int(group.find_element("css selector", "summary .code").text)
        shown[level, code] = int(group.find_element("css selector", "summary .count").text)
    assert shown == Counter((finding.level.value, int(finding.code)) for finding in report.findings)
    # what was found stands inside, and leads to its card
    driver.execute_script("for (const each of document.querySelectorAll('details')) each.open = true")
    texts = {item.text for item in driver.find_elements("css selector", "#plan .group .what")}
    assert len(texts) == len({finding.what for finding in report.findings})
    link = driver.find_element("css selector", "#plan .group li a")
    link.click()
    chosen = driver.execute_script("return document.querySelector('g.node.selected').dataset.node")
    assert link.get_attribute("href").endswith(f"#n{chosen}")

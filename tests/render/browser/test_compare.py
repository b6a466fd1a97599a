"""Two plans beside each other, in a browser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import pyspark_substrait as ps
from pyspark_substrait import view
from pyspark_substrait.documents import Plan
from pyspark_substrait.model import relations as r
from pyspark_substrait.text.explain.columns import escaped
from tests.diff.plans import at, both, call, edited, number, orders, text
from tests.render.plans import hostile

pytestmark = pytest.mark.sweep


def changed() -> Plan:
    """The plan of orders with another condition, one filter more, and a computed column less."""
    plan = edited(orders(), r.Read, lambda node: r.Filter(input=node, condition=call("lt", at(0), number(9))))
    condition = both(call("gt", at(2), number(11)), call("equal", at(3), text("F")))
    plan = edited(plan, r.Filter, lambda node: replace(node, condition=condition))
    return edited(plan, r.Fetch, lambda node: replace(node, count_expr=number(4)))


def lit(driver: Any) -> set[str]:
    """The ids of the cards that are shown as counterparts."""
    return {card.get_attribute("id") for card in driver.find_elements("css selector", "g.node.partner")}


def point_at(driver: Any, place: str) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(driver).move_to_element(driver.find_element("css selector", place)).perform()


def title(card: Any) -> str:
    """Return the name of a card, whether all of it is shown or only its name."""
    return str(card.find_element("css selector", ".title").get_attribute("textContent"))


def plans() -> dict[str, Callable[[Path], tuple[Any, Any]]]:
    return {
        "an edited copy": lambda shared: (orders(), changed()),
        "of two makers": lambda shared: (
            shared / "plans" / "tpch" / "isthmus" / "q03.json",
            shared / "plans" / "tpch" / "datafusion" / "q03.pb",
        ),
        "with subqueries": lambda shared: (
            shared / "plans" / "tpch" / "isthmus" / "q02.json",
            shared / "plans" / "tpch" / "datafusion" / "q02.pb",
        ),
    }


@pytest.mark.parametrize("name", plans())
def test_a_card_lights_up_its_counterpart(opened: Callable[..., Any], shared: Path, name: str) -> None:
    a, b = plans()[name](shared)
    shown = view(a, b)
    driver = opened(shown)
    first, second = ({node.path: node.number for node in sheet.graph.nodes} for sheet in shown.sheets)
    wanted: dict[str, set[str]] = {}
    for pair in ps.diff(a, b).pairs:
        one = f"a-n{first[pair.path_a]}" if pair.path_a else ""
        other = f"b-n{second[pair.path_b]}" if pair.path_b else ""
        for here, there in ((one, other), (other, one)):
            if here:
                wanted.setdefault(here, set()).update({there} - {""})
    for card, partners in wanted.items():
        driver.execute_script(CLICK, card)
        assert lit(driver) == partners, card
        mark = shown.comparison.marks_a if card[0] == "a" else shown.comparison.marks_b  # type: ignore[union-attr]
        classes = driver.find_element("id", card).get_attribute("class").split()
        assert [kind for kind in classes if kind.startswith("m-")] == [f"m-{mark[int(card[3:])]}"]
        assert all(driver.execute_script(IN_SIGHT, partner) for partner in list(partners)[:1])
    assert len(wanted) == len(first) + len(second)


CLICK = """
const title = document.getElementById(arguments[0]).querySelector(".title");
title.dispatchEvent(new MouseEvent("click", { bubbles: true }));
"""
IN_SIGHT = """
const card = document.getElementById(arguments[0]), box = card.getBoundingClientRect();
const frame = card.closest(".board").getBoundingClientRect();
return box.right > frame.left && box.left < frame.right && box.bottom > frame.top && box.top < frame.bottom;
"""


def test_the_pointer_shows_counterparts_and_takes_them_back(opened: Callable[..., Any]) -> None:
    driver = opened(view(orders(), orders()))
    point_at(driver, "#a-n1")
    assert lit(driver) == {"b-n1"}
    point_at(driver, "#b-n3")
    assert lit(driver) == {"a-n3"}
    point_at(driver, "h1")
    assert lit(driver) == set()


def test_a_change_in_the_list_leads_to_both_cards(opened: Callable[..., Any]) -> None:
    driver = opened(view(orders(), changed()))
    assert driver.find_element("css selector", "#changes h2").text == "3 changes"
    items = driver.find_elements("css selector", "#changes [data-change]")
    titles = []
    for item in items:
        item.click()
        shown = sorted(lit(driver))
        assert [name[0] for name in shown] == ["a", "b"]
        assert all(driver.execute_script(IN_SIGHT, name) for name in shown)
        titles.append([title(driver.find_element("id", name)) for name in shown])
        assert [other.get_attribute("aria-current") is not None for other in items] == [
            other == item for other in items
        ]
    assert titles == [["Fetch", "Fetch"], ["Filter", "Filter"], ["Read", "Filter"]]
    assert [item.text for item in items] == [change.what.replace("`", "") for change in ps.diff(orders(), changed())]


def test_keys_go_from_change_to_change(opened: Callable[..., Any]) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    driver = opened(view(orders(), changed()))
    shown = []
    for key in "nnnnNN":
        ActionChains(driver).send_keys(key).perform()
        current = driver.find_elements("css selector", "[data-change][aria-current]")
        shown.append([int(item.get_attribute("data-change")) for item in current])
    assert shown == [[0], [1], [2], [0], [2], [1]]


def test_the_panel_says_what_differs(opened: Callable[..., Any]) -> None:
    driver = opened(view(orders(), changed()))
    number_ = next(
        card.get_attribute("data-node")
        for card in driver.find_elements("css selector", "#a-graph .node")
        if title(card) == "Filter"
    )
    driver.execute_script(CLICK, f"a-n{number_}")
    assert driver.find_element("css selector", "#relation .verdict").text == "Changed"
    assert driver.find_element("css selector", "#relation .before").text == "price > 10"
    assert driver.find_element("css selector", "#relation .after").text == "price > 11"


def test_plans_that_mean_the_same_are_said_to(opened: Callable[..., Any]) -> None:
    driver = opened(view(orders(), orders()))
    assert driver.find_element("css selector", "#changes h2").text == "The plans mean the same"
    assert not driver.find_elements("css selector", "#changes [data-change], svg.compared")


def test_a_plan_that_cannot_be_compared_is_shown(opened: Callable[..., Any]) -> None:
    driver = opened(view(orders(), '{"relations": [{"root": {"input": {"filter": {}}, "names": []}}]}'))
    assert driver.find_element("css selector", "#changes h2").text == "The plans cannot be compared"
    assert len(driver.find_elements("css selector", "#b-graph .node")) == 3
    driver.execute_script(CLICK, "b-n1")
    assert lit(driver) == set()


def test_nothing_of_a_plan_becomes_markup(opened: Callable[..., Any]) -> None:
    *plans, wide = hostile()
    plain = elements(clicked(opened(view(orders(), changed()))))
    for one, other in [*pairwise(plans), (wide, plans[0])]:
        driver = clicked(opened(view(one, other)))
        assert set(elements(driver)) <= {*plain, "BDI", "clipPath", "DETAILS", "SUMMARY", "UL"}
        assert elements(driver).count("SCRIPT") == plain.count("SCRIPT")
        assert driver.title != "taken"
        shown = [item.get_attribute("textContent") for item in driver.find_elements("css selector", "#changes button")]
        sentences = sentences_of(one, other)
        cut = [text if len(text) <= 300 else f"{text[:299]}…" for text in sentences]
        assert shown == [escaped(text.replace("`", "")) for text in cut]


def sentences_of(one: Any, other: Any) -> list[str]:
    """What changed; nothing where one of both has text that no message can hold."""
    try:
        return [change.what for change in ps.diff(one, other)]
    except ps.PlanFormatError:
        return []


def elements(driver: Any) -> list[str]:
    found: list[str] = driver.execute_script("return [...document.querySelectorAll('*')].map((each) => each.tagName)")
    return found


def clicked(driver: Any) -> Any:
    """All changes and all cards, one after the other."""
    for item in driver.find_elements("css selector", "#changes [data-change]"):
        driver.execute_script("arguments[0].click()", item)
    for card in driver.find_elements("css selector", "g.node"):
        driver.execute_script(CLICK, card.get_attribute("id"))
    return driver


@pytest.mark.parametrize("width", [360, 800, 1400])
def test_both_plans_are_seen_at_any_width(opened: Callable[..., Any], width: int) -> None:
    driver = opened(view(orders(), changed()), width=width)
    boxes = [frame.rect for frame in driver.find_elements("css selector", ".board")]
    assert all(box["height"] > 120 and box["width"] >= min(width * 0.5, 360) for box in boxes)
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    assert all(driver.execute_script(IN_SIGHT, name) for name in ("a-n0", "b-n0"))

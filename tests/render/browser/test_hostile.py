"""Names that want to be something else stay names: on the drawing, in the panel, in the data, in what is saved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import pyspark_substrait as ps
from pyspark_substrait.text.explain.columns import escaped, quoted
from tests.render.plans import hostile

pytestmark = pytest.mark.sweep

#: The elements that a page may have of each kind that could do something.
ACTIVE = """
const count = (what) => document.querySelectorAll(what).length;
return [
  count("script"), count("img"), count("iframe"), count("object, embed"), count("form"), count("link"), count("meta"),
  count("[onclick], [onerror], [onload]"), count("style"),
];
"""
#: What a drawing, and the list of kinds with its icons, is not made of.
OTHERS = (
    ".plan-graph :not(style, defs, marker, clipPath, g, rect, path, circle, line, text, tspan, title, ul, li, svg, b)"
)
STRANGE = """
return [...document.querySelectorAll("[href], [src]")]
  .map((link) => link.getAttribute("href") ?? link.getAttribute("src"))
  .filter((address) => !/^(#([ab]-)?n\\d+|https:\\/\\/substrait\\.io\\/[\\w/]*|data:,)$/.test(address));
"""


@pytest.mark.parametrize("number", range(len(hostile())))
def test_no_name_becomes_markup(number: int, opened: Callable[..., Any]) -> None:
    plan = hostile()[number]
    names = plan["relations"][0]["root"]["names"]
    driver = opened(ps.view(plan, name=names[0] or "empty"))
    title = driver.title
    for node in (2, 1, 0):
        for column in range(len(names)):
            driver.execute_script("location.hash = arguments[0]", f"#n{node}:{column}")
            driver.execute_async_script("const done = arguments[0]; setTimeout(done, 0)")
        driver.execute_script("for (const each of document.querySelectorAll('details')) each.open = true")
        assert driver.execute_script(ACTIVE) == [2, 0, 0, 0, 1, 1, 4, 0, 3]
        assert driver.execute_script(STRANGE) == []
        # the panel shows each name, every character of it
        shown = driver.execute_script(
            "return [...document.querySelectorAll('#relation button.name')].map(name => name.textContent)"
        )
        assert shown == [escaped(text) for text in shown]
        if len(names) == 2 and names[0] not in ("", "\ud800"):  # what can't be encoded is no plan, but has a page
            assert shown == [quoted(name) for name in names]
    driver.execute_script(
        "document.getElementById('search').value = arguments[0]", names[0][:40].encode("utf-8", "replace").decode()
    )
    driver.execute_script(
        "document.getElementById('search').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }))"
    )
    for shape in ("overview", "details", "overview"):
        driver.execute_script("document.querySelector(`[data-action=${arguments[0]}]`).click()", shape)
        assert driver.execute_script(ACTIVE) == [2, 0, 0, 0, 1, 1, 4, 0, 3]
        assert driver.execute_script("return document.querySelectorAll(arguments[0]).length", OTHERS) == 0
    assert driver.title == title
    assert title != "taken"


@pytest.mark.parametrize(
    "plan", [b"\xff", b"", "{", {"relations": [{"root": {"input": {"filter": {}}}}]}, {"version": {}}]
)
def test_what_is_no_plan_has_a_page_too(plan: Any, opened: Callable[..., Any]) -> None:
    driver = opened(ps.view(plan, name="broken"))
    assert driver.execute_script("return document.querySelectorAll('#plan .group.error').length") > 0

"""No text on a card is wider than the card has room for, in the fonts of a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pyspark_substrait.render.drawing import NodeFigures, drawing
from pyspark_substrait.text.explain.graph import graph
from tests.render.test_drawing import BY_HAND

pytestmark = pytest.mark.sweep

#: Of each text on a card that isn't clipped: where it begins and ends, where its room does, and what it says.
MEASURED = """
const place = (element) => element.getBoundingClientRect();
return [...document.querySelectorAll("g.node")].flatMap((card) =>
  [...card.querySelectorAll("text:not([clip-path])")].filter((text) => text.textContent).map((text) => {
    const room = place(card.querySelector("rect.card")), own = place(text);
    const type = text.classList.contains("name") ? text.parentElement.querySelector("text.type") : null;
    const badges = text.classList.contains("title") ? [...card.querySelectorAll("g.badge")] : [];
    const next = [...(type?.textContent ? [type] : []), ...badges].map((each) => place(each).left);
    return [own.left, own.right, room.left, Math.min(room.right, ...next), text.textContent];
  }));
"""


@pytest.mark.parametrize("compact", [False, True])
def test_texts_fit_on_their_cards(driver: Any, tmp_path: Path, compact: bool) -> None:
    file = tmp_path / "drawings.html"
    svgs = []
    for number, document in enumerate(BY_HAND.values()):
        plan = graph(document)
        figures = {node.number: NodeFigures(rows=1e6, time_share=1.0) for node in plan.nodes}
        svgs.append(drawing(plan, figures=figures, compact=compact, prefix=f"d{number}-").svg)
    file.write_text(f"<!doctype html><meta charset=utf-8>{''.join(svgs)}", encoding="utf-8")
    driver.get(file.as_uri())
    measured = driver.execute_script(MEASURED)
    assert len(measured) > 600
    assert not [entry for entry in measured if entry[0] < entry[2] or entry[1] > entry[3]]


def test_a_drawing_is_an_image_of_the_size_it_says(driver: Any, tmp_path: Path) -> None:
    drawn = drawing(graph(BY_HAND["hostile"]))
    (tmp_path / "plan.svg").write_text(drawn.document, encoding="utf-8")
    (tmp_path / "page.html").write_text("<!doctype html><img src=plan.svg>", encoding="utf-8")
    driver.get((tmp_path / "page.html").as_uri())
    size = driver.execute_script("const i = document.images[0]; return [i.complete, i.naturalWidth, i.naturalHeight]")
    assert size == [True, round(drawn.width), round(drawn.height)]
    driver.get((tmp_path / "plan.svg").as_uri())
    assert driver.execute_script("return document.querySelectorAll('parsererror, script').length") == 0

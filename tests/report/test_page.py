"""The page for the browser, in a browser."""

from __future__ import annotations

import base64
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import pyspark_substrait as ps
from pyspark_substrait import samples
from pyspark_substrait.analysis.report.html import html
from pyspark_substrait.analysis.report.report import Report, report
from pyspark_substrait.codes import classes
from pyspark_substrait.model.findings import Finding
from tests.report.plans import HOSTILE, field, plan

ROOT = Path(__file__).resolve().parent.parent.parent
TUTORIAL = samples.plan_2023()

TAGS = {
    *("html", "head", "meta", "link", "title", "style", "body", "header", "nav", "main", "section", "footer"),
    *("h1", "h2", "h3", "p", "ol", "ul", "li", "dl", "dt", "dd", "div", "span", "a", "b", "code", "bdi"),
    *("fieldset", "legend", "label", "input", "table", "caption", "thead", "tbody", "tr", "th", "td"),
}
#: How well the text of each element can be told from what is behind it (WCAG 2.1, contrast ratio), where it is least.
CONTRAST = """
function channel(v) { v /= 255; return v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4); }
function parts(color) { return color.match(/[\\d.]+/g).map(Number); }
function light(c) { return 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2]); }
function ground(element) {
  for (let at = element; at; at = at.parentElement) {
    const c = parts(getComputedStyle(at).backgroundColor);
    if (c.length < 4 || c[3] === 1) return c;
    if (c[3] !== 0) throw new Error("half transparent");
  }
  return [255, 255, 255];
}
const found = [];
for (const element of document.querySelectorAll("body *")) {
  const own = [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim());
  if (!own || !element.checkVisibility()) continue;
  const a = light(parts(getComputedStyle(element).color)), b = light(ground(element));
  found.push([(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), element.className + ": " + element.textContent]);
}
found.sort((one, other) => one[0] - other[0]);
return found[0];
"""
WIDTHS = "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    webdriver = pytest.importorskip("selenium.webdriver")
    browser, control = shutil.which("chromium") or shutil.which("chromium-browser"), shutil.which("chromedriver")
    if browser is None or control is None:
        pytest.skip("there is no chromium with chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    profile = tmp_path_factory.mktemp("profile")
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", f"--user-data-dir={profile}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(control))
    yield started
    started.quit()


@pytest.fixture
def opened(driver: Any, tmp_path: Path) -> Callable[..., Any]:
    """Opens the page of some reports; afterwards, nothing may stand in the browser's console."""

    def show(*reports: Report, media: str = "screen", scheme: str = "light", width: int = 1200) -> Any:
        file = tmp_path / "page.html"
        file.write_text(html(reports), encoding="utf-8")
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get_log("browser")
        driver.get(file.as_uri())
        assert driver.get_log("browser") == []
        return driver

    return show


def broken() -> Report:
    return ps.validate(plan(field(9), names=("id",)), name="orders.json")


def everything() -> Report:
    """A finding of each class, of each level, on a plan."""
    found = ps.validate(plan())
    places = ("", "version", "relations[0].root.input.filter.condition", "relations[0].root.input.filter.input.read")
    findings = [
        Finding.of(item.code, places[number % 4], item.title, fix="fix it so" if number % 3 else "")
        for number, item in enumerate(classes())
    ]
    return report(findings, places=found.places, document=found.document, name="everything")


def hostile(name: str) -> Report:
    made = plan(field(9), names=(name, name + "2"), table=name, producer=name)
    found = ps.validate(made, name=name)
    extra = Finding.of(classes()[0].code, name, name or "empty", why=name, fix=name)
    return report([*found, extra], places=found.places, document=found.document, name=name)


REPORTS: dict[str, Callable[[], Report]] = {
    "broken": broken,
    "everything": everything,
    "nothing found": lambda: ps.validate(plan()),
    "unreadable": lambda: ps.validate(b"\xff"),
    "tutorial": lambda: ps.validate(TUTORIAL),
    "hostile": lambda: hostile(" ".join(HOSTILE)),
}


class Elements(HTMLParser):
    """What elements a page has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.ids: Counter[str] = Counter()
        self.links: list[str] = []
        self.attributes: set[str] = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        for name, value in attrs:
            self.attributes.add(name)
            if name == "id":
                self.ids[value or ""] += 1
            if name in ("href", "src"):
                self.links.append(value or "")


@pytest.mark.parametrize("name", REPORTS)
def test_the_page_needs_nothing_and_its_links_lead_somewhere(name: str) -> None:
    found = Elements(REPORTS[name]().to_html())
    assert set(found.tags) <= TAGS
    assert not any(attribute.startswith("on") or attribute == "src" for attribute in found.attributes)
    assert max(found.ids.values()) == 1
    inside = [link.removeprefix("#") for link in found.links if link.startswith("#")]
    assert inside and set(inside) <= set(found.ids)
    others = [link for link in found.links if not link.startswith("#")]
    assert all(link == "data:," or link.startswith("https://substrait.io/") for link in others)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_never_markup(name: str) -> None:
    found, usual = Elements(hostile(name).to_html()), Elements(hostile("name").to_html())
    assert set(found.tags) - {"bdi"} <= set(usual.tags)
    assert found.attributes <= usual.attributes | {"tabindex", "role", "aria-label"}
    assert not name or found.ids == usual.ids  # a name that is empty is a fault by itself


def test_each_finding_stands_at_its_line_and_in_the_list() -> None:
    found = Elements(everything().to_html())
    for number in range(1, len(classes()) + 1):
        assert found.ids[f"p1-f{number}"] == found.ids[f"p1-f{number}-row"] == 1


def test_a_level_lists_less() -> None:
    from pyspark_substrait.codes import Level

    made = everything()
    text = made.at_least(Level.ERROR).to_html()
    assert Elements(text).tags["tr"] < Elements(made.to_html()).tags["tr"]
    assert f"<b>{len(made.infos)}</b> info" in text, "what isn't listed is counted"


def test_a_deep_plan() -> None:
    condition: dict[str, Any] = plan()["relations"][0]["root"]["input"]
    for _ in range(400):
        condition = {"filter": {"input": condition, "condition": {"literal": {"boolean": True}}}}
    deep = plan()
    deep["relations"][0]["root"]["input"] = condition
    assert Elements(ps.validate(deep).to_html()).tags["li"] > 400


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_can_be_read(opened: Callable[..., Any], name: str, scheme: str) -> None:
    shown = opened(REPORTS[name](), scheme=scheme)
    ratio, where = shown.execute_script(CONTRAST)
    assert ratio >= 4.5, where
    ground = shown.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(247, 248, 249)") == (scheme == "light")


def test_findings_are_shown_with_all_that_is_known(opened: Callable[..., Any]) -> None:
    made = broken()
    text = opened(made).find_element("css selector", "main").text
    for finding in made:
        for part in (finding.what, finding.why, finding.fix, finding.path, f"{finding.code:04d}"):
            assert part in text
    assert "Filter[" in text and "Read[orders" in text


def test_a_finding_stands_below_its_line(opened: Callable[..., Any]) -> None:
    shown = opened(ps.validate(plan({"literal": {"i32": 1}})))
    (row,) = shown.find_elements("css selector", ".row.error")
    assert row.text.startswith("Filter[") and "4005" in row.text


def shown_levels(driver: Any, media: str = "screen") -> set[str]:
    levels = set()
    for level in ("error", "warning", "info"):
        elements = driver.find_elements("css selector", f".finding.{level}, tr.{level}")
        visible = {element.is_displayed() for element in elements}
        assert len(visible) == 1, "a level is shown everywhere or nowhere"
        levels |= {level} if visible == {True} else set()
    return levels


def test_the_filter(opened: Callable[..., Any]) -> None:
    shown = opened(everything())
    every = {"error", "warning", "info"}
    assert shown_levels(shown) == every
    for level in sorted(every):
        box = shown.find_element("id", f"show-{level}")
        box.click()
        assert shown_levels(shown) == every - {level}
        box.send_keys(" ")  # as a keyboard does
        assert shown_levels(shown) == every


def test_links_go_both_ways(opened: Callable[..., Any]) -> None:
    shown = opened(broken())
    shown.find_element("css selector", ".list a").send_keys("\ue007")  # the enter key
    entry = shown.execute_script("return document.querySelector(':target').className")
    assert entry == "entry"
    shown.find_element("css selector", ".entry:target a").send_keys("\ue007")
    assert shown.execute_script("return document.querySelector(':target').tagName") == "TR"


def test_print_has_all_whatever_the_filter_says(opened: Callable[..., Any]) -> None:
    shown = opened(everything())
    for level in ("error", "warning", "info"):
        shown.find_element("id", f"show-{level}").click()
    shown.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert shown_levels(shown) == {"error", "warning", "info"}
    assert not shown.find_element("css selector", ".bar").is_displayed()
    ratio, where = shown.execute_script(CONTRAST)
    assert ratio >= 4.5, where
    pdf = base64.b64decode(shown.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert pdf.startswith(b"%PDF") and len(pdf) > 10_000


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("width", [320, 700, 1600])
def test_nothing_sticks_out(opened: Callable[..., Any], name: str, width: int) -> None:
    content, window = opened(REPORTS[name](), width=width).execute_script(WIDTHS)
    assert content <= window


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_shown_and_do_nothing(opened: Callable[..., Any], name: str) -> None:
    shown = opened(hostile(name), width=500)
    assert shown.title != "taken"
    assert shown.find_elements("css selector", "script, img, svg, body style") == []
    content, window = shown.execute_script(WIDTHS)
    assert content <= window
    if name.isprintable():
        assert name in shown.execute_script("return document.querySelector('h1').textContent")


def test_several_plans_on_one_page(opened: Callable[..., Any]) -> None:
    shown = opened(broken(), ps.validate(plan(), name="fine.json"), ps.validate(b"\xff", name="nonsense.pb"))
    assert [link.text for link in shown.find_elements("css selector", ".plans a")] == [
        "orders.json",
        "fine.json",
        "nonsense.pb",
    ]
    assert [heading.text for heading in shown.find_elements("css selector", "main h2")] == [
        "orders.json",
        "fine.json",
        "nonsense.pb",
    ]
    ids = shown.execute_script("return [...document.querySelectorAll('[id]')].map(element => element.id)")
    assert len(ids) == len(set(ids))


def test_headings_and_landmarks_make_an_outline(opened: Callable[..., Any]) -> None:
    shown = opened(broken())
    levels = [element.tag_name for element in shown.find_elements("css selector", "h1, h2, h3")]
    assert levels == ["h1", "h2", "h2", "h2"]
    assert shown.find_element("css selector", "html").get_attribute("lang") == "en"
    for element in shown.find_elements("css selector", "input"):
        assert element.accessible_name
    assert len(shown.find_elements("css selector", "main, header, footer, nav[aria-label]")) == 4

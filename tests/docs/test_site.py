"""The site: it can be built, it needs no network, and the reference has every name and every command."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import click
import pytest

import pyspark_substrait
from pyspark_substrait import builder
from pyspark_substrait.cli import main

pytestmark = pytest.mark.sweep(sample=0.02)

WIDTHS = "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site, built strictly: broken links and anchors, and pages outside the navigation, fail."""
    pytest.importorskip("material", reason="the extra `docs` isn't installed")
    pytest.importorskip("mkdocstrings")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    variables = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


class Page(HTMLParser):
    """What a page loads, where it leads, and which anchors it has."""

    LOADS = frozenset({"script", "link", "img", "iframe", "source", "object", "embed", "video", "audio"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is not None and name == "id":
                self.anchors.add(value)
            elif value is not None and tag in self.LOADS and name in ("src", "href", "srcset", "data"):
                self.loaded.append(value)


def pages(site: Path) -> Iterator[Path]:
    return (page for page in site.rglob("*.html") if page.name != "404.html")


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for page in pages(site):
        for source in Page(page.read_text(encoding="utf-8")).loaded:
            assert not re.match(r"(?i)[a-z]+:|//", source), f"{page.name} loads {source}"
            assert (page.parent / source.split("#")[0].split("?")[0]).exists(), f"{page.name} loads {source}"
    for file in (*site.glob("assets/*.css"), *site.rglob("*.svg")):
        assert not re.search(r"(?:url\(|@import|href=)[\"'\s]*(?:https?:)?//", file.read_text(encoding="utf-8")), file


def test_all_pages_are_there(site: Path) -> None:
    built = {page.relative_to(site).with_suffix("").as_posix() for page in pages(site)}
    written = {page.relative_to(ROOT / "docs").with_suffix("").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    assert written <= built
    assert built - written == {
        "contributing",
        "reference/capabilities",
        "reference/commands",
        "reference/model",
        "results",
    }


def anchors(site: Path, *names: str) -> set[str]:
    return set().union(*(Page((site / "reference" / f"{name}.html").read_text("utf-8")).anchors for name in names))


def test_every_name_is_in_the_reference(site: Path) -> None:
    found = anchors(site, *(page.stem for page in (ROOT / "docs" / "reference").glob("*.md")))
    wanted = {f"pyspark_substrait.{name}" for name in pyspark_substrait.__all__}
    wanted |= {f"pyspark_substrait.builder.{name}" for name in builder.__all__}
    assert wanted - found == set()


def test_every_command_and_option_is_in_the_reference(site: Path) -> None:
    text = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    context = click.Context(main)
    names = main.list_commands(context)
    assert set(names) <= anchors(site, "commands")
    for name in names:
        command = main.get_command(context, name)
        assert command is not None
        section = text.partition(f'id="{name}"')[2].partition("<h2")[0]
        options = (option for option in command.params if isinstance(option, click.Option) and not option.hidden)
        missing = [option.opts[-1] for option in options if option.opts[-1] not in section]
        assert not missing, f"{name}: {missing}"


def test_links_out_of_the_pages_are_text(site: Path) -> None:
    for page in pages(site):
        links = re.findall(r'<a [^>]*href="([^"]*)"', page.read_text(encoding="utf-8"))
        inside = (link.split("#")[0] for link in links if not re.match(r"[a-z]+:", link))
        assert all((page.parent / link).resolve().is_relative_to(site) for link in inside if link), page.name


def test_it_is_read_and_searched_as_files(site: Path) -> None:
    pytest.importorskip("selenium")
    if shutil.which("chromedriver") is None:
        pytest.skip("there is no chromium with chromedriver")
    from selenium.webdriver.support.wait import WebDriverWait

    from docs.pictures.browser import opened

    with opened(site / "index.html", "dark", width=420) as browser:
        assert browser.execute_script("return document.body.dataset.mdColorScheme") == "slate"
        browser.find_element("css selector", "label.md-header__button[for=__search]").click()
        browser.find_element("css selector", ".md-search__input").send_keys("overflow")
        results = WebDriverWait(browser, 20).until(
            lambda shown: shown.find_elements("css selector", ".md-search-result__link")
        )
        assert any("functions.html" in (result.get_attribute("href") or "") for result in results)
        for page in pages(site):
            browser.get(page.as_uri())
            content, window = browser.execute_script(WIDTHS)
            assert content <= window, f"{page.name} is wider than a telephone"
        assert browser.get_log("browser") == []

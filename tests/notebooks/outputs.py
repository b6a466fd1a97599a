"""Reads the HTML of an output as a browser would, and more strictly: what is open is closed, in order."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from xml.etree import ElementTree

__all__ = ["Output", "output"]

_VOID = {"img", "br", "hr", "meta", "link", "input"}
_SVG = "data:image/svg+xml;base64,"


@dataclass
class Output(HTMLParser):
    """The elements of an output, its text outside of styles, and its tables."""

    elements: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    tables: list[list[list[str]]] = field(default_factory=list)
    _open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in _VOID:
            self._open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open and self._open[-1] == tag, f"</{tag}> closes {self._open}"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        if "style" in self._open:
            return
        self.texts.append(data)
        if {"td", "th"} & {*self._open}:
            self.tables[-1][-1][-1] += data

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def tags(self) -> set[str]:
        return {tag for tag, _ in self.elements}

    def attributes(self, tag: str) -> Iterator[dict[str, str]]:
        return (attributes for name, attributes in self.elements if name == tag)

    @property
    def drawing(self) -> ElementTree.Element:
        """The one image."""
        [image] = self.attributes("img")
        assert image["src"].startswith(_SVG)
        return ElementTree.fromstring(base64.b64decode(image["src"].removeprefix(_SVG)))


#: What an output may consist of: nothing that runs, nothing that fetches.
_HARMLESS = {
    *("div", "span", "style", "strong", "code", "bdi", "br", "a", "img", "details", "summary", "ul", "ol", "li"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"alt", "class", "href", "open", "rel", "src", "style", "target", "width"}


def output(html: str) -> Output:
    """The HTML of an output; it is well-formed, and everything in it is harmless."""
    found = Output()
    found.feed(html)
    found.close()
    assert not found._open
    assert found.tags <= _HARMLESS
    for tag, attributes in found.elements:
        assert attributes.keys() <= _ATTRIBUTES, (tag, attributes)
        assert attributes.get("href", "https://substrait.io/").startswith("https://substrait.io/")
        assert attributes.get("src", _SVG).startswith(_SVG)
    styles = [part for part in html.split("</style>")[0].split("}") if "{" in part]
    assert all(".pyspark-substrait" in rule.rpartition("{")[0] for rule in styles), "a rule reaches the notebook"
    return found

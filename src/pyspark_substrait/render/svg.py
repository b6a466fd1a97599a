"""Elements of an SVG drawing. Content of a plan becomes escaped text or attribute values."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from pyspark_substrait.text.explain.columns import escaped
from pyspark_substrait.text.explain.text_direction import pieces

__all__ = ["Element", "added", "curve", "label", "number", "titled", "to_text"]


def added(parent: Element, tag: str, **attributes: object) -> Element:
    """Add an element at the end of another one.

    Args:
        parent: the element to add it to.
        tag: its name.
        attributes: their names are written with ``_`` for ``-``, and after Python keywords; None leaves one out.
    """
    element = ElementTree.SubElement(parent, tag)
    for name, value in attributes.items():
        if value is not None:
            text = number(value) if isinstance(value, (int, float)) else escaped(str(value))
            element.set(name.rstrip("_").replace("_", "-"), text)
    return element


def label(parent: Element, kind: str, x: float, y: float, text: str, **attributes: object) -> Element:
    """Add a line of text of a class."""
    element = added(parent, "text", class_=kind, x=x, y=y, **attributes)
    element.text = _safe(text)
    return element


def titled(parent: Element, text: str) -> None:
    """Add a tooltip to an element; line breaks are kept."""
    if text:
        added(parent, "title").text = "\n".join(map(_safe, text.split("\n")))


def curve(points: Sequence[tuple[float, float]]) -> str:
    """Return path data for Bézier curves, or for a straight line if the first and the last point are at one height."""
    start = f"M{_pair(points[0])}"
    if len(points) <= 4 and abs(points[0][1] - points[-1][1]) < 0.6:
        return f"{start}H{number(points[-1][0])}"
    return f"{start}C{' '.join(map(_pair, points[1:]))}"


def number(value: float) -> str:
    """Format a number with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def to_text(root: Element) -> str:
    """Return a drawing as text, with its namespace, so that it is a document by itself as well as a part of a page."""
    root.set("xmlns", "http://www.w3.org/2000/svg")
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=True)


def _safe(text: str) -> str:
    """Return text in which every character is visible, and right-to-left parts are isolated."""
    return "".join(f"\u2068{part}\u2069" if apart else part for part, apart in pieces(text))


def _pair(point: tuple[float, float]) -> str:
    return f"{number(point[0])},{number(point[1])}"

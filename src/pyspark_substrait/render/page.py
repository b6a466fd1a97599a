"""The page for the browser: a single file, which runs only its own script, and loads nothing."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup
from markupsafe import escape as escaped_markup

from pyspark_substrait.analysis.report.facts import release
from pyspark_substrait.analysis.report.groups import OfClass, Reason, groups
from pyspark_substrait.codes import Level
from pyspark_substrait.model.findings import Finding
from pyspark_substrait.render.drawing import drawing
from pyspark_substrait.render.figures import Summary, node_figures, summary
from pyspark_substrait.render.page_data import GRAVITY, as_script_text, graph_data
from pyspark_substrait.render.svg_style import style
from pyspark_substrait.render.svg_symbols import Icon, icon_of
from pyspark_substrait.text.explain.columns import escaped
from pyspark_substrait.text.explain.graph import Graph, Node
from pyspark_substrait.text.explain.lines import LineKind
from pyspark_substrait.text.explain.literals import counted
from pyspark_substrait.text.explain.text_direction import pieces

if TYPE_CHECKING:
    from pyspark_substrait.render.view import Sheet, View

__all__ = ["html"]

#: The order matters: a script comes after those that it uses while it is loaded.
_SCRIPTS = (
    *("elements", "graph", "viewport", "lights", "folding", "minimap", "overview", "board", "panel"),
    *("search", "exporting", "theme", "keys", "compare", "main"),
)
#: The most findings in the list; further ones are only in the panels of their relations.
_MOST_FINDINGS = 500
#: The most links to relations behind one text in the list.
_MOST_LINKS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class _Message:
    """A text that some findings have in common, and the cards that these belong to."""

    text: str
    count: int
    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """The findings of a class, in the words of the list."""

    level: Level
    code: int
    title: str
    count: int
    reasons: tuple[tuple[Reason, tuple[_Message, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A plan, prepared for the template."""

    prefix: str
    name: str
    about: str
    svg: Markup
    sizes: tuple[str, ...]
    kinds: tuple[tuple[Icon, str, int], ...]
    levels: dict[Level, int]
    groups: tuple[_Group, ...]
    untold: int
    definitions: tuple[str, ...]
    footer: tuple[str, ...]
    run: Summary | None


def html(view: View) -> str:
    """Return the page of a view."""
    prefixes = ("",) if len(view.sheets) == 1 else ("a-", "b-")
    comparison = view.comparison
    marks = [{}] if comparison is None else [comparison.marks_a, comparison.marks_b]
    parts = [_part(*each) for each in zip(view.sheets, prefixes, marks, strict=True)]
    graphs = [
        graph_data(
            sheet.graph,
            prefix=prefix,
            name=sheet.name,
            lineage=sheet.lineage,
            parts=sheet.parts,
            profile=sheet.profile,
        )
        for sheet, prefix in zip(view.sheets, prefixes, strict=True)
    ]
    made: str = _template().render(
        parts=parts,
        comparison=comparison,
        data=Markup(as_script_text({"graphs": graphs, "comparison": comparison and comparison.data()})),
        policy=_policy(),
        script=Markup(_script()),
        styles=Markup(_styles()),
        state=Markup(_asset("state.css")),
        levels=sorted(Level, key=GRAVITY.__getitem__),
        most_links=_MOST_LINKS,
        release=release(),
    )
    return made


def _part(sheet: Sheet, prefix: str, marks: Mapping[int, str]) -> _Part:
    graph = sheet.graph
    owners = {id(finding): node for node in graph.nodes for finding in node.findings}
    findings = [*graph.findings, *(finding for node in graph.nodes for finding in node.findings)]
    told = sorted(findings, key=lambda finding: GRAVITY[finding.level])[:_MOST_FINDINGS]
    ends = [node for node in graph.nodes if node.kind in (LineKind.ROOT, LineKind.EXPRESSION)] or list(graph.nodes[:1])
    relations = sum(node.relation is not None for node in graph.nodes)
    columns = sum(len(node.columns) for node in ends)
    return _Part(
        prefix=prefix,
        name=sheet.name,
        about=sheet.about,
        svg=Markup(drawing(graph, figures=node_figures(graph, sheet.profile), marks=marks, prefix=prefix).svg),
        sizes=(*([counted(relations, "relation")] if relations else []), f"{counted(columns, 'column')} out")
        if graph.nodes
        else (),
        kinds=_kinds(graph),
        levels={level: sum(finding.level is level for finding in findings) for level in Level},
        groups=tuple(_group(found, owners) for found in groups(told)),
        untold=len(findings) - len(told),
        definitions=graph.definitions,
        footer=graph.footer,
        run=None if sheet.profile is None else summary(graph, sheet.profile),
    )


def _kinds(graph: Graph) -> tuple[tuple[Icon, str, int], ...]:
    """Return the kinds of relations of a plan, the most frequent first: an icon, the name, and how many there are."""
    names = [(node, escaped(node.title).partition("@")[0]) for node in graph.nodes if node.relation is not None]
    icons = {name: icon_of(node) for node, name in reversed(names)}
    return tuple((icons[name], name, count) for name, count in Counter(name for _, name in names).most_common())


def _group(found: OfClass, owners: Mapping[int, Node]) -> _Group:
    reasons = tuple(
        (reason, tuple(_message(text, findings, owners) for text, findings in reason.messages))
        for reason in found.reasons
    )
    count = sum(message.count for _, messages in reasons for message in messages)
    return _Group(level=found.level, code=found.code, title=found.title, count=count, reasons=reasons)


def _message(text: str, findings: Sequence[Finding], owners: Mapping[int, Node]) -> _Message:
    nodes = {owners[id(finding)].number: owners[id(finding)] for finding in findings if id(finding) in owners}
    return _Message(text=text, count=len(findings), nodes=tuple(nodes.values()))


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("pyspark_substrait.render"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["shown"] = _shown
    environment.filters["plain"] = escaped
    environment.filters["counted"] = counted
    return environment.get_template("page.html.j2")


def _shown(text: str) -> Markup:
    """Return text in which every character is visible, and right-to-left parts don't reorder the rest."""
    return Markup("").join(
        Markup("<bdi>{}</bdi>").format(part) if apart else escaped_markup(part) for part, apart in pieces(text)
    )


@cache
def _script() -> str:
    """Return all scripts as one, in a scope of its own."""
    texts = [_asset(f"{name}.js") for name in _SCRIPTS]
    return "\n".join(["(() => {", '"use strict";', *texts, "})();"])


@cache
def _styles() -> str:
    """Return all styles of the page, without those of its drawings."""
    return "\n".join((_asset("page.css"), _asset("compare.css")))


@cache
def _asset(name: str) -> str:
    return files("pyspark_substrait.render").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _policy() -> str:
    """Return the content security policy: the page's own script and styles, and images that it makes itself."""
    styles = " ".join(_fingerprint(text) for text in (_styles(), _asset("state.css"), style()))
    rules = (
        "default-src 'none'",
        f"script-src {_fingerprint(_script())}",
        f"style-src {styles}",
        "img-src data: blob:",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return "; ".join(rules)


def _fingerprint(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

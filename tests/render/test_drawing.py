"""A drawing has all of a plan, where it belongs, and nothing else; whatever the plan's names are."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

import pyspark_substrait as ps
from pyspark_substrait.documents import as_document
from pyspark_substrait.model.plan import ExtendedExpression, Plan, RelRoot
from pyspark_substrait.model.relations import Cross, Filter, Join, JoinType, Project, Relation, RelCommon, Set, SetOp
from pyspark_substrait.model.types import I32, Boolean, String
from pyspark_substrait.render.drawing import Drawing, NodeFigures, drawing, short_number
from pyspark_substrait.render.overview import overviews
from pyspark_substrait.render.svg_style import COLOURS
from pyspark_substrait.render.svg_symbols import FAMILIES
from pyspark_substrait.text.explain.columns import escaped
from pyspark_substrait.text.explain.graph import EdgeKind, Graph, graph
from tests.explain.plans import PLANS, VERSION, call, ref, table
from tests.explain.rarer_plans import rarer, unreadable
from tests.explain.test_never_fails import MUTATIONS
from tests.samples import EXTENDED_EXPRESSIONS
from tests.samples import PLANS as SAMPLES

TEXT = String(nullable=True)
NAMES = (
    *("<script>alert(1)</script>", "]]>", "<!--", "&lt;", "'\"", "</style></svg>", "x" * 5_000, "", " ", "a\nb\tc"),
    *(
        "\x00\x1b[31m",
        "\ud800",
        "\ufffe",
        "a\u202eb",
        "\u2028",
        "שלום",
        "مرحبا 5 = 6",
        "日本語" * 40,
        "e" + "\u0301" * 30,
        "👩‍👧",
    ),
)
#: All that a drawing may be made of.
TAGS = {"svg", "style", "defs", "marker", "clipPath", "g", "rect", "path", "circle", "line", "text", "tspan", "title"}


def of(*relations: Relation) -> Plan:
    roots = (RelRoot(input=each, names=tuple(f"n{at}" for at in range(len(each.schema.types)))) for each in relations)
    return Plan(version=VERSION, relations=tuple(roots))


def hostile() -> Plan:
    read = table(NAMES[0], **dict.fromkeys(NAMES, TEXT))
    condition = call(
        "and", *(ref(Boolean(), position) for position in range(len(NAMES))), type=Boolean(), urn="boolean"
    )
    made = call("concat", ref(TEXT, 6), ref(TEXT, 15), type=TEXT, urn="string")
    return of(Project(input=Filter(input=read, condition=condition), expressions=(made,)), read)


def wide(columns: int = 5_000) -> Plan:
    read = table("wide", **{f"column_{position}": I32() for position in range(columns)})
    return of(Filter(input=read, condition=call("gt", ref(I32(), 4_321), ref(I32(), 17), type=Boolean())))


BY_HAND: dict[str, Plan | ExtendedExpression] = {
    **{name: make() for name, make in PLANS.items()},
    **{make.__name__: make() for make in (rarer, unreadable, hostile, wide)},
}


def parsed(drawn: Drawing) -> Element:
    root = ElementTree.fromstring(drawn.document.encode())
    for element in root.iter():
        element.tag = element.tag.removeprefix("{http://www.w3.org/2000/svg}")
    return root


def having(root: Element, name: str) -> list[Element]:
    return [element for element in root.iter() if name in element.attrib]


def positions(listed: str) -> Iterator[int]:
    for part in filter(None, listed.split(",")):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def texts(root: Element, kind: str) -> list[str]:
    return [element.text or "" for element in root.iter("text") if element.attrib.get("class") == kind]


def ends(path: str) -> tuple[tuple[float, float], tuple[float, float]]:
    """Where a path begins and ends: ``M1,2C…`` or ``M1,2H3``."""
    numbers = [float(text) for text in re.findall(r"-?[\d.]+", path)]
    return (numbers[0], numbers[1]), ((numbers[2], numbers[1]) if "H" in path else (numbers[-2], numbers[-1]))


def check(plan: Graph, **options: Any) -> Element:
    """What holds for every drawing."""
    drawn = drawing(plan, **options)
    root = parsed(drawn)
    assert {element.tag for element in root.iter()} <= TAGS
    assert not [name for element in root.iter() for name in element.attrib if name.startswith("on") or "href" in name]
    for element in root.iter():
        shown = re.sub("[\u2068\u2069\n]", "", element.text or "")  # what keeps right-to-left text apart isn't shown
        assert element.tag == "style" or shown.isprintable()
    cards = {int(card.attrib["data-node"]): card for card in root.iterfind("g[@class='nodes']/g")}
    assert sorted(cards) == [node.number for node in plan.nodes]
    places = {number: [float(card.attrib[f"data-{name}"]) for name in "xywh"] for number, card in cards.items()}
    for (ax, ay, aw, ah), (bx, by, bw, bh) in combinations(places.values(), 2):
        assert ax + aw <= bx or bx + bw <= ax or ay + ah <= by or by + bh <= ay
    ports = set()
    for node in plan.nodes:
        rows = [tuple(map(int, row.attrib["data-port"].split(":"))) for row in having(cards[node.number], "data-port")]
        assert {number for number, _ in rows} <= {node.number}
        hidden = [
            at for row in having(cards[node.number], "data-hidden") for at in positions(row.attrib["data-hidden"])
        ]
        assert sorted([*(at for _, at in rows), *hidden]) == [*range(len(node.columns))]
        ports.update(rows)
    assert ports == drawn.ports
    edges = root.findall("g[@class='edges']/g")
    told = Counter((edge.source, edge.target, f"edge {edge.kind.value}") for edge in plan.edges)
    assert told == Counter(
        (int(e.attrib["data-source"]), int(e.attrib["data-target"]), e.attrib["class"]) for e in edges
    )
    for edge in edges:
        line = edge.find("path[@class='line']")
        assert line is not None
        (x1, y1), (x2, y2) = ends(line.attrib["d"])
        sx, sy, sw, _ = places[int(edge.attrib["data-source"])]
        tx, ty, tw, _ = places[int(edge.attrib["data-target"])]
        outer = edge.attrib["class"] == "edge outer"
        assert (x1, x2) == pytest.approx((sx, tx + tw) if outer else (sx + sw, tx), abs=0.11)
        heights = [float(edge.attrib[name]) for name in ("data-y1", "data-y2")]
        assert [y1 - sy, y2 - ty] == pytest.approx(heights, abs=0.61)
        assert outer or x1 < x2
    return root


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("name", BY_HAND)
def test_everything_is_drawn_once_and_where_it_belongs(name: str, compact: bool) -> None:
    plan = graph(BY_HAND[name])
    root = check(plan, compact=compact, prefix="p-")
    frames = {int(frame.attrib["data-source"]) for frame in root.iterfind("g[@class='groups']/g")}
    assert frames == {edge.source for edge in plan.edges if edge.kind is EdgeKind.SUBQUERY}


def test_every_shared_plan_is_drawn(shared: Path) -> None:
    files = sorted(path for path in (shared / "plans").rglob("*") if path.suffix in (".json", ".pb"))
    assert len(files) >= 90
    for file in files:
        report = ps.validate(file)
        check(graph(report.document, places=report.places, findings=report.listed))


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__)
def test_however_a_plan_is_broken_it_is_drawn(mutate: Callable[[Any, random.Random], None]) -> None:
    documents = [*(SAMPLES | EXTENDED_EXPRESSIONS).items()]
    for name, document in documents[MUTATIONS.index(mutate) :: len(MUTATIONS)]:
        message = as_document(document, deep=False).to_message()
        mutate(message, random.Random(name))
        report = ps.validate(message)
        check(graph(report.document, places=report.places, findings=report.listed))


@pytest.mark.parametrize("name", BY_HAND)
def test_an_overview_has_each_node_once_with_its_name(name: str) -> None:
    plan = graph(BY_HAND[name])
    for overview in overviews(plan):
        layout = overview.layout
        assert len(layout.boxes) == len(overview.texts) == len(plan.nodes)
        assert len(layout.routes) == len(plan.edges)
        for a, b in combinations(layout.boxes, 2):
            assert a.right <= b.x or b.right <= a.x or a.bottom <= b.y or b.bottom <= a.y
        for node, (said, note) in zip(plan.nodes, overview.texts, strict=True):
            assert (said + note).isprintable()
            # a read without a second line has the name of its table; what is cut ends with …
            whole = escaped(node.title) + " ".join(map(escaped, node.properties))
            assert said.removesuffix("…") in whole
            assert said or not whole


def test_what_a_card_says() -> None:
    root = check(graph(BY_HAND["tutorial"]))
    titles = [node.title for node in graph(BY_HAND["tutorial"]).nodes]
    assert texts(root, "title") == titles
    aggregate = root.find(f"g[@class='nodes']/g[@data-node='{titles.index('Aggregate')}']")
    assert aggregate is not None
    assert aggregate.attrib["class"] == "node k-aggregate"
    (row,) = [row for row in having(aggregate, "data-port") if row.attrib["class"] == "column new"]
    assert texts(row, "name") == ["$2"]
    assert texts(row, "made")[0].startswith("= sum(")


def test_columns_that_are_used_are_shown_before_others() -> None:
    root = check(graph(BY_HAND["wide"]))
    read = root.find("g[@class='nodes']/g[@data-node='2']")
    assert read is not None
    shown = [row.attrib["data-port"] for row in having(read, "data-port")]
    assert shown == [*(f"2:{at}" for at in range(8)), "2:17", "2:4321"]
    assert texts(read, "count") == ["+ 4,990 more"]
    passing = root.find("g[@class='nodes']/g[@data-node='1']")
    assert passing is not None
    assert texts(passing, "count") == ["same 5,000 columns"]
    assert having(passing, "data-hidden")[0].attrib["data-hidden"] == "0-4999"


ONE, TWO = table("one", id=I32(), name_=TEXT), table("two", id=I32(), name_=TEXT)
EQUAL = call("equal", ref(I32(), 0), ref(I32(), 2), type=Boolean())
SWAPPED = RelCommon(emit=(1, 0))


@pytest.mark.parametrize(
    ("relation", "said"),
    [
        (Filter(input=ONE, condition=EQUAL), "same 2 columns"),
        (Filter(input=ONE, condition=EQUAL, common=SWAPPED), ""),
        (Filter(input=ONE, condition=EQUAL, common=RelCommon(emit=(0, 1))), "same 2 columns"),
        (Filter(input=ONE, condition=EQUAL, common=RelCommon(emit=(0,))), ""),
        (Project(input=ONE, expressions=(ref(TEXT, 1),)), ""),
        (Cross(left=ONE, right=TWO), "2 + 2 columns"),
        (Cross(left=ONE, right=TWO, common=RelCommon(emit=(2, 3, 0, 1))), ""),
        (Join(left=ONE, right=TWO, type=JoinType.INNER, expression=EQUAL), "2 + 2 columns"),
        (Join(left=ONE, right=TWO, type=JoinType.LEFT, expression=EQUAL), ""),  # the right id may be null
        (Join(left=ONE, right=TWO, type=JoinType.LEFT_SEMI, expression=EQUAL), "the left 2 columns"),
        (Join(left=ONE, right=TWO, type=JoinType.RIGHT_ANTI, expression=EQUAL), "the right 2 columns"),
        (Set(members=(ONE, TWO), op=SetOp.UNION_ALL), "same 2 columns"),
    ],
)
def test_columns_that_pass_a_relation_unchanged_are_counted(relation: Relation, said: str) -> None:
    root = check(graph(of(relation)), compact=True)
    card = root.find("g[@class='nodes']/g[@data-node='1']")
    assert card is not None
    assert texts(card, "count") == ([said] if said else [])


def test_each_edge_tells_its_columns_and_types() -> None:
    plan = graph(BY_HAND["tutorial"])
    root = check(plan)
    for edge in root.iterfind("g[@class='edges']/g"):
        told = (edge.findtext("title") or "").split("\n")[1:]
        columns = plan.nodes[int(edge.attrib["data-source"])].columns
        assert told == [f"{column.label}: {column.type}" for column in columns]


def test_what_a_run_and_a_comparison_tell() -> None:
    plan = graph(BY_HAND["tutorial"])
    figures = {
        1: NodeFigures(rows=12, time_share=0.004, note="together with the join"),
        2: NodeFigures(rows=1_540_000, time_share=0.62, basis="estimated"),
        3: NodeFigures(rows=0, time_share=0.2),
    }
    root = check(plan, figures=figures, marks={4: "added", 5: "changed"})
    names = {
        card.attrib["data-node"]: card.attrib["class"].split()[2:] for card in root.iterfind("g[@class='nodes']/g")
    }
    expected: dict[str, list[str]] = {str(node.number): [] for node in plan.nodes}
    assert names == {**expected, "2": ["hot"], "3": ["warm"], "4": ["m-added"], "5": ["m-changed"]}
    assert sorted(texts(root, "percent")) == ["20 %", "62 %", "<1 %"]
    edges = {edge.attrib["data-source"]: edge for edge in root.iterfind("g[@class='edges']/g")}
    assert {number: texts(edge, "rows") for number, edge in edges.items() if texts(edge, "rows")} == {
        "1": ["12"],
        "2": ["~1.5 M"],
        "3": ["0"],
    }
    widths = {number: line.attrib.get("stroke-width") for number, edge in edges.items() for line in edge[1:2]}
    assert float(widths["3"] or 0) < float(widths["1"] or 0) < float(widths["2"] or 0)
    card = root.find("g[@class='nodes']/g[@data-node='1']")
    assert card is not None and "together with the join" in (card.findtext("title") or "")
    bars = [bar for bar in root.iter("rect") if bar.attrib["class"] in ("track", "share")]
    parts = [
        float(share.attrib["width"]) / float(track.attrib["width"])
        for track, share in zip(bars[::2], bars[1::2], strict=True)
    ]
    assert parts[1:] == pytest.approx([0.62, 0.2], abs=0.005)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *((0, "0"), (7, "7"), (999, "999"), (1_000, "1 k"), (1_540, "1.5 k"), (9_940, "9.9 k"), (9_960, "10 k")),
        *((12_345, "12 k"), (999_400, "999 k"), (999_600, "1 M"), (1.5e6, "1.5 M"), (6e9, "6 G"), (4.2e15, "4,200 T")),
    ],
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert short_number(value) == text


def test_two_drawings_can_stand_on_one_page() -> None:
    plan = graph(BY_HAND["hostile"])
    ids = []
    for prefix in ("", "a", "b-"):
        root = check(plan, prefix=prefix)
        mine = {element.attrib["id"] for element in having(root, "id")}
        assert len(mine) == len(having(root, "id"))
        assert all(name.startswith(prefix) for name in mine)
        for element in root.iter():
            for value in element.attrib.values():
                assert {*re.findall(r"url\(#(.*?)\)", value)} <= mine
        ids.append(mine)
    assert not any(one & other for one, other in combinations(ids, 2))


@pytest.mark.parametrize("options", [{"prefix": "1"}, {"prefix": '"'}, {"prefix": "a b"}, {"marks": {0: 'x" y'}}])
def test_what_goes_into_attributes_as_it_is_must_be_plain(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"must be a letter|is one of added, removed, changed"):
        drawing(graph(BY_HAND["tutorial"]), **options)


def test_a_source_that_is_no_plan_gives_an_empty_drawing() -> None:
    root = check(graph(None))
    assert texts(root, "title") == ["There are no relations to draw"]


def test_a_plan_is_drawn_the_same_in_another_process() -> None:
    code = "from tests.render.test_drawing import *; print(ascii(drawing(graph(rarer())).document))"
    drawn = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert drawn[0] == drawn[1] == f"{drawing(graph(rarer())).document!a}\n".encode()


def luminance(colour: str) -> float:
    """Of a colour, as the Web Content Accessibility Guidelines define it."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_contrast(theme: int) -> None:
    def contrast(one: str, other: str) -> float:
        low, high = sorted((luminance(COLOURS[one][theme]), luminance(COLOURS[other][theme])))
        return (high + 0.05) / (low + 0.05)

    grounds = ("card", "sunk", "ground", "frame-ground", "hover")
    marked = ("added-ground", "removed-ground", "changed-ground")
    texts = [(text, ground) for text in ("ink", "quiet") for ground in (*grounds, *marked)]
    texts += [("error", "error-ground"), ("warning", "warning-ground"), ("error", "card"), ("hot", "card")]
    lines = [(name, "card") for name in (*FAMILIES, "added", "removed", "changed", "warm", "select")]
    lines += [(name, ground) for name in ("edge", "frame") for ground in ("ground", "frame-ground")]
    assert not {pair: round(contrast(*pair), 2) for pair in texts if contrast(*pair) < 4.5}
    assert not {pair: round(contrast(*pair), 2) for pair in lines if contrast(*pair) < 3}

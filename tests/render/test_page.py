"""The page and its data, without a browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import CliRunner

import pyspark_substrait as ps
from pyspark_substrait.cli import main
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.render.node_help import kind_of
from pyspark_substrait.render.view import View
from pyspark_substrait.text.explain.graph import Graph
from tests.explain.faulty_plans import FAULTY
from tests.render.plans import TUTORIAL, by_hand, chain, hostile, large


def data(view: View) -> list[dict[str, Any]]:
    """What the script gets, of each plan."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', view.to_html(), re.DOTALL)
    assert found is not None
    graphs: list[dict[str, Any]] = json.loads(found[1])["graphs"]
    return graphs


def paths(told: dict[str, Any]) -> Iterator[str | None]:
    """The path of each node, as `graph.js` puts it together."""
    for node in told["nodes"]:
        parts, here = [], node["path"]
        while here is not None:
            parts.append(here[1])
            here = told["nodes"][here[0]]["path"] if here[0] >= 0 else None
        yield "".join(reversed(parts)) or None


def columns(told: dict[str, Any], number: int) -> list[tuple[str, str]]:
    given = told["nodes"][number]["columns"]
    return columns(told, given) if isinstance(given, int) else [(column[0], column[1]) for column in given]


def every_plan() -> dict[str, Any]:
    faulty = {f"faulty {name}": plan() for name, plan in FAULTY.items()}
    return {**by_hand(), **faulty, "large": large(60), "deep": chain(400)}


EVERY_PLAN = every_plan()


@pytest.mark.parametrize("name", EVERY_PLAN)
def test_the_data_says_what_the_graph_says(name: str) -> None:
    view = ps.view(EVERY_PLAN[name])
    graph: Graph = view.sheets[0].graph
    [told] = data(view)
    assert [*paths(told)] == [node.path for node in graph.nodes]
    for node in graph.nodes:
        assert columns(told, node.number) == [(column.label, column.type) for column in node.columns]
        emitted = told["nodes"][node.number].get("emit")
        assert (None if emitted is None else tuple(emitted)) == node.emit
    found = [*told["findings"], *(finding for node in told["nodes"] for finding in node.get("findings", ()))]
    assert len(found) == len(graph.findings) + sum(len(node.findings) for node in graph.nodes)


def test_the_page_of_a_deep_plan_grows_with_its_depth() -> None:
    """Not with the square of it: paths are told from the node above."""
    small, large = (len(ps.view(chain(depth)).to_html()) for depth in (100, 400))
    assert large < 4.5 * small


def test_parts_of_the_message_stand_once() -> None:
    view = ps.view(large(60))
    [told] = data(view)
    assert all("json" in node for node in told["nodes"])
    texts = [node["json"] for node in told["nodes"]]
    whole = json.loads(ps.load(large(60)).to_json())
    assert sum(text.count('"read"') for text in texts) == json.dumps(whole).count('"read"')
    assert sum(text.count('"namedTable"') for text in texts) == json.dumps(whole).count('"namedTable"')


def test_the_page_may_run_its_own_script_only() -> None:
    text = ps.view(TUTORIAL).to_html()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    rules = dict(rule.strip().partition(" ")[::2] for rule in policy[1].replace("&#39;", "'").split(";"))
    assert rules["default-src"] == "'none'"
    assert set(rules) == {"default-src", "script-src", "style-src", "img-src", "base-uri", "form-action"}
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert [_fingerprint(script) for script in scripts] == [rules["script-src"]]
    assert "unsafe" not in policy[1]
    assert rules["img-src"] == "data: blob:"


def _fingerprint(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@pytest.mark.parametrize("number", range(len(hostile())))
def test_names_cannot_end_what_they_stand_in(number: int) -> None:
    plain = _counts(ps.view(TUTORIAL).to_html())
    text = ps.view(hostile()[number]).to_html()
    assert _counts(text) == plain
    text.encode("utf-8")
    for character in ("\u202e", "\u2066", "\x1b", "\x07"):
        assert character not in text


def _counts(text: str) -> list[int]:
    return [
        len(re.findall(tag, text, re.IGNORECASE))
        for tag in ("<script", "</script", "<style", "</style", "<img", "<iframe", "<!--")
    ]


@pytest.mark.parametrize("relation", get_args(Relation), ids=lambda relation: relation.__name__)
def test_every_kind_is_explained(relation: type[Relation]) -> None:
    node = ps.view(TUTORIAL).sheets[0].graph.nodes[0]
    about = kind_of(replace(node, relation=object.__new__(relation)))
    assert about.sentence.endswith(".")
    assert re.fullmatch(r"relations/(logical_relations|physical_relations|basics)", about.page)


def test_a_view_is_saved_whole_or_not_at_all(tmp_path: Path) -> None:
    view = ps.view(TUTORIAL)
    view.save(tmp_path / "plan.html")
    assert (tmp_path / "plan.html").read_text(encoding="utf-8") == view.to_html()
    view.save(tmp_path / "plan.SVG")
    assert (tmp_path / "plan.SVG").read_text(encoding="utf-8").startswith("<?xml")
    with pytest.raises(SubstraitError, match=r"A page is \.html"):
        view.save(tmp_path / "plan.pdf")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(SubstraitError, match="cannot be written"):
        view.save(tmp_path / "folder.html")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["folder.html", "plan.SVG", "plan.html"]
    with pytest.raises(SubstraitError, match="two plans"):
        ps.view(TUTORIAL, TUTORIAL).to_svg()


def test_a_report_is_shown_with_its_findings() -> None:
    report = ps.validate(TUTORIAL, "spark", name="tutorial")
    [sheet] = ps.view(report).sheets
    assert sheet.name == "tutorial"
    assert len(sheet.graph.findings) + sum(len(node.findings) for node in sheet.graph.nodes) == len(report)
    [told] = data(ps.view(report))
    assert all("json" in node for node in told["nodes"])


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke(main, ["view", str(TUTORIAL)])
    assert (run.exit_code, run.stdout, run.stderr) == (0, "", "written to plan.2023.html\n")
    assert Path("plan.2023.html").read_text(encoding="utf-8") == ps.view(TUTORIAL).to_html()
    run = CliRunner().invoke(main, ["view", "-", "-o", "drawing.svg"], input=TUTORIAL.read_bytes())
    assert run.exit_code == 0
    assert Path("drawing.svg").read_text(encoding="utf-8") == ps.view(TUTORIAL).to_svg()
    for wrong, what, code in (
        ([str(TUTORIAL), "-o", str(TUTORIAL)], "is one of the plans", 2),
        (["-", "-"], "only one of the plans", 2),
        ([str(TUTORIAL), "--root", "0"], "need --profile", 2),
        ([str(TUTORIAL), "-o", "plan.pdf"], "a drawing is .svg", 1),
    ):
        run = CliRunner().invoke(main, ["view", *wrong], input=b"")
        assert run.exit_code == code
        assert what in run.stderr

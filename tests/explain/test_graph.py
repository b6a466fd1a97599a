"""The graph of a plan holds the plan: every relation once, every input, every subquery, every outer reference."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import pyspark_substrait as ps
from pyspark_substrait.documents import ExtendedExpression, Plan, as_document
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.relations import DetachedRel, Reference, Relation
from pyspark_substrait.model.walk import expression_children, relation_expressions, subquery_relation
from pyspark_substrait.text.explain.graph import EdgeKind, Graph, graph
from pyspark_substrait.text.explain.lines import LineKind
from tests.explain.faulty_plans import FAULTY
from tests.explain.plans import PLANS as BY_HAND
from tests.samples import EXTENDED_EXPRESSIONS, PLANS

SAMPLES = {**PLANS, "subqueries": BY_HAND["subqueries"]()}
READ_BACK = {name: ps.load(as_document(plan, deep=False).to_message()) for name, plan in SAMPLES.items()}


def relations_of(document: Plan) -> list[Relation]:
    """Every relation, found without the display: inputs, subqueries, and subtrees that stand elsewhere."""
    found: dict[int, Relation] = {}
    pending = [tree.input if isinstance(tree, RelRoot) else tree for tree in document.relations]
    expressions: list[Expression] = [named.lambda_ for named in document.named_lambdas]
    while pending or expressions:
        while expressions:
            expression = expressions.pop()
            expressions.extend(expression_children(expression))
            query = subquery_relation(expression)
            pending.extend([] if query is None else [query])
        while pending:
            relation = pending.pop()
            if id(relation) not in found:
                found[id(relation)] = relation
                pending.extend(relation.inputs)
                expressions.extend(relation_expressions(relation))
    return list(found.values())


@pytest.mark.parametrize("name", [name for name, plan in READ_BACK.items() if isinstance(plan, Plan)])
def test_every_relation_and_every_input_is_there(name: str) -> None:
    document = READ_BACK[name]
    assert isinstance(document, Plan)
    made = graph(document)
    shown = [node.relation for node in made.nodes if node.kind is LineKind.RELATION]
    assert Counter(map(id, shown)) == Counter(map(id, relations_of(document)))
    number = {id(node.relation): node.number for node in made.nodes if node.relation is not None}
    inputs = [edge for edge in made.edges if edge.kind is EdgeKind.INPUT]
    for node in made.nodes:
        relation = node.relation
        match relation:
            case None:
                continue
            case DetachedRel(relation=inner):
                expected = [inner]
            case Reference():
                expected = [relation.subtree] if id(relation.subtree) in number else []
            case _:
                expected = [*relation.inputs]
        assert [edge.source for edge in inputs if edge.target == node.number] == [number[id(item)] for item in expected]
        if not node.left_open:
            assert len(node.columns) == len(relation.schema.types)
            assert len(node.direct) == len(relation.direct_schema.types)


def test_subqueries_and_outer_references() -> None:
    """Three queries refer to the record of the filter around: one step out, two steps out, and by its anchor."""
    made = graph(READ_BACK["subqueries"])
    titles = {node.number: node.title for node in made.nodes}
    queries = [(titles[edge.target], edge.label) for edge in made.edges if edge.kind is EdgeKind.SUBQUERY]
    outer = [(titles[edge.source], titles[edge.target]) for edge in made.edges if edge.kind is EdgeKind.OUTER]
    around = "Filter@7"
    assert queries == [(around, "#1"), (around, "#2"), ("Filter", "#5"), (around, "#3"), (around, "#4")]
    assert outer == [(around, "Filter")] * 3


@pytest.mark.parametrize("name", EXTENDED_EXPRESSIONS)
def test_expressions_are_over_their_schema(name: str) -> None:
    document = ps.load(as_document(EXTENDED_EXPRESSIONS[name], deep=False).to_message())
    assert isinstance(document, ExtendedExpression)
    made = graph(document)
    schemas = [node for node in made.nodes if node.kind is LineKind.SCHEMA]
    expressions = [node.number for node in made.nodes if node.kind is LineKind.EXPRESSION]
    assert [len(node.columns) for node in schemas] == [len(document.base_schema.struct.types)]
    assert len(expressions) == len(document.referred_expr)
    joined = [edge.target for edge in made.edges if edge.source == schemas[0].number and edge.kind is EdgeKind.INPUT]
    assert joined == expressions


@pytest.mark.parametrize("name", FAULTY)
def test_each_finding_is_at_one_place(name: str) -> None:
    report = ps.validate(FAULTY[name]())
    made = graph(report.document, places=report.places, findings=report.listed)
    at_nodes = [(node, finding) for node in made.nodes for finding in node.findings]
    assert Counter([finding for _, finding in at_nodes] + [*made.findings]) == Counter(report.listed)
    for node, finding in at_nodes:
        assert node.path is not None and finding.path.startswith(node.path)


def test_shared_plans(shared: Path) -> None:
    """A shared subtree is there once; each plan has as many nodes as relations."""
    files = sorted(path for path in (shared / "plans").rglob("*") if path.suffix in (".json", ".pb"))
    for file in (file for file in files if file.name != "queries.json"):
        document = ps.load(file)
        assert isinstance(document, Plan)
        made = graph(document)
        assert len(relations_of(document)) == sum(node.kind is LineKind.RELATION for node in made.nodes), file.name
        assert _reachable(made) == len(made.nodes), file.name


def _reachable(made: Graph) -> int:
    """How many nodes the roots are made of."""
    below: dict[int, list[int]] = {}
    for edge in made.edges:
        if edge.kind is not EdgeKind.OUTER:
            below.setdefault(edge.target, []).append(edge.source)
    seen, pending = set[int](), [node.number for node in made.nodes if node.kind is LineKind.ROOT]
    while pending:
        number = pending.pop()
        if number not in seen:
            seen.add(number)
            pending.extend(below.get(number, ()))
    return len(seen)

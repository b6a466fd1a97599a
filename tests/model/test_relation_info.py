"""Each relation says of itself what people are told of its kind."""

from __future__ import annotations

from typing import get_args

import pytest

from pyspark_substrait.model.relations import BrokenRelation, DetachedRel, Relation
from pyspark_substrait.render.node_help import kind_of
from pyspark_substrait.render.svg_symbols import FAMILIES, icon_of
from pyspark_substrait.text.explain.graph import graph
from tests.samples.plans import plan
from tests.samples.relations import RELATIONS


@pytest.mark.parametrize("relation", get_args(Relation), ids=lambda relation: relation.__name__)
def test_a_relation_describes_its_kind(relation: type[Relation]) -> None:
    assert relation.info.summary.endswith(".")
    assert relation.info.page.startswith("relations/")
    assert bool(relation.info.term) is (relation not in (DetachedRel, BrokenRelation))


def test_every_relation_has_an_icon() -> None:
    for name, sample in RELATIONS.items():
        for node in graph(plan(sample)).nodes:
            assert icon_of(node).family in FAMILIES, name
            assert kind_of(node).sentence, name

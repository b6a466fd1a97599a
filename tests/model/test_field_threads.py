"""Functions made of the fields of nodes are whole, however many threads ask for them first."""

from __future__ import annotations

import sys
import threading

import pytest

from pyspark_substrait.model import fields
from pyspark_substrait.model import relations as r
from pyspark_substrait.model.relations import Relation
from tests.samples.relations import RELATIONS

NODES: list[Relation] = [*RELATIONS.values()]


@pytest.mark.parametrize("attempt", range(20))
def test_the_first_ones_get_all_expressions(attempt: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [fields.EXPRESSIONS[node.__class__](node) for node in NODES]
    assert any(isinstance(node, r.Aggregate) and found for node, found in zip(NODES, expected, strict=True))
    monkeypatch.setattr(fields, "_part_fields", {})
    monkeypatch.setattr(fields, "_FIELDS", type(fields.EXPRESSIONS)(fields._shapes))  # type: ignore[call-arg]
    new = type(fields.EXPRESSIONS)(fields.EXPRESSIONS.make)  # type: ignore[attr-defined,call-arg]
    barrier, wrong = threading.Barrier(8), list[str]()

    def ask(first: int) -> None:
        barrier.wait()
        for number in range(len(NODES)):
            at = (first * 7 + number) % len(NODES)
            if new[NODES[at].__class__](NODES[at]) != expected[at]:
                wrong.append(NODES[at].__class__.__name__)

    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(usual)
    assert wrong == []

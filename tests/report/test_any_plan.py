"""Every form takes every plan, however broken; no form loses a finding."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import pyspark_substrait as ps
from pyspark_substrait import samples
from pyspark_substrait.analysis.report import json_schema

ROOT = Path(__file__).resolve().parent.parent.parent
PLANS = [samples.plan_2023(), samples.expression()]
STRANGE: tuple[Any, ...] = (None, 0, -1, 2**70, True, "", "\u202e<b>", [], {}, [{}], {"x": 1}, "NaN", 0.5)


def parts(value: Any) -> Iterator[tuple[Any, Any]]:
    """All members of objects and arrays: what they are in, and the key."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(pairs):
        yield value, key
        yield from parts(inner)


def mutated(plan: Any, seed: int) -> Any:
    """A plan with some of its parts left out, exchanged or replaced."""
    chance, made = random.Random(seed), copy.deepcopy(plan)
    for _ in range(chance.randint(1, 4)):
        holder, key = chance.choice(list(parts(made)))
        match chance.randint(0, 2):
            case 0:
                del holder[key]
            case 1:
                holder[key] = copy.deepcopy(chance.choice(STRANGE))
            case _:
                other, at = chance.choice(list(parts(made)))
                holder[key] = copy.deepcopy(other[at])
        if not made:
            return made
    return made


@pytest.mark.parametrize("file", PLANS, ids=lambda file: file.stem)
@pytest.mark.parametrize("seed", range(40))
def test_no_form_loses_a_finding(file: Path, seed: int) -> None:
    source = json.dumps(mutated(json.loads(file.read_text(encoding="utf-8")), seed))
    found = ps.validate(source)
    value = json.loads(found.to_json())
    jsonschema.validate(value, json_schema())
    assert len(value["findings"]) == len(found)
    assert len(json.loads(found.to_sarif())["runs"][0]["results"]) == len(found)
    assert len(re.findall(r'id="p1-f\d+-row"', found.to_html())) == len(found)
    text = found.to_text()
    for finding in found:
        assert f"{finding.level.value} {finding.code:04d}" in text

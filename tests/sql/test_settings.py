"""The settings that functions' texts need, beside what is in the texts."""

from __future__ import annotations

import re

import pytest

from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.sql import functions
from pyspark_substrait.sql.compiler.types import MAP_SETTINGS, MATCH_SETTINGS, PATTERN_SETTINGS
from pyspark_substrait.sql.functions.catalog import combinations, example

REGISTRY = Registry.default()
URNS = [urn for urn in (*REGISTRY.urns(), *REGISTRY.own_urns()) if functions.table(urn) is not None]

#: Spark's functions that put keys into a map, which may be equal; but not a map of options, whose keys are literals
MAKES_MAPS = re.compile(r"\b(map\((?!')|(map_from_entries|map_from_arrays|map_concat|str_to_map|transform_keys)\()")
MATCHES = re.compile(r"\bexists\(")
HAS_PATTERN = re.compile(r"\bdate_format\(|'timestamp(NTZ)?Format'")


@pytest.mark.parametrize("urn", URNS)
def test_rows_name_the_settings_of_their_functions(urn: str) -> None:
    table, wrong = functions.table(urn), []
    for definition in (made for name in REGISTRY.function_names(urn) for made in REGISTRY.overloads(urn, name)):
        for combination in combinations(definition, table):
            try:
                text = example(combination, REGISTRY)
            except SubstraitError:
                continue
            assert combination.row is not None
            needed = {
                **(MAP_SETTINGS if MAKES_MAPS.search(text) else {}),
                **(MATCH_SETTINGS if MATCHES.search(text) else {}),
                **(PATTERN_SETTINGS if HAS_PATTERN.search(text) else {}),
            }
            if combination.row.settings != needed:
                wrong.append((definition.key, text))
    assert not wrong

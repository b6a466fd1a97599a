"""The list of the classes of Catalyst, beside the tables."""

from __future__ import annotations

from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.sql.functions import table
from pyspark_substrait.sql.functions.catalyst_classes import CLASSES


def test_the_list_has_the_classes_of_the_tables() -> None:
    found = {}
    for urn in (*Registry.default().urns(), *Registry.own_urns()):
        known = table(urn)
        found[urn] = {form.name for row in (() if known is None else known.rows) for form in row.catalyst}
    assert {urn: set(names) for urn, names in CLASSES.items()} == {urn: names for urn, names in found.items() if names}
    assert list(CLASSES) == [urn for urn, names in found.items() if names], "the order decides between rows"

"""The dialect of Spark is valid under the official schema, and true in both directions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import pytest
import yaml

import pyspark_substrait as ps
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.extensions.definitions import FunctionDefinition
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.dialect_terms import Term, expression_term, relation_terms
from pyspark_substrait.model.relations.generate import GENERATE
from pyspark_substrait.proto import generates, write_targets
from pyspark_substrait.sql import functions
from pyspark_substrait.sql.dialect_samples import expression_samples, relation_samples
from pyspark_substrait.sql.functions.catalog import combinations, example
from tests.official import official

REGISTRY = Registry.default()
KINDS = {
    "scalar": "supported_scalar_functions",
    "aggregate": "supported_aggregate_functions",
    "window": "supported_window_functions",
}


@cache
def dialect() -> dict[str, Any]:
    return ps.dialect()


def schema() -> dict[str, Any]:
    text = (official("dialects") / "dialect_schema.yaml").read_text("utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def test_it_is_valid_under_the_official_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator(schema()).validate(dialect())


def test_every_kind_that_the_schema_knows_has_a_sample() -> None:
    """So that what isn't listed was refused, and not forgotten."""
    properties = schema()["properties"]
    relations = set(properties["supported_relations"]["items"]["oneOf"][0]["enum"])
    expressions = set(properties["supported_expressions"]["items"]["oneOf"][0]["enum"])
    terms = [term for node in relation_samples() for term in relation_terms(node)]
    assert {term.name for term in terms} == relations | {"EXTENSION_LEAF", "EXTENSION_SINGLE", "EXTENSION_MULTI"}
    of_expressions = [expression_term(node) for node in expression_samples()]
    assert {term.name for term in of_expressions if term is not None} == expressions
    for term in _options_of_the_schema():
        assert term in terms or term in of_expressions, term


def _options_of_the_schema() -> Iterator[Term]:
    """Every value of every list of an entry, as the schema spells them."""
    definitions = schema()["definitions"]
    for entry in definitions.values():
        fields = entry.get("properties", {})
        name = fields.get("relation", fields.get("expression", {})).get("const")
        for key, field in fields.items():
            listed = definitions[field["$ref"].rpartition("/")[2]] if "$ref" in field else field
            items = listed.get("items", {})
            values = items.get("enum") or items.get("oneOf", [{}])[0].get("enum", ())
            yield from (Term(name, key, value) for value in values if name)


def test_all_relations_and_expressions_but_those_of_others_run() -> None:
    """The compiler runs every kind that the specification has; tables and relations of others need a handler."""
    listed = {item if isinstance(item, str) else item["relation"]: item for item in dialect()["supported_relations"]}
    assert "EXTENSION_TABLE" not in listed["READ"]["read_types"]
    assert "EXTENSION_LEAF" not in listed and "EXTENSION_MULTI" not in listed
    assert listed["EXTENSION_SINGLE"]["message_types"] == [GENERATE]
    missing = {item["type"] for item in dialect()["supported_types"]} ^ {
        entry["properties"]["type"]["const"]
        for name, entry in schema()["definitions"].items()
        if name.startswith("type_") and "type" in entry.get("properties", {})
    }
    assert missing == {"FUNC", "UNBOUND"}


def test_registered_handlers_are_listed() -> None:
    assert (
        "type.googleapis.com/own.Table"
        in ps.capabilities(
            registry=REGISTRY.with_table("type.googleapis.com/own.Table", rows=lambda detail, spark: None)
        ).advanced_extension_type_urls
    )


def entries() -> dict[tuple[str, str, str, tuple[tuple[str, str], ...]], None]:
    """Every function with every set of options that is listed: URN, kind, key, options."""
    urns = dialect()["dependencies"]
    return {
        (
            urns[entry["source"]],
            kind,
            f"{entry['name']}:{signature}",
            tuple(sorted(entry.get("required_options", {}).items())),
        ): None
        for kind, section in KINDS.items()
        for entry in dialect()[section]
        for signature in entry["supported_impls"]
    }


def overloads() -> Iterator[FunctionDefinition]:
    for urn in (*REGISTRY.urns(), *Registry.own_urns()):
        for name in REGISTRY.function_names(urn):
            yield from REGISTRY.overloads(urn, name)


def test_what_the_catalog_says_of_all_combinations_is_what_is_listed() -> None:
    listed = entries()
    for definition in overloads():
        table = functions.table(definition.urn)
        for combination in combinations(definition, table):
            name = (definition.urn, definition.kind, definition.key, tuple(sorted(combination.options.items())))
            runs = combination.row is not None and combination.refusal is None
            assert (name in listed) == runs, name


def test_no_function_is_listed_that_no_extension_has() -> None:
    known: set[tuple[str, str, str, tuple[tuple[str, str], ...]]] = set()
    for definition in overloads():
        for values in product(*((None, *values) for _, values in definition.options)):
            options = {n: v for (n, _), v in zip(definition.options, values, strict=True) if v is not None}
            known.add((definition.urn, definition.kind, definition.key, tuple(sorted(options.items()))))
    assert set(entries()) <= known


def test_what_is_listed_has_a_text_and_what_is_not_has_none() -> None:
    """A text with columns as arguments; some functions take only constants there, which no dialect can say."""
    listed, without_text = entries(), []
    for definition in overloads():
        if not definition.urn.startswith("extension:io.substrait:"):
            continue
        table = functions.table(definition.urn)
        assert table is not None
        for combination in combinations(definition, table):
            name = (definition.urn, definition.kind, definition.key, tuple(sorted(combination.options.items())))
            try:
                example(combination, REGISTRY)
            except SubstraitError as error:
                if name in listed:
                    without_text.append((definition.key, error.message))
            else:
                assert name in listed
    reasons = {message for _, message in without_text}
    assert all("constant" in reason or "literal" in reason or "NaN" in reason for reason in reasons), reasons


def test_an_option_that_is_refused_is_not_listed() -> None:
    """docs/functions.md: the rounding of a standard deviation can't be chosen."""
    key = ("extension:io.substrait:functions_arithmetic", "aggregate", "std_dev:fp64")
    assert (*key, (("rounding", "TIE_TO_EVEN"),)) in entries()
    assert (*key, (("rounding", "CEILING"),)) not in entries()
    assert (*key, ()) in entries()


# capabilities ---------------------------------------------------------------------------------------------------------


def test_capabilities_name_what_the_dialect_lists() -> None:
    found = ps.capabilities()
    listed = {(urn, key) for urn, _, key, _ in entries()}
    assert listed == {(item.urn, key) for item in found.simple_extensions for key in item.function_keys}
    own = {
        (dialect()["dependencies"][entry["source"]], entry["name"])
        for entry in dialect()["supported_types"]
        if entry["type"] == "USER_DEFINED"
    }
    assert own == {(item.urn, key) for item in found.simple_extensions for key in item.type_keys}


def test_capabilities_name_the_releases_and_the_messages() -> None:
    found = ps.capabilities()
    assert (found.substrait_versions[0], found.written) == ("0.10.0", "0.108.0")
    assert len(found.substrait_versions) == 99
    for url in found.advanced_extension_type_urls:
        assert write_targets.pool_of(url) is not None or generates.pool_of(url) is not None

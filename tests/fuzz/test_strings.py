"""Strings of plans stay names and values in Spark SQL; what fails to quote them is found."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from fuzz import strings
from fuzz.spark_tokens import Tokens
from fuzz.strings import HOSTILE, MARK, Tally, corpus, places, string_fields, tried
from pyspark_substrait.documents import as_document
from pyspark_substrait.proto.messages import current
from pyspark_substrait.spark.session import is_connect
from pyspark_substrait.sql.compiler import literals, names
from pyspark_substrait.sql.fragment import Name
from tests.samples import PLANS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLAN: Any = current().named("Plan")
#: only statements that change something have them (tests/spark/writing/test_identifiers.py), or no statement has
NEVER_IN_A_QUERY = {
    "substrait.ExchangeRel.ExchangeTarget.uri",
    "substrait.Expression.MaskExpression.MapSelect.MapKeyExpression.map_key_expression",
    "substrait.NamedObjectWrite.names",
    "substrait.NamedTable.names",
}
#: patterns, formats and separators, which are taken apart; and aliases that Spark can't have, which are left out
INTERPRETED = {
    "substrait.Expression.Literal.string",
    "substrait.Expression.Literal.fixed_char",
    "substrait.Expression.Literal.VarChar.value",
    "substrait.RelCommon.Hint.alias",
    "substrait.RelCommon.Hint.output_names",
    # what stands before a `#` or `?` of a URN is not part of it
    "substrait.extensions.SimpleExtensionURN.urn",
}


@pytest.fixture(scope="module")
def tokens(spark: SparkSession) -> Tokens:
    if is_connect(spark):
        pytest.skip("Spark's lexer is in the driver")
    return Tokens(spark)


@pytest.mark.sweep
def test_the_samples_have_every_string_field_of_every_message() -> None:
    found = {place.field for node in PLANS.values() for place in places(as_document(node, deep=False).to_message())}
    assert found == set(string_fields(PLAN.DESCRIPTOR))
    in_queries = {place.field for message in corpus().values() for place in places(PLAN.FromString(message))}
    assert found - in_queries == NEVER_IN_A_QUERY


@pytest.mark.sweep
def test_strings_stay_names_and_values(tokens: Tokens) -> None:
    tally = Tally()
    for seed in range(60):
        tried(seed, tokens, tally)
    assert tally.findings == []
    assert tally.fields("interpreted") <= INTERPRETED
    assert tally.of("same") > 500


@pytest.mark.sweep(sample=0)
def test_strings_of_many_plans_stay_names_and_values(tokens: Tokens) -> None:
    tally = Tally()
    for seed in range(400):
        tried(seed, tokens, tally)
    assert tally.findings == []
    assert tally.fields("interpreted") <= INTERPRETED


PLANTED: dict[str, tuple[Any, str, Callable[[str], Any]]] = {
    "a name with its quotes as they are": (names, "quoted", lambda name: Name(f"`{name}`")),
    "a literal with its quotes as they are": (literals, "string_literal", lambda text: f"'{text}'"),
    "a literal with its backslashes as they are": (
        literals,
        "string_literal",
        lambda text: "'" + text.replace("'", "\\'") + "'",
    ),
    "a name with braces of a variable": (names, "quoted", lambda name: Name("`" + name.replace("`", "``") + "`")),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_planted_faults_are_found(fault: str, tokens: Tokens, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each module keeps the function that it imported: the fault is in all of them."""
    corpus()
    module, function, planted = PLANTED[fault]
    right = getattr(module, function)
    for other in list(sys.modules.values()):
        if getattr(other, "__name__", "").startswith(("pyspark_substrait.", "fuzz.")) and (
            vars(other).get(function) is right
        ):
            monkeypatch.setattr(other, function, planted)
    tally, seed = Tally(), 0
    while not tally.findings and seed < 300:
        tried(seed, tokens, tally)
        seed += 1
    assert tally.findings


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (f"SELECT 'a{MARK}'", ""),
        (f"SELECT `a``{MARK}` /*+ COALESCE(1) */", ""),
        (f"SELECT 'a' {MARK} '", "token"),
        (f"SELECT 1 -- {MARK}", "comment"),
        ("SELECT 1; SELECT 2", "semicolon"),
        ("SELECT '${env:HOME}'", "variable"),
    ],
)
def test_what_escapes_is_seen(text: str, what: str, tokens: Tokens) -> None:
    found = tokens.escaped_from(text, MARK)
    assert what in found and bool(found) == bool(what)


def test_tokens_are_compared_with_the_values_in_them(tokens: Tokens) -> None:
    assert tokens.parsed("SELECT 'a'").startswith("Project")
    assert tokens.difference("SELECT 'x'", r"SELECT 'it\'s'", "x", "it's") == ""
    assert tokens.difference("SELECT `x`", "SELECT `a``b`", "x", "a`b") == ""
    assert tokens.difference("SELECT 'x'", "SELECT 'y'", "x", "z")
    assert tokens.difference("SELECT 'x'", "SELECT 'x' + 1", "x", "y")
    assert strings.HOSTILE is HOSTILE and len(set(HOSTILE)) == len(HOSTILE)

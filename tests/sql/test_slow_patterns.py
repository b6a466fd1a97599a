"""Patterns that may take very long, told from those that don't.

What is slow is known from the literature on denial of service by regular expressions (CWE-1333, OWASP's examples) or
counted by hand: ways to share a text between the loops of a pattern.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import pytest

import pyspark_substrait as ps
from fuzz.strings import corpus, places
from pyspark_substrait.api.loading import loaded_plan
from pyspark_substrait.errors import SubstraitError, UnsupportedPlanError
from pyspark_substrait.model.expressions import DynamicParameter, Expression
from pyspark_substrait.proto.messages import current
from pyspark_substrait.sql.compiler.statement import statement
from pyspark_substrait.sql.functions.regexp.backtracking import TOO_LARGE, slowness
from pyspark_substrait.sql.functions.regexp.judging import slow_in
from pyspark_substrait.sql.functions.regexp.parser import Flags, parsed
from tests.spark.plans import TEXT, call, col, plan, project, stored, text, where

PLAN: Any = current().named("Plan")
DOUBLING = (
    r"(.*,){15}X",
    r"(a+)+b",
    r"^(a+)+$",
    r"(a*)*b",
    r"(x*y*)*z",
    r"(a|a)*b",
    r"(a|aa)+$",
    r"(a|ab|b)*c",
    r"(\w|\d)*!",
    r"^(\w+\s?)*$",
    r"([a-zA-Z]+)*x",
    r"(.+)+\.",
    r"(.*a){12}b",
    r"(([a-z])+.)+[A-Z]([a-z])+$",
    r"^([a-zA-Z0-9])(([\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}[.]{1}[a-z]{2,3}))$",
    r"(?i)(a|A)*b",
    r"(?=(a+)+b)a",
)
CUBES = (r".*.*.*=", r".*a.*b.*c", r"^\s*(.*?)\s*$", r"a*a*a*b", r"\d+\d*\d+x")
QUICK = (
    r"",
    r"abc",
    r"\d+\.\d+",
    r"(\w+\s)*x",
    r"([^,]*,)*X",
    r"([^,]*,){15}X",
    r"(\d{1,3}\.){3}\d{1,3}",
    r".*foo.*",
    r".*a.*b.*",
    r"^\d{4}-\d{2}-\d{2}$",
    r"(foo|bar)+x",
    r"(foo|foobar)*x",
    r"^[\w.+-]+@[\w-]+\.[\w.-]+$",
    r"https?://([^/]+)/(.*)",
    r"a{2,1000}b",
    r"(\w+)\s+(\w+)",
    r"[A-Z][a-z]*( [A-Z][a-z]*)*",
    r"(ab?)*c",
    r"(a?){3}b",
    r"(?:a*,)*b",
    r'"([^"\\]|\\.)*"',
)


@pytest.mark.parametrize("pattern", DOUBLING)
def test_time_that_doubles(pattern: str) -> None:
    assert "may double" in str(slowness(parsed(pattern, Flags())))


@pytest.mark.parametrize("pattern", CUBES)
def test_loops_in_a_row(pattern: str) -> None:
    assert "to the power of 3" in str(slowness(parsed(pattern, Flags())))


@pytest.mark.parametrize("pattern", QUICK)
def test_patterns_that_are_quick(pattern: str) -> None:
    assert slowness(parsed(pattern, Flags())) is None


def test_an_optional_part_many_times() -> None:
    assert "can be empty" in str(slowness(parsed("(a?){30}a{30}", Flags())))


def test_the_dot_matches_line_ends_if_the_flag_says_so() -> None:
    pattern = r"(.*\n){20}X"
    assert slowness(parsed(pattern, Flags())) is None
    assert slowness(parsed(pattern, Flags(all=True))) is not None


def test_what_is_too_large_is_said_to_be() -> None:
    words = "|".join(f"word{number}" for number in range(100))
    assert slowness(parsed(f"({words})*x", Flags())) == TOO_LARGE


T = stored("t", {"s": TEXT, "p": TEXT})
SLOW = "(.*,){15}X"


def refused(expression: Expression, **options: Any) -> str:
    """The error for a projection when slow patterns are refused; empty if it isn't refused."""
    made = plan(project(T, expression))
    statement(made, ps.Registry.default(), **options)
    try:
        statement(made, ps.Registry.default(), refuse_slow_patterns=True, **options)
    except UnsupportedPlanError as error:
        return str(error)
    return ""


def test_slow_patterns_are_refused_where_that_is_asked_for() -> None:
    s = col(T, 0)
    said = refused(call("regexp_replace", s, text(SLOW), text("z")))
    assert (
        said.startswith("relations[0].root.input.project.expressions[0]") and "arguments[1]: the pattern '(.*,)" in said
    )
    assert "may double" in said and "refuse_slow_patterns" in said
    assert "power of 3" in refused(call("like", s, text("%a%b%c")))
    assert "'(a+)+b'" in refused(call("upper", call("regexp_replace", s, text("(a+)+b"), text("z"))))
    assert "computed" in refused(call("like", s, col(T, 1)))
    assert refused(call("regexp_replace", s, text("([^,]*,){15}X"), text("z"))) == ""
    assert refused(call("like", s, text("%special%requests%"))) == ""
    assert refused(call("upper", s)) == ""


#: a pattern as the second argument of a function of Spark that takes regular expressions
_PASSED_ON = re.compile(r"(?:RLIKE |(?:split|regexp_\w+)\([^,]*, )'[^']*\(a\|a\)\*b")


@pytest.mark.sweep
def test_no_function_passes_a_slow_pattern_on() -> None:
    """Whatever the function and its extension: what Spark gets as a regular expression has been judged."""
    registry, passed_on, missed = ps.Registry.default(), set(), []
    for name, message in corpus().items():
        if not name.startswith("call "):
            continue
        for position, place in enumerate(places(PLAN.FromString(message))):
            if "Literal" not in place.field:
                continue
            made = PLAN.FromString(message)
            list(places(made))[position].replace("(a|a)*b")
            given = loaded_plan(made.SerializeToString(), None)
            with suppress(SubstraitError):
                if not _PASSED_ON.search(statement(given, registry).text):
                    continue
                passed_on.add(name.split()[1])
                statement(given, registry, refuse_slow_patterns=True)
                missed.append(name)
    assert missed == []
    assert passed_on >= {"functions_string", "functions_spark_string", "functions_datafusion"}


def test_patterns_of_like_in_every_extension() -> None:
    s, like = col(T, 0), "%a%b%c%d"
    for urn, names in (
        ("functions_spark_string", ("ilike",)),
        ("functions_datafusion", ("like", "ilike", "like_match", "like_not_match", "like_imatch", "like_not_imatch")),
    ):
        for name in names:
            texts = (text(like), text("\\")) if urn == "functions_spark_string" else (text(like),)
            found = call(name, s, *texts, urn=f"extension:pyspark_substrait:{urn}")
            assert "power of" in refused(found), name


def test_the_value_of_a_parameter_is_looked_at() -> None:
    expression = call("regexp_replace", col(T, 0), DynamicParameter(type=TEXT, parameter_reference=1), text("z"))
    assert "may double" in refused(expression, parameters={1: SLOW})
    assert refused(expression, parameters={1: ","}) == ""


def test_slow_patterns_of_a_plan_are_named() -> None:
    slow = call("regexp_replace", col(T, 0), text(SLOW), text("z"))
    quick = call("regexp_replace", col(T, 0), text("a+"), text("z"))
    made = plan(project(where(T, call("equal", slow, col(T, 1))), quick))
    assert slow_in(made) == (SLOW,)

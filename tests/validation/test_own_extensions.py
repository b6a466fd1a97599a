"""A plan keeps the extensions that it was loaded with: checks, and what runs it, know them without being told again."""

from __future__ import annotations

from pathlib import Path

import pyspark_substrait as ps

WORDS = "extension:org.example:words"
REGISTRY = (
    ps.Registry.default()
    .with_yaml(Path(__file__).parents[2] / "examples" / "functions" / "words.yaml")
    .with_function(WORDS, "shout", sql="concat(upper({text}), '!')")
)
TEXT = f"""substrait plan 0.108.0 by "a test"

extension "{WORDS}"
  functions shout:str

Root[loud]
  Project[shout:str($0) -> string? => $1]
    Read[words(word: string?)]
"""


def test_a_plan_keeps_its_extensions() -> None:
    plan, bare = ps.load(TEXT, registry=REGISTRY), ps.load(TEXT)
    assert [finding.code for finding in ps.validate(bare) if finding.level is not ps.Level.INFO] == [
        ps.Code.EXPRESSION_FUNCTION_UNAVAILABLE
    ]
    assert not ps.validate(plan, "spark").findings
    assert "warning" not in ps.explain(plan)
    assert ps.diff(plan, plan).same
    assert "concat(upper(" in ps.to_sql(plan)
    assert plan == bare

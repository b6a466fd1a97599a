"""docs/linting.md is what the rules say, docs/upgrading.md names every rule of the upgrade."""

from __future__ import annotations

from pathlib import Path

from pyspark_substrait.analysis.lint import RULES
from pyspark_substrait.analysis.lint.page import markdown
from pyspark_substrait.analysis.validation.notes import UPGRADES

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_of_rules_is_up_to_date() -> None:
    made = markdown()
    assert (DOCS / "linting.md").read_text(encoding="utf-8") == made, "make it anew: pyspark-substrait lint --rules"
    assert all(f"`{rule.name}`" in made for rule in RULES if rule.code > 9000)


def test_the_page_of_upgrades_names_every_rule() -> None:
    text = (DOCS / "upgrading.md").read_text(encoding="utf-8")
    for name, row in UPGRADES.items():
        assert f"| `{name}` | {row.why} |" in text, name

"""The page of the documentation that lists the rules."""

from __future__ import annotations

from pyspark_substrait.analysis.lint import RULES
from pyspark_substrait.analysis.lint.selection import REWRITTEN, SUBJECTS
from pyspark_substrait.codes import Level, class_of

__all__ = ["markdown"]

_HEAD = """# Lint plans

`lint` finds redundant, slow and suspicious parts of a valid plan, and fixes many of them: parts without effect,
deprecated names, likely mistakes. It needs no Spark. ([`validate`](validating.md) checks whether a plan is valid.)

    pyspark-substrait lint plan.json                     list the findings, and exit with 1 if there are any
    pyspark-substrait lint plan.json --fix               apply the fixes that keep the meaning, and list them
    pyspark-substrait lint plan.pb --fix -o better.pb    write the fixed plan to another file
    pyspark-substrait lint plans/*.pb --select double-negation,9003 --format json
    pyspark-substrait lint --rules                       print this page

In Python, `substrait.lint(plan)` returns a report as `validate` does, and `substrait.fixed(plan)` returns the fixed
plan and the findings that it fixes.

A fix never changes the meaning of a plan: the records stay the same, and so do the types and nullability of every
column, nulls and NaNs included. A condition that may fail is neither moved nor removed. Each finding states whether it
has a fix. A relation with more than its columns (an anchor that an outer reference names, an extension, a saved
computation) stays where it is.

## Rules
"""

_ALSO = """
## Also found by validate

`validate` reports these classes too. Saving a plan fixes those that have a fix.

| number | class | fix |
|---|---|---|
"""


def markdown() -> str:
    """Return the page, generated from the docstrings of the rules."""
    lines = [_HEAD]
    for code in sorted({rule.code for rule in RULES if rule.code not in SUBJECTS}):
        known = [rule for rule in RULES if rule.code == code]
        fix = ", with a fix" if any(rule.fixes for rule in known) else ""
        level = "a warning" if class_of(code).level is Level.WARNING else "an info"
        lines.append(f"### {int(code)}: {', '.join(f'`{rule.name}`' for rule in known)}\n")
        lines.append(f"{level.capitalize()}{fix}. {' '.join(rule.explanation for rule in known)}\n")
    rows = []
    for code in sorted(SUBJECTS):
        fixes = code in REWRITTEN or any(rule.fixes for rule in RULES if rule.code == code)
        rows.append(f"| {code:04d} | {class_of(code).title} | {'yes' if fixes else ''} |\n")
    return "\n".join(lines).rstrip("\n") + "\n" + _ALSO + "".join(rows)

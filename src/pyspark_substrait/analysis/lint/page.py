"""The page of the documentation that lists the rules."""

from __future__ import annotations

from pyspark_substrait.analysis.lint import RULES
from pyspark_substrait.analysis.lint.selection import REWRITTEN, SUBJECTS
from pyspark_substrait.codes import Level, class_of

__all__ = ["markdown"]

_HEAD = """# Linting

`pyspark-substrait lint PLAN...` lists redundant, slow and suspicious parts of a valid plan: parts without effect,
deprecated names, likely mistakes. It needs no Spark.

    pyspark-substrait lint plan.json                     list the findings, and exit with 1 if there are any
    pyspark-substrait lint plan.json --fix               apply the fixes that keep the meaning, and list them
    pyspark-substrait lint plan.pb --fix -o better.pb    write the better plan somewhere else
    pyspark-substrait lint plans/*.pb --select double-negation,9003 --format json
    pyspark-substrait lint --rules                       print this page

In Python: `substrait.lint(plan)` gives a report as `validate` does, and `substrait.fixed(plan)` the
better plan and the findings that it fixes.

A fix is made only where the plan means the same afterwards: the same records, the same types and nullability of every
column, nulls and NaNs included; a condition that may fail is not moved or left out. The advice of a finding states
whether there is a fix. A relation stays where it is when it has something beside its columns: an anchor that an outer
reference names, an extension, a saved computation.

`validate` checks whether a plan is valid.

## Rules
"""

_ALSO = """
## What validation finds as well

`validate` reports these classes as well. Saving a plan fixes those that have a fix.

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

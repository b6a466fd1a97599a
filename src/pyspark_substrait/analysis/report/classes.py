"""The classes of findings, for people: a page of the documentation, and a text on each class."""

from __future__ import annotations

from itertools import groupby

from pyspark_substrait.analysis.report.facts import page_address
from pyspark_substrait.codes import Class, Code, classes

__all__ = ["listed", "markdown", "shown"]

_LINT = 9
_GROUPS = {
    0: ("General", "Findings of no other group, and those about plans of other releases."),
    1: ("Messages", "Fields and enumerations of the protobuf messages."),
    2: ("Extensions", "The files with the definitions of functions and types."),
    3: ("Links", "Anchors, names, and what they refer to."),
    4: ("Types", "Types, names of fields, nullability, schemas."),
    5: ("Relations", "Missing and contradictory parts of relations."),
    6: ("Expressions", "Literals, references, calls and their arguments, subqueries, lambdas, casts."),
    7: ("Redundancies", "Parts of a plan that could be left out."),
    8: ("Targets", "Constructs that an engine does not support. Found only if a target is given."),
    _LINT: (
        "Lint",
        "Redundant, slow or suspicious parts of valid plans. Only `lint` finds them; [linting.md](linting.md) has the\n"
        "reasons and the automatic fixes.",
    ),
}

_HEAD = """\
# Findings

Every class of findings that `validate` and `lint` report. The number of a class never changes its meaning;
[validating.md](validating.md) explains numbers and levels. A single finding may have another level than its class.
`pyspark-substrait findings NUMBER` prints a row of these tables.

`pyspark-substrait findings --markdown` generates this page.
"""


def markdown() -> str:
    """The page that lists all classes."""
    parts = [_HEAD]
    for group, members in groupby(classes(), key=lambda item: item.code // 1000):
        title, about = _GROUPS[group]
        parts.append(f"\n## {group}000: {title}\n\n{about}\n")
        reasons = group != _LINT  # its own page has them
        parts.append("\n| code | name | level | what |" + (" why |\n|---" if reasons else "\n") + "|---|---|---|---|\n")
        parts.extend(_row(item, reasons) for item in members)
    return "".join(parts)


def _row(item: Class, reasons: bool) -> str:
    row = f"| {item.code:04d} | `{item.code.name}` | {item.level.value} | {item.title} |"
    if not reasons:
        return f"{row}\n"
    address = page_address(item)
    page = f" ([specification]({address}))" if address else ""
    why = item.why.replace("|", r"\|").replace("<", "&lt;")
    return f"{row} {why}{page} |\n"


def listed() -> str:
    """A line for each class."""
    width = max(len(item.level.value) for item in classes())
    return "\n".join(f"{item.code:04d}  {item.level.value:<{width}}  {item.title}" for item in classes())


def shown(code: Code) -> str:
    """Return everything that is known about a class, as text."""
    item = next(item for item in classes() if item.code == code)
    lines = [f"{item.code:04d} {item.code.name}, {item.level.value}: {item.title}", item.why, page_address(item)]
    return "\n".join(line for line in lines if line)

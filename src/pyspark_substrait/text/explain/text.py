"""The lines of a page as text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pyspark_substrait.codes import Code, Level
from pyspark_substrait.model.findings import Finding, Places
from pyspark_substrait.model.plan import ExtendedExpression, Plan
from pyspark_substrait.text.explain.columns import escaped
from pyspark_substrait.text.explain.folding import folded
from pyspark_substrait.text.explain.lines import Line
from pyspark_substrait.text.explain.page import page

__all__ = ["explain", "finding_text", "rendered"]

_INDENT = "  "
_DEEPEST = 30


def explain(
    plan: Plan | ExtendedExpression | None,
    *,
    width: int | None = None,
    types: bool = True,
    proto_paths: bool = False,
    places: Places | None = None,
    findings: Sequence[Finding] = (),
    name: str = "",
) -> str:
    """Return a plan as text for people: the lines of :func:`~pyspark_substrait.text.explain.page`, indented.

    Contradictions of the specification and findings are shown below their lines, in lines that start with ``!``.

    Args:
        plan: the document to show, as for ``page``; so are ``places``, ``findings``, ``types`` and ``name``.
        width: break lines that are longer than this many characters; None leaves them whole.
        proto_paths: whether to end the line of a relation, and of a finding, with its path in the plan.
    """
    lines = page(plan, places=places, findings=findings, types=types, name=name)
    return rendered(lines, width=width, proto_paths=proto_paths)


def rendered(lines: Iterable[Line], *, width: int | None = None, proto_paths: bool = False) -> str:
    """Return lines as text, with findings below: errors in full, others only at the first one of their class.

    Later ones of that class are shown by level and code only, as most warnings of a plan say the same many times.
    """
    texts: list[str] = []
    explained: set[Code] = set()
    for line in lines:
        depth = line.depth
        indent = _INDENT * depth if depth <= _DEEPEST else f"{_INDENT * _DEEPEST}({depth}) "
        path = _path(line.path, "") if proto_paths else ""
        texts.extend(folded(indent, line.text + path, width))
        again: dict[str, None] = {}
        for finding in line.findings:
            if finding.level is not Level.ERROR and finding.code in explained:
                again[f"{finding.level.value} {finding.code:04d}"] = None
                continue
            explained.add(finding.code)
            path = _path(finding.path, line.path) if proto_paths else ""
            texts.extend(folded(indent, finding_text(finding, line.path) + path, width))
        if again:
            texts.extend(folded(indent, f"! {', '.join(again)}: as above", width))
    return "\n".join(texts)


def finding_text(finding: Finding, known: str | None = None) -> str:
    """Return a finding as text below the line that it belongs to.

    ``known`` is the path of that line; for a finding in one of its parts, like an expression, the text names the part.
    """
    below = finding.path.removeprefix(known) if known is not None and finding.path.startswith(known) else ""
    item = _ITEM.match(below)
    place = "" if item is None else f" in {item[1]}"
    advice = f". {finding.fix}" if finding.fix else ""
    return escaped(f"! {finding.level.value} {finding.code:04d}{place}: {finding.what}{advice}")


_ITEM = re.compile(r"\.?(\w+\[\d+\])")


def _path(path: str | None, known: str | None) -> str:
    """Return a path to append to a line, unless it is known."""
    return f"  @ {escaped(path)}" if path and path != known else ""

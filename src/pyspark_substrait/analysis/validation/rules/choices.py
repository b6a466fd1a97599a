"""Lists and switches. Spec: expressions/specialized_record_expressions."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark_substrait.codes import Code, Level
from pyspark_substrait.model.expressions import MultiOrList, SingularOrList, SwitchExpression
from pyspark_substrait.model.findings import Finding
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.repeats import repeats
from pyspark_substrait.model.types import Unbound

__all__ = ["options", "switch"]


def options(list: SingularOrList | MultiOrList, path: Path) -> Iterator[Finding]:
    """Check for a list without options, and for repeated options."""
    place: Path = (path, "singular_or_list" if isinstance(list, SingularOrList) else "multi_or_list")
    if not list.options:
        what = "the list has no options, so nothing is in it"
        yield Finding.of(Code.PROTO_MISSING_FIELD, (place, "options"), what, level=Level.WARNING)
    seen: set[object] = set()
    for index, option in enumerate(list.options):
        if not isinstance(option, Literal) or option.value.__hash__ is None:
            continue
        if (key := (option.type, option.value)) in seen:
            what = "the option stands in the list twice"
            yield Finding.of(Code.REDUNDANT_FIELD, ((place, "options"), index), what, fix="Leave one of them")
        seen.add(key)


def switch(expression: SwitchExpression, path: Path) -> Iterator[Finding]:
    """Check for repeated values."""
    for index, first in repeats([clause.if_ for clause in expression.ifs]):
        if not isinstance(expression.ifs[index].if_.type, Unbound):
            what = f"the value stands in clause {first} already, so this one is never reached"
            place: Path = ((((path, "switch_expression"), "ifs"), index), "if")
            yield Finding.of(Code.REDUNDANT_FIELD, place, what, level=Level.WARNING, fix="Leave one of the two")

"""Plans around one relation or one expression, and what is found in them."""

from __future__ import annotations

from typing import Any

from pyspark_substrait import validate
from pyspark_substrait.codes import Level
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.relations import Project, Relation
from pyspark_substrait.proto import write
from tests.samples.expressions import table
from tests.samples.plans import plan, rooted

__all__ = ["EXPRESSION", "RELATION", "around", "around_relation", "findings", "only"]

#: where an expression and a relation stand in these plans
EXPRESSION = "relations[0].root.input.project.expressions[0]"
RELATION = "relations[0].root.input"


def around_relation(relation: Relation) -> Any:
    """The message of a plan whose result is a relation."""
    return write.plan(plan(rooted(relation)))


def around(expression: Expression) -> Any:
    """The message of a plan that computes one expression over the samples' table."""
    return around_relation(Project(input=table(), expressions=(expression,)))


def findings(message: Any) -> list[tuple[int, Level, str]]:
    """The class, level and path of what is found, but for what is merely worth knowing about declarations."""
    noise = (4, 6, 7, 1004, 1006, 7001, 7002, 7003, 7004, 7005)
    return [(int(item.code), item.level, item.path) for item in validate(message) if int(item.code) not in noise]


def only(message: Any) -> tuple[int, Level, str, str]:
    """Class, level, path and text of the one thing that is found."""
    (found,) = findings(message)
    text = next(item.what for item in validate(message) if item.path == found[2] and int(item.code) == found[0])
    return (*found, text)

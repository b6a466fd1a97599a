"""Upgrade old plans to the current release: one rule per breaking change, chosen by the fields that are present.

The rules work in place on messages that have the fields of every release (:mod:`pyspark_substrait.proto.legacy`).
A rule is a function of a message, its path and the plan's context; :data:`_RULES` says which message it is for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from google.protobuf.descriptor import FieldDescriptor

from pyspark_substrait.model.notes import Note
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.plan import CURRENT_VERSION
from pyspark_substrait.proto.depth import is_repeated
from pyspark_substrait.proto.upgrade import calls, relations, types
from pyspark_substrait.proto.upgrade.context import SETTLED_MINOR, Context
from pyspark_substrait.proto.upgrade.extensions import drop_replaced, upgrade_extensions

__all__ = [
    "FIRST_VERSION",
    "Context",
    "drop_replaced",
    "needs_walk",
    "stamp",
    "upgrade_messages",
    "upgrade_relations",
    "upgrade_top",
]

FIRST_VERSION = (0, 10, 0)
"""The oldest release of the specification whose plans are read."""

_PER_PLAN = 1

Rule = Callable[[Any, Path, Context], None]

_RULES: dict[str, Rule] = {
    "AggregateRel": relations.upgrade_aggregate,
    "FetchRel": relations.upgrade_fetch,
    "HashJoinRel": relations.upgrade_physical_join,
    "MergeJoinRel": relations.upgrade_physical_join,
    "ReadRel.VirtualTable": relations.upgrade_virtual_table,
    "ReadRel.LocalFiles.FileOrFiles": relations.upgrade_file,
    "Expression.ScalarFunction": calls.upgrade_call,
    "AggregateFunction": calls.upgrade_call,
    "Expression.WindowFunction": calls.upgrade_window_call,
    "ConsistentPartitionWindowRel.WindowRelFunction": calls.upgrade_window_relation_call,
    "Type": types.upgrade_type,
    "Expression.Literal": types.upgrade_literal,
    "Expression.Literal.IntervalDayToSecond": types.upgrade_interval_literal,
}

_ALL = frozenset(_RULES)
_WITHOUT_TYPES = _ALL - {"Type", "Expression.Literal", "Expression.Literal.IntervalDayToSecond"}
#: messages outside of expressions whose old forms can't be mistaken for anything current
_RELATIONS = frozenset({"AggregateRel", "FetchRel", "ReadRel.VirtualTable", "ReadRel.LocalFiles.FileOrFiles"})


def upgrade_top(plan: Any, notes: list[Note]) -> Context:
    """Upgrade the declarations of a plan: the extensions and the keys of their functions."""
    context = Context(plan=plan, version=_version(plan), notes=notes)
    upgrade_extensions(context)
    return context


def needs_walk(context: Context) -> bool:
    """Whether calls or types of a plan without removed fields may have to change."""
    return (
        context.older_than(SETTLED_MINOR)
        or bool(context.unknown_types)
        or any(
            function.edits
            or function.name == "strptime"
            or (function.name in ("std_dev", "variance") and context.older_than(88))
            for function in context.functions.values()
        )
    )


def upgrade_messages(context: Context, *, with_types: bool) -> None:
    """Apply the rules to every message of the plan; ``with_types`` false leaves types and literals alone."""
    _upgrade(context, _ALL if with_types else _WITHOUT_TYPES)


def upgrade_relations(context: Context) -> None:
    """Apply the rules for relations outside of subqueries. Expressions aren't visited."""
    _upgrade(context, _RELATIONS)


def _upgrade(context: Context, rules: frozenset[str]) -> None:
    """Apply rules, given by the names of their messages."""
    stack: list[tuple[Any, Path]] = [(context.plan, None)]
    pop = stack.pop
    while stack:
        message, path = pop()
        kind: Any = type(message)
        visit = _visit(kind, rules)
        if visit.rule is not None:
            visit.rule(message, path, context)
        if visit.choice is not None:
            name = message.WhichOneof(visit.choice)
            if name in visit.alternatives:
                stack.append((getattr(message, name), (path, name)))
            continue
        for name, repeated in visit.children:
            here = (path, name)
            if repeated:
                stack.extend([(each, (here, index)) for index, each in enumerate(getattr(message, name))][::-1])
            elif message.HasField(name):
                stack.append((getattr(message, name), here))


class _Visit(NamedTuple):
    """How messages of a class are visited.

    Args:
        rule: their rule.
        children: the fields that may contain further messages with rules, and whether these are repeated. The last one
            comes first, as the last pushed is the next visited.
        choice: the oneof of which all fields are, if one is; then ``alternatives`` are the names of ``children``.
    """

    rule: Rule | None
    children: tuple[tuple[str, bool], ...]
    choice: str | None
    alternatives: frozenset[str]


@cache
def _visit(kind: Any, rules: frozenset[str]) -> _Visit:
    """Return how messages of a class are visited when some rules are applied."""
    descriptor = kind.DESCRIPTOR
    children = [
        (field.name, is_repeated(field))
        for field in sorted(descriptor.fields, key=lambda field: field.number, reverse=True)
        if field.type == FieldDescriptor.TYPE_MESSAGE and field.message_type in _reaching(descriptor.file.pool, rules)
    ]
    choices = [each.name for each in descriptor.oneofs if children and len(each.fields) == len(descriptor.fields)]
    name = descriptor.full_name.removeprefix("substrait.")
    return _Visit(
        _RULES[name] if name in rules else None,
        tuple(children),
        choices[0] if choices else None,
        frozenset(name for name, _ in children),
    )


@cache
def _reaching(pool: Any, rules: frozenset[str]) -> frozenset[Any]:
    """Return the messages that may contain a message with a rule; inside expressions only for rules about them."""
    parents: dict[Any, set[Any]] = {}
    todo = [pool.FindMessageTypeByName(f"substrait.{kind}") for kind in ("Plan", "ExtendedExpression")]
    seen = set(todo)
    if rules is _RELATIONS:
        seen.add(pool.FindMessageTypeByName("substrait.Expression"))
    while todo:
        descriptor = todo.pop()
        for field in descriptor.fields:
            if field.type == FieldDescriptor.TYPE_MESSAGE:
                parents.setdefault(field.message_type, set()).add(descriptor)
                if field.message_type not in seen:
                    seen.add(field.message_type)
                    todo.append(field.message_type)
    reaching = {pool.FindMessageTypeByName(f"substrait.{name}") for name in rules}
    todo = list(reaching)
    while todo:
        for parent in parents.get(todo.pop(), ()):
            if parent not in reaching:
                reaching.add(parent)
                todo.append(parent)
    return frozenset(reaching)


def stamp(plan: Any, context: Context) -> None:
    """Set the current version and its required fields; keep the producer, and clear the git hash of the old version."""
    version = plan.version
    version.major_number, version.minor_number, version.patch_number = CURRENT_VERSION
    version.ClearField("git_hash")
    if plan.DESCRIPTOR.name == "Plan" and not plan.HasField("execution_behavior"):
        plan.execution_behavior.variable_eval_mode = _PER_PLAN
        if not context.older_than(87):
            context.note("execution-behavior", (None, "execution_behavior"), "missing", "PER_PLAN")


def _version(plan: Any) -> tuple[int, int, int] | None:
    if not plan.HasField("version"):
        return None
    version = plan.version
    numbers = (version.major_number, version.minor_number, version.patch_number)
    return numbers if any(numbers) else None

"""Rules, the context they are given, and their remarks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from pyspark_substrait.codes import Code, Level
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.expressions import ScalarFunction
from pyspark_substrait.model.plan import Plan
from pyspark_substrait.model.relations import Hint, Relation
from pyspark_substrait.model.relations.base import Names

__all__ = ["RULES", "Context", "Remark", "Rule", "SlowPatterns", "rule"]

#: a function from a call to the patterns in it that take very long for some texts, each with the reason
SlowPatterns: TypeAlias = Callable[[ScalarFunction], Iterable[tuple[str, str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The information that a rule has beside the node it checks.

    Args:
        registry: the extensions.
        slow_patterns: finds patterns that take very long.
        producer: the producer of the plan; some producers give an omitted field a meaning of their own.
        anchors: the ``rel_anchor`` of each relation that an outer reference names.
        names: the names of the columns that the expression at hand sees, as far as they have any.
    """

    registry: Registry
    slow_patterns: SlowPatterns
    producer: str = ""
    anchors: frozenset[int] = frozenset()
    names: Names = ()

    def replaceable(self, relation: Relation) -> bool:
        """Whether nothing but its columns would be lost if a relation were replaced by another one."""
        common = relation.common
        return (
            not relation.extensions
            and (common.rel_anchor is None or common.rel_anchor not in self.anchors)
            and (common.hint is None or _only_names(common.hint))
        )


def _only_names(hint: Hint) -> bool:
    return not (
        hint.constraint is not None
        or hint.advanced_extension is not None
        or hint.saved_computations
        or hint.loaded_computations
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """A remark of a rule about a node.

    Args:
        what: what is the case.
        fix: what to do about it.
        instead: an equivalent node about which the rule has no remark; None if there is no safe one.
        at: the part of the node that the remark is about; None for the node itself.
        level: the level, if it isn't that of the class.
    """

    what: str
    fix: str = ""
    instead: Any = None
    at: Any = None
    level: Level | None = None


Check: TypeAlias = Callable[[Any, Context], Iterator[Remark]]
_Function = TypeVar("_Function", bound=Callable[..., Iterator[Remark]])


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule: a function of a node, whose docstring explains it.

    Args:
        code: the class of its findings.
        nodes: the classes of nodes that it checks.
        check: the function.
        fixes: whether some of its remarks come with a replacement for the node.
    """

    code: Code
    nodes: tuple[type, ...]
    check: Check
    fixes: bool

    @property
    def name(self) -> str:
        """The rule's name, like ``double-negation``."""
        return self.check.__name__.replace("_", "-")

    @property
    def explanation(self) -> str:
        """The reason of the rule, in some sentences."""
        return " ".join((self.check.__doc__ or "").split())


@dataclass(slots=True)
class _Rules:
    """All rules, and the rules for each class of nodes."""

    all: list[Rule] = field(default_factory=list)
    by_node: dict[type, list[Rule]] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Rule]:
        return iter(sorted(self.all, key=lambda item: item.code))

    def of(self, node: object) -> list[Rule]:
        """Return the rules that check nodes of this class."""
        return self.by_node.get(type(node), [])

    @property
    def of_documents(self) -> list[Rule]:
        """The rules that check a plan or an extended expression as a whole."""
        return self.by_node.get(Plan, [])


RULES = _Rules()
"""The rules; importing ``analysis.lint.rules`` fills it."""


def rule(code: Code, *nodes: type, fixes: bool = False) -> Callable[[_Function], _Function]:
    """Return a decorator that makes a rule of a function."""

    def made(check: _Function) -> _Function:
        item = Rule(code=code, nodes=nodes, check=check, fixes=fixes)
        RULES.all.append(item)
        for node in nodes:
            RULES.by_node.setdefault(node, []).append(item)
        return check

    return made

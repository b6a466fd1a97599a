"""The top-level messages. Spec: serialization/basics, expressions/extended_expression."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from pyspark_substrait.model.expressions import AggregateFunction, Expression, NamedLambda
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.notes import Note
from pyspark_substrait.model.relations import AdvancedExtension, Relation
from pyspark_substrait.model.types import NamedStruct, Type

__all__ = [
    "CURRENT_VERSION",
    "PRODUCER",
    "DynamicParameterBinding",
    "ExpressionReference",
    "ExtendedExpression",
    "ExtensionDeclaration",
    "ExtensionKind",
    "Plan",
    "PlanRel",
    "RelRoot",
    "VariableEvaluationMode",
    "Version",
]

CURRENT_VERSION = (0, 108, 0)
"""The release of the specification that plans are upgraded to, and written in."""
PRODUCER = "pyspark-substrait"
"""The producer of the plans that this package makes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A release of Substrait, and who produced the plan."""

    major_number: int = 0
    minor_number: int = 0
    patch_number: int = 0
    git_hash: str = ""
    producer: str = ""

    @classmethod
    def current(cls, producer: str) -> Version:
        """Return the current release, for a plan of a producer."""
        major, minor, patch = CURRENT_VERSION
        return cls(major_number=major, minor_number=minor, patch_number=patch, producer=producer)

    def __str__(self) -> str:
        return f"{self.major_number}.{self.minor_number}.{self.patch_number}"


class ExtensionKind(Enum):
    """The kind of thing that an extension declaration declares."""

    __hash__ = object.__hash__  # not in Python code: it is looked up for each call in a plan

    TYPE = "type"
    TYPE_VARIATION = "type variation"
    FUNCTION = "function"


@dataclass(frozen=True, slots=True)
class ExtensionDeclaration:
    """A declared extension type, variation or function (by its signature) that nothing in the plan uses."""

    urn: str
    kind: ExtensionKind
    name: str


class VariableEvaluationMode(Enum):
    """The frequency of evaluation of execution context variables."""

    UNSPECIFIED = "unspecified"
    PER_PLAN = "per plan"
    PER_RECORD = "per record"


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamicParameterBinding:
    """The value of a dynamic parameter."""

    parameter_anchor: int
    value: Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class RelRoot:
    """A relation tree that gives a result, with the names of its columns, nested fields included, depth first."""

    input: Relation
    names: tuple[str, ...]


#: A relation tree of a plan: a result, or one for others to refer to.
PlanRel: TypeAlias = Relation | RelRoot


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A plan.

    Args:
        relations: one or more relation trees; references between them are bound already.
        version: the release whose format the plan is in. Reading upgrades, so this is the current one.
        unused_extensions: declarations that no part of the plan uses, kept so that nothing is lost.
        type_aliases: the aliased types, each a target of :class:`AliasedType`, or unused.
        original_version: the release the plan was written in, as it stated; None if it stated none.
        upgrades: the forms that were rewritten because the plan was of an older release.
        notes: the assumptions made where the plan is looser than the specification.

    The last three describe how the plan was read; they are ignored when two plans are compared.
    """

    relations: tuple[PlanRel, ...]
    version: Version = Version()
    unused_extensions: tuple[ExtensionDeclaration, ...] = ()
    unused_urns: tuple[str, ...] = ()
    advanced_extensions: AdvancedExtension | None = None
    expected_type_urls: tuple[str, ...] = ()
    parameter_bindings: tuple[DynamicParameterBinding, ...] = ()
    type_aliases: tuple[Type, ...] = ()
    execution_behavior: VariableEvaluationMode = VariableEvaluationMode.PER_PLAN
    named_lambdas: tuple[NamedLambda, ...] = ()
    original_version: str | None = field(default=None, compare=False)
    upgrades: tuple[Note, ...] = field(default=(), compare=False)
    notes: tuple[Note, ...] = field(default=(), compare=False)

    @property
    def trees(self) -> tuple[Relation, ...]:
        """The relation trees, in order; for a root, its input."""
        return tuple([tree.input if isinstance(tree, RelRoot) else tree for tree in self.relations])


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpressionReference:
    """One expression (or measure) of an extended expression, with the names of its output, depth first."""

    expr: Expression | AggregateFunction
    output_names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ExtendedExpression:
    """Expressions outside a plan, with the schema of the record they are evaluated on."""

    referred_expr: tuple[ExpressionReference, ...]
    base_schema: NamedStruct
    version: Version = Version()
    unused_extensions: tuple[ExtensionDeclaration, ...] = ()
    unused_urns: tuple[str, ...] = ()
    advanced_extensions: AdvancedExtension | None = None
    expected_type_urls: tuple[str, ...] = ()
    original_version: str | None = field(default=None, compare=False)
    upgrades: tuple[Note, ...] = field(default=(), compare=False)
    notes: tuple[Note, ...] = field(default=(), compare=False)

"""Relations that the specification leaves to others. Spec: relations/user_defined_relations.

Their schema is known only to who made them: it is open, and so is what is built on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations.base import RelationBase
from pyspark_substrait.model.types import OpenStruct, Struct

if TYPE_CHECKING:
    from pyspark_substrait.model.relations import Relation

__all__ = ["ExtensionLeaf", "ExtensionMulti", "ExtensionSingle"]


@dataclass(frozen=True, kw_only=True)
class ExtensionLeaf(RelationBase):
    """A relation without inputs."""

    detail: AnyMessage | None = None

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return ()

    @cached_property
    def direct_schema(self) -> Struct:
        return OpenStruct()


@dataclass(frozen=True, kw_only=True)
class ExtensionSingle(RelationBase):
    """A relation with one input."""

    input: Relation
    detail: AnyMessage | None = None

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input,)

    @cached_property
    def direct_schema(self) -> Struct:
        return OpenStruct()


@dataclass(frozen=True, kw_only=True)
class ExtensionMulti(RelationBase):
    """A relation with any number of inputs."""

    members: tuple[Relation, ...]
    detail: AnyMessage | None = None

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return self.members

    @cached_property
    def direct_schema(self) -> Struct:
        return OpenStruct()

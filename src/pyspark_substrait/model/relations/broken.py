"""The placeholder for a relation that contradicts the specification, where reading continues after faults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark_substrait.model.computed_once import computed_once
from pyspark_substrait.model.relations.base import BASICS, Names, RelationBase, RelationInfo
from pyspark_substrait.model.relations.description import Declared, Description, Part, Subject
from pyspark_substrait.model.types import OpenStruct, Struct

if TYPE_CHECKING:
    from pyspark_substrait.model.relations import Relation

__all__ = ["BrokenRelation"]


@dataclass(frozen=True, kw_only=True)
class BrokenRelation(RelationBase):
    """A relation that can't be understood. Only reading that collects findings creates it, and it never runs.

    Its schema is open, unless it is known all the same: any column of it may be referred to.

    Args:
        kind: the field of the message ``Rel`` that is set, like ``filter``; empty when none is.
        fault: the description of the fault.
        members: its inputs, as far as they were read.
        record: the schema that it would have before emit.
        record_names: the names of its columns.
    """

    info = RelationInfo(
        "Something here is wrong, so that the meaning of the relation is unknown.",
        page=BASICS,
        own_term="",
        icon="broken",
    )

    kind: str
    fault: str
    members: tuple[Relation, ...] = ()
    record: Struct = OpenStruct()
    record_names: Names = ()

    def describe(self) -> Description:
        fault = Part(title="fault", subject=Subject.EXTENSION, value=f"{self.kind}: {self.fault}", line="")
        return Description((fault,), (Declared(None),))

    @computed_once
    def direct_schema(self) -> Struct:
        return self.record

    @computed_once
    def direct_names(self) -> Names:
        return self.record_names

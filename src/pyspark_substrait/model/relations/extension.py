"""Extension relations, which the specification doesn't define. Spec: relations/user_defined_relations.

Only a handler can derive their schema: if one was registered for their type URL when the plan was read, the node has
the schema that it returned; otherwise the schema is open, and so are schemas derived from it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyspark_substrait.model.computed_once import computed_once
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations.base import LOGICAL, Names, RelationBase, RelationInfo
from pyspark_substrait.model.relations.description import Declared, Description, Part, Records, Subject
from pyspark_substrait.model.types import NamedStruct, OpenStruct, Struct, Unbound, name_count

if TYPE_CHECKING:
    from pyspark_substrait.model.relations import Relation

__all__ = ["ExtensionLeaf", "ExtensionMulti", "ExtensionSchema", "ExtensionSingle", "input_schema"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionSchema:
    """The schema that a handler returned for an extension relation. It is not part of the plan.

    Args:
        inputs: the schemas of the inputs, as the handler saw them.
        output: the schema of the relation before emit.
        place: the relation's path in the plan.
    """

    inputs: tuple[NamedStruct, ...]
    output: NamedStruct
    place: str


@dataclass(frozen=True, kw_only=True)
class _Extension(RelationBase):
    """The base class of the three extension relations."""

    detail: AnyMessage | None = None
    derived: ExtensionSchema | None = field(default=None, compare=False, repr=False)

    def describe(self) -> Description:
        inputs = self.inputs
        given = [
            Part(
                title="column" if len(inputs) == 1 else f"column of input {number + 1}",
                subject=Subject.EXTENSION,
                value=Records(number),
                line="",
            )
            for number in range(len(inputs))
        ]
        detail = Part(title="detail", subject=Subject.EXTENSION, value=self.detail, absent="no detail")
        return Description((detail, *given), (Declared(None if self.derived is None else self.derived.output),))

    @computed_once
    def direct_schema(self) -> Struct:
        return OpenStruct() if self.derived is None else self.derived.output.struct

    @computed_once
    def direct_names(self) -> Names:
        return () if self.derived is None else self.derived.output.top_level_names()


@dataclass(frozen=True, kw_only=True)
class ExtensionLeaf(_Extension):
    """A relation without inputs."""

    info = RelationInfo(
        "A relation of an extension: only its makers know what it does.",
        field="extension_leaf",
        page=LOGICAL,
        icon="extension",
    )


@dataclass(frozen=True, kw_only=True)
class ExtensionSingle(_Extension):
    """A relation with one input. With this package's own message as its detail, it is a :class:`Generate`."""

    info = RelationInfo(
        "A relation of an extension: only its makers know what it does.",
        field="extension_single",
        page=LOGICAL,
        icon="extension",
    )

    input: Relation


@dataclass(frozen=True, kw_only=True)
class ExtensionMulti(_Extension):
    """A relation with any number of inputs."""

    info = RelationInfo(
        "A relation of an extension: only its makers know what it does.",
        field="extension_multi",
        page=LOGICAL,
        icon="extension",
    )

    members: tuple[Relation, ...]


def input_schema(relation: Relation) -> NamedStruct | None:
    """The schema of a relation for a handler; None if it is open or has unknown types.

    A column has its name, if no other column has the same in any case, and else its position: ``column_0``. The same
    holds for the fields of structs, whose names a relation doesn't know: ``field_0``, depth first.
    """
    types = relation.schema.types
    if isinstance(relation.schema, OpenStruct) or any(isinstance(type, Unbound) for type in types):
        return None
    known = Counter(name.lower() for name in relation.names if name)
    names: list[str] = []
    for position, (type, name) in enumerate(zip(types, relation.names, strict=True)):
        usual = f"column_{position}"
        clear = name is not None and known[name.lower()] == 1 and not _USUAL.fullmatch(name)
        names += [name if clear and name else usual, *_field_names(name_count(type))]
    return NamedStruct(names=tuple(names), struct=relation.schema)


#: the names of columns that have none
_USUAL = re.compile(r"column_\d+", re.IGNORECASE)


def _field_names(count: int) -> Iterator[str]:
    return (f"field_{position}" for position in range(count))

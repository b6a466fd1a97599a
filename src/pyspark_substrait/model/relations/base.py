"""The common parts of all relations: emit, hints, extensions and schema derivation. Spec: relations/common_fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, Final

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.computed_once import computed_once
from pyspark_substrait.model.fields import RELATIONS
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations.description import Description
from pyspark_substrait.model.types import OpenStruct, Struct, Type, Unbound, name_count, with_nullability

if TYPE_CHECKING:
    from pyspark_substrait.model.relations import Relation

__all__ = [
    "BASICS",
    "LOGICAL",
    "PHYSICAL",
    "AdvancedExtension",
    "ComputationType",
    "ExtensibleRelation",
    "Hint",
    "LoadedComputation",
    "Names",
    "RelCommon",
    "RelationBase",
    "RelationInfo",
    "SavedComputation",
    "Stats",
    "assume_direct_schema",
    "assume_schema",
    "joined",
    "nullable",
]

#: The names of a relation's columns, None where a column has none.
Names = tuple[str | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvancedExtension:
    """Messages of extensions. Optimizations may be ignored; an enhancement changes the meaning and may not."""

    optimization: tuple[AnyMessage, ...] = ()
    enhancement: AnyMessage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """A producer's knowledge about the records: their number, and their size in bytes."""

    row_count: float = 0.0
    record_size: float = 0.0
    advanced_extension: AdvancedExtension | None = None


class ComputationType(Enum):
    """The kind of a saved computation."""

    UNSPECIFIED = "unspecified"
    HASHTABLE = "hashtable"
    BLOOM_FILTER = "bloom filter"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedComputation:
    """A data structure that this relation saves for another one to load."""

    computation_id: int
    type: ComputationType = ComputationType.UNSPECIFIED
    advanced_extension: AdvancedExtension | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedComputation:
    """A data structure that this relation loads."""

    computation_id_reference: int
    type: ComputationType = ComputationType.UNSPECIFIED
    advanced_extension: AdvancedExtension | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """Information that may help but never changes a result.

    ``output_names`` are those of the relation's output, nested fields included, in depth-first order.
    ``constraint`` represents the message ``RuntimeConstraint``, which has only an extension.
    """

    stats: Stats | None = None
    constraint: AdvancedExtension | None = None
    alias: str = ""
    output_names: tuple[str, ...] = ()
    advanced_extension: AdvancedExtension | None = None
    saved_computations: tuple[SavedComputation, ...] = ()
    loaded_computations: tuple[LoadedComputation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RelCommon:
    """The part that all relations have.

    Args:
        emit: which columns of the direct output are output, and in which order; None for all as they are.
        rel_anchor: a number, unique in the plan, by which outer references name this relation.
    """

    emit: tuple[int, ...] | None = None
    hint: Hint | None = None
    advanced_extension: AdvancedExtension | None = None
    rel_anchor: int | None = None


LOGICAL: Final = "relations/logical_relations"
PHYSICAL: Final = "relations/physical_relations"
BASICS: Final = "relations/basics"


@dataclass(frozen=True, slots=True)
class RelationInfo:
    """The description of a kind of relation.

    Args:
        summary: its effect, in one sentence for newcomers.
        page: the page of the specification that describes it.
        icon: the name of its symbol in drawings.
        field: the field of ``Rel`` that holds it.
        own_term: its name in dialect files, if that is not the field's name in capitals; empty if it has none.
    """

    summary: str
    page: str
    icon: str
    field: str = ""
    own_term: str | None = None

    @property
    def term(self) -> str:
        """The name in dialect files; empty if it is only a form of notation."""
        return self.field.upper() if self.own_term is None else self.own_term


@dataclass(frozen=True, kw_only=True)
class RelationBase:
    """The base of all relations."""

    info: ClassVar[RelationInfo]

    common: RelCommon = field(default_factory=RelCommon)

    @property
    def extensions(self) -> tuple[tuple[str, AdvancedExtension], ...]:
        """The advanced extensions of the relation and of its common part, by their paths below the relation."""
        extension = self.common.advanced_extension
        return () if extension is None else (("common.advanced_extension", extension),)

    @property
    def enhanced(self) -> bool:
        """Whether an enhancement changes the meaning of the relation."""
        return any(extension.enhancement is not None for _, extension in self.extensions)

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """The relations whose records this one reads, in order."""
        return RELATIONS[self.__class__](self)

    def describe(self) -> Description:
        """The parts of the relation and the sources of its columns, for whatever shows or compares it."""
        raise NotImplementedError

    @computed_once
    def direct_schema(self) -> Struct:
        """The types of the columns before emit."""
        raise NotImplementedError

    @computed_once
    def direct_names(self) -> Names:
        """The names of the columns before emit; None for a column without a name."""
        return (None,) * len(self.direct_schema.types)

    @computed_once
    def schema(self) -> Struct:
        """The types of the output columns.

        Raises:
            InvalidPlanError: emit names a column that doesn't exist.
        """
        direct, emit = self.direct_schema, self.common.emit
        if emit is None:
            return direct
        if isinstance(direct, OpenStruct):
            return Struct(types=(Unbound(nullable=True),) * len(emit))
        width = len(direct.types)
        for position in emit:
            if not 0 <= position < width:
                raise InvalidPlanError(
                    f"emit names column {position}, but there are {width} columns",
                    path="common.emit.output_mapping",
                    code=Code.TYPE_INVALID_SWIZZLE,
                )
        return Struct(types=tuple(direct.types[position] for position in emit))

    @computed_once
    def names(self) -> Names:
        """The names of the output columns, None for a column without a name; names from hints take precedence."""
        if self.common.hint is not None and self.common.hint.output_names:
            return _hinted(self.common.hint.output_names, self.schema)
        if self.common.emit is None or isinstance(self.direct_schema, OpenStruct):
            return self.direct_names if self.common.emit is None else (None,) * len(self.schema.types)
        known = self.direct_names
        return tuple(known[position] if 0 <= position < len(known) else None for position in self.common.emit)


@dataclass(frozen=True, kw_only=True)
class ExtensibleRelation(RelationBase):
    """The base class of relations whose message has an ``advanced_extension``."""

    advanced_extension: AdvancedExtension | None = None

    @property
    def extensions(self) -> tuple[tuple[str, AdvancedExtension], ...]:
        common, extension = super().extensions, self.advanced_extension
        return common if extension is None else (*common, ("advanced_extension", extension))


def assume_direct_schema(node: RelationBase, schema: Struct) -> None:
    """Set the schema before emit of a relation that contradicts itself, so that the schema can't be derived."""
    vars(node)["direct_schema"] = schema


def assume_schema(node: RelationBase, schema: Struct) -> None:
    """Set the schema of a relation that contradicts itself, so that the schema can't be derived."""
    vars(node)["schema"] = schema


def _hinted(hinted: tuple[str, ...], schema: Struct) -> Names:
    names: list[str | None] = []
    position = 0
    for type in schema.types:
        names.append(hinted[position] if position < len(hinted) else None)
        position += 1 + name_count(type)
    return tuple(names)


def joined(*structs: Struct) -> Struct:
    """The columns of several schemas, one after another; open if one of them is."""
    if any(isinstance(struct, OpenStruct) for struct in structs):
        return OpenStruct()
    return Struct(types=tuple(type for struct in structs for type in struct.types))


def extended(struct: Struct, types: Sequence[Type]) -> Struct:
    """A schema with more columns at its end; open if it is."""
    return struct if isinstance(struct, OpenStruct) else Struct(types=(*struct.types, *types))


def nullable(struct: Struct) -> Struct:
    """A schema with all columns nullable."""
    if isinstance(struct, OpenStruct):
        return struct
    return Struct(types=tuple(with_nullability(type, True) for type in struct.types))

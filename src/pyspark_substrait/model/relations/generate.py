"""The relation that makes several records of one, from a list, a map or a text in it.

The specification has none. A plan holds it as an ``ExtensionSingleRel`` with a message of this package
(``proto/generate.proto``) as its detail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.computed_once import computed_once
from pyspark_substrait.model.relations.base import LOGICAL, Names, RelationBase, RelationInfo
from pyspark_substrait.model.relations.description import Description, Own, Part, Passed, Records, Subject
from pyspark_substrait.model.types import (
    I32,
    List,
    Map,
    OpenStruct,
    String,
    Struct,
    Type,
    Unbound,
    VarChar,
    concrete,
    same_type,
    with_nullability,
)

if TYPE_CHECKING:
    from pyspark_substrait.model.relations import Relation

__all__ = ["GENERATE", "Generate", "Generator", "GeneratorKind"]

#: the type URL of that message
GENERATE: Final = "type.googleapis.com/pyspark_substrait.v1.Generate"


class GeneratorKind(Enum):
    """The kind of records that a generator makes from its arguments."""

    #: from a list, a record for each element; from a map, one for each entry: key and value
    EXPLODE = "explode"
    #: the same, with the position, from 0, in front
    POSEXPLODE = "posexplode"
    #: from a list of structs, a record for each struct; nulls for a null struct
    INLINE = "inline"
    #: the arguments as a given number of records, one after the other; nulls for missing values
    STACK = "stack"
    #: from a JSON text and names, one record: the fields of these names as texts
    JSON_TUPLE = "json_tuple"


@dataclass(frozen=True, slots=True, kw_only=True)
class Generator:
    """The records that a :class:`Generate` makes from a record.

    Args:
        kind: the kind of records that it makes.
        arguments: how many of the input's columns it takes.
        outer: whether a record from which none are made is kept, with nulls.
        rows: how many records ``STACK`` makes; None for the others.
    """

    kind: GeneratorKind
    arguments: int
    outer: bool = False
    rows: int | None = None

    def kept(self, width: int) -> int:
        """The number of columns of an input with ``width`` columns that aren't arguments.

        Raises:
            InvalidPlanError: there are too few.
        """
        if not 1 <= self.arguments <= width:
            raise InvalidPlanError(f"{self.kind.value} takes {self.arguments} columns; the input has {width}")
        return width - self.arguments

    def schema(self, input: Struct) -> Struct:
        """The output columns.

        Raises:
            InvalidPlanError: the arguments are of the wrong number or type.
        """
        if isinstance(input, OpenStruct):
            return OpenStruct()
        kept = self.kept(len(input.types))
        made = self.generated(input.types[kept:])
        return OpenStruct() if made is None else Struct(types=(*input.types[:kept], *made))

    def generated(self, arguments: Sequence[Type]) -> tuple[Type, ...] | None:
        """The types of the columns made from arguments of these types; None where those are open.

        Raises:
            InvalidPlanError: the arguments are of the wrong number or type.
        """
        if any(isinstance(concrete(type), Unbound) for type in arguments):
            return None
        types = self._generated(tuple(map(concrete, arguments)))
        if types is None:
            listed = ", ".join(map(str, arguments))
            raise InvalidPlanError(f"{self.kind.value} cannot make records of ({listed})")
        return tuple(with_nullability(type, True) for type in types) if self.outer else types

    def _generated(self, arguments: tuple[Type, ...]) -> tuple[Type, ...] | None:
        match self.kind, arguments:
            case GeneratorKind.EXPLODE, (List(type=element),):
                return (element,)
            case GeneratorKind.EXPLODE, (Map(key=key, value=value),):
                return (key, value)
            case GeneratorKind.POSEXPLODE, (List(type=element),):
                return (I32(), element)
            case GeneratorKind.POSEXPLODE, (Map(key=key, value=value),):
                return (I32(), key, value)
            case GeneratorKind.INLINE, (List(type=element),) if isinstance(struct := concrete(element), Struct):
                return tuple(with_nullability(type, type.nullable or struct.nullable) for type in struct.types)
            case GeneratorKind.STACK, _ if self.rows is not None and self.rows > 0:
                return self._stacked(arguments, self.rows)
            case GeneratorKind.JSON_TUPLE, (_, _, *_) if all(isinstance(one, String | VarChar) for one in arguments):
                return (String(nullable=True),) * (len(arguments) - 1)
            case _:
                return None

    def _stacked(self, arguments: tuple[Type, ...], rows: int) -> tuple[Type, ...] | None:
        width = -(-len(arguments) // rows)
        columns = [arguments[position::width] for position in range(width)]
        if not all(same_type(type, types[0]) for types in columns for type in types):
            return None
        return tuple(
            with_nullability(types[0], len(types) < rows or any(type.nullable for type in types)) for types in columns
        )


@dataclass(frozen=True, kw_only=True)
class Generate(RelationBase):
    """Each record of the input, combined with every record that a generator makes from it.

    The last columns of the input are the arguments; the output has the columns made from them in their place.
    """

    info = RelationInfo(
        "Makes several records of one, from a list, a map or a text in it.",
        field="extension_single",
        page=LOGICAL,
        icon="generate",
    )

    input: Relation
    generator: Generator

    def describe(self) -> Description:
        arguments = self.generator.arguments
        kept = max(len(self.input.schema.types) - arguments, 0)
        made = Own(self.generator.kind.value, len(self.direct_schema.types) - kept)
        return Description(
            (
                Part(title="generator", subject=Subject.ROWS, value=self.generator),
                Part(title="argument", subject=Subject.ROWS, value=Records(0, arguments), line=""),
            ),
            (Passed(0, arguments), made),
        )

    @computed_once
    def direct_schema(self) -> Struct:
        return self.generator.schema(self.input.schema)

    @computed_once
    def direct_names(self) -> Names:
        kept = self.input.names[: -self.generator.arguments]
        return (*kept, *(None for _ in self.direct_schema.types[len(kept) :]))

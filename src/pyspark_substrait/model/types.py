"""The types of Substrait, as values.

Spec: types/type_classes, types/type_system. ``str(type)`` is the specification's own syntax (types/type_parsing):
``decimal?<38, 2>``, ``list<string?>``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, TypeAlias, TypeVar

__all__ = [
    "FP32",
    "FP64",
    "I8",
    "I16",
    "I32",
    "I64",
    "UNSIGNED_INTEGERS",
    "UUID",
    "AliasedType",
    "Binary",
    "Boolean",
    "Date",
    "Decimal",
    "FixedBinary",
    "FixedChar",
    "Func",
    "IntervalCompound",
    "IntervalDay",
    "IntervalYear",
    "List",
    "Map",
    "NamedStruct",
    "OpenStruct",
    "PrecisionTime",
    "PrecisionTimestamp",
    "PrecisionTimestampTZ",
    "String",
    "Struct",
    "Type",
    "TypeBase",
    "TypeParameter",
    "TypeVariation",
    "Unbound",
    "UserDefined",
    "VarChar",
    "concrete",
    "name_count",
    "same_kind",
    "same_type",
    "with_nullability",
]


#: the extension of the specification that declares the types u8 to u64
UNSIGNED_INTEGERS: Final = "extension:io.substrait:unsigned_integers"


@dataclass(frozen=True, slots=True)
class TypeVariation:
    """A type variation of an extension: another physical form of the same type. Spec: types/type_variations."""

    urn: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeBase:
    """The common fields of all types: nullability, and the variation (None is the system-preferred one)."""

    #: the name in the specification's type syntax
    keyword: ClassVar[str]
    #: the name in a function signature (extensions, "Type Short Names")
    short_name: ClassVar[str]

    nullable: bool = False
    variation: TypeVariation | None = None

    def parameters(self) -> tuple[object, ...]:
        """The parameters in the order of the type syntax; a type without any returns ``()``."""
        return ()

    def __str__(self) -> str:
        parameters = ", ".join(str(parameter) for parameter in self.parameters())
        mark = "?" if self.nullable else ""
        variation = f"[{self.variation.name}]" if self.variation else ""
        return f"{self.keyword}{mark}{variation}" + (f"<{parameters}>" if parameters else "")


def _simple(keyword: str, short_name: str) -> Any:
    """Set the two names of a type class."""

    def name(cls: type[_T]) -> type[_T]:
        cls.keyword, cls.short_name = keyword, short_name
        return cls

    return name


_T = TypeVar("_T", bound=TypeBase)


@_simple("boolean", "bool")
@dataclass(frozen=True, slots=True, kw_only=True)
class Boolean(TypeBase):
    """True or false."""


@_simple("i8", "i8")
@dataclass(frozen=True, slots=True, kw_only=True)
class I8(TypeBase):
    """A signed integer of 8 bits."""


@_simple("i16", "i16")
@dataclass(frozen=True, slots=True, kw_only=True)
class I16(TypeBase):
    """A signed integer of 16 bits."""


@_simple("i32", "i32")
@dataclass(frozen=True, slots=True, kw_only=True)
class I32(TypeBase):
    """A signed integer of 32 bits."""


@_simple("i64", "i64")
@dataclass(frozen=True, slots=True, kw_only=True)
class I64(TypeBase):
    """A signed integer of 64 bits."""


@_simple("fp32", "fp32")
@dataclass(frozen=True, slots=True, kw_only=True)
class FP32(TypeBase):
    """An IEEE 754 number of 4 bytes."""


@_simple("fp64", "fp64")
@dataclass(frozen=True, slots=True, kw_only=True)
class FP64(TypeBase):
    """An IEEE 754 number of 8 bytes."""


@_simple("string", "str")
@dataclass(frozen=True, slots=True, kw_only=True)
class String(TypeBase):
    """A Unicode string of any length."""


@_simple("binary", "vbin")
@dataclass(frozen=True, slots=True, kw_only=True)
class Binary(TypeBase):
    """Bytes of any length."""


@_simple("date", "date")
@dataclass(frozen=True, slots=True, kw_only=True)
class Date(TypeBase):
    """A day of the proleptic Gregorian calendar."""


@_simple("interval_year", "iyear")
@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalYear(TypeBase):
    """A span of years and months."""


@_simple("interval_day", "iday")
@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalDay(TypeBase):
    """A span of days, seconds and fractions of ``10**-precision`` seconds (0 to 12)."""

    precision: int

    def parameters(self) -> tuple[object, ...]:
        return (self.precision,)


@_simple("interval_compound", "icompound")
@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalCompound(TypeBase):
    """A span with the parts of both :class:`IntervalYear` and :class:`IntervalDay`."""

    precision: int

    def parameters(self) -> tuple[object, ...]:
        return (self.precision,)


@_simple("uuid", "uuid")
@dataclass(frozen=True, slots=True, kw_only=True)
class UUID(TypeBase):
    """A universally unique identifier of 128 bits."""


@_simple("fixedchar", "fchar")
@dataclass(frozen=True, slots=True, kw_only=True)
class FixedChar(TypeBase):
    """A Unicode string of exactly ``length`` characters, padded with spaces."""

    length: int

    def parameters(self) -> tuple[object, ...]:
        return (self.length,)


@_simple("varchar", "vchar")
@dataclass(frozen=True, slots=True, kw_only=True)
class VarChar(TypeBase):
    """A Unicode string of at most ``length`` characters."""

    length: int

    def parameters(self) -> tuple[object, ...]:
        return (self.length,)


@_simple("fixedbinary", "fbin")
@dataclass(frozen=True, slots=True, kw_only=True)
class FixedBinary(TypeBase):
    """Exactly ``length`` bytes."""

    length: int

    def parameters(self) -> tuple[object, ...]:
        return (self.length,)


@_simple("decimal", "dec")
@dataclass(frozen=True, slots=True, kw_only=True)
class Decimal(TypeBase):
    """An exact number of ``precision`` digits (1 to 38), ``scale`` of them behind the point."""

    precision: int
    scale: int

    def parameters(self) -> tuple[object, ...]:
        return (self.precision, self.scale)


@_simple("precision_time", "pt")
@dataclass(frozen=True, slots=True, kw_only=True)
class PrecisionTime(TypeBase):
    """A time of day in units of ``10**-precision`` seconds (0 to 12) since midnight."""

    precision: int

    def parameters(self) -> tuple[object, ...]:
        return (self.precision,)


@_simple("precision_timestamp", "pts")
@dataclass(frozen=True, slots=True, kw_only=True)
class PrecisionTimestamp(TypeBase):
    """A date and time without a zone, in units of ``10**-precision`` seconds (0 to 12) since 1970-01-01."""

    precision: int

    def parameters(self) -> tuple[object, ...]:
        return (self.precision,)


@_simple("precision_timestamp_tz", "ptstz")
@dataclass(frozen=True, slots=True, kw_only=True)
class PrecisionTimestampTZ(TypeBase):
    """An instant, in units of ``10**-precision`` seconds (0 to 12) since 1970-01-01 UTC."""

    precision: int

    def parameters(self) -> tuple[object, ...]:
        return (self.precision,)


@_simple("struct", "struct")
@dataclass(frozen=True, slots=True, kw_only=True)
class Struct(TypeBase):
    """A fixed number of values of possibly different types. The schema of a relation is a required struct."""

    types: tuple[Type, ...]

    def parameters(self) -> tuple[object, ...]:
        return self.types

    def __str__(self) -> str:
        # spelled out because a struct without fields still has its brackets
        parameters = ", ".join(str(type) for type in self.types)
        variation = f"[{self.variation.name}]" if self.variation else ""
        return f"struct{'?' if self.nullable else ''}{variation}<{parameters}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenStruct(Struct):
    """The schema of a relation that can't be derived here (an extension relation): any field of it is unbound."""

    types: tuple[Type, ...] = ()


@_simple("list", "list")
@dataclass(frozen=True, slots=True, kw_only=True)
class List(TypeBase):
    """A sequence of values of one type."""

    type: Type

    def parameters(self) -> tuple[object, ...]:
        return (self.type,)


@_simple("map", "map")
@dataclass(frozen=True, slots=True, kw_only=True)
class Map(TypeBase):
    """Pairs of a key and a value. Keys may repeat and are never null."""

    key: Type
    value: Type

    def parameters(self) -> tuple[object, ...]:
        return (self.key, self.value)


@_simple("func", "func")
@dataclass(frozen=True, slots=True, kw_only=True)
class Func(TypeBase):
    """A function value: the type of a lambda. It has no variations."""

    parameter_types: tuple[Type, ...]
    return_type: Type

    def parameters(self) -> tuple[object, ...]:
        if len(self.parameter_types) == 1:
            return (f"{self.parameter_types[0]} -> {self.return_type}",)
        return (f"({', '.join(str(type) for type in self.parameter_types)}) -> {self.return_type}",)


@_simple("unbound", "unbound")
@dataclass(frozen=True, slots=True, kw_only=True)
class Unbound(TypeBase):
    """A placeholder for a type that a binder has yet to assign; nothing of this type can run."""


@dataclass(frozen=True, slots=True)
class TypeParameter:
    """One parameter of a user-defined type: a type, a bool, an int, an enum or string, or None for the default.

    ``kind`` is the protobuf field: ``null``, ``data_type``, ``boolean``, ``integer``, ``enum`` or ``string``.
    """

    kind: str
    value: Type | bool | int | str | None

    def __str__(self) -> str:
        match self.value:
            case None:
                return "null"
            case bool(value):
                return "true" if value else "false"
            case value:
                return f'"{value}"' if self.kind == "string" else str(value)


@_simple("u!", "u!")
@dataclass(frozen=True, slots=True, kw_only=True)
class UserDefined(TypeBase):
    """A type that an extension declares.

    ``structure`` is the type that it consists of, by the extension's YAML (None if opaque or the extension is unknown).
    """

    urn: str
    name: str
    type_parameters: tuple[TypeParameter, ...] = ()
    structure: Type | None = None

    def parameters(self) -> tuple[object, ...]:
        return self.type_parameters

    def __str__(self) -> str:
        parameters = ", ".join(str(parameter) for parameter in self.type_parameters)
        variation = f"[{self.variation.name}]" if self.variation else ""
        return f"u!{self.name}{'?' if self.nullable else ''}{variation}" + (f"<{parameters}>" if parameters else "")


@_simple("alias", "alias")
@dataclass(frozen=True, slots=True, kw_only=True)
class AliasedType(TypeBase):
    """A reference to one of the plan's type aliases (``Type.alias``); its variation is that of the aliased type.

    Spec: types/type_aliases. Use :func:`concrete` to resolve it.
    """

    type: Type

    def __str__(self) -> str:
        return str(concrete(self))


Type: TypeAlias = (
    Boolean
    | I8
    | I16
    | I32
    | I64
    | FP32
    | FP64
    | String
    | Binary
    | Date
    | IntervalYear
    | IntervalDay
    | IntervalCompound
    | UUID
    | FixedChar
    | VarChar
    | FixedBinary
    | Decimal
    | PrecisionTime
    | PrecisionTimestamp
    | PrecisionTimestampTZ
    | Struct
    | List
    | Map
    | Func
    | Unbound
    | UserDefined
    | AliasedType
)

AnyType = TypeVar("AnyType", bound=TypeBase)


def with_nullability(type: AnyType, nullable: bool) -> AnyType:
    """The same type, nullable or required."""
    return type if type.nullable == nullable else replace(type, nullable=nullable)


def concrete(type: Type) -> Type:
    """Resolve an alias: return the aliased type, with the nullability of the reference."""
    if isinstance(type, AliasedType):
        return with_nullability(concrete(type.type), type.nullable)
    return type


def same_kind(left: Type, right: Type) -> bool:
    """Whether two types have the same class (or name, if user-defined), whatever their parameters and nullability."""
    left, right = concrete(left), concrete(right)
    if isinstance(left, UserDefined) and isinstance(right, UserDefined):
        return (left.urn, left.name) == (right.urn, right.name)
    return left.__class__ is right.__class__


_WITHOUT_PARAMETERS: Final[frozenset[Any]] = frozenset(
    {Boolean, I8, I16, I32, I64, FP32, FP64, String, Binary, Date, UUID, IntervalYear}
)


def same_type(left: Type, right: Type) -> bool:
    """Whether two types differ in nothing but nullability and variation, at any depth."""
    if left is right or left == right:
        return True
    left, right = concrete(left), concrete(right)
    if left.__class__ is not right.__class__:
        return False
    if left.__class__ in _WITHOUT_PARAMETERS:
        return True
    if isinstance(left, Struct) and isinstance(right, Struct):
        return len(left.types) == len(right.types) and all(map(same_type, left.types, right.types))
    if isinstance(left, List) and isinstance(right, List):
        return same_type(left.type, right.type)
    if isinstance(left, Map) and isinstance(right, Map):
        return same_type(left.key, right.key) and same_type(left.value, right.value)
    return replace(left, nullable=True, variation=None) == replace(right, nullable=True, variation=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedStruct:
    """A struct with the names of its fields, nested ones included, in depth-first order. Spec: types/named_structs."""

    names: tuple[str, ...]
    struct: Struct

    def top_level_names(self) -> tuple[str, ...]:
        """The names of the outermost fields only."""
        names, position = [], 0
        for type in self.struct.types:
            names.append(self.names[position] if position < len(self.names) else "")
            position += 1 + name_count(type)
        return tuple(names)


_WITH_FIELDS = (Struct, List, Map, AliasedType)


def name_count(type: Type) -> int:
    """The number of names that the fields nested inside a type take in a depth-first list of names.

    Only struct fields have names; a map's key comes before its value.
    """
    if not isinstance(type, _WITH_FIELDS):
        return 0
    match concrete(type):
        case Struct(types=types):
            return len(types) + sum([name_count(child) for child in types if isinstance(child, _WITH_FIELDS)])
        case List(type=child):
            return name_count(child)
        case Map(key=key, value=value):
            return name_count(key) + name_count(value)
        case _:
            return 0

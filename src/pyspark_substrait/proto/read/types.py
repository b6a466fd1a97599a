"""``Type`` and ``NamedStruct`` messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields as dataclass_fields
from dataclasses import replace
from functools import lru_cache
from typing import Any

from pyspark_substrait.codes import Code, Level
from pyspark_substrait.extensions.producers import Producer
from pyspark_substrait.model import types
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.plan import ExtensionKind
from pyspark_substrait.model.struct_names import named_structs
from pyspark_substrait.model.types import NamedStruct, Struct, Type, TypeParameter, TypeVariation, name_count
from pyspark_substrait.model.unbound import is_unbound
from pyspark_substrait.proto import messages
from pyspark_substrait.proto.read import arrow
from pyspark_substrait.proto.read.context import Reading, invalid
from pyspark_substrait.proto.read.habits import datafusion as habits

__all__ = [
    "SIMPLE",
    "data_type",
    "named_struct",
    "nested_type",
    "schema_struct",
    "struct",
    "type_parameter",
    "user_defined",
    "variation",
]


def data_type(message: messages.Type, reading: Reading, path: Path) -> Type:
    """A type; unbound where it can't be understood and findings are collected.

    Raises:
        InvalidPlanError: it is missing, refers to something undeclared, or a parameter is out of range.
    """
    kind = message.WhichOneof("kind")
    if kind not in _KEPT:
        if kind is None:
            reading.fault(invalid("a type is missing", path, code=Code.PROTO_MISSING_FIELD))
            return _OPEN
        return nested_type(kind, getattr(message, kind), reading, path)
    content = message.SerializeToString()
    known = _read_before.get(content)
    if known is not None:
        return known
    simple = SIMPLE.get(kind)
    fields, path = getattr(message, kind), (path, kind)
    anchor = fields.type_variation_reference
    if simple is None:
        faults = len(reading.findings or ())
        made = _READERS[kind](fields, reading, path)
        if len(reading.findings or ()) > faults:
            return _OPEN  # otherwise each use of the invalid type would be reported as well
    else:
        made = simple[_nullable(fields.nullability, reading, path)]
        declared = variation(anchor, reading, path)
        made = made if declared is None else replace(made, variation=declared)
    if anchor == 0 and fields.nullability in _STATED:
        if len(_read_before) >= _MOST_READ_BEFORE:
            _read_before.clear()
        _read_before[content] = made
    return made


def nested_type(kind: str, fields: Any, reading: Reading, path: Path) -> Type:
    """A type with types in it, by the message of its kind: a copy of that into a ``Type`` may be too deep."""
    return _READERS[kind](fields, reading, (path, kind))


#: types without type parameters that cause no notes, by their serialised messages: few are distinct
_read_before: dict[bytes, Type] = {}
_MOST_READ_BEFORE = 4096
_STATED = (messages.Type.NULLABILITY_NULLABLE, messages.Type.NULLABILITY_REQUIRED)


def _nullable(number: int, reading: Reading, path: Path) -> bool:
    if number == messages.Type.NULLABILITY_REQUIRED:
        return False
    if number != messages.Type.NULLABILITY_NULLABLE:
        if number != messages.Type.NULLABILITY_UNSPECIFIED:
            fault = f"nullability is {number}, which the specification does not have"
            reading.fault(invalid(fault, path, code=Code.PROTO_UNKNOWN_ENUM))
            return True
        reading.note_once("unspecified-nullability", path, "nullability is unspecified", "nullable")
    return True


#: the rule of the notes about variations that aren't declared, of which there is one for each anchor
_UNDECLARED = "undeclared-variation"


def variation(anchor: int, reading: Reading, path: Path) -> TypeVariation | None:
    """The type variation of an anchor; None for 0, the system-preferred one, and for one that isn't declared."""
    if anchor == 0:
        return None
    declared = reading.variations.get(anchor)
    if declared is None:
        key = str(anchor)
        if (_UNDECLARED, key) not in reading.remarked:
            what = f"type_variation_reference {anchor} is not declared"
            reading.note_once("undeclared-variation", path, what, "the system-preferred variation", key)
        return None
    reading.used.add((ExtensionKind.TYPE_VARIATION, anchor))
    return TypeVariation(declared.urn, declared.name)


def _marks(fields: Any, reading: Reading, path: Path) -> dict[str, Any]:
    """The nullability and the variation of a type, as arguments of its class."""
    anchor = fields.type_variation_reference
    return {
        "nullable": _nullable(fields.nullability, reading, path),
        "variation": None if anchor == 0 else variation(anchor, reading, path),
    }


def _in_range(value: int, name: str, low: int, high: int, reading: Reading, path: Path) -> int:
    if not low <= value <= high:
        hint = f"It is at least {low} and at most {high}"
        reading.fault(invalid(f"{name} is {value}", path, hint, Code.TYPE_MISMATCHED_PARAMETERS))
    return value


_MAX_LENGTH = 2**31 - 1
_MAX_PRECISION = 12
_OPEN = types.Unbound(nullable=True)

_SIMPLE_CLASSES: dict[str, Any] = {
    "bool": types.Boolean,
    "i8": types.I8,
    "i16": types.I16,
    "i32": types.I32,
    "i64": types.I64,
    "fp32": types.FP32,
    "fp64": types.FP64,
    "string": types.String,
    "binary": types.Binary,
    "date": types.Date,
    "interval_year": types.IntervalYear,
    "uuid": types.UUID,
}
#: the types without parameters, required and nullable
SIMPLE: dict[str, tuple[Type, Type]] = {kind: (cls(), cls(nullable=True)) for kind, cls in _SIMPLE_CLASSES.items()}


@lru_cache(maxsize=4096)
def _shared(cls: Any, nullable: bool, variation: TypeVariation | None, *parameters: int) -> Type:
    """Return a type without type parameters, shared by all plans, so that equal types compare quickly."""
    names = [field.name for field in dataclass_fields(cls)[-len(parameters) :]]
    made: Type = cls(nullable=nullable, variation=variation, **dict(zip(names, parameters, strict=True)))
    return made


def _of(cls: Any, fields: Any, reading: Reading, path: Path, *parameters: int) -> Type:
    """Return a type of a class, with the nullability and the variation of the message."""
    anchor = fields.type_variation_reference
    nullable = _nullable(fields.nullability, reading, path)
    return _shared(cls, nullable, None if anchor == 0 else variation(anchor, reading, path), *parameters)


def _with_precision(cls: Any) -> Callable[[Any, Reading, Path], Type]:
    def read(fields: Any, reading: Reading, path: Path) -> Type:
        precision = _in_range(fields.precision, "precision", 0, _MAX_PRECISION, reading, path)
        return _of(cls, fields, reading, path, precision)

    return read


def _with_length(cls: Any) -> Callable[[Any, Reading, Path], Type]:
    def read(fields: Any, reading: Reading, path: Path) -> Type:
        return _of(cls, fields, reading, path, _in_range(fields.length, "length", 1, _MAX_LENGTH, reading, path))

    return read


def _interval_day(fields: Any, reading: Reading, path: Path) -> Type:
    if not fields.HasField("precision"):
        fault = "the precision of an interval_day is not set"
        reading.fault(invalid(fault, path, "Set it, 0 for whole seconds", Code.PROTO_MISSING_FIELD))
    precision = _in_range(fields.precision, "precision", 0, _MAX_PRECISION, reading, path)
    return _of(types.IntervalDay, fields, reading, path, precision)


def _decimal(fields: Any, reading: Reading, path: Path) -> Type:
    precision = _in_range(fields.precision, "precision", 1, 38, reading, path)
    if 1 <= precision <= 38:
        _in_range(fields.scale, "scale", 0, precision, reading, path)
    return _of(types.Decimal, fields, reading, path, precision, fields.scale)


def struct(fields: messages.Type.Struct, reading: Reading, path: Path) -> Struct:
    """A struct type."""
    return Struct(types=_all(fields.types, reading, (path, "types")), **_marks(fields, reading, path))


def _all(messages: Any, reading: Reading, path: Path) -> tuple[Type, ...]:
    return tuple([data_type(message, reading, (path, index)) for index, message in enumerate(messages)])


def _list(fields: Any, reading: Reading, path: Path) -> Type:
    return types.List(type=data_type(fields.type, reading, (path, "type")), **_marks(fields, reading, path))


def _map(fields: Any, reading: Reading, path: Path) -> Type:
    key = data_type(fields.key, reading, (path, "key"))
    value = data_type(fields.value, reading, (path, "value"))
    if fields.type_variation_reference == 1 and 1 not in reading.variations and reading.made_by is Producer.DATAFUSION:
        nullable = _nullable(fields.nullability, reading, path)
        reading.plain = False
        habits.DICTIONARY.note(reading, path, f"a dictionary of {value}, written as a map", f"{value}")
        return types.with_nullability(value, nullable)
    return types.Map(key=key, value=value, **_marks(fields, reading, path))


def _func(fields: Any, reading: Reading, path: Path) -> Type:
    return types.Func(
        parameter_types=_all(fields.parameter_types, reading, (path, "parameter_types")),
        return_type=data_type(fields.return_type, reading, (path, "return_type")),
        nullable=_nullable(fields.nullability, reading, path),
    )


def _unbound(fields: Any, reading: Reading, path: Path) -> Type:
    return types.Unbound(nullable=True)


def _user_defined(fields: Any, reading: Reading, path: Path) -> Type:
    parameters = tuple(
        type_parameter(message, reading, ((path, "type_parameters"), index))
        for index, message in enumerate(fields.type_parameters)
    )
    return user_defined(fields.type_reference, parameters, reading, path, **_marks(fields, reading, path))


def user_defined(
    anchor: int,
    parameters: tuple[TypeParameter, ...],
    reading: Reading,
    path: Path,
    *,
    nullable: bool,
    variation: TypeVariation | None,
) -> Type:
    """The type that an extension declares, by the anchor it has in the message; for Arrow's, the standard one."""
    declared = reading.types.get(anchor)
    if declared is None:
        hint = "Add an extension_type with this type_anchor"
        reading.fault(invalid(f"the type {anchor} is not declared", path, hint, Code.LINK_MISSING_ANCHOR))
        return _OPEN
    reading.used.add((ExtensionKind.TYPE, anchor))
    standard = arrow.standard_type(declared, reading, path, nullable=nullable)
    if standard is not None:
        return standard
    if declared.name == "null" and not declared.urn and reading.made_by is Producer.DATAFUSION:
        reading.plain = False
        habits.NULL.note(reading, path, "a null without a type", "one of the type string")
        return types.String(nullable=True)
    definition = reading.registry.type(declared.urn, declared.name)
    return types.UserDefined(
        urn=declared.urn if definition is None else definition.urn,
        name=declared.name if definition is None else definition.name,
        type_parameters=parameters,
        structure=None if definition is None else definition.structure,
        nullable=nullable,
        variation=variation,
    )


def type_parameter(message: messages.Type.Parameter, reading: Reading, path: Path) -> TypeParameter:
    """One parameter of a user-defined type."""
    kind = message.WhichOneof("parameter")
    if kind is None:
        hint = "Write null to select the default"
        reading.fault(invalid("a type parameter is missing", path, hint, Code.PROTO_MISSING_FIELD))
        return TypeParameter("null", None)
    if kind == "null":
        return TypeParameter(kind, None)
    if kind == "data_type":
        return TypeParameter(kind, data_type(message.data_type, reading, (path, kind)))
    return TypeParameter(kind, getattr(message, kind))


def _alias(fields: Any, reading: Reading, path: Path) -> Type:
    nullable = _nullable(fields.nullability, reading, path)
    return types.AliasedType(type=aliased_type(fields.type_alias_reference, reading, path), nullable=nullable)


def aliased_type(anchor: int, reading: Reading, path: Path) -> Type:
    """The type that a type alias stands for."""
    with reading.going_on(code=Code.LINK_MISSING_ANCHOR):
        return _aliased_type(anchor, reading, path)
    return _OPEN


def _aliased_type(anchor: int, reading: Reading, path: Path) -> Type:
    if reading.aliases is None:
        fault = "an extended expression has no type aliases"
        raise invalid(fault, path, "Spell the type out", Code.LINK_MISSING_ANCHOR)
    if anchor not in reading.aliases:
        raise invalid(f"the type alias {anchor} is not declared", path, code=Code.LINK_MISSING_ANCHOR)
    message, place = reading.aliases[anchor]
    if message.type.WhichOneof("kind") == "alias":
        raise invalid("a type alias cannot be that of another alias", (place, "type"), code=Code.LINK_CYCLE)

    def bind() -> Type:
        return data_type(message.type, reading, (place, "type"))

    found = reading.once(reading.bound_aliases, anchor, ("alias", anchor), "a type alias", place, bind)
    reading.has_type(found, path)
    return found


_KEPT = frozenset(
    {
        *SIMPLE,
        "interval_day",
        "interval_compound",
        "fixed_char",
        "varchar",
        "fixed_binary",
        "decimal",
        "precision_time",
        "precision_timestamp",
        "precision_timestamp_tz",
    }
)

_READERS: dict[str, Callable[[Any, Reading, Path], Type]] = {
    "interval_day": _interval_day,
    "interval_compound": _with_precision(types.IntervalCompound),
    "fixed_char": _with_length(types.FixedChar),
    "varchar": _with_length(types.VarChar),
    "fixed_binary": _with_length(types.FixedBinary),
    "decimal": _decimal,
    "precision_time": _with_precision(types.PrecisionTime),
    "precision_timestamp": _with_precision(types.PrecisionTimestamp),
    "precision_timestamp_tz": _with_precision(types.PrecisionTimestampTZ),
    "struct": struct,
    "list": _list,
    "map": _map,
    "func": _func,
    "unbound": _unbound,
    "user_defined": _user_defined,
    "alias": _alias,
}


def schema_struct(message: messages.Type.Struct, reading: Reading, path: Path) -> Struct:
    """The struct of a record, which is never null itself, whatever its nullability says."""
    if message.nullability == messages.Type.NULLABILITY_NULLABLE:
        reading.loose("nullable-record", path, "the struct of a record is nullable", "required")
    elif message.nullability not in messages.Type.Nullability.values():
        what = f"nullability is {message.nullability}, which the specification does not have"
        reading.find(Code.PROTO_UNKNOWN_ENUM, (path, "nullability"), what, level=Level.WARNING)
    return Struct(
        types=_all(message.types, reading, (path, "types")),
        variation=variation(message.type_variation_reference, reading, path),
    )


def named_struct(message: messages.NamedStruct, reading: Reading, path: Path) -> NamedStruct:
    """Read a schema with names; the columns are unbound if there are only names.

    Raises:
        InvalidPlanError: the number of names isn't that of the fields, nested ones included.
    """
    content = message.SerializeToString()
    known = _schemas_read_before.get(content)
    if known is not None and known[1].issubset(reading.remarked):
        return known[0]
    if message.names and not message.HasField("struct"):
        before = f"a schema of {len(message.names)} names, without types"
        reading.loose("unbound-columns", (path, "struct"), before, "columns whose types are unbound")
        reading.plain = False
        unknown = Struct(types=(_OPEN,) * len(message.names))
        return NamedStruct(names=tuple(message.names), struct=unknown)
    fields = schema_struct(message.struct, reading, (path, "struct"))
    names = tuple(message.names)
    check_names(names, fields, reading, (path, "names"))
    if len(names) > len(fields.types) and reading.made_by is Producer.DATAFUSION:
        reading.struct_names += named_structs(fields, iter(names))
    made = NamedStruct(names=names, struct=fields)
    if reading.findings is None and len(content) <= _LONGEST_SCHEMA and _is_plain(message.struct):
        if len(_schemas_read_before) >= _MOST_SCHEMAS:
            _schemas_read_before.clear()
        anchors = {
            getattr(type, str(type.WhichOneof("kind"))).type_variation_reference for type in message.struct.types
        }
        if anchors.isdisjoint(reading.variations):
            _schemas_read_before[content] = made, frozenset({(_UNDECLARED, str(anchor)) for anchor in anchors - {0}})
    return made


#: schemas without nested fields by their serialised messages, each with the notes about undeclared variations in it
_schemas_read_before: dict[bytes, tuple[NamedStruct, frozenset[tuple[str, str]]]] = {}
_MOST_SCHEMAS = 256
_LONGEST_SCHEMA = 20_000


def _is_plain(message: messages.Type.Struct) -> bool:
    """Whether a record without faults has nothing to note but variations: no nested types, all nullability stated."""
    return (
        message.nullability in (messages.Type.NULLABILITY_UNSPECIFIED, messages.Type.NULLABILITY_REQUIRED)
        and message.type_variation_reference == 0
        and all(
            kind in _KEPT and getattr(type, str(kind)).nullability in _STATED
            for type, kind in ((type, type.WhichOneof("kind")) for type in message.types)
        )
    )


def check_names(names: tuple[str, ...], fields: Struct, reading: Reading, path: Path) -> None:
    """Refuse names whose number isn't that of the fields of ``fields``, nested ones included; unbound ones may have."""
    expected = name_count(fields)
    if len(names) != expected and not (len(names) > expected and is_unbound(fields)):
        fault = f"there are {len(names)} names for {expected} fields"
        hint = "Every field has a name, those of nested structs included, in depth-first order"
        reading.fault(invalid(fault, path, hint, Code.TYPE_MISMATCHED_FIELD_NAMES))

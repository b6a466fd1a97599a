"""Arrow's deviations from the specification: its types, options and names. A note records each reinterpretation.

Arrow declares types in an extension file of its own; those that the specification has too are read as those.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import wrappers_pb2
from google.protobuf.message import DecodeError

from pyspark_substrait.codes import Code
from pyspark_substrait.extensions.definitions import FunctionDefinition
from pyspark_substrait.extensions.producers import Producer
from pyspark_substrait.model import types
from pyspark_substrait.model.literals import AnyMessage, Literal
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.plan import ExtensionDeclaration
from pyspark_substrait.model.types import UNSIGNED_INTEGERS, Type, concrete
from pyspark_substrait.proto.read.context import Reading, invalid
from pyspark_substrait.proto.read.habits.habit import Habit

__all__ = ["HABITS", "TYPES", "is_own", "literal", "options", "output_names", "standard_type"]

Option = tuple[str, tuple[str, ...]]

TYPES = "https://github.com/apache/arrow/blob/main/format/substrait/extension_types.yaml"


_ARROW = (Producer.ACERO,)

TYPE = Habit(
    rule="arrow-type",
    producers=(),
    versions="all",
    writes="its own types `large_string`, `large_binary`, `time_seconds`, `time_millis` and `u8` … `u64`",
    means="string, binary, precision_time<0> and <3>, and the unsigned integers of the specification",
    evidence=f"[extension_types.yaml]({TYPES})",
    strict=False,
)
OVERFLOW = Habit(
    rule="arrow-overflow",
    producers=_ARROW,
    versions="all",
    writes="the option `overflow` with every arithmetic call",
    means="nothing where the function has no such option, as most of floats",
    evidence="pyarrow 22, tried",
)
NAMES = Habit(
    rule="arrow-names",
    producers=_ARROW,
    versions="all",
    writes="the name of an output behind those of the fields in it, with names of elements of lists and maps",
    means="the same names in depth-first order",
    evidence="pyarrow 22, tried",
)
HABITS = (TYPE, OVERFLOW, NAMES)


def standard_type(declared: ExtensionDeclaration, reading: Reading, path: Path, *, nullable: bool) -> Type | None:
    """The specification's type for one that Arrow declares; None where there is none."""
    if declared.urn != TYPES:
        return None
    found: Type
    match declared.name:
        case "u8" | "u16" | "u32" | "u64":
            definition = reading.registry.type(UNSIGNED_INTEGERS, declared.name)
            if definition is None:
                return None
            found = types.UserDefined(
                urn=definition.urn, name=definition.name, structure=definition.structure, nullable=nullable
            )
        case "large_string":
            found = types.String(nullable=nullable)
        case "large_binary":
            found = types.Binary(nullable=nullable)
        case "time_seconds":
            found = types.PrecisionTime(precision=0, nullable=nullable)
        case "time_millis":
            found = types.PrecisionTime(precision=3, nullable=nullable)
        case _:
            return None
    reading.note_once(TYPE.rule, path, f"Arrow's type {declared.name}", str(found), key=declared.name)
    return found


def is_own(type: Type) -> bool:
    """Whether a type is one that only Arrow has."""
    return isinstance(type, types.UserDefined) and type.urn == TYPES


def literal(type: Type, value: AnyMessage, path: Path) -> Literal:
    """A literal of a type that :func:`standard_type` found.

    Raises:
        InvalidPlanError: its value is not of that type.
    """
    kind = value.type_url.rpartition("/")[2].rpartition(".")[2]
    wrapper: Any = getattr(wrappers_pb2, kind, None) if kind in _WRAPPERS else None
    try:
        content: Any = None if wrapper is None else wrapper.FromString(value.value).value
    except DecodeError:
        content = None
    match type:
        case types.UserDefined() if isinstance(content, int) and 0 <= content < 1 << int(type.name[1:]):
            return Literal(type=type, value=(Literal(type=types.String(), value=str(content)),))
        case types.PrecisionTime(precision=precision) if (
            isinstance(content, int) and 0 <= content < 86_400 * 10**precision
        ):
            return Literal(type=type, value=content)
        case types.String() if isinstance(content, str):
            return Literal(type=type, value=content)
        case types.Binary() if isinstance(content, bytes):
            return Literal(type=type, value=content)
        case _:
            raise invalid(
                f"the value of type {type} is a message {value.type_url!r} that is not one",
                path,
                code=Code.EXPRESSION_ILLEGAL_LITERAL,
            )


_WRAPPERS = ("UInt32Value", "UInt64Value", "Int32Value", "Int64Value", "StringValue", "BytesValue")


def options(given: list[Option], definition: FunctionDefinition, reading: Reading, path: Path) -> list[Option]:
    """Return the options of a call, without ``overflow`` where the function doesn't have it.

    Arrow states only the option ``overflow``, for every type. Most functions of floats have no such option.
    """
    if not OVERFLOW.of(reading) or not given:
        return given
    if any(name == "overflow" for name, _ in definition.options):
        return given
    kept = [option for option in given if option[0] != "overflow"]
    if kept != given:
        reading.loose(OVERFLOW.rule, path, f"`{definition.key}` with the option overflow", "without it")
    return kept


def output_names(names: tuple[str, ...], type: Type, reading: Reading, path: Path) -> tuple[str, ...]:
    """The names of an output and of the fields in it, in depth-first order.

    Arrow writes a name behind those of the fields in it, and names the elements of lists and maps too.
    """
    if not NAMES.of(reading):
        return names
    rest = list(names)
    found = _from_behind(type, rest) if isinstance(concrete(type), types.Struct | types.List | types.Map) else None
    if found is None or rest:
        return names
    reading.loose(NAMES.rule, path, f"names from the inside out: {list(names)}", str(list(found)))
    return found


def _from_behind(type: Type, names: list[str]) -> tuple[str, ...] | None:
    """Pop the name of a field and those inside it from the end of ``names``; None if there aren't enough."""
    if not names:
        return None
    own = names.pop()
    children: tuple[Type, ...] = ()
    named = False
    match concrete(type):
        case types.Struct(types=children):
            named = True
        case types.List(type=element):
            children = (element,)
        case types.Map(key=key, value=value) if names:
            children = (key, value)
            names.pop()  # that of the entries
        case types.Map():
            return None
        case _:
            pass
    inside: list[str] = []
    for child in reversed(children):
        found = _from_behind(child, names)
        if found is None:
            return None
        inside[:0] = found if named else found[1:]
    return (own, *inside)

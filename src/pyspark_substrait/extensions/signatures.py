"""Signatures of functions, and the arguments of a call for resolution.

Spec: extensions, "Function Signature".
"""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

from typing_extensions import assert_never

from pyspark_substrait.extensions import definitions
from pyspark_substrait.extensions.type_syntax import (
    FuncPattern,
    Node,
    TypePattern,
    UserPattern,
)
from pyspark_substrait.model import expressions
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import Type, UserDefined, concrete

__all__ = [
    "Argument",
    "EnumArg",
    "TypeArg",
    "ValueArg",
    "call_text",
    "given",
    "looser_key",
    "pattern_short_name",
    "short_name",
    "signature_key",
]


class ValueArg(NamedTuple):
    """A value in a call.

    The other fields matter only for some rules (a precision given as an argument, a date part given as a string).

    Args:
        type: its type.
        literal: its value, if it is a string or integer literal that is not null.
        null: whether it is a null literal.
    """

    type: Type
    literal: str | int | None = None
    null: bool = False


class TypeArg(NamedTuple):
    """A type in a call."""

    type: Type


class EnumArg(NamedTuple):
    """A word in a call, one of those the function declares."""

    value: str


Argument: TypeAlias = ValueArg | TypeArg | EnumArg


def given(argument: expressions.Argument) -> Argument:
    """Return an argument of a call in the model in the form for resolution."""
    if isinstance(argument, Literal):
        value = argument.value
        if value is None:
            return ValueArg(argument.type, null=True)
        return ValueArg(argument.type, value if value.__class__ in (int, str) else None)
    if isinstance(argument, expressions.EnumArgument):
        return EnumArg(argument.value)
    return TypeArg(argument.type) if isinstance(argument, expressions.TypeArgument) else ValueArg(argument.type)


_KEYWORD_TO_SHORT: Final = {
    "boolean": "bool",
    "string": "str",
    "binary": "vbin",
    "interval_year": "iyear",
    "interval_day": "iday",
    "interval_compound": "icompound",
    "fixedchar": "fchar",
    "varchar": "vchar",
    "fixedbinary": "fbin",
    "decimal": "dec",
    "precision_time": "pt",
    "precision_timestamp": "pts",
    "precision_timestamp_tz": "ptstz",
}


def short_name(type: Type) -> str:
    """The name of a type in a signature: ``str``, ``dec``, ``u!point``."""
    type = concrete(type)
    if isinstance(type, UserDefined):
        return f"u!{type.name}"
    return type.short_name


def pattern_short_name(pattern: Node) -> str:
    """The name of a type expression in a signature; a type parameter counts as ``any``."""
    match pattern:
        case TypePattern(keyword=keyword):
            return _KEYWORD_TO_SHORT.get(keyword, keyword)
        case FuncPattern():
            return "func"
        case UserPattern(name=name):
            return f"u!{name}"
        case _:
            return "any"


def signature_key(name: str, arguments: tuple[definitions.Argument, ...]) -> str:
    """The signature of an implementation, ``add:i32_i32``; without arguments it ends in the colon."""
    parts = []
    for argument in arguments:
        match argument:
            case definitions.EnumArgument():
                parts.append("req")
            case definitions.TypeArgument():
                parts.append("type")
            case definitions.ValueArgument():
                parts.append(pattern_short_name(argument.pattern))
            case _:
                assert_never(argument)
    return f"{name}:{'_'.join(parts)}"


def looser_key(key: str) -> str:
    """Return a signature with the names of types that some producers write replaced by the short ones.

    >>> looser_key("equal:string_decimal?")
    'equal:str_dec'
    """
    name, colon, signature = key.partition(":")
    for keyword, short in sorted(_KEYWORD_TO_SHORT.items(), key=lambda item: -len(item[0])):
        signature = signature.replace(keyword, short)
    return f"{name}{colon}{signature.replace('?', '')}"


def call_text(name: str, arguments: tuple[Argument, ...]) -> str:
    """Return a call as text for errors and notes, ``add(i32, decimal?<10, 2>)``."""
    parts = []
    for argument in arguments:
        match argument:
            case EnumArg(value=value):
                parts.append(value)
            case TypeArg(type=type):
                parts.append(f"type {type}")
            case ValueArg(type=type):
                parts.append(str(type))
            case _:
                assert_never(argument)
    return f"{name}({', '.join(parts)})"

"""Conversion of text to types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark_substrait.text.lossless.declared import Declarations, Fault
from pyspark_substrait.text.lossless.neutral import Name, TypeValue
from pyspark_substrait.text.lossless.type_forms import type_forms
from pyspark_substrait.text.lossless.words import unquoted

__all__ = ["FunctionParameter", "NamedParameter", "Parameter", "make_type"]

_EXAMPLES: Mapping[object, str] = {
    "list": "string",
    "map": "string, i64",
    "struct": "i64, string?",
    "func": "i32 -> boolean",
    ("length",): "10",
    ("precision",): "6",
    ("precision", "scale"): "38, 2",
}


@dataclass(slots=True)
class NamedParameter:
    """A field of a struct with its name."""

    name: str
    type: TypeValue


@dataclass(slots=True)
class FunctionParameter:
    """The parameter types and the return type of a function type."""

    taken: list[TypeValue]
    returned: TypeValue


Parameter = TypeValue | NamedParameter | FunctionParameter | int | str | Name
"""A parameter of a type; ``str`` is text in quotation marks."""


def make_type(
    written: str, nullable: bool, variation: Name | None, parameters: Sequence[Parameter] | None, known: Declarations
) -> TypeValue:
    """Return the type with a name and parameters from the text.

    Raises:
        Fault: the parameters don't fit the type.
    """
    common: dict[str, Any] = {"nullability": "NULLABILITY_NULLABLE" if nullable else "NULLABILITY_REQUIRED"}
    if variation is not None:
        common["type_variation_reference"] = known.anchor("variations", variation.text)
    if "!" in written:
        return _of_user(written, common, list(parameters or ()), known)
    if written == "unbound":
        return TypeValue({"unbound": {}})
    given = list(parameters or ())
    numbers = [each for each in given if isinstance(each, int)]
    types = [each for each in given if isinstance(each, TypeValue)]
    form = type_forms().get(written)
    if form is not None and (form.bare if parameters is None else len(numbers) == len(given) == len(form.numbers) > 0):
        return TypeValue({form.key: dict(zip(form.numbers, numbers, strict=False)) | common})
    match written:
        case "struct" if parameters is not None:
            return make_struct(given, common)
        case "list" if len(types) == len(given) == 1:
            return TypeValue({"list": {"type": types[0].message, **common}}, types[0].names)
        case "map" if len(types) == len(given) == 2:
            key, value = types
            return TypeValue({"map": {"key": key.message, "value": value.message, **common}}, key.names + value.names)
        case "func" if len(given) == 1 and isinstance(given[0], FunctionParameter):
            taken = [each.message for each in given[0].taken]
            return TypeValue({"func": {"parameter_types": taken, "return_type": given[0].returned.message, **common}})
    example = "" if form is not None and form.bare else f"<{_EXAMPLES[form.numbers if form is not None else written]}>"
    raise Fault(f"{written} is written like {written}{example}")


def make_struct(given: Sequence[Parameter], common: dict[str, Any]) -> TypeValue:
    """A struct of types, each with a name or none."""
    types: list[Any] = []
    names: list[str] = []
    for each in given:
        match each:
            case NamedParameter(name, type):
                names += [name, *type.names]
                types.append(type.message)
            case TypeValue():
                names += each.names
                types.append(each.message)
            case _:
                raise Fault("a struct has types, with or without names: struct<i64, string?>")
    return TypeValue({"struct": {"types": types, **common}}, names)


def _of_user(written: str, common: dict[str, Any], given: list[Parameter], known: Declarations) -> TypeValue:
    prefix, _, name = written.partition("!")
    label = unquoted(name) if name.startswith("`") else name
    if prefix == "alias":
        if given or not label.isdigit():
            raise Fault("a type alias is written with its number: alias!1")
        return TypeValue({"alias": {"type_alias_reference": int(label), **common}})
    message: dict[str, Any] = {"type_reference": known.anchor("types", label), **common}
    if given:
        message["type_parameters"] = [_user_parameter(each) for each in given]
    return TypeValue({"user_defined": message})


def _user_parameter(parameter: Parameter) -> dict[str, Any]:
    match parameter:
        case TypeValue():
            return {"data_type": parameter.message}
        case bool():
            raise AssertionError(parameter)
        case int():
            return {"integer": parameter}
        case str():
            return {"string": parameter}
        case Name() if not parameter.quoted and parameter.text == "null":
            return {"null": {}}
        case Name() if not parameter.quoted and parameter.text in ("true", "false"):
            return {"boolean": parameter.text == "true"}
        case Name():
            return {"enum": parameter.text}
    raise Fault("a parameter of a type is a type, a number, a word or a text")

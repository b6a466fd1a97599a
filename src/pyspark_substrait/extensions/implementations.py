"""Spark implementations of functions in a user's own extension: Spark SQL templates and functions of Arrow arrays."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions.definitions import EnumArgument, FunctionDefinition

__all__ = ["ArrowFunction", "Implementation", "SqlTemplate", "checked"]

_NUMBERS: Final = itertools.count(1)
_SLOT = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class SqlTemplate:
    """Spark SQL with the arguments in braces: ``upper({text})``. The syntax is that of ``sql/functions/table.py``."""

    text: str


@dataclass(frozen=True, slots=True)
class ArrowFunction:
    """A function of Arrow arrays, one for each argument.

    A scalar function returns an array of the same length, an aggregate function a value. Nulls are passed as nulls.
    ``number`` distinguishes functions with the same name.
    """

    function: Callable[..., Any]
    number: int = field(default_factory=lambda: next(_NUMBERS))


Body: TypeAlias = SqlTemplate | ArrowFunction


@dataclass(frozen=True, slots=True, kw_only=True)
class Implementation:
    """One implementation of a function; of several that fit a call, the first one is used.

    Args:
        name: the function's name.
        signature: the overload, like ``str_i64``; None for all of them.
        body: the Spark SQL template or the function of Arrow arrays.
        options: the option values for which it is correct, by option; options that aren't named don't affect it.
        enums: the same for enumeration arguments, by argument.
    """

    name: str
    signature: str | None
    body: Body
    options: Mapping[str, tuple[str, ...]]
    enums: Mapping[str, tuple[str, ...]]


def checked(implementation: Implementation, definitions: Sequence[FunctionDefinition]) -> Implementation:
    """Return the implementation, after checking that the overloads it is for declare everything that it names.

    Raises:
        InvalidPlanError: an overload, argument, option or value that doesn't exist.
    """
    name, wanted = implementation.name, implementation.signature
    overloads = [item for item in definitions if wanted is None or item.key == f"{name}:{wanted}"]
    if not overloads:
        known = ", ".join(f"`{item.key}`" for item in definitions)
        fault = f"no overload `{name}:{wanted}`" if definitions else f"no function `{name}`"
        raise InvalidPlanError(f"the extension has {fault}", hint=f"It has {known}" if known else None)
    for overload in overloads:
        _check(implementation, overload)
    return implementation


def _check(implementation: Implementation, overload: FunctionDefinition) -> None:
    names = {argument.name for argument in overload.arguments}
    if isinstance(implementation.body, SqlTemplate):
        for slot in _SLOT.findall(implementation.body.text):
            if slot not in names | {"output"} and not (slot.isdigit() and int(slot) < len(overload.arguments)):
                raise InvalidPlanError(
                    f"the template of `{overload.key}` has {{{slot}}}, which is not an argument",
                    hint=f"Its arguments: {', '.join(sorted(names)) or 'none'}; {{output}} is the type of the result",
                )
    words = {item.name: item.options for item in overload.arguments if isinstance(item, EnumArgument)}
    for kind, named, declared in (
        ("option", implementation.options, dict(overload.options)),
        ("enumeration argument", implementation.enums, words),
    ):
        for key, values in named.items():
            unknown = [value for value in values if value not in declared.get(key, ())]
            if key not in declared or unknown:
                fault = f"no {kind} `{key}`" if key not in declared else f"no value `{unknown[0]}` for `{key}`"
                raise InvalidPlanError(f"`{overload.key}` has {fault}")

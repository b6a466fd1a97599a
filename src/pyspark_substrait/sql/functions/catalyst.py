"""The reverse direction of the tables: the Catalyst expression that is equivalent to a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pyspark_substrait.model.types import Type

__all__ = ["CatalystForm", "CatalystForms", "EvalMode", "ansi", "catalyst", "in_zone", "legacy", "listed", "try_"]

EvalMode: TypeAlias = Literal["ANSI", "TRY", "LEGACY"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalystForm:
    """A Catalyst expression that is equivalent to a row of a function table.

    Args:
        name: the simple name of its class, like ``Add``.
        mode: the evaluation mode it must have; None if it has none, or none matters.
        arguments: the positions of its children that are the arguments of the function, in the function's order; None
            for all in their order.
        returns: its type in Spark, if that isn't the one the extension derives; its nullability doesn't matter.
        zone: whether the time zone that the expression uses is a further argument, the last one.
    """

    name: str
    mode: EvalMode | None = None
    arguments: tuple[int, ...] | None = None
    returns: Type | None = None
    zone: bool = False


#: The Catalyst forms of a row: a class, a form, or several of them.
CatalystForms: TypeAlias = "str | CatalystForm | Sequence[str | CatalystForm]"


def catalyst(name: str, *arguments: int, returns: Type | None = None) -> CatalystForm:
    """Return a form with the arguments in another order, or with another type in Spark."""
    return CatalystForm(name=name, arguments=arguments or None, returns=returns)


def ansi(name: str, *arguments: int, returns: Type | None = None) -> CatalystForm:
    """Return a form that raises an error if there is no result."""
    return CatalystForm(name=name, mode="ANSI", arguments=arguments or None, returns=returns)


def legacy(name: str, *arguments: int, returns: Type | None = None) -> CatalystForm:
    """Return a form in its behavior with ANSI mode off."""
    return CatalystForm(name=name, mode="LEGACY", arguments=arguments or None, returns=returns)


def try_(name: str, *arguments: int, returns: Type | None = None) -> CatalystForm:
    """Return a form that gives null if there is no result."""
    return CatalystForm(name=name, mode="TRY", arguments=arguments or None, returns=returns)


def in_zone(name: str, *arguments: int, returns: Type | None = None) -> CatalystForm:
    """Return a form that uses a time zone, which is the last argument of the function."""
    return CatalystForm(name=name, arguments=arguments or None, returns=returns, zone=True)


def listed(forms: CatalystForms) -> tuple[CatalystForm, ...]:
    """Return the forms of a row as a tuple."""
    several = (forms,) if isinstance(forms, str | CatalystForm) else forms
    return tuple(CatalystForm(name=form) if isinstance(form, str) else form for form in several)

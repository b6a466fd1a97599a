"""The other direction of the tables: which Catalyst expression a row is exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pyspark_substrait.model.types import Type

__all__ = ["CatalystForm", "CatalystForms", "EvalMode", "ansi", "catalyst", "in_zone", "legacy", "listed", "try_"]

EvalMode: TypeAlias = Literal["ANSI", "TRY", "LEGACY"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalystForm:
    """A Catalyst expression that means the same as a row of a function table.

    Args:
        name: the simple name of its class, like ``Add``.
        mode: the evaluation mode it must have; None where it has none, or none matters.
        arguments: which of its children, by position, are the arguments of the function, in the function's order; None
            for all as they are.
        returns: its type in Spark, where that isn't the one the extension derives; its nullability doesn't matter.
        zone: whether the time zone that the expression reckons in is a further argument, the last one.
    """

    name: str
    mode: EvalMode | None = None
    arguments: tuple[int, ...] | None = None
    returns: Type | None = None
    zone: bool = False


#: What a row may say: a class, a form, or several of them.
CatalystForms: TypeAlias = "str | CatalystForm | Sequence[str | CatalystForm]"


def catalyst(name: str, *arguments: int, returns: Type | None = None) -> CatalystForm:
    """A form in which the arguments stand in another order, or which has another type in Spark."""
    return CatalystForm(name=name, arguments=arguments or None, returns=returns)


def ansi(name: str, *arguments: int, returns: Type | None = None) -> CatalystForm:
    """A form that raises an error where there is no result."""
    return CatalystForm(name=name, mode="ANSI", arguments=arguments or None, returns=returns)


def legacy(name: str, *arguments: int, returns: Type | None = None) -> CatalystForm:
    """A form as it is with ANSI mode off."""
    return CatalystForm(name=name, mode="LEGACY", arguments=arguments or None, returns=returns)


def try_(name: str, *arguments: int, returns: Type | None = None) -> CatalystForm:
    """A form that gives null where there is no result."""
    return CatalystForm(name=name, mode="TRY", arguments=arguments or None, returns=returns)


def in_zone(name: str, *arguments: int, returns: Type | None = None) -> CatalystForm:
    """A form that reckons in a time zone, which is the last argument of the function."""
    return CatalystForm(name=name, arguments=arguments or None, returns=returns, zone=True)


def listed(forms: CatalystForms) -> tuple[CatalystForm, ...]:
    """The forms that a row says."""
    several = (forms,) if isinstance(forms, str | CatalystForm) else forms
    return tuple(CatalystForm(name=form) if isinstance(form, str) else form for form in several)

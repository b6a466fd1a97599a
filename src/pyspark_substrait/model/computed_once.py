"""Properties that are computed once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

from typing_extensions import Self

__all__ = ["computed_once"]

_T = TypeVar("_T")


class computed_once(Generic[_T]):
    """A decorator: a property of an immutable object, computed on first access and then stored in the object.

    Two threads may both compute it, and get equal values. There is no lock: up to Python 3.11,
    ``functools.cached_property`` has one for all objects of a class, so that two threads that read nested schemas would
    deadlock.
    """

    def __init__(self, function: Callable[[Any], _T]) -> None:
        self._function = function
        self._name = function.__name__
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type | None = None) -> _T: ...

    def __get__(self, instance: object | None, owner: type | None = None) -> Self | _T:
        if instance is None:
            return self
        value = vars(instance)[self._name] = self._function(instance)
        return value

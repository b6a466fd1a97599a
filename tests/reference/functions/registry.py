"""The arguments of a call, and the place of its implementation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from pyspark_substrait.model.expressions import Function, FunctionOption
from pyspark_substrait.model.types import Type
from tests.reference.choices import Choices
from tests.reference.errors import NotCovered, Undetermined
from tests.reference.values import Value, in_range, padded

__all__ = ["EXTENSION", "Call", "Scalar", "scalar", "scalar_function"]

#: what the names of the specification's extensions begin with
EXTENSION: Final = "extension:io.substrait:"

Thunk: TypeAlias = Callable[[], Value]
Body: TypeAlias = Callable[..., Value]


@dataclass(frozen=True)
class Call:
    """A call: its types and options.

    Args:
        function: the function.
        types: those of the arguments; None for an enumeration argument, whose value is its name.
        options: the value of each option, in capitals. All values are covered, so it is the first one preferred.
        type: the type of the result.
        choices: what to do where the specification is open.
    """

    function: Function
    types: tuple[Type | None, ...]
    options: Mapping[str, str]
    type: Type
    choices: Choices

    @classmethod
    def of(
        cls,
        function: Function,
        types: Sequence[Type | None],
        options: Sequence[FunctionOption],
        type: Type,
        choices: Choices,
    ) -> Call:
        """A call as a plan has it."""
        chosen = {option.name.lower(): option.preference[0].upper() for option in options}
        return cls(function, tuple(types), chosen, type, choices)

    def open(self, what: str) -> Undetermined:
        """The error that the specification doesn't say what the call gives."""
        return Undetermined(f"{self.function.name}: {what}")

    def uncovered(self, what: str) -> NotCovered:
        """The error that the evaluator doesn't know this form of the call."""
        return NotCovered(f"{self.function.name}: {what}")

    def approximate(self, value: float) -> float:
        """A floating-point result whose last digit depends on the algorithm, as :attr:`Choices.nearest` says."""
        if not self.choices.nearest:
            raise self.open("the last digit of the result")
        return value


@dataclass(frozen=True)
class Scalar:
    """The implementation of a scalar function."""

    body: Body
    nulls: bool
    lazy: bool

    def __call__(self, call: Call, arguments: Sequence[Thunk]) -> Value:
        if self.lazy:
            return self.body(call, *arguments)
        values = [argument() for argument in arguments]
        if not self.nulls and None in values:
            return None
        value = self.body(call, *values)
        if value is None or in_range(value, call.type):
            return padded(value, call.type)
        raise call.open(f"{value!r} isn't a {call.type}")


_SCALARS: Final[dict[tuple[str, str], Scalar]] = {}


def scalar(extension: str, *names: str, nulls: bool = False, lazy: bool = False) -> Callable[[Body], Body]:
    """Register the implementation of functions of an extension, like ``functions_boolean``."""

    def register(body: Body) -> Body:
        for name in names:
            assert (extension, name) not in _SCALARS, name
            _SCALARS[extension, name] = Scalar(body, nulls, lazy)
        return body

    return register


def scalar_function(function: Function) -> Scalar:
    """The implementation of a function.

    Raises:
        NotCovered: there is none.
    """
    found = _SCALARS.get((function.urn.removeprefix(EXTENSION), function.name))
    if found is None:
        raise NotCovered(f"function {function.urn.removeprefix(EXTENSION)}.{function.name}")
    return found

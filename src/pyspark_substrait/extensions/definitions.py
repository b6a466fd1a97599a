"""The declarations of an extension file: functions (one object per implementation), types and type variations.

Spec: extensions, "Simple Extensions"; text/simple_extensions_schema.yaml.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions.type_syntax import Node, parse
from pyspark_substrait.model.expressions import Function
from pyspark_substrait.model.types import Type

__all__ = [
    "Argument",
    "EnumArgument",
    "FunctionDefinition",
    "Kind",
    "Nullability",
    "ParameterDefinition",
    "TypeArgument",
    "TypeDefinition",
    "ValueArgument",
    "Variadic",
    "VariationDefinition",
]

Kind: TypeAlias = Literal["scalar", "aggregate", "window"]
Nullability: TypeAlias = Literal["MIRROR", "DECLARED_OUTPUT", "DISCRETE"]


@dataclass(frozen=True, slots=True)
class ValueArgument:
    """An argument with a value; ``type`` is a type expression, ``constant``: the argument must be a literal."""

    name: str
    type: str
    constant: bool = False
    description: str = ""

    @property
    def pattern(self) -> Node:
        """The type expression as a tree."""
        return parse(self.type)


@dataclass(frozen=True, slots=True)
class TypeArgument:
    """An argument that is a type; it has no value when the function runs."""

    name: str
    type: str
    description: str = ""

    @property
    def pattern(self) -> Node:
        """The type expression as a tree."""
        return parse(self.type)


@dataclass(frozen=True, slots=True)
class EnumArgument:
    """An argument that is one of a fixed set of words."""

    name: str
    options: tuple[str, ...]
    description: str = ""


Argument: TypeAlias = ValueArgument | TypeArgument | EnumArgument


@dataclass(frozen=True, slots=True)
class Variadic:
    """The repetition of the last argument: ``minimum`` to ``maximum`` times (None: any number of times).

    ``consistent``: all repetitions share the type parameters of the pattern; otherwise each has its own.
    """

    minimum: int = 0
    maximum: int | None = None
    consistent: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionDefinition:
    """One implementation of a function.

    Args:
        urn: the extension it belongs to.
        name: the simple name, ``add``.
        kind: ``scalar``, ``aggregate`` or ``window``.
        key: the signature, ``add:i32_i32``, unique within the extension.
        arguments: in order; with ``variadic`` the last one repeats.
        nullability: how nullable arguments affect binding and result.
        options: each option's name and the values it may have, as the file spells them.
        returns: the return type, as an expression or program.
        intermediate: the type between the phases of a decomposed aggregate; None when it has none.
        decomposable: ``NONE``, ``ONE`` or ``MANY`` intermediate steps.
        ordered: the result depends on the order of the input.
        window_type: ``STREAMING`` or ``PARTITION``; None unless ``kind`` is ``window``.
        dependencies: the aliases of other extensions that type expressions may use.
        deprecated: the release and the reason, or None.
        function: the function as calls refer to it.
        takes_constants: whether an argument must be a constant.
    """

    urn: str
    name: str
    kind: Kind
    key: str
    arguments: tuple[Argument, ...] = ()
    returns: str
    variadic: Variadic | None = None
    nullability: Nullability = "MIRROR"
    options: tuple[tuple[str, tuple[str, ...]], ...] = ()
    intermediate: str | None = None
    decomposable: Literal["NONE", "ONE", "MANY"] = "NONE"
    ordered: bool = False
    max_set: int | None = None
    window_type: Literal["STREAMING", "PARTITION"] | None = None
    deterministic: bool = True
    session_dependent: bool = False
    description: str = ""
    deprecated: str | None = None
    dependencies: tuple[tuple[str, str], ...] = ()
    function: Function = field(init=False, compare=False, repr=False)
    takes_constants: bool = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        name, _, signature = self.key.partition(":")
        object.__setattr__(self, "function", Function(self.urn, name, signature))
        constant = any(isinstance(item, ValueArgument) and item.constant for item in self.arguments)
        object.__setattr__(self, "takes_constants", constant)

    @property
    def program(self) -> Node:
        """The return type as a tree."""
        return parse(self.returns)

    def argument(self, position: int) -> Argument:
        """The argument declared for the value at ``position`` of a call; beyond the last one, the variadic one."""
        return self.arguments[min(position, len(self.arguments) - 1)]

    def takes(self, count: int) -> bool:
        """Whether a call may have ``count`` arguments."""
        if self.variadic is None:
            return count == len(self.arguments)
        repeated = count - len(self.arguments) + 1
        maximum = self.variadic.maximum
        return repeated >= self.variadic.minimum and (maximum is None or repeated <= maximum)

    def check_options(self, options: Sequence[tuple[str, Sequence[str]]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The options of a call in the file's spelling; each has its preferences, best first.

        Spec: expressions/scalar_functions, "Options". Names and values are compared without regard to case.

        Raises:
            InvalidPlanError: an option or a value that the function doesn't declare, an option twice, or no value.
        """
        found: list[tuple[str, tuple[str, ...]]] = []
        for option in options:
            found.append(self.check_option(option, found))
        return tuple(found)

    def check_option(
        self, option: tuple[str, Sequence[str]], before: Sequence[tuple[str, Sequence[str]]] = ()
    ) -> tuple[str, tuple[str, ...]]:
        """One option of a call, as :meth:`check_options`; ``before`` are those that were checked already."""
        given, preferences = option
        declared = next(((name, values) for name, values in self.options if name.lower() == given.lower()), None)
        if declared is None:
            known = ", ".join(f"`{name}`" for name, _ in self.options) or "none"
            raise InvalidPlanError(
                f"`{self.key}` has no option `{given}`", hint=f"Its options: {known}", code=Code.EXPRESSION_OPTION
            )
        name, values = declared
        if any(name == other for other, _ in before):
            raise InvalidPlanError(f"the option `{name}` of `{self.key}` is given twice", code=Code.EXPRESSION_OPTION)
        spelling = {value.lower(): value for value in values}
        unknown = [value for value in preferences if value.lower() not in spelling]
        if unknown or not preferences:
            reason = f"cannot be `{unknown[0]}`" if unknown else "has no value"
            raise InvalidPlanError(
                f"the option `{name}` of `{self.key}` {reason}",
                hint=f"Its values: {', '.join(values)}",
                code=Code.EXPRESSION_OPTION,
            )
        return name, tuple(spelling[value.lower()] for value in preferences)

    def signature(self) -> str:
        """The implementation in readable form, ``add(x: i32, y: i32) -> i32``; a program is shortened."""
        arguments = []
        for argument in self.arguments:
            match argument:
                case EnumArgument(name=name, options=options):
                    arguments.append(f"{name}: {'|'.join(options)}")
                case TypeArgument(name=name, type=type):
                    arguments.append(f"{name}: type {type}")
                case ValueArgument(name=name, type=type):
                    arguments.append(f"{name}: {type}")
        dots = "..." if self.variadic else ""
        returns = self.returns.strip().splitlines()[-1].strip()
        return f"{self.name}({', '.join(arguments)}{dots}) -> {returns}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterDefinition:
    """A parameter of a user-defined type; ``kind`` is dataType, boolean, integer, enumeration or string."""

    name: str
    kind: str
    minimum: int | None = None
    maximum: int | None = None
    options: tuple[str, ...] = ()
    optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeDefinition:
    """A user-defined type.

    ``structure`` is the type that it consists of: None when it is opaque, or when it depends on the parameters.
    ``field_names`` are the names of the outermost fields of a named struct, else empty. With ``variadic`` the last
    parameter repeats.
    """

    urn: str
    name: str
    structure: Type | None = None
    field_names: tuple[str, ...] = ()
    parameters: tuple[ParameterDefinition, ...] = ()
    variadic: bool = False
    description: str = ""
    deprecated: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VariationDefinition:
    """A variation of a type. ``separate``: functions on the parent type do not accept it (the default is that they
    do).
    """

    urn: str
    name: str
    parent: str
    separate: bool = False
    description: str = ""
    deprecated: str | None = None

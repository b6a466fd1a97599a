"""Calls of functions as an engine spells them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from pyspark_substrait.engines.compositions import is_long
from pyspark_substrait.engines.constructors import COMPARISON, boolean_call
from pyspark_substrait.engines.description import Spelling, Target
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions.registry import OFFICIAL
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    Argument,
    Cast,
    EnumArgument,
    Expression,
    FailureBehavior,
    Function,
    FunctionOption,
    IfClause,
    IfThen,
    ScalarFunction,
    TypeArgument,
    WindowFunction,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.notes import Note
from pyspark_substrait.model.types import Decimal, String, Type, same_type, with_nullability

__all__ = ["Calls", "cast"]

AnyCall: TypeAlias = ScalarFunction | AggregateFunction | WindowFunction
_Stated = TypeVar("_Stated", ScalarFunction, WindowFunction)
_Call = TypeVar("_Call", ScalarFunction, AggregateFunction, WindowFunction)


@dataclass(frozen=True, slots=True, eq=False)
class Calls:
    """The calls of one plan; ``notes`` gets the parts that are lost, each once."""

    target: Target
    notes: dict[str, Note]

    def is_cast(self, call: AnyCall) -> bool:
        """Whether the result has another type there, so that it is cast."""
        if self.target.extension and call.function.urn == self.target.extension:
            return False
        spelling = self._spelling(call)
        other = spelling.result is not None and not same_type(spelling.result, call.output_type)
        return other or call.function.signature in spelling.cast

    def as_stated(self, call: _Stated) -> Expression:
        """Return the adapted call with the type that the plan states."""
        made = self.adapted(call)
        if self.target.extension and call.function.urn == self.target.extension:
            return made
        if self._spelling(call).operator and len(made.arguments) == 1:
            (first,) = made.arguments
            assert not isinstance(first, EnumArgument | TypeArgument)
            return first
        return cast(made, call.output_type) if self.is_cast(call) else made

    def adapted(self, call: _Call) -> _Call:
        """Return a call of the engine's function.

        Raises:
            UnsupportedPlanError: the engine has no function for it.
        """
        if self.target.extension and call.function.urn == self.target.extension:
            return self._own(call)
        spelling = self._spelling(call)
        self._check_constants(call, spelling)
        arguments: tuple[Argument, ...] = tuple(
            self._pattern(call, argument) if position in spelling.patterns else argument
            for position, argument in enumerate(call.arguments)
        )
        digits = spelling.quotient_digits.get(call.function.signature)
        if digits is not None:
            arguments = (_dividend(arguments[0], call.output_type, digits), *arguments[1:])
        arguments = tuple(
            _converted(argument, call.output_type) if position in spelling.as_result else argument
            for position, argument in enumerate(arguments)
        )
        arguments = tuple(
            _at_least(argument, spelling.at_least[position]) if position in spelling.at_least else argument
            for position, argument in enumerate(arguments)
        )
        if spelling.arguments is not None:
            arguments = tuple(arguments[position] for position in spelling.arguments)
        match spelling.words:
            case "texts":
                arguments = tuple([_text(argument, spelling) for argument in arguments])
            case "left out":
                arguments = tuple(item for item in arguments if not isinstance(item, EnumArgument))
            case "kept":
                pass
        options = self._options(call, spelling)
        function = call.function
        if spelling.urn:
            function = replace(function, urn=spelling.urn)
        if spelling.name != function.name:
            function = Function("", spelling.name, function.signature)
        made = replace(call, function=function, arguments=arguments, options=options)
        if not spelling.pairs or not isinstance(made, ScalarFunction):
            return made
        first, *others = made.arguments
        for argument in others:
            first = replace(made, arguments=(first, argument))
        return first if isinstance(first, type(call)) else made

    def _own(self, call: _Call) -> _Call:
        part = self.target.parts.get(call.function.name)
        if part is None:
            return call
        function = Function("", "date_part", call.function.signature)
        return replace(call, function=function, arguments=(Literal(type=String(), value=part), *call.arguments))

    def _spelling(self, call: AnyCall) -> Spelling:
        urn = call.function.urn
        functions = self.target.functions if urn.startswith(OFFICIAL) else self.target.others.get(urn, {})
        known = functions.get(call.function.name, ())
        for spelling in known:
            words = {
                position: argument.value
                for position, argument in enumerate(call.arguments)
                if isinstance(argument, EnumArgument)
            }
            right = not spelling.overloads or call.function.signature in spelling.overloads
            if right and all(words.get(position) in values for position, values in spelling.only.items()):
                return spelling
        if known:
            words_of = " ".join(item.value for item in call.arguments if isinstance(item, EnumArgument))
            what = f"{call.function.key} with {words_of}" if words_of else call.function.key
            raise UnsupportedPlanError(f"{self.target.engine} has no form for {what}")
        raise UnsupportedPlanError(
            f"{self.target.engine} has no function {call.function.key} of `{call.function.urn}`",
            hint="Make the plan without a target, or express it by other functions",
        )

    def _check_constants(self, call: AnyCall, spelling: Spelling) -> None:
        """Raise an error for constants that mean something else to the engine; note arguments that aren't constant."""
        for value in call.arguments:
            if not isinstance(value, EnumArgument | TypeArgument) and isinstance(value.type, spelling.lacks):
                raise UnsupportedPlanError(f"{self.target.engine} has no form for {call.function.key} of {value.type}")
        for position in spelling.literals:
            if position < len(call.arguments) and not isinstance(call.arguments[position], Literal):
                raise UnsupportedPlanError(
                    f"{self.target.engine} takes literals only as argument {position} of {call.function.key}",
                    hint="Compute the rows for each value in a query of its own",
                )
        for position, right in spelling.constants.items():
            argument = call.arguments[position] if position < len(call.arguments) else None
            while isinstance(argument, Cast):
                argument = argument.input
            if argument is None or (
                isinstance(argument, Literal) and argument.value is None and position not in spelling.literals
            ):
                continue
            if not isinstance(argument, Literal) or not isinstance(argument.value, int | str | None):
                if position not in spelling.at_least:
                    self._note_value(call, position)
            elif argument.value is None or not right(argument.value):
                stated = "null" if argument.value is None else repr(argument.value)
                raise UnsupportedPlanError(
                    f"{self.target.engine} has no form for {call.function.key} with the argument {stated}",
                    hint="Its function of this name means something else by it",
                )

    def _pattern(self, call: AnyCall, argument: Argument) -> Argument:
        """Escape backslashes in a pattern, for an engine in which a backslash is an escape character."""
        if isinstance(argument, Literal) and isinstance(argument.value, str):
            return replace(argument, value=argument.value.replace("\\", "\\\\"))
        if not isinstance(argument, Literal):
            self._note_value(call, call.arguments.index(argument))
        return argument

    def _note_value(self, call: AnyCall, position: int) -> None:
        text = f"{call.function.key} whose argument {position} is not a constant"
        after = f"{self.target.engine} means something else for some values"
        self.notes.setdefault(text, Note(rule="target-value", path="", before=text, after=after))

    def _options(self, call: AnyCall, spelling: Spelling) -> tuple[FunctionOption, ...]:
        for option in call.options:
            delivered = spelling.delivers.get(option.name, ())
            if not any(value in delivered for value in option.preference):
                wanted = f"{option.name}={'|'.join(option.preference)}"
                text = f"{call.function.key} with {wanted}"
                self.notes.setdefault(
                    text,
                    Note(
                        rule="target-option",
                        path="",
                        before=text,
                        after=f"{self.target.engine} does not guarantee this behaviour",
                    ),
                )
        return call.options if self.target.options else ()


def cast(value: Expression, type: Type) -> Expression:
    """Return a value cast to a type; what doesn't fit is an error."""
    return Cast(type=type, input=value, failure_behavior=FailureBehavior.THROW_EXCEPTION)


def _converted(argument: Argument, type: Type) -> Argument:
    """Return an argument cast to a type."""
    if isinstance(argument, EnumArgument | TypeArgument) or same_type(argument.type, type):
        return argument
    return cast(argument, with_nullability(type, argument.type.nullable))


def _at_least(argument: Argument, least: int) -> Argument:
    """Return a number that is at least another one; literals, which were looked at, as they are.

    Raises:
        UnsupportedPlanError: it is too long to be written twice.
    """
    if isinstance(argument, EnumArgument | TypeArgument | Literal):
        return argument
    if is_long((argument,)):
        raise UnsupportedPlanError(
            f"a number that must not be below {least} is too long to be written twice",
            hint="Compute it in a projection below this relation",
        )
    bound = Literal(type=with_nullability(argument.type, False), value=least)
    lower = boolean_call(Function(COMPARISON, "lt", "any_any"), (argument, bound), argument.type.nullable)
    return IfThen(ifs=(IfClause(lower, bound),), else_=argument)


def _dividend(argument: Argument, quotient: Type, digits: int) -> Argument:
    """Return a dividend with so many digits behind the point that its quotient, cut off, can be rounded."""
    assert isinstance(quotient, Decimal)
    if isinstance(argument, EnumArgument | TypeArgument) or not isinstance(argument.type, Decimal):
        return argument
    scale = quotient.scale + 1 - digits
    if argument.type.scale >= scale:
        return argument
    return cast(argument, Decimal(precision=38, scale=scale, nullable=argument.type.nullable))


def _text(argument: Argument, spelling: Spelling) -> Argument:
    if isinstance(argument, EnumArgument):
        return Literal(type=String(), value=spelling.texts.get(argument.value, argument.value.lower()))
    return argument

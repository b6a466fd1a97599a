"""Cases as expressions of the model, bound as the calls of a loaded plan are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyspark_substrait.conformance.function_cases import Argument as Written
from pyspark_substrait.conformance.function_cases import Call, Case, Column, Name, Word
from pyspark_substrait.conformance.function_cases import Function as WrittenLambda
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions.definitions import FunctionDefinition, Kind
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.extensions.signatures import Argument, EnumArg, ValueArg
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    Cast,
    EnumArgument,
    Expression,
    FieldReference,
    Function,
    FunctionOption,
    Lambda,
    LambdaParameterReference,
    ScalarFunction,
    SortField,
    StructField,
    WindowFunction,
)
from pyspark_substrait.model.expressions import Argument as BoundArgument
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import Func, Struct, Type, same_type, with_nullability

__all__ = ["Bound", "bind"]

#: What stands for an argument in the plan: the literal itself, or a column that holds it.
Place = Callable[[int, Literal], Expression]


@dataclass(frozen=True)
class Bound:
    """A case's call: its implementation, what it is called with, and the options that the implementation declares.

    ``dropped`` are the options that it doesn't declare, which a plan can't have either. ``declared`` is the type that a
    plan would state: the derived one, but nullable where an option makes the result null.
    """

    definition: FunctionDefinition
    type: Type
    declared: Type
    arguments: tuple[BoundArgument, ...]
    options: tuple[FunctionOption, ...]
    dropped: tuple[str, ...]

    @property
    def function(self) -> Function:
        return Function(self.definition.urn, self.definition.name, self.definition.key.partition(":")[2])

    def scalar(self) -> ScalarFunction:
        return ScalarFunction(
            function=self.function,
            arguments=self.arguments,
            options=self.options,
            output_type=self.declared,
            derived_type=self.type,
        )

    def aggregate(self) -> AggregateFunction:
        return AggregateFunction(
            function=self.function,
            arguments=self.arguments,
            options=self.options,
            output_type=self.declared,
            derived_type=self.type,
        )

    def window(self, sorts: Sequence[SortField]) -> WindowFunction:
        return WindowFunction(
            function=self.function,
            arguments=self.arguments,
            options=self.options,
            output_type=self.declared,
            derived_type=self.type,
            sorts=tuple(sorts),
        )


def bind(case: Case, place: Place, column: Callable[[Column], Expression]) -> Bound:
    """The call of a case.

    Args:
        case: the case.
        place: what stands for the literal argument at a position.
        column: the reference to a column of the case's table.

    Raises:
        InvalidPlanError: no implementation takes the arguments.
    """
    placed = [_placed(argument, position, place, column) for position, argument in enumerate(case.arguments)]
    kind: Kind = "window" if case.window else "scalar" if case.rows is None else "aggregate"
    definition, type, arguments = _resolved(case.urn, case.function, placed, kind)
    options, dropped = [], []
    for name, value in case.options:
        try:
            ((known, values),) = definition.check_options([(name, [value])])
        except InvalidPlanError:
            dropped.append(f"{name}:{value}")
        else:
            options.append(FunctionOption(known, values))
    empty = isinstance(case.expected, Literal) and case.expected.value is None
    declared = with_nullability(type, True) if empty else type
    return Bound(definition, type, declared, arguments, tuple(options), tuple(dropped))


def _placed(
    argument: Written, position: int, place: Place, column: Callable[[Column], Expression]
) -> Expression | EnumArgument:
    match argument:
        case Word(value=value):
            return EnumArgument(value)
        case Literal(type=Func()):
            return argument
        case Literal():
            return place(position, argument)
        case Column():
            return column(argument)
        case WrittenLambda():
            return _lambda(argument)


def _lambda(written: WrittenLambda) -> Lambda:
    parameters = Struct(types=tuple(type for _, type in written.parameters))
    names = [name for name, _ in written.parameters]
    return Lambda(parameters=parameters, body=_body(written.body, names, parameters))


def _body(call: Call, names: Sequence[str], parameters: Struct) -> ScalarFunction:
    arguments: list[Expression | EnumArgument] = []
    for argument in call.arguments:
        match argument:
            case Call():
                arguments.append(_body(argument, names, parameters))
            case Name(value=value):
                position = names.index(value)
                arguments.append(
                    FieldReference(
                        root=LambdaParameterReference(0),
                        reference=(StructField(position),),
                        type=parameters.types[position],
                    )
                )
            case Word(value=value):
                arguments.append(EnumArgument(value))
            case Literal():
                arguments.append(argument)
    definition, type, bound = _resolved(None, call.function, arguments, "scalar")
    return Bound(definition, type, type, bound, (), ()).scalar()


def _resolved(
    urn: str | None, name: str, arguments: Sequence[Expression | EnumArgument], kind: Kind
) -> tuple[FunctionDefinition, Type, tuple[BoundArgument, ...]]:
    """The implementation, the type of the call, and the arguments as it takes them."""
    given: list[Argument] = []
    for argument in arguments:
        match argument:
            case EnumArgument(value=value):
                given.append(EnumArg(value))
            case Literal(type=type, value=value):
                known = value if isinstance(value, str | int) and not isinstance(value, bool) else None
                given.append(ValueArg(type, known, value is None))
            case _:
                given.append(ValueArg(argument.type))
    found = Registry.default().resolve(urn, name, given, kind)
    assert found.definition is not None and found.output_type is not None
    bound: list[BoundArgument] = []
    for taken, source in zip(found.arguments, found.sources, strict=True):
        if isinstance(taken, EnumArg):
            bound.append(EnumArgument(taken.value))
            continue
        assert source is not None
        argument = arguments[source]
        assert not isinstance(argument, EnumArgument)
        fits = isinstance(taken.type, Func) or same_type(argument.type, taken.type)
        bound.append(argument if fits else Cast(type=taken.type, input=argument))
    return found.definition, found.output_type, tuple(bound)

"""The catalog of supported functions: each with every value of its options and enumeration arguments.

A *combination* is one overload with one value for each of its options and enumeration arguments. The tables have a row
or a refusal for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Final

from pyspark_substrait.errors import InvalidPlanError, SubstraitError, UnsupportedPlanError
from pyspark_substrait.extensions.definitions import EnumArgument, FunctionDefinition, ValueArgument
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.extensions.signatures import Argument, EnumArg, ValueArg
from pyspark_substrait.extensions.type_syntax import FuncPattern, Node, Number, TypePattern, UserPattern
from pyspark_substrait.model.expressions import Function
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    Binary,
    Boolean,
    Date,
    Decimal,
    FixedChar,
    Func,
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    List,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Type,
    UserDefined,
    VarChar,
    with_nullability,
)
from pyspark_substrait.sql.compiler.types import INTEGERS, spark_type
from pyspark_substrait.sql.fragment import Atom, Constant, Name
from pyspark_substrait.sql.functions.over import Over
from pyspark_substrait.sql.functions.table import Call, Operand, Refusal, Row, Table
from pyspark_substrait.sql.spark_version import NEWEST, SparkVersion

__all__ = ["Combination", "combinations", "example", "example_call"]


@dataclass(frozen=True, slots=True)
class Combination:
    """One overload with chosen values.

    Args:
        definition: the overload.
        enums: a value for each enumeration argument, by the argument's name.
        options: a value for each option, by the option's name.
        row: the row or refusal in the table; None if there is none.
    """

    definition: FunctionDefinition
    enums: Mapping[str, str]
    options: Mapping[str, str]
    row: Row | None

    @property
    def refusal(self) -> str | None:
        """The reason for the refusal; None if it isn't refused."""
        return self.row.body if isinstance(self.row, Refusal) and isinstance(self.row.body, str) else None


def combinations(definition: FunctionDefinition, table: Table | None) -> Iterator[Combination]:
    """Yield every combination of an overload, with its row in a table."""
    words = [argument for argument in definition.arguments if isinstance(argument, EnumArgument)]
    rows = [] if table is None else [row for row in table.rows if row.name == definition.name]
    for chosen in product(*(word.options for word in words)):
        enums = {word.name: value for word, value in zip(words, chosen, strict=True)}
        call = Call(
            function=Function(definition.urn, definition.name, definition.key.partition(":")[2]),
            operands=tuple(Operand(Name(enums.get(argument.name, argument.name))) for argument in definition.arguments),
            names=tuple(argument.name for argument in definition.arguments),
            output=Boolean(),
        )
        for values in product(*(values for _, values in definition.options)):
            options = {name: value for (name, _), value in zip(definition.options, values, strict=True)}
            fitting = next((row for row in rows if row.fits(call, options)), None)
            yield Combination(definition, enums, options, fitting)


#: an example type for each type name in the extensions, with parameters where it has some
_EXAMPLES: Final[Mapping[str, Type]] = {
    "boolean": Boolean(),
    "i8": I8(),
    "i16": I16(),
    "i32": I32(),
    "i64": I64(),
    "fp32": FP32(),
    "fp64": FP64(),
    "string": String(),
    "binary": Binary(),
    "date": Date(),
    "interval_year": IntervalYear(),
    "interval_day": IntervalDay(precision=6),
    "interval_compound": IntervalCompound(precision=6),
    "precision_time": PrecisionTime(precision=6),
    "precision_timestamp": PrecisionTimestamp(precision=6),
    "precision_timestamp_tz": PrecisionTimestampTZ(precision=6),
    "varchar": VarChar(length=20),
    "fixedchar": FixedChar(length=20),
    "decimal": Decimal(precision=10, scale=2),
}
#: constants for arguments that must be constant: every such function takes one of them
_CONSTANTS: Final = ("%Y", "UTC", "a")


def example(combination: Combination, registry: Registry, spark: SparkVersion = NEWEST) -> str:
    """Return the Spark SQL of a combination with its arguments as names; for documentation, not to be run.

    Raises:
        SubstraitError: it is refused, or there is no row.
    """
    definition = combination.definition
    if combination.row is None or combination.refusal is not None:
        raise UnsupportedPlanError(combination.refusal or f"{definition.key} has no Spark form")
    refused: SubstraitError | None = None
    names = [argument.name for argument in definition.arguments]
    # as few constants as possible
    for constant, only in ((None, None), *product(_CONSTANTS, (*names, None))):
        try:
            call = example_call(combination, registry, constant, only=only, spark=spark)
            body = combination.row.body
            assert callable(body)
            return body(call)
        except SubstraitError as error:
            refused = refused or error
    assert refused is not None
    raise refused


def example_call(
    combination: Combination,
    registry: Registry,
    constant: str | None = None,
    column: Callable[[str, Type], Atom] = lambda name, _: Name(name),
    only: str | None = None,
    spark: SparkVersion = NEWEST,
) -> Call:
    """A call of a combination with columns as arguments.

    Args:
        combination: the combination.
        registry: the extensions.
        constant: the text of arguments that must be constant; numbers are 1 then.
        column: returns the text of an argument with a name and a type.
        only: the argument that is a constant; None for all.
        spark: the version of Spark that the combination is for.

    Raises:
        InvalidPlanError: no types were found for the overload.
    """
    definition = combination.definition
    operands, given = [], list[Argument]()
    minimum = 1 if definition.variadic is None else definition.variadic.minimum
    for argument in (*definition.arguments, *definition.arguments[-1:] * (minimum - 1)):
        if isinstance(argument, EnumArgument):
            value = combination.enums[argument.name]
            operands.append(Operand(Name(value)))
            given.append(EnumArg(value))
            continue
        assert isinstance(argument, ValueArgument)
        type = with_nullability(_example_type(argument.pattern, definition, registry), True)
        literal: str | int | None = None
        if (constant is not None and only in (None, argument.name)) or argument.constant:
            literal = constant or "a" if isinstance(type, String) else 1 if type.__class__ in INTEGERS else None
        if literal is None:
            text = column(argument.name, type)
        else:
            text = Constant(f"CAST({literal!r} AS {spark_type(type)})", literal)
        operands.append(Operand(text, type))
        given.append(ValueArg(type, literal))
    names = tuple(argument.name for argument in definition.arguments)
    resolved = registry.resolve(definition.urn, definition.key, tuple(given), definition.kind)
    if resolved.output_type is None or resolved.definition is None or resolved.definition.key != definition.key:
        raise InvalidPlanError(f"there is no example for {definition.key}")
    return Call(
        function=Function(definition.urn, definition.name, definition.key.partition(":")[2]),
        operands=tuple(operands),
        names=names + names[-1:] * (len(operands) - len(names)),
        output=resolved.output_type,
        options=combination.options,
        over=Over(order="ORDER BY k") if definition.kind == "window" else None,
        spark=spark,
    )


def _example_type(pattern: Node, definition: FunctionDefinition, registry: Registry) -> Type:
    match pattern:
        case TypePattern(keyword="list", parameters=(element,)):
            return List(type=_example_type(element, definition, registry))
        case TypePattern(keyword="decimal", parameters=(_, Number(value=scale))):
            return Decimal(precision=10, scale=scale)
        case TypePattern(keyword=keyword) if keyword in _EXAMPLES:
            return _EXAMPLES[keyword]
        case FuncPattern(parameters=parameters, result=result):
            types = tuple(_example_type(item, definition, registry) for item in parameters)
            return Func(parameter_types=types, return_type=_example_type(result, definition, registry))
        case UserPattern(name=name):
            known = registry.type(definition.urn, name)
            return UserDefined(urn=definition.urn, name=name, structure=None if known is None else known.structure)
        case _:
            return I64()

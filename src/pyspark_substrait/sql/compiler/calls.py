"""Function calls as Spark SQL: the operands are compiled here, the forms of functions are in ``functions``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import UnsupportedPlanError, at
from pyspark_substrait.extensions.definitions import FunctionDefinition, ValueArgument
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.extensions.type_syntax import FuncPattern
from pyspark_substrait.model.expressions import (
    Argument,
    EnumArgument,
    Expression,
    FailureBehavior,
    Function,
    ScalarFunction,
    TypeArgument,
)
from pyspark_substrait.model.types import Func, Type, VarChar, concrete, same_type
from pyspark_substrait.model.unbound import LEAVES
from pyspark_substrait.sql import functions
from pyspark_substrait.sql.compiler import expressions, internal, lambdas
from pyspark_substrait.sql.compiler.casts import cast
from pyspark_substrait.sql.compiler.scope import Compilation, Scope
from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.conjuncts import BOOLEAN, operands_of
from pyspark_substrait.sql.fragment import Atom, Constant, Name, atom
from pyspark_substrait.sql.functions.common_expressions import bound
from pyspark_substrait.sql.functions.regexp.judging import refuse_slow_patterns
from pyspark_substrait.sql.functions.registered import registered_table
from pyspark_substrait.sql.functions.table import Call, Operand, Table
from pyspark_substrait.sql.spark_version import SparkVersion

#: operands with more characters are computed separately where they would be repeated
_LONG: Final = 1000

__all__ = [
    "argument_names",
    "cast_atom",
    "declared",
    "meaning",
    "operands",
    "scalar",
]


def cast_atom(
    text: Atom,
    source: Type,
    target: Type,
    compilation: Compilation,
    failure: FailureBehavior = FailureBehavior.UNSPECIFIED,
    *,
    holds_query: bool = False,
) -> Atom:
    """Return an expression cast to another type; ``holds_query`` says whether it contains a subquery."""
    return atom(cast(text, source, target, failure, holds_query=holds_query, version=compilation.spark))


def scalar(call: ScalarFunction, scope: Scope, compilation: Compilation) -> Atom:
    """The text of a scalar function call."""
    arguments: Sequence[Argument] = call.arguments
    if call.function.urn == BOOLEAN and call.function.name in ("and", "or") and len(arguments) > 1:
        # a long chain of nested pairs would be too deep for Spark's parser
        arguments = operands_of(call, BOOLEAN, call.function.name)
    if not call.function.urn:
        texts = [item.sql for item in operands(arguments, scope, compilation)]
        known = internal.internal(call.function, texts, call.derived_type)
        if known is not None:
            return known
    if compilation.refuse_slow_patterns:
        refuse_slow_patterns(call, compilation.known)
    definition, table = meaning(call.function, compilation)
    if _takes_function(arguments) and _without_function(definition, arguments, compilation):
        null = Constant(f"CAST(NULL AS {spark_type(call.derived_type)})", None)
        return declared(null, call.derived_type, call.output_type, compilation)
    made = Call(
        function=call.function,
        operands=operands(arguments, scope, compilation),
        names=argument_names(definition, len(arguments)),
        output=_computed(call.derived_type, call.output_type),
        functions=compilation.functions,
        settings=compilation.settings,
        spark=compilation.spark,
    )
    compilation.require(made.output)
    options = tuple((option.name, option.preference) for option in call.options) if call.options else ()
    text = _text(made, arguments, lambda bounded: table.text(bounded, options), scope, compilation)
    return declared(atom(text), made.output, call.output_type, compilation, call)


def _computed(derived: Type, declared: Type) -> Type:
    """Return the type that a call is computed in: the derived one, or the declared one if it is a longer varchar.

    ``concat(varchar<3>, varchar<5>)`` is a varchar<5> to the extension; a plan may declare a length of eight.
    """
    narrow, wide = concrete(derived), concrete(declared)
    longer = isinstance(narrow, VarChar) and isinstance(wide, VarChar) and wide.length > narrow.length
    return declared if longer else derived


def _takes_function(arguments: Sequence[Argument]) -> bool:
    """Whether an argument is a function."""
    if LEAVES.issuperset([getattr(argument, "type", None).__class__ for argument in arguments]):
        return False
    for argument in arguments:
        if not isinstance(argument, EnumArgument | TypeArgument) and isinstance(concrete(argument.type), Func):
            return True
    return False


def _without_function(definition: FunctionDefinition, arguments: Sequence[Argument], compilation: Compilation) -> bool:
    """Whether an argument is a null in place of a function, which makes every result null."""
    _refuse_functions_as_values(definition, arguments)
    for argument in arguments:
        if not isinstance(argument, EnumArgument | TypeArgument) and isinstance(concrete(argument.type), Func):
            known = compilation.known(argument)
            if known is not None and known.value is None:
                return True
    return False


class _Mark(Constant):
    """The text that stands for an operand until its text is put in."""

    __slots__ = ()

    @property
    def cheap(self) -> bool:
        """Whether repeating the operand is cheap."""
        return False


def _text(
    call: Call, arguments: Sequence[Argument], made: Callable[[Call], str], scope: Scope, compilation: Compilation
) -> str:
    """Return the text of a call, after naming two kinds of operands where necessary.

    A long operand that would be repeated becomes the variable of a lambda; otherwise the text of nested calls would
    grow exponentially with the depth. An operand with a subquery or a window function, which Spark never takes in a
    higher-order function, becomes a column below if the function's text has a lambda.
    """
    marks: dict[_Mark, tuple[Expression, Atom]] = {}
    short = list(call.operands)
    for position, (operand, argument) in enumerate(zip(call.operands, arguments, strict=True)):
        if isinstance(argument, EnumArgument | TypeArgument) or isinstance(operand.type, Func):
            continue
        sql = operand.sql
        if len(sql) > _LONG or (not sql.cheap and lambdas.is_elsewhere(argument, compilation)):
            mark = _Mark(f"\0{position}\0", sql.value)  # occurs in no text: literals have it escaped
            marks[mark] = (argument, sql)
            short[position] = operand._replace(sql=mark)
    if not marks:
        return made(call)
    text: str = made(replace(call, operands=tuple(short)))
    is_atom = isinstance(text, Atom)
    lets: list[tuple[Name, Atom]] = []
    for mark, (argument, value) in marks.items():
        instead: Atom = value
        if lambdas.is_elsewhere(argument, compilation):
            if "->" in text:
                instead = _below(value, argument, scope, compilation)
                compilation.moved[id(argument)] = argument
        elif len(value) > _LONG and text.count(mark) > 1:
            lets.append((compilation.names.fresh("l"), value))
            instead = lets[-1][0]
        text = text.replace(mark, instead)
    if not lets:
        return Atom(text) if is_atom else text
    for name, value in lets:
        text = bound(value, name, text)
    return text


def _below(text: str, argument: Expression, scope: Scope, compilation: Compilation) -> Atom:
    """Return the name of a column below with the value of an operand that can't be combined with a lambda."""
    if scope.below is None or scope.lambdas:
        lambdas.refuse_inside(argument)
        raise UnsupportedPlanError(
            "a window function cannot stand in this call, which Spark computes with a lambda",
            hint="Compute it as a column in a projection below, and refer to that",
        )
    return scope.below.column(text, compilation)


def _refuse_functions_as_values(definition: FunctionDefinition, arguments: Sequence[Argument]) -> None:
    """Refuse a lambda where a function takes a value of any type."""
    for position, argument in enumerate(arguments):
        if isinstance(argument, EnumArgument | TypeArgument) or not isinstance(concrete(argument.type), Func):
            continue
        taken = definition.argument(position)
        if not isinstance(taken, ValueArgument) or not isinstance(taken.pattern, FuncPattern):
            raise UnsupportedPlanError(
                f"{definition.key} of a {argument.type} cannot run on Spark, which has no functions as values",
                path=f"arguments[{position}]",
            )


def meaning(function: Function, compilation: Compilation) -> tuple[FunctionDefinition, Table]:
    """Return the definition of a function, and the table with its Spark forms."""
    definition, table = _known_meaning(compilation.registry, function, compilation.spark)
    if definition is None or table is None:
        missing = "with_yaml(...) and " if definition is None else ""
        raise UnsupportedPlanError(
            f"the function {function.key} of {function.urn} has no Spark form",
            hint=f"Define it for Spark with --functions FILE, or Registry.{missing}with_function(...) "
            "(docs/own-functions.md)",
            code=Code.TARGET_FUNCTION,
        )
    return definition, table


@lru_cache(maxsize=1024)
def _known_meaning(
    registry: Registry, function: Function, spark: SparkVersion
) -> tuple[FunctionDefinition | None, Table | None]:
    table = functions.table(function.urn, spark) or registered_table(registry, function.urn, spark)
    return registry.function(function.urn, function.key), table


def operands(arguments: Sequence[Argument], scope: Scope, compilation: Compilation) -> tuple[Operand, ...]:
    """The arguments of a call as operands."""
    found: list[Operand] = []
    for position, argument in enumerate(arguments):
        with at("arguments", position):
            match argument:
                case EnumArgument(value=value):
                    found.append(Operand(Name(value)))
                case TypeArgument():
                    raise UnsupportedPlanError(
                        f"the argument is the type {argument.type}, but no function of the specification takes a type"
                    )
                case _ if isinstance(type := concrete(argument.type), Func):
                    # Spark takes no subquery anywhere in the call of a higher-order function
                    for beside in arguments:
                        if not isinstance(beside, EnumArgument | TypeArgument):
                            lambdas.refuse_inside(beside)
                    found.append(Operand(Atom(lambdas.argument(argument, scope, compilation)), type))
                case _:
                    text = expressions.expression(argument, scope, compilation)
                    found.append(Operand(text, type))
    return tuple(found)


def argument_names(definition: FunctionDefinition, count: int) -> tuple[str, ...]:
    """The name of each of ``count`` arguments; those of a variadic tail share the last one."""
    names = [argument.name for argument in definition.arguments]
    return tuple(names) if count <= len(names) else (*names, *(names[-1:] * (count - len(names))))


def declared(
    text: Atom, derived: Type, declared: Type, compilation: Compilation, node: Expression | None = None
) -> Atom:
    """Cast the text of a call from the derived type to the one that the plan declares.

    Nullability alone needs no cast. ``node`` is the call, None for one that contains no subquery in place.
    """
    if same_type(derived, declared):
        return text
    holds_query = node is not None and lambdas.holds_query(node, compilation)
    return cast_atom(text, derived, declared, compilation, holds_query=holds_query)

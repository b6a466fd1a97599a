"""Calls of functions: found by name, with types resolved at once; arguments are cast where nothing is lost."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pyspark_substrait.builder import aggregates, schemas
from pyspark_substrait.builder.columns import Column, Unfinished, cast_to, column, made, register_calls
from pyspark_substrait.builder.constants import fitted, own_type
from pyspark_substrait.builder.scoping import new_token, open_reference, with_parameters
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions import definitions
from pyspark_substrait.extensions.calls import Options, ResolvedCall, function_of
from pyspark_substrait.extensions.definitions import FunctionDefinition, Kind
from pyspark_substrait.extensions.derivation import Binding, Scope, bind_argument, evaluate_type, plain
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.extensions.resolution import Resolved
from pyspark_substrait.extensions.signatures import Argument as GivenArgument
from pyspark_substrait.extensions.signatures import EnumArg, TypeArg, ValueArg
from pyspark_substrait.extensions.type_syntax import FuncPattern
from pyspark_substrait.model.expressions import (
    Argument,
    EnumArgument,
    FunctionOption,
    Lambda,
    LambdaInvocation,
    ScalarFunction,
    TypeArgument,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import I8, I16, I32, I64, Decimal, Struct, Type, TypeBase, concrete, with_nullability

__all__ = ["Functions", "call", "enum", "fn", "function", "invoke", "lambda_"]

#: The most combinations of types for Python values that are tried.
_TRIES: Final = 64
#: The most decimal digits of integers.
_DIGITS: Final[Mapping[type, int]] = {I8: 3, I16: 5, I32: 10, I64: 19}


@dataclass(frozen=True, slots=True)
class _Word:
    """An enumeration argument."""

    value: str


def enum(word: str) -> Any:
    """Mark a word as an enumeration argument, where it could also be a string.

    Examples:
        >>> orders = read("orders", {"day": "date"})
        >>> orders.select(year=lambda o: fn.extract(enum("YEAR"), o.day))
        <Frame: year: i64>
    """
    return _Word(word)


def call(
    name: str,
    *arguments: Any,
    urn: str | None = None,
    options: Options | None = None,
    registry: Registry | None = None,
    **more_options: str | tuple[str, ...],
) -> Any:
    """Call a function of any extension.

    Args:
        name: the function, by its simple name or its signature (``add:i32_i32``).
        arguments: columns; Python values; words of enumerations as strings; types; Python functions for lambdas.
        urn: the extension; for those of the specification, the name of the file is enough: ``functions_string``. By
            default that of the only function that takes the arguments.
        options, more_options: option values by option; several in the order of preference.
        registry: the extensions; by default those of the frame that the arguments come from.

    Returns:
        A :class:`Column`, for an aggregate function an :class:`Aggregated`, and for a window function a
        :class:`Windowed`, which needs ``over``.

    Raises:
        InvalidPlanError: there is no such function, or none that takes the arguments, or no such option.

    Examples:
        >>> orders = read("orders", {"id": "i64"})
        >>> orders.select(next=lambda o: call("add", o.id, 1, urn="functions_arithmetic", overflow="ERROR"))
        <Frame: next: i64>
    """
    if _deferred(name, arguments, registry):
        return _later(name, arguments, urn, {**(options or {}), **more_options}, registry)
    items = [item.as_column() if isinstance(item, Unfinished) else item for item in arguments]
    parts = [item for item in items if isinstance(item, Column)]
    known = registry or next((part._registry for part in parts if part._registry is not None), None)
    extensions = known or Registry.default()
    made_call, kind = _resolved(extensions, _urn(extensions, urn, name), name, items)
    checked = _with_options(extensions, made_call, {**(options or {}), **more_options})
    if kind == "aggregate":
        return aggregates.aggregated(checked, parts, extensions)
    if kind == "window":
        return aggregates.Windowed(checked, tuple(parts), extensions)
    node = ScalarFunction(
        function=checked.function,
        arguments=checked.arguments,
        options=checked.options,
        output_type=checked.type,
        derived_type=checked.type,
    )
    found = made(node, *parts)
    found._registry = extensions if known is not None else None
    return found


register_calls(call)


def _urn(registry: Registry, urn: str | None, name: str) -> str | None:
    """Return the extension that a call names; one of our own extensions if only that has the function."""
    if urn is not None:
        return urn if ":" in urn else f"extension:io.substrait:{urn}"
    simple = name.partition(":")[0]
    if any(registry.overloads(one, simple) for one in registry.urns()):
        return None
    return next((one for one in registry.spark_urns() if registry.overloads(one, simple)), None)


def _overloads(registry: Registry, urn: str | None, name: str) -> tuple[FunctionDefinition, ...]:
    simple = name.partition(":")[0]
    urns = registry.urns() if urn is None else (urn,)
    return tuple(definition for one in urns for definition in registry.overloads(one, simple))


def _resolved(registry: Registry, urn: str | None, name: str, items: Sequence[Any]) -> tuple[ResolvedCall, Kind]:
    overloads = _overloads(registry, urn, name)
    items = [_lambda_for(item, position, items, overloads, registry) for position, item in enumerate(items)]
    typed = [item.type for item in items if isinstance(item, Column)]
    choices = [_candidates(item, position, typed, overloads) for position, item in enumerate(items)]
    first: InvalidPlanError | None = None
    way: Sequence[Any] = ()
    loose: tuple[Resolved, Sequence[Any]] | None = None
    for way in itertools.islice(itertools.product(*choices), _TRIES):
        try:
            found = registry.resolve(urn, name, tuple(map(_given, way)), kind=None)
        except InvalidPlanError as error:
            first = error  # the last combination has each value in its own type
            continue
        if found.definition is None:
            raise InvalidPlanError(f"the extension `{urn}` is not known", hint="Add its file to the registry")
        if urn is not None and found.definition.urn != urn:
            first = InvalidPlanError(f"there is no function `{name}` in `{urn}` that takes the arguments")
            continue
        if not any(" cast from " in note for note in found.notes):
            return _taken(found, way), found.definition.kind
        loose = loose or (found, way)
    if loose is not None:
        assert loose[0].definition is not None
        return _taken(*loose), loose[0].definition.kind
    widened = _beside_decimals(items)
    if widened is not None:
        return _resolved(registry, urn, name, widened)
    assert first is not None
    if urn is not None and overloads:
        shown = "; ".join(definition.signature() for definition in overloads[:8])
        types = ", ".join(item.value if isinstance(item, _Word) else str(_type_of(item)) for item in way)
        raise InvalidPlanError(
            f"no implementation of `{urn}` takes these arguments: {name}({types})", hint=f"There are: {shown}"
        )
    raise first


def _type_of(item: Any) -> Any:
    return item if isinstance(item, TypeBase) else item.type


def _beside_decimals(items: Sequence[Any]) -> list[Any] | None:
    """Cast integers to decimals that hold them all; None unless there are both kinds of numbers."""
    types = [concrete(item.type) for item in items if isinstance(item, Column)]
    if not any(isinstance(type, Decimal) for type in types) or not any(type.__class__ in _DIGITS for type in types):
        return None
    found = []
    for item in items:
        digits = _DIGITS.get(concrete(item.type).__class__) if isinstance(item, Column) else None
        found.append(item if digits is None else cast_to(item, Decimal(precision=digits, scale=0)))
    return found


def _candidates(item: Any, position: int, typed: Sequence[Type], overloads: Sequence[FunctionDefinition]) -> list[Any]:
    """Return the arguments that a value may become, the most likely first."""
    if isinstance(item, Column | _Word):
        return [item]
    if isinstance(item, TypeBase):
        return [item]
    found: list[Any] = []
    if isinstance(item, str) and _is_word(item, position, overloads):
        found.append(_Word(item))
    for type in typed:
        literal = fitted(item, type)
        if literal is not None and literal not in found:
            found.append(literal)
    if item is None:
        if not found:
            raise InvalidPlanError("None has no type here", hint="State it: lit(None, type)")
        return found
    own = column(item).expression
    return found if own in found else [*found, own]


def _is_word(item: str, position: int, overloads: Sequence[FunctionDefinition]) -> bool:
    for definition in overloads:
        if position < len(definition.arguments):
            argument = definition.arguments[position]
            if isinstance(argument, definitions.EnumArgument) and item.upper() in map(str.upper, argument.options):
                return True
    return False


def _given(item: Any) -> GivenArgument:
    """Return an argument in the form of the registry."""
    match item:
        case _Word(value=value):
            return EnumArg(value)
        case TypeBase():
            return TypeArg(item)  # type: ignore[arg-type]
        case Column():
            return _given(item.expression) if isinstance(item.expression, Literal) else ValueArg(item.type)
        case Literal(type=type, value=None):
            return ValueArg(type, null=True)
        case Literal(type=type, value=int() | str() as value) if not isinstance(value, bool):
            return ValueArg(type, value)
        case _:
            return ValueArg(item.type)


def _taken(found: Resolved, way: Sequence[Any]) -> ResolvedCall:
    """Return the call, with its arguments in the form that the function takes."""
    possible = found.possible_type
    assert possible is not None
    arguments: list[Argument] = []
    for source, wanted in zip(found.sources, found.arguments, strict=True):
        item = None if source is None else way[source]
        match wanted:
            case EnumArg(value=value):
                arguments.append(EnumArgument(value))
            case TypeArg(type=type):
                arguments.append(TypeArgument(type))
            case ValueArg(type=type):
                assert item is not None, "a value is given"
                given = item if isinstance(item, Column) else Column(item)
                same = with_nullability(given.type, type.nullable) == type
                arguments.append(given.expression if same else cast_to(given, type).expression)
    return ResolvedCall(function=function_of(found), arguments=tuple(arguments), options=(), type=possible)


def _with_options(registry: Registry, made_call: ResolvedCall, options: Options) -> ResolvedCall:
    if not options:
        return made_call
    definition = registry.function(made_call.function.urn, made_call.function.key)
    assert definition is not None
    stated = [(name, (value,) if isinstance(value, str) else tuple(value)) for name, value in options.items()]
    checked = definition.check_options(stated)
    return ResolvedCall(
        function=made_call.function,
        arguments=made_call.arguments,
        options=tuple(FunctionOption(name, tuple(values)) for name, values in checked),
        type=made_call.type,
    )


# lambdas --------------------------------------------------------------------------------------------------------------


def lambda_(types: Sequence[Any], body: Callable[..., Any], registry: Registry | None = None) -> Column:
    """Return a lambda: a Python function applied to parameters of these types.

    Examples:
        >>> orders = read("orders", {"prices": "list<fp64>"})
        >>> orders.select(halves=lambda o: fn.transform(o.prices, lambda_(["fp64"], lambda x: x / 2)))
        <Frame: halves: list<fp64>>
    """
    parameters, names = [], []
    for given in types:
        type, inner = schemas.typed_names(given, registry)
        parameters.append(type)
        names.append(inner)
    return _lambda(tuple(parameters), names, body, registry)


def invoke(function: Callable[..., Any], *arguments: Any) -> Column:
    """Apply a Python function as a lambda in place.

    Examples:
        >>> orders = read("orders", {"price": "fp64"})
        >>> orders.select(square=lambda o: invoke(lambda x: x * x, o.price + 1))
        <Frame: square: fp64>
    """
    items = [column(item) for item in arguments]
    made_lambda = _lambda(tuple(item.type for item in items), [item._inner for item in items], function, None)
    assert isinstance(made_lambda.expression, Lambda)
    node = LambdaInvocation(lambda_=made_lambda.expression, arguments=tuple(item.expression for item in items))
    return made(node, *items, made_lambda)


def _lambda(
    types: tuple[Type, ...], names: Sequence[tuple[str, ...]], body: Callable[..., Any], registry: Registry | None
) -> Column:
    token = new_token()
    parameters = [
        Column(open_reference(token, position, type), inner=inner, registry=registry)
        for position, (type, inner) in enumerate(zip(types, names, strict=True))
    ]
    result = column(body(*parameters))
    node = Lambda(parameters=Struct(types=types), body=with_parameters(result.expression, token))
    found = made(node, result, inner=())
    return found


def _lambda_for(
    item: Any, position: int, items: Sequence[Any], overloads: Sequence[FunctionDefinition], registry: Registry
) -> Any:
    """Return a Python function as the lambda that the called function takes at this position."""
    if not _is_function(item):
        return item
    for definition in overloads:
        argument = definition.argument(position) if definition.arguments else None
        if not isinstance(argument, definitions.ValueArgument) or not isinstance(argument.pattern, FuncPattern):
            continue
        bindings: dict[str, Binding] = {}
        scope = Scope(definition.urn, definition.dependencies)
        names: tuple[str, ...] = ()
        for other, declared in zip(items, definition.arguments, strict=False):
            if (callable(other) and not isinstance(other, Column)) or not isinstance(
                declared, definitions.ValueArgument
            ):
                continue
            type = other.type if isinstance(other, Column) else own_type(other)
            if not bind_argument(declared.pattern, plain(type), bindings, scope, discrete=False):
                break
            names = names or (other._inner if isinstance(other, Column) else ())
        else:
            types = tuple(evaluate_type(one, bindings, scope) for one in argument.pattern.parameters)
            inner = [names if len(schemas.numbered(one)) == len(names) else schemas.numbered(one) for one in types]
            return _lambda(types, inner, item, registry)
    raise InvalidPlanError("a function of Python cannot be an argument here", hint="Give it a column")


def _is_function(item: Any) -> bool:
    """Whether an argument is a Python function."""
    return callable(item) and not isinstance(item, Column | TypeBase)


def _deferred(name: str, arguments: Sequence[Any], registry: Registry | None) -> bool:
    """Whether arguments are functions of the record: none is a column, and the called function takes no lambda."""
    if any(isinstance(item, Column) for item in arguments) or not any(map(_is_function, arguments)):
        return False
    return not any(
        isinstance(argument, definitions.ValueArgument) and isinstance(argument.pattern, FuncPattern)
        for definition in _overloads(registry or Registry.default(), None, name)
        for argument in definition.arguments
    )


def _later(
    name: str, arguments: tuple[Any, ...], urn: str | None, options: Options, registry: Registry | None
) -> Callable[..., Any]:
    """Return a call whose arguments are functions of the record, as a function of the record."""

    def of(*records: Any) -> Any:
        items = [item(*records) if _is_function(item) else item for item in arguments]
        return call(name, *items, urn=urn, options=options, registry=registry)

    return of


# by name --------------------------------------------------------------------------------------------------------------


class Functions:
    """The functions of all extensions as attributes: ``fn.upper(o.name)``.

    A name that is a Python keyword or a built-in may have a trailing underscore: ``fn.and_``, ``fn.sum_``.

    Examples:
        >>> orders = read("orders", {"item": "string?"})
        >>> orders.select(item=lambda o: fn.upper(o.item))
        <Frame: item: string?>
    """

    def __init__(self, urn: str | None = None, registry: Registry | None = None) -> None:
        self._urn = urn
        self._registry = registry

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        return function(name, self._urn, self._registry)

    def __getitem__(self, name: str) -> Callable[..., Any]:
        return function(name, self._urn, self._registry)

    def __call__(self, urn: str | None = None, registry: Registry | None = None) -> Functions:
        """Return the functions of one extension, or of another registry."""
        return Functions(urn or self._urn, registry or self._registry)

    def __dir__(self) -> list[str]:
        return sorted({name for _, name, _ in (self._registry or Registry.default()).functions()})


def function(name: str, urn: str | None = None, registry: Registry | None = None) -> Callable[..., Any]:
    """Return a Python function that calls a function of the extensions."""
    simple = name[:-1] if name.endswith("_") else name

    def called(
        *arguments: Any,
        options: Options | None = None,
        urn: str | None = urn,
        registry: Registry | None = registry,
        **more: str | tuple[str, ...],
    ) -> Any:
        return call(simple, *arguments, urn=urn, options=options, registry=registry, **more)

    called.__name__ = called.__qualname__ = name
    called.__doc__ = f"A call of the function `{simple}`; see :func:`call`."
    return called


fn: Final = Functions()

"""Finding the implementation that a call refers to.

The rules of :func:`choose`, in order; the first that finds something applies:

1. in the extension that the plan names, the implementation with exactly the declared signature, if it takes the
   arguments by the specification's binding rules;
2. in that extension, any implementation of the same simple name (the part before the colon) that takes them;
3. the declared signature, then the simple name, after lossless casts (:mod:`coercion`), the fewest steps first;
4. the same in all known extensions, if the plan names no extension, or one that doesn't have it.

``strict`` applies rule 1 only. When several implementations take the arguments equally well, the one with fewer
arguments of any type wins (``gt:date_date`` before ``gt:any_any``), and implementations in
``functions_aggregate_decimal_output`` come last, since they only repeat others with another result. A remaining tie is
ambiguous, an error that lists the candidates.

First of all, a call in an older or a foreign form is converted to the standard one by :func:`standard_calls`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions import definitions
from pyspark_substrait.extensions.coercion import may_overflow
from pyspark_substrait.extensions.definitions import FunctionDefinition, Kind
from pyspark_substrait.extensions.derivation import Binding, Scope
from pyspark_substrait.extensions.matching import Match, Phase, match_exactly, match_widened
from pyspark_substrait.extensions.signatures import Argument, EnumArg, ValueArg, call_text, looser_key
from pyspark_substrait.extensions.type_syntax import AnyPattern, Variable
from pyspark_substrait.model.types import Type, with_nullability

__all__ = ["Call", "Resolved", "choose", "standard_calls"]

_LAST_RESORT: Final = "extension:io.substrait:functions_aggregate_decimal_output"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """The result of resolving a call.

    Args:
        definition: the implementation; None when the plan names an extension that isn't known, so that only the plan's
            own ``output_type`` gives the type of the call.
        output_type: the derived type of the call, None without a definition.
        bindings: the values of the parameters of the implementation's types, by lower-case name.
        arguments: the arguments as the implementation takes them: a value's ``type`` is the type it must be cast to, a
            word has the spelling of the extension file.
        sources: for each of ``arguments`` its position in the call, None for a word that the call left out.
        notes: the deviations of the call from the specification, in words; empty for an exact call.
        as_given: whether the arguments are values that are taken unchanged and in order.
    """

    definition: FunctionDefinition | None
    output_type: Type | None
    bindings: tuple[tuple[str, Binding], ...] = ()
    arguments: tuple[Argument, ...] = ()
    sources: tuple[int | None, ...] = ()
    notes: tuple[str, ...] = ()
    as_given: bool = False

    @property
    def possible_type(self) -> Type | None:
        """The type of the values that the call returns: ``output_type``, nullable also where its file overlooks that.

        ``first_value`` and ``last_value`` are declared to return ``any1``, which is required, whatever the argument is;
        but the value that they return may be null, and a window may have no records.
        """
        definition, type = self.definition, self.output_type
        if definition is None or type is None or type.nullable or definition.kind != "window":
            return type
        passed = isinstance(definition.program, AnyPattern | Variable)
        return with_nullability(type, True) if passed else type

    @property
    def argument_types(self) -> tuple[Type | None, ...]:
        """The type that each of ``arguments`` must have; None for a word."""
        return tuple(None if isinstance(argument, EnumArg) else argument.type for argument in self.arguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call in one of the forms by which it is looked up."""

    name: str
    arguments: tuple[Argument, ...]
    sources: tuple[int | None, ...]
    notes: tuple[str, ...] = ()

    @property
    def simple_name(self) -> str:
        return self.name.partition(":")[0]


# calls in other forms ------------------------------------------------------------------------------------------------

#: components of ``extract`` that need an argument for where counting starts
_INDEXED: Final = frozenset(
    {
        "QUARTER",
        "MONTH",
        "DAY",
        "DAY_OF_YEAR",
        "MONDAY_DAY_OF_WEEK",
        "SUNDAY_DAY_OF_WEEK",
        "MONDAY_WEEK",
        "SUNDAY_WEEK",
        "ISO_WEEK",
        "US_WEEK",
    }
)
#: the names of the components in PostgreSQL's ``date_part`` and related functions, where the values are the same
_DATE_PARTS: Final[dict[str, tuple[str, ...]]] = {
    "YEAR": ("YEAR",),
    "ISOYEAR": ("ISO_YEAR",),
    "QUARTER": ("QUARTER", "ONE"),
    "MONTH": ("MONTH", "ONE"),
    "WEEK": ("ISO_WEEK", "ONE"),
    "DAY": ("DAY", "ONE"),
    "DOY": ("DAY_OF_YEAR", "ONE"),
    "DOW": ("SUNDAY_DAY_OF_WEEK", "ZERO"),
    "ISODOW": ("MONDAY_DAY_OF_WEEK", "ONE"),
    "HOUR": ("HOUR",),
    "MINUTE": ("MINUTE",),
    "SECOND": ("SECOND",),
}


def standard_calls(name: str, arguments: tuple[Argument, ...]) -> Iterator[Call]:
    """Yield the call as it is, and then its standard form, if it has another one.

    - ``date_part('month', x)``, and ``extract`` with a string literal: the string becomes the word, with the indexing
      that ``date_part`` has;
    - ``extract(MONTH, x)`` without an indexing, as before release 0.30: counting starts at one;
    - ``like(x, pattern, null)``: the null, which stands for no escape character, is left out.
    """
    positions: tuple[int | None, ...] = tuple(range(len(arguments)))
    yield Call(name=name, arguments=arguments, sources=positions)
    simple = name.partition(":")[0].lower()
    match simple, arguments:
        case "like", (input, pattern, ValueArg(null=True)):
            note = f"`{name}` without an escape character, given as null, read as `like` of two arguments"
            yield Call(name="like", arguments=(input, pattern), sources=positions[:2], notes=(note,))
            return
        case "date_part" | "datepart" | "extract", (ValueArg(literal=str(part)), *_) if (
            part.strip().upper() in _DATE_PARTS
        ):
            words = _DATE_PARTS[part.strip().upper()]
            note = f"`{name}` with the string '{part}' read as `extract` with {' and '.join(words)}"
        case "date_part" | "datepart" | "extract", (EnumArg(value=value), *rest) if (
            value.upper() in _INDEXED and not any(isinstance(argument, EnumArg) for argument in rest)
        ):
            words = (value, "ONE")
            note = f"`{name}` with {value} and no indexing read as `extract` with {value} and ONE"
        case "date_part" | "datepart", (EnumArg(value=value), *_):
            words = (value,)
            note = f"`{name}` read as `extract`"
        case _:
            return
    yield Call(
        name="extract",
        arguments=(*(EnumArg(word) for word in words), *arguments[1:]),
        sources=(0, *(None for _ in words[1:]), *positions[1:]),
        notes=(note,),
    )


# choosing ------------------------------------------------------------------------------------------------------------


def choose(
    call: Call,
    overloads: Iterable[FunctionDefinition],
    scope: Callable[[FunctionDefinition], Scope],
    *,
    phase: Phase,
    strict: bool,
    qualified: bool,
) -> Resolved | None:
    """Return the implementation that the call refers to, among ``overloads`` of its simple name, or None.

    ``qualified``: the plan named the extension they belong to.

    Raises:
        InvalidPlanError: several fit equally well.
    """
    overloads = tuple(overloads)
    named = tuple(overload for overload in overloads if overload.key == call.name)
    if not named and not strict:
        loose = looser_key(call.name)
        named = tuple(overload for overload in overloads if overload.key == loose)
    for widen in (False,) if strict else (False, True):
        matcher = match_widened if widen else match_exactly
        for group in (named,) if strict else (named, overloads):
            found = [
                match for overload in group if (match := matcher(overload, call.arguments, scope(overload), phase))
            ]
            if found:
                return _resolved(call, _best(call, found), qualified, widen)
    return None


def _best(call: Call, matches: list[Match]) -> Match:
    def rank(match: Match) -> tuple[int, bool, int]:
        return match.cost, match.definition.urn == _LAST_RESORT, _generality(match.definition)

    matches = sorted(matches, key=rank)
    best = [match for match in matches if rank(match) == rank(matches[0])]
    if len(best) > 1:
        candidates = "; ".join(f"`{match.definition.urn}` {match.definition.signature()}" for match in best)
        raise InvalidPlanError(
            f"the call {call_text(call.name, call.arguments)} is ambiguous: {candidates}",
            hint="Name the function by its extension and its full signature, such as "
            f"`{best[0].definition.key}`, or cast the arguments",
            code=Code.LINK_AMBIGUOUS_NAME,
        )
    return best[0]


def _generality(definition: FunctionDefinition) -> int:
    """The number of arguments that take any type."""
    return sum(
        not isinstance(argument, definitions.EnumArgument) and isinstance(argument.pattern, Variable | AnyPattern)
        for argument in definition.arguments
    )


def _resolved(call: Call, match: Match, qualified: bool, widened: bool) -> Resolved:
    definition = match.definition
    notes = list(call.notes)
    casts = []
    if not qualified:
        notes.append(f"`{call.name}` found in `{definition.urn}`, as the plan names no extension that has it")
    if call.name != definition.key and not call.notes:
        notes.append(f"`{call.name}` read as `{definition.key}`")
    for position, (given, taken) in enumerate(zip(call.arguments, match.arguments, strict=True)):
        if isinstance(given, ValueArg) and isinstance(taken, ValueArg) and given.type != taken.type and widened:
            cast = f"argument {position} of `{definition.key}` cast from {given.type} to {taken.type}"
            if may_overflow(given.type, taken.type):
                cast += ", which fails for values too large for that"
            casts.append(cast)
    if widened and not casts:
        casts.append(f"the elements that the arguments of `{definition.key}` are about differ in nullability")
    notes += casts
    try:
        output_type = match.output_type()
    except InvalidPlanError as error:
        error.code = error.code or Code.TYPE_DERIVATION_FAILED
        raise
    return Resolved(
        definition=definition,
        output_type=output_type,
        bindings=match.bindings,
        arguments=match.arguments,
        sources=call.sources,
        notes=tuple(notes),
        as_given=not call.notes and all(map(_is_taken_as_given, call.arguments, match.arguments)),
    )


def _is_taken_as_given(given: Argument, taken: Argument) -> bool:
    return isinstance(given, ValueArg) and isinstance(taken, ValueArg) and given.type == taken.type


def kinds_for(kind: Kind | None) -> frozenset[Kind]:
    """The kinds of functions that may be called as ``kind``: an aggregate function is also a window function."""
    if kind is None:
        return frozenset({"scalar", "aggregate", "window"})
    return frozenset({"window", "aggregate"}) if kind == "window" else frozenset({kind})

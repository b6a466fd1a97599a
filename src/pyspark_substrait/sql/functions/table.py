"""The rows of the function tables: the Spark SQL expression of a function, and the conditions under which it is exact.

A table is a list of rows, and each row is one meaning: ``row("modulus", "{x} % {y}", division_type="TRUNCATE")`` means
that ``modulus`` is Spark's ``%`` if the option ``division_type`` is TRUNCATE. The first row that fits a call is used,
so the order of rows determines the default of an unstated option.

A body is a template over the argument names of the extension's YAML. Arguments appear in it as operands: they may be
used several times and need no brackets. ``{0}`` is an argument by position, ``{output}`` the Spark type of the result.
If a line of template isn't enough, the body is a function of the :class:`Call`. The value of a body has exactly the
type the extension derives.

In the body of an aggregate or window function, ``[sum({x})]`` marks the call that DISTINCT, FILTER and OVER belong to.
The row of an aggregate that can be computed in several phases has a body for each of them (:class:`Steps`); the later
ones see the intermediate value as their argument.

Rows are written for the types that Spark itself has. Values with a foreign carrier (``is_foreign`` in ``types``) reach
only rows that declare that they are correct for them: ``row("lt", "{x} < {y}", foreign=Foreign.ORDERED)``.

A row says from which Spark on it is exact, ``since="4.0"``, and may have another body for the versions before that,
``before=…``; without one it is refused there. :meth:`Table.for_spark` is the table of one version.

In reverse, the tables give the function for a Catalyst expression: ``catalyst=ansi("Add")``. The options of the row, or
the first value of each option with several values, are then those of the call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import product
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from typing_extensions import assert_never

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import NewerSparkError, UnsupportedPlanError
from pyspark_substrait.model.expressions import AggregationPhase, Function
from pyspark_substrait.model.types import List, Type, concrete, same_type
from pyspark_substrait.sql.compiler.types import has_order, is_foreign, spark_type
from pyspark_substrait.sql.fragment import UNKNOWN, Atom, is_atomic
from pyspark_substrait.sql.functions.builtins_since import has_builtin
from pyspark_substrait.sql.functions.catalyst import CatalystForm, CatalystForms, listed
from pyspark_substrait.sql.functions.over import Over, SortKey
from pyspark_substrait.sql.functions.python_functions import PythonFunction
from pyspark_substrait.sql.spark_version import NEWEST, OLDEST, SparkVersion, parsed_version

__all__ = ["Call", "Foreign", "Operand", "Refusal", "Row", "Steps", "Table", "in_steps", "refuse", "row"]


class Operand(NamedTuple):
    """An argument of a call.

    Args:
        sql: the text. For an enumeration argument: its value.
        type: its type; None for an enumeration argument.
    """

    sql: Atom
    type: Type | None = None

    @property
    def literal(self) -> str | int | None:
        """The value of a constant string or integer; None for anything else, a null included."""
        value = self.sql.value
        return None if value is UNKNOWN else value

    @property
    def is_null(self) -> bool:
        """Whether it is the constant null."""
        return self.sql.value is None


@dataclass(slots=True, kw_only=True)  # made for every call, and a frozen one takes several times as long
class Call:
    """The view of a call that a body gets; it is never changed.

    Args:
        function: the function that is called.
        operands: the arguments in order, those of a variadic tail included.
        names: the names of the arguments in the extension's YAML, in order (the last serves a variadic tail).
        output: the type that the extension derives for the result.
        options: the option values that apply, by option name; only those that the plan states.
        distinct: whether equal arguments are merged first (aggregates).
        filter: the condition of a measure, None without one.
        over: the window, None outside windows.
        sorts: the sort keys of an aggregate's records, the first one first.
        windowed: whether the sorts are those of a window.
        phase: the part of an aggregation.
        functions: collects the Python functions that the text calls, by the names it calls them.
        settings: collects the settings that the session must have for the text to be correct.
        spark: the version of Spark that the text is for.
    """

    function: Function
    operands: tuple[Operand, ...]
    names: tuple[str, ...]
    output: Type
    options: Mapping[str, str] = field(default_factory=dict)
    distinct: bool = False
    filter: str | None = None
    over: Over | None = None
    sorts: tuple[SortKey, ...] = ()
    windowed: bool = False
    phase: AggregationPhase = AggregationPhase.INITIAL_TO_RESULT
    functions: dict[str, PythonFunction] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    spark: SparkVersion = NEWEST

    def sql(self, position: int) -> Atom:
        """The text of the argument at a position."""
        return self.operands[position].sql

    def type(self, position: int) -> Type:
        """The type of the value argument at a position."""
        type = self.operands[position].type
        assert type is not None, f"argument {position} of {self.function.key} is an enumeration"
        return type

    def has(self, name: str) -> bool:
        """Whether the Spark that the text is for has a built-in function."""
        return has_builtin(name, self.spark)

    def require_spark(self, version: SparkVersion, reason: str) -> None:
        """Refuse the call if the text is for an older Spark; for rows to which this applies for some types only.

        Raises:
            NewerSparkError: it is for an older one.
        """
        if self.spark < version:
            raise NewerSparkError(
                f"{self.function.key} cannot run exactly on Spark {self.spark}: {reason}",
                feature=self.function.key,
                since=version,
                hint=f"Spark {version} and later can",
                code=Code.TARGET_FUNCTION,
            )

    def foreign(self) -> Type | None:
        """Return the first of the types that has a foreign carrier; None if none has."""
        for operand in self.operands:
            if operand.type is not None and is_foreign(operand.type):
                return concrete(operand.type)
        return self.output if is_foreign(self.output) else None

    def aggregate(self, name: str, *arguments: str, ignore_nulls: bool = False) -> str:
        """Return a call of a Spark aggregate or window function, with the DISTINCT, FILTER and OVER of the call."""
        if self.filter is not None and self.over is not None:
            # some aggregates have no FILTER over windows: a null instead of the first argument drops a record
            arguments = (f"CASE WHEN {self.filter} THEN {arguments[0]} END", *arguments[1:])
            return replace(self, filter=None).aggregate(name, *arguments, ignore_nulls=ignore_nulls)
        distinct = "DISTINCT " if self.distinct else ""
        text = f"{name}({distinct}{', '.join(arguments)})"
        if self.filter is None and self.over is None and not ignore_nulls:
            return Atom(text)
        if self.filter is not None:
            text += f" FILTER (WHERE {self.filter})"
        if ignore_nulls:
            text += " IGNORE NULLS"
        if self.over is not None:
            text += f" OVER ({self.over.framed})"
        return text


Body: TypeAlias = str | Callable[[Call], str]


class Foreign(Enum):
    """The way a row uses values whose carrier has another meaning in Spark."""

    #: it doesn't support them
    REFUSED = "refused"
    #: it moves them, counts them, or only checks whether they are null
    MOVED = "moved"
    #: it compares them with others of the same type for equality, or combines them in one column
    COMPARED = "compared"
    #: it compares them by their order
    ORDERED = "ordered"


@dataclass(frozen=True, slots=True)
class Steps:
    """The bodies of an aggregate that is computed in several phases.

    Args:
        partial: from the arguments to the intermediate value, whose type the extension states.
        merge: from intermediate values to one.
        final: from intermediate values to the result.
    """

    partial: Callable[[Call], str]
    merge: Callable[[Call], str]
    final: Callable[[Call], str]


def in_steps(partial: Body, merge: Body | None = None, final: Body | None = None) -> Steps:
    """Return the bodies of the phases; one that isn't given is that of the phase before."""
    merge = partial if merge is None else merge
    return Steps(_body(partial), _body(merge), _body(merge if final is None else final))


def _body(body: Body) -> Callable[[Call], str]:
    return _parsed(body) if isinstance(body, str) else body


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One meaning of a function.

    Args:
        name: the function's name.
        body: the template, or the function that writes the text.
        options: the option values under which the row is exact, by option name; an option that isn't named doesn't
            affect it. A row with several exact values for an option names a tuple.
        enums: the same for enumeration arguments, by argument name.
        signatures: the overloads it is for, like ``("i32_i32",)``; empty for all.
        steps: the bodies of the phases of an aggregate, None where it can't be computed in phases.
        foreign: whether it is correct for arguments with a foreign carrier.
        settings: the settings that the session must have for the text to be correct.
        catalyst: the equivalent Catalyst expressions; the producer makes calls of this row from them.
        since: the oldest version of Spark on which the body is exact; of a refusal: that has a body.
        before: the body for older versions, None where they have none.
    """

    name: str
    body: Body
    options: Mapping[str, tuple[str, ...]]
    enums: Mapping[str, tuple[str, ...]]
    signatures: tuple[str, ...]
    steps: Steps | None = None
    foreign: Foreign = Foreign.REFUSED
    settings: Mapping[str, str] = field(default_factory=dict)
    catalyst: tuple[CatalystForm, ...] = ()
    since: SparkVersion = OLDEST
    before: Body | None = None

    def for_spark(self, version: SparkVersion) -> Row:
        """Return the row for a version of Spark, which is a refusal where the row has no body for it."""
        if version >= self.since:
            return self
        if self.before is not None:
            return replace(self, body=self.before, since=OLDEST, before=None)
        return Refusal(
            name=self.name,
            body=f"it runs from Spark {self.since} on, and this is for Spark {version}",
            options=self.options,
            enums=self.enums,
            signatures=self.signatures,
            since=self.since,
        )

    def body_of(self, phase: AggregationPhase) -> Body:
        """Return the body for a part of an aggregation; a string if there is none, with the reason."""
        match phase:
            case AggregationPhase.INITIAL_TO_RESULT:
                return self.body
            case _ if self.steps is None:
                return self.body if isinstance(self.body, str) else "not in several phases"
            case AggregationPhase.INITIAL_TO_INTERMEDIATE:
                return self.steps.partial
            case AggregationPhase.INTERMEDIATE_TO_INTERMEDIATE:
                return self.steps.merge
            case AggregationPhase.INTERMEDIATE_TO_RESULT:
                return self.steps.final
            case _:
                assert_never(phase)

    def objection(self, call: Call) -> str | None:
        """Return the reason why the row isn't correct for the carriers of the call's types; None if it is."""
        if self.foreign is Foreign.MOVED:
            return None
        strange = call.foreign()
        if strange is None:
            return None
        if self.foreign is Foreign.REFUSED:
            return f"Spark does not compute with {strange}, only moves and compares its values"
        types = [concrete(operand.type) for operand in call.operands if operand.type is not None]
        elements = [type.type if isinstance(type, List) and not same_type(type, types[0]) else type for type in types]
        if not all(same_type(type, types[0]) for type in elements):
            return f"{strange} is compared with another type"
        if self.foreign is Foreign.ORDERED and not has_order(strange):
            return f"{strange} has no order"
        return None

    def fits(self, call: Call, options: Mapping[str, str]) -> bool:
        """Whether the row is exact for the call under these option values."""
        if self.signatures and call.function.signature not in self.signatures:
            return False
        for option, values in self.options.items():
            if option in options and options[option] not in values:
                return False
        return not self.enums or all(call.sql(call.names.index(name)) in values for name, values in self.enums.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal(Row):
    """A combination that can't be exact; ``body`` is the reason."""


def row(
    name: str,
    body: Body,
    *,
    signatures: Sequence[str] = (),
    enums: Mapping[str, str | tuple[str, ...]] | None = None,
    steps: Steps | None = None,
    foreign: Foreign = Foreign.REFUSED,
    settings: Mapping[str, str] = MappingProxyType({}),
    catalyst: CatalystForms = (),
    since: str | SparkVersion = OLDEST,
    before: Body | None = None,
    **options: str | tuple[str, ...],
) -> Row:
    """Return a row: the function ``name`` is ``body`` if the options and enumeration arguments have these values."""
    return Row(
        name=name,
        body=_body(body),
        options=_values(options),
        enums=_values(enums or {}),
        signatures=tuple(signatures),
        steps=steps,
        foreign=foreign,
        settings=settings,
        catalyst=listed(catalyst),
        since=parsed_version(since),
        before=None if before is None else _body(before),
    )


def refuse(
    name: str,
    reason: str,
    *,
    signatures: Sequence[str] = (),
    enums: Mapping[str, str | tuple[str, ...]] | None = None,
    **options: str | tuple[str, ...],
) -> Refusal:
    """A refusal: these values can't be delivered exactly; ``reason`` is a sentence for users."""
    return Refusal(
        name=name, body=reason, options=_values(options), enums=_values(enums or {}), signatures=tuple(signatures)
    )


def _values(named: Mapping[str, str | tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    return {name: (value,) if isinstance(value, str) else value for name, value in named.items()}


_MARK = re.compile(r"\[(\w+)\(((?:[^\[\]])*)\)\]")
_SLOT = re.compile(r"\{(\w+)\}")


def _parsed(template: str) -> Callable[[Call], str]:
    """Return a template as a function: slots and marks are found once, and substituted text isn't searched."""
    if (whole := _MARK.fullmatch(template)) is not None:
        name, argument = whole[1], _Filled(whole[2])
        return lambda call: call.aggregate(name, argument(call))
    parts: list[_Filled | tuple[str, _Filled]] = []
    position = 0
    for mark in _MARK.finditer(template):
        parts += [_Filled(template[position : mark.start()]), (mark[1], _Filled(mark[2]))]
        position = mark.end()
    parts.append(_Filled(template[position:]))
    if len(parts) == 1:
        return _Filled(template)

    made = Atom if is_atomic(_MARK.sub("x", template)) else str

    def body(call: Call) -> str:
        return made(
            "".join(
                part(call) if isinstance(part, _Filled) else call.aggregate(part[0], part[1](call)) for part in parts
            )
        )

    return body


class _Filled:
    """A template without marks, as a function."""

    __slots__ = ("made", "slots", "texts")

    def __init__(self, template: str) -> None:
        # texts and slots in turn
        parts = _SLOT.split(template)
        self.texts = parts[::2]
        self.made = Atom if is_atomic(template) else str
        self.slots = tuple(int(slot) if slot.isdigit() else slot for slot in parts[1::2])

    def __call__(self, call: Call) -> str:
        parts = self.texts[:1]
        for slot, text in zip(self.slots, self.texts[1:], strict=True):
            if slot == "output":
                parts.append(spark_type(call.output))
            else:
                parts.append(call.sql(call.names.index(slot) if isinstance(slot, str) else slot))
            parts.append(text)
        return self.made("".join(parts))


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of one extension."""

    urn: str
    rows: tuple[Row, ...]
    _by_name: dict[str, list[Row]] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        for item in self.rows:
            self._by_name.setdefault(item.name, []).append(item)

    def for_spark(self, version: SparkVersion) -> Table:
        """Return the table for a version of Spark."""
        if version >= NEWEST:
            return self
        return Table(self.urn, tuple(row.for_spark(version) for row in self.rows))

    def text(self, call: Call, preferences: Sequence[tuple[str, Sequence[str]]]) -> str:
        """Return the Spark SQL of a call, for the first of the preferred option values that some row supports.

        Raises:
            UnsupportedPlanError: no row fits, or the one that fits refuses.
        """
        rows = self._by_name.get(call.function.name, ())
        refusal: str | None = None
        newer: SparkVersion | None = None
        for options in _combinations(preferences) if preferences else _UNSTATED:
            for fitting in rows:
                if fitting.fits(call, options):
                    break
            else:
                continue
            body = fitting.body_of(call.phase)
            objection = body if isinstance(body, str) else fitting.objection(call)
            if isinstance(body, str) or objection is not None:
                refusal = refusal or objection
                if fitting.since > call.spark:
                    newer = newer or fitting.since
            else:
                call.settings.update(fitting.settings)
                return body(replace(call, options=options) if options != call.options else call)
        wanted = ", ".join(f"{name}={'|'.join(values)}" for name, values in preferences)
        under = f" with {wanted}" if wanted else ""
        code = Code.TARGET_OPTION if preferences and self._runs(call) else Code.TARGET_FUNCTION
        if refusal is not None:
            message = f"{call.function.key}{under} cannot run exactly on Spark: {refusal}"
            if newer is not None:
                raise NewerSparkError(message, feature=call.function.key, since=newer, code=code)
            raise UnsupportedPlanError(message, code=code)
        raise UnsupportedPlanError(f"the function {call.function.key}{under} has no Spark form yet", code=code)

    def _runs(self, call: Call) -> bool:
        """Whether a call runs if no option is stated."""
        try:
            self.text(call, ())
        except UnsupportedPlanError:
            return False
        return True


#: the only combination of no options
_UNSTATED: Final[tuple[Mapping[str, str]]] = (MappingProxyType({}),)


def _combinations(preferences: Sequence[tuple[str, Sequence[str]]]) -> Iterator[Mapping[str, str]]:
    """Every choice of one value per option, the most preferred first."""
    names = [name for name, _ in preferences]
    for values in product(*(values for _, values in preferences)):
        yield dict(zip(names, values, strict=True))

"""What there is to say of an engine that takes plans."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

__all__ = ["Spelling", "Target", "same"]

#: What becomes of enumeration arguments: they stay, become string literals in lower case, or are left out.
Words: TypeAlias = Literal["kept", "texts", "left out"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """How an engine writes a function of the specification.

    Args:
        name: its name there; another one than in the specification stands under no URN.
        words: what becomes of its enumeration arguments.
        only: the enumeration values for which this spelling is right, by the position of the argument.
        delivers: the option values that the engine's function has, by option. What a plan asks for besides is noted.
        arguments: which arguments it takes there, by position, and in which order; None for all as they are.
        overloads: the overloads for which this spelling is right, by their signature; empty for all.
        constants: for which values of an argument it means the same, by position. Others are refused where they are
            constants; it is noted where it isn't known before the plan runs.
        patterns: the arguments in which the backslash is an escape character there, by position. It is doubled in
            constants.
    """

    name: str
    words: Words = "kept"
    only: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    delivers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    arguments: tuple[int, ...] | None = None
    overloads: tuple[str, ...] = ()
    constants: Mapping[int, Callable[[int], bool]] = field(default_factory=dict)
    patterns: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """An engine.

    Args:
        name: by which users ask for it.
        engine: its name and release, for messages.
        functions: the functions of the specification that it has, by their simple name; the first spelling that fits a
            call counts.
        extension: the extension of this package with functions of the engine's own; they go out as they are. Empty for
            an engine without one.
        options: whether it takes function options; where it doesn't, they are left out.
        references: whether one relation tree may refer to another; where not, subtrees are repeated.
        emits: whether relations other than projections may choose their columns.
        whole_projections: whether a projection computes each column that it puts out, those of its input included.
        if_needs_else: whether a choice must say what holds otherwise, null too.
        measure_filters: whether it looks at the filters of measures.
        lacks: the relations and expressions that it doesn't take, by the names of their classes in the model.
        single_key_joins: whether a join's condition may only be one equality of a column on either side.
        plain_measures: whether aggregate functions and groupings may only be of columns, so that what they are
            computed of is a projection below.
        one_grouping: whether it counts the columns of an aggregate of several grouping sets in another way than the
            specification, so that the records are there once for each set instead.
        multiplicities: whether its INTERSECT ALL and EXCEPT ALL count the copies of a record.
        outer_columns_by_name: whether it finds the outer columns of a subquery by their names, so that these must
            differ from all in the subquery.
        removed_fields: whether it reads grouping expressions and limits only in the fields that plans had for them
            in earlier releases, so that they must stand there too.
    """

    name: str
    engine: str
    functions: Mapping[str, tuple[Spelling, ...]]
    extension: str = ""
    options: bool = False
    references: bool = False
    emits: bool = True
    whole_projections: bool = False
    if_needs_else: bool = False
    measure_filters: bool = True
    lacks: frozenset[str] = frozenset()
    single_key_joins: bool = False
    plain_measures: bool = False
    one_grouping: bool = False
    multiplicities: bool = True
    outer_columns_by_name: bool = False
    removed_fields: bool = False


def same(*names: str, **delivers: str | tuple[str, ...]) -> dict[str, tuple[Spelling, ...]]:
    """Functions that the engine has under their own names, with these option values."""
    values = {option: (value,) if isinstance(value, str) else value for option, value in delivers.items()}
    return {name: (Spelling(name=name, delivers=values),) for name in names}

"""The description of an engine that takes plans."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from pyspark_substrait.engines.compositions import Composition
from pyspark_substrait.model.expressions import ExecutionContextVariable, Expression, Function
from pyspark_substrait.model.relations import JoinType, SetOp
from pyspark_substrait.model.types import Type, TypeBase
from pyspark_substrait.sql.decorrelation import Natives

__all__ = ["Spelling", "Target", "is_bit", "same_names"]

#: The handling of enumeration arguments: they stay, become string literals in lower case, or are left out.
Words: TypeAlias = Literal["kept", "texts", "left out"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """An engine's spelling of a function of the specification.

    Args:
        name: its name there; if it differs from that of the specification, the function has no URN.
        urn: the URN that it has there, if that isn't the one in the plan.
        words: the handling of its enumeration arguments.
        only: the enumeration values for which this spelling is right, by the position of the argument.
        delivers: the option values of the engine's function, by option. Others that a plan asks for are noted.
        arguments: the positions of the arguments that it takes there, in their order; None for all arguments.
        overloads: the overloads for which this spelling is right, by their signature; empty for all.
        constants: a predicate on the values of an argument for which it means the same, by position. Other constants
            are an error; arguments that aren't constant are noted.
        literals: the positions of the arguments that must be literals there.
        at_least: the numbers that arguments become where they are lower and no literals, by position.
        lacks: the classes of types that its arguments can't have.
        texts: the strings for enumeration values that aren't their names in lower case.
        patterns: the positions of arguments in which the backslash is an escape character there. It is doubled in
            constants.
        pairs: whether it takes two arguments; the calls of more are nested.
        operator: whether it takes two arguments at least; a call of one is the argument.
        cast: the overloads, by their signature, whose result has another type there: it is cast to the plan's.
        result: the type of its result there, whatever the overload: where the plan has another one, it is cast to that.
        as_result: the positions of the arguments that are cast to the type of the result first.
        quotient_digits: how many more digits behind the point a quotient of decimals has there than its dividend, where
            it is cut off, by the signature of the overload. The dividend gets so many that the quotient has one more
            than in the plan, to which it is cast.
    """

    name: str
    urn: str = ""
    words: Words = "kept"
    only: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    delivers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    arguments: tuple[int, ...] | None = None
    overloads: tuple[str, ...] = ()
    constants: Mapping[int, Callable[[Any], bool]] = field(default_factory=dict)
    literals: tuple[int, ...] = ()
    at_least: Mapping[int, int] = field(default_factory=dict)
    lacks: tuple[type[TypeBase], ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    patterns: tuple[int, ...] = ()
    pairs: bool = False
    operator: bool = False
    cast: tuple[str, ...] = ()
    result: Type | None = None
    as_result: tuple[int, ...] = ()
    quotient_digits: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """An engine.

    Args:
        name: the name by which users select it.
        engine: its name and release, for messages.
        functions: the functions of the specification that it has, by their simple name; the first spelling that fits a
            call is used.
        others: functions of other extensions that it has, in the same form, by the URN of the extension.
        extension: the extension of this package with functions of the engine's own; they stay as they are. Empty for
            an engine without one.
        options: whether it takes function options; if not, they are left out.
        references: whether one relation tree may refer to another; if not, subtrees are repeated.
        emits: whether relations other than projections may choose their columns.
        whole_projections: whether a projection computes each column that it puts out, those of its input included.
        if_needs_else: whether a conditional expression must have an else branch, even if it is null.
        null_conditions: whether a null condition of a conditional expression is false; if not, one with a single
            condition is null there.
        measure_filters: whether it applies the filters of measures.
        lacks: the relations, expressions and types that it doesn't take, by the names of their classes in the model;
            also ``grouping sets`` (several), and ``DISTINCT`` in measures.
        composed_relations: the relations that are expressed by others there, by the names of their classes, the set
            operations by theirs; also ``post_join_filter``, ``Set of structs`` for set operations that it does by
            joins, and ``Filter of a sort`` for one with a subquery, which it does by a join that loses the order.
        inner_joins: whether equalities in a filter over cross products should be conditions of joins instead.
        single_key_joins: whether a join's condition may only be one equality of a column on either side.
        one_sided_keys: whether a join's condition may be an equality of two columns of one input; if not, it is the
            negation of their inequality.
        null_keys: whether nulls are equal only in those keys of a join that say so; if not, they are equal in all keys
            if they are in one, and values that are never null take the place of such a key.
        both_sides: whether its semi and anti joins have the columns of both inputs, so that an emit must choose those
            of the left one. Joins that keep the right one are an error then.
        sets_by_names: whether the columns of the inputs of a set operation must have the same names, which are those of
            the expressions there; a projection of all columns gives them.
        ordered_measures: whether Spark's ``min_by``, ``max_by`` and lists become aggregates in order, as DataFusion has
            them.
        plain_measures: whether the arguments of aggregate functions and the groupings must be plain columns;
            expressions are then computed in a projection below.
        one_grouping: whether it counts the columns of an aggregate with several grouping sets differently than the
            specification; the records are then repeated for each set.
        constant_limits: whether the numbers of a fetch must be constants, of which the count is there.
        multiplicities: whether its INTERSECT ALL and EXCEPT ALL count the copies of a record.
        outer_columns_by_name: whether it finds the outer columns of a subquery by their names, so that these must
            differ from all names in the subquery.
        files: whether it opens the files that a read names; if not, they become tables with the names of the files.
        masks: whether its reads may keep some columns by a mask; if not, they are chosen by the emit.
        read_filters: whether the filter of a read leaves out all other records; if not, it stands above the read.
        removed_fields: the messages that it reads only from the fields of earlier releases, so that these must be set,
            too: AggregateRel, FetchRel, Preceding, Following.
        variations: whether its tables have types that it writes as undeclared variations of others.
        struct_function: its function that makes a struct; empty if it takes nested expressions.
        nested_references: whether references may lead into a column; if not, functions give what is there.
        switches: whether it takes switch expressions; if not, they become conditions.
        record_lists: whether it takes lists of several values each (MultiOrList); if not, they become conditions.
        computed_lists: whether alternatives (SingularOrList) may be computed; if not, such a list becomes conditions.
        varchar_literals: whether it takes literals of varchar; if not, they become casts of strings.
        map_function: its function that makes a map of a list of keys and one of values; empty if it takes nested
            expressions.
        seconds_digits: the numbers of digits that its times and timestamps may have; None for all.
        interval_digits: the digits of the seconds that it keeps of literal intervals.
        clustered_sorts: whether it takes sorts that only put equal values together; if not, they are ascending.
        over_windows: the functions in place of aggregates over windows, by their simple names; empty for none.
        range_frames: whether frames without bounds may be ranges; if not, they are rows.
        parts: the functions of the extension that are ``date_part`` with a string there, and the string.
        composed: the functions that are expressed by others there, by their simple name.
        variable: returns a variable of the execution as its function; None if it takes those of plans.
        sets_of_groupings: whether an aggregate must have a grouping set, even if it is empty.
        aggregate_emits: whether an aggregate must have an emit.
        joins: the types of joins that it has; None for all.
        set_operations: the set operations that it has; None for all. Some others are done by grouping.
        window_relations: whether window functions must stand in relations of their own.
        queries: the subqueries that it runs; others, and lateral joins, become joins. None if all stay as they are.
        column_in: whether IN with a subquery may be null; if not, it must stand where nothing tells null from false.
        outer_references: whether subqueries may refer to columns of the query around them.
        null_marks: whether the mark of a mark join may be null; if not, it is false instead, and a second mark says
            where it is null.
        padded_casts: whether its casts to fixedchar pad with blanks, and those to a shorter text fail.
        null_casts: whether its casts can give null where they fail.
        date_days: its function of a date and a number of days; None if it takes intervals.
        texts: the types of which a cast to a string gives another text there, by their classes, and an example of it.
        text_form: the exact text of a value whose cast has another one there; None for a type that it isn't for.
        durations: whether its durations are another type than its intervals, to which only its own function casts.
        keeps_conditions: whether a condition without columns stays above an aggregate; if not, it is tested below, and
            an aggregate of all records still has one.
        keeps_offsets: whether an offset without a count skips records before a sort above it; if not, it gets a count.
        two_zeros: whether 0.0 and -0.0 are different in an order, and in the partitions of windows.
        own_columns: whether the columns of a projection must differ from each other, even if they are the same.
    """

    name: str
    engine: str
    functions: Mapping[str, tuple[Spelling, ...]]
    others: Mapping[str, Mapping[str, tuple[Spelling, ...]]] = field(default_factory=dict)
    extension: str = ""
    options: bool = False
    references: bool = False
    emits: bool = True
    whole_projections: bool = False
    if_needs_else: bool = False
    null_conditions: bool = True
    measure_filters: bool = True
    lacks: frozenset[str] = frozenset()
    composed_relations: frozenset[str] = frozenset()
    inner_joins: bool = False
    single_key_joins: bool = False
    one_sided_keys: bool = True
    null_keys: bool = True
    both_sides: bool = False
    sets_by_names: bool = False
    ordered_measures: bool = False
    plain_measures: bool = False
    one_grouping: bool = False
    constant_limits: bool = False
    multiplicities: bool = True
    files: bool = True
    masks: bool = True
    read_filters: bool = True
    outer_columns_by_name: bool = False
    removed_fields: frozenset[str] = frozenset()
    variations: bool = False
    nested_references: bool = True
    switches: bool = True
    record_lists: bool = True
    computed_lists: bool = True
    varchar_literals: bool = True
    map_function: str = ""
    seconds_digits: frozenset[int] | None = None
    interval_digits: int = 12
    clustered_sorts: bool = True
    over_windows: Mapping[str, str] = field(default_factory=dict)
    range_frames: bool = True
    struct_function: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)
    composed: Mapping[str, Composition] = field(default_factory=dict)
    variable: Callable[[ExecutionContextVariable], Expression] | None = None
    sets_of_groupings: bool = False
    aggregate_emits: bool = False
    joins: frozenset[JoinType] | None = None
    set_operations: frozenset[SetOp] | None = None
    window_relations: bool = False
    queries: Natives | None = None
    column_in: bool = True
    outer_references: bool = True
    null_marks: bool = True
    padded_casts: bool = True
    null_casts: bool = True
    date_days: Function | None = None
    texts: Mapping[type[TypeBase], str] = field(default_factory=dict)
    text_form: Callable[[Expression], Expression | None] | None = None
    durations: bool = False
    keeps_conditions: bool = True
    keeps_offsets: bool = True
    two_zeros: bool = False
    own_columns: bool = False


def same_names(*names: str, **delivers: str | tuple[str, ...]) -> dict[str, tuple[Spelling, ...]]:
    """Return functions that the engine has under their own names, with these option values."""
    values = {option: (value,) if isinstance(value, str) else value for option, value in delivers.items()}
    return {name: (Spelling(name=name, delivers=values),) for name in names}


def is_bit(position: int) -> bool:
    """Whether the number of bits of a shift is below 32: engines differ in what they do with others."""
    return 0 <= position < 32

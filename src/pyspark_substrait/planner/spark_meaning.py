"""The meaning of Spark SQL for what DataFusion's planner made of a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    Bound,
    BoundsType,
    Cast,
    Expression,
    FailureBehavior,
    FieldReference,
    InPredicate,
    PredicateOp,
    RootReference,
    ScalarSubquery,
    SetPredicate,
    SortField,
    StructField,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Project, Relation
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
    IntervalDay,
    IntervalYear,
    PrecisionTimestamp,
    String,
    Struct,
    Type,
    concrete,
    same_type,
)
from pyspark_substrait.planner import carriers
from pyspark_substrait.planner.carriers import INTEGRAL_DIVISION, MEMBER, carried
from pyspark_substrait.planner.catalyst import json_of, node
from pyspark_substrait.planner.coercion import NUMBERS, is_null
from pyspark_substrait.planner.correlation import Queries
from pyspark_substrait.planner.functions import Signature, signatures
from pyspark_substrait.planner.literals import TIMESTAMP
from pyspark_substrait.planner.operators import Operators
from pyspark_substrait.planner.windows import WINDOWS, ignoring_nulls, over_window, own_function, windowed
from pyspark_substrait.spark.producer.expressions.aggregate_forms import Aggregated

__all__ = ["SparkMeaning"]

_TYPES: Final[Mapping[str, Type]] = {
    "date": Date(),
    "timestamp": TIMESTAMP,
    "timestamp_ntz": PrecisionTimestamp(precision=6),
    "string": String(),
    "boolean": Boolean(),
    "tinyint": I8(),
    "smallint": I16(),
    "int": I32(),
    "long": I64(),
    "bigint": I64(),
    "float": FP32(),
    "double": FP64(),
}
#: comparisons: their names in DataFusion's plans and in Catalyst
_SYNTAX: Final[Mapping[str, tuple[str, tuple[int, ...]]]] = {
    "btrim": ("StringTrim", (0, 1)),
    "ltrim": ("StringTrimLeft", (0, 1)),
    "rtrim": ("StringTrimRight", (0, 1)),
}
#: aggregate functions: their classes in Catalyst, and the type of their arguments, if that isn't free
_AGGREGATES: Final[Mapping[str, tuple[str, str]]] = {
    "count": ("Count", "any"),
    "sum": ("Sum", "sum"),
    "avg": ("Average", "sum"),
    "min": ("Min", "any"),
    "max": ("Max", "any"),
    "stddev": ("StddevSamp", "double"),
    "stddev_pop": ("StddevPop", "double"),
    "var": ("VarianceSamp", "double"),
    "var_pop": ("VariancePop", "double"),
    "corr": ("Corr", "double"),
    "covar_samp": ("CovSample", "double"),
    "covar_pop": ("CovPopulation", "double"),
    "bool_and": ("BoolAnd", "boolean"),
    "bool_or": ("BoolOr", "boolean"),
    "bit_and": ("BitAndAgg", "any"),
    "bit_or": ("BitOrAgg", "any"),
    "bit_xor": ("BitXorAgg", "any"),
    "median": ("Median", "any"),
    "first_value": ("First", "any"),
    "last_value": ("Last", "any"),
    "array_agg": ("CollectList", "any"),
    "approx_distinct": ("HyperLogLogPlusPlus", "any"),
}
#: functions that Spark has for binaries as well, with another meaning than for texts
_OF_BINARIES: Final = frozenset(
    {"concat", "substring", "left", "lpad", "rpad", "overlay", "reverse", "length", "octet_length", "bit_length"}
    | {"contains", "startswith", "endswith"}
)


class SparkMeaning(Operators):
    """Spark SQL with its default settings, in UTC.

    Args:
        registry: the extensions.
        queries: the correlated subqueries of the text.
        structs: the structs in tables, with the names of their fields in lower case.
        has_set_joins: whether the text has INTERSECT or EXCEPT, which DataFusion plans as joins.
    """

    def __init__(
        self,
        registry: Registry,
        queries: Queries,
        *,
        structs: Sequence[tuple[Struct, tuple[str, ...]]] = (),
        has_set_joins: bool = False,
    ) -> None:
        super().__init__(registry)
        self._structs = structs
        self._has_set_joins = has_set_joins
        self._queries = queries
        #: the aggregate functions whose results Spark has with another type, by the identity of the call
        self._results: dict[int, tuple[AggregateFunction, Callable[[Expression], Expression]]] = {}

    # calls ------------------------------------------------------------------------------------------------------------

    def special(self, name: str, message: Any, read: Callable[[Any], Expression], scope: Any) -> Expression | None:
        """Return what a call stands for that carries something through DataFusion's planner."""
        names = {anchor: declared.name for anchor, declared in scope.reading.functions.items()}
        if name in ("modulus", "equal", "not_equal"):
            return self._infix(name, message, read, scope, names)
        found = carried(message, names)
        if found is None:
            return self._field(message, read) if name == "get_field" else None
        kind, key, parts = found
        match kind:
            case carriers.CALL:
                return self.called(key, [read(part) for part in parts])
            case carriers.OUTER:
                return self._queries.outer(int(key), scope)
            case carriers.QUERY:
                return SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=self._query(key, parts, read, scope))
            case carriers.SCALAR:
                return ScalarSubquery(input=self._query(key, parts, read, scope))
            case _:
                raise AssertionError(f"a carrier of {kind} is the operand of an operator")

    def _field(self, message: Any, read: Callable[[Any], Expression]) -> Expression:
        """Return a field of a struct, whose name has one position in all structs of its type."""
        found = read(message.arguments[0].value)
        for argument in message.arguments[1:]:
            name, struct = argument.value.literal.string, concrete(found.type)
            known = [names for type, names in self._structs if same_type(type, struct) and name in names]
            if not isinstance(struct, Struct) or len({names.index(name) for names in known}) != 1:
                raise UnsupportedPlanError(
                    f"the field `{name}` is at several positions in structs of the type {json_of(struct)}",
                    hint='Leave engine="datafusion" out',
                )
            if any(names.count(name) > 1 for names in known):
                raise UnsupportedPlanError(f"the field `{name}` is ambiguous: a struct has it twice, apart from case")
            found = self._made("GetStructField", found, ordinal=known[0].index(name), sql=f"….{name}")
        return found

    def _query(self, key: str, parts: Sequence[Any], read: Callable[[Any], Expression], scope: Any) -> Relation:
        return self._queries.relation(int(key), [read(part) for part in parts], scope)

    def _infix(
        self, name: str, message: Any, read: Callable[[Any], Expression], scope: Any, names: dict[int, str]
    ) -> Expression | None:
        """Return ``DIV``, which is written as two remainders, or ``IN`` of a correlated subquery, as a comparison."""
        left, right = (argument.value for argument in message.arguments)
        if name == "modulus":
            inner = left.scalar_function
            if not left.HasField("scalar_function") or names.get(inner.function_reference) != "modulus":
                return None
            mark = carried(inner.arguments[1].value.scalar_function, names)
            if mark is None or mark[0] != INTEGRAL_DIVISION:
                return None
            return self._integral_division(read(inner.arguments[0].value), read(right))
        found = carried(right.scalar_function, names) if right.HasField("scalar_function") else None
        if found is None or found[0] != MEMBER:
            return None
        haystack = self._query(found[1], found[2], read, scope)
        column = FieldReference(root=RootReference(), reference=(StructField(0),), type=haystack.schema.types[0])
        needle, compared = self.alternatives((read(left), column))
        if compared is not column:
            haystack = Project.only(haystack, [compared])
        member = InPredicate(needles=(needle,), haystack=haystack)
        return self._not(member) if name == "not_equal" else member

    def scalar(self, name: str, arguments: Sequence[Expression]) -> Expression:
        """Return a call of an operator, or of a function that the parser makes of a syntax."""
        if name == "is_not_distinct_from" and self._has_set_joins:
            self._check_set_join(*arguments)
        made = self._operator(name, arguments)
        if made is not None:
            return made
        if name in _SYNTAX:
            class_name, order = _SYNTAX[name]
            texts = [self._as(arguments[position], String()) for position in order[: len(arguments)]]
            return self._made(class_name, *texts)
        if name == "date_part":
            return self.part(*arguments)
        if name == "strpos":
            text, part = (self._as(value, String()) for value in arguments)
            return self._made("StringLocate", part, text, Literal(type=I32(), value=1))
        return self.called(name, arguments)

    @staticmethod
    def _check_set_join(one: Expression, other: Expression) -> None:
        """Refuse INTERSECT and EXCEPT of columns of two types: DataFusion's join gives the type of the first."""
        if not same_type(one.type, other.type):
            raise UnsupportedPlanError(
                f"in INTERSECT, EXCEPT or MINUS, {json_of(one.type)} meets {json_of(other.type)}",
                hint="Cast the columns to one type",
            )

    def called(self, name: str, arguments: Sequence[Expression]) -> Expression:
        """Return a call of a function of Spark, by its name in the text."""
        special = _SPECIAL.get(name)
        if special is not None:
            return special(self, arguments)
        signature = signatures().get(name)
        if signature is None:
            raise UnsupportedPlanError(f"the function `{name}` is not one of those that are planned without Spark")
        if not signature.takes(len(arguments)):
            raise UnsupportedPlanError(f"`{name}` doesn't take {len(arguments)} arguments in Spark")
        if signature.name in _OF_BINARIES:
            self.refuse_binaries(name, arguments)
        if signature.name == "concat" and not arguments:
            return Literal(type=String(), value="")
        if signature.name in ("round", "bround") and not all(isinstance(one, Literal) for one in arguments[1:]):
            raise UnsupportedPlanError(f"the scale of `{name}` is a constant in Spark")
        if signature.name in ("greatest", "least"):
            self._check_alike(name, arguments)
        taken = self._arguments(signature, arguments)
        return self._made(signature.node, *taken, sql=f"{name}(…)")

    @staticmethod
    def _check_alike(name: str, arguments: Sequence[Expression]) -> None:
        """Refuse texts beside other types, which ``greatest`` and ``least`` don't take in Spark."""
        texts = {isinstance(concrete(value.type), String) for value in arguments if not is_null(value)}
        if len(texts) > 1:
            raise UnsupportedPlanError(f"`{name}` takes no texts beside other types in Spark", hint="Add a cast")

    def _arguments(self, signature: Signature, arguments: Sequence[Expression]) -> list[Expression]:
        positions = range(len(arguments))
        same = [arguments[at] for at in positions if signature.parameter(at).type == "same"]
        common = iter(self.alternatives(same)) if same else iter(())
        made: list[Expression] = []
        for at in positions:
            parameter = signature.parameter(at).type
            if parameter == "same":
                made.append(next(common))
            else:
                made.append(self._passed(arguments[at], parameter, signature.name))
        for left_out in signature.parameters[len(arguments) :]:
            if left_out.default is not None:
                made.append(_constant(left_out.default, left_out.type))
        return made

    def _passed(self, value: Expression, parameter: str, name: str) -> Expression:
        """Return an argument as one of a parameter's type."""
        kind = concrete(value.type)
        match parameter:
            case "any":
                return value
            case "number" | "whole":
                if is_null(value) or isinstance(kind, String):
                    return self._as(value, FP64())
                if kind.__class__ not in NUMBERS:
                    break_type = json_of(kind)
                    raise UnsupportedPlanError(f"`{name}` takes a number in Spark, not {break_type}")
                wide = isinstance(kind, FP32) and parameter == "whole"
                return self._as(value, FP64()) if wide else value
            case "binary":
                return self._implicit(value, Binary(), name)
            case _:
                return self._implicit(value, _TYPES[parameter], name)

    def to_date(self, arguments: Sequence[Expression]) -> Expression:
        """``to_date(value[, pattern])``."""
        if len(arguments) == 1:
            return self._as(arguments[0], Date())
        return self._as(self.to_timestamp(arguments), Date())

    def to_timestamp(self, arguments: Sequence[Expression]) -> Expression:
        """``to_timestamp(value[, pattern])``."""
        if len(arguments) == 1:
            return self._as(arguments[0], TIMESTAMP)
        return self._made("GetTimestamp", *arguments, dataType="timestamp", sql="to_timestamp(…)")

    def trimmed(self, name: str) -> Callable[[Sequence[Expression]], Expression]:
        """Return ``trim`` and similar functions: Spark's functions of two arguments have the characters first."""

        def call(arguments: Sequence[Expression]) -> Expression:
            texts = [self._as(value, String()) for value in reversed(arguments)]
            return self._made(name, *texts)

        return call

    def cast_by_name(self, type: Type, arguments: Sequence[Expression]) -> Expression:
        """``date(x)``, ``int(x)``: a cast."""
        (value,) = arguments
        return self.cast(value, type, or_null=False)

    def remainder(self, arguments: Sequence[Expression], name: str) -> Expression:
        """``mod`` and ``pmod``."""
        one, other = arguments
        return self._made(name, *self._numbers(one, other, name))

    def negative(self, arguments: Sequence[Expression]) -> Expression:
        """``negative``."""
        return self._negated(*arguments)

    # aggregates and windows -------------------------------------------------------------------------------------------

    def aggregate(
        self, name: str, arguments: Sequence[Expression], *, distinct: bool, is_sorted: bool
    ) -> AggregateFunction | None:
        """Return an aggregate function; ``grouping`` is left to what reads DataFusion's grouping sets."""
        if name == "grouping":
            return None
        found = self._aggregated(name, arguments, distinct, is_sorted)
        self._results[id(found.call)] = found.call, found.result
        return found.call

    def _aggregated(self, name: str, arguments: Sequence[Expression], distinct: bool, is_sorted: bool) -> Aggregated:
        if is_sorted:
            raise UnsupportedPlanError(f"`{name}` has no ORDER BY of its own in Spark")
        return self._translation.aggregate(self._function(name, arguments), distinct=distinct)

    def _function(self, name: str, arguments: Sequence[Expression]) -> Any:
        if (skipping := ignoring_nulls(name, arguments)) is not None:
            return node(skipping, arguments[0], sql=f"{skipping.lower()}(…, true)", ignoreNulls=True)
        if name not in _AGGREGATES:
            raise UnsupportedPlanError(f"the aggregate function `{name}` is not one of those planned without Spark")
        class_name, parameter = _AGGREGATES[name]
        if parameter == "sum":
            taken = [self._summed(value, name) for value in arguments]
        elif parameter == "any":
            taken = [*arguments]
        else:
            taken = [self._implicit(value, _TYPES[parameter], name) for value in arguments]
        return node(class_name, *taken, sql=f"{name}(…)", nullOnDivideByZero=True, relativeSD=0.05)

    def _summed(self, value: Expression, name: str) -> Expression:
        if is_null(value) or isinstance(concrete(value.type), String):
            return self._as(value, FP64())
        if not isinstance(concrete(value.type), (*NUMBERS, IntervalDay, IntervalYear)):
            raise UnsupportedPlanError(f"Spark has no {name} of {json_of(value.type)}")
        return value

    def aggregated(self, relation: Relation, measures: Sequence[AggregateFunction]) -> Relation:
        """Return an aggregate with its measures in Spark's types."""
        schema = relation.schema
        first = len(schema.types) - len(measures)
        columns: list[Expression] = [
            FieldReference(root=RootReference(), reference=(StructField(position),), type=type)
            for position, type in enumerate(schema.types)
        ]
        changed = False
        for number, call in enumerate(measures):
            column = columns[first + number]
            result = self._results.get(id(call))
            made: Expression = _as_tinyint(column) if result is None else result[1](column)
            if made is not column:
                columns[first + number], changed = made, True
        return Project.only(relation, columns) if changed else relation

    def window(
        self,
        name: str,
        arguments: Sequence[Expression],
        *,
        sorts: tuple[SortField, ...],
        partitions: tuple[Expression, ...],
        frame: tuple[BoundsType | None, Bound, Bound],
    ) -> Expression:
        """Return a function over a window."""
        is_own = name in WINDOWS and ignoring_nulls(name, arguments) is None
        if is_own:
            if not sorts and name != "nth_value":
                raise UnsupportedPlanError(f"`{name}` needs a window with ORDER BY in Spark")
            function = own_function(name, arguments)
        else:
            called = self._function(name, arguments)
            function = node("AggregateExpression", called, aggregateFunction=0, isDistinct=False, sql=f"{name}(…)")
        made = self._translation.expression(windowed(function))
        whole = is_own and name != "nth_value"
        return over_window(made, sorts, partitions, None if whole else frame)


def _as_tinyint(value: Expression) -> Expression:
    """Return the value of ``grouping``, which is a TINYINT in Spark."""
    type = I8(nullable=value.type.nullable)
    return Cast(type=type, input=value, failure_behavior=FailureBehavior.THROW_EXCEPTION)


def _constant(text: str, parameter: str) -> Literal:
    match parameter:
        case "int":
            return Literal(type=I32(), value=int(text))
        case "boolean":
            return Literal(type=Boolean(), value=text == "true")
        case _:
            return Literal(type=String(), value=text)


_SPECIAL: Final[Mapping[str, Callable[[SparkMeaning, Sequence[Expression]], Expression]]] = {
    "to_date": SparkMeaning.to_date,
    "to_timestamp": SparkMeaning.to_timestamp,
    "date_part": lambda meaning, arguments: meaning.part(*arguments),
    "datepart": lambda meaning, arguments: meaning.part(*arguments),
    "negative": SparkMeaning.negative,
    "mod": lambda meaning, arguments: meaning.remainder(arguments, "Remainder"),
    "pmod": lambda meaning, arguments: meaning.remainder(arguments, "Pmod"),
    "trim": lambda meaning, arguments: meaning.trimmed("StringTrim")(arguments),
    "ltrim": lambda meaning, arguments: meaning.trimmed("StringTrimLeft")(arguments),
    "rtrim": lambda meaning, arguments: meaning.trimmed("StringTrimRight")(arguments),
    **{
        name: lambda meaning, arguments, type=type: meaning.cast_by_name(type, arguments)  # type: ignore[misc]
        for name, type in _TYPES.items()
        if name != "long"
    },
}

"""The meaning of parts of plans, as numbers: two parts have the same number if they mean the same.

Each expression has two numbers. The first ignores differences that can't change a result, such as the order of the
operands of ``and``. The second includes them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from typing_extensions import assert_never

from pyspark_substrait.analysis.diff.record import Record
from pyspark_substrait.extensions import Registry
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model.literals import Literal, LiteralValue
from pyspark_substrait.model.masks import MaskExpression
from pyspark_substrait.model.relations import Relation, WindowRelFunction
from pyspark_substrait.model.types import (
    Func,
    List,
    Map,
    Struct,
    Type,
    TypeParameter,
    UserDefined,
    concrete,
)

__all__ = ["Form", "Forms", "conjuncts", "mirrored", "plain_type"]

_STANDARD = "extension:io.substrait:functions_"

#: Functions whose operands may be exchanged, by the file of the specification that defines them.
_SYMMETRIC = {
    "boolean": ("and", "or", "xor"),
    "comparison": ("equal", "not_equal", "is_distinct_from", "is_not_distinct_from"),
    "arithmetic": ("add", "multiply", "bitwise_and", "bitwise_or", "bitwise_xor"),
    "arithmetic_decimal": ("add", "multiply", "bitwise_and", "bitwise_or", "bitwise_xor"),
}
#: Comparisons that mean the same with their operands exchanged.
_MIRRORED = {"gt": "lt", "gte": "lte"}


class Form(NamedTuple):
    """The numbers of a part: its meaning, and its meaning with the order of everything."""

    meaning: int
    exact: int


@dataclass(slots=True, eq=False)
class Forms:
    """The numbers assigned so far.

    Args:
        registry: the extensions.
        query: returns the step of a subquery.
    """

    registry: Registry
    query: Callable[[Relation, Record | None], Any] = field(kw_only=True)
    _numbers: dict[Hashable, int] = field(default_factory=dict)
    _known: dict[e.Function, bool] = field(default_factory=dict)
    _types: dict[Type, Type] = field(default_factory=dict)
    _found: dict[tuple[int, int], Form] = field(default_factory=dict)

    def number(self, *form: Hashable) -> int:
        """Return the number of a form."""
        return self._numbers.setdefault(form, len(self._numbers))

    def plain(self, *form: Hashable) -> Form:
        """Return a form in which no order can differ."""
        number = self.number(*form)
        return Form(number, number)

    def of(self, tag: Hashable, parts: Iterable[Form], *, ordered: bool = True) -> Form:
        """Return a form made of others, whose order may not matter."""
        given = tuple(parts)
        meanings = [part.meaning for part in given]
        if not ordered:
            meanings.sort()
        return Form(self.number(tag, *meanings), self.number(tag, *[part.exact for part in given]))

    def type(self, type: Type) -> Type:
        """Return the type without aliases."""
        found = self._types.get(type)
        if found is None:
            found = self._types[type] = plain_type(type)
        return found

    # expressions ------------------------------------------------------------------------------------------------------

    def expressions(self, nodes: Iterable[e.Expression], record: Record) -> Form:
        """Return the form of a list of expressions."""
        return self.of("list", [self.expression(node, record) for node in nodes])

    def optional(self, node: e.Expression | None, record: Record) -> Form:
        """Return the form of an optional expression."""
        return self.plain("none") if node is None else self.expression(node, record)

    def expression(self, node: e.Expression, record: Record) -> Form:
        """Return the form of an expression."""
        if not record.number:
            return self._expression(node, record)
        key = (id(node), record.number)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._expression(node, record)
        return found

    def _expression(self, node: e.Expression, record: Record) -> Form:
        match node:
            case Literal():
                return self.plain("literal", self.type(node.type), _value(node.value))
            case e.FieldReference():
                return self._reference(node, record)
            case e.ScalarFunction():
                return self._scalar(node, record)
            case e.WindowFunction():
                return self._window(node, record)
            case e.IfThen(ifs=arms, else_=otherwise):
                pairs = [item for arm in arms for item in (arm.if_, arm.then)]
                return self.of("if", (self.expressions(pairs, record), self.optional(otherwise, record)))
            case e.SwitchExpression(match=value, ifs=cases, else_=otherwise):
                items: list[e.Expression] = [value]
                for case in cases:
                    items += (case.if_, case.then)
                return self.of("switch", (self.expressions(items, record), self.optional(otherwise, record)))
            case e.SingularOrList(value=value, options=options):
                listed = self.of("options", [self.expression(item, record) for item in options], ordered=False)
                return self.of("in", (self.expression(value, record), listed))
            case e.MultiOrList(value=values, options=rows):
                listed = self.of("options", [self.expressions(row, record) for row in rows], ordered=False)
                return self.of("in", (self.expressions(values, record), listed))
            case e.Cast(type=type, input=value, failure_behavior=failure):
                return self.of(("cast", self.type(type), failure), (self.expression(value, record),))
            case e.NestedStruct(fields=parts) | e.NestedList(values=parts):
                made = (node.__class__.__name__, node.nullable, node.variation)
                return self.of(made, [self.expression(part, record) for part in parts])
            case e.NestedMap(key_values=entries):
                parts = tuple(part for entry in entries for part in entry)
                return self.of(("map", node.nullable, node.variation), [self.expressions(parts, record)])
            case e.ScalarSubquery(input=query):
                return self._query("scalar", query, record)
            case e.InPredicate(needles=needles, haystack=query):
                return self.of("in query", (self.expressions(needles, record), self._query("list", query, record)))
            case e.SetPredicate(predicate_op=predicate, tuples=query):
                return self._query(predicate, query, record)
            case e.SetComparison(reduction_op=reduction, comparison_op=operator, left=value, right=query):
                tag = (reduction, operator)
                return self.of(tag, (self.expression(value, record), self._query("list", query, record)))
            case e.DynamicParameter(type=type, parameter_reference=number):
                return self.plain("parameter", number, self.type(type))
            case e.Lambda(parameters=parameters, body=body):
                return self.of(("lambda", self.type(parameters)), (self.expression(body, record),))
            case e.NamedLambdaReference(lambda_=named):
                return self.expression(named.lambda_, record)
            case e.LambdaInvocation(lambda_=function, arguments=arguments):
                called = self.expression(function, record)
                return self.of("invocation", (called, self.expressions(arguments, record)))
            case e.ExecutionContextVariable(variable=variable, type=type):
                return self.plain("variable", variable, self.type(type))
            case e.DetachedExpression(expression=inner):
                return self.expression(inner, record)
            case e.BrokenExpression(kind=kind, fault=fault, parts=parts):
                return self.of(("broken", kind, fault), [self.expression(part, record) for part in parts])
            case _:
                assert_never(node)

    def _query(self, tag: Hashable, query: Relation, record: Record) -> Form:
        step = self.query(query, record)
        columns = () if tag is e.PredicateOp.EXISTS else step.columns
        if tag is e.PredicateOp.UNIQUE:
            columns = tuple(sorted(columns))
        return Form(
            self.number("query", tag, step.form.meaning, columns), self.number("query", tag, step.form.exact, columns)
        )

    def _reference(self, node: e.FieldReference, record: Record) -> Form:
        match node.root:
            case e.RootReference():
                return self._inside("column", record, node.reference)
            case e.OuterReference(steps_out=steps, rel_reference=anchor):
                found = record.anchored(anchor) if anchor is not None else record.up(steps or 1)
                if found is None:
                    return self.plain("outer", steps, anchor, self._path(node.reference))
                return self._inside(("outer", found[0]), found[1], node.reference)
            case e.LambdaParameterReference(steps_out=steps):
                return self.plain("lambda parameter", steps, self._path(node.reference))
            case root:
                return self.of(("inside", self._path(node.reference)), (self.expression(root, record),))

    def _inside(
        self, tag: Hashable, record: Record, reference: tuple[e.ReferenceSegment, ...] | MaskExpression
    ) -> Form:
        match reference:
            case (e.StructField(field=position), *rest):
                column = self.column(record, position)
                return self.plain(tag, column, self._path(tuple(rest))) if rest else self.plain(tag, column)
            case _:
                return self.plain(tag, record.columns, self._path(reference))

    def column(self, record: Record, position: int) -> int:
        """Return the identity of the column at a position; for an unknown column, it stands for the position."""
        if 0 <= position < len(record.columns):
            return record.columns[position]
        return self.number("position", position)

    def _path(self, reference: tuple[e.ReferenceSegment, ...] | MaskExpression) -> Hashable:
        if isinstance(reference, MaskExpression):
            return reference
        return tuple(
            ("key", self.expression(segment.map_key, Record()).meaning) if isinstance(segment, e.MapKey) else segment
            for segment in reference
        )

    # functions --------------------------------------------------------------------------------------------------------

    def _scalar(self, node: e.ScalarFunction, record: Record) -> Form:
        arguments = self._arguments(_flat(node), record)
        tag = ("call", *self._function(node))
        if not node.options and _standard(node.function) == "comparison" and node.function.name in _MIRRORED:
            mirrored = replace(node.function, name=_MIRRORED[node.function.name])
            meaning = self.of(("call", *self._function(replace(node, function=mirrored))), arguments[::-1]).meaning
            return Form(meaning, self.of(tag, arguments).exact)
        return self.of(tag, arguments, ordered=not _symmetric(node))

    def aggregate(self, node: e.AggregateFunction, record: Record) -> Form:
        """Return the form of an aggregate function."""
        tag = ("aggregate", *self._function(node), node.phase, node.invocation)
        return self.of(tag, (*self._arguments(node.arguments, record), self.sorts(node.sorts, record)))

    def _window(self, node: e.WindowFunction, record: Record) -> Form:
        partitions = [self.expression(item, record) for item in node.partitions]
        return self.of(
            "over",
            (
                self.windowed(node, record),
                self.of("partitions", partitions, ordered=False),
                self.sorts(node.sorts, record),
            ),
        )

    def windowed(self, node: e.WindowFunction | WindowRelFunction, record: Record) -> Form:
        """Return the form of a window function, without its partitions and sorts."""
        tag = ("window", *self._function(node), node.phase, node.invocation, node.bounds_type)
        bounds = (self._bound(node.lower_bound, record), self._bound(node.upper_bound, record))
        return self.of(tag, (*bounds, *self._arguments(node.arguments, record)))

    def _bound(self, bound: e.Bound, record: Record) -> Form:
        if isinstance(bound, e.Preceding | e.Following):
            return self.of(bound.__class__.__name__, (self.expression(bound.offset, record),))
        return self.plain(bound.__class__.__name__)

    def sorts(self, sorts: Iterable[e.SortField], record: Record) -> Form:
        """Return the form of a list of sort fields."""
        return self.of("sorts", [self.sort(sort, record) for sort in sorts])

    def sort(self, sort: e.SortField, record: Record) -> Form:
        """Return the form of a sort field."""
        return self.of(("sort", sort.sort_kind), (self.expression(sort.expr, record),))

    def _function(
        self, node: e.ScalarFunction | e.AggregateFunction | e.WindowFunction | WindowRelFunction
    ) -> tuple[Hashable, ...]:
        """Identify a function. Its type follows from the rest, unless the plan states another or it is unknown."""
        options = tuple(sorted((option.name, option.preference) for option in node.options))
        follows = node.output_type == node.derived_type and self._is_known(node.function)
        return node.function, options, None if follows else self.type(node.output_type)

    def _is_known(self, function: e.Function) -> bool:
        known = self._known.get(function)
        if known is None:
            known = self._known[function] = bool(self.registry.overloads(function.urn, function.name))
        return known

    def _arguments(self, arguments: Iterable[e.Argument], record: Record) -> list[Form]:
        forms = []
        for item in arguments:
            match item:
                case e.EnumArgument(value=value):
                    forms.append(self.plain("enum", value))
                case e.TypeArgument(type=type):
                    forms.append(self.plain("type", self.type(type)))
                case _:
                    forms.append(self.expression(item, record))
        return forms


def _standard(function: e.Function) -> str:
    """Return the file of the specification that a function is from, like ``boolean``; empty for other functions."""
    return function.urn.removeprefix(_STANDARD) if function.urn.startswith(_STANDARD) else ""


def _symmetric(node: e.ScalarFunction) -> bool:
    function = node.function
    kinds = function.signature.split("_")
    return function.name in _SYMMETRIC.get(_standard(function), ()) and len(set(kinds)) == 1


def _flat(node: e.ScalarFunction) -> tuple[e.Argument, ...]:
    """Return the arguments; for AND and OR, nested operands of the same function in place of the nested call."""
    if node.function.name not in ("and", "or") or _standard(node.function) != "boolean":
        return node.arguments
    found: list[e.Argument] = []
    pending: list[e.Argument] = list(reversed(node.arguments))
    while pending:
        item = pending.pop()
        inner = item.expression if isinstance(item, e.DetachedExpression) else item
        if isinstance(inner, e.ScalarFunction) and inner.function == node.function and inner.options == node.options:
            pending.extend(reversed(inner.arguments))
        else:
            found.append(item)
    return tuple(found)


def mirrored(function: e.Function) -> str | None:
    """Return the comparison that means the same with its operands exchanged, like ``lt`` for ``gt``."""
    if _standard(function) != "comparison":
        return None
    return {**_MIRRORED, **{name: other for other, name in _MIRRORED.items()}}.get(function.name)


def conjuncts(condition: e.Expression | None) -> list[e.Expression]:
    """Return the conditions whose conjunction a condition is; none for one that is always true."""
    match condition:
        case None | Literal(value=True):
            return []
        case e.DetachedExpression(expression=inner):
            return conjuncts(inner)
        case e.ScalarFunction(function=function, options=()) if (
            function.name == "and" and _standard(function) == "boolean" and condition.arguments
        ):
            operands = [item for item in _flat(condition) if not isinstance(item, e.EnumArgument | e.TypeArgument)]
            return [item for operand in operands for item in conjuncts(operand)]
        case _:
            return [condition]


def plain_type(type: Type) -> Type:
    """Return a type with its aliases resolved, at any depth."""
    here = concrete(type)
    match here:
        case Struct(types=types):
            return replace(here, types=tuple(map(plain_type, types)))
        case List(type=child):
            return replace(here, type=plain_type(child))
        case Map(key=key, value=value):
            return replace(here, key=plain_type(key), value=plain_type(value))
        case Func(parameter_types=types, return_type=result):
            return replace(here, parameter_types=tuple(map(plain_type, types)), return_type=plain_type(result))
        case UserDefined(type_parameters=parameters):
            return replace(here, type_parameters=tuple(map(_parameter, parameters)))
        case _:
            return here


def _parameter(parameter: TypeParameter) -> TypeParameter:
    value = parameter.value
    if value is None or isinstance(value, bool | int | str):
        return parameter
    return TypeParameter(parameter.kind, plain_type(value))


def _value(value: LiteralValue) -> Hashable:
    """Return a key that is equal only for the same value: 0.0 isn't -0.0, and NaN is NaN."""
    match value:
        case float():
            return "nan" if math.isnan(value) else value.hex()
        case tuple() if value.__class__ is tuple:
            return tuple(
                _value(item) if item.__class__ is tuple else (plain_type(item.type), _value(item.value))  # type: ignore
                for item in value
            )
        case _:
            return str(value) if value.__class__.__name__ == "Decimal" else value

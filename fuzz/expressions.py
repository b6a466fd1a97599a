"""Random expressions of a wanted type.

An expression is made over a :class:`Scope`: the columns of its record, and of the records of the queries around it.
Subqueries are made by the generator of relations, which comes as an argument: each needs the other.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from fuzz.calls import TYPES, Signature, call_of, options_of, signatures, telling_options, wants_constant
from fuzz.literals import constant, literal
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import types as t
from pyspark_substrait.model.expressions import Expression, FieldReference, referenced_type
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Fetch, Relation, Sort
from pyspark_substrait.model.types import Struct, Type, same_type, with_nullability

__all__ = ["Expressions", "Frame", "Scope", "has_keys", "is_sortable"]


@dataclass
class Frame:
    """The record that the expressions of a relation are over.

    ``used``: an outer reference names the relation by its anchor. ``lateral``: it is the left input of a lateral join.
    """

    struct: Struct
    anchor: int
    lateral: bool = False
    used: bool = False


@dataclass(frozen=True)
class Scope:
    """The columns that an expression may refer to: its record's, and those around it, the innermost last."""

    frame: Frame
    around: tuple[Frame, ...] = ()
    windows: bool = False
    queries: bool = True

    @property
    def struct(self) -> Struct:
        """The record's columns."""
        return self.frame.struct

    @property
    def inside(self) -> tuple[Frame, ...]:
        """The records around a query in an expression."""
        return (*self.around, self.frame)


_Paths = list[tuple[tuple[e.ReferenceSegment, ...], Type]]
#: what a cast of a type may start from; nothing that is one text for one engine, and another one elsewhere
_CASTS: Final[dict[type[Type], tuple[Type, ...]]] = {
    t.I8: (t.I16(), t.I32(), t.Boolean()),
    t.I16: (t.I8(), t.I32(), t.I64()),
    t.I32: (t.I8(), t.I16(), t.I64(), t.String(), t.Boolean()),
    t.I64: (t.I32(), t.I16(), t.String(), t.Decimal(precision=10, scale=2)),
    t.FP32: (t.I16(), t.I8()),
    t.FP64: (t.I32(), t.FP32(), t.Decimal(precision=10, scale=2)),
    t.String: (t.I32(), t.I64(), t.Date(), t.Boolean(), t.VarChar(length=10), t.Decimal(precision=10, scale=2)),
    t.VarChar: (t.String(), t.I32()),
    t.FixedChar: (t.String(), t.VarChar(length=10)),
    t.Decimal: (t.I32(), t.I16(), t.Decimal(precision=38, scale=6)),
    t.Date: (t.String(), t.PrecisionTimestamp(precision=6)),
    t.PrecisionTimestamp: (t.Date(), t.String()),
    t.Boolean: (t.I32(), t.String()),
    t.Binary: (t.String(),),
}


def is_sortable(type: Type) -> bool:
    """Whether Spark and the specification order the values of a type."""
    match type:
        case t.Map() | t.IntervalCompound() | t.UserDefined() | t.Func():
            return False
        case t.List(type=element):
            return is_sortable(element)
        case t.Struct(types=types):
            return all(map(is_sortable, types))
    return True


def has_keys(struct: Struct) -> bool:
    """Whether whole records can be compared."""
    return bool(struct.types) and all(map(is_sortable, struct.types))


def paths(struct: Struct) -> _Paths:
    """The columns of a record, and what is inside the nested ones."""
    found: _Paths = []
    for position, type in enumerate(struct.types):
        segments: tuple[e.ReferenceSegment, ...] = (e.StructField(position),)
        found.append((segments, type))
        steps: list[e.ReferenceSegment] = []
        match type:
            case t.Struct(types=types):
                steps += [e.StructField(number) for number in range(len(types))]
            case t.List():
                steps += [e.ListElement(0), e.ListElement(-1), e.ListElement(7)]
            case t.Map(key=t.String() as key):
                steps.append(e.MapKey(Literal(type=key, value="a")))
        found += [((*segments, step), referenced_type(struct, (*segments, step))) for step in steps]
    return found


@dataclass
class Expressions:
    """A generator of expressions. ``query`` makes a relation: from the frames around it, and the types it should have
    (None for any)."""

    chance: random.Random
    query: Callable[[tuple[Frame, ...], Sequence[Type] | None], Relation]
    anchors: int = 0

    # a type -----------------------------------------------------------------------------------------------------------

    def any(self, scope: Scope, depth: int) -> Expression:
        """Return an expression of a random type; often one of the record's types."""
        types = [type for _, type in paths(scope.struct)]
        chosen = self.chance.choice(types) if types and self.chance.random() < 0.5 else self.chance.choice(TYPES)
        return self.of(with_nullability(chosen, False), scope, depth)

    def of(self, type: Type, scope: Scope, depth: int) -> Expression:
        """Return an expression of a type, required or nullable."""
        if depth <= 0 or self.chance.random() < 0.15:
            return self._leaf(type, scope)
        makers: list[Callable[[Type, Scope, int], Expression | None]] = [self._call] * 8
        makers += [self._leaf_or_none] * 3 + [self._if, self._switch, self._cast, self._cast]
        if isinstance(type, t.Boolean):
            makers += [self._or_list, self._multi_or_list, self._logic, self._logic, self._comparison, self._comparison]
        if isinstance(type, t.List | t.Struct | t.Map):
            makers += [self._nested] * (20 if isinstance(type, t.Map) else 4)
        if scope.queries and self.chance.random() < 0.25:
            makers = [self._scalar_subquery] if not isinstance(type, t.Boolean) else [
                self._in_predicate, self._set_predicate, self._set_predicate, self._set_comparison,
            ]  # fmt: skip
        if scope.windows and self.chance.random() < 0.3:
            makers = [self._window]
        made = self.chance.choice(makers)(type, scope, depth)
        return self._leaf(type, scope) if made is None else made

    def nullable(self, made: Expression) -> Expression:
        """Return the expression, cast to nullable if it is required: what is nested is always nullable."""
        if made.type.nullable:
            return made
        if isinstance(made, Literal):
            return replace(made, type=with_nullability(made.type, True))
        return e.Cast(
            type=with_nullability(made.type, True), input=made, failure_behavior=e.FailureBehavior.THROW_EXCEPTION
        )

    def reference(self, type: Type, scope: Scope) -> Expression | None:
        """Return a reference of a type; None if no record has one."""
        if scope.around and self.chance.random() < 0.3:
            number = self.chance.randrange(len(scope.around))
            frame = scope.around[-1 - number]
            found = [(path, own) for path, own in paths(frame.struct) if same_type(own, type)]
            if found:
                path, own = self.chance.choice(found)
                anchored = any(item.lateral for item in scope.around) or self.chance.random() < 0.5
                if anchored:
                    frame.used = True
                root = e.OuterReference(rel_reference=frame.anchor) if anchored else e.OuterReference(number + 1)
                return FieldReference(root=root, reference=path, type=own)
        found = [(path, own) for path, own in paths(scope.struct) if same_type(own, type)]
        if not found:
            return None
        path, own = self.chance.choice(found)
        return FieldReference(root=e.RootReference(), reference=path, type=own)

    def anchor(self) -> int:
        """Return a new number for a relation."""
        self.anchors += 1
        return self.anchors

    def _leaf(self, type: Type, scope: Scope) -> Expression:
        made = self.reference(type, scope) if self.chance.random() < 0.85 else None
        if made is not None:
            return made
        nullable = with_nullability(type, type.nullable or self.chance.random() < 0.2)
        return literal(nullable, self.chance)

    def _leaf_or_none(self, type: Type, scope: Scope, depth: int) -> Expression | None:
        return self.reference(type, scope)

    # calls ------------------------------------------------------------------------------------------------------------

    def arguments(self, signature: Signature, scope: Scope, depth: int) -> list[e.Argument]:
        """Return random arguments for a signature."""
        made: list[e.Argument] = []
        for position, type in enumerate(signature.arguments):
            if isinstance(type, tuple):
                made.append(e.EnumArgument(self.chance.choice(type)))
            elif wants_constant(signature, position):
                made.append(constant(signature.names[position], type, self.chance))
            elif signature.definition.kind != "scalar" and isinstance(type, t.FP32 | t.FP64):
                # sums of small integers are exact in any order
                whole = self.of(t.I16(), replace(scope, windows=False), depth - 1)
                made.append(e.Cast(type=with_nullability(type, whole.type.nullable), input=whole,
                                   failure_behavior=e.FailureBehavior.THROW_EXCEPTION))  # fmt: skip
            else:
                made.append(self.of(type, scope, depth - 1))
        return made

    def options(self, signature: Signature) -> dict[str, str]:
        """Return random values for some of a function's options."""
        possible = options_of(signature)
        chosen = {name: self.chance.choice(values) for name, values in possible.items() if self.chance.random() < 0.5}
        for name, values in telling_options(signature).items():
            if self.chance.random() < 0.5:  # what a lost option changes
                chosen[name] = self.chance.choice(values)
        return chosen

    def _call(self, type: Type, scope: Scope, depth: int) -> Expression | None:
        known = signatures("scalar")[1].get(with_nullability(type, False), ())
        if not known:
            return None
        name = self.chance.choice(sorted({item.definition.name for item in known}))
        signature = self.chance.choice([item for item in known if item.definition.name == name])
        arguments = self.arguments(signature, scope, depth)
        for options in (self.options(signature), {}):
            try:
                made = cast(Expression, call_of(signature, arguments, options))
            except SubstraitError:
                continue
            return made if same_type(made.type, type) else None
        return None

    def _window(self, type: Type, scope: Scope, depth: int) -> Expression | None:
        inner = replace(scope, windows=False, queries=False)
        kind = self.chance.choice(("window", "aggregate"))
        known = signatures("window" if kind == "window" else "aggregate")[1].get(with_nullability(type, False), ())
        if not known or not has_keys(scope.struct):
            return None
        signature = self.chance.choice(known)
        call = call_of(signature, self.arguments(signature, inner, min(depth, 1)), {})
        if isinstance(call, e.ScalarFunction):
            return None
        partitions = tuple(self.sortable(inner) for _ in range(self.chance.randrange(2)))
        framed = kind == "aggregate" or signature.definition.name in ("first_value", "last_value", "nth_value")
        bounds, lower, upper = self._frame() if framed else (None, e.Unbounded(), e.Unbounded())
        return e.WindowFunction(
            function=call.function,
            arguments=call.arguments,
            output_type=call.output_type,
            derived_type=call.derived_type,
            partitions=partitions,
            sorts=self.total_order(scope.struct),
            bounds_type=bounds,
            lower_bound=lower,
            upper_bound=upper,
        )

    def _frame(self) -> tuple[e.BoundsType, e.Bound, e.Bound]:
        """A frame by rows, or by the range up to the current row's equals."""
        if self.chance.random() < 0.3:
            choices: tuple[tuple[e.Bound, e.Bound], ...] = (
                (e.Unbounded(), e.CurrentRow()), (e.CurrentRow(), e.Unbounded()), (e.CurrentRow(), e.CurrentRow()),
            )  # fmt: skip
            lower, upper = self.chance.choice(choices)
            return e.BoundsType.RANGE, lower, upper
        first, second = sorted(self.chance.choice((-2, -1, 0, 1, 2)) for _ in range(2))
        lower = self._bound(first) if self.chance.random() < 0.7 else e.Unbounded()
        upper = self._bound(second) if self.chance.random() < 0.7 else e.Unbounded()
        return e.BoundsType.ROWS, lower, upper

    def _bound(self, place: int) -> e.Bound:
        offset = Literal(type=t.I64(), value=abs(place))
        return e.CurrentRow() if place == 0 else e.Preceding(offset) if place < 0 else e.Following(offset)

    def sortable(self, scope: Scope) -> Expression:
        """Return a column by which records can be put in order, or a literal."""
        types = [type for type in scope.struct.types if is_sortable(type)]
        return self._leaf(self.chance.choice(types or [t.I32()]), replace(scope, around=()))

    def total_order(self, struct: Struct) -> tuple[e.SortField, ...]:
        """Return sort fields for all columns, in a random order: equal records are then the same."""
        directions = [item for item in e.SortDirection if item is not e.SortDirection.CLUSTERED]
        places = list(range(len(struct.types)))
        self.chance.shuffle(places)
        columns = [
            FieldReference(root=e.RootReference(), reference=(e.StructField(place),), type=struct.types[place])
            for place in places
        ]
        return tuple(e.SortField(expr=column, sort_kind=self.chance.choice(directions)) for column in columns)

    # other kinds ------------------------------------------------------------------------------------------------------

    def _if(self, type: Type, scope: Scope, depth: int) -> Expression:
        count = self.chance.choice((1, 1, 2))
        clauses = tuple(
            e.IfClause(self.of(t.Boolean(), scope, depth - 1), self.of(type, scope, depth - 1)) for _ in range(count)
        )
        return e.IfThen(ifs=clauses, else_=self._otherwise(type, scope, depth))

    def _otherwise(self, type: Type, scope: Scope, depth: int) -> Expression | None:
        return self.of(type, scope, depth - 1) if self.chance.random() < 0.8 else None

    def _switch(self, type: Type, scope: Scope, depth: int) -> Expression:
        over = self.chance.choice((t.I32(), t.String(), t.I64()))
        values = {literal(over, self.chance, extremes=0.0) for _ in range(self.chance.choice((1, 2, 3)))}
        clauses = tuple(
            e.IfValue(cast(Literal, value), self.of(type, scope, depth - 1)) for value in sorted(values, key=repr)
        )
        return e.SwitchExpression(
            match=self.of(over, scope, depth - 1), ifs=clauses, else_=self._otherwise(type, scope, depth)
        )

    def _cast(self, type: Type, scope: Scope, depth: int) -> Expression | None:
        sources = _CASTS.get(type.__class__)
        if sources is None:
            return None
        made = self.of(self.chance.choice(sources), scope, depth - 1)
        safe = self.chance.random() < 0.8
        behavior = e.FailureBehavior.RETURN_NULL if safe else e.FailureBehavior.THROW_EXCEPTION
        return e.Cast(type=with_nullability(type, made.type.nullable or safe), input=made, failure_behavior=behavior)

    def _or_list(self, type: Type, scope: Scope, depth: int) -> Expression:
        over = self.comparable()
        options = tuple(self.of(over, scope, depth - 2) for _ in range(self.chance.choice((1, 2, 3))))
        return e.SingularOrList(value=self.of(over, scope, depth - 1), options=options)

    def _multi_or_list(self, type: Type, scope: Scope, depth: int) -> Expression:
        types = [self.comparable() for _ in range(2)]
        rows = tuple(tuple(self.of(item, scope, depth - 2) for item in types) for _ in range(2))
        return e.MultiOrList(value=tuple(self.of(item, scope, depth - 1) for item in types), options=rows)

    def comparable(self) -> Type:
        """Return a type whose values are compared often."""
        return self.chance.choice((t.I32(), t.I64(), t.String(), t.Date(), t.FP64(), t.Decimal(precision=10, scale=2)))

    def _logic(self, type: Type, scope: Scope, depth: int) -> Expression | None:
        known = [item for item in signatures("scalar")[0] if item.definition.name in ("and", "or", "not")]
        signature = self.chance.choice(known)
        return cast(Expression, call_of(signature, self.arguments(signature, scope, depth), {}))

    def _comparison(self, type: Type, scope: Scope, depth: int) -> Expression | None:
        names = ("equal", "not_equal", "lt", "gt", "lte", "gte", "is_not_distinct_from", "is_null", "between")
        known = [item for item in signatures("scalar")[0] if item.definition.name in names]
        signature = self.chance.choice(known)
        return cast(Expression, call_of(signature, self.arguments(signature, scope, depth), {}))

    def _nested(self, type: Type, scope: Scope, depth: int) -> Expression | None:
        match type:
            case t.Struct(types=types):
                return e.NestedStruct(fields=tuple(self.nullable(self.of(item, scope, depth - 1)) for item in types))
            case t.List(type=element):
                count = self.chance.choice((1, 2, 3))
                values = tuple(self.nullable(self.of(element, scope, depth - 1)) for _ in range(count))
                return e.NestedList(values=values)
            case t.Map(key=key, value=element):
                keys = {literal(key, self.chance) for _ in range(self.chance.choice((1, 2)))}
                pairs = tuple(
                    (item, self.nullable(self.of(element, scope, depth - 1))) for item in sorted(keys, key=repr)
                )
                return e.NestedMap(key_values=pairs)
        return None

    # queries ----------------------------------------------------------------------------------------------------------

    def _scalar_subquery(self, type: Type, scope: Scope, depth: int) -> Expression | None:
        if not is_sortable(type):
            return None
        found = self.query(scope.inside, (type,))
        ordered = Sort(input=found, sorts=self.total_order(found.schema))
        return e.ScalarSubquery(input=Fetch(input=ordered, count_expr=Literal(type=t.I64(), value=1)))

    def _in_predicate(self, type: Type, scope: Scope, depth: int) -> Expression:
        types = [self.comparable() for _ in range(self.chance.choice((1, 1, 2)))]
        needles = tuple(self.of(item, scope, depth - 2) for item in types)
        return e.InPredicate(needles=needles, haystack=self.query(scope.inside, types))

    def _set_predicate(self, type: Type, scope: Scope, depth: int) -> Expression:
        return e.SetPredicate(
            predicate_op=self.chance.choice((*[e.PredicateOp.EXISTS] * 3, e.PredicateOp.UNIQUE)),
            tuples=self.query(scope.inside, (self.comparable(),)),
        )

    def _set_comparison(self, type: Type, scope: Scope, depth: int) -> Expression:
        over = self.comparable()
        return e.SetComparison(
            reduction_op=self.chance.choice(list(e.ReductionOp)),
            comparison_op=self.chance.choice(list(e.ComparisonOp)),
            left=self.of(over, scope, depth - 2),
            right=self.query(scope.inside, (over,)),
        )

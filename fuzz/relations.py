"""Random relations: every logical one, and expand and top-n, over the tables of :mod:`fuzz.tables`.

The rows of a plan are determined: whatever keeps some of its records orders them by all columns before that.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, cast

from fuzz.calls import call_of, signatures
from fuzz.comparisons import Comparisons
from fuzz.expressions import Expressions, Frame, Scope, is_sortable
from fuzz.literals import literal
from fuzz.tables import SCHEMAS, read, rooted_names
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model import types as t
from pyspark_substrait.model.expressions import Expression, FieldReference
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.types import NamedStruct, Struct, Type, same_type, with_nullability
from pyspark_substrait.model.walk import relations_within

__all__ = ["Relations", "column", "with_emit"]

_WEIGHTS: Final = {"extremes": 1, "empty": 1, "few": 4, "facts": 5, "texts": 2, "times": 2, "nested": 3}
_LATERAL: Final = (
    r.JoinType.INNER,
    r.JoinType.LEFT,
    r.JoinType.LEFT_SEMI,
    r.JoinType.LEFT_ANTI,
    r.JoinType.LEFT_MARK,
)
#: the aggregates that DISTINCT changes, most of the measures of queries
_COUNTED: Final = ("count", "sum", "avg")
#: the set operations that count the copies of a record
_COPIES: Final = (r.SetOp.MINUS_PRIMARY_ALL, r.SetOp.INTERSECTION_MULTISET_ALL)
_MANY: Final = 12
"""The most columns of a relation."""


def column(position: int, struct: Struct) -> FieldReference:
    """Return a reference to a column."""
    return FieldReference(root=e.RootReference(), reference=(e.StructField(position),), type=struct.types[position])


def with_emit(relation: Relation, emit: Sequence[int]) -> Relation:
    """Return a relation that puts out some of its present columns."""
    if isinstance(relation, r.Reference):
        return r.Project(common=r.RelCommon(emit=tuple(emit)), input=relation, expressions=())
    before = relation.common.emit
    places = tuple(emit) if before is None else tuple(before[position] for position in emit)
    return replace(relation, common=replace(relation.common, emit=places))


def _numbered(relation: Relation) -> bool:
    """Whether outer references name a relation, which may then stand in one place only."""
    return relation.common.rel_anchor is not None


@dataclass
class Relations:
    """A generator of relations.

    ``calls``: whether expressions call functions of all kinds, or compare columns most of the time. ``shared``: trees
    that references may refer to.
    """

    chance: random.Random
    calls: bool = True
    shared: list[Relation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.made = (Expressions if self.calls else Comparisons)(self.chance, self.query)

    # relations --------------------------------------------------------------------------------------------------------

    def any(self, depth: int, around: tuple[Frame, ...] = ()) -> Relation:
        """Return a random relation of at most this depth."""
        if depth <= 0:
            return self._leaf(around)
        makers: list[Callable[[int, tuple[Frame, ...]], Relation]] = [
            *[self._filter] * 4, *[self._project] * 5, *[self._join] * 4, *[self._aggregate] * 4, *[self._set] * 3,
            self._fetch, self._fetch, self._top, self._sort, self._cross, self._expand, self._lateral,
        ]  # fmt: skip
        made = self.chance.choice(makers)(depth, around)
        width = len(made.schema.types)
        if width > _MANY:
            made = with_emit(made, sorted(self.chance.sample(range(width), _MANY)))
        elif self.chance.random() < 0.15:
            made = with_emit(made, [self.chance.randrange(width) for _ in range(self.chance.randint(1, width))])
        return made

    def query(self, around: tuple[Frame, ...], types: Sequence[Type] | None) -> Relation:
        """Return a small relation for a subquery, with columns of some types."""
        input = self.any(self.chance.choice((0, 0, 0, 1)), around)
        scope = Scope(Frame(input.schema, self.made.anchor()), around, queries=len(around) < 2)
        if self.chance.random() < 0.6:
            condition = self.made.of(t.Boolean(), replace(scope, queries=False), 2)
            input = self._anchored(r.Filter(input=input, condition=condition), scope)
        if types is None:
            return input
        inner = Scope(Frame(input.schema, self.made.anchor()), around, queries=False)
        return r.Project.only(input, [self.made.of(type, inner, 1) for type in types])

    def _leaf(self, around: tuple[Frame, ...]) -> Relation:
        kind = self.chance.random()
        if self.shared and kind < 0.3:
            ordinal = self.chance.randrange(len(self.shared))
            return r.Reference(subtree_ordinal=ordinal, subtree=self.shared[ordinal])
        if kind < 0.15:
            return self._virtual()
        table = self.chance.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0]
        made = read(table)
        if self.chance.random() < 0.15:
            scope = Scope(Frame(SCHEMAS[table].struct, self.made.anchor()), queries=False)
            made = replace(made, filter=self.made.of(t.Boolean(), scope, 1))
        return made

    def _virtual(self) -> Relation:
        types = tuple(with_nullability(self.made.comparable(), True) for _ in range(self.chance.choice((1, 2, 3))))
        struct = Struct(types=types)
        rows = tuple(
            e.NestedStruct(fields=tuple(literal(type, self.chance) for type in types))
            for _ in range(self.chance.choice((0, 1, 3)))
        )
        schema = NamedStruct(names=rooted_names(struct), struct=struct)
        return r.Read(base_schema=schema, read_type=r.VirtualTable(expressions=rows))

    def scope(self, struct: Struct, around: tuple[Frame, ...], *, windows: bool = False) -> Scope:
        """Return the scope of the expressions of a relation; a query within queries holds no more of them."""
        return Scope(Frame(struct, self.made.anchor()), around, windows=windows, queries=len(around) < 2)

    def _anchored(self, made: Relation, scope: Scope) -> Relation:
        """Give a relation its number, where an outer reference names it."""
        if not scope.frame.used:
            return made
        return replace(made, common=replace(made.common, rel_anchor=scope.frame.anchor))

    def _filter(self, depth: int, around: tuple[Frame, ...]) -> Relation:
        input = self.any(depth - 1, around)
        scope = self.scope(input.schema, around)
        return self._anchored(r.Filter(input=input, condition=self.made.of(t.Boolean(), scope, 3)), scope)

    def _project(self, depth: int, around: tuple[Frame, ...]) -> Relation:
        input = self.any(depth - 1, around)
        scope = self.scope(input.schema, around, windows=not around)
        made = tuple(self.made.any(scope, 3) for _ in range(self.chance.choice((1, 1, 2, 3))))
        relation = r.Project(input=input, expressions=made)
        if self.chance.random() < 0.4:
            relation = r.Project.only(input, made)
        return self._anchored(relation, scope)

    def keyed(self, made: Relation) -> Relation:
        """Return a relation without the columns that can't be compared; with a literal, if there are no others."""
        places = [place for place, type in enumerate(made.schema.types) if is_sortable(type)]
        if not places:
            return r.Project.only(made, [Literal(type=t.I32(), value=1)])
        return made if len(places) == len(made.schema.types) else with_emit(made, places)

    def _sort(self, depth: int, around: tuple[Frame, ...]) -> Relation:
        input = self.keyed(self.any(depth - 1, around))
        return r.Sort(input=input, sorts=self.made.total_order(input.schema)[: self.chance.choice((1, 2, 99))])

    def _fetch(self, depth: int, around: tuple[Frame, ...]) -> Relation:
        input = self.keyed(self.any(depth - 1, around))
        ordered = r.Sort(input=input, sorts=self.made.total_order(input.schema))
        offset = Literal(type=t.I64(), value=self.chance.choice((0, 1, 3))) if self.chance.random() < 0.4 else None
        count = Literal(type=t.I64(), value=self.chance.choice((0, 1, 2, 5))) if self.chance.random() < 0.8 else None
        return r.Fetch(input=ordered, offset_expr=offset, count_expr=count)

    def _top(self, depth: int, around: tuple[Frame, ...]) -> Relation:
        input = self.keyed(self.any(depth - 1, around))
        ties = self.chance.random() < 0.4
        return r.TopN(
            input=input,
            sorts=self.made.total_order(input.schema)[: 1 if ties else 99],
            count=Literal(type=t.I64(), value=self.chance.choice((1, 2, 5))),
            mode=r.FetchMode.WITH_TIES if ties else r.FetchMode.ROWS_ONLY,
        )

    # aggregates -------------------------------------------------------------------------------------------------------

    def _aggregate(self, depth: int, around: tuple[Frame, ...]) -> Relation:
        input = self.any(depth - 1, around)
        scope = self.scope(input.schema, around)
        plain = replace(scope, queries=False)
        keys = tuple(self._key(plain) for _ in range(self.chance.choice((0, 1, 1, 2))))
        everything = r.Grouping(tuple(range(len(keys))))
        groupings: tuple[r.Grouping, ...] = (everything,)
        if keys and self.chance.random() < 0.3:
            others = [r.Grouping(tuple(self._some(len(keys)))) for _ in range(self.chance.choice((1, 2)))]
            groupings = (everything, *others)
        measures = tuple(self._measure(plain) for _ in range(self.chance.choice((0, 1, 2)) if keys else 1))
        made = r.Aggregate(input=input, groupings=groupings, grouping_expressions=keys, measures=measures)
        return self._anchored(made, scope)

    def _some(self, count: int) -> list[int]:
        return [place for place in range(count) if self.chance.random() < 0.5]

    def _key(self, scope: Scope) -> Expression:
        places = [place for place, type in enumerate(scope.struct.types) if is_sortable(type)]
        if places and self.chance.random() < 0.75:
            return column(self.chance.choice(places), scope.struct)
        return self.made.of(self.made.comparable(), replace(scope, around=()), 1)

    def _measure(self, scope: Scope) -> r.Measure:
        plain = replace(scope, around=())
        names = sorted({item.definition.name for item in signatures("aggregate")[0]})
        if not self.calls:
            name = self.chance.choice((*_COUNTED, "min", "max"))
        else:
            name = self.chance.choice(_COUNTED if self.chance.random() < 0.5 else names)
        signature = self.chance.choice([item for item in signatures("aggregate")[0] if item.definition.name == name])
        distinct = self.chance.random() < 0.35
        arguments = self.made.arguments(signature, plain, 1 if distinct else 2)  # columns and constants come again
        measure = cast(e.AggregateFunction, call_of(signature, arguments, self.made.options(signature)))
        if distinct:
            measure = replace(measure, invocation=e.AggregationInvocation.DISTINCT)
        condition = self.made.of(t.Boolean(), plain, 1) if self.chance.random() < 0.2 else None
        return r.Measure(measure=measure, filter=condition)

    # several inputs ---------------------------------------------------------------------------------------------------

    def _condition(self, left: Struct, right: Struct, scope: Scope) -> Expression:
        """A condition of a join: often the equality of two columns."""
        both = scope.struct
        pairs = [
            (one, other)
            for one, mine in enumerate(left.types)
            for other, theirs in enumerate(right.types, start=len(left.types))
            if same_type(mine, theirs) and is_sortable(mine)
        ]
        found: Expression | None = None
        if pairs and self.chance.random() < 0.85:
            one, other = self.chance.choice(pairs)
            name = self.chance.choice(("equal", "equal", "is_not_distinct_from", "lt"))
            type = with_nullability(both.types[one], False)
            known = [
                item for item in signatures("scalar")[0] if item.definition.name == name and item.arguments[0] == type
            ]
            if known:
                call = call_of(self.chance.choice(known), [column(one, both), column(other, both)], {})
                found = cast(Expression, call)
        if found is not None and self.chance.random() < 0.7:
            return found
        extra = self.made.of(t.Boolean(), replace(scope, queries=scope.queries and self.chance.random() < 0.3), 2)
        if found is None:
            return extra
        known = [item for item in signatures("scalar")[0] if item.definition.name in ("and", "or")]
        known = [item for item in known if len(item.arguments) == 2]
        return cast(Expression, call_of(self.chance.choice(known), [found, extra], {}))

    def _join(self, depth: int, around: tuple[Frame, ...]) -> Relation:
        left, right = self.any(depth - 1, around), self.any(self.chance.choice((0, 0, depth - 1)), around)
        kinds = [kind for kind in r.JoinType if "SINGLE" not in kind.name]
        type = self.chance.choice(kinds)
        both = Struct(types=(*left.schema.types, *right.schema.types))
        scope = self.scope(both, around)
        made = r.Join(left=left, right=right, type=type, expression=self._condition(left.schema, right.schema, scope))
        if self.chance.random() < 0.3:
            above = Scope(Frame(made.direct_schema, self.made.anchor()), (), queries=False)
            made = replace(made, post_join_filter=self.made.of(t.Boolean(), above, 1))
        return self._anchored(made, scope)

    def _lateral(self, depth: int, around: tuple[Frame, ...]) -> Relation:
        left = self.any(depth - 1, around)
        frame = Frame(left.schema, self.made.anchor(), lateral=True)
        right = self.query((*around, frame), None)
        condition = None
        if self.chance.random() < 0.4:
            both = Struct(types=(*left.schema.types, *right.schema.types))
            condition = self.made.of(t.Boolean(), Scope(Frame(both, self.made.anchor()), (), queries=False), 2)
        made = r.LateralJoin(left=left, right=right, type=self.chance.choice(_LATERAL), expression=condition)
        return replace(made, common=replace(made.common, rel_anchor=frame.anchor)) if frame.used else made

    def _cross(self, depth: int, around: tuple[Frame, ...]) -> Relation:
        return r.Cross(left=self.any(depth - 1, around), right=self._leaf(around))

    def _set(self, depth: int, around: tuple[Frame, ...]) -> Relation:
        ops = list(r.SetOp)
        op = self.chance.choices(ops, [3 if op is r.SetOp.UNION_ALL else 1 for op in ops])[0]  # the commonest one
        first = self.keyed(self.any(depth - 1, around))
        others = [self._fitted(first, depth, around) for _ in range(self.chance.choice((1, 1, 2)))]
        if op in _COPIES and all(not _numbered(part) for part in relations_within(first)):
            first = r.Set(members=(first, first), op=r.SetOp.UNION_ALL)
        return r.Set(members=(first, *others), op=op)

    def _fitted(self, first: Relation, depth: int, around: tuple[Frame, ...]) -> Relation:
        """Return a relation with the columns of another: a part of it, or columns and expressions of these types."""
        again = self.chance.random() < 0.4 and all(not _numbered(part) for part in relations_within(first))
        input = first if again else self.any(self.chance.choice((0, depth - 1)), around)
        scope = Scope(Frame(input.schema, self.made.anchor()), (), queries=False)
        if input is first:
            return r.Filter(input=input, condition=self.made.of(t.Boolean(), scope, 2))
        return r.Project.only(
            input, [self.made.of(with_nullability(type, False), scope, 1) for type in first.schema.types]
        )

    def _expand(self, depth: int, around: tuple[Frame, ...]) -> Relation:
        input = self.any(depth - 1, around)
        scope = Scope(Frame(input.schema, self.made.anchor()), (), queries=False)
        copies = self.chance.choice((1, 2, 3))
        fields: list[r.SwitchingField | Expression] = []
        for place, type in enumerate(input.schema.types):
            if self.chance.random() < 0.4:
                wanted = with_nullability(type, False)
                duplicates = tuple(self.made.of(wanted, scope, 1) for _ in range(copies))
                fields.append(r.SwitchingField(duplicates))
            else:
                fields.append(column(place, input.schema))
        return r.Expand(input=input, fields=tuple(fields))

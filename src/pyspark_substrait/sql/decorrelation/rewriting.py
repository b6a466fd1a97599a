"""Relations without the subqueries that Spark can't run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import Expression, NestedStruct, SortField, WindowFunction
from pyspark_substrait.model.relations import (
    Aggregate,
    ConsistentPartitionWindow,
    Cross,
    DetachedRel,
    Exchange,
    Expand,
    Fetch,
    FetchBase,
    Filter,
    HashJoin,
    Join,
    JoinType,
    LateralJoin,
    MergeJoin,
    NestedLoopJoin,
    Project,
    Read,
    Reference,
    Relation,
    RelCommon,
    Set,
    SetOp,
    Sort,
    SortBase,
    TopN,
    VirtualTable,
)
from pyspark_substrait.model.types import I64, Boolean, NamedStruct, Struct
from pyspark_substrait.model.walk import (
    expressions_within,
    holds_query,
    relation_subqueries,
    relations_within,
    subquery_relation,
    with_children,
    with_expressions,
    with_inputs,
    with_query,
)
from pyspark_substrait.sql.conjuncts import conjuncts
from pyspark_substrait.sql.decorrelation.constructors import (
    ONCE,
    all_of,
    column,
    distinct,
    empty_relation,
    internal,
    not_distinct,
    null,
    put_out,
    selected_columns,
    truth,
    with_columns,
)
from pyspark_substrait.sql.decorrelation.domain_pushdown import carried
from pyspark_substrait.sql.decorrelation.domain_pushdown_joins import LEFT_TYPES, RIGHT_TYPES
from pyspark_substrait.sql.decorrelation.keys import Domain
from pyspark_substrait.sql.decorrelation.lifting import Lifting
from pyspark_substrait.sql.decorrelation.native import (
    Natives,
    Place,
    SparkNatives,
    all_allowed_in,
    misplaced,
    runs_natively,
)
from pyspark_substrait.sql.decorrelation.outer import (
    Subquery,
    is_closed,
    outer_fields,
    own_fields,
    redirected,
    replaced,
    resolved,
    shifted,
)
from pyspark_substrait.sql.decorrelation.physical_joins import logical

__all__ = ["decorrelated", "may_vary", "needing_decorrelation"]

#: the newest version
SPARK: Final = SparkNatives()


def needing_decorrelation(node: Relation, natives: Natives = SPARK) -> Relation | None:
    """Return the relation with its outer references counted, if it has subqueries that can't stay; else None.

    Raises:
        InvalidPlanError: an outer reference has no target.
    """
    if not _has_queries(node):
        return None
    counted = resolved(node)
    return None if runs_natively(counted, natives) else counted


#: called with each refusal, and with the enclosing relations of the plan, the outermost first
Refused: TypeAlias = Callable[[UnsupportedPlanError, Sequence[Relation]], None]


def decorrelated(counted: Relation, natives: Natives = SPARK, refused: Refused | None = None) -> Relation:
    """Rewrite the relation that :func:`needing_decorrelation` returned without the subqueries that can't stay.

    Args:
        counted: the relation.
        natives: the subqueries that stay as they are.
        refused: called for each part that can't be rewritten, which is replaced by something of the same type; by
            default the first refusal is raised.

    Raises:
        UnsupportedPlanError: a subquery can't be rewritten.
    """
    if refused is None:
        _refuse_enhancements(counted)
    return _Rewriting(refused, natives).relation(counted)


def _has_queries(node: Relation) -> bool:
    """Whether a relation contains a subquery, or a lateral join, which is one in effect."""
    found = relations_within(node, queries=lambda _: ())
    return any(isinstance(item, LateralJoin) or relation_subqueries(item) for item in found)


def _refuse_enhancements(node: Relation) -> None:
    """Refuse enhancements, which change the meaning of a relation: the rewritten relation would no longer have them."""
    for current in relations_within(node):
        for _, extension in current.extensions:
            if extension.enhancement is not None:
                url = extension.enhancement.type_url
                raise UnsupportedPlanError(
                    f"the enhancement {url} changes what a relation means, and is not known here"
                )


class _Rewriting:
    """The rewriting of one plan. Relations that are needed twice become shared ones, with ordinals below zero."""

    def __init__(self, refused: Refused | None, natives: Natives) -> None:
        self._refused = refused
        self._natives = natives
        self._around: list[Relation] = []
        self._ordinal = 0
        #: the rewritten subtrees of references, by the identity of the original ones, which are kept
        self._subtrees: dict[int, tuple[Relation, Relation]] = {}
        #: relations that need no more rewriting, by identity
        self._done: dict[int, Relation] = {}

    def relation(self, node: Relation) -> Relation:
        """Rewrite a relation with no outer references that lead out of it."""
        if id(node) not in self._done:
            node = self._relation(node) if self._refused is None else self._tried(node, self._refused)
            self._done[id(node)] = node
        return node

    def _tried(self, node: Relation, refused: Refused) -> Relation:
        self._around.append(node)
        try:
            return self._relation(node)
        except UnsupportedPlanError as error:
            refused(error, self._around)
            return empty_relation(node.schema)
        finally:
            self._around.pop()

    def _relation(self, node: Relation) -> Relation:
        match node:
            case Reference(subtree=subtree):
                # rewritten once: all uses of a shared relation are the same
                if id(subtree) not in self._subtrees:
                    self._subtrees[id(subtree)] = (subtree, self.relation(subtree))
                return replace(node, subtree=self._subtrees[id(subtree)][1])
            case DetachedRel(relation=inner):
                return self.relation(inner)
            case LateralJoin():
                return self._lateral(node)
        node = with_inputs(node, self.relation)
        if all(all_allowed_in(expression, place, self._natives) for expression, place in self._natives.places(node)):
            return with_expressions(node, self._inside)
        match node:
            case Read():
                return self._read(node)
            case Filter():
                return self._filter(node)
            case Join():
                return self._join(node)
            case HashJoin() | MergeJoin() | NestedLoopJoin():
                return self._join(logical(node))
            case Project() | ConsistentPartitionWindow():
                input, expressions = self._lifted(node.input, list(self._natives.places(node)))
                width, more = len(node.input.schema.types), len(input.schema.types)
                whole = _with_expressions(replace(node, input=input, common=RelCommon()), expressions)
                added = len(node.direct_schema.types) - width
                return put_out(node, whole, (*range(width), *range(more, more + added)))
            case Aggregate():
                input, expressions = self._lifted(node.input, list(self._natives.places(node)))
                return _with_expressions(replace(node, input=input), expressions)
            case Expand():
                # lifted columns follow the fields
                node = replace(node, fields=node.all_fields)
                input, expressions = self._lifted(node.input, list(self._natives.places(node)))
                whole = _with_expressions(replace(node, input=input, common=RelCommon()), expressions)
                return put_out(node, whole, (*range(len(node.fields)), len(whole.direct_schema.types) - 1))
            case SortBase() | Exchange():
                input, expressions = self._lifted(node.input, list(self._natives.places(node)))
                whole = _with_expressions(replace(node, input=input, common=RelCommon()), expressions)
                return put_out(node, whole, range(len(node.input.schema.types)))
            case _:
                raise UnsupportedPlanError(f"this subquery in a {type(node).__name__} relation cannot run on Spark")

    def _inside(self, node: Expression) -> Expression:
        """Rewrite an expression whose subqueries stay: those without outer references are rewritten inside."""
        node = with_children(node, self._inside)
        if isinstance(node, Subquery):
            inner = subquery_relation(node)
            assert inner is not None
            return with_query(node, self.relation(inner)) if is_closed(inner) else node
        return node

    def _lifted(
        self, input: Relation, expressions: Sequence[tuple[Expression, Place]]
    ) -> tuple[Relation, list[Expression]]:
        """Return expressions without the subqueries that Spark doesn't take, over a relation with these as columns."""
        refused, around = self._refused, self._around
        told = None if refused is None else lambda error: refused(error, around)
        lifting = Lifting(
            input,
            rewritten=self.relation,
            inside=self._inside,
            shared=self._shared,
            natives=self._natives,
            refused=told,
        )
        changed = [lifting.expression(expression, place) for expression, place in expressions]
        return lifting.relation(), changed

    def _shared(self, node: Relation) -> Relation:
        """Return a relation that can be used more than once."""
        if isinstance(node, Reference) and not may_vary(node):
            return node
        self._ordinal -= 1
        width = len(node.schema.types)
        subtree = with_columns(node, [internal(ONCE, [], I64())]) if may_vary(node) else node
        reference = Reference(subtree_ordinal=self._ordinal, subtree=subtree)
        self._done[id(reference)] = reference
        shared = selected_columns(reference, range(width))
        self._done[id(shared)] = shared
        return shared

    # the relations ----------------------------------------------------------------------------------------------------

    def _read(self, node: Read) -> Relation:
        bare: Relation = replace(node, filter=None, best_effort_filter=None, projection=None, common=RelCommon())
        if isinstance(node.read_type, VirtualTable):
            bare = _unfolded(bare, node.read_type)
        for condition in (node.filter, node.best_effort_filter):
            if condition is not None:
                bare = Filter(input=bare, condition=condition)
        columns = list(range(len(node.base_schema.struct.types)))
        if node.projection is not None:
            if any(item.child is not None for item in node.projection.select.struct_items):
                raise UnsupportedPlanError(
                    "a read with such a subquery in it and a mask inside of a column cannot run on Spark",
                    hint="Filter above the read",
                )
            columns = [item.field for item in node.projection.select.struct_items]
        return self.relation(put_out(node, bare, columns))

    def _filter(self, node: Filter) -> Relation:
        """Rewrite a filter: the conditions without such subqueries come first."""
        parts = conjuncts(node.condition)
        placed = [(conjunct, self._natives.of_condition(conjunct, node)) for conjunct in parts]
        easy = [conjunct for conjunct, place in placed if all_allowed_in(conjunct, place, self._natives)]
        hard = [(conjunct, place) for conjunct, place in placed if not all_allowed_in(conjunct, place, self._natives)]
        input: Relation = node.input
        if easy:
            input = Filter(input=input, condition=all_of([self._inside(conjunct) for conjunct in easy]))
        input, conditions = self._lifted(input, hard)
        whole = Filter(input=input, condition=all_of(conditions))
        return put_out(node, whole, range(len(node.input.schema.types)))

    def _lateral(self, node: LateralJoin) -> Relation:
        """Rewrite a lateral join as a join with the right input's records for all left ones."""
        node = replace(node, left=self.relation(node.left))
        fields = sorted(outer_fields(node.right))
        left, right = node.left, node.right
        both = len(left.schema.types) + len(right.schema.types)
        conditions = [] if node.expression is None else [node.expression]
        if fields:
            left = self._shared(left)
            domain = Domain(relation=distinct(left, fields), keys={field: key for key, field in enumerate(fields)})
            right = carried(right, domain)
            pair = Struct(types=(*left.schema.types, *right.schema.types))
            conditions += [
                not_distinct(column(pair, field), column(pair, both + key)) for key, field in enumerate(fields)
            ]
        whole: Relation = Join(left=left, right=right, type=node.type, expression=all_of(conditions))
        columns = range(len(node.direct_schema.types))
        if node.post_join_filter is not None:
            whole = Filter(input=selected_columns(whole, columns), condition=node.post_join_filter)
        # without references to the left input, the right one may still have subqueries
        return self.relation(put_out(node, whole, columns))

    def _join(self, node: Join) -> Relation:
        if node.post_join_filter is not None:
            bare = replace(node, post_join_filter=None, common=RelCommon())
            return self.relation(Filter(input=bare, condition=node.post_join_filter, common=node.common))
        if node.type is JoinType.INNER:
            return self._inner(node)
        joined, columns = self._by_side(node)
        if misplaced(joined.expression, self._natives):
            whole = self._outer(joined) if node.type is JoinType.OUTER else self._by_pair(joined)
        else:
            whole = replace(joined, expression=self._inside(joined.expression))
        return put_out(node, whole, columns)

    def _inner(self, node: Join) -> Relation:
        """Rewrite an inner join: conditions that refer to one side filter that side, others the pairs."""
        width = len(node.left.schema.types)
        of_left: list[Expression] = []
        of_right: list[Expression] = []
        of_both: list[Expression] = []
        easy: list[Expression] = []
        for conjunct in conjuncts(node.expression):
            fields = own_fields(conjunct)
            if all_allowed_in(conjunct, self._natives.of_pairs(conjunct, node), self._natives):
                easy.append(conjunct)
            elif all(field < width for field in fields):
                of_left.append(conjunct)
            elif all(field >= width for field in fields):
                of_right.append(redirected(conjunct, lambda level, field: (level, field - width * (level == 0))))
            else:
                of_both.append(conjunct)
        left, right = (
            Filter(input=input, condition=all_of(conditions)) if conditions else input
            for input, conditions in ((node.left, of_left), (node.right, of_right))
        )
        whole: Relation = Join(left=left, right=right, type=node.type, expression=all_of(easy))
        if of_both:
            whole = Filter(input=whole, condition=all_of(of_both))
        return self.relation(put_out(node, whole, range(len(node.direct_schema.types))))

    def _by_side(self, node: Join) -> tuple[Join, Sequence[int]]:
        """Turn subqueries that refer to one side into columns of that side.

        Returns:
            the join, and the positions of the old join's columns in it.
        """
        width, right_width = len(node.left.schema.types), len(node.right.schema.types)
        of_left: list[Expression] = []
        of_right: list[Expression] = []
        for query in misplaced(node.expression, self._natives):
            fields = own_fields(query)
            if all(field < width for field in fields):
                of_left.append(query)
            elif all(field >= width for field in fields):
                of_right.append(query)
        moved = [redirected(query, lambda level, field: (level, field - width * (level == 0))) for query in of_right]
        lifted = Place.KEY if self._natives.of_sides(node.expression) is Place.KEY else Place.NOWHERE
        left, left_values = self._lifted(node.left, [(query, lifted) for query in of_left])
        right, right_values = self._lifted(node.right, [(query, lifted) for query in moved])
        shift = len(left.schema.types)

        def place(level: int, field: int) -> tuple[int, int]:
            return level, field if level or field < width else field - width + shift

        values = [
            *zip(of_left, left_values, strict=True),
            *zip(of_right, (shifted(value, shift) for value in right_values), strict=True),
        ]
        condition = replaced(node.expression, values, place)
        columns: Sequence[int]
        match node.type:
            case JoinType.LEFT_SEMI | JoinType.LEFT_ANTI:
                columns = range(width)
            case JoinType.RIGHT_SEMI | JoinType.RIGHT_ANTI:
                columns = range(right_width)
            case JoinType.LEFT_MARK:
                columns = (*range(width), shift)
            case JoinType.RIGHT_MARK:
                columns = (*range(right_width), len(right.schema.types))
            case _:
                columns = (*range(width), *range(shift, shift + right_width))
        return Join(left=left, right=right, type=node.type, expression=condition), columns

    def _by_pair(self, node: Join) -> Relation:
        """Rewrite subqueries that refer to both sides of a join that keeps one of them.

        The other side is combined with the values that they use of the kept side; every record of the kept side is
        joined with the combinations that have its own values. The output columns don't change.
        """
        width, right_width = len(node.left.schema.types), len(node.right.schema.types)
        of_left = node.type in LEFT_TYPES
        assert of_left or node.type in RIGHT_TYPES
        kept, other = (node.left, node.right) if of_left else (node.right, node.left)
        kept_first, other_first = (0, width) if of_left else (width, 0)
        kept_fields = range(kept_first, kept_first + len(kept.schema.types))
        hard = misplaced(node.expression, self._natives)
        wanted = sorted({field for query in hard for field in own_fields(query) if field in kept_fields})
        kept = self._shared(kept)
        beside = Cross(left=other, right=distinct(kept, [field - kept_first for field in wanted]))
        other_width = len(other.schema.types)

        def there(level: int, field: int) -> tuple[int, int]:
            if level:
                return level, field
            return 0, other_width + wanted.index(field) if field in kept_fields else field - other_first

        moved = [(redirected(query, there), Place.NOWHERE) for query in hard]
        other, found = self._lifted(beside, moved)
        left, right = (kept, other) if of_left else (other, kept)
        kept_at, other_at = (0, width) if of_left else (len(other.schema.types), 0)

        def here(level: int, field: int) -> tuple[int, int]:
            if level:
                return level, field
            return 0, kept_at + field - kept_first if field in kept_fields else other_at + field - other_first

        values = list(zip(hard, (shifted(value, other_at) for value in found), strict=True))
        pair = Struct(types=(*left.schema.types, *right.schema.types))
        conditions = [
            not_distinct(column(pair, here(0, field)[1]), column(pair, other_at + other_width + key))
            for key, field in enumerate(wanted)
        ]
        conditions.append(self._inside(replaced(node.expression, values, here)))
        whole = Join(left=left, right=right, type=node.type, expression=all_of(conditions))
        if node.type in (JoinType.RIGHT, JoinType.RIGHT_SINGLE):
            return selected_columns(whole, (*range(width), *range(kept_at, kept_at + right_width)))
        return selected_columns(whole, range(len(node.direct_schema.types)))

    def _outer(self, node: Join) -> Relation:
        """Rewrite a full outer join: a left join, and the right records without a match."""
        left, right = self._shared(node.left), self._shared(node.right)
        matched = Join(left=left, right=right, type=JoinType.LEFT, expression=node.expression)
        alone = Join(left=left, right=right, type=JoinType.RIGHT_ANTI, expression=node.expression)
        width, missing = len(right.schema.types), [null(type) for type in left.schema.types]
        filled = selected_columns(with_columns(alone, missing), (*range(width, width + len(missing)), *range(width)))
        return self.relation(Set(members=(matched, filled), op=SetOp.UNION_ALL))


def may_vary(node: Relation) -> bool:
    """Whether a relation may have other records when it is computed again: some of many, in no certain order."""
    match node:
        case Fetch(input=Sort(input=input, sorts=sorts)) | TopN(input=input, sorts=sorts) if _is_total(sorts, input):
            return may_vary(input)
        case FetchBase() | ConsistentPartitionWindow():
            return True
        case Reference(subtree=subtree):
            return may_vary(subtree)
        case Aggregate(measures=measures) if any(item.measure.function.name == "any_value" for item in measures):
            return True
        case Project(expressions=expressions, input=input):
            calls = [item for item in expressions_within(expressions) if isinstance(item, WindowFunction)]
            return not all(_is_total(call.sorts, input) for call in calls) or may_vary(input)
        case _:
            return any(map(may_vary, node.inputs))


def _is_total(sorts: Sequence[SortField], input: Relation) -> bool:
    """Whether sorts are by all columns of a relation, so that only equal records are in no certain order."""
    columns = range(len(input.schema.types))
    return {column(input.schema, position) for position in columns} <= {sort.expr for sort in sorts}


def _with_expressions(node: Relation, expressions: Sequence[Expression]) -> Relation:
    """Return the relation with other expressions, in the order of the original ones."""
    following = iter(expressions)
    return with_expressions(node, lambda _: next(following))


def _unfolded(bare: Relation, table: VirtualTable) -> Relation:
    """A virtual table as projections, whose expressions may be subqueries."""
    assert isinstance(bare, Read)
    if table.columns is not None or not any(
        holds_query(cell) for record in table.expressions for cell in record.fields
    ):
        return bare
    single = Read(
        base_schema=NamedStruct(names=("one",), struct=Struct(types=(Boolean(),))),
        read_type=VirtualTable(expressions=(NestedStruct(fields=(truth(True),)),)),
    )
    parts: list[Relation] = []
    for record in table.expressions:
        project = Project(input=single, expressions=record.fields)
        parts.append(selected_columns(project, range(1, 1 + len(record.fields))))
    return parts[0] if len(parts) == 1 else Set(members=tuple(parts), op=SetOp.UNION_ALL)

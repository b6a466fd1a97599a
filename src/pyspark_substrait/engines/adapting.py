"""The conversion of a plan to the form that an engine takes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeVar

from pyspark_substrait.engines.calls import Calls, cast
from pyspark_substrait.engines.compositions import composed, is_long, with_days, with_durations
from pyspark_substrait.engines.constructors import equal, field
from pyspark_substrait.engines.description import Target
from pyspark_substrait.engines.final_forms import in_final_form
from pyspark_substrait.engines.grouping_sets import in_one_grouping, input_copies
from pyspark_substrait.engines.inner_joins import (
    conjunction,
    conjuncts,
    disjunction,
    is_key,
    left_first,
    with_inner_joins,
)
from pyspark_substrait.engines.join_keys import with_known_keys, without_one_sided_keys
from pyspark_substrait.engines.joined_queries import internal_call, with_joins
from pyspark_substrait.engines.literal_forms import padded, with_string_literals
from pyspark_substrait.engines.marks import plain_marks, with_exact_mark, with_left_mark
from pyspark_substrait.engines.measure_forms import Finish, in_ordered_form
from pyspark_substrait.engines.multiplicities import OF_DISTINCT, with_numbered_copies
from pyspark_substrait.engines.nested_references import with_calls
from pyspark_substrait.engines.outer_columns import with_own_mark, with_own_names, with_unlike_names
from pyspark_substrait.engines.places import located
from pyspark_substrait.engines.read_forms import filtered_above, unmasked
from pyspark_substrait.engines.refusals import check
from pyspark_substrait.engines.relation_forms import in_terms_of_others, with_constants
from pyspark_substrait.engines.set_groups import by_grouping
from pyspark_substrait.engines.struct_names import (
    StructNames,
    check_alike,
    check_keys,
    made_literal,
    made_struct,
    with_root_names,
)
from pyspark_substrait.engines.window_forms import ascending, in_rows, over_window
from pyspark_substrait.engines.window_relations import with_window_relations
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    Cast,
    EnumArgument,
    ExecutionContextVariable,
    Expression,
    FieldReference,
    Function,
    IfClause,
    IfThen,
    MultiOrList,
    NestedList,
    NestedMap,
    NestedStruct,
    RootReference,
    ScalarFunction,
    SingularOrList,
    StructField,
    SwitchExpression,
    TypeArgument,
    WindowFunction,
)
from pyspark_substrait.model.findings import Places
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.notes import Note
from pyspark_substrait.model.plan import Plan, PlanRel, RelRoot
from pyspark_substrait.model.relations import (
    Aggregate,
    Fetch,
    Filter,
    Join,
    JoinType,
    Project,
    Read,
    Reference,
    Relation,
    RelCommon,
    Set,
    SortBase,
)
from pyspark_substrait.model.repetition import refuse_repetition
from pyspark_substrait.model.types import (
    FixedChar,
    List,
    Map,
    String,
    Struct,
    VarChar,
    concrete,
    same_type,
    with_nullability,
)
from pyspark_substrait.model.walk import (
    holds_window,
    relations_within,
    subquery_relation,
    with_children,
    with_expressions,
    with_inputs,
    with_query,
)
from pyspark_substrait.sql.decorrelation import may_vary

__all__ = ["adapted"]

_Call = TypeVar("_Call", ScalarFunction, AggregateFunction, WindowFunction)

#: how many relations may be in a plan twice, so that joins in each other do not double it again and again
_MOST_COPIES: Final = 2_000


def adapted(plan: Plan, target: Target, places: Places | None = None) -> Plan:
    """Return the plan in the form that an engine takes. Parts that the engine ignores are listed in its ``notes``.

    Args:
        plan: the plan.
        target: the engine.
        places: the paths of the plan's nodes, for an error; None if they aren't known.

    Raises:
        UnsupportedPlanError: the engine has no form for something in the plan.
    """
    adapting = _Adapting(target, places)
    trees = [adapting.tree(tree) for tree in plan.relations]
    if not target.references:
        trees = [tree for tree in trees if isinstance(tree, RelRoot)]
    return replace(plan, relations=tuple(trees), notes=(*plan.notes, *adapting.notes.values()))


@dataclass(eq=False)
class _Adapting:
    """The conversion of one plan.

    ``notes`` are the parts that got lost, each once, ``numbers`` is the last number, ``plain`` has the mark joins whose
    nulls nothing tells from false, by identity, ``copies`` counts the relations that are there twice,
    ``names`` has the names of the fields of structs in the tree at hand.
    """

    target: Target
    places: Places | None = None
    numbers: int = 0
    copies: int = 0
    plain: dict[int, Join] = dataclasses.field(default_factory=dict)
    notes: dict[str, Note] = dataclasses.field(default_factory=dict)
    calls: Calls = dataclasses.field(init=False)
    names: StructNames = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.calls = Calls(self.target, self.notes)

    def tree(self, tree: PlanRel) -> PlanRel:
        self.names = StructNames(tree.input if isinstance(tree, RelRoot) else tree)
        if isinstance(tree, RelRoot):
            if self.target.struct_function:
                check_alike(tree.input, self.names, self.target, self.places)
                tree = with_root_names(tree, self.names, self.target, self.places)
            return replace(tree, input=self._root(tree.input))
        return self._root(tree)

    def _root(self, node: Relation) -> Relation:
        if self.target.one_grouping:
            refuse_repetition(node, self.target.engine, input_copies)
        if self.target.queries is not None:
            node = with_joins(node, self.target.queries, self.target.engine, self.places)
        if not self.target.nested_references:
            node = with_calls(node, self.names, self.target, self.places)
        return in_final_form(self.relation(node), self.target)

    # relations -------------------------------------------------------------------------------------------------------

    def relation(self, node: Relation) -> Relation:
        with located(node, self.places):
            return self._relation(node)

    def _relation(self, node: Relation) -> Relation:
        if isinstance(node, Reference):
            inner = self.relation(node.subtree)
            return replace(node, subtree=inner) if self.target.references else inner
        node = in_terms_of_others(node, self.target.composed_relations)
        if not self.target.null_marks:
            node = with_left_mark(node) if isinstance(node, Join) else node
            self.plain.update((id(mark), mark) for mark in plain_marks(node))
            node = self._exact_mark(node)
        if isinstance(node, Read) and not self.target.read_filters:
            node = filtered_above(node, self.target)
        if isinstance(node, Fetch) and self.target.constant_limits:
            node = with_constants(node, self.target.engine)
        if isinstance(node, Filter) and self.target.inner_joins:
            node = with_inner_joins(node)
        if isinstance(node, Set) and self.target.outer_columns_by_name:
            node = with_inputs(node, lambda input: with_unlike_names(input, self._number))
        if isinstance(node, SortBase) and not self.target.clustered_sorts:
            node = replace(node, sorts=tuple(map(ascending, node.sorts)))
        if isinstance(node, Join) and not self.target.null_keys:
            node = with_known_keys(node)
        check(node, self.target)
        node = with_expressions(with_inputs(node, self.relation), self.expression)
        if isinstance(node, Join) and not self.target.one_sided_keys:
            node = without_one_sided_keys(node)
        if self.target.outer_columns_by_name:
            node = with_own_names(node, self._number)
        match node:
            case Aggregate():
                node, forms = self._measures(node)
                finishes = self._finishes(node, forms)
                if not self.target.measure_filters and any(item.filter is not None for item in node.measures):
                    raise UnsupportedPlanError(
                        f"{self.target.engine} ignores the filters of measures",
                        hint="Write CASE WHEN condition THEN value END inside the aggregate function",
                    )
                measures = tuple(replace(item, measure=self.calls.adapted(item.measure)) for item in node.measures)
                node = replace(node, measures=measures)
                node = _over_columns(node) if self.target.plain_measures else node
                if self.target.one_grouping and len(node.groupings) > 1:
                    check_keys(node, self.target)
                    return _finished(in_one_grouping(node), finishes)
                if finishes:
                    return _finished(node if self.target.emits else self._emitted(node), finishes)
            case Set(op=op) if op in OF_DISTINCT and not self.target.multiplicities:
                numbered = with_numbered_copies(node)
                return self.relation(numbered) if self.target.set_operations else numbered
            case Set() if self.target.sets_by_names:
                node = replace(node, members=tuple(map(_all_columns, node.members)))
            case Read() if node.projection is not None and not self.target.masks:
                node = unmasked(node, self.target)
            case Set(op=op) if self.target.set_operations is not None and op not in self.target.set_operations:
                return by_grouping(node)
            case Project() if self.target.window_relations and any(map(holds_window, node.expressions)):
                node = with_window_relations(node)
            case Join() if self.target.single_key_joins:
                node = self._single_key(node)
                if isinstance(node, Join) and self.target.both_sides:
                    node = _with_kept_side(node, self.target)
            case Join(type=JoinType.LEFT_MARK) if self.target.outer_columns_by_name:
                return with_own_mark(node, self._number)
            case _:
                pass
        return self._emitted(node)

    def _emitted(self, node: Relation) -> Relation:
        """Return a relation whose columns are chosen as the engine takes it."""
        if node.common.emit is None:
            return node
        if not isinstance(node, Project):
            return node if self.target.emits else self._projection(node)
        return _whole(node) if self.target.whole_projections else node

    def _measures(self, node: Aggregate) -> tuple[Aggregate, dict[int, Finish]]:
        """Return an aggregate with the engine's measures, and what makes the plan's of some, by their positions."""
        if not self.target.ordered_measures:
            return node, {}
        found = [in_ordered_form(item) for item in node.measures]
        finishes = {position: finish for position, (_, finish) in enumerate(found) if finish is not None}
        return replace(node, measures=tuple(measure for measure, _ in found)), finishes

    def _finishes(self, node: Aggregate, forms: Mapping[int, Finish]) -> dict[int, Finish]:
        """Return what makes the plan's columns of an aggregate's, by the positions in its output."""
        first = len(node.direct_schema.types) - len(node.measures) - (len(node.groupings) > 1)
        direct = {
            first + position: forms.get(position) or partial(cast, type=item.measure.output_type)
            for position, item in enumerate(node.measures)
            if position in forms or self.calls.is_cast(item.measure)
        }
        emit = node.common.emit
        if emit is None:
            return direct
        return {place: direct[position] for place, position in enumerate(emit) if position in direct}

    def _exact_mark(self, node: Relation) -> Relation:
        """Return a mark that may be null with a second one, where null is told from false; other relations as they are.

        If the records that are looked at may be others the second time, the mark is noted.
        """
        if not isinstance(node, Join) or node.type is not JoinType.LEFT_MARK or id(node) in self.plain:
            return node
        if not node.expression.type.nullable:
            return node
        if not may_vary(node.right):
            self.copies += sum(1 for _ in relations_within(node.right))
            if self.copies > _MOST_COPIES:
                raise UnsupportedPlanError(
                    f"mark joins whose condition may be null are so deep in each other that {self.target.engine} would "
                    f"get more than {_MOST_COPIES:,} relations for them",
                    hint="Make columns of their conditions required, or the inner ones tables",
                )
            made, first = with_exact_mark(node)
            self.plain[id(first)] = first
            return made
        before = "a mark join whose condition may be null"
        after = f"{self.target.engine} marks a record as false where the condition is null"
        self.notes.setdefault(before, Note(rule="target-value", path="", before=before, after=after))
        return node

    def _number(self) -> int:
        self.numbers += 1
        return self.numbers

    def _single_key(self, node: Join) -> Relation:
        """Return a join on one pair of keys; for an inner join, the other conditions go to a filter above."""
        width = len(node.left.schema.types)
        conditions = [left_first(condition, width) for condition in conjuncts(node.expression)]
        keys = [condition for condition in conditions if is_key(condition, width)]
        others = [condition for condition in conditions if not keys or condition is not keys[0]]
        if not keys or (others and node.type is not JoinType.INNER):
            raise UnsupportedPlanError(
                f"{self.target.engine} joins by one equality of a column on either side",
                hint="Compute the keys in projections below; several keys are possible in inner joins only",
            )
        if not others:
            return replace(node, expression=keys[0])
        inner = replace(node, common=replace(node.common, emit=None, rel_anchor=None), expression=keys[0])
        common = RelCommon(emit=node.common.emit, rel_anchor=node.common.rel_anchor)
        return Filter(common=common, input=inner, condition=conjunction(others))

    def _projection(self, node: Relation) -> Relation:
        """Return a relation without its emit, below a projection that chooses the columns instead."""
        assert not isinstance(node, Reference)
        assert node.common.emit is not None
        inner: Relation = replace(node, common=replace(node.common, emit=None))
        chosen = Project(
            common=RelCommon(emit=node.common.emit),
            input=inner,
            expressions=(field(inner, 0),) if inner.schema.types else (),
        )
        return _whole(chosen)

    # expressions -----------------------------------------------------------------------------------------------------

    def expression(self, node: Expression) -> Expression:
        with located(node, self.places):
            return self._expression(node)

    def _expression(self, node: Expression) -> Expression:
        if isinstance(node, ScalarFunction) and not node.function.urn:
            node = internal_call(node, self.target.engine)
        if self.target.date_days is not None:
            node = with_days(node, self.target.date_days)
        check(node, self.target)
        node = with_children(node, self.expression)
        query = subquery_relation(node)
        if query is not None:
            return with_query(node, self.relation(query))
        match node:
            case ScalarFunction(function=Function(name=name), arguments=arguments) if name in self.target.composed:
                values = tuple(item for item in arguments if not isinstance(item, EnumArgument | TypeArgument))
                return composed(self.target.composed[name], node, values, self.target.engine)
            case ScalarFunction(function=function) if function == self.target.date_days:
                return node
            case ExecutionContextVariable() if self.target.variable is not None:
                return self.target.variable(node)
            case ScalarFunction():
                return self.calls.as_stated(node)
            case WindowFunction():
                node = over_window(node if self.target.range_frames else in_rows(node), self.target)
                return self.calls.as_stated(node)
            case NestedStruct(type=Struct() as struct, fields=fields) if self.target.struct_function:
                return made_struct(struct, fields, self.names, self.target)
            case Literal(type=Struct()) if self.target.struct_function:
                return made_literal(node, self.names, self.target)
            case MultiOrList(value=values, options=options) if not self.target.record_lists:
                if is_long(values) and len(options) > 1:
                    raise UnsupportedPlanError(
                        f"{self.target.engine} has no lists of records, and the values are too long to repeat",
                        hint="Compute them in a projection below",
                    )
                rows = [conjunction([*map(equal, values, option)]) for option in options]
                return disjunction(rows)
            case SingularOrList(value=value, options=options) if not self.target.computed_lists:
                if all(isinstance(option, Literal) for option in options):
                    return node
                return disjunction([equal(value, option) for option in options])
            case NestedMap(key_values=pairs) if self.target.map_function:
                return _map_call(node, pairs, self.target.map_function)
            case Literal() if not self.target.varchar_literals:
                literal = with_string_literals(node)
                return node if literal is node else self.expression(literal)
            case SwitchExpression() if not self.target.switches:
                ifs = tuple([IfClause(equal(node.match, arm.if_), arm.then) for arm in node.ifs])
                return IfThen(ifs=ifs, else_=node.else_)
            case Cast(type=String() | FixedChar() | VarChar()):
                return self._as_text(node)
            case Cast(type=Struct() | List() | Map()) if same_type(node.type, node.input.type):
                return node.input  # it says only which parts may be null
            case Cast() if self.target.durations:
                return with_durations(node)
            case IfThen(else_=None) | SwitchExpression(else_=None) if self.target.if_needs_else:
                return replace(node, else_=Literal(type=with_nullability(node.type, True), value=None))
            case _:
                return node

    def _as_text(self, node: Cast) -> Expression:
        """Return a cast to a text with the characters that it has here; or note that it has others there."""
        given = concrete(node.input.type)
        text = self.target.text_form and self.target.text_form(node.input)
        if text:
            node = replace(node, input=text)
        elif type(given) in self.target.texts:
            before = f"a cast of {with_nullability(given, False)} to a text"
            after = f"{self.target.engine} writes it in another form, such as {self.target.texts[type(given)]}"
            self.notes.setdefault(before, Note(rule="target-value", path="", before=before, after=after))
        if isinstance(node.type, String):
            return text if text and text.type == node.type else node
        return node if self.target.padded_casts else self._padded(node)

    def _padded(self, node: Cast) -> Expression:
        """Return a cast to a text of limited length, padded if that is fixed; note that nothing is too long there."""
        wanted, given = concrete(node.type), concrete(node.input.type)
        assert isinstance(wanted, FixedChar | VarChar)
        if isinstance(given, FixedChar | VarChar) and given.length <= wanted.length:
            fits = True
        else:
            fits = isinstance(node.input, Literal) and len(str(node.input.value or "")) <= wanted.length
        if not fits:
            before = f"a cast of {with_nullability(given, False)} to {with_nullability(wanted, False)}"
            after = f"{self.target.engine} knows no lengths: a longer text stays, or is cut if it is a fixedchar"
            self.notes.setdefault(before, Note(rule="target-value", path="", before=before, after=after))
        if isinstance(wanted, VarChar) or given == wanted:
            return node
        text = node.input
        if not isinstance(given, FixedChar | VarChar | String):
            text = replace(node, type=String(nullable=node.type.nullable))
        return replace(node, input=padded(text, wanted.length))


def _finished(made: Relation, finishes: Mapping[int, Finish]) -> Relation:
    """Return a relation below a projection that makes other values of some of its columns."""
    if not finishes:
        return made
    columns: list[Expression] = [field(made, position) for position in range(len(made.schema.types))]
    for position, finish in finishes.items():
        columns[position] = finish(columns[position])
    return Project.only(made, columns)


def _map_call(node: NestedMap, pairs: Sequence[tuple[Expression, Expression]], name: str) -> Expression:
    """Return the call of a function of the list of keys and the list of values that makes a map."""
    lists = (NestedList(values=tuple(key for key, _ in pairs)), NestedList(values=tuple(value for _, value in pairs)))
    return ScalarFunction(
        function=Function("", name, "list_list"), arguments=lists, output_type=node.type, derived_type=node.type
    )


def _with_kept_side(node: Join, target: Target) -> Join:
    """Return a join that keeps the left records with an emit of their columns."""
    if node.type in (JoinType.RIGHT_SEMI, JoinType.RIGHT_ANTI):
        raise UnsupportedPlanError(
            f"{target.engine} has no form for a {node.type.value} join", hint="Swap its inputs: keep the left records"
        )
    if node.type not in (JoinType.LEFT_SEMI, JoinType.LEFT_ANTI) or node.common.emit is not None:
        return node
    return replace(node, common=replace(node.common, emit=tuple(range(len(node.left.schema.types)))))


def _all_columns(input: Relation) -> Relation:
    """Return a projection of the columns of a relation."""
    return Project.only(input, [field(input, position) for position in range(len(input.schema.types))])


def _over_columns(node: Aggregate) -> Aggregate:
    """Return an aggregate whose arguments and groupings are plain columns; a projection below computes expressions."""
    computed: list[Expression] = []

    def column(value: Expression) -> Expression:
        match value:
            case FieldReference(root=RootReference(), reference=(StructField(),)):
                return value
            case _:
                computed.append(value)
                position = len(node.input.schema.types) + len(computed) - 1
                return FieldReference(root=RootReference(), reference=(StructField(position),), type=value.type)

    made = with_expressions(node, column)
    assert isinstance(made, Aggregate)
    if not computed:
        return node
    emit = RelCommon(emit=tuple(range(len(node.input.schema.types) + len(computed))))
    return replace(made, input=Project(common=emit, input=node.input, expressions=tuple(computed)))


def _whole(node: Project) -> Project:
    """Return a projection that computes each column it puts out, in order."""
    assert node.common.emit is not None
    width = len(node.input.schema.types)
    chosen = tuple(
        node.expressions[position - width] if position >= width else field(node.input, position)
        for position in node.common.emit
    )
    if not chosen:
        return node
    emit = tuple(range(width, width + len(chosen)))
    return replace(node, common=replace(node.common, emit=emit), expressions=chosen)

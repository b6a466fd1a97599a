"""Going through a tree: what stands directly inside an expression, and what an expression refers to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

from typing_extensions import assert_never

from pyspark_substrait.model.expressions import (
    Argument,
    Bound,
    BrokenExpression,
    Cast,
    DetachedExpression,
    DynamicParameter,
    EnumArgument,
    ExecutionContextVariable,
    Expression,
    FieldReference,
    Following,
    IfThen,
    InPredicate,
    Lambda,
    LambdaInvocation,
    LambdaParameterReference,
    MultiOrList,
    NamedLambdaReference,
    NestedList,
    NestedMap,
    NestedStruct,
    OuterReference,
    Preceding,
    RootReference,
    ScalarFunction,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
    SingularOrList,
    StructField,
    SwitchExpression,
    TypeArgument,
    WindowFunction,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import (
    Aggregate,
    Broadcast,
    BrokenRelation,
    ConsistentPartitionWindow,
    Cross,
    Ddl,
    DetachedRel,
    Exchange,
    Expand,
    ExtensionLeaf,
    ExtensionMulti,
    ExtensionSingle,
    Fetch,
    Filter,
    HashJoin,
    Join,
    LateralJoin,
    MergeJoin,
    MultiBucketExpression,
    NestedLoopJoin,
    Project,
    Read,
    Reference,
    Relation,
    RoundRobin,
    ScatterFields,
    Set,
    SingleBucketExpression,
    Sort,
    SwitchingField,
    TopN,
    Update,
    VirtualTable,
    Write,
)

__all__ = [
    "expression_children",
    "holds_query",
    "holds_window",
    "relation_expressions",
    "relation_subqueries",
    "relations_within",
    "root_fields",
    "subqueries",
    "subquery_relation",
    "writes",
]


def subquery_relation(expression: Expression) -> Relation | None:
    """The relation inside a subquery expression; None for every other expression."""
    match expression:
        case ScalarSubquery(input=relation):
            return relation
        case InPredicate(haystack=relation):
            return relation
        case SetPredicate(tuples=relation):
            return relation
        case SetComparison(right=relation):
            return relation
        case _:
            return None


def expression_children(expression: Expression) -> Iterable[Expression]:
    """The expressions directly inside one, in the order they stand; what is inside a subquery's relation isn't."""
    match expression:
        case FieldReference(root=root):
            return () if isinstance(root, RootReference | OuterReference | LambdaParameterReference) else (root,)
        case ScalarFunction(arguments=arguments):
            return [item for item in arguments if not isinstance(item, EnumArgument | TypeArgument)]
        case (
            Literal()
            | ScalarSubquery()
            | SetPredicate()
            | DynamicParameter()
            | ExecutionContextVariable()
            | NamedLambdaReference()
        ):
            return ()
        case Cast(input=input):
            return (input,)
        case _:
            return _children(expression)


_Composed: TypeAlias = (
    WindowFunction
    | IfThen
    | SwitchExpression
    | SingularOrList
    | MultiOrList
    | NestedStruct
    | NestedList
    | NestedMap
    | InPredicate
    | SetComparison
    | Lambda
    | LambdaInvocation
    | DetachedExpression
    | BrokenExpression
)


def _children(expression: _Composed) -> Iterator[Expression]:
    match expression:
        case WindowFunction(arguments=arguments, sorts=sorts, partitions=partitions):
            yield from (item for item in arguments if not isinstance(item, EnumArgument | TypeArgument))
            yield from (sort.expr for sort in sorts)
            yield from partitions
            yield from _offsets(expression.lower_bound)
            yield from _offsets(expression.upper_bound)
        case IfThen(ifs=clauses, else_=otherwise):
            for clause in clauses:
                yield clause.if_
                yield clause.then
            if otherwise is not None:
                yield otherwise
        case SwitchExpression(match=value, ifs=cases, else_=otherwise):
            yield value
            yield from (case_.then for case_ in cases)
            if otherwise is not None:
                yield otherwise
        case SingularOrList(value=value, options=options):
            yield value
            yield from options
        case MultiOrList(value=values, options=rows):
            yield from values
            for row in rows:
                yield from row
        case NestedStruct(fields=items) | NestedList(values=items) | InPredicate(needles=items):
            yield from items
        case NestedMap(key_values=pairs):
            for key, value in pairs:
                yield key
                yield value
        case SetComparison(left=left):
            yield left
        case Lambda(body=body):
            yield body
        case LambdaInvocation(lambda_=lambda_, arguments=items):
            yield lambda_
            yield from items
        case DetachedExpression(expression=inner):
            yield inner
        case BrokenExpression(parts=parts):
            yield from parts
        case _:
            assert_never(expression)


def relation_expressions(relation: Relation) -> Iterator[Expression]:
    """All expressions that stand directly in a relation, without those of its inputs, in the order they stand.

    The keys of a physical join refer to the records of one input each, the left one first; all others refer to the
    record that the relation looks at, which for an update is that of its table.
    """
    match relation:
        case Read(read_type=read_type):
            if isinstance(read_type, VirtualTable):
                for record in read_type.expressions:
                    yield from record.fields
            yield from (item for item in (relation.filter, relation.best_effort_filter) if item is not None)
        case Filter(condition=condition):
            yield condition
        case Project(expressions=expressions):
            yield from expressions
        case Sort(sorts=sorts):
            yield from (sort.expr for sort in sorts)
        case Fetch():
            yield from (item for item in (relation.offset_expr, relation.count_expr) if item is not None)
        case TopN(sorts=sorts):
            yield from (sort.expr for sort in sorts)
            yield from (item for item in (relation.offset, relation.count) if item is not None)
        case Aggregate():
            yield from relation.grouping_expressions
            for measure in relation.measures:
                yield from _arguments(measure.measure.arguments)
                yield from (sort.expr for sort in measure.measure.sorts)
                if measure.filter is not None:
                    yield measure.filter
        case Join():
            yield relation.expression
            if relation.post_join_filter is not None:
                yield relation.post_join_filter
        case LateralJoin():
            yield from (item for item in (relation.expression, relation.post_join_filter) if item is not None)
        case HashJoin(keys=keys) | MergeJoin(keys=keys):
            for key in keys:
                yield key.left
                yield key.right
            yield from (item for item in (relation.residual_expression, relation.post_join_filter) if item is not None)
        case NestedLoopJoin(expression=expression):
            if expression is not None:
                yield expression
        case ConsistentPartitionWindow():
            for function in relation.window_functions:
                yield from _arguments(function.arguments)
                yield from _offsets(function.lower_bound)
                yield from _offsets(function.upper_bound)
            yield from relation.partition_expressions
            yield from (sort.expr for sort in relation.sorts)
        case Expand(fields=fields):
            for field in fields:
                if isinstance(field, SwitchingField):
                    yield from field.duplicates
                else:
                    yield field
        case Exchange(exchange_kind=kind):
            match kind:
                case ScatterFields(fields=scattered):
                    yield from scattered
                case SingleBucketExpression(expression=bucket) | MultiBucketExpression(expression=bucket):
                    yield bucket
                case RoundRobin() | Broadcast():
                    return
                case _:
                    assert_never(kind)
        case Update(condition=condition, transformations=changes):
            if condition is not None:
                yield condition
            yield from (change.transformation for change in changes)
        case Ddl(table_defaults=defaults):
            yield from defaults or ()
        case (
            Set()
            | Cross()
            | Reference()
            | DetachedRel()
            | Write()
            | ExtensionLeaf()
            | ExtensionSingle()
            | ExtensionMulti()
            | BrokenRelation()
        ):
            return
        case _:
            assert_never(relation)


def _arguments(arguments: tuple[Argument, ...]) -> Iterator[Expression]:
    for item in arguments:
        if not isinstance(item, EnumArgument | TypeArgument):
            yield item


def _offsets(bound: Bound) -> Iterator[Expression]:
    if isinstance(bound, Preceding | Following):
        yield bound.offset


def subqueries(expressions: Iterable[Expression], *, named_lambdas: bool = False) -> list[Relation]:
    """The relations of the subqueries in expressions, in their order; what is inside these relations isn't looked at.

    Args:
        expressions: where to look.
        named_lambdas: whether to look into the lambdas that the plan defines by name, once into each.

    A detached expression is looked into once, however many refer to it.
    """
    found: list[Relation] = []
    seen: set[int] = set()
    pending = [*expressions][::-1]
    while pending:
        current = pending.pop()
        # most are one of these three
        if isinstance(current, ScalarFunction):
            arguments = reversed(current.arguments)
            pending += [item for item in arguments if not isinstance(item, EnumArgument | TypeArgument)]
        elif isinstance(current, DetachedExpression):
            if id(current.expression) not in seen:  # it may be used at many places
                seen.add(id(current.expression))
                pending.append(current.expression)
        elif not isinstance(current, Literal) and not (
            isinstance(current, FieldReference) and isinstance(current.root, RootReference)
        ):
            relation = subquery_relation(current)
            if relation is not None:
                found.append(relation)
            if named_lambdas and isinstance(current, NamedLambdaReference) and id(current.lambda_) not in seen:
                seen.add(id(current.lambda_))
                pending.append(current.lambda_.lambda_)
            pending += [*expression_children(current)][::-1]
    return found


def holds_query(expression: Expression) -> bool:
    """Whether a subquery stands in an expression."""
    return bool(subqueries((expression,)))


def relation_subqueries(relation: Relation) -> tuple[Relation, ...]:
    """The relations of the subqueries that stand directly in a relation, as :func:`subqueries`. They are kept on it."""
    kept: tuple[Relation, ...] | None = vars(relation).get(_SUBQUERIES)
    if kept is None:
        kept = vars(relation)[_SUBQUERIES] = tuple(subqueries(relation_expressions(relation)))
    return kept


#: where a relation keeps its subqueries; no field is called so
_SUBQUERIES: Final = "subqueries of its expressions"


def relations_within(
    *trees: Relation, queries: Callable[[Relation], Iterable[Relation]] = relation_subqueries
) -> Iterator[Relation]:
    """The relations of some trees, each once: before its inputs, these before its subqueries and what it refers to.

    Args:
        trees: the trees, in this order.
        queries: the subqueries that stand directly in a relation.
    """
    seen: set[int] = set()
    pending = list(reversed(trees))
    while pending:
        node = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        below = [*node.inputs, *queries(node)]
        if isinstance(node, Reference):
            below.append(node.subtree)
        pending.extend(reversed(below))


def holds_window(expression: Expression) -> bool:
    """Whether a window function stands in an expression, subqueries aside."""
    return isinstance(expression, WindowFunction) or any(map(holds_window, expression_children(expression)))


def root_fields(expression: Expression) -> set[int] | None:
    """The columns of the record that an expression refers to.

    None when they can't be told by looking at it: a subquery may refer to any of them from inside.
    """
    fields: set[int] = set()
    pending = [expression]
    while pending:
        current = pending.pop()
        if subquery_relation(current) is not None:
            return None
        match current:
            case FieldReference(root=RootReference(), reference=(StructField(field=field), *_)):
                fields.add(field)
            case FieldReference(root=RootReference()):
                return None
            case _:
                pending.extend(expression_children(current))
    return fields


def writes(relation: Relation) -> bool:
    """Whether a relation, or one below it or in a subtree that it refers to, changes a table; subqueries aside."""
    seen: set[int] = set()
    pending = [relation]
    while pending:
        current = pending.pop()
        if isinstance(current, Write | Update | Ddl):
            return True
        if isinstance(current, Reference) and current.subtree_ordinal not in seen:
            seen.add(current.subtree_ordinal)
            pending.append(current.subtree)
        pending.extend(current.inputs)
    return False

"""Making a new tree out of an old one: an expression or a relation with other things inside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

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
    IfClause,
    IfThen,
    IfValue,
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
    SortField,
    SwitchExpression,
    TypeArgument,
    WindowFunction,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import (
    Aggregate,
    Broadcast,
    BrokenRelation,
    ComparisonJoinKey,
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

__all__ = ["with_children", "with_expressions", "with_inputs"]

Change: TypeAlias = Callable[[Expression], Expression]


def with_children(node: Expression, change: Change) -> Expression:
    """The expression with ``change`` applied to each expression directly inside it.

    These are the ones that :func:`walk.expression_children` gives: what is inside a subquery's relation isn't touched,
    nor are the values of a switch, which are literals, nor the body of a lambda that the plan defines by name. A lambda
    that is invoked in place must stay one.
    """

    match node:
        case (
            Literal()
            | ScalarSubquery()
            | SetPredicate()
            | DynamicParameter()
            | ExecutionContextVariable()
            | NamedLambdaReference()
        ):
            return node
        case FieldReference(root=root):
            if isinstance(root, RootReference | OuterReference | LambdaParameterReference):
                return node
            return replace(node, root=change(root))
        case ScalarFunction():
            return replace(node, arguments=_arguments(node.arguments, change))
        case WindowFunction():
            return replace(
                node,
                arguments=_arguments(node.arguments, change),
                sorts=_sorts(node.sorts, change),
                partitions=tuple(map(change, node.partitions)),
                lower_bound=_bound(node.lower_bound, change),
                upper_bound=_bound(node.upper_bound, change),
            )
        case IfThen():
            ifs = tuple(IfClause(change(clause.if_), change(clause.then)) for clause in node.ifs)
            return replace(node, ifs=ifs, else_=_optional(node.else_, change))
        case SwitchExpression():
            match = change(node.match)
            cases = tuple(IfValue(clause.if_, change(clause.then)) for clause in node.ifs)
            return replace(node, match=match, ifs=cases, else_=_optional(node.else_, change))
        case SingularOrList():
            return replace(node, value=change(node.value), options=tuple(map(change, node.options)))
        case MultiOrList():
            value = tuple(map(change, node.value))
            return replace(node, value=value, options=tuple(tuple(map(change, option)) for option in node.options))
        case Cast():
            return replace(node, input=change(node.input))
        case NestedStruct():
            return replace(node, fields=tuple(map(change, node.fields)))
        case NestedList():
            return replace(node, values=tuple(map(change, node.values)))
        case NestedMap():
            return replace(node, key_values=tuple((change(key), change(value)) for key, value in node.key_values))
        case InPredicate():
            return replace(node, needles=tuple(map(change, node.needles)))
        case SetComparison():
            return replace(node, left=change(node.left))
        case Lambda():
            return replace(node, body=change(node.body))
        case LambdaInvocation():
            called = change(node.lambda_)
            if not isinstance(called, Lambda | NamedLambdaReference):
                raise TypeError("what is invoked must stay a lambda")
            return replace(node, lambda_=called, arguments=tuple(map(change, node.arguments)))
        case DetachedExpression():
            return replace(node, expression=change(node.expression))
        case BrokenExpression():
            return replace(node, parts=tuple(map(change, node.parts)))
        case _:
            assert_never(node)


def with_inputs(node: Relation, change: Callable[[Relation], Relation]) -> Relation:
    """The relation with ``change`` applied to each of its inputs. The subtree of a reference isn't an input."""
    match node:
        case (
            Filter()
            | Fetch()
            | Aggregate()
            | Sort()
            | Project()
            | ExtensionSingle()
            | ConsistentPartitionWindow()
            | Exchange()
            | Expand()
            | TopN()
            | Write()
        ):
            return replace(node, input=change(node.input))
        case Join() | LateralJoin() | Cross() | HashJoin() | MergeJoin() | NestedLoopJoin():
            return replace(node, left=change(node.left), right=change(node.right))
        case Set() | ExtensionMulti() | BrokenRelation():
            return replace(node, members=tuple(map(change, node.members)))
        case DetachedRel():
            return replace(node, relation=change(node.relation))
        case Ddl():
            return node if node.view_definition is None else replace(node, view_definition=change(node.view_definition))
        case Read() | Reference() | ExtensionLeaf() | Update():
            return node
        case _:
            assert_never(node)


def with_expressions(node: Relation, change: Change) -> Relation:
    """The relation with ``change`` applied to each expression that :func:`walk.relation_expressions` gives, in turn.

    Keys of physical joins and fields to scatter by must stay references, the default values of a table literals.
    """
    match node:
        case Read(read_type=read_type):
            if isinstance(read_type, VirtualTable):
                records = tuple(
                    replace(record, fields=tuple(map(change, record.fields))) for record in read_type.expressions
                )
                read_type = replace(read_type, expressions=records)
            filter, best_effort = _optional(node.filter, change), _optional(node.best_effort_filter, change)
            return replace(node, read_type=read_type, filter=filter, best_effort_filter=best_effort)
        case Filter():
            return replace(node, condition=change(node.condition))
        case Project():
            return replace(node, expressions=tuple(map(change, node.expressions)))
        case Sort():
            return replace(node, sorts=_sorts(node.sorts, change))
        case Fetch():
            offset, count = _optional(node.offset_expr, change), _optional(node.count_expr, change)
            return replace(node, offset_expr=offset, count_expr=count)
        case TopN():
            sorts = _sorts(node.sorts, change)
            offset, count = _optional(node.offset, change), _optional(node.count, change)
            return replace(node, sorts=sorts, offset=offset, count=count)
        case Aggregate():
            groups = tuple(map(change, node.grouping_expressions))
            measures = []
            for item in node.measures:
                call = replace(
                    item.measure,
                    arguments=_arguments(item.measure.arguments, change),
                    sorts=_sorts(item.measure.sorts, change),
                )
                measures.append(replace(item, measure=call, filter=_optional(item.filter, change)))
            return replace(node, grouping_expressions=groups, measures=tuple(measures))
        case Join():
            condition = change(node.expression)
            return replace(node, expression=condition, post_join_filter=_optional(node.post_join_filter, change))
        case LateralJoin():
            found = _optional(node.expression, change)
            return replace(node, expression=found, post_join_filter=_optional(node.post_join_filter, change))
        case HashJoin() | MergeJoin():
            keys = tuple(_key(key, change) for key in node.keys)
            residual = _optional(node.residual_expression, change)
            after = _optional(node.post_join_filter, change)
            return replace(node, keys=keys, residual_expression=residual, post_join_filter=after)
        case NestedLoopJoin():
            return replace(node, expression=_optional(node.expression, change))
        case ConsistentPartitionWindow():
            functions = tuple(
                replace(
                    function,
                    arguments=_arguments(function.arguments, change),
                    lower_bound=_bound(function.lower_bound, change),
                    upper_bound=_bound(function.upper_bound, change),
                )
                for function in node.window_functions
            )
            partitions = tuple(map(change, node.partition_expressions))
            return replace(
                node,
                window_functions=functions,
                partition_expressions=partitions,
                sorts=_sorts(node.sorts, change),
            )
        case Expand():
            fields = tuple(
                SwitchingField(tuple(map(change, field.duplicates)))
                if isinstance(field, SwitchingField)
                else change(field)
                for field in node.fields
            )
            return replace(node, fields=fields)
        case Exchange(exchange_kind=kind):
            match kind:
                case ScatterFields():
                    return replace(node, exchange_kind=ScatterFields(tuple(_reference(x, change) for x in kind.fields)))
                case SingleBucketExpression() | MultiBucketExpression():
                    return replace(node, exchange_kind=replace(kind, expression=change(kind.expression)))
                case RoundRobin() | Broadcast():
                    return node
                case _:
                    assert_never(kind)
        case Update():
            where = _optional(node.condition, change)
            transformations = tuple(
                replace(item, transformation=change(item.transformation)) for item in node.transformations
            )
            return replace(node, condition=where, transformations=transformations)
        case Ddl(table_defaults=defaults):
            if defaults is None:
                return node
            return replace(node, table_defaults=tuple(_literal(item, change) for item in defaults))
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
            return node
        case _:
            assert_never(node)


def _arguments(arguments: tuple[Argument, ...], change: Change) -> tuple[Argument, ...]:
    return tuple(item if isinstance(item, EnumArgument | TypeArgument) else change(item) for item in arguments)


def _sorts(sorts: tuple[SortField, ...], change: Change) -> tuple[SortField, ...]:
    return tuple(replace(sort, expr=change(sort.expr)) for sort in sorts)


def _reference(item: FieldReference, change: Change) -> FieldReference:
    changed = change(item)
    if not isinstance(changed, FieldReference):
        raise TypeError("a key must stay a reference to a field")
    return changed


def _literal(item: Literal, change: Change) -> Literal:
    changed = change(item)
    if not isinstance(changed, Literal):
        raise TypeError("the default value of a column must stay a literal")
    return changed


def _key(key: ComparisonJoinKey, change: Change) -> ComparisonJoinKey:
    return replace(key, left=_reference(key.left, change), right=_reference(key.right, change))


def _optional(item: Expression | None, change: Change) -> Expression | None:
    return None if item is None else change(item)


def _bound(item: Bound, change: Change) -> Bound:
    return replace(item, offset=change(item.offset)) if isinstance(item, Preceding | Following) else item

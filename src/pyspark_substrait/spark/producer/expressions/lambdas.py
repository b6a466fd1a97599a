"""Lambdas, and the functions that take them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions.coercion import common_type
from pyspark_substrait.model.expressions import (
    Cast,
    Expression,
    FailureBehavior,
    FieldReference,
    Lambda,
    LambdaParameterReference,
    StructField,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import I32, Boolean, List, Map, Struct, Type, concrete, with_nullability
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import exactly, expression, typed
from pyspark_substrait.spark.producer.refusals import written
from pyspark_substrait.spark.producer.scope import LambdaParameters, Scope

__all__ = ["COLLECTIONS", "FORMS", "as_nullable", "lambda_of", "parameter"]

#: the extension with Spark-specific functions of lists and maps
COLLECTIONS: Final = "extension:pyspark_substrait:functions_spark_collection"
_LISTS: Final = "functions_list"
_INDEX: Final = I32()


def variable(node: Node, scope: Scope) -> Expression:
    """A reference to a parameter of an enclosing lambda."""
    for steps, parameters in enumerate(reversed(scope.parameters)):
        if node.expression_id in parameters.ids:
            return parameter(parameters.types, parameters.ids.index(node.expression_id), steps)
    raise UnsupportedPlanError(f"the lambda variable `{node.value('name')}` belongs to no lambda around it")


def parameter(types: Struct, position: int, steps: int = 0) -> FieldReference:
    """Return a reference to a parameter of the lambda ``steps`` levels up."""
    return FieldReference(
        root=LambdaParameterReference(steps), reference=(StructField(position),), type=types.types[position]
    )


def lambda_of(types: Sequence[Type], scope: Scope, body: Callable[[Struct, Scope], Expression]) -> Lambda:
    """Build a lambda; ``body`` is called with its parameters and the scope inside of it."""
    parameters = Struct(types=tuple(types))
    inside = replace(scope, parameters=(*scope.parameters, LambdaParameters((), parameters)))
    return Lambda(parameters=parameters, body=body(parameters, inside))


def _lambda(node: Node, types: Sequence[Type], scope: Scope) -> Lambda:
    """Translate a ``LambdaFunction`` with parameters of the given types."""
    body, *variables = node.children
    parameters = Struct(types=tuple(types))
    known = LambdaParameters(tuple(variable.expression_id for variable in variables), parameters)
    return Lambda(parameters=parameters, body=expression(body, replace(scope, parameters=(*scope.parameters, known))))


def as_nullable(value: Expression) -> Expression:
    """Cast a value to the nullable variant of its type, unless it is nullable."""
    if value.type.nullable:
        return value
    type = with_nullability(value.type, True)
    return Cast(type=type, input=value, failure_behavior=FailureBehavior.THROW_EXCEPTION)


def _with_nullable_body(function: Lambda) -> Lambda:
    return replace(function, body=as_nullable(function.body))


def _takes_index(node: Node) -> bool:
    return len(node.children[1].children) == 3


def _element(value: Expression) -> Type:
    type = concrete(value.type)
    assert isinstance(type, List)
    return type.type


def transform(node: Node, scope: Scope) -> Expression:
    """``transform(list, x -> ...)``, and ``(x, i) -> ...`` with the position from 0."""
    items = expression(node.children[0], scope)
    if _takes_index(node):
        function = _lambda(node.children[1], (_element(items), _INDEX), scope)
        return scope.production.call(COLLECTIONS, "transform_with_index", (items, function))
    function = _lambda(node.children[1], (_element(items),), scope)
    return scope.production.call(_LISTS, "transform", (items, function))


def filter_(node: Node, scope: Scope) -> Expression:
    """``filter(list, x -> ...)``, and ``(x, i) -> ...`` with the position from 0."""
    items = expression(node.children[0], scope)
    if _takes_index(node):
        function = _lambda(node.children[1], (_element(items), _INDEX), scope)
        return scope.production.call(COLLECTIONS, "filter_with_index", (items, _with_nullable_body(function)))
    function = _lambda(node.children[1], (_element(items),), scope)
    return scope.production.call(_LISTS, "filter", (items, _with_nullable_body(function)))


def exists(node: Node, scope: Scope) -> Expression:
    """``exists``: null if only a null might match, or false in legacy mode."""
    items = expression(node.children[0], scope)
    function = _lambda(node.children[1], (_element(items),), scope)
    if not node.value("followThreeValuedLogic"):
        known = (function.body, Literal(type=Boolean(), value=False))
        function = replace(function, body=scope.production.call("functions_comparison", "coalesce", known))
    return scope.production.call(_LISTS, "any_match", (items, _with_nullable_body(function)))


def for_all(node: Node, scope: Scope) -> Expression:
    """``forall``."""
    items = expression(node.children[0], scope)
    function = _lambda(node.children[1], (_element(items),), scope)
    return scope.production.call(_LISTS, "all_match", (items, _with_nullable_body(function)))


def aggregate(node: Node, scope: Scope) -> Expression:
    """``aggregate`` and ``reduce``: the accumulator's type holds the start and the result of every step, and null."""
    items, zero = (expression(child, scope) for child in node.children[:2])
    accumulated = with_nullability(zero.type, True)
    while True:
        merge = _lambda(node.children[2], (accumulated, _element(items)), scope)
        wider = common_type((accumulated, with_nullability(merge.body.type, True)))
        if wider is None or wider == accumulated:
            break
        accumulated = wider
    finish = _lambda(node.children[3], (accumulated,), scope)
    start = exactly(zero, accumulated)
    merge = replace(merge, body=exactly(merge.body, accumulated))
    return scope.production.call(COLLECTIONS, "aggregate", (items, start, merge, finish))


def zip_with(node: Node, scope: Scope) -> Expression:
    """``zip_with``: the shorter list is padded with nulls."""
    left, right = (expression(child, scope) for child in node.children[:2])
    types = tuple(with_nullability(_element(items), True) for items in (left, right))
    return scope.production.call(COLLECTIONS, "zip_with", (left, right, _lambda(node.children[2], types, scope)))


def _entry(value: Expression) -> tuple[Type, Type]:
    type = concrete(value.type)
    assert isinstance(type, Map)
    return type.key, type.value


def map_filter(node: Node, scope: Scope) -> Expression:
    """``map_filter``."""
    value = expression(node.children[0], scope)
    function = _with_nullable_body(_lambda(node.children[1], _entry(value), scope))
    return scope.production.call(COLLECTIONS, "map_filter", (value, function))


def transform_keys(node: Node, scope: Scope) -> Expression:
    """``transform_keys``."""
    value = expression(node.children[0], scope)
    function = _with_nullable_body(_lambda(node.children[1], _entry(value), scope))
    return scope.production.call(COLLECTIONS, "transform_keys", (value, function))


def transform_values(node: Node, scope: Scope) -> Expression:
    """``transform_values``."""
    value = expression(node.children[0], scope)
    function = _lambda(node.children[1], _entry(value), scope)
    return scope.production.call(COLLECTIONS, "transform_values", (value, function))


def map_zip_with(node: Node, scope: Scope) -> Expression:
    """``map_zip_with``: the value of a key that a map lacks is null."""
    left, right = (expression(child, scope) for child in node.children[:2])
    types = (_entry(left)[0], *(with_nullability(_entry(value)[1], True) for value in (left, right)))
    return scope.production.call(COLLECTIONS, "map_zip_with", (left, right, _lambda(node.children[2], types, scope)))


def array_sort(node: Node, scope: Scope) -> Expression:
    """``array_sort``: the specification's sort for the natural order, ours for a comparator."""
    items, comparator = expression(node.children[0], scope), node.children[1]
    if _is_natural(comparator):
        return scope.production.call(_LISTS, "sort", (items,), {"direction": "ASC_NULLS_LAST"})
    if node.value("allowNullComparisonResult"):
        raise UnsupportedPlanError(
            f"`{written(node)}` has no Substrait form where comparisons may be null",
            hint="Set spark.sql.legacy.allowNullComparisonResultInArraySort to false",
        )
    function = _lambda(comparator, (_element(items), _element(items)), scope)
    function = replace(function, body=typed(function.body, I32()))
    return scope.production.call(COLLECTIONS, "sort_by", (items, _with_nullable_body(function)))


#: Spark's default comparator of ``array_sort``, with the variables 0 and 1
_NATURAL: Final = (
    "If(And(IsNull(0),IsNull(1)),0,If(IsNull(0),1,If(IsNull(1),-1,If(LessThan(0,1),-1,If(GreaterThan(0,1),1,0)))))"
)


def _is_natural(comparator: Node) -> bool:
    body, *variables = comparator.children
    ids = [variable.expression_id for variable in variables]

    def shape(node: Node) -> str:
        if node.name == "NamedLambdaVariable":
            return f"{ids.index(node.expression_id)}" if node.expression_id in ids else "?"
        if node.name == "Literal":
            return str(node.value("value"))
        return f"{node.name}({','.join(map(shape, node.children))})"

    marked = shape(body)
    return len(ids) == 2 and body.name == "If" and marked == _NATURAL and _literals_are_numbers(body)


def _literals_are_numbers(body: Node) -> bool:
    return all(node.value("dataType") == "integer" for node in body.walk() if node.name == "Literal")


FORMS: Final = {
    "NamedLambdaVariable": variable,
    "ArrayTransform": transform,
    "ArrayFilter": filter_,
    "ArrayExists": exists,
    "ArrayForAll": for_all,
    "ArrayAggregate": aggregate,
    "ZipWith": zip_with,
    "MapFilter": map_filter,
    "TransformKeys": transform_keys,
    "TransformValues": transform_values,
    "MapZipWith": map_zip_with,
    "ArraySort": array_sort,
}

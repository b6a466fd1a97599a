"""``Expression`` messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from substrait import algebra_pb2, type_pb2

from pyspark_substrait.model.expressions import (
    Cast,
    ContextVariable,
    DetachedExpression,
    DynamicParameter,
    ExecutionContextVariable,
    Expression,
    IfClause,
    IfThen,
    IfValue,
    InPredicate,
    Lambda,
    LambdaInvocation,
    MultiOrList,
    NamedLambda,
    NamedLambdaReference,
    NestedList,
    NestedMap,
    NestedStruct,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
    SingularOrList,
    SwitchExpression,
)
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.types import OpenStruct, Struct, TypeVariation, Unbound, concrete, with_nullability
from pyspark_substrait.proto.enums import COMPARISON_OP, FAILURE_BEHAVIOR, PREDICATE_OP, REDUCTION_OP
from pyspark_substrait.proto.paths import Path
from pyspark_substrait.proto.read import functions, references, relations
from pyspark_substrait.proto.read.context import Scope, invalid, located
from pyspark_substrait.proto.read.literals import literal
from pyspark_substrait.proto.read.types import data_type, schema_struct, variation

__all__ = ["expression", "expressions", "named_lambda", "nested_struct", "optional_expression"]

_Reader = Callable[[Any, Scope, Path], Expression]


def expression(message: algebra_pb2.Expression, scope: Scope, path: Path) -> Expression:
    """An expression, bound in ``scope``.

    Raises:
        InvalidPlanError: it is missing, or contradicts the specification or the scope.
    """
    kind = message.WhichOneof("rex_type")
    if kind is None:
        raise invalid("an expression is missing", path)
    return _READERS[kind](getattr(message, kind), scope, (path, kind))


def optional_expression(message: Any, field: str, scope: Scope, path: Path) -> Expression | None:
    """The expression in a field of ``message``, or None when it isn't set; ``path`` is that of ``message``."""
    return expression(getattr(message, field), scope, (path, field)) if message.HasField(field) else None


def expressions(messages: Any, scope: Scope, path: Path) -> tuple[Expression, ...]:
    """Several expressions; ``path`` is that of the repeated field."""
    return tuple([expression(message, scope, (path, index)) for index, message in enumerate(messages)])


def _literal(message: Any, scope: Scope, path: Path) -> Expression:
    return literal(message, scope.reading, path)


def _cast(message: Any, scope: Scope, path: Path) -> Expression:
    return Cast(
        type=data_type(message.type, scope.reading, (path, "type")),
        input=expression(message.input, scope, (path, "input")),
        failure_behavior=FAILURE_BEHAVIOR.member(message.failure_behavior, path, "failure_behavior"),
    )


def _if_then(message: Any, scope: Scope, path: Path) -> Expression:
    place: Path = (path, "ifs")
    ifs = []
    for index, clause in enumerate(message.ifs):
        condition = expression(getattr(clause, "if"), scope, ((place, index), "if"))
        ifs.append(IfClause(condition, expression(clause.then, scope, ((place, index), "then"))))
    if not ifs:
        raise invalid("there is no clause", place)
    return IfThen(ifs=tuple(ifs), else_=optional_expression(message, "else", scope, path))


def _switch(message: Any, scope: Scope, path: Path) -> Expression:
    match = expression(message.match, scope, (path, "match"))
    place: Path = (path, "ifs")
    ifs = []
    for index, clause in enumerate(message.ifs):
        value = literal(getattr(clause, "if"), scope.reading, ((place, index), "if"))
        ifs.append(IfValue(value, expression(clause.then, scope, ((place, index), "then"))))
    if not ifs:
        raise invalid("there is no clause", place)
    return SwitchExpression(match=match, ifs=tuple(ifs), else_=optional_expression(message, "else", scope, path))


def _singular_or_list(message: Any, scope: Scope, path: Path) -> Expression:
    return SingularOrList(
        value=expression(message.value, scope, (path, "value")),
        options=expressions(message.options, scope, (path, "options")),
    )


def _multi_or_list(message: Any, scope: Scope, path: Path) -> Expression:
    value = expressions(message.value, scope, (path, "value"))
    options = []
    for index, record in enumerate(message.options):
        place: Path = ((path, "options"), index)
        fields = expressions(record.fields, scope, (place, "fields"))
        if len(fields) != len(value):
            raise invalid(f"the option has {len(fields)} fields, the value {len(value)}", place)
        options.append(fields)
    return MultiOrList(value=value, options=tuple(options))


# constructors ---------------------------------------------------------------------------------------------------------


def _nested(message: Any, scope: Scope, path: Path) -> Expression:
    nullable: bool = message.nullable
    kept = variation(message.type_variation_reference, scope.reading, path)
    kind = message.WhichOneof("nested_type")
    match kind:
        case "struct":
            return nested_struct(message.struct, scope, (path, kind), nullable, kept)
        case "list":
            place: Path = ((path, kind), "values")
            values = expressions(message.list.values, scope, place)
            if not values:
                raise invalid("a list without elements has no type", place, "Use the literal empty_list")
            return NestedList(values=values, nullable=nullable, variation=kept)
        case "map":
            place = ((path, kind), "key_values")
            pairs = []
            for index, pair in enumerate(message.map.key_values):
                key = expression(pair.key, scope, ((place, index), "key"))
                pairs.append((key, expression(pair.value, scope, ((place, index), "value"))))
            if not pairs:
                raise invalid("a map without entries has no type", place, "Use the literal empty_map")
            return NestedMap(key_values=tuple(pairs), nullable=nullable, variation=kept)
        case _:
            raise invalid("the nested expression makes nothing", path)


def nested_struct(
    message: Any, scope: Scope, path: Path, nullable: bool = False, variation: TypeVariation | None = None
) -> NestedStruct:
    """A struct of expressions (``Expression.Nested.Struct``)."""
    fields = expressions(message.fields, scope, (path, "fields"))
    return NestedStruct(fields=fields, nullable=nullable, variation=variation)


# subqueries -----------------------------------------------------------------------------------------------------------


def _subquery(message: Any, scope: Scope, path: Path) -> Expression:
    kind = message.WhichOneof("subquery_type")
    if kind is None:
        raise invalid("a subquery is missing", path)
    query, path = getattr(message, kind), (path, kind)

    def relation(field: str) -> Relation:
        return relations.relation(getattr(query, field), scope.inside_subquery(), (path, field))

    subquery: Expression
    match kind:
        case "scalar":
            subquery = ScalarSubquery(input=relation("input"))
        case "in_predicate":
            needles = expressions(query.needles, scope, (path, "needles"))
            haystack = relation("haystack")
            if not isinstance(haystack.schema, OpenStruct) and len(haystack.schema.types) != len(needles):
                raise invalid(f"{len(needles)} needles for {len(haystack.schema.types)} columns of the haystack", path)
            subquery = InPredicate(needles=needles, haystack=haystack)
        case "set_predicate":
            predicate = PREDICATE_OP.member(query.predicate_op, path, "predicate_op")
            subquery = SetPredicate(predicate_op=predicate, tuples=relation("tuples"))
        case _:
            subquery = SetComparison(
                reduction_op=REDUCTION_OP.member(query.reduction_op, path, "reduction_op"),
                comparison_op=COMPARISON_OP.member(query.comparison_op, path, "comparison_op"),
                left=expression(query.left, scope, (path, "left")),
                right=relation("right"),
            )
    with located(path):
        _ = subquery.type
    return subquery


# parameters, lambdas, context -----------------------------------------------------------------------------------------


def _dynamic_parameter(message: Any, scope: Scope, path: Path) -> Expression:
    type = data_type(message.type, scope.reading, (path, "type"))
    return DynamicParameter(type=type, parameter_reference=message.parameter_reference)


def _lambda(message: algebra_pb2.Expression.Lambda, scope: Scope, path: Path) -> Lambda:
    parameters = schema_struct(message.parameters, scope.reading, (path, "parameters"))
    return Lambda(parameters=parameters, body=expression(message.body, scope.inside_lambda(parameters), (path, "body")))


def named_lambda(anchor: int, scope: Scope, path: Path) -> NamedLambda:
    """The lambda that the plan defines under an anchor. It sees nothing but its parameters."""
    reading = scope.reading
    if reading.named_lambdas is None:
        raise invalid("an extended expression has no named lambdas", path, "Write the lambda in place")
    if anchor not in reading.named_lambdas:
        raise invalid(f"the lambda {anchor} is not defined", path, "Add it to the plan's named_lambdas")
    message, place = reading.named_lambdas[anchor]

    def bind() -> NamedLambda:
        inner = _lambda(getattr(message, "lambda"), Scope(reading), (place, "lambda"))
        return NamedLambda(lambda_=inner, name=message.name if message.HasField("name") else None)

    return reading.once(reading.bound_lambdas, anchor, ("lambda", anchor), "a named lambda", place, bind)


def _named_lambda_reference(message: Any, scope: Scope, path: Path) -> NamedLambdaReference:
    return NamedLambdaReference(lambda_=named_lambda(message.lambda_reference, scope, path))


def _lambda_invocation(message: Any, scope: Scope, path: Path) -> Expression:
    kind = message.WhichOneof("lambda_type")
    called: Lambda | NamedLambdaReference
    match kind:
        case "lambda":
            called = _lambda(getattr(message, "lambda"), scope, (path, kind))
            parameters = called.parameters
        case "named_lambda":
            called = _named_lambda_reference(message.named_lambda, scope, (path, kind))
            parameters = called.lambda_.lambda_.parameters
        case _:
            raise invalid("the lambda to invoke is missing", path)
    place: Path = ((path, "arguments"), "fields")
    arguments = expressions(message.arguments.fields, scope, place)
    _check_arguments(arguments, parameters, place)
    return LambdaInvocation(lambda_=called, arguments=arguments)


def _check_arguments(arguments: tuple[Expression, ...], parameters: Struct, path: Path) -> None:
    if len(arguments) != len(parameters.types):
        raise invalid(f"there are {len(arguments)} arguments for {len(parameters.types)} parameters", path)
    for index, (argument, wanted) in enumerate(zip(arguments, parameters.types, strict=True)):
        given, wanted = concrete(argument.type), concrete(wanted)
        if isinstance(given, Unbound) or isinstance(wanted, Unbound):
            continue
        if with_nullability(given, False) != with_nullability(wanted, False) or (
            given.nullable and not wanted.nullable
        ):
            raise invalid(f"the argument is {given}, the parameter {wanted}", (path, index))


def _context_variable(message: Any, scope: Scope, path: Path) -> Expression:
    kind = message.WhichOneof("execution_context_variable_type")
    if kind is None:
        raise invalid("the variable is missing", path)
    fields, path = getattr(message, kind), (path, kind)
    if fields.nullability == type_pb2.Type.NULLABILITY_NULLABLE:
        raise invalid("the variable is never null", path, "Its nullability must be NULLABILITY_REQUIRED")
    wrapped = type_pb2.Type(**{_VARIABLE_TYPES[kind]: fields})
    getattr(wrapped, _VARIABLE_TYPES[kind]).nullability = type_pb2.Type.NULLABILITY_REQUIRED
    return ExecutionContextVariable(
        variable=ContextVariable(kind), type=data_type(wrapped, scope.reading, path[0] if path else None)
    )


_VARIABLE_TYPES = {
    "current_timestamp": "precision_timestamp_tz",
    "current_timezone": "string",
    "current_date": "date",
}


def _detached(ordinal: int, scope: Scope, path: Path) -> Expression:
    reading, lists = scope.reading, scope.detached
    if ordinal >= len(lists.expressions):
        raise invalid(f"there are {len(lists.expressions)} detached expressions, no number {ordinal}", path)
    place: Path = ((lists.path, "detached_expressions"), ordinal)
    reading.used_parts.add((id(lists), "detached_expressions", ordinal))

    def bind() -> tuple[Scope, Expression]:
        return scope, expression(lists.expressions[ordinal], scope, place)

    mark = (id(lists), "expression", ordinal)
    _, bound = reading.once(reading.bound_parts, (*mark, id(scope)), mark, "a detached expression", place, bind)
    return DetachedExpression(expression=bound)


_READERS: dict[str, _Reader] = {
    "literal": _literal,
    "selection": references.field_reference,
    "scalar_function": functions.scalar_function,
    "window_function": functions.window_function,
    "if_then": _if_then,
    "switch_expression": _switch,
    "singular_or_list": _singular_or_list,
    "multi_or_list": _multi_or_list,
    "cast": _cast,
    "subquery": _subquery,
    "nested": _nested,
    "dynamic_parameter": _dynamic_parameter,
    "lambda": _lambda,
    "lambda_invocation": _lambda_invocation,
    "execution_context_variable": _context_variable,
    "detached_expression_ordinal": _detached,
    "named_lambda_reference": _named_lambda_reference,
}

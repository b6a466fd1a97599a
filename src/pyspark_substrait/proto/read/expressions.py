"""``Expression`` messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import InvalidPlanError, SubstraitError
from pyspark_substrait.extensions.calls import scalar
from pyspark_substrait.extensions.producers import Producer
from pyspark_substrait.extensions.registry import OFFICIAL
from pyspark_substrait.model.expressions import (
    BrokenExpression,
    Cast,
    ComparisonOp,
    ContextVariable,
    DetachedExpression,
    DynamicParameter,
    ExecutionContextVariable,
    Expression,
    FailureBehavior,
    IfClause,
    IfThen,
    IfValue,
    InPredicate,
    Lambda,
    LambdaInvocation,
    NamedLambda,
    NamedLambdaReference,
    PredicateOp,
    ReductionOp,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
    SwitchExpression,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.types import Boolean, OpenStruct, Struct, Type, Unbound, concrete, with_nullability
from pyspark_substrait.model.walk import expression_children
from pyspark_substrait.proto import messages
from pyspark_substrait.proto.enums import COMPARISON_OP, FAILURE_BEHAVIOR, PREDICATE_OP, REDUCTION_OP
from pyspark_substrait.proto.read import constructors, functions, options, quirks, references, relations
from pyspark_substrait.proto.read.context import Reading, Scope, invalid, located
from pyspark_substrait.proto.read.habits import datafusion_coercion, datafusion_values
from pyspark_substrait.proto.read.habits.unambiguous import is_untyped_null, null_of
from pyspark_substrait.proto.read.literals import literal
from pyspark_substrait.proto.read.type_checks import agreed, as_literal, checked_condition, comparable
from pyspark_substrait.proto.read.types import data_type, schema_struct

__all__ = [
    "condition",
    "expression",
    "expressions",
    "named_lambda",
    "optional_condition",
    "optional_expression",
]

_Reader = Callable[[Any, Scope, Path], Expression]
_KINDS: tuple[Any, ...] = get_args(Expression)


def expression(message: messages.Expression, scope: Scope, path: Path) -> Expression:
    """An expression, bound in ``scope``.

    Raises:
        InvalidPlanError: it is missing, or contradicts the specification or the scope.
    """
    reading, kind = scope.reading, message.WhichOneof("rex_type")
    reading.nodes += 1
    if kind not in _PLAIN:
        reading.plain = False
    if reading.findings is None:
        if kind is None:
            raise _missing(path)
        node = _READERS[kind](getattr(message, kind), scope, (path, kind))
        if kind in _MAKING_TYPES:
            reading.has_type(node.type, path)
        if reading.placed:
            reading.places.add(node, path)
        return node
    known = len(reading.places)
    try:
        if kind is None:
            raise _missing(path)
        node = _READERS[kind](getattr(message, kind), scope, (path, kind))
        if kind in _MAKING_TYPES:
            reading.has_type(node.type, path)
    except SubstraitError as error:
        reading.fault(error)
        node = BrokenExpression(kind=kind or "", fault=error.message, parts=_parts(reading, known))
    reading.places.add(node, path)
    return node


def _missing(path: Path) -> InvalidPlanError:
    return invalid("an expression is missing", path, code=Code.PROTO_MISSING_FIELD)


def _parts(reading: Reading, known: int) -> tuple[Expression, ...]:
    """The direct parts of a broken expression: those read after ``known`` that are in no other one of them."""
    found: list[Expression] = [node for node, _ in reading.places.since(known) if isinstance(node, _KINDS)]
    inner = {id(child) for node in found for child in expression_children(node)}
    return tuple([node for node in found if id(node) not in inner])


def optional_expression(message: Any, field: str, scope: Scope, path: Path) -> Expression | None:
    """The expression in a field of ``message``, or None when it isn't set; ``path`` is that of ``message``."""
    return expression(getattr(message, field), scope, (path, field)) if message.HasField(field) else None


def condition(message: messages.Expression, scope: Scope, path: Path) -> Expression:
    """Read a condition, which must be a boolean."""
    node = datafusion_coercion.coerced_condition(expression(message, scope, path), scope.reading, path)
    if scope.reading.findings is None:
        return checked_condition(node, path)
    with scope.reading.going_on(code=Code.TYPE_MISMATCH):
        checked_condition(node, path)
    return node


def optional_condition(message: Any, field: str, scope: Scope, path: Path) -> Expression | None:
    """The condition in a field of ``message``, or None when it isn't set; ``path`` is that of ``message``."""
    return condition(getattr(message, field), scope, (path, field)) if message.HasField(field) else None


def expressions(messages: Any, scope: Scope, path: Path) -> tuple[Expression, ...]:
    """Several expressions; ``path`` is that of the repeated field."""
    return tuple([expression(message, scope, (path, index)) for index, message in enumerate(messages)])


def _literal(message: Any, scope: Scope, path: Path) -> Expression:
    made = literal(message, scope.reading, path)
    meaning = scope.reading.meaning
    return made if meaning is None else meaning.literal(made)


def _cast(message: Any, scope: Scope, path: Path) -> Expression:
    reading, type = scope.reading, _type_of(message, scope, path)
    if message.type.WhichOneof("kind") == "unbound":
        fault = "a cast to an unbound type has no meaning"
        reading.fault(invalid(fault, (path, "type"), "Name the type", Code.EXPRESSION_CAST))
    if is_untyped_null(message.input):
        return null_of(type, reading, (path, "input"))
    input = expression(message.input, scope, (path, "input"))
    failure = FailureBehavior.THROW_EXCEPTION
    with reading.going_on():
        failure = FAILURE_BEHAVIOR.member(message.failure_behavior, path, "failure_behavior")
    if reading.meaning is not None:
        with located(path):
            return reading.meaning.cast(input, type, or_null=failure is FailureBehavior.RETURN_NULL)
    if not type.nullable and (input.type.nullable or failure is FailureBehavior.RETURN_NULL):
        # the specification doesn't define the cast of a null to a required type; in SQL the result is null
        nullable = with_nullability(type, True)
        reading.note("nullable-cast", (path, "type"), f"{type}, of a cast that may give null", str(nullable))
        type = nullable
    date64 = message.type.WhichOneof("kind") == "date" and message.type.date.type_variation_reference == 1
    meant = datafusion_values.different_cast(input, type, reading, path, date64=date64)
    if meant is not input and concrete(meant.type) == concrete(type):
        return meant
    input = meant
    type = quirks.wider_cast(input.type, type, reading, (path, "type"))
    return Cast(type=type, input=input, failure_behavior=failure)


def _type_of(message: Any, scope: Scope, path: Path) -> Type:
    """The type in the field ``type`` of a message."""
    with scope.reading.going_on(code=Code.TYPE_UNKNOWN):
        return data_type(message.type, scope.reading, (path, "type"))
    return Unbound(nullable=True)


def _if_then(message: Any, scope: Scope, path: Path) -> Expression:
    place: Path = (path, "ifs")
    if quirks.simple_case(message, scope.reading, path):
        return _simple_case(message, scope, path)
    conditions = [
        condition(getattr(clause, "if"), scope, ((place, index), "if")) for index, clause in enumerate(message.ifs)
    ]
    branches, otherwise = _branches(message, scope, path)
    return IfThen(ifs=tuple(map(IfClause, conditions, branches)), else_=otherwise)


def _simple_case(message: Any, scope: Scope, path: Path) -> Expression:
    """An if_then whose first clause has the value that those of the others are compared with."""
    place: Path = (path, "ifs")
    places: list[Path] = [((place, index), "if") for index in range(len(message.ifs))]
    values = [expression(getattr(clause, "if"), scope, at) for clause, at in zip(message.ifs, places, strict=True)]
    if isinstance(concrete(values[0].type), Boolean) and scope.reading.made_by is not Producer.DATAFUSION:
        raise _missing(((place, 0), "then"))  # a condition without a result rather than a value
    if (meaning := scope.reading.meaning) is not None:
        with located(path):
            conditions = [meaning.scalar("equal", (values[0], value)) for value in values[1:]]
        branches, otherwise = _branches(message, scope, path, first=1)
        return IfThen(ifs=tuple(map(IfClause, conditions, branches)), else_=otherwise)
    values = [*datafusion_coercion.coerced_alternatives(values, scope.reading, path, compared=True)]
    match, *compared = agreed(values, scope.reading, places)
    datafusion_values.float_keys((match.type,), scope.reading, path)
    with scope.reading.going_on(path):
        conditions = [
            scalar(scope.reading.registry, f"{OFFICIAL}functions_comparison", "equal", (match, value))
            for value in compared
        ]
        branches, otherwise = _branches(message, scope, path, first=1)
        return IfThen(ifs=tuple(map(IfClause, conditions, branches)), else_=otherwise)
    return BrokenExpression(kind="if_then", fault="the values can't be compared")


def _switch(message: Any, scope: Scope, path: Path) -> Expression:
    match = expression(message.match, scope, (path, "match"))
    places: list[Path] = [(((path, "ifs"), index), "if") for index in range(len(message.ifs))]
    values = [_case(getattr(clause, "if"), scope, place) for clause, place in zip(message.ifs, places, strict=True)]
    match, *compared = agreed((match, *values), scope.reading, [(path, "match"), *places])
    branches, otherwise = _branches(message, scope, path)
    ifs = map(IfValue, map(as_literal, compared, places), branches)
    return SwitchExpression(match=match, ifs=tuple(ifs), else_=otherwise)


def _case(message: Any, scope: Scope, path: Path) -> Literal:
    """The value of a clause of a switch; an untyped null if it is invalid and findings are collected."""
    with scope.reading.going_on(code=Code.EXPRESSION_ILLEGAL_LITERAL):
        return literal(message, scope.reading, path)
    return Literal(type=Unbound(nullable=True), value=None)


def _branches(
    message: Any, scope: Scope, path: Path, first: int = 0
) -> tuple[tuple[Expression, ...], Expression | None]:
    """The results of a conditional expression, from the first clause with one on; all of one type."""
    place: Path = (path, "ifs")
    clauses = [*enumerate(message.ifs)][first:]
    places: list[Path] = [((place, index), "then") for index, _ in clauses]
    branches = [expression(clause.then, scope, place) for (_, clause), place in zip(clauses, places, strict=True)]
    otherwise = optional_expression(message, "else", scope, path)
    if not message.ifs:
        raise invalid("there is no clause", place, code=Code.PROTO_MISSING_FIELD)
    if otherwise is not None:
        branches.append(otherwise)
        places.append((path, "else"))
    branches = [*datafusion_coercion.coerced_alternatives(branches, scope.reading, path)]
    made = agreed(branches, scope.reading, places, exactly=True)
    return (made, None) if otherwise is None else (made[:-1], made[-1])


# subqueries -----------------------------------------------------------------------------------------------------------


def _subquery(message: Any, scope: Scope, path: Path) -> Expression:
    kind = message.WhichOneof("subquery_type")
    if kind is None:
        raise invalid("a subquery is missing", path, code=Code.PROTO_MISSING_FIELD)
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
                fault = f"{len(needles)} needles for {len(haystack.schema.types)} columns of the haystack"
                scope.reading.fault(invalid(fault, path, code=Code.TYPE_MISMATCH))
            else:
                places: list[Path] = [((path, "needles"), index) for index in range(len(needles))]
                needles, haystack = datafusion_coercion.coerced_needles(needles, haystack, scope.reading, path)
                needles, haystack = comparable(needles, haystack, scope.reading, places)
            datafusion_values.float_keys([needle.type for needle in needles], scope.reading, path)
            subquery = InPredicate(needles=needles, haystack=haystack)
        case "set_predicate":
            predicate = PredicateOp.EXISTS
            with scope.reading.going_on():
                predicate = PREDICATE_OP.member(query.predicate_op, path, "predicate_op")
            subquery = SetPredicate(predicate_op=predicate, tuples=relation("tuples"))
        case _ if scope.reading.meaning is not None:
            fault = "the dialect has no comparison with ANY or ALL of a subquery"
            raise invalid(fault, path, "Use IN or EXISTS")
        case _:
            left, right = expression(query.left, scope, (path, "left")), relation("right")
            if len(right.schema.types) == 1:
                (left,), right = datafusion_coercion.coerced_needles((left,), right, scope.reading, path)
                (left,), right = comparable((left,), right, scope.reading, [(path, "left")])
            elif not isinstance(right.schema, OpenStruct):
                what = f"the subquery of a comparison has one column, this one has {len(right.schema.types)}"
                scope.reading.find(Code.EXPRESSION_ILLEGAL_SUBQUERY, path, what)
            reduction, operation = ReductionOp.ANY, ComparisonOp.EQ
            with scope.reading.going_on():
                reduction = REDUCTION_OP.member(query.reduction_op, path, "reduction_op")
            with scope.reading.going_on():
                operation = COMPARISON_OP.member(query.comparison_op, path, "comparison_op")
            subquery = SetComparison(reduction_op=reduction, comparison_op=operation, left=left, right=right)
    with located(path):
        _ = subquery.type
    return subquery


# parameters, lambdas, context -----------------------------------------------------------------------------------------


def _dynamic_parameter(message: Any, scope: Scope, path: Path) -> Expression:
    type = _type_of(message, scope, path)
    return DynamicParameter(type=type, parameter_reference=message.parameter_reference)


def _lambda(message: messages.Expression.Lambda, scope: Scope, path: Path) -> Lambda:
    parameters: Struct = OpenStruct()
    with scope.reading.going_on(code=Code.TYPE_UNKNOWN):
        parameters = schema_struct(message.parameters, scope.reading, (path, "parameters"))
    return Lambda(parameters=parameters, body=expression(message.body, scope.inside_lambda(parameters), (path, "body")))


def named_lambda(anchor: int, scope: Scope, path: Path) -> NamedLambda:
    """The lambda that the plan defines under an anchor. Its body can only refer to its parameters."""
    reading = scope.reading
    if reading.named_lambdas is None:
        raise invalid(
            "an extended expression has no named lambdas", path, "Write the lambda in place", Code.LINK_MISSING_ANCHOR
        )
    if anchor not in reading.named_lambdas:
        raise invalid(
            f"the lambda {anchor} is not defined", path, "Add it to the plan's named_lambdas", Code.LINK_MISSING_ANCHOR
        )
    message, place = reading.named_lambdas[anchor]

    def bind() -> NamedLambda:
        inner = _lambda(getattr(message, "lambda"), Scope(reading), (place, "lambda"))
        return NamedLambda(lambda_=inner, name=message.name if message.HasField("name") else None)

    return reading.once(reading.bound_lambdas, anchor, ("lambda", anchor), "a named lambda", place, bind)


def _named_lambda_reference(message: Any, scope: Scope, path: Path) -> NamedLambdaReference:
    scope.reading.uses(("lambda", message.lambda_reference), path)
    return NamedLambdaReference(lambda_=named_lambda(message.lambda_reference, scope, path))


def _lambda_invocation(message: Any, scope: Scope, path: Path) -> Expression:
    kind, place = message.WhichOneof("lambda_type"), ((path, "arguments"), "fields")
    arguments = expressions(message.arguments.fields, scope, place)
    called: Lambda | NamedLambdaReference
    match kind:
        case "lambda":
            called = _lambda(getattr(message, "lambda"), scope, (path, kind))
            parameters = called.parameters
        case "named_lambda":
            called = _named_lambda_reference(message.named_lambda, scope, (path, kind))
            parameters = called.lambda_.lambda_.parameters
        case _:
            raise invalid("the lambda to invoke is missing", path, code=Code.PROTO_MISSING_FIELD)
    _check_arguments(arguments, parameters, scope.reading, place)
    return LambdaInvocation(lambda_=called, arguments=arguments)


def _check_arguments(arguments: tuple[Expression, ...], parameters: Struct, reading: Reading, path: Path) -> None:
    if len(arguments) != len(parameters.types):
        fault = f"there are {len(arguments)} arguments for {len(parameters.types)} parameters"
        reading.fault(invalid(fault, path, code=Code.EXPRESSION_LAMBDA))
    for index, (argument, wanted) in enumerate(zip(arguments, parameters.types, strict=False)):
        given, wanted = concrete(argument.type), concrete(wanted)
        if isinstance(given, Unbound) or isinstance(wanted, Unbound):
            continue
        if with_nullability(given, False) != with_nullability(wanted, False) or (
            given.nullable and not wanted.nullable
        ):
            fault = f"the argument is {given}, the parameter {wanted}"
            reading.fault(invalid(fault, (path, index), code=Code.EXPRESSION_LAMBDA))


def _context_variable(message: Any, scope: Scope, path: Path) -> Expression:
    kind = message.WhichOneof("execution_context_variable_type")
    if kind is None:
        raise invalid("the variable is missing", path, code=Code.PROTO_MISSING_FIELD)
    fields, path = getattr(message, kind), (path, kind)
    if fields.nullability == messages.Type.NULLABILITY_NULLABLE:
        hint = "Its nullability must be NULLABILITY_REQUIRED"
        scope.reading.fault(invalid("the variable is never null", path, hint, Code.TYPE_MISMATCHED_NULLABILITY))
    wrapped = messages.Type(**{_VARIABLE_TYPES[kind]: fields})
    getattr(wrapped, _VARIABLE_TYPES[kind]).nullability = messages.Type.NULLABILITY_REQUIRED
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
        raise invalid(
            f"there are {len(lists.expressions)} detached expressions, no number {ordinal}",
            path,
            code=Code.LINK_MISSING_PART,
        )
    place: Path = ((lists.path, "detached_expressions"), ordinal)
    reading.used_parts.add((id(lists), "detached_expressions", ordinal))

    def bind() -> tuple[Scope, Expression]:
        return scope, expression(lists.expressions[ordinal], scope, place)

    mark = (id(lists), "expression", ordinal)
    reading.uses(mark, path)
    _, bound = reading.once(reading.bound_parts, (*mark, id(scope)), mark, "a detached expression", place, bind)
    return DetachedExpression(expression=bound)


#: the kinds whose types are composed of the types of their parts
_MAKING_TYPES = frozenset({"nested", "lambda", "lambda_invocation"})
#: the kinds that may be plain (:class:`Reading`)
_PLAIN = frozenset(
    {"literal", "selection", "scalar_function", "cast", "if_then", "singular_or_list", "multi_or_list", "subquery"}
)

_READERS: dict[str, _Reader] = {
    "literal": _literal,
    "selection": references.field_reference,
    "scalar_function": functions.scalar_function,
    "window_function": functions.window_function,
    "if_then": _if_then,
    "switch_expression": _switch,
    "singular_or_list": options.singular_or_list,
    "multi_or_list": options.multi_or_list,
    "cast": _cast,
    "subquery": _subquery,
    "nested": constructors.nested,
    "dynamic_parameter": _dynamic_parameter,
    "lambda": _lambda,
    "lambda_invocation": _lambda_invocation,
    "execution_context_variable": _context_variable,
    "detached_expression_ordinal": _detached,
    "named_lambda_reference": _named_lambda_reference,
}

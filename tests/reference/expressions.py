"""The values of expressions. Spec: expressions/."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pyspark_substrait.model.expressions import (
    Cast,
    ComparisonOp,
    DetachedExpression,
    DynamicParameter,
    EnumArgument,
    Expression,
    FieldReference,
    IfThen,
    InPredicate,
    Lambda,
    LambdaInvocation,
    LambdaParameterReference,
    ListElement,
    MapKey,
    MultiOrList,
    NamedLambdaReference,
    NestedList,
    NestedMap,
    NestedStruct,
    OuterReference,
    PredicateOp,
    ReductionOp,
    ReferenceSegment,
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
from pyspark_substrait.model.masks import ListItem, ListSelect, MapKeySelect, MapSelect, Select, StructSelect
from pyspark_substrait.model.types import Type, same_type
from tests.reference.casts import as_declared, cast
from tests.reference.choices import Choices
from tests.reference.errors import Failure, NotCovered, Undetermined
from tests.reference.functions import Call, scalar_function
from tests.reference.scope import Scope
from tests.reference.values import Pairs, Row, Value, compare, equal, from_literal, identity

__all__ = ["all_of", "any_of", "evaluate", "is_true", "negation"]

Truth = bool | None


def evaluate(expression: Expression, scope: Scope) -> Value:
    """The value of an expression in its scope."""
    choices = scope.choices
    match expression:
        case Literal():
            return from_literal(expression)
        case FieldReference():
            return _reference(expression, scope)
        case ScalarFunction():
            return _call(expression, scope)
        case WindowFunction():
            if id(expression) not in scope.windows:
                raise NotCovered("a window function outside a projection")
            return scope.windows[id(expression)]
        case IfThen(ifs=ifs, else_=otherwise):
            for clause in ifs:
                if is_true(clause.if_, scope):
                    return evaluate(clause.then, scope)
            return None if otherwise is None else evaluate(otherwise, scope)
        case SwitchExpression(match=subject, ifs=arms, else_=otherwise):
            value = evaluate(subject, scope)
            for arm in arms:
                if _equal(value, from_literal(arm.if_), choices):
                    return evaluate(arm.then, scope)
            return None if otherwise is None else evaluate(otherwise, scope)
        case SingularOrList(value=value, options=options):
            needle = evaluate(value, scope)
            return any_of(_equal(needle, evaluate(option, scope), choices) for option in options)
        case MultiOrList(value=several, options=records):
            needles = _row(several, scope)
            return any_of(_equal_rows(needles, _row(record, scope), choices) for record in records)
        case Cast(input=input, type=type, failure_behavior=behavior):
            return cast(evaluate(input, scope), input.type, type, behavior, choices)
        case NestedStruct(fields=fields):
            return _row(fields, scope)
        case NestedList(values=values):
            return _row(values, scope)
        case NestedMap(key_values=pairs):
            made = Pairs((evaluate(key, scope), evaluate(value, scope)) for key, value in pairs)
            if any(key is None for key, _ in made):
                raise Failure("a key of a map is null")
            return made
        case ScalarSubquery() | InPredicate() | SetPredicate() | SetComparison():
            return _subquery(expression, scope)
        case DynamicParameter(parameter_reference=number):
            if number not in scope.context.parameters:
                raise NotCovered(f"dynamic parameter {number} without a value")
            return scope.context.parameters[number]
        case Lambda() | NamedLambdaReference():
            return _closure(expression, scope)
        case LambdaInvocation(lambda_=called, arguments=arguments):
            return _closure(called, scope)(*_row(arguments, scope))
        case DetachedExpression(expression=inner):
            return evaluate(inner, scope)
        case _:
            raise NotCovered(f"expression {expression.__class__.__name__}")


def is_true(condition: Expression | None, scope: Scope) -> bool:
    """Whether a condition is true; no condition is."""
    return condition is None or evaluate(condition, scope) is True


def _row(expressions: Iterable[Expression], scope: Scope) -> Row:
    return tuple(evaluate(expression, scope) for expression in expressions)


def _closure(function: Lambda | NamedLambdaReference, scope: Scope) -> Callable[..., Value]:
    body = function.body if isinstance(function, Lambda) else function.lambda_.lambda_.body
    return lambda *arguments: evaluate(body, scope.calling(arguments))


# three-valued logic --------------------------------------------------------------------------------------------------


def any_of(truths: Iterable[Truth]) -> Truth:
    """The ``or`` of truths: true if one is, else null if one is, else false."""
    found = list(truths)
    return True if True in found else None if None in found else False


def negation(truth: Truth) -> Truth:
    """The ``not`` of a truth."""
    return None if truth is None else not truth


def all_of(truths: Iterable[Truth]) -> Truth:
    """The ``and`` of truths: false if one is, else null if one is, else true."""
    return negation(any_of(negation(truth) for truth in truths))


def _equal(left: Value, right: Value, choices: Choices) -> Truth:
    return None if left is None or right is None else equal(left, right, choices)


def _equal_rows(left: Row, right: Row, choices: Choices) -> Truth:
    return all_of(_equal(one, other, choices) for one, other in zip(left, right, strict=True))


# references ----------------------------------------------------------------------------------------------------------


def _reference(reference: FieldReference, scope: Scope) -> Value:
    match reference.root:
        case RootReference():
            value: Value = scope.row
        case OuterReference() as outer:
            value = scope.outer_row(outer)
        case LambdaParameterReference(steps_out=steps):
            if steps >= len(scope.lambdas):
                raise NotCovered("a parameter of a lambda outside it, as in a subquery")
            value = scope.lambdas[steps]
        case root:
            value = evaluate(root, scope)
    if isinstance(reference.reference, tuple):
        for segment in reference.reference:
            value = _step(value, segment, scope.choices)
        return value
    mask = reference.reference
    return masked(value, mask.select, mask.maintain_singular_struct, outermost=True)


def _step(value: Value, segment: ReferenceSegment, choices: Choices) -> Value:
    """The part of a value that one step leads to; null if there is none."""
    if value is None:
        return None
    match segment:
        case StructField(field=field):
            if field >= len(value):
                raise NotCovered(f"field {field} of a record of {len(value)}")
            return value[field]
        case ListElement(offset=offset):
            return _element(value, offset)
        case MapKey(map_key=literal):
            return _under_key(value, from_literal(literal), choices)


def _element(value: Sequence[Value], offset: int) -> Value:
    """The element at an offset, from the end if negative; null beyond both ends, without wrapping."""
    position = offset if offset >= 0 else len(value) + offset
    return value[position] if 0 <= position < len(value) else None


def _under_key(value: Pairs, key: Value, choices: Choices) -> Value:
    if key is None:
        return None  # no key of a map is null
    found = [item for known, item in value if equal(known, key, choices)]
    if len(found) > 1:
        raise Undetermined("the value under a key that a map has several times")
    return found[0] if found else None


def masked(value: Value, select: Select, maintain: bool, *, outermost: bool = False) -> Value:
    """The part of a value that a mask keeps. One field alone is unwrapped, unless the mask maintains the struct."""
    if value is None:
        return None

    def child(item: Value, below: Select | None) -> Value:
        return item if below is None else masked(item, below, maintain)

    match select:
        case StructSelect(struct_items=items):
            fields = tuple(child(value[item.field], item.child) for item in items)
            return fields[0] if len(fields) == 1 and not (maintain or outermost) else fields
        case ListSelect(selection=selection, child=below):
            if not all(isinstance(item, ListItem) for item in selection):
                # an offset and a count in the text, a start and an end in the message
                raise Undetermined("a slice of a list in a mask")
            kept = tuple(child(_element(value, item.field), below) for item in selection)  # type: ignore[union-attr]
            return kept[0] if len(kept) == 1 and not maintain else kept
        case MapSelect(select=MapKeySelect(map_key=key), child=below):
            found = Pairs((known, child(item, below)) for known, item in value if known == key)
            if maintain:
                return found
            if len(found) > 1:
                raise Undetermined("the value under a key that a map has several times")
            return found[0][1] if found else None
        case _:
            raise NotCovered("a mask of a map by a wildcard expression")


# calls ---------------------------------------------------------------------------------------------------------------


def _call(call: ScalarFunction, scope: Scope) -> Value:
    implementation = scalar_function(call.function)
    thunks: list[Callable[[], Value]] = []
    types: list[Type | None] = []
    for argument in call.arguments:
        match argument:
            case EnumArgument(value=word):
                thunks.append(lambda word=word: word)  # type: ignore[misc]
                types.append(None)
            case TypeArgument():
                raise NotCovered(f"type argument of {call.function.name}")
            case _:
                thunks.append(lambda argument=argument: evaluate(argument, scope))  # type: ignore[misc]
                types.append(argument.type)
    made = Call.of(call.function, types, call.options, call.derived_type, scope.choices)
    value = implementation(made, thunks)
    return as_declared(value, call.derived_type, call.output_type, scope.choices)


# subqueries ----------------------------------------------------------------------------------------------------------


def _subquery(expression: ScalarSubquery | InPredicate | SetPredicate | SetComparison, scope: Scope) -> Value:
    choices = scope.choices
    query = scope.context.query
    match expression:
        case ScalarSubquery(input=input):
            rows = query(input, scope)
            if len(rows) > 1:
                raise Failure(f"a scalar subquery has {len(rows)} rows")
            return rows[0][0] if rows else None
        case InPredicate(needles=needles, haystack=haystack):
            if not all(
                same_type(needle.type, type) for needle, type in zip(needles, haystack.schema.types, strict=True)
            ):
                raise NotCovered("an IN predicate over different types")
            row = _row(needles, scope)
            return any_of(_equal_rows(row, other, choices) for other in query(haystack, scope))
        case SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=tuples):
            return bool(query(tuples, scope))
        case SetPredicate(tuples=tuples):
            seen: set[object] = set()
            twice: list[Row] = []
            for row in query(tuples, scope):
                key = identity(row, choices)
                if key in seen:
                    twice.append(row)
                seen.add(key)
            if twice and all(None in row for row in twice):
                raise Undetermined("whether records with nulls are unique")
            return not twice
        case SetComparison(reduction_op=reduction, comparison_op=operator, left=left, right=right):
            if not same_type(left.type, right.schema.types[0]):
                raise NotCovered("a set comparison over different types")
            value = evaluate(left, scope)
            truths = [_compared(operator, value, row[0], choices) for row in query(right, scope)]
            return any_of(truths) if reduction is ReductionOp.ANY else all_of(truths)


def _compared(operator: ComparisonOp, left: Value, right: Value, choices: Choices) -> Truth:
    if left is None or right is None:
        return None
    if operator in (ComparisonOp.EQ, ComparisonOp.NE):
        return equal(left, right, choices) is (operator is ComparisonOp.EQ)
    order = compare(left, right, choices)
    match operator:
        case ComparisonOp.LT:
            return order < 0
        case ComparisonOp.GT:
            return order > 0
        case ComparisonOp.LE:
            return order <= 0
        case _:
            return order >= 0

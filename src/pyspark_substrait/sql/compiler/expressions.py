"""Expressions as Spark SQL, exactly typed."""

from __future__ import annotations

from typing_extensions import assert_never

from pyspark_substrait.errors import InvalidPlanError, ParameterError, UnsupportedPlanError, at
from pyspark_substrait.model.expressions import (
    BrokenExpression,
    Cast,
    DetachedExpression,
    DynamicParameter,
    ExecutionContextVariable,
    Expression,
    FieldReference,
    IfThen,
    InPredicate,
    Lambda,
    LambdaInvocation,
    MultiOrList,
    NamedLambdaReference,
    NestedList,
    NestedMap,
    NestedStruct,
    RootReference,
    ScalarFunction,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
    SingularOrList,
    StructField,
    SwitchExpression,
    WindowFunction,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import Boolean, Type, concrete, same_type
from pyspark_substrait.model.walk import holds_query
from pyspark_substrait.sql.compiler import calls, context_variables, lambdas, references, subqueries, windows
from pyspark_substrait.sql.compiler.casts import holds
from pyspark_substrait.sql.compiler.literals import constant
from pyspark_substrait.sql.compiler.scope import Compilation, Scope
from pyspark_substrait.sql.compiler.types import MAP_SETTINGS, has_map
from pyspark_substrait.sql.conjuncts import BOOLEAN, conjuncts, operands_of
from pyspark_substrait.sql.fragment import Atom, Constant

__all__ = ["conditions", "expression"]


def expression(node: Expression, scope: Scope, compilation: Compilation) -> Atom:
    """The text of an expression."""
    if compilation.refusals is not None and (known := compilation.refusals.stand_in(node)) is not None:
        return known
    try:
        match node:
            case FieldReference(root=RootReference(), reference=(StructField(field=field),)) if (
                0 <= field < len(scope.record.columns)
            ):
                return scope.record.columns[field]
            case Literal():
                return _literal(node, compilation)
            case FieldReference():
                with at("selection"):
                    return references.reference(node, scope, compilation)
            case ScalarFunction():
                with at("scalar_function"):
                    return calls.scalar(node, scope, compilation)
            case Cast():
                with at("cast"):
                    with at("input"):
                        text = expression(node.input, scope, compilation)
                    return _cast(text, node, compilation)
            case IfThen():
                with at("if_then"):
                    return _if_then(node, scope, compilation)
            case SwitchExpression():
                with at("switch_expression"):
                    return _switch(node, scope, compilation)
            case SingularOrList():
                with at("singular_or_list"):
                    return _singular_or_list(node, scope, compilation)
            case MultiOrList():
                with at("multi_or_list"):
                    return _multi_or_list(node, scope, compilation)
            case NestedStruct() | NestedList() | NestedMap():
                with at("nested"):
                    return _nested(node, scope, compilation)
            case ScalarSubquery() | InPredicate() | SetPredicate() | SetComparison():
                with at("subquery"):
                    return subqueries.subquery(node, scope, compilation)
            case DynamicParameter():
                return _parameter(node, compilation)
            case ExecutionContextVariable():
                with at("execution_context_variable"):
                    return context_variables.context_variable(node, scope, compilation)
            case DetachedExpression(expression=inner):
                return expression(inner, scope, compilation)
            case WindowFunction():
                with at("window_function"):
                    return windows.window(node, scope, compilation)
            case LambdaInvocation():
                with at("lambda_invocation"):
                    return lambdas.invocation(node, scope, compilation)
            case Lambda() | NamedLambdaReference():
                raise UnsupportedPlanError(
                    "a lambda can only be an argument of a function, or invoked: Spark has no functions as values",
                    path="lambda" if isinstance(node, Lambda) else "named_lambda_reference",
                )
            case BrokenExpression(kind=kind, fault=fault):
                raise InvalidPlanError(fault, path=kind)
            case _:
                assert_never(node)
    except Exception as error:
        if compilation.refusals is None:
            raise
        return compilation.refusals.expression(error, node, scope, compilation)


def conditions(node: Expression, scope: Scope, compilation: Compilation) -> list[Atom]:
    """Return a condition as operands of AND, for a place where false and null are equivalent (WHERE, inner join ON).

    Spark runs IN with a subquery as a join there, and only there with SQL's semantics for nulls.
    """
    texts: list[Atom] = []
    for conjunct in conjuncts(node):
        match conjunct:
            case InPredicate() | SetComparison():
                with at("subquery"):
                    texts.append(subqueries.conjunct(conjunct, scope, compilation))
            case ScalarFunction(arguments=(InPredicate() as inner,), options=()) if (
                conjunct.function.urn == BOOLEAN and conjunct.function.name == "not"
            ):
                with at("scalar_function", "arguments", 0, "subquery"):
                    texts.append(Atom(f"(NOT {subqueries.conjunct(inner, scope, compilation)})"))
            case _:
                texts.append(_alternatives(conjunct, scope, compilation))
    return texts


def _alternatives(node: Expression, scope: Scope, compilation: Compilation) -> Atom:
    """Return a conjunct of such a condition; in what it combines with OR, false and null are equivalent, too."""
    alternatives = operands_of(node, BOOLEAN, "or")
    if len(alternatives) == 1 or not holds_query(node):
        return expression(node, scope, compilation)
    texts = []
    for alternative in alternatives:
        parts = []
        for conjunct in conjuncts(alternative):
            if isinstance(conjunct, InPredicate | SetComparison):
                with at("subquery"):
                    parts.append(subqueries.conjunct(conjunct, scope, compilation))
            else:
                parts.append(_alternatives(conjunct, scope, compilation))
        texts.append(f"({' AND '.join(parts)})" if len(parts) > 1 else parts[0])
    return Atom(f"({' OR '.join(texts)})")


def _literal(node: Literal, compilation: Compilation) -> Atom:
    compilation.require(node.type)
    return constant(node)


def _cast(text: Atom, node: Cast, compilation: Compilation) -> Atom:
    compilation.require(node.type)
    query = lambdas.holds_query(node.input, compilation)
    return calls.cast_atom(text, node.input.type, node.type, compilation, node.failure_behavior, holds_query=query)


def _branch(node: Expression, type: Type, scope: Scope, compilation: Compilation) -> Atom:
    """An expression where one of a certain type is needed: a branch of a choice, an option of a list."""
    text = expression(node, scope, compilation)
    if not same_type(node.type, type) and not holds(node.type, type):
        raise InvalidPlanError(
            f"this is {node.type} where {type} is needed, which cannot hold all its values", hint="Add a cast"
        )
    query = lambdas.holds_query(node, compilation)
    return calls.cast_atom(text, node.type, type, compilation, holds_query=query)


def _comparable(type: Type) -> None:
    """Refuse a value that is compared with others if Spark has no equality for it."""
    if has_map(type):
        raise UnsupportedPlanError(f"a value of type {type} cannot be compared: Spark has no equality of maps")


def _if_then(node: IfThen, scope: Scope, compilation: Compilation) -> Atom:
    arms = []
    for position, clause in enumerate(node.ifs):
        with at("ifs", position):
            with at("if"):
                if not isinstance(concrete(clause.if_.type), Boolean):
                    raise InvalidPlanError(f"a condition is a boolean, but this is {clause.if_.type}")
                condition = expression(clause.if_, scope, compilation)
            with at("then"):
                arms.append(f"WHEN {condition} THEN {_branch(clause.then, node.type, scope, compilation)}")
    return _case("", arms, node.else_, node.type, scope, compilation)


def _switch(node: SwitchExpression, scope: Scope, compilation: Compilation) -> Atom:
    with at("match"):
        _comparable(node.match.type)
        match = expression(node.match, scope, compilation)
    arms = []
    for position, clause in enumerate(node.ifs):
        with at("ifs", position):
            with at("if"):
                value = _branch(clause.if_, node.match.type, scope, compilation)
            with at("then"):
                arms.append(f"WHEN {value} THEN {_branch(clause.then, node.type, scope, compilation)}")
    return _case(f" {match}", arms, node.else_, node.type, scope, compilation)


def _case(
    match: str, arms: list[str], otherwise: Expression | None, type: Type, scope: Scope, compilation: Compilation
) -> Atom:
    if not arms:
        raise InvalidPlanError("there are no branches", path="ifs")
    end = ""
    if otherwise is not None:
        with at("else"):
            end = f" ELSE {_branch(otherwise, type, scope, compilation)}"
    # without brackets: Spark's parser takes many times as long for nested ones
    return Atom(f"CASE{match} {' '.join(arms)}{end} END")


def _singular_or_list(node: SingularOrList, scope: Scope, compilation: Compilation) -> Atom:
    with at("value"):
        _comparable(node.value.type)
        value = expression(node.value, scope, compilation)
    if not node.options:
        return Constant("false")
    options = []
    for position, option in enumerate(node.options):
        with at("options", position):
            options.append(_branch(option, node.value.type, scope, compilation))
    return Atom(f"({value} IN ({', '.join(options)}))")


def _multi_or_list(node: MultiOrList, scope: Scope, compilation: Compilation) -> Atom:
    with at("value"):
        values = []
        for value in node.value:
            _comparable(value.type)
            values.append(expression(value, scope, compilation))
    rows = []
    for position, option in enumerate(node.options):
        with at("options", position):
            if len(option) != len(values):
                raise InvalidPlanError(f"the option has {len(option)} fields, the value {len(values)}")
            pairs = [
                f"{value} = {_branch(field, wanted.type, scope, compilation)}"
                for value, field, wanted in zip(values, option, node.value, strict=True)
            ]
            rows.append(f"({' AND '.join(pairs)})")
    return Atom(f"({' OR '.join(rows)})") if rows else Constant("false")


def _nested(node: NestedStruct | NestedList | NestedMap, scope: Scope, compilation: Compilation) -> Atom:
    match node:
        case NestedStruct(fields=fields):
            texts = []
            for position, field in enumerate(fields):
                with at("struct.fields", position):
                    texts.append(f"'f{position}', {expression(field, scope, compilation)}")
            return Atom(f"named_struct({', '.join(texts)})" if texts else "struct()")
        case NestedList(values=values):
            items = []
            for position, value in enumerate(values):
                with at("list.values", position):
                    items.append(_branch(value, values[0].type, scope, compilation))
            return Atom(f"array({', '.join(items)})")
        case NestedMap(key_values=pairs):
            entries = []
            for position, (key, value) in enumerate(pairs):
                with at("map.key_values", position):
                    entries.append(_branch(key, pairs[0][0].type, scope, compilation))
                    entries.append(_branch(value, pairs[0][1].type, scope, compilation))
            compilation.settings.update(MAP_SETTINGS)
            return Atom(f"map({', '.join(entries)})")


def _parameter(node: DynamicParameter, compilation: Compilation) -> Atom:
    value = compilation.parameters.get(node.parameter_reference)
    if value is None:
        raise ParameterError(
            f"the dynamic parameter {node.parameter_reference} has no value; it needs one of type {node.type}",
            path="dynamic_parameter",
            hint=f"Give it one: parameters={{{node.parameter_reference}: …}}, or --param {node.parameter_reference}=…",
        )
    if not same_type(value.type, node.type):
        raise InvalidPlanError(
            f"the dynamic parameter {node.parameter_reference} is {node.type}, its value {value.type}",
            path="dynamic_parameter",
        )
    if value.value is None and not node.type.nullable:
        raise InvalidPlanError(
            f"the dynamic parameter {node.parameter_reference} is {node.type}, its value null", path="dynamic_parameter"
        )
    return _literal(value, compilation)

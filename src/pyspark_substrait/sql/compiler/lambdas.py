"""Lambdas as Spark SQL: as arguments of higher-order functions, and invoked in place.

Every lambda variable of a statement has a unique name, different from all columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError, at
from pyspark_substrait.model.expressions import (
    DetachedExpression,
    Expression,
    FieldReference,
    Lambda,
    LambdaInvocation,
    LambdaParameterReference,
    NamedLambdaReference,
    StructField,
    WindowFunction,
)
from pyspark_substrait.model.types import Func, concrete
from pyspark_substrait.model.walk import expression_children, subquery_relation
from pyspark_substrait.sql.compiler import expressions
from pyspark_substrait.sql.compiler.names import NameSource
from pyspark_substrait.sql.compiler.scope import Binding, Closure, Compilation, Scope
from pyspark_substrait.sql.compiler.types import field_name
from pyspark_substrait.sql.fragment import Atom, Name

__all__ = ["argument", "evaluated_once", "holds_query", "invocation", "is_elsewhere", "parameters", "refuse_inside"]


def argument(node: Expression, scope: Scope, compilation: Compilation) -> str:
    """Return a function value as the last argument of a higher-order function of Spark: ``(l1, l2) -> body``.

    Raises:
        UnsupportedPlanError: Spark doesn't support the function there.
    """
    closure = _closure(node, scope)
    if closure is None:
        raise UnsupportedPlanError(
            f"a value of type {node.type} that is not a lambda cannot run on Spark, which has no functions as values",
            hint="Write the lambda in place, or refer to a named one",
        )
    names = tuple(compilation.names.fresh("l") for _ in closure.lambda_.parameters.types)
    body = _variable_body(closure, names, compilation)
    return f"{names[0]} -> {body}" if len(names) == 1 else f"({', '.join(names)}) -> {body}"


def refuse_inside(node: Expression) -> None:
    """Refuse a subquery, which Spark doesn't take anywhere in a higher-order function.

    Raises:
        UnsupportedPlanError: there is one.
    """
    if _holds_query(node):
        raise UnsupportedPlanError(
            "a subquery inside a lambda, or beside one in the same call, cannot run on Spark",
            hint="Compute it as a column in a projection below, and refer to that",
        )


def invocation(node: LambdaInvocation, scope: Scope, compilation: Compilation) -> Atom:
    """Return the body of a lambda with its arguments substituted.

    An argument that is more than a name and is used more than once is evaluated once.
    """
    closure = _closure(node.lambda_, scope)
    assert closure is not None, "a lambda is one"
    types = closure.lambda_.parameters.types
    if len(node.arguments) != len(types):
        raise InvalidPlanError(f"there are {len(node.arguments)} arguments for {len(types)} parameters")
    bindings: list[Binding] = []
    for position, (item, type) in enumerate(zip(node.arguments, types, strict=True)):
        with at("arguments.fields", position):
            if isinstance(concrete(type), Func):
                value = _closure(item, scope)
                if value is None:
                    raise UnsupportedPlanError(f"a value of type {item.type} that is not a lambda cannot run on Spark")
                bindings.append(value)
            else:
                bindings.append(expressions.expression(item, scope, compilation))
    # Spark takes no subquery anywhere in a higher-order function, so these are repeated at each use
    elsewhere = any(is_elsewhere(part, compilation) for part in (closure.lambda_.body, *node.arguments))
    apart = [] if elsewhere else _worth_keeping(closure, bindings)
    if not apart:
        return _body(closure, bindings, compilation)

    def body(variable: Name) -> Atom:
        inside = list(bindings)
        for number, position in enumerate(apart):
            inside[position] = variable if len(apart) == 1 else Name(f"{variable}.{field_name(number)}")
        return _variable_body(closure, inside, compilation)

    texts = [text for text in (bindings[position] for position in apart) if isinstance(text, Atom)]
    packed = ", ".join(f"'{field_name(number)}', {text}" for number, text in enumerate(texts))
    return _let(texts[0] if len(texts) == 1 else f"named_struct({packed})", body, compilation.names)


def evaluated_once(text: Atom, node: Expression, body: Callable[[Atom], Atom], compilation: Compilation) -> Atom:
    """Return ``body`` applied to a value that it uses several times, evaluated once if possible.

    Args:
        text: the value.
        node: the expression that the text is compiled from.
        body: returns the result for a text that stands for the value.
        compilation: the statement being compiled.
    """
    if text.cheap or is_elsewhere(node, compilation):
        return body(text)
    return _let(text, body, compilation.names)


def parameters(reference: LambdaParameterReference, scope: Scope) -> tuple[Binding, ...]:
    """Return the bindings of the lambda parameters that a reference refers to."""
    if reference.steps_out >= len(scope.lambdas):
        raise UnsupportedPlanError(
            "a parameter of a lambda around a subquery cannot be used inside the subquery on Spark",
            hint="A projection below the lambda can hold what the subquery needs",
        )
    return scope.lambdas[-1 - reference.steps_out]


def _closure(node: Expression, scope: Scope) -> Closure | None:
    """Return a function value as a closure; None if it isn't known before the plan runs."""
    match node:
        case Lambda():
            return Closure(node, scope)
        case NamedLambdaReference(lambda_=named):
            return Closure(named.lambda_, replace(scope, lambdas=()))
        case DetachedExpression(expression=inner):
            return _closure(inner, scope)
        case FieldReference(root=LambdaParameterReference() as root, reference=(StructField(field=field),)):
            bindings = parameters(root, scope)
            found = bindings[field] if 0 <= field < len(bindings) else None
            return found if isinstance(found, Closure) else None
        case _:
            return None


def _body(closure: Closure, bindings: Sequence[Binding], compilation: Compilation) -> Atom:
    inside = replace(closure.scope, lambdas=(*closure.scope.lambdas, tuple(bindings)))
    with at("lambda", "body"):
        return expressions.expression(closure.lambda_.body, inside, compilation)


def _variable_body(closure: Closure, bindings: Sequence[Binding], compilation: Compilation) -> Atom:
    """Return the body of a lambda that stays one in Spark. Parts that need a SELECT list become columns below."""
    if _windows_over_parameters(closure.lambda_.body, 0):
        raise UnsupportedPlanError("a window function over the parameters of a lambda cannot run on Spark")
    outside = closure.scope.below
    if outside is None or not outside.inline:
        return _body(closure, bindings, compilation)
    return _body(replace(closure, scope=replace(closure.scope, below=outside.apart())), bindings, compilation)


def _windows_over_parameters(node: Expression, depth: int) -> bool:
    """Whether a window function in a body refers to a parameter of this lambda or an enclosing one."""
    if isinstance(node, WindowFunction):
        return any(_uses_parameters(child, depth) for child in expression_children(node))
    inside = depth + 1 if isinstance(node, Lambda) else depth
    return any(_windows_over_parameters(child, inside) for child in expression_children(node))


def _uses_parameters(node: Expression, depth: int) -> bool:
    match node:
        case FieldReference(root=LambdaParameterReference(steps_out=steps)) if steps >= depth:
            return True
        case Lambda(body=body):
            return _uses_parameters(body, depth + 1)
        case _:
            return any(_uses_parameters(child, depth) for child in expression_children(node))


def _let(value: str, body: Callable[[Name], str], names: NameSource) -> Atom:
    """Return ``body`` of a variable with a value: transform applied to a list of that one value."""
    variable = names.fresh("l")
    return Atom(f"(transform(array({value}), {variable} -> {body(variable)})[0])")


def _worth_keeping(closure: Closure, bindings: Sequence[Binding]) -> list[int]:
    """The parameters whose arguments should be evaluated before the body."""
    uses = [0] * len(bindings)
    _count(closure.lambda_.body, 0, uses)
    return [
        position
        for position, (binding, used) in enumerate(zip(bindings, uses, strict=True))
        if isinstance(binding, Atom) and used > 1 and not binding.cheap
    ]


def _count(node: Expression, depth: int, uses: list[int], weight: int = 1) -> None:
    """Count how often the body of a lambda uses each parameter; inside another lambda, every use counts as several."""
    match node:
        case FieldReference(root=LambdaParameterReference(steps_out=steps), reference=path) if steps == depth:
            chosen = [path[0].field] if isinstance(path, tuple) and isinstance(path[0], StructField) else None
            for position in range(len(uses)) if chosen is None else chosen:
                if 0 <= position < len(uses):
                    uses[position] += weight
        case Lambda(body=body):
            _count(body, depth + 1, uses, 2)
        case _:
            for child in expression_children(node):
                _count(child, depth, uses, weight)


def _holds_query(node: Expression) -> bool:
    """Whether an expression, or a named lambda that it refers to, contains a subquery."""
    if isinstance(node, NamedLambdaReference):
        return _holds_query(node.lambda_.lambda_.body)
    return subquery_relation(node) is not None or any(map(_holds_query, expression_children(node)))


def is_elsewhere(node: Expression, compilation: Compilation) -> bool:
    """Whether an expression contains something that isn't evaluated in place: a subquery or a window function.

    The expression is compiled. The result is cached, because nested calls ask for it repeatedly.
    """
    if not compilation.has_elsewhere:
        return False
    known = compilation.elsewhere.get(id(node))
    if known is None:
        known = (
            subquery_relation(node) is not None
            or isinstance(node, WindowFunction)
            or any(is_elsewhere(part, compilation) for part in _parts_in_place(node, compilation)),
            node,
        )
        compilation.elsewhere[id(node)] = known
    return known[0]


def holds_query(node: Expression, compilation: Compilation) -> bool:
    """Whether the text of an expression, which is compiled, contains a subquery."""
    if not compilation.has_elsewhere:
        return False
    if subquery_relation(node) is not None:
        return True
    return any(holds_query(part, compilation) for part in _parts_in_place(node, compilation))


def _parts_in_place(node: Expression, compilation: Compilation) -> Iterable[Expression]:
    """The parts of an expression whose text is in its text."""
    parts = (node.lambda_.lambda_.body,) if isinstance(node, NamedLambdaReference) else expression_children(node)
    return (part for part in parts if id(part) not in compilation.moved)

"""Expressions as trees of SQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from sqlglot import exp
from typing_extensions import assert_never

from pyspark_substrait.codes import Code
from pyspark_substrait.engines.dialects import nested, subqueries, windows
from pyspark_substrait.engines.dialects.dialect import Call, Row
from pyspark_substrait.engines.dialects.dialect import Cast as CastOf
from pyspark_substrait.engines.dialects.query import conjunction
from pyspark_substrait.engines.dialects.scope import Compilation, Scope
from pyspark_substrait.engines.dialects.tree import any_of, operand, repeated
from pyspark_substrait.errors import InvalidPlanError, ParameterError, UnsupportedPlanError, at
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    AggregationInvocation,
    Argument,
    BrokenExpression,
    Cast,
    DetachedExpression,
    DynamicParameter,
    EnumArgument,
    ExecutionContextVariable,
    Expression,
    FailureBehavior,
    FieldReference,
    Function,
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
    TypeArgument,
    WindowFunction,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    Boolean,
    Type,
    VarChar,
    concrete,
    same_type,
)
from pyspark_substrait.model.walk import expression_children

__all__ = [
    "call",
    "cast",
    "declared",
    "equal",
    "expression",
    "field_uses",
    "is_membership",
    "known",
    "literal",
    "unsupported",
]


def expression(node: Expression, scope: Scope, compilation: Compilation) -> exp.Expression:
    """Return the tree of an expression, whose value has the type of the plan.

    Raises:
        UnsupportedPlanError: the dialect has no exact form for it.
    """
    match node:
        case Literal():
            return literal(node, compilation)
        case FieldReference():
            with at("selection"):
                return nested.reference(node, scope, compilation)
        case ScalarFunction():
            with at("scalar_function"):
                return _scalar(node, scope, compilation)
        case Cast():
            with at("cast"):
                with at("input"):
                    value = expression(node.input, scope, compilation)
                return cast(value, node.input.type, node.type, compilation, node.failure_behavior)
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
        case ScalarSubquery() | InPredicate() | SetPredicate() | SetComparison():
            with at("subquery"):
                return subqueries.subquery(node, scope, compilation)
        case DynamicParameter():
            return literal(_parameter(node, compilation), compilation)
        case DetachedExpression(expression=inner):
            return expression(inner, scope, compilation)
        case WindowFunction():
            with at("window_function"):
                return windows.window(node, scope, compilation)
        case BrokenExpression(kind=kind, fault=fault):
            raise InvalidPlanError(fault, path=kind)
        case NestedList() | NestedStruct() | NestedMap():
            with at("nested"):
                return nested.nested(node, scope, compilation)
        case ExecutionContextVariable():
            template = compilation.dialect.variables.get(node.variable)
            if template is None:
                raise unsupported("variables of the execution", "execution_context_variable", compilation)
            return compilation.dialect.typed(compilation.dialect.filled(template), node.type)
        case Lambda():
            with at("lambda"):
                return nested.lambda_(node, scope, compilation)
        case NamedLambdaReference(lambda_=named):
            return nested.lambda_(named.lambda_, scope, compilation)
        case LambdaInvocation():
            raise unsupported("invocations of lambdas", "lambda_invocation", compilation)
        case _:
            assert_never(node)


def unsupported(what: str, path: str, compilation: Compilation) -> UnsupportedPlanError:
    """Return the error for what no dialect, or this one, has a form for."""
    message = f"{what} have no form in {compilation.dialect.engine} yet"
    return UnsupportedPlanError(message, path=path, code=Code.TARGET_EXPRESSION)


def literal(node: Literal, compilation: Compilation, *, plain: bool = False) -> exp.Expression:
    """Return a constant; ``plain`` where another type of the same value does."""
    dialect = compilation.dialect
    if node.value is None:
        return dialect.typed(exp.null(), node.type)
    found = nested.constant(node, compilation) or dialect.literal(node, plain)
    if found is None:
        dialect.type_text(node.type)
        message = f"the constant {node.value!r} of type {node.type} has no form in {dialect.engine}"
        raise UnsupportedPlanError(message, path="literal", code=Code.TARGET_EXPRESSION)
    return found


def is_membership(node: Expression) -> bool:
    """Whether an expression is IN of a query, or the negation of one."""
    match node:
        case ScalarFunction(function=Function(name="not"), arguments=(InPredicate(),)):
            return True
        case _:
            return isinstance(node, InPredicate)


def known(node: Expression, compilation: Compilation) -> Literal | None:
    """Return a literal expression, or the value of a dynamic parameter; None for any other expression."""
    match node:
        case Literal():
            return node
        case DetachedExpression(expression=inner):
            return known(inner, compilation)
        case DynamicParameter():
            return _parameter(node, compilation)
        case _:
            return None


def _parameter(node: DynamicParameter, compilation: Compilation) -> Literal:
    value = compilation.parameters.get(node.parameter_reference)
    if value is None:
        raise ParameterError(
            f"the dynamic parameter {node.parameter_reference} has no value; it needs one of type {node.type}",
            path="dynamic_parameter",
            hint=f"Give it one: parameters={{{node.parameter_reference}: …}}, or --param {node.parameter_reference}=…",
        )
    if not same_type(value.type, node.type):
        fault = f"the dynamic parameter {node.parameter_reference} is {node.type}, its value {value.type}"
        raise InvalidPlanError(fault, path="dynamic_parameter")
    return value


def field_uses(node: Expression) -> Iterator[int]:
    """Yield the position of each column of the input that an expression without subqueries refers to, for each use."""
    match node:
        case FieldReference(root=RootReference(), reference=(StructField(field=position), *_)):
            yield position
        case _:
            for child in expression_children(node):
                yield from field_uses(child)


# calls ---------------------------------------------------------------------------------------------------------------


def _scalar(node: ScalarFunction, scope: Scope, compilation: Compilation) -> exp.Expression:
    made, row = call(node, scope, compilation)
    if isinstance(concrete(node.output_type), VarChar) and node.function.name in _LENGTHENING:
        raise UnsupportedPlanError(
            f"{node.function.key} may give more characters than {node.output_type} has, which is an error",
            hint="Cast the arguments to string",
            code=Code.TARGET_FUNCTION,
        )
    return declared(row.made(made), node, compilation)


#: functions whose text may be longer than their argument
_LENGTHENING: Final = frozenset(
    {"concat", "concat_ws", "lower", "lpad", "repeat", "replace", "rpad", "string_agg", "upper"}
)


def call(
    node: ScalarFunction | AggregateFunction | WindowFunction, scope: Scope, compilation: Compilation
) -> tuple[Call, Row]:
    """Return a call as rows see it, and its row.

    Raises:
        UnsupportedPlanError: no row of the dialect fits it.
    """
    enums = [item.value if isinstance(item, EnumArgument) else exp.null() for item in node.arguments]
    made = Call(
        function=node.function,
        operands=tuple(enums),
        nodes=tuple([None if isinstance(item, EnumArgument | TypeArgument) else item for item in node.arguments]),
        output=node.derived_type,
        dialect=compilation.dialect,
        ordered=bool(getattr(node, "sorts", ())),
        distinct=getattr(node, "invocation", None) is AggregationInvocation.DISTINCT,
    )
    row, options = compilation.dialect.row(made, [(option.name, option.preference) for option in node.options])
    operands: list[exp.Expression | str] = []
    plain = row.plain and not all(isinstance(item, Literal) for item in node.arguments)
    for position, argument in enumerate(node.arguments):
        with at("arguments", position):
            operands.append(_operand(argument, plain, scope, compilation))
    for item in node.arguments:
        if isinstance(item, TypeArgument):
            raise unsupported("types as arguments", "arguments", compilation)
    return (
        Call(
            function=made.function,
            operands=tuple(operands),
            nodes=made.nodes,
            output=made.output,
            dialect=made.dialect,
            options=options,
            ordered=made.ordered,
            distinct=made.distinct,
        ),
        row,
    )


def _operand(argument: Argument, plain: bool, scope: Scope, compilation: Compilation) -> exp.Expression | str:
    match argument:
        case EnumArgument(value=value):
            return value
        case TypeArgument():
            return ""
        case Literal() if argument.value is not None:
            return literal(argument, compilation, plain=plain)
        case _:
            return expression(argument, scope, compilation)


def declared(
    made: exp.Expression, node: ScalarFunction | AggregateFunction | WindowFunction, compilation: Compilation
) -> exp.Expression:
    """Return the value of a call, of the type that its function derives, as the type that the plan declares."""
    return cast(made, node.derived_type, node.output_type, compilation)


def cast(
    value: exp.Expression,
    source: Type,
    target: Type,
    compilation: Compilation,
    failure: FailureBehavior = FailureBehavior.UNSPECIFIED,
) -> exp.Expression:
    """Return a value as another type; as it is where the types are the same."""
    if same_type(source, target):
        return value
    dialect = compilation.dialect
    one, other = concrete(source), concrete(target)
    dialect.type_text(one)
    dialect.type_text(other)
    found = dialect.cast(CastOf(value=value, source=one, target=other, failure=failure, dialect=dialect))
    if found is None:
        null = " that gives null where it fails" if failure is FailureBehavior.RETURN_NULL else ""
        message = f"a cast of {source} to {target}{null} has no exact form in {dialect.engine}"
        raise UnsupportedPlanError(message, code=Code.TARGET_EXPRESSION)
    return found


# choices -------------------------------------------------------------------------------------------------------------


def _branch(node: Expression, type: Type, scope: Scope, compilation: Compilation) -> exp.Expression:
    return cast(expression(node, scope, compilation), node.type, type, compilation)


def _if_then(node: IfThen, scope: Scope, compilation: Compilation) -> exp.Expression:
    arms = []
    for position, clause in enumerate(node.ifs):
        with at("ifs", position):
            with at("if"):
                if not isinstance(concrete(clause.if_.type), Boolean):
                    raise InvalidPlanError(f"a condition is a boolean, but this is {clause.if_.type}")
                condition = expression(clause.if_, scope, compilation)
            with at("then"):
                arms.append(exp.If(this=condition, true=_branch(clause.then, node.type, scope, compilation)))
    return _case(arms, node.else_, node.type, scope, compilation)


def _switch(node: SwitchExpression, scope: Scope, compilation: Compilation) -> exp.Expression:
    with at("match"):
        match = expression(node.match, scope, compilation)
    arms = []
    for position, clause in enumerate(node.ifs):
        with at("ifs", position):
            with at("if"):
                condition = equal(
                    repeated(match),
                    _option(clause.if_, node.match.type, scope, compilation),
                    node.match.type,
                    compilation,
                )
            with at("then"):
                arms.append(exp.If(this=condition, true=_branch(clause.then, node.type, scope, compilation)))
    return _case(arms, node.else_, node.type, scope, compilation)


def _case(
    arms: list[exp.If], otherwise: Expression | None, type: Type, scope: Scope, compilation: Compilation
) -> exp.Expression:
    if not arms:
        raise InvalidPlanError("there are no branches", path="ifs")
    made = exp.Case(ifs=arms)
    if otherwise is not None:
        with at("else"):
            made.set("default", _branch(otherwise, type, scope, compilation))
    return made


def _option(node: Expression, type: Type, scope: Scope, compilation: Compilation) -> exp.Expression:
    """Return an option that a value is compared with."""
    if isinstance(node, Literal) and node.value is not None and same_type(node.type, type):
        return literal(node, compilation, plain=True)
    return _branch(node, type, scope, compilation)


def equal(left: exp.Expression, right: exp.Expression, type: Type, compilation: Compilation) -> exp.Expression:
    """Return the equality of two values of a type.

    Raises:
        UnsupportedPlanError: values of the type aren't compared there as here.
    """
    if isinstance(concrete(type), FP32 | FP64):
        template = compilation.dialect.float_equality
        left, right = (compilation.dialect.filled(template, value) for value in (left, right))
    return compilation.dialect.compared(exp.EQ, left, right, type)


def _singular_or_list(node: SingularOrList, scope: Scope, compilation: Compilation) -> exp.Expression:
    with at("value"):
        value = expression(node.value, scope, compilation)
    if not node.options:
        return exp.false()
    options = []
    for position, option in enumerate(node.options):
        with at("options", position):
            options.append(_option(option, node.value.type, scope, compilation))
    type = concrete(node.value.type)
    compares = isinstance(type, FP32 | FP64) and compilation.dialect.compares_floats is not None
    if isinstance(type, FP32 | FP64) and not compares:
        template = compilation.dialect.float_equality
        value, *options = (compilation.dialect.filled(template, item) for item in (value, *options))
    # DataFusion 55 takes x IN (x) for true
    by_equality = compares or (len(options) == 1 and not isinstance(node.options[0], Literal))
    options.sort(key=lambda option: isinstance(option, exp.Subquery))  # it takes IN ((SELECT for IN (SELECT
    if by_equality or isinstance(options[0], exp.Subquery):
        equals = [compilation.dialect.compared(exp.EQ, repeated(value), option, type) for option in options]
        return any_of(*equals) if len(equals) > 1 else equals[0]
    return exp.In(this=operand(value), expressions=options)


def _multi_or_list(node: MultiOrList, scope: Scope, compilation: Compilation) -> exp.Expression:
    with at("value"):
        values = [expression(value, scope, compilation) for value in node.value]
    rows = []
    for position, option in enumerate(node.options):
        with at("options", position):
            if len(option) != len(values):
                raise InvalidPlanError(f"the option has {len(option)} fields, the value {len(values)}")
            rows.append(conjunction(_pairs(values, option, node.value, scope, compilation)))
    return any_of(*rows) if len(rows) > 1 else rows[0] if rows else exp.false()


def _pairs(
    values: Sequence[exp.Expression],
    option: Sequence[Expression],
    nodes: Sequence[Expression],
    scope: Scope,
    compilation: Compilation,
) -> list[exp.Expression]:
    return [
        equal(repeated(value), _option(field, wanted.type, scope, compilation), wanted.type, compilation)
        for value, field, wanted in zip(values, option, nodes, strict=True)
    ]

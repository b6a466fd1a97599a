"""Expressions as text, close to SQL: operators for the standard functions that have one, else ``name(arguments)``.

A subquery is only named in the text (``subquery #1``); the page shows it below the line. Subqueries and detached
expressions are numbered in the order they are met, which ``Marks`` tracks.
"""

from __future__ import annotations

from typing_extensions import assert_never

from pyspark_substrait.message_text import shortened_name
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    AggregationInvocation,
    AggregationPhase,
    Argument,
    Bound,
    BoundsType,
    BrokenExpression,
    Cast,
    CurrentRow,
    DetachedExpression,
    DynamicParameter,
    EnumArgument,
    ExecutionContextVariable,
    Expression,
    FailureBehavior,
    FieldReference,
    Following,
    Function,
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
    Preceding,
    ReferenceSegment,
    RootReference,
    ScalarFunction,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
    SingularOrList,
    SortDirection,
    SortField,
    StructField,
    SwitchExpression,
    TypeArgument,
    Unbounded,
    WindowFunction,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.masks import MaskExpression
from pyspark_substrait.model.relations import WindowRelFunction
from pyspark_substrait.model.types import List, Map, Struct, Type, concrete, name_count
from pyspark_substrait.text.explain.columns import Column, Scope, name_text, parameter_name, quoted, type_text
from pyspark_substrait.text.explain.literals import limited, literal_text
from pyspark_substrait.text.explain.masks import mask_text
from pyspark_substrait.text.explain.page_state import Options, PageState

__all__ = ["aggregate_text", "expression_text", "list_text", "options_text", "sorts_text", "window_text"]

# how tightly an operator binds, loosest first
_LAMBDA, _OR, _AND, _NOT, _COMPARISON, _CONCAT, _SUM, _PRODUCT, _SIGN, _POSTFIX, _ATOM = range(11)

#: operator, how tightly it binds, and how tightly an operand has to: the first, the others
_INFIX = {
    "or": ("OR", _OR, _OR, _OR),
    "and": ("AND", _AND, _AND, _AND),
    "equal": ("=", _COMPARISON, _CONCAT, _CONCAT),
    "not_equal": ("<>", _COMPARISON, _CONCAT, _CONCAT),
    "lt": ("<", _COMPARISON, _CONCAT, _CONCAT),
    "lte": ("<=", _COMPARISON, _CONCAT, _CONCAT),
    "gt": (">", _COMPARISON, _CONCAT, _CONCAT),
    "gte": (">=", _COMPARISON, _CONCAT, _CONCAT),
    "is_not_distinct_from": ("IS NOT DISTINCT FROM", _COMPARISON, _CONCAT, _CONCAT),
    "is_distinct_from": ("IS DISTINCT FROM", _COMPARISON, _CONCAT, _CONCAT),
    "like": ("LIKE", _COMPARISON, _CONCAT, _CONCAT),
    "concat": ("||", _CONCAT, _CONCAT, _SUM),
    "add": ("+", _SUM, _SUM, _PRODUCT),
    "subtract": ("-", _SUM, _SUM, _PRODUCT),
    "multiply": ("*", _PRODUCT, _PRODUCT, _SIGN),
    "divide": ("/", _PRODUCT, _PRODUCT, _SIGN),
    "modulus": ("%", _PRODUCT, _PRODUCT, _SIGN),
}
_VARIADIC = ("or", "and", "concat")
_POSTFIXES = {
    "is_null": "IS NULL",
    "is_not_null": "IS NOT NULL",
    "is_true": "IS TRUE",
    "is_not_true": "IS NOT TRUE",
    "is_false": "IS FALSE",
    "is_not_false": "IS NOT FALSE",
}
_DIRECTIONS = {
    SortDirection.ASC_NULLS_FIRST: "ASC NULLS FIRST",
    SortDirection.ASC_NULLS_LAST: "ASC NULLS LAST",
    SortDirection.DESC_NULLS_FIRST: "DESC NULLS FIRST",
    SortDirection.DESC_NULLS_LAST: "DESC NULLS LAST",
    SortDirection.CLUSTERED: "CLUSTERED",
}


def expression_text(node: Expression, scope: Scope, marks: PageState, binding: int = _LAMBDA, no: str = "") -> str:
    """Return an expression as text, in parentheses if it binds more loosely than ``binding``.

    ``no`` is put before an operator that takes its negation inside, as in ``a NOT IN (1, 2)``.
    """
    level = _ATOM
    match node:
        case Literal():
            text = literal_text(node)
            level = _SIGN if text.startswith("-") else _POSTFIX if text.startswith("NULL::") else _ATOM
        case FieldReference():
            text = _reference(node, scope, marks)
        case ScalarFunction():
            text, level = _scalar(node, scope, marks, no)
        case WindowFunction():
            text = window_text(node, scope, marks)
        case Cast(type=type, input=value, failure_behavior=failure):
            text = f"{expression_text(value, scope, marks, _POSTFIX)}::{type_text(type)}{_FAILURES[failure]}"
            level = _POSTFIX
        case IfThen(ifs=arms, else_=otherwise):
            text = "CASE"
            for arm in arms:
                condition, result = expression_text(arm.if_, scope, marks), expression_text(arm.then, scope, marks)
                text += f" WHEN {condition} THEN {result}"
            text += " END" if otherwise is None else f" ELSE {expression_text(otherwise, scope, marks)} END"
        case SwitchExpression(match=value, ifs=cases, else_=otherwise):
            text = f"CASE {expression_text(value, scope, marks)}"
            for case in cases:
                text += f" WHEN {literal_text(case.if_)} THEN {expression_text(case.then, scope, marks)}"
            text += " END" if otherwise is None else f" ELSE {expression_text(otherwise, scope, marks)} END"
        case SingularOrList(value=value, options=options):
            listed = limited([expression_text(option, scope, marks) for option in options])
            text, level = f"{expression_text(value, scope, marks, _CONCAT)}{no} IN ({listed})", _COMPARISON
        case MultiOrList(value=values, options=rows):
            listed = limited([f"({list_text(row, scope, marks)})" for row in rows])
            text, level = f"({list_text(values, scope, marks)}){no} IN ({listed})", _COMPARISON
        case NestedStruct(fields=fields, nullable=nullable):
            text = f"struct{'?' if nullable else ''}({list_text(fields, scope, marks)})"
        case NestedList(values=values, nullable=nullable):
            text = f"list{'?' if nullable else ''}[{list_text(values, scope, marks)}]"
        case NestedMap(key_values=pairs, nullable=nullable):
            items = [f"{expression_text(k, scope, marks)}: {expression_text(v, scope, marks)}" for k, v in pairs]
            text = f"map{'?' if nullable else ''}{{{limited(items)}}}"
        case ScalarSubquery(input=query):
            text = f"({marks.subquery(node, query, scope)})"
        case InPredicate(needles=needles, haystack=query):
            if len(needles) == 1:
                left = expression_text(needles[0], scope, marks, _CONCAT)
            else:
                left = f"({list_text(needles, scope, marks)})"
            text, level = f"{left}{no} IN ({marks.subquery(node, query, scope)})", _COMPARISON
        case SetPredicate(predicate_op=predicate, tuples=query):
            text = f"{predicate.name} ({marks.subquery(node, query, scope)})"
        case SetComparison(reduction_op=reduction, comparison_op=comparison, left=value, right=query):
            left = expression_text(value, scope, marks, _CONCAT)
            text = f"{left} {comparison.value} {reduction.name} ({marks.subquery(node, query, scope)})"
            level = _COMPARISON
        case DynamicParameter(type=type, parameter_reference=number):
            text = f"parameter({number}: {type_text(type)})"
        case Lambda(parameters=parameters, body=body):
            depth = len(scope.parameters)
            inside = Scope(
                columns=scope.columns,
                labels=scope.labels,
                outer=scope.outer,
                lateral=scope.lateral,
                anchor=scope.anchor,
                parameters=(*scope.parameters, len(parameters.types)),
            )
            listed = ", ".join(
                f"{parameter_name(depth, position)}: {type_text(type)}"
                for position, type in enumerate(parameters.types)
            )
            text, level = f"({listed}) -> {expression_text(body, inside, marks)}", _LAMBDA
        case NamedLambdaReference(lambda_=named):
            text = marks.lambda_name(named)
        case LambdaInvocation(lambda_=function, arguments=arguments):
            text = f"{expression_text(function, scope, marks, _POSTFIX)}({list_text(arguments, scope, marks)})"
        case ExecutionContextVariable(variable=variable):
            text = f"{variable.value}()"
        case DetachedExpression(expression=expression):
            number, shown = marks.detach(expression)
            text = f"detached #{number}"
            if not shown:
                text += f" ({expression_text(expression, scope, marks)})"
        case BrokenExpression(kind=kind, parts=parts):
            text = f"!{kind or 'missing'}({list_text(parts, scope, marks)})"
        case _:
            assert_never(node)
    return f"({text})" if level < binding else text


#: An error is what a cast in SQL raises, and what nearly all plans ask for.
_FAILURES = {
    FailureBehavior.UNSPECIFIED: "[on failure: unspecified]",
    FailureBehavior.RETURN_NULL: "[on failure: NULL]",
    FailureBehavior.THROW_EXCEPTION: "",
}


def list_text(nodes: tuple[Argument, ...], scope: Scope, marks: PageState) -> str:
    """Join expressions or arguments with commas."""
    texts = []
    for node in nodes:
        match node:
            case EnumArgument(value=value):
                texts.append(name_text(value))
            case TypeArgument(type=type):
                texts.append(type_text(type))
            case _:
                texts.append(expression_text(node, scope, marks))
    return ", ".join(texts)


# --- references -------------------------------------------------------------------------------------------------------


def _reference(node: FieldReference, scope: Scope, marks: PageState) -> str:
    """A reference: the columns of the record by label, what is inside them by name or position. ``$`` is the record."""
    prefix, seen, parameters = "", scope, None
    match node.root:
        case RootReference():
            pass
        case OuterReference(steps_out=steps, rel_reference=anchor):
            found = scope.anchored(anchor) if anchor is not None else scope.steps_out(steps or 0)
            prefix = f"outer@{anchor}." if anchor is not None else "outer." * (steps or 1)
            seen = found or Scope(columns=(), labels=())
        case LambdaParameterReference(steps_out=steps):
            parameters = len(scope.parameters) - 1 - steps
        case _:
            return expression_text(node.root, scope, marks, _POSTFIX) + _inside(node.reference, None, ())
    if isinstance(node.reference, MaskExpression):
        record = "$" if parameters is None else f"parameters@{parameters}"
        names = tuple(column.name for column in seen.columns) if parameters is None else ()
        return f"{prefix}{record}.{mask_text(node.reference, names)}"
    match node.reference:
        case (StructField(field=position), *rest) if parameters is not None:
            if parameters < 0:
                return f"outer parameter {position}" + _inside(tuple(rest), None, ())
            return parameter_name(parameters, position) + _inside(tuple(rest), None, ())
        case (StructField(field=position), *rest):
            column = seen.columns[position] if 0 <= position < len(seen.columns) else Column()
            return prefix + seen.label(position) + _inside(tuple(rest), column.type, column.inner)
        case segments:
            whole = "$" if parameters is None else f"parameters@{parameters}"
            return prefix + whole + _inside(segments, None, ())


def _inside(reference: tuple[ReferenceSegment, ...] | MaskExpression, type: Type | None, names: tuple[str, ...]) -> str:
    """The steps of a reference below its root, with the names of struct fields where they are known."""
    if isinstance(reference, MaskExpression):
        return f".{mask_text(reference)}"
    text = ""
    for segment in reference:
        here = None if type is None else concrete(type)
        type = None
        match segment:
            case StructField(field=position):
                name = None
                if isinstance(here, Struct) and 0 <= position < len(here.types):
                    start = sum(1 + name_count(other) for other in here.types[:position])
                    type = here.types[position]
                    name = names[start] if start < len(names) else None
                    names = names[start + 1 : start + 1 + name_count(type)]
                text += f".${position}" if name is None else f".{quoted(name)}"
            case ListElement(offset=offset):
                type = here.type if isinstance(here, List) else None
                text += f"[{offset}]"
            case MapKey(map_key=key):
                if isinstance(here, Map):
                    type, names = here.value, names[name_count(here.key) :]
                text += f"[{literal_text(key)}]"
            case _:
                assert_never(segment)
    return text


# --- functions --------------------------------------------------------------------------------------------------------


def _scalar(node: ScalarFunction, scope: Scope, marks: PageState, no: str = "") -> tuple[str, int]:
    """Return a call, as an operator if the standard function has one, and how tightly it binds."""
    name, arguments = node.function.name, node.arguments
    operands = [argument for argument in arguments if not isinstance(argument, (EnumArgument, TypeArgument))]
    options = marks.options(node.function, node.options)
    if not options and _is_standard(node.function) and len(operands) == len(arguments):
        if name in _INFIX and (len(operands) == 2 or (len(operands) > 2 and name in _VARIADIC)):
            operator, level, first, others = _INFIX[name]
            texts = []
            for position, operand in enumerate(operands):
                binding = first if position == 0 else others
                if name == "or" and _is_and(operand):
                    binding = _NOT  # correct without parentheses, but hard to read
                texts.append(expression_text(operand, scope, marks, binding))
            return f"{no} {operator} ".join(texts), level
        if len(operands) == 1:
            if name == "not":
                if _takes_not(operands[0], marks):
                    return expression_text(operands[0], scope, marks, _COMPARISON, " NOT"), _COMPARISON
                return f"NOT {expression_text(operands[0], scope, marks, _NOT)}", _NOT
            if name == "negate":
                text = expression_text(operands[0], scope, marks, _POSTFIX)
                return f"-{text}", _SIGN
            if name in _POSTFIXES:
                return f"{expression_text(operands[0], scope, marks, _CONCAT)} {_POSTFIXES[name]}", _COMPARISON
        if name == "between" and len(operands) == 3:
            value, low, high = (expression_text(operand, scope, marks, _CONCAT) for operand in operands)
            return f"{value}{no} BETWEEN {low} AND {high}", _COMPARISON
    return _call(node.function, list_text(arguments, scope, marks)) + options_text(options), _ATOM


def _takes_not(node: Expression, marks: PageState) -> bool:
    """Whether ``NOT`` goes inside an expression: ``a NOT LIKE 'b'``."""
    match node:
        case SingularOrList() | MultiOrList() | InPredicate():
            return True
        case ScalarFunction(function=function, arguments=arguments, options=options):
            plain = not options or function.name in marks.common
            return plain and _is_standard(function) and (function.name, len(arguments)) in (("like", 2), ("between", 3))
        case _:
            return False


def _is_and(node: Expression) -> bool:
    return isinstance(node, ScalarFunction) and node.function.name == "and" and _is_standard(node.function)


def _is_standard(function: Function) -> bool:
    return function.urn.startswith("extension:io.substrait:functions_")


def _call(function: Function, arguments: str) -> str:
    if not arguments and function.name == "count" and _is_standard(function):
        arguments = "*"
    name = shortened_name(function.name)
    return f"{name if function.name.isidentifier() else quoted(name)}({arguments})"


def options_text(options: Options, *more: str) -> str:
    """Return the options of a call, and its other properties, in brackets."""
    stated = [f"{name_text(option.name)}: {'|'.join(map(name_text, option.preference))}" for option in options]
    stated.extend(text for text in more if text)
    return f"[{', '.join(stated)}]" if stated else ""


def sorts_text(sorts: tuple[SortField, ...], scope: Scope, marks: PageState) -> str:
    """Join sort fields with commas."""
    if not sorts:
        return "no sort fields"
    texts = []
    for sort in sorts:
        kind = sort.sort_kind
        order = f"USING {name_text(kind.name)}" if isinstance(kind, Function) else _DIRECTIONS[kind]
        texts.append(f"{expression_text(sort.expr, scope, marks)} {order}")
    return ", ".join(texts)


def aggregate_text(node: AggregateFunction, scope: Scope, marks: PageState) -> str:
    """The call of an aggregate function, like ``sum(DISTINCT price)``."""
    return _aggregate(node, node.sorts, scope, marks)


def _aggregate(
    node: AggregateFunction | WindowFunction | WindowRelFunction,
    sorts: tuple[SortField, ...],
    scope: Scope,
    marks: PageState,
) -> str:
    arguments = list_text(node.arguments, scope, marks)
    if node.invocation is AggregationInvocation.DISTINCT:
        arguments = f"DISTINCT {arguments}".rstrip()
    if sorts:
        arguments = f"{arguments} ORDER BY {sorts_text(sorts, scope, marks)}".lstrip()
    partial = node.phase is not AggregationPhase.INITIAL_TO_RESULT
    options = marks.options(node.function, node.options)
    return _call(node.function, arguments) + options_text(options, f"phase: {node.phase.name}" if partial else "")


def window_text(node: WindowFunction | WindowRelFunction, scope: Scope, marks: PageState) -> str:
    """Return the call of a window function. For a window relation, the partitions and sorts are on the relation."""
    window = []
    if isinstance(node, WindowFunction):
        if node.partitions:
            window.append(f"PARTITION BY {list_text(node.partitions, scope, marks)}")
        if node.sorts:
            window.append(f"ORDER BY {sorts_text(node.sorts, scope, marks)}")
    lower, upper = node.lower_bound, node.upper_bound
    if node.bounds_type is not None or not (isinstance(lower, Unbounded) and isinstance(upper, Unbounded)):
        between = f"BETWEEN {_bound(lower, 'PRECEDING', scope, marks)} AND {_bound(upper, 'FOLLOWING', scope, marks)}"
        window.append(f"{_BOUNDS[node.bounds_type]}{between}")
    return f"{_aggregate(node, (), scope, marks)} OVER ({' '.join(window)})"


_BOUNDS = {BoundsType.ROWS: "ROWS ", BoundsType.RANGE: "RANGE ", None: ""}


def _bound(bound: Bound, side: str, scope: Scope, marks: PageState) -> str:
    match bound:
        case Preceding(offset=offset):
            return f"{expression_text(offset, scope, marks, _CONCAT)} PRECEDING"
        case Following(offset=offset):
            return f"{expression_text(offset, scope, marks, _CONCAT)} FOLLOWING"
        case CurrentRow():
            return "CURRENT ROW"
        case Unbounded():
            return f"UNBOUNDED {side}"
        case _:
            assert_never(bound)

"""Checks of a plan against a dialect: everything in the plan that the dialect doesn't list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, get_args

from pyspark_substrait.analysis.validation.dialects import Dialect, Entry, FunctionEntry
from pyspark_substrait.codes import Code
from pyspark_substrait.model import types as t
from pyspark_substrait.model.dialect_terms import Term, expression_term, relation_terms, type_term
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    Cast,
    DynamicParameter,
    ExecutionContextVariable,
    Expression,
    Function,
    FunctionOption,
    LambdaInvocation,
    NamedLambdaReference,
    NestedList,
    NestedMap,
    NestedStruct,
    ScalarFunction,
    SortField,
    WindowFunction,
)
from pyspark_substrait.model.findings import Finding, Places
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.plan import ExtendedExpression, Plan
from pyspark_substrait.model.relations import Ddl, KeyedJoin, Read, Relation, Update, WindowRelFunction, Write
from pyspark_substrait.model.types import NamedStruct, Type

__all__ = ["findings"]

_RELATIONS: tuple[Any, ...] = get_args(Relation)
_EXPRESSIONS: tuple[Any, ...] = get_args(Expression)


def findings(document: Plan | ExtendedExpression, places: Places, dialect: Dialect) -> Iterator[Finding]:
    """Return a finding for each relation, expression, function, option and type that the dialect doesn't list.

    Types are checked where they come into a plan: in schemas, literals, casts and the results of calls.
    """
    if isinstance(document, Plan):
        yield from _evaluation(document, places, dialect)
    else:
        yield from _schema(document.base_schema, (None, "base_schema"), dialect)
    for node, path in places:
        if isinstance(node, _RELATIONS):
            yield from _relation(node, path, dialect)
        elif isinstance(node, _EXPRESSIONS):
            yield from _expression(node, path, dialect)
        elif isinstance(node, AggregateFunction):
            yield from _call("aggregate", node.function, node.options, len(node.arguments), path, dialect)
            yield from _type(node.output_type, path, dialect)
        elif isinstance(node, WindowRelFunction):
            yield from _call("window", node.function, node.options, len(node.arguments), path, dialect)
            yield from _type(node.output_type, path, dialect)
        elif isinstance(node, SortField) and isinstance(node.sort_kind, Function):
            place = (path, "comparison_function_reference")
            yield from _call("scalar", node.sort_kind, (), 2, place, dialect)


def _evaluation(plan: Plan, places: Places, dialect: Dialect) -> Iterator[Finding]:
    mode = plan.execution_behavior.name
    if dialect.evaluation_modes is None or mode in dialect.evaluation_modes:
        return
    if any(isinstance(node, ExecutionContextVariable) for node, _ in places):
        what = f"{dialect.name} does not evaluate context variables {mode}"
        yield Finding.of(Code.TARGET_FEATURE, "execution_behavior", what, fix=_has(dialect.evaluation_modes))


# relations and expressions --------------------------------------------------------------------------------------------


def _relation(node: Relation, path: Path, dialect: Dialect) -> Iterator[Finding]:
    for term in relation_terms(node):
        if not dialect.allows(dialect.relations, term):
            yield _missing(Code.TARGET_RELATION, "relation", term, dialect.relations or {}, path, dialect)
    match node:
        case Read(base_schema=schema):
            yield from _schema(schema, (path, "base_schema"), dialect)
        case Write(table_schema=schema) | Update(table_schema=schema):
            yield from _schema(schema, (path, "table_schema"), dialect)
        case Ddl(table_schema=NamedStruct() as schema):
            yield from _schema(schema, (path, "table_schema"), dialect)
        case KeyedJoin(keys=keys):
            for position, key in enumerate(keys):
                if isinstance(key.comparison, Function):
                    place = ((((path, "keys"), position), "comparison"), "custom_function_reference")
                    yield from _call("scalar", key.comparison, (), 2, place, dialect)
        case _:
            return


def _expression(node: Expression, path: Path, dialect: Dialect) -> Iterator[Finding]:
    for term in _terms(node):
        if not dialect.allows(dialect.expressions, term):
            yield _missing(Code.TARGET_EXPRESSION, "expression", term, dialect.expressions or {}, path, dialect)
    match node:
        case ScalarFunction():
            place = (path, "scalar_function")
            yield from _call("scalar", node.function, node.options, len(node.arguments), place, dialect)
            yield from _type(node.output_type, (place, "output_type"), dialect)
        case WindowFunction():
            place = (path, "window_function")
            yield from _call("window", node.function, node.options, len(node.arguments), place, dialect)
            yield from _type(node.output_type, (place, "output_type"), dialect)
        case Cast(type=type):
            yield from _type(type, ((path, "cast"), "type"), dialect)
        case Literal() | DynamicParameter() | NestedStruct() | NestedList() | NestedMap() | ExecutionContextVariable():
            yield from _type(node.type, path, dialect)
        case _:
            return


def _terms(node: Expression) -> Iterator[Term]:
    term = expression_term(node)
    if term is not None:
        yield term
    if isinstance(node, LambdaInvocation) and isinstance(node.lambda_, NamedLambdaReference):
        yield Term("NAMED_LAMBDA_REFERENCE")


def _missing(code: Code, what: str, term: Term, entries: object, path: Path, dialect: Dialect) -> Finding:
    known: Sequence[Entry] = entries.get(term.name, ()) if isinstance(entries, dict) else ()
    if not known:
        return Finding.of(code, path, f"{dialect.name} does not have the {what} {term.name}")
    listed = [value for entry in known for value in entry.lists.get(term.field, ())]
    value = term.value or "one of no kind"
    return Finding.of(code, path, f"{dialect.name} does not have the {what} {term.name} as {value}", fix=_has(listed))


def _has(values: Iterable[str]) -> str:
    listed = ", ".join(sorted(values))
    return f"It has {listed}" if listed else ""


# functions ------------------------------------------------------------------------------------------------------------


def _call(
    kind: str, function: Function, options: Sequence[FunctionOption], count: int, path: Path, dialect: Dialect
) -> Iterator[Finding]:
    # an aggregate function may be called as a window function as well
    kinds = ("window", "aggregate") if kind == "window" else (kind,)
    sections = [dialect.functions[item] for item in kinds if item in dialect.functions]
    if not sections:
        return
    entries = [entry for section in sections for entry in section.get((function.urn, function.name), ())]
    if not entries:
        what = f"{dialect.name} does not have the {kind} function {function.name} of {function.urn}"
        yield Finding.of(Code.TARGET_FUNCTION, path, what)
        return
    fitting = [entry for entry in entries if function.signature in entry.implementations]
    if not fitting:
        signatures = {f"{function.name}:{item}" for entry in entries for item in entry.implementations}
        yield Finding.of(
            Code.TARGET_FUNCTION, path, f"{dialect.name} does not have {function.key}", fix=_has(signatures)
        )
        return
    counted = [entry for entry in fitting if _counts(entry, count)]
    if not counted:
        what = f"{dialect.name} does not take {count} arguments of {function.key}"
        yield Finding.of(Code.TARGET_FUNCTION, path, what, fix=_has(map(_range, fitting)))
    elif not any(_states(entry, options) for entry in counted):
        stated = ", ".join(f"{option.name}={'|'.join(option.preference)}" for option in options) or "no option"
        what = f"{dialect.name} does not have {function.key} with {stated}"
        yield Finding.of(Code.TARGET_OPTION, path, what, fix=_has(sorted({_shown(entry) for entry in counted})[:8]))


def _counts(entry: FunctionEntry, count: int) -> bool:
    return (entry.minimum or 0) <= count and (entry.maximum is None or count <= entry.maximum)


def _range(entry: FunctionEntry) -> str:
    return f"{entry.minimum or 0} to {'any number' if entry.maximum is None else entry.maximum}"


def _states(entry: FunctionEntry, options: Sequence[FunctionOption]) -> bool:
    """Whether a call states exactly the options of an entry, each with a value that the entry lists."""
    if {option.name for option in options} != set(entry.options):
        return False
    return all(set(option.preference) & set(entry.options[option.name]) for option in options)


def _shown(entry: FunctionEntry) -> str:
    return " and ".join(f"{name}={'|'.join(values)}" for name, values in entry.options.items()) or "it without options"


# types ----------------------------------------------------------------------------------------------------------------


def _schema(schema: NamedStruct, path: Path, dialect: Dialect) -> Iterator[Finding]:
    place: Path = ((path, "struct"), "types")
    names = schema.top_level_names() if schema.struct.types else ()
    for position, type in enumerate(schema.struct.types):
        name = names[position] if position < len(names) else ""
        yield from _type(type, (place, position), dialect, column=name)


def _type(type: Type, path: Path, dialect: Dialect, column: str | None = None) -> Iterator[Finding]:
    if dialect.types is None and not dialect.own_types:
        return
    concrete = t.concrete(type)
    bare = column is not None and isinstance(concrete, t.Func | t.Unbound)
    for part in (concrete,) if bare else _inside(type):
        of_column = "" if column is None else f", the type of the column {column}"
        fault = _fault(part, dialect, as_column=column is not None)
        if fault is not None:
            yield Finding.of(Code.TARGET_TYPE, path, f"{dialect.name} does not have {fault}{of_column}")


def _inside(type: Type) -> Iterator[Type]:
    type = t.concrete(type)
    match type:
        case t.Func() | t.Unbound() | t.OpenStruct():
            # an expression that takes a function is checked itself; the type of an unbound one isn't known
            return
        case t.Struct(types=types):
            yield type
            for item in types:
                yield from _inside(item)
        case t.List(type=element):
            yield type
            yield from _inside(element)
        case t.Map(key=key, value=value):
            yield type
            yield from _inside(key)
            yield from _inside(value)
        case _:
            yield type


def _fault(type: Type, dialect: Dialect, *, as_column: bool) -> str | None:
    """Return the part of a type that a dialect lacks, as text; None if the dialect has the type."""
    if isinstance(type, t.UserDefined):
        entry = dialect.own_types.get((type.urn, type.name))
        if entry is None:
            return f"the type {type.name} of {type.urn}"
        return f"columns of type {type.name}" if as_column and not entry.as_column else None
    if dialect.types is None:
        return None
    entries = dialect.types.get(type_term(type))
    shown = t.with_nullability(type, False)
    if not entries:
        return f"the type {shown}"
    excesses = [_excess(type, entry) for entry in entries]
    if all(excesses):
        return f"{shown}: {excesses[0]}"
    return f"columns of type {shown}" if as_column and not any(entry.as_column for entry in entries) else None


_LIMITS = (("max_length", "length"), ("max_precision", "precision"), ("max_scale", "scale"))


def _excess(type: Type, entry: Entry) -> str | None:
    for limit, attribute in _LIMITS:
        given, most = getattr(type, attribute, None), entry.numbers.get(limit)
        if most is not None and isinstance(given, int) and given > most:
            return f"its {attribute} is at most {most} there"
    return None

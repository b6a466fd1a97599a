"""Columns, the labels by which a text names them, and the scopes in which expressions see them.

The label is the column's name where that is unique. Columns with the same name are labelled by their table
(``orders.product_id``) where that helps, or by their side of a join (``left.product_id``), and by their position
otherwise (``product_id$3``); a column without a name is labelled by its position (``$3``, counted from 0).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from pyspark_substrait.message_text import escaped, shortened_name
from pyspark_substrait.model.types import (
    Func,
    List,
    Map,
    OpenStruct,
    Struct,
    Type,
    TypeParameter,
    UserDefined,
    concrete,
)

__all__ = [
    "Column",
    "Scope",
    "dotted",
    "escaped",
    "labels",
    "name_text",
    "parameter_name",
    "quoted",
    "type_text",
    "whole_quoted",
]

#: Words that mean something in the text; lambda parameters are written p0, q0, …
_TAKEN = re.compile(
    r"(?i:all|and|any|between|case|else|end|exists|false|in|is|like|not|null|or|outer|subquery|then|true|unique|when)"
    r"|[p-w]\d+"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a relation.

    Args:
        name: its name; None if it has none.
        type: its type; None if it could not be derived.
        inner: the names of the fields nested in it, depth first, as far as they are known.
        table: the table it comes from unchanged, or the alias of the relation; empty otherwise.
    """

    name: str | None = None
    type: Type | None = None
    inner: tuple[str, ...] = ()
    table: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The columns, outer scopes and lambda parameters that an expression can refer to.

    Args:
        columns: the columns of the record that it is evaluated on.
        labels: a label for each column.
        outer: the scope of the relation around the query; None at the top.
        lateral: whether that relation is a lateral join, which is no subquery boundary.
        anchor: the ``rel_anchor`` of the relation that the expression belongs to.
        parameters: the number of parameters of the enclosing lambdas, the innermost last.
    """

    columns: tuple[Column, ...]
    labels: tuple[str, ...]
    outer: Scope | None = None
    lateral: bool = False
    anchor: int | None = None
    parameters: tuple[int, ...] = ()

    def label(self, position: int) -> str:
        """Return the label of the column at a position, whether or not it exists."""
        return self.labels[position] if 0 <= position < len(self.labels) else f"${position}"

    def steps_out(self, steps: int) -> Scope | None:
        """Return the scope that many subquery boundaries up; None if there are fewer."""
        scope: Scope | None = self
        while scope is not None and steps > 0:
            scope = scope.outer
            if scope is not None and not scope.lateral:
                steps -= 1
        return scope

    def anchored(self, anchor: int) -> Scope | None:
        """Return the enclosing scope of the relation with that anchor; None if there is none."""
        scope = self.outer
        while scope is not None and scope.anchor != anchor:
            scope = scope.outer
        return scope


def labels(columns: tuple[Column, ...], left: int | None = None) -> tuple[str, ...]:
    """Return a label for each column; all are different.

    ``left`` is the number of left columns if these are the columns of a join: a name that occurs once on each side is
    labelled by its side, where the table doesn't help.
    """
    names = Counter(column.name for column in columns)
    full_names = Counter((column.table, column.name) for column in columns)
    sides = Counter((position < (left or 0), column.name) for position, column in enumerate(columns))

    def label(position: int, column: Column) -> str:
        if column.name is None:
            return f"${position}"
        if names[column.name] == 1:
            return quoted(column.name)
        if column.table and full_names[column.table, column.name] == 1 and column.table not in names:
            return f"{quoted(column.table)}.{quoted(column.name)}"
        side = position < (left or 0)
        if left is not None and sides[side, column.name] == 1 and not {"left", "right"} & names.keys():
            return f"{'left' if side else 'right'}.{quoted(column.name)}"
        return f"{quoted(column.name)}${position}"

    return tuple(label(position, column) for position, column in enumerate(columns))


def parameter_name(depth: int, position: int) -> str:
    """The name of a parameter of the lambda that is ``depth`` lambdas deep: p0, p1; then q0, q1; …"""
    return f"{'pqrstuvw'[depth]}{position}" if depth < 8 else f"p{depth}${position}"


def name_text(name: str) -> str:
    """Return a name for display: invisible characters are escaped, and a long name is shortened in the middle."""
    return escaped(shortened_name(name))


def quoted(name: str) -> str:
    """Return a name, in double quotes where it is ambiguous; a long one is shortened in the middle."""
    return whole_quoted(shortened_name(name))


def whole_quoted(name: str) -> str:
    """Return a name as :func:`quoted`, but never shortened."""
    if name.isidentifier() and not _TAKEN.fullmatch(name):
        return name
    return _in_double_quotes(name)


def _in_double_quotes(text: str) -> str:
    return '"' + escaped(text.replace("\\", r"\\").replace('"', r"\"")) + '"'


def dotted(names: tuple[str, ...], *, whole: bool = False) -> str:
    """Return the name of a table, like ``db.orders``; ``whole``: never shortened."""
    return ".".join(map(whole_quoted if whole else quoted, names)) or '""'


def type_text(type: Type, inner: tuple[str, ...] = ()) -> str:
    """Return a type in the specification's syntax, with the names of struct fields as far as they are known."""
    return _type(type, iter(inner))


def _type(type: Type, names: Iterator[str]) -> str:
    here = concrete(type)
    mark = ("?" if here.nullable else "") + (f"[{name_text(here.variation.name)}]" if here.variation else "")
    match here:
        case OpenStruct():
            return str(here)
        case Struct(types=types):
            fields = []
            for child in types:
                name = next(names, None)
                fields.append(("" if name is None else f"{quoted(name)}: ") + _type(child, names))
            return f"struct{mark}<{', '.join(fields)}>"
        case List(type=child):
            return f"list{mark}<{_type(child, names)}>"
        case Map(key=key, value=value):
            return f"map{mark}<{_type(key, names)}, {_type(value, names)}>"
        case Func(parameter_types=types, return_type=result):
            listed = ", ".join(type_text(parameter) for parameter in types)
            return f"func{mark}<{listed if len(types) == 1 else f'({listed})'} -> {type_text(result)}>"
        case UserDefined(name=name, type_parameters=parameters):
            listed = ", ".join(_type_parameter(parameter) for parameter in parameters)
            return f"u!{name_text(name)}{mark}" + (f"<{listed}>" if parameters else "")
        case _:
            return str(here)


def _type_parameter(parameter: TypeParameter) -> str:
    match parameter.value:
        case None:
            return "null"
        case bool(value):
            return "true" if value else "false"
        case int(value):
            return str(value)
        case str(value):
            return _in_double_quotes(shortened_name(value)) if parameter.kind == "string" else name_text(value)
        case _:
            return type_text(parameter.value)

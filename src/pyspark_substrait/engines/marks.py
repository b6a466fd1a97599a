"""Marks of joins that may be null, for an engine whose marks are false there.

A second mark says where the condition is null. It isn't needed where nothing tells null from false: in a condition of a
filter above, say.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pyspark_substrait.engines.constructors import field, is_null
from pyspark_substrait.model.expressions import (
    Argument,
    EnumArgument,
    Expression,
    FieldReference,
    Function,
    IfClause,
    IfThen,
    RootReference,
    ScalarFunction,
    StructField,
    TypeArgument,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Filter, Join, JoinType, Project, Reference, Relation
from pyspark_substrait.model.types import Boolean
from pyspark_substrait.model.walk import expression_children, root_fields
from pyspark_substrait.sql.decorrelation.outer import redirected

__all__ = ["plain_marks", "with_exact_mark", "with_left_mark"]


def with_exact_mark(node: Join) -> tuple[Relation, Join]:
    """Return a left mark join whose condition may be null as two, of which the second marks where it is null.

    Returns:
        the relation in place of the join, and the first join in it.
    """
    first = Join(left=node.left, right=node.right, type=JoinType.LEFT_MARK, expression=node.expression)
    kept = len(node.left.schema.types)
    condition = redirected(
        node.expression, lambda level, position: (level, position + (not level and position >= kept))
    )
    second = Join(left=first, right=node.right, type=JoinType.LEFT_MARK, expression=is_null(condition))
    mark, unknown = field(second, kept), field(second, kept + 1)
    true, false = (Literal(type=Boolean(), value=value) for value in (True, False))
    null = Literal(type=Boolean(nullable=True), value=None)
    exact = IfThen(ifs=(IfClause(mark, true), IfClause(unknown, null)), else_=false)
    columns: list[Expression] = [*(field(second, position) for position in range(kept)), exact]
    emit = range(kept + 1) if node.common.emit is None else node.common.emit
    return Project.only(second, [columns[position] for position in emit]), first


def with_left_mark(node: Join) -> Join:
    """Return a right mark join as a left one: the inputs change places. Any other join as it is."""
    if node.type is not JoinType.RIGHT_MARK:
        return node
    width, more = len(node.left.schema.types), len(node.right.schema.types)

    def place(level: int, position: int) -> tuple[int, int]:
        return level, position if level else (position + more if position < width else position - width)

    condition = redirected(node.expression, place)
    return replace(node, left=node.right, right=node.left, type=JoinType.LEFT_MARK, expression=condition)


def plain_marks(node: Relation) -> Iterator[Join]:
    """Yield the mark joins below a filter or a projection whose nulls nothing tells from false."""
    width = len(node.direct_schema.types)
    emitted = set(range(width) if node.common.emit is None else node.common.emit)
    if isinstance(node, Filter):
        yield from _plain(node, emitted)
    elif isinstance(node, Project):
        first = len(node.input.schema.types)
        computed = [expression for place, expression in enumerate(node.expressions) if first + place in emitted]
        telling = {position for position in emitted if position < first}
        for position in range(first):
            if not all(_hides(expression, position) for expression in computed):
                telling.add(position)
        yield from _below(node.input, telling)


def _below(node: Relation, telling: set[int]) -> Iterator[Join]:
    """Yield the same for a relation of whose columns some tell null from false."""
    emit = None if isinstance(node, Reference) else node.common.emit
    yield from _plain(node, telling if emit is None else {emit[position] for position in telling})


def _plain(node: Relation, telling: set[int]) -> Iterator[Join]:
    match node:
        case Filter():
            hidden = [position for position in range(len(node.input.schema.types)) if position not in telling]
            more = {position for position in hidden if not _is_plain(node.condition, position)}
            yield from _below(node.input, telling | more)
        case Join(type=JoinType.LEFT_MARK):
            mark = len(node.left.schema.types)
            if mark not in telling:
                yield node
            used = root_fields(node.expression)
            yield from _below(node.left, set(range(mark)) if used is None else (telling | used) & set(range(mark)))
        case _:
            return


def _is_plain(condition: Expression, position: int) -> bool:
    """Whether a condition, of which null is false, is the same for null and false in a column."""
    match condition:
        case FieldReference(root=RootReference(), reference=(StructField(),)):
            return True
        case ScalarFunction(function=Function(name="and" | "or"), arguments=arguments):
            return all(_is_plain(item, position) for item in _values(arguments))
        case _:
            return _hides(condition, position)


def _hides(value: Expression, position: int) -> bool:
    """Whether a value is the same for null and false in a column."""
    fields = root_fields(value)
    if fields is not None and position not in fields:
        return True
    match value:
        case ScalarFunction(function=Function(name="is_true"), arguments=(condition,)):
            return _is_plain(condition, position) if not isinstance(condition, EnumArgument | TypeArgument) else False
        case ScalarFunction(function=Function(name="coalesce"), arguments=(condition, Literal(value=False))):
            return _is_plain(condition, position) if not isinstance(condition, EnumArgument | TypeArgument) else False
        case IfThen(ifs=ifs):
            conditions = all(_is_plain(item.if_, position) for item in ifs)
            others = [child for child in expression_children(value) if not any(child is item.if_ for item in ifs)]
            return conditions and all(_hides(child, position) for child in others)
        case FieldReference():
            return False
        case _:
            return fields is not None and all(_hides(child, position) for child in expression_children(value))


def _values(arguments: tuple[Argument, ...]) -> list[Expression]:
    return [item for item in arguments if not isinstance(item, EnumArgument | TypeArgument)]

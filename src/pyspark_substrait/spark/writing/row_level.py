"""Row-level changes: conditions and new values that depend only on the record itself.

An input that only filters and computes over the table itself is such a change: ``DELETE … WHERE`` and ``UPDATE … SET …
WHERE``. So is every ``UpdateRel``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.expressions import (
    Expression,
    FieldReference,
    IfClause,
    IfThen,
    RootReference,
    ScalarFunction,
    StructField,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import (
    DetachedRel,
    Filter,
    NamedTable,
    Project,
    Read,
    Reference,
    Relation,
    RelCommon,
    Sort,
)
from pyspark_substrait.model.types import Boolean, NamedStruct, Struct, same_type
from pyspark_substrait.model.walk import expression_children, holds_query, holds_window, root_fields, with_children

__all__ = ["RowChange", "column", "row_change"]


@dataclass(frozen=True, kw_only=True)
class RowChange:
    """A row-level change.

    Args:
        schema: the table's columns as the plan has them; the expressions refer to a record of these.
        conditions: a record is changed if all of them are true.
        values: the new values of columns, by position; others are unchanged.
        anchor: the anchor by which subqueries in the expressions refer to the record.
    """

    schema: NamedStruct
    conditions: tuple[Expression, ...]
    values: dict[int, Expression] = field(default_factory=dict)
    anchor: int | None = None

    def flagged(self, names: tuple[str, ...]) -> Relation:
        """Return the records of the table, changed ones with their new values, and a last column with the flag whether
        the record is changed."""
        read = Read(base_schema=self.schema, read_type=NamedTable(names=names))
        width = len(self.schema.struct.types)
        common = RelCommon(rel_anchor=self.anchor)
        known = Project(input=read, expressions=(self._flag(),), common=common)
        if not self.values:
            return known
        flag = column(known.schema, width)
        expressions = tuple(
            IfThen(ifs=(IfClause(flag, value),), else_=column(known.schema, position))
            for position, value in self.values.items()
        )
        changed = list(self.values)
        emit = [width + 1 + changed.index(place) if place in self.values else place for place in range(width)]
        return Project(
            input=known, expressions=expressions, common=RelCommon(emit=(*emit, width), rel_anchor=self.anchor)
        )

    def _flag(self) -> Expression:
        flag: Expression = Literal(type=Boolean(), value=True)
        for condition in reversed(self.conditions):
            flag = IfThen(ifs=(IfClause(condition, flag),), else_=Literal(type=Boolean(), value=False))
        return flag


def column(schema: Struct, position: int) -> FieldReference:
    """Return a reference to a column of the record."""
    return FieldReference(root=RootReference(), reference=(StructField(position),), type=schema.types[position])


def row_change(
    input: Relation,
    schema: NamedStruct,
    is_table: Callable[[tuple[str, ...]], bool],
    registry: Registry,
    fold: Callable[[str], str],
) -> RowChange | None:
    """Return the change of an input that is only the table, filtered and computed; None for any other input.

    Args:
        input: the relation with the table's columns, with their new values.
        schema: the table's columns.
        is_table: whether a name is that of the table.
        registry: the extensions.
        fold: converts names that are regarded as equal to the same text.
    """
    following = _Following(schema, is_table, registry, fold)
    found = following.columns(input)
    if found is None or len(found) != len(schema.struct.types) or len(following.anchors) > 1:
        return None
    values = {position: value for position, value in enumerate(found) if value != column(schema.struct, position)}
    anchor = next(iter(following.anchors), None)
    return RowChange(schema=schema, conditions=tuple(following.conditions), values=values, anchor=anchor)


class _Following:
    """Traces an input down to the table."""

    def __init__(
        self,
        schema: NamedStruct,
        is_table: Callable[[tuple[str, ...]], bool],
        registry: Registry,
        fold: Callable[[str], str],
    ) -> None:
        self._schema = schema
        self._is_table = is_table
        self._registry = registry
        self._fold = fold
        self.conditions: list[Expression] = []
        #: the anchors of the relations whose expressions have subqueries
        self.anchors: set[int | None] = set()

    def columns(self, node: Relation) -> list[Expression] | None:
        """Return the columns of a relation as expressions over the table's columns; None if that isn't possible."""
        match node:
            case Reference(subtree=inner) | DetachedRel(relation=inner):
                return self.columns(inner)
            case Read():
                found = self._read(node)
            case Sort():
                found = self.columns(node.input)
            case Filter():
                found = self.columns(node.input)
                if found is not None:
                    condition = self._over(node.condition, found, node)
                    found = None if condition is None else found
                    self.conditions.extend([] if condition is None else [condition])
            case Project():
                found = self.columns(node.input)
                for expression in node.expressions if found is not None else ():
                    value = self._over(expression, found[: len(node.input.schema.types)], node) if found else None
                    if value is None or found is None:
                        return None
                    found.append(value)
            case _:
                return None
        if found is None or node.common.emit is None:
            return found
        return [found[position] for position in node.common.emit]

    def _read(self, node: Read) -> list[Expression] | None:
        if not isinstance(node.read_type, NamedTable) or not self._is_table(node.read_type.names):
            return None
        own = [self._fold(name) for name in self._schema.top_level_names()]
        found: list[Expression] = []
        for name, type in zip(node.base_schema.top_level_names(), node.base_schema.struct.types, strict=True):
            position = own.index(self._fold(name)) if self._fold(name) in own else -1
            if position < 0 or not same_type(type, self._schema.struct.types[position]):
                return None
            found.append(column(self._schema.struct, position))
        for condition in (node.filter, node.best_effort_filter):
            if condition is not None:
                over = self._over(condition, found, node)
                if over is None:
                    return None
                self.conditions.append(over)
        if node.projection is None:
            return found
        items = node.projection.select.struct_items
        return None if any(item.child is not None for item in items) else [found[item.field] for item in items]

    def _over(self, expression: Expression, columns: Sequence[Expression], node: Relation) -> Expression | None:
        """Convert an expression over a relation's columns to the table's columns; None if that isn't possible."""
        if holds_window(expression):
            return None
        own = [column(self._schema.struct, position) for position in range(len(self._schema.struct.types))]
        if holds_query(expression):
            # a subquery may refer to any column
            self.anchors.add(node.common.rel_anchor)
            return expression if list(columns) == own else None
        fields = root_fields(expression)
        if fields is None:
            return None
        if all(field < len(own) and columns[field] == own[field] for field in fields):
            return expression
        return None if any(self._varies(columns[field]) for field in fields) else _replaced(expression, columns)

    def _varies(self, expression: Expression) -> bool:
        """Whether an expression isn't deterministic."""
        if isinstance(expression, ScalarFunction):
            definition = self._registry.function(expression.function.urn, expression.function.key)
            if definition is None or not definition.deterministic:
                return True
        return any(map(self._varies, expression_children(expression)))


def _replaced(expression: Expression, columns: Sequence[Expression]) -> Expression:
    """Replace the record's columns in an expression by other expressions."""
    match expression:
        case FieldReference(root=RootReference(), reference=(StructField(field=position), *rest), type=type):
            value = columns[position]
            if not rest:
                return value
            if isinstance(value, FieldReference) and isinstance(value.reference, tuple):
                return FieldReference(root=value.root, reference=(*value.reference, *rest), type=type)
            return FieldReference(root=value, reference=tuple(rest), type=type)
        case _:
            return with_children(expression, lambda inner: _replaced(inner, columns))

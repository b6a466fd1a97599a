"""Columns computed below a SELECT, for expressions that Spark takes only in a SELECT list.

A scope may have a :class:`Below`. An expression that isn't allowed in place becomes a column there, and its name takes
its place. The creator of the scope then adds the columns below the query::

    below = Below()
    texts = expressions.conditions(condition, Scope(record, outer, below=below), compilation)
    query = below.filtered(query, texts, compilation)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pyspark_substrait.sql.compiler.query import Item, Query, plain
from pyspark_substrait.sql.fragment import Name

if TYPE_CHECKING:
    from pyspark_substrait.sql.compiler.scope import Compilation

__all__ = ["Below", "Fold"]


@dataclass(slots=True, kw_only=True)
class Fold:
    """Aggregates over the elements of a list column, for each record. The list itself isn't needed any more.

    Args:
        items: the name of the list's column.
        position: the name for the position of an element; null for the one record that an empty list has.
        element: the name for an element.
        results: the aggregates over these names.
    """

    items: Name
    position: Name
    element: Name
    results: list[Item] = field(default_factory=list)


@dataclass(slots=True)
class Below:
    """The columns to compute below a SELECT, level by level: a level may use the columns of the levels before it.

    Args:
        inline: whether the expressions are in the SELECT list itself, where OVER is allowed.
        levels: the columns and folds of each level; the folds come after the columns.
    """

    inline: bool = False
    levels: list[list[Item | Fold]] = field(default_factory=list)

    @property
    def height(self) -> int:
        """The number of levels, which is also the first level that may use all columns."""
        return len(self.levels)

    def column(self, text: str, compilation: Compilation, level: int | None = None) -> Name:
        """Return the name of a column with this text, on one of the levels or, by default, on a new one."""
        level = self.height if level is None else level
        for item in self._level(level):
            if isinstance(item, Item) and item.text == text:
                return item.name
        name = compilation.column()
        self._level(level).append(Item(text, name))
        return name

    def fold(self, items: str, compilation: Compilation, level: int) -> Fold:
        """Return the fold of a list with this text, on a level; aggregates of the list are added to its results."""
        name = self.column(items, compilation, level)
        for item in self._level(level):
            if isinstance(item, Fold) and item.items == name:
                return item
        made = Fold(items=name, position=compilation.column(), element=compilation.column())
        self._level(level).append(made)
        return made

    def apart(self) -> Below:
        """Return the same levels, for a place inside an expression where OVER isn't allowed."""
        return Below(levels=self.levels)

    def take(self, other: Below) -> None:
        """Take the levels of another object for the same query."""
        for level, items in enumerate(other.levels):
            self._level(level).extend(items)

    def _level(self, level: int) -> list[Item | Fold]:
        while len(self.levels) <= level:
            self.levels.append([])
        return self.levels[level]

    def under(self, query: Query, compilation: Compilation) -> Query:
        """Return the query with the columns added after its own; unchanged if there are none.

        Args:
            query: a flat query.
            compilation: the statement being compiled.
        """
        for level in self.levels:
            items = [item for item in level if isinstance(item, Item)]
            if items:
                query = replace(query, items=(*query.items, *items)).nested()
            for fold in _folds(level):
                query = _folded(query, fold, compilation)
        return query

    def filtered(self, query: Query, conditions: Sequence[str], compilation: Compilation) -> Query:
        """Return the records of a query that fulfil conditions over the columns, which are dropped afterwards."""
        if not self.levels:
            return query.filtered(conditions)
        return replace(self.under(query, compilation).filtered(conditions), items=query.items)


def _folds(level: list[Item | Fold]) -> Iterator[Fold]:
    return (item for item in level if isinstance(item, Fold))


def _folded(query: Query, fold: Fold, compilation: Compilation) -> Query:
    """Repeat each record for each element of its list, and aggregate these to the record again."""
    number = compilation.column()
    numbered = replace(query, items=(*query.items, Item("monotonically_increasing_id()", number))).nested()
    source = f"{numbered.source} LATERAL VIEW OUTER posexplode({fold.items}) AS {fold.position}, {fold.element}"
    kept = tuple(Item(f"any_value({column})", column) for column in query.columns if column != fold.items)
    grouped = replace(numbered, source=source, items=(*kept, *fold.results), tail=f"GROUP BY {number}").nested()
    return replace(grouped, items=plain(item.name for item in (*kept, *fold.results)))

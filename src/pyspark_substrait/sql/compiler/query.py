"""A SELECT that is being built.

Operations are added to a query as long as they fit into the same SELECT; only an operation that doesn't fit opens a new
level, because Spark takes time to analyse every level of nesting. All column names in a statement are different, so
nothing here needs a qualifier, and a source may have more columns than are used.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pyspark_substrait.sql.fragment import Name

__all__ = ["FRAME_MARK", "Item", "Query", "frame", "plain"]

#: Encloses the name of a bound DataFrame in a statement's text. No text of a plan contains it.
FRAME_MARK = "\x00"

#: Requests no more partitions than any relation has: nothing is moved, but Spark keeps the operator in its place.
_FENCE = "/*+ COALESCE(1000000) */"

#: Requests one partition.
_GATHER = "/*+ REPARTITION(1) */"


def frame(name: str) -> str:
    """Return the text for a bound DataFrame after FROM."""
    return f"{FRAME_MARK}{name}{FRAME_MARK}"


@dataclass(frozen=True, slots=True)
class Item:
    """One column: its expression over the source's columns, and its name. Passed through if both are the same.

    A column without a text was dropped because nothing refers to it; it keeps its position among the others.
    """

    text: str
    name: Name

    @property
    def passed(self) -> Item:
        """The column as passed through by an enclosing SELECT."""
        return Item(self.name if self.text else "", self.name)

    def __str__(self) -> str:
        return self.text if self.text == self.name else f"{self.text} AS {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A SELECT.

    Args:
        source: the text after FROM; empty for none.
        items: the columns, in order.
        where: conditions, all of which must be true; each is an operand of AND.
        order: the sort keys, empty for none.
        tail: the remaining clauses (GROUP BY, or LIMIT and OFFSET after the order), empty for none.
        depth: the number of nested levels of SELECT in the source.
        joins: whether the source is a join, which needs brackets as the right side of another one.
        aggregated: whether the items are grouping keys and measures, so that its records aren't those of the source.
        hint: the join hint for Spark, for the join that this query becomes a side of; empty for none. Spark looks for
            it up to the next join above.
    """

    source: str
    items: tuple[Item, ...]
    where: tuple[str, ...] = ()
    order: str = ""
    tail: str = ""
    depth: int = 0
    joins: bool = False
    aggregated: bool = False
    hint: str = ""

    @property
    def columns(self) -> tuple[Name, ...]:
        """The names of the columns, in order, including dropped ones."""
        return tuple(item.name for item in self.items)

    def text(self, items: Iterable[Item] | None = None) -> str:
        """Return the SELECT statement; with ``items``, these are its columns instead."""
        listed = ", ".join(str(item) for item in (self.items if items is None else items) if item.text) or "1"
        parts = [f"SELECT /*+ {self.hint} */ {listed}" if self.hint else f"SELECT {listed}"]
        if self.source:
            parts.append(f"FROM {self.source}")
        if self.where:
            parts.append(f"WHERE {' AND '.join(self.where)}")
        if self.order:
            parts.append(f"ORDER BY {self.order}")
        if self.tail:
            parts.append(self.tail)
        return " ".join(parts)

    @property
    def is_flat(self) -> bool:
        """Whether the query only drops columns and records of its source, and can take further conditions."""
        passed_through = bool(self.source) and all(item.text == item.name or not item.text for item in self.items)
        return passed_through and not (self.order or self.tail)

    @property
    def is_source(self) -> bool:
        """Whether the query only drops columns of its source, so that the source can replace it."""
        return self.is_flat and not self.where and not self.hint

    def as_source(self) -> str:
        """Return the text for this query after FROM."""
        return self.source if self.is_source else f"({self.text()})"

    def as_right_source(self) -> str:
        """Return the text for this query to the right of JOIN."""
        return f"({self.source})" if self.is_source and self.joins else self.as_source()

    def without_conditions(self) -> tuple[Query, tuple[str, ...]]:
        """Return the query without its conditions, and these, for a place where they can be applied later."""
        return (replace(self, where=()), self.where) if self.where and self.is_flat else (self, ())

    def flat(self) -> Query:
        """The same rows as a query whose columns are all its source's and which can take conditions."""
        return self if self.is_flat else self.nested()

    def nested(self) -> Query:
        """The same rows as a query that does nothing to its source."""
        if self.is_source:
            return self
        return Query(source=f"({self.text()})", items=self.passed, depth=self.depth + 1)

    @property
    def passed(self) -> tuple[Item, ...]:
        """The columns as passed through by an enclosing SELECT."""
        return tuple(item.passed for item in self.items)

    def fenced(self) -> Query:
        """Return the same rows as a query through which Spark pushes no column, only conditions."""
        query = self.nested()
        listed = ", ".join(item.name for item in query.items if item.text) or "1"
        source = f"(SELECT {_FENCE} {listed} FROM {query.source})"
        return Query(source=source, items=query.items, depth=query.depth + 1)

    def sorted_at_once(self) -> Query:
        """Return the same rows, all in one partition if they are sorted.

        To sort several partitions, Spark computes the input once for a sample of it, and then again.
        """
        if not self.order or self.tail or not self.source:
            return self
        where = f" WHERE {' AND '.join(self.where)}" if self.where else ""
        return replace(self, source=f"(SELECT {_GATHER} * FROM {self.source}{where})", where=(), depth=self.depth + 1)

    def hinted(self, hint: str) -> Query:
        """Return the same rows with a join hint for Spark; empty for none."""
        return self if hint == self.hint else replace(self, hint=hint)

    def filtered(self, conditions: Sequence[str]) -> Query:
        """Return the rows that fulfil the conditions, which are over this flat query's columns."""
        new = tuple([condition for condition in conditions if condition not in self.where])
        return replace(self, where=self.where + new) if new else self

    def with_items(self, items: Iterable[Item]) -> Query:
        """Return the query with other columns."""
        made = tuple(items)
        return self if made == self.items else replace(self, items=made)


def plain(columns: Iterable[Name]) -> tuple[Item, ...]:
    """Return columns that are passed through."""
    return tuple(Item(column, column) for column in columns)

"""One SELECT in the making.

Operations are laid on a query as long as they fit into the same SELECT; only what doesn't fit opens a new level,
because every level of nesting costs Spark time to analyse. All column names in a statement are different, so nothing
here needs a qualifier, and a source may have more columns than are used.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

__all__ = ["FRAME_MARK", "Item", "Query", "frame", "plain"]

#: Stands around the name of a bound DataFrame in a statement's text. No text of a plan contains it.
FRAME_MARK = "\x00"

#: Asks for no more partitions than any relation has: nothing is moved, but Spark keeps the place.
_FENCE = "/*+ COALESCE(1000000) */"

#: Asks for one partition.
_GATHER = "/*+ REPARTITION(1) */"


def frame(name: str) -> str:
    """The text that stands for a bound DataFrame behind FROM."""
    return f"{FRAME_MARK}{name}{FRAME_MARK}"


@dataclass(frozen=True, slots=True)
class Item:
    """One column: its expression over the source's columns, and its name. Passed through when both are the same.

    One without a text isn't there: it was left out because nothing refers to it, and keeps its place among the others.
    """

    text: str
    name: str

    @property
    def passed(self) -> Item:
        """The column as one that a SELECT around this one passes through."""
        return Item(self.name if self.text else "", self.name)

    def __str__(self) -> str:
        return self.text if self.text == self.name else f"{self.text} AS {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A SELECT.

    Args:
        source: what stands behind FROM; empty for none.
        items: the columns, in order.
        where: conditions, all of which must be true; each is an operand of AND.
        order: the sort keys, empty for none.
        tail: what else comes behind (GROUP BY, or LIMIT and OFFSET behind the order), empty for none.
        depth: how many levels of SELECT are nested in the source.
        joins: the source is a join, which needs brackets where it is the right side of another.
        aggregated: the items are grouping keys and measures, so that each record of the source is none of this query.
        hint: how Spark is asked to join this query with the other side of the join that it is going to be a side of,
            empty for no wish. Spark looks for it up to the next join above.
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
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order, also of those that are left out."""
        return tuple(item.name for item in self.items)

    def text(self, items: Iterable[Item] | None = None) -> str:
        """The SELECT statement; with ``items``, it puts out those instead."""
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
        """Whether the query does nothing to its source but leave out columns and records, and can leave out more."""
        passed_through = bool(self.source) and all(item.text == item.name or not item.text for item in self.items)
        return passed_through and not (self.order or self.tail)

    @property
    def is_source(self) -> bool:
        """Whether the query does nothing to its source but leave out columns, so that this can stand for it."""
        return self.is_flat and not self.where and not self.hint

    def as_source(self) -> str:
        """The text that stands for this query behind FROM."""
        return self.source if self.is_source else f"({self.text()})"

    def as_right_source(self) -> str:
        """The same, to the right of JOIN."""
        return f"({self.source})" if self.is_source and self.joins else self.as_source()

    def without_conditions(self) -> tuple[Query, tuple[str, ...]]:
        """The query without its conditions, and these, for a place where they may be applied later."""
        return (replace(self, where=()), self.where) if self.is_flat else (self, ())

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
        """The columns as a SELECT around this one passes them through."""
        return tuple(item.passed for item in self.items)

    def fenced(self) -> Query:
        """The same rows as a query below which Spark moves no column; conditions, it does."""
        query = self.nested()
        listed = ", ".join(item.name for item in query.items if item.text) or "1"
        source = f"(SELECT {_FENCE} {listed} FROM {query.source})"
        return Query(source=source, items=query.items, depth=query.depth + 1)

    def sorted_at_once(self) -> Query:
        """The same rows, all of them in one partition where they are sorted.

        Spark sorts several partitions by computing what is below once for a sample of it, and then again.
        """
        if not self.order or self.tail or not self.source:
            return self
        where = f" WHERE {' AND '.join(self.where)}" if self.where else ""
        return replace(self, source=f"(SELECT {_GATHER} * FROM {self.source}{where})", where=(), depth=self.depth + 1)

    def hinted(self, hint: str) -> Query:
        """The same rows as a side of a join that Spark is asked to carry out in a certain way; empty for no wish."""
        return replace(self, hint=hint)

    def filtered(self, conditions: Sequence[str]) -> Query:
        """The rows for which the conditions, written over this flat query's columns, are true."""
        new = tuple(condition for condition in conditions if condition not in self.where)
        return replace(self, where=self.where + new)


def plain(columns: Iterable[str]) -> tuple[Item, ...]:
    """Columns passed through."""
    return tuple(Item(column, column) for column in columns)

"""Queries in the making: one SELECT, which takes in operations until one does not fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from pyspark_substrait.engines.dialects.tree import all_of, column, is_column, number

__all__ = ["Item", "Names", "Query", "conjunction", "of_table"]


@dataclass(frozen=True, slots=True)
class Item:
    """A column of a query: its value, and the name that it should have; empty if none is better than another."""

    tree: exp.Expression
    name: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether it is a column of a table of the query as it is; outer joins make no null of any other value."""
        return is_column(self.tree)


@dataclass(frozen=True, slots=True)
class Names:
    """The names of tables in a statement, each of which is used once, whatever their case."""

    used: Counter[str] = field(default_factory=Counter)

    def fresh(self, wanted: str) -> str:
        """Return a name like the wanted one."""
        return _unique(wanted, self.used)


def _unique(wanted: str, used: Counter[str]) -> str:
    name = wanted
    while name.lower() in used:
        used[wanted.lower()] += 1
        name = f"{wanted}_{used[wanted.lower()]}"
    used[name.lower()] += 1
    return name


def conjunction(conditions: Sequence[exp.Expression]) -> exp.Expression:
    """Return the condition that all of some conditions are true."""
    if not conditions:
        return exp.true()
    if len(conditions) == 1:
        return conditions[0]
    return all_of(*conditions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query with its parts.

    Args:
        source: the first table of FROM, with its alias; None for a single record without columns.
        joins: the joins with further tables.
        items: the columns.
        where: the conditions that must all be true.
        keys: the grouping keys, or the one GROUPING SETS; None for a query without aggregation.
        order: the sort keys.
        limit, offset: the numbers of records that are kept, and skipped before.
    """

    source: exp.Expression | None
    joins: tuple[exp.Join, ...] = ()
    items: tuple[Item, ...]
    where: tuple[exp.Expression, ...] = ()
    keys: tuple[exp.Expression, ...] | None = None
    order: tuple[exp.Ordered, ...] = ()
    limit: int | None = None
    offset: int | None = None

    @property
    def is_limited(self) -> bool:
        return self.limit is not None or self.offset is not None

    @property
    def is_flat(self) -> bool:
        """Whether conditions and joins can be added, and every column can be repeated."""
        return self.keys is None and not self.is_limited and all(item.is_plain for item in self.items)

    @property
    def is_table(self) -> bool:
        """Whether it is a table with nothing but some of its columns."""
        return self.is_flat and self.source is not None and not (self.joins or self.where or self.order)

    @property
    def columns(self) -> tuple[exp.Expression, ...]:
        """The values of the columns; copy one to use it."""
        return tuple(item.tree for item in self.items)

    def column_names(self, used: Counter[str] | None = None) -> list[str]:
        """Return a name for each column, which differ from each other; ``used`` gets them."""
        known: Counter[str] = Counter() if used is None else used
        return [_unique(item.name or f"c{place + 1}", known) for place, item in enumerate(self.items)]

    def flat(self, names: Names) -> Query:
        """Return the query, below another one unless it :attr:`is_flat`."""
        return self if self.is_flat else self.nested(names)

    def nested(self, names: Names, alias: str = "t") -> Query:
        """Return a query of all columns of this one, which keeps its order."""
        used: Counter[str] = Counter()
        own = self.column_names(used)
        inner, order = self, []
        if self.order:
            keys = [_unique("sort_key", used) for _ in self.order]
            hidden = [Item(key.this.copy(), name) for key, name in zip(self.order, keys, strict=True)]
            inner = replace(self, items=(*self.items, *hidden), order=self.order if self.is_limited else ())
            own += keys
        table = names.fresh(alias)
        for key, name in zip(self.order, own[len(self.items) :], strict=True):
            order.append(
                exp.Ordered(this=column(table, name), desc=key.args["desc"], nulls_first=key.args["nulls_first"])
            )
        source = exp.Subquery(this=inner.select(own), alias=_alias(table))
        items = tuple(Item(column(table, name), item.name) for name, item in zip(own, self.items, strict=False))
        return Query(source=source, items=items, order=tuple(order))

    def unordered(self) -> Query:
        """Return the query without an order, unless it decides which records are kept."""
        return self if self.is_limited else replace(self, order=())

    def filtered(self, conditions: Iterable[exp.Expression]) -> Query:
        """Return the records for which all conditions are true."""
        return replace(self, where=(*self.where, *conditions))

    def select(self, names: Sequence[str] | None = None) -> exp.Select:
        """Return the statement, whose columns have these names."""
        found = exp.Select()
        trees = [item.tree for item in self.items]
        if names is not None:
            trees = [_named(tree, name) for tree, name in zip(trees, names, strict=True)]
        found.set("expressions", trees or [number(1)])
        if self.source is not None:
            found.set("from_", exp.From(this=self.source))
        if self.joins:
            found.set("joins", list(self.joins))
        if self.where:
            found.set("where", exp.Where(this=conjunction(self.where)))
        if self.keys:
            found.set("group", exp.Group(expressions=list(self.keys)))
        if self.order:
            found.set("order", exp.Order(expressions=list(self.order)))
        if self.limit is not None:
            found.set("limit", exp.Limit(expression=number(self.limit)))
        if self.offset is not None:
            found.set("offset", exp.Offset(expression=number(self.offset)))
        return found


def _named(tree: exp.Expression, name: str) -> exp.Expression:
    return exp.Alias(this=tree, alias=exp.to_identifier(name, quoted=True))


def _alias(name: str, columns: Sequence[str] = ()) -> exp.TableAlias:
    made = exp.TableAlias(this=exp.to_identifier(name, quoted=True))
    if columns:
        made.set("columns", [exp.to_identifier(one, quoted=True) for one in columns])
    return made


def of_table(source: exp.Expression, alias: str, columns: Sequence[str], *, listed: bool = False) -> Query:
    """Return the query of a table's columns, by their names.

    Args:
        source: the table.
        alias: the name that it gets.
        columns: the names of its columns.
        listed: whether the names are given to the columns by the alias.
    """
    if source.name != alias:
        source.set("alias", _alias(alias, columns if listed else ()))
    return Query(source=source, items=tuple(Item(column(alias, name), name) for name in columns))

"""The terms for a relation that depends on an outer record and carries its columns.

The outer columns that it uses are its *keys*; the *domain* is a relation of the distinct combinations of their values.
A relation that carries them has the keys after its own columns: for each record of the domain, it holds the records
that the original gives for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pyspark_substrait.model.expressions import Expression, FieldReference, SortField, WindowFunction
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.walk import with_children
from pyspark_substrait.sql.decorrelation.constructors import column, selected_columns
from pyspark_substrait.sql.decorrelation.outer import redirected

__all__ = ["Carried", "Domain", "inside", "over", "put_out", "width_of", "without_order"]


@dataclass(frozen=True, kw_only=True)
class Domain:
    """The values of the outer columns.

    Args:
        relation: a column for each key, without duplicate records. None if there are no keys.
        keys: the number of the key for each outer field.
    """

    relation: Relation | None = None
    keys: Mapping[int, int] = field(default_factory=dict)

    @property
    def width(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, kw_only=True)
class Carried:
    """A relation with the columns of the original, then the keys, then columns that give the order of the records.

    Args:
        relation: the relation.
        width: the number of columns of the original.
        keys: the number of keys.
        order: how to sort by each of the last columns.
    """

    relation: Relation
    width: int
    keys: int
    order: tuple[SortField, ...] = ()

    @property
    def behind(self) -> range:
        """The positions of the keys and of the columns that give the order."""
        return range(self.width, self.width + self.keys + len(self.order))


def width_of(node: Relation) -> int:
    """The number of columns before emit."""
    return len(node.direct_schema.types)


def put_out(
    node: Relation,
    whole: Relation,
    columns: Sequence[int],
    behind: Iterable[int],
    keys: int | None = None,
    order: tuple[SortField, ...] = (),
) -> Carried:
    """Return the output of a node that was rewritten to ``whole``.

    Args:
        node: the original.
        whole: the relation that it was rewritten to.
        columns: the positions of the original's columns before emit.
        behind: the positions of the keys and the order.
        keys: the number of keys; by default, all of ``behind``.
        order: the sort fields of the remaining columns.
    """
    emit = range(len(columns)) if node.common.emit is None else node.common.emit
    behind = tuple(behind)
    relation = selected_columns(whole, (*(columns[position] for position in emit), *behind))
    return Carried(relation=relation, width=len(emit), keys=len(behind) if keys is None else keys, order=order)


def without_order(found: Carried) -> Relation:
    return selected_columns(found.relation, range(found.width + found.keys))


def inside(node: Expression, domain: Domain, keys_at: int, columns: Sequence[int] | None = None) -> Expression:
    """An expression of the original over the record of the new relation.

    Args:
        node: the expression.
        domain: the keys.
        keys_at: the position of the first key in the new record.
        columns: the positions of the old record's columns in the new one; None for the same positions.
    """

    def target(level: int, field: int) -> tuple[int, int]:
        if level == 0:
            return 0, field if columns is None else columns[field]
        assert level == 1, "the relation around has no outer references itself"
        return 0, keys_at + domain.keys[field]

    return redirected(node, target)


def _partitioned(node: Expression, keys: Sequence[FieldReference]) -> Expression:
    """Return the expression with its window functions restricted to records with the same keys."""
    node = with_children(node, lambda child: _partitioned(child, keys))
    return replace(node, partitions=(*node.partitions, *keys)) if isinstance(node, WindowFunction) else node


def over(node: Expression, found: Carried, domain: Domain) -> Expression:
    """An expression of the original over the record of a carried input."""
    keys = [column(found.relation.schema, found.width + number) for number in range(found.keys)]
    return _partitioned(inside(node, domain, found.width), keys)

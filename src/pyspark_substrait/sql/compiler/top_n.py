"""TopN as Spark SQL: the first records of an order, with ties if requested.

Without ties it is a fetch from sorted records, of which Spark keeps no more than it needs. With ties, records are
compared by rank: the number of records before them, plus one. Records that tie with the last one kept have its rank.
"""

from __future__ import annotations

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.relations import FetchMode, TopN
from pyspark_substrait.model.types import Struct
from pyspark_substrait.sql.compiler.fetches import Bound, bound, checked, first, numbered
from pyspark_substrait.sql.compiler.query import Item, Query
from pyspark_substrait.sql.compiler.scope import Compilation, Record

__all__ = ["top_n"]


def top_n(node: TopN, query: Query, outer: tuple[Record, ...], compilation: Compilation) -> Query:
    """Return the first records of a query that is sorted by the relation's sorts.

    Raises:
        InvalidPlanError: there is nothing to sort by, or no count.
    """
    if not node.sorts:
        raise InvalidPlanError("there are no sort fields", path="sorts", hint="A fetch takes any records")
    if node.count is None:
        raise InvalidPlanError("there is no count", path="count", hint="A null stands for all records")
    offset = bound(node.offset, "offset", outer, compilation)
    count = bound(node.count, "count", outer, compilation)
    if node.mode is not FetchMode.WITH_TIES or count is None or count == 0:
        return first(query, node.input.schema, offset, count, compilation)
    return _with_ties(query, node.input.schema, offset, count, compilation)


def _with_ties(query: Query, schema: Struct, offset: Bound, count: Bound, compilation: Compilation) -> Query:
    """Return the records after the offset, which ignores ties, up to the last tie of the last record."""
    rank, last = compilation.column(), checked(count)
    # where all sort fields are constants, all records tie
    numbers = [Item(f"CAST(rank() OVER (ORDER BY {query.order}) AS BIGINT)" if query.order else "1L", rank)]
    conditions = [f"{rank} <= {last}"]
    if offset:
        number = compilation.column()
        skipped = f"coalesce({checked(offset)}, 0L)" if isinstance(offset, str) else f"{offset}L"
        row = f"row_number() OVER (ORDER BY {query.order or 'monotonically_increasing_id()'})"
        numbers.insert(0, Item(f"CAST({row} AS BIGINT)", number))
        conditions = [f"{number} > {skipped}", f"{rank} - {skipped} <= {last}"]
    if isinstance(count, str):
        # nothing ties with the last of no records
        conditions[-1] = f"({last} IS NULL OR ({last} > 0L AND {conditions[-1]}))"
    return numbered(query, schema, numbers, conditions, (offset, count))

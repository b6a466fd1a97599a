"""Functions of lists (``functions_list.yaml``). A lambda as an operand is ``l1 -> body``, or ``NULL``."""

from __future__ import annotations

from collections.abc import Callable

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import I32
from pyspark_substrait.sql.compiler.types import MATCH_SETTINGS, has_map, spark_type
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.catalyst import catalyst
from pyspark_substrait.sql.functions.table import Call, Foreign, Table, row

__all__ = ["TABLE"]


def with_function(name: str) -> Callable[[Call], str]:
    """Return a Spark function of a list and a lambda; null for a lambda that is null."""

    def body(call: Call) -> str:
        if call.sql(1) == "NULL":
            return Atom(f"CAST(NULL AS {spark_type(call.output)})")
        return Atom(f"{name}({call.sql(0)}, {call.sql(1)})")

    return body


def sorted_list(ascending: bool, nulls_first: bool) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        items, order = call.sql(0), str(ascending).lower()
        if has_map(call.type(0)):
            raise UnsupportedPlanError(f"sort of {call.type(0)}: Spark cannot compare maps")
        if ascending == nulls_first:  # the order of sort_array
            return Atom(f"sort_array({items}, {order})")
        known = f"sort_array(filter({items}, e -> e IS NOT NULL), {order})"
        nulls = f"filter({items}, e -> e IS NULL)"
        return Atom(f"concat({nulls}, {known})") if nulls_first else Atom(f"concat({known}, {nulls})")

    return body


TABLE = Table(
    "extension:io.substrait:functions_list",
    (
        row("transform", with_function("transform"), foreign=Foreign.MOVED),
        row("filter", with_function("filter"), foreign=Foreign.MOVED),
        # both are null where only a null could decide
        row("any_match", with_function("exists"), foreign=Foreign.MOVED, settings=MATCH_SETTINGS),
        row("all_match", with_function("forall"), foreign=Foreign.MOVED),
        row(
            "cardinality",
            "CAST(array_size({input}) AS BIGINT)",
            foreign=Foreign.MOVED,
            catalyst=catalyst("ArraySize", returns=I32()),
        ),
        row("sort", sorted_list(True, True), foreign=Foreign.ORDERED, direction="ASC_NULLS_FIRST"),
        row("sort", sorted_list(True, False), foreign=Foreign.ORDERED, direction="ASC_NULLS_LAST"),
        row("sort", sorted_list(False, True), foreign=Foreign.ORDERED, direction="DESC_NULLS_FIRST"),
        row("sort", sorted_list(False, False), foreign=Foreign.ORDERED, direction="DESC_NULLS_LAST"),
    ),
)

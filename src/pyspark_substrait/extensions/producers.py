"""The producers of plans, by the text that they state in ``version.producer``."""

from __future__ import annotations

from enum import Enum
from functools import lru_cache

__all__ = ["Producer", "producer_of"]


class Producer(Enum):
    """A producer whose plans mean something else than they state in some places; the value is its display name."""

    __hash__ = object.__hash__  # not in Python code: it is looked up for each call in a plan

    ACERO = "Acero"
    DATAFUSION = "DataFusion"
    DUCKDB = "DuckDB"
    IBIS = "Ibis"
    ISTHMUS = "Isthmus"
    SUBSTRAIT_SPARK = "substrait-spark"


_BY_TEXT = {
    "datafusion": Producer.DATAFUSION,
    "duckdb": Producer.DUCKDB,
    "ibis-substrait": Producer.IBIS,
    "isthmus": Producer.ISTHMUS,
    "substrait-spark": Producer.SUBSTRAIT_SPARK,
}


@lru_cache(maxsize=64)
def producer_of(text: str) -> Producer | None:
    """The producer that a plan states; None for any other, and for a plan that states none.

    Arrow states its version behind the name: ``Acero 22.0.0``. Isthmus states itself since substrait-java 0.59; its
    older plans have no version at all, and what such a plan leaves open isn't taken for a habit of Isthmus.
    """
    name = text.strip().lower()
    return Producer.ACERO if name.startswith("acero ") else _BY_TEXT.get(name)

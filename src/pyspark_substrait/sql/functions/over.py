"""Windows in function rows: the text in the brackets of OVER, and the records of a frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["WHOLE", "Over", "SortKey"]


class SortKey(NamedTuple):
    """A key of ORDER BY."""

    text: str
    descending: bool = False
    nulls_first: bool = True

    def __str__(self) -> str:
        return f"{self.text} {'DESC' if self.descending else 'ASC'} NULLS {'FIRST' if self.nulls_first else 'LAST'}"


#: the frame that is the whole partition
WHOLE = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"


@dataclass(frozen=True, slots=True, kw_only=True)
class Over:
    """A window of a function call.

    Args:
        partition: the text of PARTITION BY, empty for none.
        order: the text of ORDER BY, empty for none.
        frame: the text of the frame; None where Spark has no such frame.
        cut: without a frame, makes the list of the frame's records from the list of the partition's, which are structs.
        key: a text that ``cut`` needs as the field ``k`` of each of these structs; empty for none.
    """

    partition: str = ""
    order: str = ""
    frame: str | None = WHOLE
    cut: Callable[[str], str] | None = None
    key: str = ""

    @property
    def framed(self) -> str:
        """The window for a function that uses the frame."""
        assert self.frame is not None, "there is no such frame in Spark"
        return _joined(self.partition, self.order, self.frame)

    @property
    def ordered(self) -> str:
        """The window for an ordered function; Spark requires an ORDER BY."""
        return _joined(self.partition, self.order or "ORDER BY NULL")

    @property
    def whole(self) -> str:
        """The window of the whole partition, in order."""
        return _joined(self.partition, self.order, WHOLE)

    def elements(self, *texts: str) -> str:
        """The records of the frame in order: a list of structs with a field ``f0``, ``f1``, … for each text."""
        fields = [f"'f{position}', {text}" for position, text in enumerate(texts)]
        if self.cut is None:
            return f"collect_list(named_struct({', '.join(fields)})) OVER ({self.framed})"
        if self.key:
            fields.insert(0, f"'k', {self.key}")
        return self.cut(f"collect_list(named_struct({', '.join(fields)})) OVER ({self.whole})")


def _joined(*parts: str) -> str:
    return " ".join(filter(None, parts))

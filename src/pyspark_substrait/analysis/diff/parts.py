"""What a relation says, in parts that are compared one by one."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from pyspark_substrait.analysis.diff.forms import Form
from pyspark_substrait.analysis.diff.record import Record, Shown
from pyspark_substrait.model.expressions import SortField
from pyspark_substrait.model.relations import ComparisonJoinKey, Measure, Relation, SwitchingField

__all__ = ["Description", "Item", "Kind", "Node", "Part", "Source", "Step", "Style"]

#: A node of the model that an item stands for.
Node: TypeAlias = Shown | SortField | Measure | ComparisonJoinKey | SwitchingField


class Kind(Enum):
    """What differs between two plans. ``ORDER`` and ``SHARING`` are differences that can't change a result."""

    PLAN = "plan"
    RESULT = "result"
    RELATION = "relation"
    TABLE = "table"
    SCHEMA = "schema"
    CONDITION = "condition"
    COLUMN = "column"
    MEASURE = "measure"
    GROUPING = "grouping"
    SORT = "sort"
    FETCH = "fetch"
    JOIN = "join"
    SET = "set"
    WINDOW = "window"
    ROWS = "rows"
    WRITE = "write"
    EXCHANGE = "exchange"
    EXTENSION = "extension"
    NAMES = "names"
    PARAMETER = "parameter"
    EXPRESSION = "expression"
    ORDER = "order"
    SHARING = "sharing"

    @property
    def counts(self) -> bool:
        """Whether a difference of this kind makes plans different."""
        return self not in (Kind.ORDER, Kind.SHARING)


class Style(Enum):
    """How the items of a part are compared.

    ``ONE``: there is one. ``BAG``: their order means nothing. ``ROW``: it means something. ``COLUMNS``: each makes a
    column of the relation, whose place means nothing. ``FIELDS``: the same, and a column is known by its name.
    """

    ONE = "one"
    BAG = "bag"
    ROW = "row"
    COLUMNS = "columns"
    FIELDS = "fields"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Item:
    """One thing that a relation says.

    Args:
        form: what it means.
        node: the node that says it, shown in ``record``.
        text: what it says, where no node does.
        column: the column that it makes, for ``COLUMNS`` and ``FIELDS``.
        name: the name of that column, or of what else it is.
    """

    form: Form
    node: Node | None = None
    record: Record | None = None
    text: str = ""
    column: int = -1
    name: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Things of one sort that a relation says.

    Args:
        word: what each is called, like ``condition``.
    """

    word: str
    kind: Kind
    style: Style
    items: tuple[Item, ...]

    def form(self) -> tuple[Hashable, Hashable]:
        """What the part says: without the order that means nothing, and with it."""
        meanings = [item.form.meaning for item in self.items]
        if self.style in (Style.BAG, Style.COLUMNS):
            meanings.sort()
        exact = [item.form.exact for item in self.items]
        if self.style is Style.COLUMNS:
            exact.sort()
        return (self.word, *meanings), (self.word, *exact)


#: Where a column of a relation comes from: an input, and the position there; None for one that the relation makes.
Source: TypeAlias = "tuple[int, int] | None"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Description:
    """What a relation says over inputs whose columns are known.

    Args:
        parts: what it says.
        columns: what its columns are, before emit.
        sources: where each comes from.
    """

    parts: tuple[Part, ...]
    columns: tuple[int, ...]
    sources: tuple[Source, ...]


@dataclass(slots=True, kw_only=True, eq=False)
class Step:
    """A relation in the form in which plans are compared.

    Relations that change nothing aren't steps: references and detached relations are what they mean, and a projection
    that only picks columns is the step below, with these columns.

    Args:
        kind: what it is, like ``Filter``.
        form: what it means with all that is below.
        own: what it says by itself.
        picks: which of its columns are put out.
        columns: what these are.
        size: how many relations it has.
        tables: the tables read below, each once.
    """

    relation: Relation
    kind: str
    inputs: tuple[Step, ...]
    outer: Record | None
    told: Description
    form: Form
    own: int
    picks: tuple[int, ...] | None
    columns: tuple[int, ...]
    size: int
    tables: tuple[str, ...]

"""The description of a relation, in parts that are compared one by one."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from pyspark_substrait.analysis.diff.equivalence import Form
from pyspark_substrait.analysis.diff.record import Record, Shown
from pyspark_substrait.model.expressions import SortField
from pyspark_substrait.model.relations import ComparisonJoinKey, Measure, Relation, SwitchingField

__all__ = ["Description", "Item", "Kind", "Node", "Part", "Source", "Step", "Style"]

#: A node of the model that an item is made from.
Node: TypeAlias = Shown | SortField | Measure | ComparisonJoinKey | SwitchingField


class Kind(Enum):
    """The kinds of differences. ``ORDER`` and ``SHARING`` are differences that can't change a result."""

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
    """The way in which the items of a part are compared.

    ``ONE``: there is one. ``BAG``: their order doesn't count. ``ROW``: it counts. ``COLUMNS``: each makes a column of
    the relation, whose position doesn't count. ``FIELDS``: the same, and columns are matched by name.
    """

    ONE = "one"
    BAG = "bag"
    ROW = "row"
    COLUMNS = "columns"
    FIELDS = "fields"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Item:
    """One item of a description, such as a sort field.

    Args:
        form: its meaning.
        node: the node that it is made from, shown in ``record``.
        text: its text, if it has no node.
        column: the column that it makes, for ``COLUMNS`` and ``FIELDS``.
        name: the name of that column, or of the item.
    """

    form: Form
    node: Node | None = None
    record: Record | None = None
    text: str = ""
    column: int = -1
    name: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The items of a description that are of one kind.

    Args:
        word: the name of such an item in texts, like ``condition``.
    """

    word: str
    kind: Kind
    style: Style
    items: tuple[Item, ...]

    def form(self) -> tuple[Hashable, Hashable]:
        """Return the forms of the part: without the orders that don't count, and with them."""
        meanings = [item.form.meaning for item in self.items]
        if self.style in (Style.BAG, Style.COLUMNS):
            meanings.sort()
        exact = [item.form.exact for item in self.items]
        if self.style is Style.COLUMNS:
            exact.sort()
        return (self.word, *meanings), (self.word, *exact)


#: The origin of a column of a relation: an input, and the position there; None for one that the relation makes.
Source: TypeAlias = "tuple[int, int] | None"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Description:
    """The description of a relation over inputs whose columns are known.

    Args:
        parts: its parts.
        columns: the identities of its columns, before emit.
        sources: the origin of each column.
    """

    parts: tuple[Part, ...]
    columns: tuple[int, ...]
    sources: tuple[Source, ...]


@dataclass(slots=True, kw_only=True, eq=False)
class Step:
    """A relation in the form in which plans are compared.

    Relations that change nothing aren't steps: a reference or a detached relation has the step of the relation that it
    stands for, and a projection that only picks columns has the step below, with these columns.

    Args:
        kind: its kind, like ``Filter``.
        form: its meaning, with all that is below.
        own: its meaning without its inputs.
        picks: the positions of the columns that are put out.
        columns: the identities of these columns.
        size: the number of relations, itself included.
        tables: the tables read below, each once.
    """

    relation: Relation
    kind: str
    inputs: tuple[Step, ...]
    outer: Record | None
    description: Description
    form: Form
    own: int
    picks: tuple[int, ...] | None
    columns: tuple[int, ...]
    size: int
    tables: tuple[str, ...]

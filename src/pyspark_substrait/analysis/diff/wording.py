"""Texts for relations and their parts."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark_substrait.analysis.diff.description import Item, Kind, Node, Part, Step, Style
from pyspark_substrait.analysis.diff.record import Record, Words
from pyspark_substrait.model.expressions import AggregateFunction, FieldReference, Function, SortField
from pyspark_substrait.model.relations import ComparisonJoinKey, Measure, SwitchingField
from pyspark_substrait.model.relations.joins import SimpleComparisonType

__all__ = ["Wording", "a_or_an", "named", "shortened"]

_LONG = 100

#: Parts that aren't shown for a relation that was added or removed.
_LEFT_OUT = ("column written", "build input")


@dataclass(frozen=True, slots=True)
class Wording:
    """Texts of items, based on a function that shows expressions."""

    words: Words

    def item(self, item: Item) -> str:
        """Return the text of an item."""
        if item.node is None or item.record is None:
            return item.text
        return self.node(item.node, item.record)

    def node(self, node: Node, record: Record) -> str:
        """Return the text of a node."""
        match node:
            case SortField(expr=expr, sort_kind=kind):
                order = f"by {kind.name}" if isinstance(kind, Function) else kind.value
                return f"{self.words(expr, record)} {order}"
            case Measure(measure=measure, filter=filter):
                kept = "" if filter is None else f" where {self.words(filter, record)}"
                return self.words(measure, record) + kept
            case ComparisonJoinKey():
                return self._key(node, record)
            case SwitchingField(duplicates=duplicates):
                return " | ".join(self.words(item, record) for item in duplicates)
            case _:
                return self.words(node, record)

    def _key(self, key: ComparisonJoinKey, record: Record) -> str:
        left, right = self.words(key.left, record), self.words(key.right, _right(record))
        match key.comparison:
            case SimpleComparisonType.EQ:
                return f"{left} = {right}"
            case SimpleComparisonType():
                return f"{left} {key.comparison.value} {right}"
            case function:
                return f"{function.name}({left}, {right})"

    def expression(self, node: AggregateFunction | FieldReference, record: Record) -> str:
        """Return the text of an expression."""
        return self.words(node, record)

    def about(self, step: Step) -> str:
        """Return a short text of a relation's parts; empty if there is nothing worth showing."""
        parts = [part for part in step.description.parts if step.kind != "Read" or part.word != "table"]
        texts = [text for part in parts if (text := self._part(part))]
        return shortened("; ".join(texts))

    def _part(self, part: Part) -> str:
        if not part.items or part.style is Style.FIELDS or part.word in _LEFT_OUT:
            return ""
        texts = [self.item(item) for item in part.items[:4]]
        joint = " AND " if part.word in ("condition", "filter", "residual condition") else ", "
        more = f"{joint}…" if len(part.items) > len(texts) else ""
        word = f"{part.word} " if part.kind is Kind.FETCH else ""
        return word + joint.join(texts) + more


def _right(record: Record) -> Record:
    """Return the right half of a join's record."""
    left = record.left or 0
    return Record(columns=record.columns[left:], names=record.names[left:], types=record.types[left:])


def named(step: Step) -> str:
    """Return the name of a relation in a sentence, like ``the Filter over orders``."""
    if step.kind == "Read":
        return f"the read of {step.tables[0]}"
    shown = ", ".join(step.tables[:3]) + (", …" if len(step.tables) > 3 else "")
    return f"the {step.kind} over {shown}" if shown else f"the {step.kind}"


def a_or_an(step: Step) -> str:
    """Return a relation with the indefinite article, like ``an Aggregate``."""
    if step.kind == "Read":
        return f"a read of {step.tables[0]}"
    return f"{'an' if step.kind[0] in 'AEIOU' else 'a'} {step.kind}"


def shortened(text: str, limit: int = _LONG) -> str:
    """Return a text, cut if it is too long."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"

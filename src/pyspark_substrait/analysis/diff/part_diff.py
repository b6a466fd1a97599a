"""Comparison of two relations that are counterparts, part by part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from pyspark_substrait.analysis.diff.description import Description, Item, Kind, Part, Step, Style
from pyspark_substrait.analysis.diff.difference import Change, Line
from pyspark_substrait.analysis.diff.equivalence import Forms
from pyspark_substrait.analysis.diff.expression_diff import ExpressionDiff
from pyspark_substrait.analysis.diff.item_matching import pairs, reordered
from pyspark_substrait.analysis.diff.record import Record
from pyspark_substrait.analysis.diff.wording import Wording, named, shortened
from pyspark_substrait.model.relations import Measure, Relation

__all__ = ["PartDiff"]

#: From this many characters on, two texts aren't shown side by side in a sentence.
_SHORT = 160


class PartDiff:
    """Compares the descriptions of relations.

    Args:
        path_a, path_b: return the path of a node.
        queries: compares two subqueries.
    """

    def __init__(
        self,
        forms: Forms,
        wording: Wording,
        path_a: Callable[[object], str],
        path_b: Callable[[object], str],
        queries: Callable[[Relation, Record, Relation, Record], Line],
    ) -> None:
        self.forms = forms
        self.wording = wording
        self.path_a = path_a
        self.path_b = path_b
        self.queries = queries

    def compare(self, a: Step, description: Description, b: Step, line: Line, skip: set[str]) -> dict[int, int]:
        """Compare two relations, and add the changes to ``line``.

        Args:
            description: the description of the second relation, over columns with the identities of the first plan.
            skip: parts to leave out. Of relations of different kinds, only the parts that both have are compared.

        Returns:
            For columns that the second relation makes: their identities in the first plan.
        """
        first, second = _by_word(a.description), _by_word(description)
        became: dict[int, int] = {}
        for word, at in {**first, **second}:
            left, right = first.get((word, at)), second.get((word, at))
            some = left or right
            one_sided = left is None or right is None or not (left.items and right.items)
            if some is None or word in skip or (one_sided and a.kind != b.kind):
                continue
            became |= self.parts(
                left or Part(word, some.kind, some.style, ()),
                right or Part(word, some.kind, some.style, ()),
                named(b),
                (self.path_a(a.relation), self.path_b(b.relation)),
                line,
            )
        return became

    def fields(self, a: Description, b: Description) -> dict[int, int]:
        """Return for the columns of the second table their identities in the first."""
        became: dict[int, int] = {}
        for left, right in zip(a.parts, b.parts, strict=False):
            if left.style is right.style is Style.FIELDS:
                for item, other in pairs(left, right, self.forms):
                    if item is not None and other is not None:
                        became[other.column] = item.column
        return became

    def parts(self, a: Part, b: Part, where: str, places: tuple[str, str], line: Line) -> dict[int, int]:
        """Compare two parts of the same kind; ``places``: the paths of the relations."""
        became: dict[int, int] = {}
        if a.form() == b.form():
            columns = {one.form.meaning: one.column for one in a.items}
            return {one.column: columns[one.form.meaning] for one in b.items}
        if reordered(a, b):
            texts = [", ".join(self.wording.item(item) for item in part.items) for part in (a, b)]
            line.changes.append(_moved(a, a.kind, texts, where, places))
            return became
        if a.style is Style.BAG and a.form()[0] == b.form()[0]:
            self._turned(a, b, where, places, line)
        both = []
        for item, other in pairs(a, b, self.forms):
            if item is not None and other is not None:
                both.append((item, other))
                became[other.column] = item.column
                if item.form.exact != other.form.exact:
                    self._changed(a, item, other, where, places, line)
            elif item is not None:
                self._gone(a, item, where, places, line)
            elif other is not None:
                self._new(a, other, where, places, line)
        if a.style is Style.FIELDS:
            self._columns_moved(a, b, both, where, places, line)
        return became

    def _turned(self, a: Part, b: Part, where: str, places: tuple[str, str], line: Line) -> None:
        """Report items in another order, where the order doesn't count."""
        if [item.form.meaning for item in a.items] == [item.form.meaning for item in b.items]:
            return
        texts = [", ".join(self.wording.item(item) for item in part.items) for part in (a, b)]
        line.changes.append(_moved(a, Kind.ORDER, texts, where, places))

    def _columns_moved(
        self,
        a: Part,
        b: Part,
        both: list[tuple[Item, Item]],
        where: str,
        places: tuple[str, str],
        line: Line,
    ) -> None:
        """Report columns of a table in another order."""
        first = {id(item): at for at, item in enumerate(a.items)}
        second = {id(item): at for at, item in enumerate(b.items)}
        both.sort(key=lambda pair: first[id(pair[0])])
        order = [second[id(other)] for _, other in both]
        if order == sorted(order):
            return
        texts = [", ".join(item.name or "" for item in part.items) for part in (a, b)]
        line.changes.append(_moved(a, Kind.SCHEMA, texts, where, places))

    def _gone(self, part: Part, item: Item, where: str, places: tuple[str, str], line: Line) -> None:
        _note(part, item, None, line)
        text = self.wording.item(item)
        what = f"the {part.word} {_shown(item, shortened(text))} of {where} was removed"
        path = self._path(self.path_a, item) or places[0]
        line.changes.append(Change(kind=part.kind, what=what, before=text, path_a=path, path_b=places[1]))

    def _new(self, part: Part, item: Item, where: str, places: tuple[str, str], line: Line) -> None:
        _note(part, None, item, line)
        text = self.wording.item(item)
        what = f"the {part.word} {_shown(item, shortened(text))} was added to {where}"
        path = self._path(self.path_b, item) or places[1]
        line.changes.append(Change(kind=part.kind, what=what, after=text, path_a=places[0], path_b=path))

    def _changed(self, part: Part, a: Item, b: Item, where: str, places: tuple[str, str], line: Line) -> None:
        before, after = self.wording.item(a), self.wording.item(b)
        path_a, path_b = self._path(self.path_a, a) or places[0], self._path(self.path_b, b) or places[1]
        kind = part.kind
        if a.form.meaning == b.form.meaning:
            kind = Kind.ORDER
            what = f"in the {part.word} `{shortened(after)}` of {where} operands stand in another order"
        else:
            what = self._what(part, a, b, before, after, where, line)
        if what:
            if kind.counts:
                _note(part, a, b, line)
            line.changes.append(Change(kind=kind, what=what, before=before, after=after, path_a=path_a, path_b=path_b))

    def _what(self, part: Part, a: Item, b: Item, before: str, after: str, where: str, line: Line) -> str:
        """Describe the change of an item; empty if all of it is in subqueries, which have changes of their own."""
        if part.style is Style.FIELDS:
            return _field(part, a, b, where)
        if part.style is Style.ONE and a.node is None:
            if part.word == "table":
                return f"the table {before} became {after}"
            return f"the {part.word} of {where} became {after}; it was {before}"
        found = ExpressionDiff(self.forms, self.wording)
        if a.node is not None and b.node is not None and a.record is not None and b.record is not None:
            found.compare(a.node, a.record, b.node, b.record)
        for query in found.queries:
            line.below.append(self.queries(*query))
        if found.queries and not found.found:
            return ""
        of = f" of {where}"
        name = f" {b.name}" if b.name and part.style is Style.COLUMNS else ""
        if before != after and len(before) + len(after) <= _SHORT:
            details = [text for text in found.found if not text.startswith("`")]
            more = f": {'; '.join(details)}" if details else ""
            return f"the {part.word}{name} `{before}`{of} became `{after}`{more}"
        details = found.found or [f"it became `{shortened(after)}`"]
        return f"in the {part.word}{name} `{shortened(before)}`{of}: {shortened('; '.join(details), 300)}"

    def _path(self, path: Callable[[object], str], item: Item) -> str:
        node = item.node.measure if isinstance(item.node, Measure) else item.node
        return "" if node is None else path(node)


def _note(part: Part, a: Item | None, b: Item | None, line: Line) -> None:
    """Record columns that differ."""
    if part.style in (Style.COLUMNS, Style.FIELDS):
        line.columns.append((-1 if a is None else a.column, -1 if b is None else b.column))


def _by_word(description: Description) -> dict[tuple[str, int], Part]:
    """Return the parts by name and number; several may have the same name."""
    found: dict[tuple[str, int], Part] = {}
    seen: Counter[str] = Counter()
    for part in description.parts:
        found[part.word, seen[part.word]] = part
        seen[part.word] += 1
    return found


def _shown(item: Item, text: str) -> str:
    if item.node is None and item.name:
        return f"{item.name} ({text})"
    return f"{item.name} = `{text}`" if item.name else f"`{text}`"


def _field(part: Part, a: Item, b: Item, where: str) -> str:
    if a.name != b.name:
        what = f"the {part.word} {a.name} of {where} is called {b.name} now"
        return what if a.text == b.text else f"{what}, and is {b.text}; it was {a.text}"
    if a.text.replace("?", "") == b.text.replace("?", ""):
        return f"the {part.word} {a.name} of {where} {_nullability(a, b)}"
    return f"the {part.word} {a.name} of {where} is {b.text}; it was {a.text}"


def _nullability(a: Item, b: Item) -> str:
    if a.text.count("?") < b.text.count("?"):
        return f"may be null now: {b.text}; it was {a.text}"
    return f"is never null now: {b.text}; it was {a.text}"


def _moved(part: Part, kind: Kind, texts: list[str], where: str, places: tuple[str, str]) -> Change:
    """Return the change for the same items in another order."""
    orders = f"{shortened(texts[1])}; it was {shortened(texts[0])}"
    what = f"the {_plural(part.word)} of {where} stand in another order: {orders}"
    return Change(kind=kind, what=what, before=texts[0], after=texts[1], path_a=places[0], path_b=places[1])


def _plural(word: str) -> str:
    """Return the plural, like ``columns written``."""
    first, blank, rest = word.partition(" ") if word.startswith("column ") else (word, "", "")
    return f"{first}s{blank}{rest}"

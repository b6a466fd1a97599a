"""The paths of nodes in the message that a plan is written to, where they differ from those in the message read.

Reading puts casts around arguments and calls, and leaves arguments out, which changes the paths of the nodes below. The
paths are changed once, after reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyspark_substrait.model.expressions import Argument, Cast, EnumArgument, TypeArgument
from pyspark_substrait.model.findings import Places
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.paths import Path

__all__ = ["Moves", "moved_arguments"]


@dataclass(slots=True)
class Moves:
    """The segments that replace the last segments of some paths in the written message, by the identity of the path."""

    _written: dict[int, tuple[Path, tuple[str | int, ...]]] = field(default_factory=dict)
    _known: dict[int, tuple[Path, Path]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self._written)

    def write(self, path: Path, *segments: str | int) -> None:
        """Record the segments that replace the last segment of a path, and so change all paths through it."""
        self._written[id(path)] = (path, segments)

    def path(self, path: Path) -> Path:
        """Return a path in the written message. Call this after all changes are recorded."""
        below: list[tuple[Path, str | int]] = []
        while path is not None and id(path) not in self._known:
            below.append(path)
            path = path[0]
        found = None if path is None else self._known[id(path)][1]
        for old in reversed(below):
            moved = self._written.get(id(old))
            if moved is None:
                found = old if found is old[0] else (found, old[1])
            else:
                for segment in moved[1]:
                    found = (found, segment)
            self._known[id(old)] = (old, found)
        return found


def moved_arguments(
    given: Sequence[Argument],
    taken: Sequence[Argument],
    sources: Sequence[int | None],
    marks: Sequence[int],
    places: Places,
    moves: Moves,
) -> bool:
    """Record the paths of the arguments of a call in the written message; return False if they can't be determined.

    Args:
        given: the arguments as they were read.
        taken: the arguments as the function declares them.
        sources: for each of ``taken``, the position in ``given`` of the argument that it comes from, if any.
        marks: the number of places before the first of ``given``, and after each.
        places: the places of all nodes read so far; the last ones are those of the arguments.
        moves: records the changed paths.
    """
    kept = [source for source in sources if source is not None]
    if kept != sorted(set(kept)):
        return False
    positions = {source: position for position, source in enumerate(sources) if source is not None}
    for source in reversed(range(len(given))):
        before, start, stop = given[source], marks[source], marks[source + 1]
        position = positions.get(source)
        after = None if position is None else taken[position]
        if isinstance(before, EnumArgument | TypeArgument):
            continue
        if isinstance(before, Literal) and (after is None or isinstance(after, EnumArgument)):
            places.leave_out(start, stop)
            continue
        node, path = places.entries[stop - 1]
        if node is not before or path is None:
            return False
        if position is not None and position != source:
            moves.write(path[0], position)
        if after is before:
            continue
        if not isinstance(after, Cast) or after.input is not before or before.type.nullable > after.type.nullable:
            return False
        moves.write(path, path[1], "cast", "input")
        places.insert(stop, after, (path[0], path[1]))
    return True

"""Find the extension of functions that a plan names without one."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions.definitions import Kind
from pyspark_substrait.extensions.engines import DIFFERENCES, ENGINES, SAME_EVERYWHERE
from pyspark_substrait.extensions.signatures import Argument
from pyspark_substrait.model.paths import Path
from pyspark_substrait.proto.read.context import Reading

__all__ = ["extension"]


def extension(name: str, arguments: Sequence[Argument], kind: Kind, reading: Reading, path: Path) -> str | None:
    """The extension that the function of a call is looked for in first; None for those of the specification.

    A function that an engine has in common with the specification is its own for arguments that only it takes.

    A note is recorded if it is the producer's own function, or if engines use the name for different functions.
    """
    if name in reading.bare_names:
        return reading.bare_names[name]
    simple = name.partition(":")[0].lower()
    engine = None if reading.made_by is None else ENGINES.get(reading.made_by)
    if engine is None:
        if simple not in SAME_EVERYWHERE:
            what = DIFFERENCES.get(simple, "not all of them mean what the specification does")
            _doubt(name, f"engines differ in it: {what}", reading, path)
        reading.bare_names[name] = None
        return None
    own = overloaded = bool(reading.registry.overloads(engine.urn, simple))
    if own and simple in engine.same:
        takes = (_takes(urn, name, arguments, kind, reading) for urn in (None, engine.urn))
        own = not next(takes) and next(takes)
    if own:
        if not reading.strict:
            before, after = f"`{name}` of {engine.name}", f"the function of `{engine.urn}`"
            reading.note_once("engine-function", path, before, after, key=name)
        found = None if reading.strict else engine.urn
    else:
        found = None
        if simple not in engine.same:
            _doubt(name, f"{engine.name}'s own may mean something else", reading, path)
    if not (overloaded and simple in engine.same):
        reading.bare_names[name] = found
    return found


def _takes(urn: str | None, name: str, arguments: Sequence[Argument], kind: Kind, reading: Reading) -> bool:
    try:
        reading.registry.resolve(urn, name, arguments, kind)
    except InvalidPlanError:
        return False
    return True


def _doubt(name: str, why: str, reading: Reading, path: Path) -> None:
    if not reading.strict:
        reading.note_once("bare-name", path, f"`{name}` without an extension; {why}", "the specification's", key=name)

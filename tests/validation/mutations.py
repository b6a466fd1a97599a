"""Mutants: valid plans with one thing changed, and what the validator makes of them.

``python -m tests.validation.mutations 10000`` makes that many and says for each kind what became of its mutants.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pyspark_substrait import validate
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.model.types import Unbound
from pyspark_substrait.proto import read
from tests.validation.mutation_kinds import KINDS, Site
from tests.validation.origins import REGISTRY, Origin, grave, nodes, origins

__all__ = ["Outcome", "mutate", "outcome", "run"]


@dataclass(frozen=True)
class Outcome:
    """``verdict``: caught, equal, valid, uncaught or crashed; ``why`` says more."""

    kind: str
    origin: str
    path: str
    verdict: str
    why: str
    seconds: float
    message: Any = field(repr=False, default=None)


def mutate(origin: Origin, kind: str, chance: random.Random) -> tuple[Any, Site] | None:
    """A mutant of one kind; None where the plan has nothing to change so."""
    message = type(origin.message)()
    message.CopyFrom(origin.message)
    sites = [site for node in nodes(message) for site in KINDS[kind](node, origin, chance)]
    if not sites:
        return None
    site = chance.choice(sites)
    site.apply()
    return message, site


def outcome(origin: Origin, kind: str, message: Any, site: Site) -> Outcome:
    """What the validator makes of a mutant, and whether that is right."""
    start = time.process_time()
    try:
        report = validate(message)
        new = set(grave(report)) - origin.found
    except Exception as error:
        return Outcome(kind, origin.name, site.path, "crashed", repr(error), time.process_time() - start, message)
    seconds = time.process_time() - start
    if new:
        verdict, why = "caught", str(sorted(new)[0])
    elif origin.found - set(grave(report)):
        verdict, why = "valid", "what was doubtful in the original isn't any more"
    elif _same(origin, message):
        verdict, why = "equal", ""
    elif site.valid == "?":
        verdict, why = (
            ("valid", "its calls still fit") if _calls_fit(origin, message) else ("uncaught", "a call doesn't fit")
        )
    elif site.valid:
        verdict, why = "valid", site.valid
    else:
        verdict, why = "uncaught", ""
    return Outcome(kind, origin.name, site.path, verdict, why, seconds, message)


def _same(origin: Origin, message: Any) -> bool:
    try:
        return read.checked(message, REGISTRY).document == origin.checked.document
    except SubstraitError:
        return False


_SHORT = {
    "boolean": "bool",
    "string": "str",
    "binary": "vbin",
    "interval_year": "iyear",
    "interval_day": "iday",
    "interval_compound": "icompound",
    "fixedchar": "fchar",
    "varchar": "vchar",
    "fixedbinary": "fbin",
    "decimal": "dec",
    "precision_time": "pt",
    "precision_timestamp": "pts",
    "precision_timestamp_tz": "ptstz",
}


def _misfits(origin: Origin) -> Iterator[str]:
    """Where a call has an argument of another type than the declared name of its function says."""
    for node in nodes(origin.message):
        if not hasattr(node.message, "function_reference") or not hasattr(node.message, "arguments"):
            continue
        signature = origin.signature(node.message.function_reference)
        if getattr(node.message, "phase", 3) not in (0, 3) or not signature:
            continue
        for index in range(len(node.message.arguments)):
            wanted = signature[min(index, len(signature) - 1)]
            path = f"{node.path}.arguments[{index}].value"
            value = origin.at.get(path)
            if value is None or wanted.startswith(("any", "func", "u!")) or isinstance(value.type, Unbound):
                continue
            keyword = getattr(value.type, "keyword", "")
            if wanted != _SHORT.get(keyword, keyword):
                yield path


def _calls_fit(origin: Origin, message: Any) -> bool:
    """Whether each call of a mutant has arguments of the declared types, as far as those of the original have."""
    return set(_misfits(Origin("", message))) <= set(_misfits(origin))


def run(count: int, seed: int = 7, plans: list[Origin] | None = None) -> Iterator[Outcome]:
    """That many mutants, the kinds in turn."""
    chance, plans = random.Random(seed), plans or origins()
    kinds, made = list(KINDS), 0
    useful: dict[str, list[Origin]] = {kind: list(plans) for kind in kinds}
    while made < count:
        kind = kinds[made % len(kinds)]
        # half of the mutants are of plans of others, where there are any
        others = [origin for origin in useful[kind] if not origin.name.startswith("sample ")]
        origin = chance.choice(others if others and chance.random() < 0.5 else useful[kind])
        mutant = mutate(origin, kind, chance)
        if mutant is None:
            useful[kind].remove(origin)
            continue
        made += 1
        yield outcome(origin, kind, *mutant)


def main() -> None:
    table: dict[str, Counter[str]] = defaultdict(Counter)
    slowest, shown = 0.0, Counter[tuple[str, str]]()
    for found in run(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 7):
        table[found.kind][found.verdict] += 1
        slowest = max(slowest, found.seconds)
        key = (found.kind, found.verdict)
        if found.verdict in ("uncaught", "crashed") and shown[key] < 12:
            shown[key] += 1
            print(found.verdict.upper(), found.kind, "|", found.origin, "|", found.path, found.why)
    verdicts = ("caught", "equal", "valid", "uncaught", "crashed")
    print(f"{'':28}" + "".join(f"{verdict:>10}" for verdict in verdicts))
    for kind, counts in sorted(table.items()):
        print(f"{kind:28}" + "".join(f"{counts[verdict]:>10}" for verdict in verdicts))
    total = sum(table.values(), Counter[str]())
    print(f"{'all':28}" + "".join(f"{total[verdict]:>10}" for verdict in verdicts))
    print(f"slowest: {slowest:.3f} s")


if __name__ == "__main__":
    main()

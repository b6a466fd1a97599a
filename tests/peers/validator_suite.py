"""The test-suite of substrait-validator, run against ``validate``.

    python -m tests.peers.validator_suite FOLDER [-v]

FOLDER is the ``tests`` folder of a checkout of substrait-validator. Each of its YAML files is a plan whose parts are
marked with what the validator finds there: diagnostics (level, class, words), types, and the gravest level that is left
once those are set aside. Each mark is an expectation. It holds where ``validate`` says the same: a finding of the class
at that path or inside of it, the type there, nothing graver than the level. The words of messages are not compared, and
a difference in level is remarked: here, what loading takes with a note is a warning.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

import yaml

from pyspark_substrait import validate
from pyspark_substrait.analysis.report.report import Report
from pyspark_substrait.codes import Code, Level
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.expressions import FieldReference, OuterReference
from pyspark_substrait.model.findings import Finding
from pyspark_substrait.model.paths import render
from pyspark_substrait.model.plan import Plan, RelRoot
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.relations.base import RelationBase
from pyspark_substrait.model.types import OpenStruct, Struct, Type, Unbound, name_count
from tests.peers.validator_differences import DIFFERENCES, OUTDATED

__all__ = ["Expectation", "Outcome", "State", "run"]

_LEVELS = {"i": Level.INFO, "w": Level.WARNING, "e": Level.ERROR}
_ORDER = (Level.INFO, Level.WARNING, Level.ERROR)
_OWN = 100
"""Classes of this number and up within their group are of this package; substrait-validator has none like them."""


class State(Enum):
    """What became of an expectation."""

    HELD = "held"
    NOT_APPLICABLE = "not applicable"
    DIFFERS = "the specification says otherwise"
    NOT_HELD = "not held"


@dataclass(frozen=True)
class Expectation:
    """A mark in a file: its place (as in a finding), its kind (``diag``, ``level``, ``type``, ``comment``), what."""

    file: str
    path: str
    kind: str
    wanted: Any

    def __str__(self) -> str:
        return f"{self.file} {self.path or '(plan)'}: {self.kind} {self.wanted}"


@dataclass(frozen=True)
class Outcome:
    """What became of an expectation, and why."""

    expectation: Expectation
    state: State
    reason: str = ""


# the files ------------------------------------------------------------------------------------------------------------


@dataclass
class _Case:
    """One file: the plan without its marks, the extensions in it, and the marks, those of children first."""

    file: str
    plan: dict[str, Any]
    overrides: dict[int, tuple[Level, Level]] = field(default_factory=dict)
    extensions: list[dict[str, Any]] = field(default_factory=list)
    expectations: list[Expectation] = field(default_factory=list)


def _case(path: Path, folder: Path) -> _Case:
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    case = _Case(str(path.relative_to(folder)), content["plan"])
    for item in content.get("diags", ()):
        low, high = _LEVELS[item.get("min", "i")], _LEVELS[item.get("max", "e")]
        case.overrides[int(item["code"])] = (low, high)
    case.overrides.setdefault(Code.VERSIONING, (Level.INFO, Level.INFO))
    _strip(case.plan, (), case)
    case.expectations.reverse()
    return case


def _strip(data: Any, path: tuple[str | int, ...], case: _Case) -> None:
    """Take the marks and the extensions out of a part of the plan."""
    if isinstance(data, list):
        for index, item in enumerate(data):
            _strip(item, (*path, index), case)
    if not isinstance(data, dict):
        return
    for key in [key for key in data if key.endswith("__test")]:
        below = [int(part) if part.isdigit() else part for part in key.removesuffix("__test").split(".") if part]
        for mark in reversed(data.pop(key)):  # all are reversed in the end, so that those of children come first
            for kind, wanted in mark.items():
                place = _current(_text((*path, *below)))
                case.expectations.append(Expectation(case.file, place, kind, wanted))
    for key in [key for key in data if key.endswith("__yaml")]:
        urn = f"extension:test:{len(case.extensions)}"
        case.extensions.append({"urn": urn, **data.pop(key)})
        data[key.removesuffix("__yaml")] = urn
    for key, value in data.items():
        _strip(value, (*path, key), case)
    if data.get("select") == []:
        data["select"] = {}  # JSON for a message without fields; a list is protobuf's Python runtime being kind
    if "@type" in data and "/" not in data["@type"]:
        data["@type"] = f"type.googleapis.com/{data['@type']}"


def _text(path: tuple[str | int, ...]) -> str:
    """A path of JSON names as one in the words of a finding."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{_snake(part)}"
    return text.removeprefix(".")


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


_MOVED = (
    (
        re.compile(r"virtual_table\.values\[(\d+)\]\.fields\[(\d+)\]"),
        r"virtual_table.expressions[\1].fields[\2].literal",
    ),
    (re.compile(r"virtual_table\.values\[(\d+)\]"), r"virtual_table.expressions[\1]"),
    (re.compile(r"\.timestamp(_tz)?$"), r".precision_timestamp\1"),
    (re.compile(r"\.time$"), r".precision_time"),
    (re.compile(r"\.null\.timestamp(_tz)?\b"), r".null.precision_timestamp\1"),
)
"""Where what the suite writes in the words of earlier releases stands in the current one."""


def _current(path: str) -> str:
    for pattern, replacement in _MOVED:
        path = pattern.sub(replacement, path)
    return path


_REFINED = {
    Code.EXPRESSION_REFERENCE: Code.ILLEGAL_VALUE,
    Code.PROTO_UNSPECIFIED_ENUM: Code.ILLEGAL_VALUE,
    Code.PROTO_UNKNOWN_ENUM: Code.ILLEGAL_VALUE,
}
"""Classes of this package that say more exactly what is of one class there."""

_NOTHING = b"\x22\x00"
"""A plan that says nothing at all has no bytes; this one has an extension that says nothing."""

# the comparison -------------------------------------------------------------------------------------------------------


def run(folder: Path) -> Iterator[Outcome]:
    """Every expectation of the suite in a folder, with what became of it."""
    files = sorted(path for path in folder.rglob("*.yaml") if ".test." not in path.name)
    for path in files:
        case = _case(path, folder)
        registry = Registry.default()
        for extension in case.extensions:
            registry = registry.with_yaml(yaml.safe_dump(extension, sort_keys=False))
        report = validate(case.plan, registry=registry) if case.plan else validate(_NOTHING, registry=registry)
        left = [_overridden(finding, case.overrides) for finding in report]
        answers: list[tuple[Finding, Level]] = []
        for expectation in case.expectations:
            outcome = _outcome(expectation, report, left, answers)
            place = (expectation.file, expectation.path, expectation.kind)
            if outcome.state is State.NOT_HELD and place in DIFFERENCES:
                outcome = Outcome(expectation, State.DIFFERS, DIFFERENCES[place])
            elif outcome.state is State.NOT_HELD and place in OUTDATED:
                outcome = Outcome(expectation, State.NOT_APPLICABLE, OUTDATED[place])
            yield outcome


def _overridden(finding: Finding, overrides: dict[int, tuple[Level, Level]]) -> tuple[Finding, Level]:
    low, high = overrides.get(finding.code, (Level.INFO, Level.ERROR))
    level = max(finding.level, low, key=_ORDER.index)
    return finding, min(level, high, key=_ORDER.index)


def _outcome(
    expectation: Expectation,
    report: Report,
    left: list[tuple[Finding, Level]],
    answers: list[tuple[Finding, Level]],
) -> Outcome:
    match expectation.kind:
        case "diag":
            return _diagnostic(expectation, left, answers)
        case "level":
            return _level(expectation, left)
        case "type":
            return _type(expectation, report)
        case _:
            return Outcome(expectation, State.NOT_APPLICABLE, "prose")


def _diagnostic(
    expectation: Expectation, left: list[tuple[Finding, Level]], answers: list[tuple[Finding, Level]]
) -> Outcome:
    wanted = expectation.wanted
    code = wanted.get("code")
    if code == Code.NOT_YET_IMPLEMENTED:
        return Outcome(expectation, State.NOT_APPLICABLE, "not implemented there")
    level = _LEVELS[wanted["level"]] if "level" in wanted else None
    inside = [item for item in left if _within(item[0].path, expectation.path)]
    fitting = [item for item in inside if code in (None, item[0].code, _REFINED.get(item[0].code))]
    said = [item for item in answers if _within(item[0].path, expectation.path) and code == item[0].code]
    if said and not fitting:
        return Outcome(expectation, State.HELD, f"one finding for both: at {said[0][0].path}")
    if not fitting:
        near = inside or [item for item in left if item[0].code == code]
        return Outcome(expectation, State.NOT_HELD, "found: " + "; ".join(str(item[0]) for item in near[:4]))
    found = min(fitting, key=lambda item: (item[0].path != expectation.path, item[1] is not level, len(item[0].path)))
    left.remove(found)
    answers.append(found)
    remarks = []
    if found[0].path != expectation.path:
        remarks.append(f"at {found[0].path.removeprefix(expectation.path).lstrip('.')} inside")
    if level is not None and found[1] is not level:
        remarks.append(f"{found[1].value} instead of {level.value}")
    return Outcome(expectation, State.HELD, "; ".join(remarks))


def _level(expectation: Expectation, left: list[tuple[Finding, Level]]) -> Outcome:
    allowed = [_LEVELS[letter] for letter in expectation.wanted]
    here = [(finding, level) for finding, level in left if _within(finding.path, expectation.path)]
    graver = [item for item in here if item[1] not in allowed and item[1] is not Level.INFO]
    graver = [item for item in graver if item[1] is Level.ERROR or item[0].code % 1000 < _OWN]
    if graver:
        return Outcome(expectation, State.NOT_HELD, str(graver[0][0]))
    if Level.INFO in allowed or any(level in allowed for _, level in here):
        return Outcome(expectation, State.HELD)
    if Level.WARNING in allowed and any(finding.code is Code.PROTO_ANY for finding, _ in here):
        return Outcome(expectation, State.HELD, "info instead of warning")
    return Outcome(expectation, State.NOT_HELD, "nothing was found")


def _within(path: str, above: str) -> bool:
    return not above or path == above or path.startswith((f"{above}.", f"{above}["))


# types ----------------------------------------------------------------------------------------------------------------


def _type(expectation: Expectation, report: Report) -> Outcome:
    found = _type_at(expectation.path, report)
    if found is None:
        return Outcome(expectation, State.NOT_HELD, "nothing was read there")
    type, names = found
    wanted, named = _plain(expectation.wanted)
    given = _written(type)
    if wanted.rstrip("?") == "!" and given.rstrip("?") == "!":
        return Outcome(expectation, State.HELD)
    if not _matches(wanted, given):
        return Outcome(expectation, State.NOT_HELD, f"found: {given}")
    if named and names and tuple(named) != tuple(names):
        return Outcome(expectation, State.NOT_HELD, f"found the names {names}")
    return Outcome(expectation, State.HELD)


def _matches(wanted: str, given: str) -> bool:
    return re.fullmatch(re.escape(wanted).replace("!", r"!\??"), given) is not None


def _plain(text: str) -> tuple[str, list[str]]:
    """A type as the suite writes it, in the specification's words; and the outermost names in it."""
    depth, names = 0, []
    for match in re.finditer(r"[<>]|(\w+): ", text):
        depth += {"<": 1, ">": -1}.get(match[0], 0)
        if match[1] and depth == 1:
            names.append(match[1])
    plain = re.sub(r"\w+: ", "", text).lower().replace("nstruct", "struct")
    plain = re.sub(r"\b(timestamp_tz|timestamp|time)\b(\??)", r"precision_\1\2<6>", plain)
    return re.sub(r"\binterval_day\b(\??)", r"interval_day\1<6>", plain), names


def _written(type: Type) -> str:
    match type:
        case OpenStruct() | Unbound():
            return "!?"
        case Struct(types=types, nullable=nullable):
            return f"struct{'?' * nullable}<{', '.join(map(_written, types))}>"
        case _:
            return str(type)


def _type_at(path: str, report: Report) -> tuple[Type, tuple[str | None, ...]] | None:
    plan = report.document
    if isinstance(plan, Plan):
        match = re.fullmatch(r"relations\[(\d+)\](\.root)?", path)
        if match is not None:
            return _of_node(plan.relations[int(match[1])])
    nodes = {render(place): node for node, place in report.places}
    node = nodes.get(path)
    if node is None and path.endswith(".outer_reference"):
        return _outer_record(path, nodes)
    if node is None:
        node = nodes.get(path.rpartition(".")[0])
    return None if node is None else _of_node(node)


def _of_node(node: Any) -> tuple[Type, tuple[str | None, ...]]:
    if isinstance(node, RelRoot):
        top, position = [], 0
        for type in node.input.schema.types:
            top.append(node.names[position] if position < len(node.names) else None)
            position += 1 + name_count(type)
        return node.input.schema, tuple(top)
    if isinstance(node, RelationBase):
        return node.schema, node.names
    return node.type, ()


def _outer_record(path: str, nodes: dict[str, Any]) -> tuple[Type, tuple[str | None, ...]] | None:
    reference = nodes.get(path.removesuffix(".selection.outer_reference"))
    if not isinstance(reference, FieldReference) or not isinstance(reference.root, OuterReference):
        return None
    outer = path
    for _ in range(reference.root.steps_out or 0):
        outer = outer.rpartition(".subquery.")[0]
    around = [place for place, node in nodes.items() if isinstance(node, RelationBase) and _within(outer, place)]
    relation: Relation = nodes[max(around, key=len)]
    return _of_node(relation.inputs[0])


# the table ------------------------------------------------------------------------------------------------------------


def main(arguments: list[str]) -> int:
    """Print what became of the expectations, and which don't hold."""
    outcomes = list(run(Path(arguments[0])))
    counts = Counter(outcome.state for outcome in outcomes)
    for kind in ("diag", "level", "type", "comment"):
        of_kind = Counter(outcome.state for outcome in outcomes if outcome.expectation.kind == kind)
        print(f"{kind:8}", ", ".join(f"{of_kind[state]} {state.value}" for state in State if of_kind[state]))
    applicable = counts[State.HELD] + counts[State.NOT_HELD]
    exact = sum(outcome.state is State.HELD and not outcome.reason for outcome in outcomes)
    print(f"{exact} are held to the letter, the others by a more exact path or at another level")
    print(f"{counts[State.HELD]} of {applicable} applicable expectations hold ({counts[State.HELD] / applicable:.1%})")
    for outcome in outcomes:
        if outcome.state in (State.NOT_HELD, State.DIFFERS) or (outcome.reason and "-v" in arguments):
            print(f"\n{outcome.state.value}: {outcome.expectation}\n    {outcome.reason}")
    return 1 if counts[State.NOT_HELD] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Assign the times and bytes of Spark's operators to relations.

Counts divide the operators into regions, each from a counted relation down to the next ones. Spark measures the time of
scans, and of each stage as a whole. The time of a stage is divided among the relations of its regions by the rows that
they handle, which is an estimate. A scan is matched with a read by its columns.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pyspark_substrait.analysis.profile.figures import Basis, Figure
from pyspark_substrait.analysis.profile.rows import inner_queries
from pyspark_substrait.model.relations import NamedTable, Read, Reference, Relation
from pyspark_substrait.spark.profiling.operators import Operator

__all__ = ["RelationCost", "attributed_costs"]


@dataclass(frozen=True, slots=True)
class RelationCost:
    """The time that a relation took, and the bytes that it read."""

    seconds: Figure | None = None
    bytes_read: Figure | None = None


@dataclass(slots=True)
class _Stage:
    """A stage: its time, its regions with their numbers of operators, and its scans by region."""

    seconds: float = 0.0
    regions: Counter[str] = field(default_factory=Counter)
    scans: list[tuple[str, Operator]] = field(default_factory=list)


def attributed_costs(
    top: Operator | None, names: Mapping[str, Relation], nodes: Sequence[Relation], rows: Mapping[int, Figure]
) -> dict[int, RelationCost]:
    """Return the time and bytes of each relation, by identity.

    Args:
        top: the operators that Spark ran; None if they aren't known.
        names: the relations that were counted, by the names of their counts.
        nodes: the relations of the tree, each before those below it.
        rows: the numbers of their output rows, by identity.
    """
    if top is None:
        return {}
    stages = _stages(top)
    present = {name for stage in stages for name in stage.regions}
    members = _members(nodes[0], {id(node): name for name, node in names.items() if name in present})
    scans = [scan for stage in stages for scan in stage.scans]
    of_read = _matched(scans, members)
    owners = {id(scan): read for read, (scan, _) in of_read.items()}
    measured = {read: scan.metrics.get("scan time", 0.0) for read, (scan, _) in of_read.items()}
    estimated: dict[int, float] = defaultdict(float)
    spread = Counter(name for stage in stages for name in stage.regions)
    most = _most(nodes, rows)
    for stage in stages:
        known = sum(scan.metrics.get("scan time", 0.0) for _, scan in stage.scans if id(scan) in owners)
        rest = max(0.0, stage.seconds - known)
        weights = {
            id(node): _handled(node, rows, most) / spread[name]
            for name in stage.regions
            for node in members.get(name, ())
            if not _only_scans(node, measured)
        }
        whole = sum(weights.values())
        for node_id, weight in weights.items():
            estimated[node_id] += rest * weight / whole
    found: dict[int, RelationCost] = {}
    for node in nodes:
        seconds = measured.get(id(node), 0.0) + estimated.get(id(node), 0.0)
        sure = id(node) in measured and id(node) not in estimated
        if id(node) in measured or id(node) in estimated:
            size = _size(*of_read[id(node)]) if id(node) in of_read else None
            found[id(node)] = RelationCost(Figure(seconds, Basis.MEASURED if sure else Basis.ESTIMATED), size)
    return found


def _size(scan: Operator, sure: bool) -> Figure:
    return Figure(int(scan.metrics["bytes"]), Basis.MEASURED if sure else Basis.ESTIMATED)


def _only_scans(node: Relation, scanned: Mapping[int, float]) -> bool:
    """Whether the time of a relation is that of its scan alone."""
    return isinstance(node, Read) and id(node) in scanned and node.filter is None and node.best_effort_filter is None


def _handled(node: Relation, rows: Mapping[int, Figure], most: float) -> float:
    """The number of rows that a relation handles, as far as known; at least one.

    Each input and the output count at most ``most``: a cross product that is filtered at once is never materialised.
    """
    figures = [rows.get(id(other)) for other in (node, *node.inputs)]
    return 1.0 + sum(min(figure.value, most) for figure in figures if figure is not None)


def _most(nodes: Iterable[Relation], rows: Mapping[int, Figure]) -> float:
    """The largest number of output rows that is certain, over all relations."""
    figures = ((rows.get(id(node)), isinstance(node, Read)) for node in nodes)
    real = (figure.value for figure, read in figures if figure is not None and (read or figure.basis is Basis.MEASURED))
    return max(real, default=0.0)


def _stages(top: Operator) -> list[_Stage]:
    """Return the stages, in the order of the tree."""
    stages = [_Stage()]
    pending = [(top, stages[0], "")]
    while pending:
        node, stage, region = pending.pop()
        if node.is_border:
            # the tasks of a stage write its output for the next one
            stage = _Stage(seconds=node.metrics.get("write time", 0.0))
            stages.append(stage)
        elif node.observes and node.observation:
            region = node.observation
            stage.regions[region] += 1
        elif node.name.startswith("WholeStageCodegen"):
            # nested ones start together, and each ends after its input
            stage.seconds = max(stage.seconds, node.metrics.get("duration", 0.0))
        elif not node.is_wrapper:
            stage.regions[region] += 1
        if node.is_scan:
            stage.scans.append((region, node))
        pending.extend((child, stage, region) for child in reversed(node.children))
    for stage in stages:
        stage.seconds = max(stage.seconds, sum(scan.metrics.get("scan time", 0.0) for _, scan in stage.scans))
    return stages


def _members(tree: Relation, counted: Mapping[int, str]) -> dict[str, list[Relation]]:
    """The relations of each region, each before those below it."""
    found: dict[str, list[Relation]] = defaultdict(list)
    seen: set[int] = set()
    pending = [(tree, "")]
    while pending:
        node, region = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        region = counted.get(id(node), region)
        found[region].append(node)
        below = [*node.inputs, *inner_queries(node), *([node.subtree] if isinstance(node, Reference) else [])]
        pending.extend((child, region) for child in reversed(below))
    return found


# scans and reads ------------------------------------------------------------------------------------------------------


def _matched(
    scans: Iterable[tuple[str, Operator]], members: Mapping[str, Sequence[Relation]]
) -> dict[int, tuple[Operator, bool]]:
    """The scan of each read, by the identity of the read, and whether it is surely that one."""
    found: dict[int, tuple[Operator, bool]] = {}
    waiting: dict[str, list[Operator]] = defaultdict(list)
    for region, scan in scans:
        waiting[region].append(scan)
    for region, here in waiting.items():
        reads = [node for node in members.get(region, ()) if isinstance(node, Read)]
        # scans with the most columns first: they match the fewest reads
        for scan in sorted(here, key=lambda scan: -len(_columns(scan) or ())):
            fitting = [read for read in reads if id(read) not in found and _fits(scan, read)]
            if fitting:
                tables = {_table(read) for read in reads if _fits(scan, read)}
                sizes = {other.metrics["bytes"] for other in here if _fits(other, fitting[0])}
                found[id(fitting[0])] = (scan, len(tables) == 1 and len(sizes) == 1)
    return found


def _table(read: Read) -> object:
    return read.read_type.names if isinstance(read.read_type, NamedTable) else id(read)


def _fits(scan: Operator, read: Read) -> bool:
    columns = _columns(scan)
    return columns is None or columns <= {name.lower() for name in read.base_schema.top_level_names()}


def _columns(scan: Operator) -> frozenset[str] | None:
    """The output columns of a scan, in lower case; None if they aren't known."""
    found = re.match(r"\w+ [^\[]*\[([^\]]*)\]", scan.text)
    return frozenset(re.findall(r"([^,#]+)#\d+", found[1].lower())) if found else None

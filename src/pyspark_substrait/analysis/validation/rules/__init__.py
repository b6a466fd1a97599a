"""The rules over the model. A rule is a function of a node and its path that yields findings.

* ``shared``: emit and hints, which all relations have
* ``reads``, ``writes``: tables and their schemas
* ``aggregates``, ``windows``, ``orders``: measures, frames, sort fields and the bounds of fetches
* ``choices``, ``parameters``: lists, switches, and the values of dynamic parameters
* ``distribution``: exchanges and expansions
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, get_args

from pyspark_substrait.analysis.validation.rules import (
    aggregates,
    choices,
    distribution,
    orders,
    parameters,
    reads,
    shared,
    windows,
    writes,
)
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model.findings import Finding, Places
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.plan import ExtendedExpression, Plan

__all__ = ["findings"]

_Rule = Callable[[Any, Path], Iterator[Finding]]

_OWN: dict[type, tuple[_Rule, ...]] = {
    r.Read: (reads.schema, reads.source, reads.slices),
    r.Fetch: (orders.fetch,),
    r.TopN: (orders.top_n,),
    r.Sort: (orders.sort,),
    r.Aggregate: (aggregates.groupings,),
    r.Write: (writes.target_names, writes.written),
    r.Ddl: (writes.target_names, writes.definition),
    r.Update: (writes.target_names, writes.updated),
    r.Exchange: (distribution.exchange,),
    r.Expand: (distribution.expand,),
    r.ConsistentPartitionWindow: (windows.relation,),
    r.WindowRelFunction: (windows.frame,),
    e.WindowFunction: (windows.frame, windows.order),
    e.AggregateFunction: (aggregates.invocation,),
    e.SortField: (orders.field,),
    e.FieldReference: (reads.slices,),
    e.SingularOrList: (choices.options,),
    e.MultiOrList: (choices.options,),
    e.SwitchExpression: (choices.switch,),
}
_COMMON: tuple[_Rule, ...] = (shared.emit, shared.hint)
_RULES: dict[type, tuple[_Rule, ...]] = dict.fromkeys(get_args(r.Relation), _COMMON)
for _kind, _rules in _OWN.items():
    _RULES[_kind] = (*_RULES.get(_kind, ()), *_rules)


def findings(document: Plan | ExtendedExpression, places: Places, registry: Registry) -> Iterator[Finding]:
    """Return the findings of all rules for a document."""
    uses: list[tuple[e.DynamicParameter, Path]] = []
    for node, path in places:
        kind = node.__class__
        for rule in _RULES.get(kind, ()):
            yield from rule(node, path)
        if kind is e.AggregateFunction and node.sorts:
            yield from aggregates.ordered(node, path, registry)
        elif kind is e.DynamicParameter:
            uses.append((node, path))
    yield from parameters.parameters(document, uses)

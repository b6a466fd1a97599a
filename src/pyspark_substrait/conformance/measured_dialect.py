"""The dialect file that outcomes amount to: the functions, with their options, and the relations that passed.

Spec: text/dialect_schema.yaml.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from pyspark_substrait.conformance.running import Outcome
from pyspark_substrait.conformance.trials import Function
from pyspark_substrait.model.dialect_terms import Term, relation_terms
from pyspark_substrait.model.walk import relations_within

__all__ = ["measured_dialect"]

_SECTIONS: Final = {
    "scalar": "supported_scalar_functions",
    "aggregate": "supported_aggregate_functions",
    "window": "supported_window_functions",
}


def measured_dialect(engine: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return a dialect file as plain values for JSON and YAML.

    An overload is listed with a set of options if a case of it passed, and none failed or was refused. A relation is
    listed with its kinds in the same way, by the cases that are about it. Types and expressions aren't listed, which
    means that the file says nothing of them; nor are kinds of functions of which no case was run.
    """
    counted = [item for item in outcomes if item.status != "set aside"]
    functions = _holding((item.trial.function, item) for item in counted if item.trial.function is not None)
    terms = _holding((term, item) for item in counted for term in _terms(item))
    urns = sorted({function.urn for function in functions})
    aliases = {urn: urn.rpartition(":")[2].removeprefix("functions_") for urn in urns}
    found: dict[str, Any] = {"name": engine}
    if aliases:
        found["dependencies"] = {alias: urn for urn, alias in aliases.items()}
    if terms:
        found["supported_relations"] = [*_relations(terms)]
    tried = {item.trial.function.kind for item in counted if item.trial.function is not None}
    for kind, section in _SECTIONS.items():
        if kind in tried:  # an empty list says that there are none
            found[section] = [*_entries([function for function in functions if function.kind == kind], aliases)]
    return found


def _holding(pairs: Iterable[tuple[Any, Outcome]]) -> list[Any]:
    """Return the keys all of whose outcomes passed, in order."""
    passed: dict[Any, bool] = {}
    for key, outcome in pairs:
        passed[key] = passed.get(key, True) and outcome.status == "passed"
    return [key for key, every in passed.items() if every]


def _terms(outcome: Outcome) -> Iterator[Term]:
    trial = outcome.trial
    found = {
        term
        for relation in relations_within(trial.relation)
        for term in relation_terms(relation)
        if term.name == trial.subject
    }
    yield from sorted(found, key=lambda term: (term.name, term.field, term.value))


def _relations(terms: Sequence[Term]) -> Iterator[Any]:
    """Yield a plain name for a relation without kinds, and otherwise an entry with them."""
    kinds: dict[str, dict[str, list[str]]] = {}
    for term in terms:
        lists = kinds.setdefault(term.name, {})
        if term.field:
            lists.setdefault(term.field, []).append(term.value)
    for name, lists in kinds.items():
        yield {"relation": name, **lists} if lists else name


def _entries(functions: Sequence[Function], aliases: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Yield an entry for each function and set of options."""
    overloads: defaultdict[tuple[str, str, tuple[tuple[str, str], ...]], list[str]] = defaultdict(list)
    for function in functions:
        overloads[function.urn, function.name, tuple(sorted(function.options))].append(function.signature)
    for (urn, name, options), signatures in sorted(overloads.items()):
        entry: dict[str, Any] = {"source": aliases[urn], "name": name}
        if options:
            entry["required_options"] = dict(options)
        entry["supported_impls"] = sorted(signatures)
        yield entry

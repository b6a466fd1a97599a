"""The supported functions, types and nodes as a dialect file; all but functions are found by compiling samples.

The file has the form of the specification (text/dialect_schema.yaml). Samples are in ``dialect_samples``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Final

from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.extensions.definitions import EnumArgument, FunctionDefinition
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.dialect_terms import Term, expression_term, relation_terms, type_term
from pyspark_substrait.model.expressions import Function
from pyspark_substrait.model.findings import Places
from pyspark_substrait.model.plan import Plan, RelRoot
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.types import Boolean, Type, UserDefined
from pyspark_substrait.sql import functions
from pyspark_substrait.sql.compiler.types import check_version, spark_type
from pyspark_substrait.sql.dialect_samples import (
    expression_samples,
    over,
    parameterized_types,
    relation_samples,
    simple_types,
)
from pyspark_substrait.sql.fragment import Name
from pyspark_substrait.sql.functions.registered import registered_table
from pyspark_substrait.sql.functions.table import Call, Operand, Refusal, Table
from pyspark_substrait.sql.spark_version import NEWEST, SparkVersion
from pyspark_substrait.sql.unsupported_parts import refusals

__all__ = ["dialect", "is_carried", "supported_calls"]

_SECTIONS: Final = {
    "scalar": "supported_scalar_functions",
    "aggregate": "supported_aggregate_functions",
    "window": "supported_window_functions",
}


def dialect(registry: Registry, spark: SparkVersion = NEWEST) -> dict[str, Any]:
    """Return the dialect file of a version of Spark as plain values for JSON and YAML.

    A function is listed once for each set of options under which it runs: a dialect lists "the exact list of options
    that must be used". Options that a call doesn't state are up to Spark.
    """
    urns = (*registry.urns(), *Registry.own_urns())
    aliases = {urn: _alias(urn) for urn in urns}
    found: dict[str, Any] = {
        "name": "Spark",
        "dependencies": {alias: urn for urn, alias in sorted(aliases.items(), key=lambda item: item[1])},
        "supported_types": [*_types(registry, urns, aliases, spark)],
        "supported_relations": _listed(_relation_terms(registry, spark), "relation"),
        "supported_expressions": _listed(_expression_terms(registry, spark), "expression"),
    }
    found |= {section: [*_functions(kind, registry, aliases, spark)] for kind, section in _SECTIONS.items()}
    found["supported_execution_behavior"] = {"supported_variable_evaluation_mode": ["PER_PLAN", "PER_RECORD"]}
    return found


def _alias(urn: str) -> str:
    """Return a short name for an extension; those of third parties include the owner."""
    _, owner, name = (*urn.split(":", 2), "", "")[:3]
    bare = name.removeprefix("functions_")
    return bare if owner in ("io.substrait", "pyspark_substrait") else f"{owner}:{name}"


# types ----------------------------------------------------------------------------------------------------------------


def _types(
    registry: Registry, urns: Sequence[str], aliases: Mapping[str, str], spark: SparkVersion
) -> Iterator[dict[str, Any]]:
    for type in simple_types():
        if is_carried(type, spark):
            yield _type_entry(type)
    for candidates, limits in parameterized_types():
        running = [type for type in candidates if is_carried(type, spark)]
        if running:
            highest = {key: max(getattr(type, field) for type in running) for key, field in limits.items()}
            yield {"type": type_term(running[-1]), **highest, "system_metadata": {"supported_as_column": True}}
    for urn in urns:
        for name in registry.type_names(urn):
            definition = registry.type(urn, name)
            type = UserDefined(urn=urn, name=name, structure=None if definition is None else definition.structure)
            if is_carried(type, spark):
                yield {**_type_entry(type), "source": aliases[urn], "name": name}


def _type_entry(type: Type) -> dict[str, Any]:
    name = spark_type(type).partition("<")[0]
    return {"type": type_term(type), "system_metadata": {"name": name, "supported_as_column": True}}


def is_carried(type: Type, spark: SparkVersion = NEWEST) -> bool:
    """Whether a version of Spark has a carrier for a type."""
    try:
        check_version(type, spark)
        spark_type(type)
    except SubstraitError:
        return False
    return True


# relations and expressions --------------------------------------------------------------------------------------------


def _runs(node: Relation, registry: Registry, spark: SparkVersion) -> bool:
    plan = Plan(relations=(RelRoot(input=node, names=()),))
    return not refusals(plan, _Anywhere(), registry, spark)


class _Anywhere(Places):
    """The paths of samples, which have none; each of their nodes may be refused by itself."""

    def path(self, node: Any) -> str | None:
        return ""


def _relation_terms(registry: Registry, spark: SparkVersion) -> Iterator[Term]:
    for node in relation_samples():
        if _runs(node, registry, spark):
            yield from relation_terms(node)


def _expression_terms(registry: Registry, spark: SparkVersion) -> Iterator[Term]:
    for node in expression_samples():
        term = expression_term(node)
        if term is not None and _runs(over(node), registry, spark):
            yield term


def _listed(terms: Iterator[Term], key: str) -> list[Any]:
    """Return a plain name for a kind without lists, and otherwise an entry with its lists."""
    names: dict[str, dict[str, list[str]]] = {}
    for term in terms:
        lists = names.setdefault(term.name, {})
        if term.field and term.value not in lists.setdefault(term.field, []):
            lists[term.field].append(term.value)
    return [{key: name, **lists} if lists else name for name, lists in names.items()]


# functions ------------------------------------------------------------------------------------------------------------


def _functions(
    kind: str, registry: Registry, aliases: Mapping[str, str], spark: SparkVersion
) -> Iterator[dict[str, Any]]:
    for urn, alias in aliases.items():
        table = functions.table(urn, spark) or registered_table(registry, urn, spark)
        if table is None:
            continue
        for name in registry.function_names(urn):
            overloads = [item for item in registry.overloads(urn, name) if item.kind == kind]
            yield from _entries(alias, overloads, table)


def _entries(alias: str, overloads: Sequence[FunctionDefinition], table: Table) -> Iterator[dict[str, Any]]:
    """Yield an entry for each set of options under which some of the overloads run."""
    together: dict[tuple[Any, ...], list[str]] = {}
    for definition in overloads:
        for options in supported_calls(definition, table):
            key = (tuple(options.items()), definition.variadic)
            together.setdefault(key, []).append(definition.key.partition(":")[2])
    for (options, variadic), implementations in together.items():
        entry: dict[str, Any] = {"source": alias, "name": overloads[0].name}
        if options:
            entry["required_options"] = dict(options)
        entry["supported_impls"] = implementations
        if variadic is not None:
            # the schema's minimum is 1: it can't express that the argument may be absent
            limits = {"min": variadic.minimum or None, "max": variadic.maximum}
            entry["variadic"] = {name: limit for name, limit in limits.items() if limit is not None}
        yield entry


def supported_calls(definition: FunctionDefinition, table: Table) -> Iterator[dict[str, str]]:
    """Yield the sets of stated options under which an overload runs, with any values of its enumeration arguments."""
    rows = [row for row in table.rows if row.name == definition.name]
    words = [item for item in definition.arguments if isinstance(item, EnumArgument)]
    calls = [
        _call(definition, {word.name: value for word, value in zip(words, chosen, strict=True)})
        for chosen in product(*(word.options for word in words))
    ]
    for values in product(*((None, *values) for _, values in definition.options)):
        options = {
            name: value for (name, _), value in zip(definition.options, values, strict=True) if value is not None
        }
        fitting = (next((row for row in rows if row.fits(call, options)), None) for call in calls)
        if any(row is not None and not isinstance(row, Refusal) for row in fitting):
            yield options


def _call(definition: FunctionDefinition, enums: Mapping[str, str]) -> Call:
    return Call(
        function=Function(definition.urn, definition.name, definition.key.partition(":")[2]),
        operands=tuple(Operand(Name(enums.get(argument.name, argument.name))) for argument in definition.arguments),
        names=tuple(argument.name for argument in definition.arguments),
        output=Boolean(),
    )

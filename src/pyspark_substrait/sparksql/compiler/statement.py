"""A plan as one Spark SQL statement."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pyspark_substrait.errors import InvalidPlanError, SubstraitError, UnsupportedPlanError, at
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.parameters import parameter_values
from pyspark_substrait.model.plan import Plan, RelRoot
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.types import NamedStruct, Type, name_count
from pyspark_substrait.sparksql.compiler import relations
from pyspark_substrait.sparksql.compiler.names import quoted
from pyspark_substrait.sparksql.compiler.query import FRAME_MARK, Item, Query
from pyspark_substrait.sparksql.compiler.reads import catalog_source
from pyspark_substrait.sparksql.compiler.scope import Compilation, Sources
from pyspark_substrait.sparksql.compiler.types import (
    MAP_SETTINGS,
    MATCH_SETTINGS,
    SETTINGS,
    TIME_SETTINGS,
    handed_type,
    named_spark_type,
    spark_type,
)
from pyspark_substrait.sparksql.decorrelation import decorrelated, needing_decorrelation
from pyspark_substrait.sparksql.functions.python_functions import PythonFunction

__all__ = ["Statement", "root", "statement"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What runs on Spark.

    Args:
        text: the Spark SQL. Bound DataFrames stand in it between marks (see ``query``).
        pieces: statements to be run first and bound as frames, by name, in order: a plan nested too deeply for
            Spark's parser is cut. Mostly there are none.
        schema: the names and types of the result.
        functions: the Python functions that the text calls, by the names it calls them. Mostly there are none.
    """

    text: str
    pieces: tuple[tuple[str, str], ...]
    schema: NamedStruct
    functions: Mapping[str, PythonFunction]

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings that the session must have for the text to mean what it says."""
        bare = _QUOTED.sub("", "".join((*(text for _, text in self.pieces), self.text)))
        needed = dict(SETTINGS)
        for mark, settings in _NEEDS:
            if mark.search(bare):
                needed.update(settings)
        return needed

    def readable(self) -> str:
        """The statement for people: frames stand in it by name, pieces as WITH clauses."""
        withs = [f"{name} AS ({shown(text)})" for name, text in self.pieces]
        return (f"WITH {', '.join(withs)} " if withs else "") + shown(self.text)


#: strings and names, whatever is in them
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|`[^`]*`", re.DOTALL)

#: what of a text needs which settings
_NEEDS = (
    (re.compile(r"\bTIME\b"), TIME_SETTINGS),
    (re.compile(r"\b(map|map_\w+|transform_keys)\("), MAP_SETTINGS),
    (re.compile(r"\bexists\("), MATCH_SETTINGS),
)


def shown(text: str) -> str:
    """A text with the names of its frames in the open."""
    return text.replace(FRAME_MARK, "")


def statement(
    plan: Plan,
    registry: Registry,
    sources: Sources = catalog_source,
    *,
    positional: bool = False,
    parameters: Mapping[int, object] | None = None,
    chosen: int | None = None,
) -> Statement:
    """Compile a root of the plan.

    Args:
        plan: the plan.
        registry: the extensions.
        sources: finds what the reads read from; by default tables of the session's catalog.
        positional: leave the columns their internal names, for a caller who puts the user's names on himself.
        parameters: values of the plan's dynamic parameters, by number; they go before those that the plan binds.
        chosen: which of several roots, from 0.

    Raises:
        ParameterError: a dynamic parameter has no value, or one that isn't of its type.
        UnsupportedPlanError: there are several roots and none is chosen, or something in the plan can't run on Spark.
        InvalidPlanError: the plan is wrong.
    """
    relations.refuse_enhancement(plan.advanced_extensions, "advanced_extensions")
    position, node, names = root(plan, chosen)
    compilation = Compilation(
        registry=registry,
        sources=sources,
        parameters=parameter_values(plan, parameters),
        evaluation=plan.execution_behavior,
    )
    with at("relations", position, *(("root", "input") if names is not None else ("rel",))):
        query = _query(node, compilation)
        if names is None:
            names = _known_names(node)
    schema = NamedStruct(names=names, struct=node.schema)
    if len(names) != sum(1 + name_count(type) for type in node.schema.types):
        raise InvalidPlanError(
            f"the root has {len(names)} names, but its columns, nested fields included, need "
            f"{sum(1 + name_count(type) for type in node.schema.types)}",
            path=f"relations[{position}].root.names",
        )
    items = _uniform(query.items, schema) if positional else _named(query.items, schema)
    text = compilation.with_shared(query.text(items))
    return Statement(text=text, pieces=tuple(compilation.pieces), schema=schema, functions=compilation.functions)


def _query(node: Relation, compilation: Compilation) -> Query:
    """The query of a relation, after the subqueries that Spark can't run were rewritten.

    What is wrong with a plan is said where it stands in the plan: one that is rewritten is compiled as it is, too.
    """
    refusal: SubstraitError | None = None
    counted: Relation | None = None
    try:
        counted = needing_decorrelation(node)
    except SubstraitError as error:
        refusal = error
    if counted is None and refusal is None:
        return relations.relation(node, (), compilation)
    try:
        relations.relation(node, (), compilation.trial())
    except UnsupportedPlanError as error:
        # what Spark can't do there, it may do in the rewritten plan
        refusal = refusal or error
    if counted is None:
        assert refusal is not None
        raise refusal
    try:
        rewritten = decorrelated(counted)
    except UnsupportedPlanError as error:
        # why it can't be rewritten says more than that it must be
        raise UnsupportedPlanError(error.message, path=refusal.path if refusal else "", hint=error.hint) from refusal
    try:
        return relations.relation(rewritten, (), compilation)
    except (InvalidPlanError, UnsupportedPlanError) as error:
        if refusal is None:
            error.path = ""
            raise
        raise refusal from error


def root(plan: Plan, chosen: int | None = None) -> tuple[int, Relation, tuple[str, ...] | None]:
    """The tree that is the result: a root or, in a plan without roots, its only relation.

    Args:
        plan: the plan.
        chosen: which of several roots, from 0.

    Returns:
        its position among the plan's relations, the tree, and the names of its columns, None where it has none.
    """
    roots = [(position, item) for position, item in enumerate(plan.relations) if isinstance(item, RelRoot)]
    if chosen is not None and not 0 <= chosen < len(roots):
        raise InvalidPlanError(
            f"there is no root {chosen}; the plan has {len(roots)}",
            path="relations",
            hint="Roots are counted from 0, without the relations between them",
        )
    if len(roots) > 1 and chosen is None:
        raise UnsupportedPlanError(
            f"the plan has {len(roots)} roots, and one runs at a time",
            path="relations",
            hint=f"Choose one: root=0 to root={len(roots) - 1} (--root)",
        )
    if roots:
        position, found = roots[chosen or 0]
        return position, found.input, found.names
    if len(plan.relations) != 1:
        raise InvalidPlanError(f"the plan has no root and {len(plan.relations)} relations", path="relations")
    relation = plan.relations[0]
    assert not isinstance(relation, RelRoot)
    return 0, relation, None


def _known_names(node: Relation) -> tuple[str, ...]:
    """Names for a result that the plan gives none: those that its columns have, or their position."""
    names: list[str] = []
    for position, type in enumerate(node.schema.types):
        names.append(node.names[position] or f"column_{position}")
        names.extend(f"field_{number}" for number in range(name_count(type)))
    return tuple(names)


def _uniform(items: tuple[Item, ...], schema: NamedStruct) -> Iterator[Item]:
    """The columns as Spark can hand them to Arrow.

    The fields of structs are nullable, because Arrow has trouble with required ones in a null; intervals of months are
    numbers of months.
    """
    for item, type in zip(items, schema.struct.types, strict=True):
        handed = handed_type(type)
        fits = handed == spark_type(type) and "STRUCT<" not in handed
        yield Item(item.text if fits else f"CAST({item.text} AS {handed})", item.name)


def _named(items: tuple[Item, ...], schema: NamedStruct) -> Iterator[Item]:
    """The columns under the user's names, which nested fields get by a cast."""
    names = iter(schema.names)
    for item, type in zip(items, schema.struct.types, strict=True):
        name = quoted(next(names))
        yield Item(_renamed(item.text, type, names), name)


def _renamed(text: str, type: Type, names: Iterator[str]) -> str:
    if name_count(type) == 0:
        return text
    return f"CAST({text} AS {named_spark_type(type, names)})"

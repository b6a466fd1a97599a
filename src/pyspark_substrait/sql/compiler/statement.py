"""A plan as one Spark SQL statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import InvalidPlanError, SubstraitError, UnsupportedPlanError, at
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.parameters import parameter_values
from pyspark_substrait.model.plan import Plan, RelRoot
from pyspark_substrait.model.relations import NamedTable, Read, Relation
from pyspark_substrait.model.repetition import refuse_repetition
from pyspark_substrait.model.types import NamedStruct, name_count
from pyspark_substrait.model.unbound import is_unbound
from pyspark_substrait.model.walk import relations_within
from pyspark_substrait.sql.compiler import relations
from pyspark_substrait.sql.compiler.aggregates import input_copies
from pyspark_substrait.sql.compiler.names import NameSource, quoted
from pyspark_substrait.sql.compiler.outputs import named, uniform
from pyspark_substrait.sql.compiler.query import FRAME_MARK, Query
from pyspark_substrait.sql.compiler.reads import catalog_source
from pyspark_substrait.sql.compiler.scope import Compilation, Counting, Sources
from pyspark_substrait.sql.compiler.statement_steps import SqlStep, Step
from pyspark_substrait.sql.compiler.subqueries import query_copies
from pyspark_substrait.sql.compiler.types import SETTINGS
from pyspark_substrait.sql.decorrelation import SparkNatives, decorrelated, needing_decorrelation
from pyspark_substrait.sql.functions.python_functions import PythonFunction
from pyspark_substrait.sql.spark_version import NEWEST, SparkVersion

__all__ = ["Statement", "root", "root_schema", "statement"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A Spark SQL statement, with the steps that must run before it.

    Args:
        text: the Spark SQL, with bound DataFrames between marks (see ``query``).
        steps: the steps to run first and bind as frames, in order: a plan nested too deeply for Spark's parser is split
            into statements, and extension relations are computed by handlers. Usually empty.
        schema: the names and types of the result.
        functions: the Python functions that the text calls, by the names it calls them. Usually empty.
        settings: the settings that the session must have for the text to be correct.
    """

    text: str
    steps: tuple[Step, ...]
    schema: NamedStruct
    functions: Mapping[str, PythonFunction]
    settings: Mapping[str, str]

    def readable(self) -> str:
        """Return the statement in readable form: frames by name, steps as WITH clauses."""
        withs = [f"{step.name} AS ({_shown_step(step)})" for step in self.steps]
        return (f"WITH {', '.join(withs)} " if withs else "") + shown(self.text)


def _shown_step(step: Step) -> str:
    if isinstance(step, SqlStep):
        return shown(step.text)
    return f"{quoted(step.detail.type_url)}({', '.join(step.inputs)})"


def shown(text: str) -> str:
    """Return a text with its frames as plain names."""
    return text.replace(FRAME_MARK, "")


def statement(
    plan: Plan,
    registry: Registry,
    sources: Sources = catalog_source,
    *,
    positional: bool = False,
    parameters: Mapping[int, object] | None = None,
    chosen: int | None = None,
    counting: Counting | None = None,
    refuse_slow_patterns: bool = False,
    spark: SparkVersion = NEWEST,
) -> Statement:
    """Compile a root of the plan.

    Args:
        plan: the plan.
        registry: the extensions.
        sources: finds what the reads read from; by default tables of the session's catalog.
        positional: keep the internal names of the columns, for a caller that assigns the user's names itself.
        parameters: values of the plan's dynamic parameters, by number; they override those that the plan binds.
        chosen: which of several roots, from 0.
        counting: the relations to count while the plan runs.
        refuse_slow_patterns: refuse patterns that may take very long for some texts.
        spark: the version of Spark that the text is for.

    Raises:
        ParameterError: a dynamic parameter has no value, or one that isn't of its type.
        UnsupportedPlanError: there are several roots and none is chosen, or something in the plan can't run on Spark.
        InvalidPlanError: the plan is wrong.
    """
    relations.refuse_enhancement(plan.advanced_extensions, "advanced_extensions")
    position, node, names = root(plan, chosen)
    _refuse_unbound(node)
    refuse_repetition(node, "Spark", input_copies, query_copies=query_copies)
    compilation = Compilation(
        registry=registry,
        sources=sources,
        parameters=parameter_values(plan, parameters),
        evaluation=plan.execution_behavior,
        names=NameSource(users=_users_names(node, names)),
        counting=counting,
        refuse_slow_patterns=refuse_slow_patterns,
        spark=spark,
    )
    with at("relations", position, *(("root", "input") if names is not None else ("rel",))):
        query = _query(node, compilation)
        names = _known_names(node) if names is None else names
    schema = _named_schema(position, node, names)
    items = uniform(query.items, schema) if positional else named(query.items, schema)
    text = compilation.with_shared(query.text(items))
    return Statement(
        text=text,
        steps=tuple(compilation.steps),
        schema=schema,
        functions=compilation.functions,
        settings={**SETTINGS, **compilation.settings},
    )


def _refuse_unbound(tree: Relation) -> None:
    """Refuse a tree that reads columns whose types are unbound, before a function of them is."""
    for node in relations_within(tree):
        if isinstance(node, Read) and is_unbound(node.base_schema.struct):
            table = ".".join(node.read_type.names) if isinstance(node.read_type, NamedTable) else "a table"
            raise UnsupportedPlanError(
                f"the plan leaves types of the columns of {table} open",
                hint="bind(plan, tables) takes them from the tables; run_query(plan, tables=…) does so by itself",
                code=Code.TARGET_TYPE,
            )


def _query(node: Relation, compilation: Compilation) -> Query:
    """Return the query of a relation, after the subqueries that Spark can't run were rewritten.

    Faults are reported with their paths in the plan, so a rewritten relation is also compiled in its original form.
    """
    refusal: SubstraitError | None = None
    counted: Relation | None = None
    try:
        counted = needing_decorrelation(node, SparkNatives(compilation.spark))
    except SubstraitError as error:
        refusal = error
    if counted is None and refusal is None:
        return relations.tree(node, compilation)
    try:
        relations.tree(node, compilation.trial())
    except UnsupportedPlanError as error:
        # parts that Spark can't run there may run in the rewritten plan
        refusal = refusal or error
    if counted is None:
        assert refusal is not None
        raise refusal
    try:
        rewritten = decorrelated(counted, SparkNatives(compilation.spark))
    except UnsupportedPlanError as error:
        # the reason why it can't be rewritten is more informative than that it must be
        raise UnsupportedPlanError(error.message, path=refusal.path if refusal else "", hint=error.hint) from refusal
    try:
        return relations.tree(rewritten, compilation)
    except (InvalidPlanError, UnsupportedPlanError) as error:
        if refusal is None:
            error.path = ""
            raise
        raise refusal from error


def root(plan: Plan, chosen: int | None = None) -> tuple[int, Relation, tuple[str, ...] | None]:
    """Return the tree of the result: a root or, in a plan without roots, its only relation.

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


def root_schema(plan: Plan, chosen: int | None = None) -> NamedStruct:
    """Return the names and types of the result of a root, without compiling it.

    Raises:
        InvalidPlanError: as for :func:`root`, or there are more or fewer names than columns.
    """
    position, node, names = root(plan, chosen)
    with at("relations", position, *(("root", "input") if names is not None else ("rel",))):
        names = _known_names(node) if names is None else names
    return _named_schema(position, node, names)


def _named_schema(position: int, node: Relation, names: tuple[str, ...]) -> NamedStruct:
    types = node.schema.types
    if len(names) != sum(1 + name_count(type) for type in types):
        raise InvalidPlanError(
            f"the root has {len(names)} names, but its columns, nested fields included, need "
            f"{sum(1 + name_count(type) for type in types)}",
            path=f"relations[{position}].root.names",
        )
    return NamedStruct(names=names, struct=node.schema)


def _users_names(node: Relation, names: tuple[str, ...] | None) -> frozenset[str]:
    """Return the names of the result's columns, in lower case; none of an invalid relation, which is refused later."""
    try:
        return frozenset(name.lower() for name in (_known_names(node) if names is None else names))
    except SubstraitError:
        return frozenset()


def _known_names(node: Relation) -> tuple[str, ...]:
    """Return names for a result without names in the plan: those that its columns have, or their position."""
    names: list[str] = []
    for position, type in enumerate(node.schema.types):
        names.append(node.names[position] or f"column_{position}")
        names.extend(f"field_{number}" for number in range(name_count(type)))
    return tuple(names)

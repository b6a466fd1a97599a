"""A plan as one statement of a dialect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from sqlglot import exp

from pyspark_substrait.engines.dialects import structs
from pyspark_substrait.engines.dialects.dialect import Dialect
from pyspark_substrait.engines.dialects.relations import relation
from pyspark_substrait.engines.dialects.scope import Compilation
from pyspark_substrait.engines.dialects.tree import sql_text
from pyspark_substrait.engines.grouping_sets import input_copies
from pyspark_substrait.engines.offsets import with_counted_offsets
from pyspark_substrait.engines.totals import with_kept_totals
from pyspark_substrait.errors import UnsupportedPlanError, at
from pyspark_substrait.message_text import shortened_name
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.parameters import parameter_values
from pyspark_substrait.model.plan import Plan
from pyspark_substrait.model.relations import NamedTable, Read, Reference
from pyspark_substrait.model.repetition import refuse_repetition
from pyspark_substrait.model.walk import relations_within
from pyspark_substrait.sql import view_statement as views
from pyspark_substrait.sql.compiler.statement import root, root_schema

__all__ = ["statement", "view_statement"]


def statement(
    plan: Plan,
    dialect: Dialect,
    *,
    parameters: Mapping[int, object] | None = None,
    chosen: int | None = None,
    formatted: bool = True,
) -> str:
    """Return the text of a plan's query.

    Args:
        plan: the plan.
        dialect: the dialect.
        parameters: values for the plan's dynamic parameters, which take precedence over its own.
        chosen: the root, from 0; needed if the plan has several.
        formatted: whether the text is indented, with a clause a line.

    Raises:
        UnsupportedPlanError: something in the plan has no form in the dialect with exactly its meaning.
        InvalidPlanError: the plan is wrong.
    """
    position, node, names = root(plan, chosen)
    if not dialect.keeps_conditions:
        node = with_kept_totals(node)
    if not dialect.keeps_offsets:
        node = with_counted_offsets(node)
    if not dialect.grouping_sets:
        refuse_repetition(node, dialect.engine, input_copies)
    found: dict[int, Literal] = dict(parameter_values(plan, parameters))
    uses = Counter(one.subtree_ordinal for one in relations_within(node) if isinstance(one, Reference))
    reads = [one for one in relations_within(node) if isinstance(one, Read) and isinstance(one.read_type, NamedTable)]
    named = [one.read_type for one in reads if isinstance(one.read_type, NamedTable)]
    tables = frozenset(one.names[-1].lower() for one in named if one.names)
    schema = root_schema(plan, chosen)
    differs = structs.differing([*(one.base_schema for one in reads), schema])
    compilation = Compilation(dialect=dialect, parameters=found, uses=uses, tables=tables, differs=differs)
    with at("relations", position, *(("root", "input") if names is not None else ("rel",))):
        query = relation(node, (), compilation)
        for type in node.schema.types:
            dialect.type_text(type)
        query = structs.with_names(query, schema, compilation)
    select = query.select(schema.top_level_names())
    tree: exp.Expression = select
    if compilation.shared:
        clauses = [
            exp.CTE(this=one.tree, alias=exp.TableAlias(this=exp.to_identifier(one.name, quoted=True)))
            for one in compilation.shared.values()
        ]
        select.set("with_", exp.With(expressions=clauses))
    for one in tree.find_all(exp.Identifier):
        _keeps(one.name, dialect)
    return _noted(sql_text(tree, dialect.sqlglot, formatted=formatted), dialect, formatted=formatted)


def _noted(text: str, dialect: Dialect, *, formatted: bool) -> str:
    """Return a text, after a comment if texts of its dialect were never run in the engine."""
    note = f"/* not run in {dialect.engine}; follows its documentation */"
    return text if dialect.was_run else note + ("\n" if formatted else " ") + text


def _keeps(name: str, dialect: Dialect) -> None:
    """Refuse a name that a dialect shortens: it may be that of another table or column then.

    Raises:
        UnsupportedPlanError: it is longer.
    """
    most = dialect.longest_name
    if most is not None and len(name.encode("utf-8", "replace")) > most:
        raise UnsupportedPlanError(
            f"{dialect.engine} keeps {most} bytes of a name, and `{shortened_name(name)}` has more"
        )


def view_statement(
    plan: Plan,
    dialect: Dialect,
    names: Sequence[str],
    *,
    replace: bool,
    parameters: Mapping[int, object] | None = None,
    chosen: int | None = None,
    formatted: bool = True,
) -> str:
    """Return the CREATE VIEW statement of a plan's query.

    Args:
        names: the parts of the view's name.
        replace: whether an existing view is replaced.
        plan, dialect, parameters, chosen, formatted: as for :func:`statement`.

    Raises:
        UnsupportedPlanError: something in the plan has no form in the dialect, or no view can have its columns.
        InvalidPlanError: the plan is wrong, or changes a table.
    """
    columns = views.view_columns(plan, chosen, names, case_sensitive=dialect.case_sensitive)
    if replace and not dialect.replaces_views:
        raise UnsupportedPlanError(
            f"{dialect.engine} has no CREATE OR REPLACE VIEW", hint="Drop the view first: DROP VIEW IF EXISTS"
        )

    def quoted(name: str) -> str:
        _keeps(name, dialect)
        if "\0" in name or (not name.isprintable() and any("\ud800" <= char <= "\udfff" for char in name)):
            raise UnsupportedPlanError(f"{dialect.engine} cannot have the name {name!a}")
        return str(exp.to_identifier(name, quoted=True).sql(dialect.sqlglot))

    query = statement(plan, dialect, parameters=parameters, chosen=chosen, formatted=formatted)
    listed = columns if dialect.names_view_columns else ()
    return views.view_statement(names, listed, query, quoted, replace=replace, lines=formatted)

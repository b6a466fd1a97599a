"""Extension relations, computed by the handler that the user registered for their type URL.

The inputs become separate statements, whose DataFrames the handler receives; its result is bound as a frame.
"""

from __future__ import annotations

from dataclasses import replace

from pyspark_substrait.errors import UnsupportedPlanError, at
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations import ExtensionLeaf, ExtensionMulti, ExtensionSingle, Relation
from pyspark_substrait.model.types import NamedStruct
from pyspark_substrait.sql.compiler import reads, relations
from pyspark_substrait.sql.compiler.outputs import named
from pyspark_substrait.sql.compiler.query import Query, frame, plain
from pyspark_substrait.sql.compiler.scope import Compilation, Record
from pyspark_substrait.sql.compiler.statement_steps import HandlerStep, SqlStep

__all__ = ["extension_relation", "unknown_kind"]


def extension_relation(
    node: ExtensionLeaf | ExtensionSingle | ExtensionMulti, outer: tuple[Record, ...], compilation: Compilation
) -> Query:
    """The query of an extension relation.

    Raises:
        UnsupportedPlanError: no handler is registered for its kind, or there is no session to call it with.
    """
    detail = node.detail
    if detail is None:
        raise UnsupportedPlanError("the relation has no detail to identify it", path="detail")
    handler = compilation.registry.relation_handler(detail.type_url)
    if handler is None:
        raise unknown_kind("relation", detail)
    if compilation.sources is reads.catalog_source:
        raise UnsupportedPlanError(
            f"the relation {detail.type_url} is made by a handler, which needs a Spark session", path="detail"
        )
    inputs = _inputs(node, outer, compilation)
    if node.derived is None:
        raise UnsupportedPlanError(
            f"the schema of the relation {detail.type_url} is not known",
            path="detail",
            hint="The plan was loaded before its handler was known: load(plan, registry=registry)",
        )
    names = (_statement(*each, compilation) for each in zip(inputs, node.derived.inputs, strict=True))
    step = HandlerStep(
        inputs=tuple(names),
        name=compilation.names.fresh("h"),
        columns=tuple(compilation.column() for _ in node.derived.output.struct.types),
        rows=handler.rows,
        detail=detail,
        derived=node.derived,
    )
    compilation.steps.append(step)
    return Query(source=frame(step.name), items=plain(step.columns))


def unknown_kind(what: str, detail: AnyMessage) -> UnsupportedPlanError:
    """The error that nothing is registered for a kind of relation or table."""
    return UnsupportedPlanError(
        f"the {what} {detail.type_url or 'without a type URL'} is not known here",
        path="detail",
        hint=f"Register it: registry.with_{what}(type_url, ...), and run the plan with that registry",
    )


def _inputs(
    node: ExtensionLeaf | ExtensionSingle | ExtensionMulti, outer: tuple[Record, ...], compilation: Compilation
) -> list[Query]:
    hidden = tuple(replace(record, hidden=True) for record in outer)

    def compiled(input: Relation) -> Query:
        return relations.relation(input, hidden, compilation)

    match node:
        case ExtensionLeaf():
            return []
        case ExtensionSingle():
            with at("input"):
                return [compiled(node.input)]
        case ExtensionMulti():
            found = []
            for position, member in enumerate(node.members):
                with at("inputs", position):
                    found.append(compiled(member))
            return found


def _statement(query: Query, schema: NamedStruct, compilation: Compilation) -> str:
    """Return the frame of an input, with its columns named for the handler."""
    step = SqlStep(compilation.names.fresh("s"), compilation.with_shared(query.text(named(query.items, schema))))
    compilation.steps.append(step)
    return step.name

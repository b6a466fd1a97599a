"""Finding all parts of a plan that Spark can't run, with the code that runs it. Needs no session."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import SubstraitError, UnsupportedPlanError, at
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.expressions import AggregateFunction
from pyspark_substrait.model.findings import Finding, Places
from pyspark_substrait.model.parameters import parameter_values
from pyspark_substrait.model.plan import ExtendedExpression, Plan, RelRoot
from pyspark_substrait.model.relations import (
    ExtensionTable,
    LocalFiles,
    NamedTable,
    Read,
    Reference,
    Relation,
    VirtualTable,
)
from pyspark_substrait.model.types import Unbound, concrete
from pyspark_substrait.model.walk import relation_subqueries
from pyspark_substrait.sql.compiler import aggregates, expressions, relations
from pyspark_substrait.sql.compiler.extension_relations import unknown_kind
from pyspark_substrait.sql.compiler.file_formats import readable
from pyspark_substrait.sql.compiler.lifted_columns import Below
from pyspark_substrait.sql.compiler.names import quoted_path
from pyspark_substrait.sql.compiler.refusals import Refusal, Refusals
from pyspark_substrait.sql.compiler.scope import Compilation, Record, Scope, Source
from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.decorrelation import SparkNatives, decorrelated, needing_decorrelation
from pyspark_substrait.sql.spark_version import NEWEST, SparkVersion

__all__ = ["findings", "refusals"]


def findings(
    document: Plan | ExtendedExpression,
    places: Places,
    registry: Registry,
    known: Iterable[Finding] = (),
    spark: SparkVersion = NEWEST,
) -> Iterator[Finding]:
    """Yield a finding for each part of a document that Spark can't run.

    Args:
        document: the plan or the extended expression, as far as it can be understood.
        places: the paths of its nodes.
        registry: the extensions.
        known: the errors that were found before; their mere consequences aren't reported again.
        spark: the version of Spark.
    """
    faulty = [finding.path for finding in known]
    for refusal in refusals(document, places, registry, spark):
        if any(_near(refusal.path, path) if refusal.is_fault else _own(refusal.path, path) for path in faulty):
            continue
        error = refusal.error
        yield Finding.of(refusal.code, refusal.path, error.message, fix=error.hint or "")


def _near(path: str, other: str) -> bool:
    """Whether one of two paths is inside the other."""
    return path.startswith(other) or other.startswith(path)


def _own(path: str, fault: str) -> bool:
    """Whether a fault is in a field of the message at a path, and no deeper."""
    return fault.startswith(path) and "." not in fault[len(path) :].removeprefix(".")


def refusals(
    document: Plan | ExtendedExpression, places: Places, registry: Registry, spark: SparkVersion = NEWEST
) -> list[Refusal]:
    """Return all parts of a document that can't run on a version of Spark, in the order of compilation, each once.

    Parameters need no values, and tables need not exist. Relations that write are checked as far as possible without
    the table.
    """
    found = Refusals(places)
    _noted(found, "advanced_extensions", lambda: relations.refuse_enhancement(document.advanced_extensions, ""))
    if isinstance(document, Plan):
        trees: list[Refusal] = []
        for position, item in enumerate(document.relations):
            path = f"relations[{position}]"
            if isinstance(item, RelRoot):
                trees += _root(item, f"{path}.root", document, places, registry, spark)
            elif len(document.relations) == 1:
                trees += _tree(item, f"{path}.rel", document, places, registry, spark)
        found.found += trees
    else:
        _expressions(document, found, registry, spark)
    return list({(refusal.path, refusal.error.message): refusal for refusal in found.found}.values())


def _noted(found: Refusals, path: str, check: Callable[[], object]) -> None:
    try:
        check()
    except SubstraitError as error:
        found.note(error, f"{path}{error.path}" if error.path.startswith((".", "[")) else f"{path}.{error.path}")


def _root(
    root: RelRoot, path: str, plan: Plan, places: Places, registry: Registry, spark: SparkVersion
) -> list[Refusal]:
    found = _tree(root.input, f"{path}.input", plan, places, registry, spark)
    messages = {refusal.error.message for refusal in found}
    for type in root.input.schema.types:
        try:
            spark_type(type)
        except SubstraitError as error:
            if error.message not in messages and not isinstance(concrete(type), Unbound):
                found.append(Refusal(error, error.code or Code.TARGET_TYPE, path))
    return found


def _compilation(
    document: Plan | ExtendedExpression, registry: Registry, found: Refusals, spark: SparkVersion
) -> Compilation:
    compilation = Compilation(registry=registry, sources=_Sources(registry), refusals=found, spark=spark)
    if isinstance(document, Plan):
        compilation.parameters = parameter_values(document)
        compilation.evaluation = document.execution_behavior
    return compilation


def _tree(
    node: Relation, path: str, plan: Plan, places: Places, registry: Registry, spark: SparkVersion
) -> list[Refusal]:
    """Return the parts of a tree that can't run.

    If the tree has subqueries that Spark can't run, the rewritten tree determines them, but only the original one has
    the paths in the plan.
    """
    as_it_is = _compiled(node, path, plan, places, registry, spark)
    refused: list[tuple[UnsupportedPlanError, list[Relation]]] = []

    def take(error: UnsupportedPlanError, around: Sequence[Relation]) -> None:
        refused.append((error, [*around]))

    try:
        counted = needing_decorrelation(node, SparkNatives(spark))
        rewritten = None if counted is None else decorrelated(counted, SparkNatives(spark), take)
    except RecursionError:
        raise
    except Exception:
        # the plan is wrong there, which was reported before
        return as_it_is
    if rewritten is None:
        return as_it_is
    after = _compiled(rewritten, path, plan, places, registry, spark, rewritten=True)
    messages = {refusal.error.message for refusal in after}
    kept = [item for item in as_it_is if item.error.message in messages or item.code is Code.TARGET_FEATURE]
    messages = {refusal.error.message for refusal in kept}
    kept += [refusal for refusal in after if refusal.error.message not in messages]
    assert counted is not None
    old = dict(_pairs(node, counted))
    for error, around in refused:
        known = (places.path(old.get(id(relation), relation)) for relation in reversed(around))
        where = next((place for place in known if place is not None), path)
        kept.append(Refusal(error, error.code or Code.TARGET_EXPRESSION, where))
    return kept


def _pairs(old: Relation, new: Relation) -> Iterator[tuple[int, Relation]]:
    """Yield the relations of a tree, with the identities of those at their places in another one of the same form."""
    pending, seen = [(old, new)], set()
    while pending:
        before, after = pending.pop()
        if id(after) in seen or type(before) is not type(after):
            continue
        seen.add(id(after))
        yield id(after), before
        pending.extend(zip(_below(before), _below(after), strict=False))


def _below(node: Relation) -> Iterator[Relation]:
    yield from node.inputs
    if isinstance(node, Reference):
        yield node.subtree
    yield from relation_subqueries(node)


def _compiled(
    node: Relation,
    path: str,
    plan: Plan,
    places: Places,
    registry: Registry,
    spark: SparkVersion,
    *,
    rewritten: bool = False,
) -> list[Refusal]:
    found = Refusals(places, otherwise=path if rewritten else None)
    try:
        relations.tree(node, _compilation(plan, registry, found, spark))
    except RecursionError:
        raise
    except SubstraitError as error:
        found.note(error, path)
    except Exception:
        # only for a rewritten tree over something broken: everything else has a path
        pass
    return found.found


def _expressions(document: ExtendedExpression, found: Refusals, registry: Registry, spark: SparkVersion) -> None:
    """Check the parts of an extended expression: expressions over records, measures over all of them."""
    compilation = _compilation(document, registry, found, spark)
    columns = tuple(compilation.column() for _ in document.base_schema.struct.types)
    kinds = {isinstance(item.expr, AggregateFunction) for item in document.referred_expr}
    if len(kinds) > 1:
        error = UnsupportedPlanError(
            "measures and expressions are mixed: measures give one value for all records, expressions one for each",
            hint="Evaluate them apart",
        )
        found.note(error, "referred_expr")
    for position, item in enumerate(document.referred_expr):
        scope = Scope(Record(columns), below=Below())
        kind = "measure" if isinstance(item.expr, AggregateFunction) else "expression"
        with found.going_on(f"referred_expr[{position}].{kind}"):
            if isinstance(item.expr, AggregateFunction):
                aggregates.measure_text(item.expr, None, scope, compilation)
            else:
                expressions.expression(item.expr, scope, compilation)


class _Sources:
    """Sources with the columns that the plan declares; they refuse what a session would refuse."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def __call__(self, node: Read) -> Source | None:
        match node.read_type:
            case VirtualTable():
                return None
            case NamedTable(names=names):
                with at("named_table", "names"):
                    quoted_path(names)
            case LocalFiles(items=items):
                for position, item in enumerate(items):
                    with at("local_files", "items", position):
                        readable(item.file_format)
            case ExtensionTable(detail=detail):
                if self._registry.table_handler(detail.type_url) is None:
                    with at("extension_table"):
                        raise unknown_kind("table", detail)
            case _:
                pass
        texts = []
        for position, type in enumerate(node.base_schema.struct.types):
            with at("base_schema", "struct", "types", position):
                texts.append(f"CAST(NULL AS {spark_type(type)})")
        return Source("t", tuple(texts), (None,) * len(texts))

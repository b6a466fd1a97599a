"""Rules about subqueries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pyspark_substrait.analysis.lint.columns import in_place_of
from pyspark_substrait.analysis.lint.expression_match import harmless
from pyspark_substrait.analysis.lint.rule import Context, Remark, rule
from pyspark_substrait.codes import Code
from pyspark_substrait.model.expressions import Expression, InPredicate, PredicateOp, SetComparison, SetPredicate
from pyspark_substrait.model.relations import Project, Relation, Sort
from pyspark_substrait.model.types import OpenStruct

__all__: list[str] = []


@rule(Code.LINT_COLUMNS_OF_EXISTS, SetPredicate, fixes=True)
def columns_of_exists(node: SetPredicate, context: Context) -> Iterator[Remark]:
    """EXISTS only tests whether there is a record: the expressions of a projection on top are not used."""
    query = node.tuples
    if node.predicate_op is not PredicateOp.EXISTS or not isinstance(query, Project) or not query.expressions:
        return
    safe = all(map(harmless, query.expressions)) and context.replaceable(query)
    instead = None
    if safe and not isinstance(query.input.schema, OpenStruct) and query.input.schema.types:
        instead = replace(node, tuples=query.input)
    yield Remark(what="EXISTS looks at no columns, and a projection computes some", fix="Leave it out", instead=instead)


@rule(Code.LINT_SORT_IN_SUBQUERY, SetPredicate, InPredicate, SetComparison, fixes=True)
def sort_in_subquery(node: Expression, context: Context) -> Iterator[Remark]:
    """A predicate over the records of a query does not depend on their order."""
    match node:
        case SetPredicate(tuples=query) | InPredicate(haystack=query) | SetComparison(right=query):
            pass
        case _:
            return
    if not isinstance(query, Sort):
        return
    rest: Relation | None = in_place_of(query, query.input, context)
    instead: Expression | None = None
    if rest is not None:
        match node:
            case SetPredicate():
                instead = replace(node, tuples=rest)
            case InPredicate():
                instead = replace(node, haystack=rest)
            case SetComparison():
                instead = replace(node, right=rest)
    yield Remark(what="the order of the subquery's records has no effect", fix="Leave out the sort", instead=instead)

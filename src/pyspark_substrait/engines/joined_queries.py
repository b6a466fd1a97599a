"""Subqueries as joins, for engines that don't run all of them; what the joins need of functions that no engine has."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark_substrait.engines.calls import cast
from pyspark_substrait.engines.constructors import COMPARISON, boolean_call
from pyspark_substrait.engines.inner_joins import conjunction
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import (
    EnumArgument,
    Expression,
    Function,
    IfClause,
    IfThen,
    ScalarFunction,
    TypeArgument,
)
from pyspark_substrait.model.findings import Places
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.types import I64, Boolean, String, with_nullability
from pyspark_substrait.model.walk import relation_subqueries, relations_within
from pyspark_substrait.sql.decorrelation import Natives, decorrelated, needing_decorrelation
from pyspark_substrait.sql.decorrelation.constructors import FETCHED, NOT_NEGATIVE, ONCE, ONLY_VALUE
from pyspark_substrait.sql.decorrelation.outer import resolved

__all__ = ["internal_call", "with_joins"]

_STRINGS = "extension:io.substrait:functions_string"
_HINT = "Write the query as a join"


def with_joins(tree: Relation, natives: Natives, engine: str, places: Places | None = None) -> Relation:
    """Return a tree in which all subqueries that an engine doesn't run are joins.

    Outer references are counted in queries then, also those that named a relation.

    Args:
        tree: the tree.
        natives: the subqueries that the engine runs.
        engine: its name, for an error.
        places: the paths of the plan's nodes, for an error; None if they aren't known.

    Raises:
        UnsupportedPlanError: a subquery can't be written as a join.
    """
    counted = needing_decorrelation(tree, natives)
    if counted is None:
        return resolved(tree) if any(relation_subqueries(node) for node in relations_within(tree)) else tree
    before = dict(zip(map(id, relations_within(counted)), relations_within(tree), strict=False))

    def refused(_: UnsupportedPlanError, around: Sequence[Relation]) -> None:
        error = UnsupportedPlanError(f"{engine} does not run this subquery, and it has no form as a join", hint=_HINT)
        found = (places.path(before.get(id(node))) for node in reversed(around) if places is not None)
        error.path = next((path for path in found if path), "")
        raise error

    return decorrelated(counted, natives, refused)


def internal_call(call: ScalarFunction, engine: str) -> Expression:
    """Return a call that the joins need in terms of functions of the specification; any other call as it is.

    Raises:
        UnsupportedPlanError: there are no such functions.
    """
    values = [item for item in call.arguments if not isinstance(item, EnumArgument | TypeArgument)]
    if call.function is ONLY_VALUE:
        number, value = values
        return _only_value(number, value, call)
    if call.function is FETCHED:
        number, offset, count = values
        return _fetched(number, offset, count, engine)
    if call.function is NOT_NEGATIVE:
        raise UnsupportedPlanError(f"{engine} takes literals only as bounds of a fetch in a subquery", hint=_HINT)
    if call.function is ONCE:
        fault = f"{engine} would compute some of a subquery's records twice, and get others the second time"
        raise UnsupportedPlanError(fault, hint="Put all records in order before some are kept")
    return call


def _only_value(number: Expression, value: Expression, call: ScalarFunction) -> Expression:
    """Return the value of a scalar subquery, or fail where it has several: by a cast of a text that is no number."""
    said = ScalarFunction(
        function=Function(_STRINGS, "concat", "str"),
        arguments=(
            Literal(type=String(), value="a scalar subquery has several records: "),
            cast(number, String(nullable=number.type.nullable)),
        ),
        output_type=String(nullable=number.type.nullable),
        derived_type=String(nullable=number.type.nullable),
    )
    failing = cast(said, I64(nullable=number.type.nullable))
    nothing = Literal(type=with_nullability(call.output_type, True), value=None)
    fails = IfThen(ifs=(IfClause(_compared("gt", failing, 0), nothing),), else_=value)
    return IfThen(ifs=(IfClause(_compared("gt", number, 1), fails),), else_=value)


def _fetched(number: Expression, offset: Expression, count: Expression, engine: str) -> Expression:
    """Return whether a fetch keeps the record with a number, which starts at 1."""
    if not (isinstance(offset, Literal) and isinstance(count, Literal)):
        raise UnsupportedPlanError(f"{engine} takes literals only as bounds of a fetch in a subquery", hint=_HINT)
    skipped = offset.value if isinstance(offset.value, int) else 0
    conditions = [_compared("gt", number, skipped)] if skipped else []
    if isinstance(count.value, int):
        conditions.append(_compared("lte", number, skipped + count.value))
    return conjunction(conditions) if conditions else Literal(type=Boolean(), value=True)


def _compared(name: str, value: Expression, bound: int) -> Expression:
    literal = Literal(type=I64(), value=bound)
    return boolean_call(Function(COMPARISON, name, "any_any"), (value, literal), value.type.nullable)

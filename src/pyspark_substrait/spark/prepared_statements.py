"""Statements kept with their plans, for plans that run again.

A statement depends on the plan, the extensions, a few options, and on what the session answers about each read: how the
source is called, and how its columns become those of the plan. So a kept statement is taken only after the session was
asked the same questions in the same order and has given the same answers, which the run needs anyway.
"""

from __future__ import annotations

import weakref
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from threading import Lock

from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.plan import Plan
from pyspark_substrait.model.relations import Read
from pyspark_substrait.spark.session import spark_errors
from pyspark_substrait.spark.session_cache import cache_value
from pyspark_substrait.sql.compiler.scope import Source, Sources
from pyspark_substrait.sql.compiler.statement import Statement, statement
from pyspark_substrait.sql.compiler.statement_steps import SqlStep
from pyspark_substrait.sql.spark_version import SparkVersion

__all__ = ["prepared_statement"]

_MOST_PLANS = 256
_MOST_STATEMENTS = 4  # of a plan

#: the statements of plans by the identities of these, which are compared, because another object may get the same one
_kept: dict[int, tuple[weakref.ref[Plan], dict[Hashable, _Kept]]] = {}
_changing = Lock()


@dataclass(frozen=True)
class _Kept:
    """A statement, and what it depends on: the extensions, and the answers about its reads."""

    statement: Statement
    registry: Registry
    answers: tuple[tuple[Read, Source | None], ...]

    def holds(self, registry: Registry, sources: Sources) -> bool:
        """Whether compiling would give the same statement."""
        failures: tuple[type[Exception], ...] = (SubstraitError, *spark_errors())
        try:
            return registry is self.registry and all(sources(read) == answer for read, answer in self.answers)
        except failures:  # compiling raises it again, with its place in the plan
            return False


def prepared_statement(
    plan: Plan,
    registry: Registry,
    sources: Sources,
    *,
    positional: bool,
    parameters: Mapping[int, object] | None,
    chosen: int | None,
    refuse_slow_patterns: bool,
    spark: SparkVersion,
) -> Statement:
    """Compile a root of the plan, or return the statement that an earlier run made of it: see :func:`statement`.

    A statement with parameters, or that calls functions or handlers of the user, is compiled each time.

    Raises:
        ParameterError, UnsupportedPlanError, InvalidPlanError, TableError: as :func:`statement`.
    """
    kept = _statements_of(plan)
    key = (positional, chosen, refuse_slow_patterns, spark)
    known = None if parameters else kept.get(key)
    if known is not None and known.holds(registry, sources):
        return known.statement
    answers: list[tuple[Read, Source | None]] = []

    def asked(read: Read) -> Source | None:
        answer = sources(read)
        answers.append((read, answer))
        return answer

    made = statement(
        plan,
        registry,
        asked,
        positional=positional,
        parameters=parameters,
        chosen=chosen,
        refuse_slow_patterns=refuse_slow_patterns,
        spark=spark,
    )
    if not (parameters or made.functions) and all(isinstance(step, SqlStep) for step in made.steps):
        cache_value(kept, key, _Kept(made, registry, tuple(answers)), _MOST_STATEMENTS)
    return made


def _statements_of(plan: Plan) -> dict[Hashable, _Kept]:
    known = _kept.get(id(plan))
    if known is not None and known[0]() is plan:
        return known[1]
    statements: dict[Hashable, _Kept] = {}
    with _changing:
        for number in [number for number, (of, _) in _kept.items() if of() is None]:
            del _kept[number]
        cache_value(_kept, id(plan), (weakref.ref(plan), statements), _MOST_PLANS)
    return statements

"""Execution context variables as Spark SQL.

A variable evaluated once per plan is Spark's own, which is the same instant everywhere in a statement. Evaluated once
per record, the instant is a column below the expressions of a relation, so that all of them see the same one.

Spec: expressions/specialized_record_expressions, "Execution Context Variables".
"""

from __future__ import annotations

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import ContextVariable, ExecutionContextVariable
from pyspark_substrait.model.plan import VariableEvaluationMode
from pyspark_substrait.model.types import PrecisionTimestampTZ, concrete
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.compiler.scope import Compilation, Scope
from pyspark_substrait.sql.compiler.types import FINEST
from pyspark_substrait.sql.fragment import Atom

__all__ = ["context_variable"]

#: the current time of each evaluation, which no other Spark function gives: all others mean the start of the query
_NOW = "CAST(reflect('java.time.Instant', 'now') AS TIMESTAMP)"

#: the finest precision in which 64 bits can count the time from 1970 to now
_FINEST_NOW = 9

#: names that Java accepts as a zone although the IANA database doesn't have them
_NO_ZONES = (
    "^([+-].*|Z|(UTC|UT)[+-].*|GMT[+-](?!0$).*|"
    "ACT|AET|AGT|ART|AST|BET|BST|CAT|CNT|CST|CTT|EAT|ECT|IET|IST|JST|MIT|NET|NST|PLT|PNT|PRT|PST|SST|VST)$"
)


def context_variable(node: ExecutionContextVariable, scope: Scope, compilation: Compilation) -> Atom:
    """The text of a context variable.

    Raises:
        UnsupportedPlanError: it can't be evaluated once per record here, or not as precisely as its type requires.
    """
    if node.variable is ContextVariable.CURRENT_TIMEZONE:
        # one for the whole session, so also for every record
        reason = (
            "the time zone of the session is not a name of the IANA database: set spark.sql.session.timeZone to one"
        )
        wrong = f"current_timezone() RLIKE {string_literal(_NO_ZONES)}"
        return Atom(f"if({wrong}, CAST(raise_error({string_literal(reason)}) AS STRING), current_timezone())")
    moment = Atom("current_timestamp()")
    if compilation.evaluation is VariableEvaluationMode.PER_RECORD:
        if scope.below is None:
            raise UnsupportedPlanError(
                f"{node.variable.value} cannot be evaluated once per record in this place",
                hint="Compute it in a projection below, and refer to that column",
            )
        moment = scope.below.column(_NOW, compilation, 0)
    if node.variable is ContextVariable.CURRENT_DATE:
        return Atom("current_date()" if moment == "current_timestamp()" else f"CAST({moment} AS DATE)")
    type = concrete(node.type)
    assert isinstance(type, PrecisionTimestampTZ)
    if type.precision == FINEST:
        return moment
    if type.precision > _FINEST_NOW:
        raise UnsupportedPlanError(f"today's time as a {type} is beyond the 64 bits that count its units")
    if type.precision > FINEST:
        return Atom(f"(unix_micros({moment}) * {10 ** (type.precision - FINEST)}L)")
    unit = 10 ** (FINEST - type.precision)
    return Atom(f"timestamp_micros(unix_micros({moment}) div {unit}L * {unit}L)")

"""The compiler's state on its way down a plan: the scope of names, and the statement being compiled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.expressions import DetachedExpression, DynamicParameter, Expression, Lambda, OuterReference
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.plan import VariableEvaluationMode
from pyspark_substrait.model.relations import Read, Relation
from pyspark_substrait.model.types import Type
from pyspark_substrait.sql.compiler.lifted_columns import Below
from pyspark_substrait.sql.compiler.names import NameSource
from pyspark_substrait.sql.compiler.query import Query, frame
from pyspark_substrait.sql.compiler.sharing import Shared
from pyspark_substrait.sql.compiler.statement_steps import SqlStep, Step
from pyspark_substrait.sql.compiler.types import SIMPLE, check_version, settings_of
from pyspark_substrait.sql.fragment import Atom, Name
from pyspark_substrait.sql.functions.python_functions import PythonFunction
from pyspark_substrait.sql.spark_version import NEWEST, SparkVersion

if TYPE_CHECKING:
    from pyspark_substrait.sql.compiler.refusals import Refusals

__all__ = [
    "Binding",
    "Closure",
    "Compilation",
    "Counting",
    "Record",
    "Scope",
    "Source",
    "Sources",
    "UnboundOuterReference",
]


class UnboundOuterReference(InvalidPlanError):
    """No enclosing relation has the anchor that an outer reference names."""


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a read.

    Args:
        text: the text after FROM.
        columns: an expression for each column of the read's ``base_schema``, of exactly its type there.
        required: for each column, the text that must not be null, with its name for messages; None if nothing needs
            checking. Only columns that are used are checked.
    """

    text: str
    columns: tuple[str, ...]
    required: tuple[tuple[str, str] | None, ...]


#: Returns which relations of a tree are to be counted: the names for that, by the relations' identities. And which
#: sorts are to run in one partition, so that their input is computed, and counted, once.
Counting: TypeAlias = Callable[[Relation], tuple[Mapping[int, str], frozenset[int]]]

#: Finds the source of a read; None for a virtual table that is to be inlined.
Sources: TypeAlias = Callable[[Read], Source | None]


@dataclass(frozen=True, slots=True)
class Record:
    """A record that expressions can refer to: the names of its columns, and the anchor of its reader.

    A ``hidden`` one is out of reach: an extension relation lies between, whose inputs are separate statements.
    A ``lateral`` one is the left record of a lateral join, seen from its right input: it isn't a subquery boundary.
    """

    columns: tuple[Atom, ...]
    rel_anchor: int | None = None
    hidden: bool = False
    lateral: bool = False


@dataclass(frozen=True, slots=True)
class Closure:
    """A lambda as the value of a parameter: inlined where it is used, it keeps the scope of its definition."""

    lambda_: Lambda
    scope: Scope


#: The value of a lambda's parameter: a text, or a function.
Binding: TypeAlias = Atom | Closure


@dataclass(frozen=True, slots=True)
class Scope:
    """The records, lambda parameters and lifted columns that expressions can refer to.

    Args:
        record: the current record.
        outer: the records of the enclosing queries, the nearest last.
        lambdas: the parameters of the enclosing lambdas, the innermost last.
        below: takes columns that must be computed in a separate SELECT list; None where that isn't possible.
    """

    record: Record
    outer: tuple[Record, ...] = ()
    lambdas: tuple[tuple[Binding, ...], ...] = ()
    below: Below | None = None

    def outer_record(self, reference: OuterReference) -> Record:
        """Return the record that an outer reference refers to.

        Raises:
            InvalidPlanError: there is no such record.
            UnsupportedPlanError: it is out of reach.
        """
        if reference.steps_out is not None:
            steps, queries = reference.steps_out, [record for record in self.outer if not record.lateral]
            if not 1 <= steps <= len(queries):
                raise InvalidPlanError(f"the reference goes {steps} queries out, but there are {len(queries)}")
            record = queries[-steps]
        else:
            anchored = [record for record in self.outer if record.rel_anchor == reference.rel_reference]
            if not anchored:
                raise UnboundOuterReference(f"no enclosing relation has the rel_anchor {reference.rel_reference}")
            record = anchored[-1]
        if record.hidden:
            raise UnsupportedPlanError(
                "an outer reference leads out of an extension relation, whose handler is called only once"
            )
        return record


#: With more levels of SELECT than this, Spark's parser comes near its limit: the text is split into statements.
MAX_DEPTH = 40


@dataclass(kw_only=True)
class Compilation:
    """The statement being compiled.

    Args:
        registry: the extensions, for the definitions of functions.
        sources: finds what a read reads from.
        parameters: the values of dynamic parameters.
        evaluation: how often context variables are evaluated.
        names: generates column names.
        uses: how often shared subtrees are used, by subtree ordinal.
        shared: the queries of reference relations, as WITH clauses, by subtree ordinal.
        steps: the steps to run before the text, in order.
        functions: the Python functions that the text calls, by the names it calls them.
        refusals: collects refusals, so that compiling continues; None to raise the first.
        counting: returns which relations of a tree are counted while they run, as names for that, by identity.
            None to count none.
        counted, sorted_at_once: the result of that for the tree that is being compiled.
        needed: the columns of reads that are used, by the reads' identities; all columns of reads that aren't in it.
        as_spark: the aggregates, by their identities, whose empty grouping sets may have no record over no records.
        refuse_slow_patterns: whether patterns that may take very long are refused.
        settings: the settings that the session must have for parts of the text to be correct.
        spark: the version of Spark that the text is for.
        has_elsewhere: whether there is a subquery or a window function in what was compiled.
        elsewhere: whether an expression contains one, by the expression's identity; with the expression, so that its
            identity isn't reused.
        moved: the expressions that became a column below although a subquery or window function is in them.
    """

    registry: Registry
    sources: Sources
    parameters: Mapping[int, Literal] = field(default_factory=dict)
    evaluation: VariableEvaluationMode = VariableEvaluationMode.PER_PLAN
    names: NameSource = field(default_factory=NameSource)
    uses: Counter[int] = field(default_factory=Counter)
    shared: dict[int, Shared] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    functions: dict[str, PythonFunction] = field(default_factory=dict)
    refusals: Refusals | None = None
    counting: Counting | None = None
    counted: Mapping[int, str] = field(default_factory=dict)
    sorted_at_once: frozenset[int] = frozenset()
    needed: Mapping[int, frozenset[int]] = field(default_factory=dict)
    as_spark: set[int] = field(default_factory=set)
    refuse_slow_patterns: bool = False
    has_elsewhere: bool = False
    elsewhere: dict[int, tuple[bool, Expression]] = field(default_factory=dict)
    moved: dict[int, Expression] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    spark: SparkVersion = NEWEST

    def trial(self) -> Compilation:
        """A compilation of the same plan whose text isn't used."""
        return replace(
            self, names=NameSource(), uses=Counter(), shared={}, steps=[], functions={}, settings={}, counting=None
        )

    def require(self, type: Type) -> None:
        """Require the settings for values of a type that are made here."""
        if type.__class__ not in SIMPLE:
            check_version(type, self.spark)
            self.settings.update(settings_of(type))

    def known(self, node: Expression) -> Literal | None:
        """Return a literal expression, or the value of a dynamic parameter; None for any other expression."""
        match node:
            case Literal():
                return node
            case DetachedExpression(expression=inner):
                return self.known(inner)
            case DynamicParameter(parameter_reference=reference):
                return self.parameters.get(reference)
            case _:
                return None

    def column(self) -> Name:
        """A new column name."""
        return self.names.fresh("c")

    def shallow(self, query: Query, scope_outer: tuple[Record, ...]) -> Query:
        """Return the query, split off into a statement of its own if it is nested too deeply to parse.

        A correlated query can't be split off: its names have a meaning only in place.
        """
        return query if query.depth < MAX_DEPTH or scope_outer else self._apart(query)

    def countable(self, query: Query, node: Relation) -> Query:
        """Return the query of a relation, split off into a statement of its own if the relation is to be counted.

        A sorted one isn't, as its order would be lost, and one that is compiled twice is counted once.
        """
        name = self.counted.get(id(node), "")
        known = any(isinstance(step, SqlStep) and step.counted == name for step in self.steps)
        loses_order = bool(query.order) and not query.tail
        return query if not name or loses_order or known else self._apart(query, name)

    def _apart(self, query: Query, counted: str = "") -> Query:
        name = self.names.fresh("s")
        self.steps.append(SqlStep(name, self.with_shared(query.text()), counted))
        return Query(source=frame(name), items=query.passed)

    def with_shared(self, text: str) -> str:
        """Return the statement, preceded by the shared subtrees as WITH clauses."""
        shared = ", ".join(f"{item.name} AS ({item.text})" for item in self.shared.values())
        return f"WITH {shared} {text}" if shared else text

"""What the compiler knows while it goes down a plan: the scope of names, and the statement being made."""

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
from pyspark_substrait.sql.compiler.lifted_columns import Below
from pyspark_substrait.sql.compiler.names import NameSource
from pyspark_substrait.sql.compiler.query import Query, frame
from pyspark_substrait.sql.compiler.sharing import Shared
from pyspark_substrait.sql.compiler.steps import SqlStep, Step
from pyspark_substrait.sql.functions.python_functions import PythonFunction

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
    """What a read reads from.

    Args:
        text: what stands behind FROM.
        columns: an expression for each column of the read's ``base_schema``, of exactly the type it has there.
        required: for each column, the text that must not be null, by what it is called; None where nothing needs
            checking. Only columns that are used are checked.
    """

    text: str
    columns: tuple[str, ...]
    required: tuple[tuple[str, str] | None, ...]


#: Says which relations of a tree are to be counted: the names for that, by the relations' identities. And which sorts
#: are to be done in one partition, so that what is below them is computed, and counted, once.
Counting: TypeAlias = Callable[[Relation], tuple[Mapping[int, str], frozenset[int]]]

#: Finds the source of a read; None for a virtual table that is to be written out.
Sources: TypeAlias = Callable[[Read], Source | None]


@dataclass(frozen=True, slots=True)
class Record:
    """A record that expressions can refer to: the names of its columns, and the anchor of its reader.

    A ``hidden`` one is out of reach: an extension relation lies between, whose inputs are statements of their own.
    A ``lateral`` one is the left record of a lateral join, seen from its right input: no step out of a query.
    """

    columns: tuple[str, ...]
    rel_anchor: int | None = None
    hidden: bool = False
    lateral: bool = False


@dataclass(frozen=True, slots=True)
class Closure:
    """A lambda as the value of a parameter: written out where it is used, it sees what it sees where it stands."""

    lambda_: Lambda
    scope: Scope


#: What a lambda's parameter is bound to: a text, which is an atom, or a function.
Binding: TypeAlias = str | Closure


@dataclass(frozen=True, slots=True)
class Scope:
    """What expressions can refer to.

    Args:
        record: the current record.
        outer: the records of the enclosing queries, the nearest last.
        lambdas: the parameters of the enclosing lambdas, the innermost last.
        below: takes what must be computed in a SELECT list of its own; None where there is no place for one.
    """

    record: Record
    outer: tuple[Record, ...] = ()
    lambdas: tuple[tuple[Binding, ...], ...] = ()
    below: Below | None = None

    def outer_record(self, reference: OuterReference) -> Record:
        """The record that an outer reference means.

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


#: With more levels of SELECT than this, Spark's parser comes near its limit: the text is cut into statements.
MAX_DEPTH = 40


@dataclass(kw_only=True)
class Compilation:
    """The statement in the making.

    Args:
        registry: the extensions, for the definitions of functions.
        sources: finds what a read reads from.
        parameters: the values of dynamic parameters.
        evaluation: how often context variables are evaluated.
        names: gives out column names.
        uses: how often shared subtrees are used, by subtree ordinal.
        shared: the queries behind reference relations, as WITH clauses, by subtree ordinal.
        steps: what is to be done before the text can run, in order.
        functions: the Python functions that the text calls, by the names it calls them.
        refusals: takes what can't run, so that compiling goes on; None to raise the first.
        counting: which relations of a tree are counted while they run, as names for that, by identity.
            None to count none.
        counted, sorted_at_once: what that said of the tree that is being compiled.
        needed: the columns of reads that something refers to, by the reads' identities; all where it doesn't say.
        refuse_slow_patterns: whether patterns that may take very long are refused.
        elsewhere: whether something in an expression isn't evaluated where it is written, by the expression's identity,
            and the expression itself, so that it isn't another one's.
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
    refuse_slow_patterns: bool = False
    elsewhere: dict[int, tuple[bool, Expression]] = field(default_factory=dict)

    def trial(self) -> Compilation:
        """A compilation of the same plan whose text isn't used."""
        return replace(self, names=NameSource(), uses=Counter(), shared={}, steps=[], functions={}, counting=None)

    def known(self, node: Expression) -> Literal | None:
        """The literal that an expression is, or that a dynamic parameter has as its value; None for any other."""
        match node:
            case Literal():
                return node
            case DetachedExpression(expression=inner):
                return self.known(inner)
            case DynamicParameter(parameter_reference=reference):
                return self.parameters.get(reference)
            case _:
                return None

    def column(self) -> str:
        """A new column name."""
        return self.names.fresh("c")

    def shallow(self, query: Query, scope_outer: tuple[Record, ...]) -> Query:
        """The query, cut off into a statement of its own when it is nested too deeply to parse.

        A correlated query can't be cut off: its names mean something only where it stands.
        """
        return query if query.depth < MAX_DEPTH or scope_outer else self._apart(query)

    def countable(self, query: Query, node: Relation) -> Query:
        """The query of a relation, cut off into a statement of its own when the relation is to be counted.

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
        """The statement, with the shared subtrees as WITH clauses in front."""
        shared = ", ".join(f"{item.name} AS ({item.text})" for item in self.shared.values())
        return f"WITH {shared} {text}" if shared else text

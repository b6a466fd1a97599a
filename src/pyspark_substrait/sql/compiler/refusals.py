"""Collecting refusals: compilation continues after parts that can't run, to report all of them and not only the first.

The same code compiles as for running. Each refusal is recorded with its path, and a placeholder of the same type takes
the place of the refused part, so that the text around it is compiled as well; that text is discarded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import cast

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import ParameterError, SubstraitError, UnsupportedPlanError
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    Argument,
    BrokenExpression,
    Cast,
    EnumArgument,
    Expression,
    ScalarFunction,
    TypeArgument,
    WindowFunction,
)
from pyspark_substrait.model.findings import Places
from pyspark_substrait.model.relations import (
    Aggregate,
    BrokenRelation,
    ConsistentPartitionWindow,
    ExtensibleRelation,
    Relation,
    Update,
    WindowRelFunction,
)
from pyspark_substrait.model.types import (
    AliasedType,
    Func,
    List,
    Map,
    OpenStruct,
    Struct,
    Type,
    TypeBase,
    Unbound,
    concrete,
)
from pyspark_substrait.model.walk import expression_children, relation_expressions, subquery_relation
from pyspark_substrait.sql.compiler import aggregates, expressions, relations
from pyspark_substrait.sql.compiler.lifted_columns import Below
from pyspark_substrait.sql.compiler.query import Query, plain
from pyspark_substrait.sql.compiler.scope import Compilation, Record, Scope, UnboundOuterReference
from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.fragment import Atom, Constant

__all__ = ["Refusal", "Refusals", "null", "nulls"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A part of a plan that can't run.

    Args:
        error: the reason.
        code: its class.
        path: its path in the plan.
    """

    error: SubstraitError
    code: Code
    path: str

    @property
    def is_fault(self) -> bool:
        """Whether the plan itself is invalid there, so that no engine could run it."""
        return not isinstance(self.error, UnsupportedPlanError)


@dataclass(slots=True)
class Refusals:
    """The refusals of one tree.

    Args:
        places: the paths of the plan's nodes.
        otherwise: the path for nodes without one; None to refuse the enclosing node instead.
        found: the refusals, in the order in which they were found.
        looked_at: the parts of refused nodes that were compiled by themselves, by identity.
        refused: the expressions that were refused, by identity, and the nulls that replace them.
    """

    places: Places
    otherwise: str | None = None
    found: list[Refusal] = field(default_factory=list)
    looked_at: dict[int, object] = field(default_factory=dict)
    refused: dict[int, tuple[Expression, Atom]] = field(default_factory=dict)
    _stand_for: dict[int, tuple[Relation, Relation]] = field(default_factory=dict)

    def expression(self, error: Exception, node: Expression, scope: Scope, compilation: Compilation) -> Atom:
        """Record that an expression can't run; a null of its type replaces it."""
        if isinstance(node, Cast) and isinstance(error, SubstraitError) and self.places.path(node.input) is None:
            # reading added the cast around the call
            error.path = error.path.removeprefix("cast.input.")
        self.take(error, node)
        text = null(node.type)
        self.refused[id(node)] = (node, text)
        self._look_into(expression_children(node), scope, compilation)
        query = None if isinstance(node, BrokenExpression) else subquery_relation(node)
        if query is not None:
            self._look_below((query,), (*scope.outer, scope.record), compilation)
        return text

    def stand_in(self, node: Expression) -> Atom | None:
        """Return the null that replaces an expression; None for one that was not refused."""
        known = self.refused.get(id(node))
        return None if known is None else known[1]

    def call(
        self, error: Exception, node: AggregateFunction | WindowRelFunction, scope: Scope, compilation: Compilation
    ) -> str:
        """Record that a measure, or a function of a window relation, can't run; a null replaces it."""
        self.take(error, node)
        self._look_into(_values(node.arguments), scope, compilation)
        return null(node.output_type)

    def relation(self, error: Exception, node: Relation, outer: tuple[Record, ...], compilation: Compilation) -> Query:
        """Record that a relation can't run; a relation with the same columns replaces it."""
        self.take(error, node)
        bare = _without_enhancement(error, node)
        if bare is not None:
            self._stand_for[id(bare)] = (bare, self._stand_for.get(id(node), (node, node))[1])
            return relations.relation(bare, outer, compilation)
        self._look_below(node.inputs, outer, compilation)
        # an update reads the records of its table
        seen = [node.table_schema.struct] if isinstance(node, Update) else map(_schema, node.inputs)
        columns = tuple(compilation.column() for schema in seen for _ in schema.types)
        scope = Scope(Record(columns, node.common.rel_anchor), outer, below=Below())
        self._look_into(relation_expressions(node), scope, compilation)
        self._look_at_calls(node, scope, compilation)
        return nulls(_schema(node), compilation)

    def _look_at_calls(self, node: Relation, scope: Scope, compilation: Compilation) -> None:
        """Check the calls that aren't expressions by themselves."""
        match node:
            case Aggregate():
                for item in node.measures:
                    with suppress(SubstraitError):
                        aggregates.measure_text(item.measure, None, scope, compilation)
            case ConsistentPartitionWindow():
                for function in node.window_functions:
                    with suppress(SubstraitError):
                        relations.window_text(function, node, scope, compilation)
            case _:
                return

    def _look_into(self, nodes: Iterable[Expression], scope: Scope, compilation: Compilation) -> None:
        """Check the parts of something that was refused, perhaps before they were compiled."""
        for node in nodes:
            if id(node) in self.looked_at or id(node) in self.refused or isinstance(concrete(node.type), Func):
                continue
            self.looked_at[id(node)] = node
            with suppress(SubstraitError):
                expressions.expression(node, scope, compilation)

    def _look_below(self, nodes: Iterable[Relation], outer: tuple[Record, ...], compilation: Compilation) -> None:
        for node in nodes:
            if id(node) not in self.looked_at:
                self.looked_at[id(node)] = node
                with suppress(SubstraitError):
                    relations.relation(node, outer, compilation)

    def take(self, error: Exception, node: object) -> None:
        """Record an error, unless it is only a consequence of another one that is already known.

        Raises:
            Exception: the error itself, if it belongs to an enclosing node.
        """
        if isinstance(error, RecursionError | UnboundOuterReference):
            raise error
        if isinstance(node, BrokenExpression | BrokenRelation) or isinstance(error, ParameterError):
            return
        path = self.places.path(self._stand_for[id(node)][1] if id(node) in self._stand_for else node)
        if path is None and self.otherwise is None:
            raise error
        if _stands_on_broken(node) or (_is_open_value(node) and not isinstance(error, UnsupportedPlanError)):
            return
        if not isinstance(error, SubstraitError):
            error = SubstraitError(f"this cannot be compiled: {error.__class__.__name__} {error}")
        self.note(error, _joined(path, error.path) if path is not None else self.otherwise or "", node)

    @contextmanager
    def going_on(self, path: str) -> Iterator[None]:
        """Record the error of a block, with ``path`` in front of its own."""
        try:
            yield
        except SubstraitError as error:
            if not isinstance(error, ParameterError):
                self.note(error, _joined(path, error.path))

    def note(self, error: SubstraitError, path: str, node: object = None) -> None:
        """Record an error with its path in the plan."""
        self.found.append(Refusal(error, _code(error, node), path))


def _without_enhancement(error: Exception, node: Relation) -> Relation | None:
    """Return the relation without the enhancement that was refused, so that the rest of it can be checked."""
    if not isinstance(error, UnsupportedPlanError) or not error.path.endswith("advanced_extension.enhancement"):
        return None
    if error.path.endswith(".common.advanced_extension.enhancement"):
        return replace(node, common=replace(node.common, advanced_extension=None))
    if not isinstance(node, ExtensibleRelation) or node.advanced_extension is None:
        return None
    return replace(node, advanced_extension=None)


def _joined(path: str, inner: str) -> str:
    """Return a path inside another one; the path of a relation already contains the field of its kind."""
    kind = path.rpartition(".")[2]
    if kind and (inner == kind or inner.startswith((f"{kind}.", f"{kind}["))):
        inner = inner.removeprefix(kind).removeprefix(".")
    return f"{path}{'.' if path and inner and not inner.startswith('[') else ''}{inner}"


def _code(error: SubstraitError, node: object) -> Code:
    if error.code is not None:
        return error.code
    if not isinstance(error, UnsupportedPlanError):
        return Code.RELATION_INVALID if hasattr(node, "inputs") else Code.UNCLASSIFIED
    match node:
        case ScalarFunction() | WindowFunction() | AggregateFunction() | WindowRelFunction():
            return Code.TARGET_FUNCTION
        case None:
            return Code.TARGET_FEATURE
        case _ if hasattr(node, "inputs"):
            return Code.TARGET_RELATION
        case _:
            return Code.TARGET_EXPRESSION


def null(type: Type) -> Constant:
    """Return a null of a type; of any type if Spark doesn't have it."""
    try:
        return Constant(f"CAST(NULL AS {spark_type(type)})", None)
    except SubstraitError:
        return Constant("NULL", None)


def nulls(schema: Struct, compilation: Compilation) -> Query:
    """A query with the columns of a schema."""
    columns = tuple(compilation.column() for _ in schema.types)
    listed = ", ".join(f"{null(type)} AS {name}" for type, name in zip(schema.types, columns, strict=True)) or "1"
    return Query(source=f"(SELECT {listed})", items=plain(columns), depth=1)


def _schema(node: Relation) -> Struct:
    try:
        return node.schema
    except Exception:
        return OpenStruct()


# consequences of a fault ----------------------------------------------------------------------------------------------


def _stands_on_broken(node: object) -> bool:
    """Whether a node directly contains a broken part, which was already reported."""
    match node:
        case AggregateFunction(arguments=arguments) | WindowRelFunction(arguments=arguments):
            return _any_open(_values(arguments))
        case _ if hasattr(node, "inputs"):
            relation: Relation = node  # type: ignore[assignment]
            return any(_is_open(_schema(input)) for input in relation.inputs) or _any_open(
                list(relation_expressions(relation))
            )
        case _:
            expression: Expression = node  # type: ignore[assignment]
            return _any_open(list(expression_children(expression)))


def _is_open_value(node: object) -> bool:
    """Whether a node is an expression of unknown type."""
    type = getattr(node, "type", None)
    return isinstance(type, TypeBase) and _is_open(cast(Type, type))


def _values(arguments: tuple[Argument, ...]) -> list[Expression]:
    return [item for item in arguments if not isinstance(item, EnumArgument | TypeArgument)]


def _any_open(expressions: list[Expression]) -> bool:
    return any(isinstance(item, BrokenExpression) or _is_open(item.type) for item in expressions)


def _is_open(type: Type) -> bool:
    """Whether a type, or one inside it, is unknown."""
    pending = [type]
    while pending:
        current = pending.pop()
        match concrete(current) if isinstance(current, AliasedType) else current:
            case Unbound() | OpenStruct():
                return True
            case Struct(types=types):
                pending += types
            case List(type=element):
                pending.append(element)
            case Map(key=key, value=value):
                pending += (key, value)
            case Func(parameter_types=parameters, return_type=result):
                pending += (*parameters, result)
            case _:
                continue
    return False

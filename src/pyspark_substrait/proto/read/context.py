"""The state of reading a message.

* :class:`Reading`: one for the whole message: its declarations, and the notes on it
* :class:`Scope`: the records that an expression can refer to; immutable
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Protocol, TypeVar

from pyspark_substrait.codes import Code, Level
from pyspark_substrait.errors import InvalidPlanError, SubstraitError
from pyspark_substrait.extensions import Registry
from pyspark_substrait.extensions.producers import Producer
from pyspark_substrait.model.expressions import NamedLambda
from pyspark_substrait.model.findings import Finding, Places, as_finding
from pyspark_substrait.model.limits import ExceededLimit, Limits, current_limits
from pyspark_substrait.model.notes import Note
from pyspark_substrait.model.paths import Path, render
from pyspark_substrait.model.plan import ExtensionDeclaration, ExtensionKind
from pyspark_substrait.model.relations import Read, Relation
from pyspark_substrait.model.type_sizes import TypeSizes
from pyspark_substrait.model.types import NamedStruct, Struct, Type
from pyspark_substrait.proto.read.meaning import Meaning
from pyspark_substrait.proto.read.path_remap import Moves

__all__ = ["Detached", "Frame", "OpenReference", "Reading", "Scope", "Tables", "invalid", "located"]

_T = TypeVar("_T")
_Key = TypeVar("_Key", bound=Hashable)


def invalid(message: str, path: Path, hint: str | None = None, code: Code | None = None) -> InvalidPlanError:
    """Return the error that something at ``path`` is wrong; ``code`` is its class of findings."""
    return InvalidPlanError(message, path=render(path), hint=hint, code=code)


class Tables(Protocol):
    """The tables that a plan is bound to while it is read (:class:`pyspark_substrait.binding.Tables`)."""

    def complete(self, names: tuple[str, ...], schema: NamedStruct) -> NamedStruct:
        """Return the schema that a plan states for a table, with types for all columns."""

    def fit(self, node: Read, stated: NamedStruct, path: Path) -> Relation:
        """Return a read of the table itself that puts out what a read does whose schema is complete."""


class located:
    """Put ``path`` in front of the path of an error that is raised inside, by code that doesn't know its own path."""

    __slots__ = ("path",)

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, SubstraitError):
            path = self.path
            while path is not None:
                path, segment = path
                error.prepend(segment)


class going_on(located):
    """Like :class:`located`; if findings are collected, also catch the error (:meth:`Reading.going_on`)."""

    __slots__ = ("code", "reading")

    def __init__(self, reading: Reading, path: Path, code: Code) -> None:
        super().__init__(path)
        self.reading = reading
        self.code = code

    def __exit__(  # type: ignore[override]
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        super().__exit__(kind, error, trace)
        if self.reading.findings is None or not isinstance(error, SubstraitError):
            return False
        self.reading.fault(error, self.code)
        return True


class _raising(going_on):
    """Like :class:`going_on` for the case that the first fault ends reading and its path is known: do nothing."""

    __slots__ = ()

    def __init__(self) -> None:
        pass

    def __exit__(  # type: ignore[override, exit-return]
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        return False


_RAISING = _raising()


class OpenReference(Exception):
    """An outer reference leads out of a tree that is read by itself: ``error`` unless a use of the tree binds it."""

    def __init__(self, error: InvalidPlanError) -> None:
        super().__init__(error.message)
        self.error = error


@dataclass(frozen=True, slots=True, eq=False)
class Detached:
    """The detached expressions and relations of one relation tree, and the path of the message that lists them."""

    expressions: Any = ()
    rels: Any = ()
    path: Path = None


@dataclass(slots=True, eq=False, kw_only=True)
class Reading:
    """One message while it is read.

    Args:
        registry: finds functions and types.
        strict: refuse what is looser than the specification allows.
        version: the release the message was written in, or None; ``producer`` who wrote it.
        made_by: the same, if it is one of those with habits.
        functions, types, variations: what the message declares, by anchor.
        aliases, named_lambdas: the messages by anchor, and the path of each; bound when first needed.
        trees: the messages ``PlanRel`` of the plan, for references.
        tables: the tables that reads of named tables are bound to; None to take them as they are stated.
        findings: collects the faults, so that reading continues after them; None to raise the first.
        places: the paths of the nodes that were read, if findings are collected or ``placed`` is set.
        struct_names: the names of the fields of structs, by their types, that the schemas so far have.
        plain: whether writing the plan gives the same message, except for ``moves``, and reading that message finds
            nothing but ``again``. False in case of doubt.
        again: the findings and notes that reading the written message repeats, each with the path it has here.
        moves: the parts that have another path in the written message, if ``placed``.
        remarked: the notes that are recorded once for the whole plan, by rule and key (all keys, for a call).
        bare_names: the extensions of functions that the message names without one, if the arguments don't matter.
        limits: the limits on the size of the plan; ``columns`` and ``repeated`` are the counts so far.
        nodes: the number of relations and expressions read, with shared parts counted at each use.
        part_sizes: the number of them in each shared part; ``met_parts`` are the shared parts used so far.
        traits: what was found out about the whole message to tell a producer's versions apart, by name.
        meaning: the dialect whose meaning expressions have; None for that of the producer.
    """

    registry: Registry
    strict: bool = False
    version: tuple[int, int, int] | None = None
    producer: str = ""
    made_by: Producer | None = None
    functions: dict[int, ExtensionDeclaration] = field(default_factory=dict)
    types: dict[int, ExtensionDeclaration] = field(default_factory=dict)
    variations: dict[int, ExtensionDeclaration] = field(default_factory=dict)
    aliases: dict[int, tuple[Any, Path]] | None = None
    named_lambdas: dict[int, tuple[Any, Path]] | None = None
    trees: Any = ()
    tables: Tables | None = None
    notes: list[Note] = field(default_factory=list)
    used: set[tuple[ExtensionKind, int]] = field(default_factory=set)
    bound_aliases: dict[int, Type] = field(default_factory=dict)
    bound_lambdas: dict[int, NamedLambda] = field(default_factory=dict)
    bound_trees: dict[tuple[int, tuple[Frame, ...]], Relation] = field(default_factory=dict)
    open_trees: dict[int, Relation | None] = field(default_factory=dict)
    detached: dict[int, Detached] = field(default_factory=dict)
    bound_parts: dict[tuple[object, ...], tuple[Scope, Any]] = field(default_factory=dict)
    used_parts: set[tuple[int, str, int]] = field(default_factory=set)
    rel_anchors: dict[int, str] = field(default_factory=dict)
    findings: list[Finding] | None = None
    places: Places = field(default_factory=Places)
    placed: bool = False
    plain: bool = True
    struct_names: list[tuple[Struct, tuple[str, ...]]] = field(default_factory=list)
    again: list[tuple[Path, Callable[[Path], Finding | Note]]] = field(default_factory=list)
    moves: Moves = field(default_factory=Moves)
    unfinished: set[tuple[object, ...]] = field(default_factory=set)
    remarked: set[tuple[str, str | tuple[str, ...]]] = field(default_factory=set)
    bare_names: dict[str, str | None] = field(default_factory=dict)
    limits: Limits = field(default_factory=current_limits)
    type_sizes: TypeSizes = field(default_factory=TypeSizes)
    columns: int = 0
    nodes: int = 0
    repeated: int = 0
    part_sizes: dict[tuple[object, ...], int] = field(default_factory=dict)
    met_parts: set[tuple[object, ...]] = field(default_factory=set)
    traits: dict[str, bool | None] = field(default_factory=dict)
    meaning: Meaning | None = None

    def anew(self) -> Reading:
        """Return a new state for reading the same message from the start."""
        return Reading(
            registry=self.registry,
            strict=self.strict,
            version=self.version,
            producer=self.producer,
            made_by=self.made_by,
            functions=self.functions,
            types=self.types,
            variations=self.variations,
            aliases=self.aliases,
            named_lambdas=self.named_lambdas,
            trees=self.trees,
            tables=self.tables,
            meaning=self.meaning,
        )

    def declared(self, kind: ExtensionKind) -> dict[int, ExtensionDeclaration]:
        """The declarations of one kind."""
        match kind:
            case ExtensionKind.TYPE:
                return self.types
            case ExtensionKind.TYPE_VARIATION:
                return self.variations
            case ExtensionKind.FUNCTION:
                return self.functions

    def fault(self, error: SubstraitError, code: Code = Code.UNCLASSIFIED) -> None:
        """Raise an error; or, if findings are collected, record it as one, so that reading continues.

        Args:
            error: what is wrong, with its whole path.
            code: its class, unless the error has one itself.
        """
        if self.findings is None:
            raise error
        self.findings.append(as_finding(error, code))

    def find(
        self,
        code: Code,
        path: Path,
        what: str,
        *,
        level: Level | None = None,
        why: str = "",
        fix: str = "",
        again: bool = False,
    ) -> None:
        """Record a finding that isn't an error, if findings are collected.

        ``again``: reading the message that the plan is written to finds the same.
        """
        if self.findings is not None:
            self.findings.append(Finding.of(code, path, what, level=level, why=why, fix=fix))
        elif again and self.placed:
            self.again.append((path, lambda place: Finding.of(code, place, what, level=level, why=why, fix=fix)))
        else:
            self.plain = False

    def going_on(self, path: Path = None, code: Code = Code.UNCLASSIFIED) -> going_on:
        """Return a context manager that, if findings are collected, records an error as one and suppresses it.

        Args:
            path: what to put in front of the error's path, as :class:`located` does.
            code: its class, unless the error has one itself.
        """
        return _RAISING if self.findings is None and path is None else going_on(self, path, code)

    def caught(self, error: SubstraitError, path: Path, code: Code = Code.UNCLASSIFIED) -> None:
        """Handle an error like :meth:`going_on`, in code that runs too often for a context manager."""
        while path is not None:
            path, segment = path
            error.prepend(segment)
        self.fault(error, code)

    def note(self, rule: str, path: Path, before: str, after: str) -> None:
        """Record an assumption as a note."""
        self.notes.append(Note(rule=rule, path=path, before=before, after=after))

    def note_once(self, rule: str, path: Path, before: str, after: str, key: str = "") -> None:
        """Record an assumption that holds for the whole plan (for one ``key``), at the first place that needs it."""
        if (rule, key) not in self.remarked:
            self.remarked.add((rule, key))
            self.note(rule, path, before, after)

    def loose(self, rule: str, path: Path, before: str, after: str) -> None:
        """Record that the plan is looser than the specification, or refuse it when reading is strict."""
        if self.strict:
            raise invalid(before, path, f"Without strict reading it is taken as: {after}")
        self.note(rule, path, before, after)

    def uses(self, mark: tuple[object, ...], path: Path) -> None:
        """Count a use of a shared part, before :meth:`once` is called for it with the same ``mark``.

        Raises:
            ExceededLimit: shared parts would be too large, written out at each use.
        """
        if mark in self.met_parts:
            self.repeated += self.part_sizes.get(mark, 0)
            if self.repeated > self.limits.repeated:
                what = "the relations and expressions that shared parts come to, written out at each use, are"
                raise ExceededLimit.of("repeated", what, render(path))
        self.met_parts.add(mark)

    def has_columns(self, schemas: Iterable[Struct], path: Path) -> None:
        """Count the columns of a relation at ``path``.

        Raises:
            ExceededLimit: all relations together have too many.
        """
        for schema in schemas:
            self.columns += self.type_sizes.of(schema)
        if self.columns > self.limits.columns:
            what = "the columns of the relations up to here, with the fields in them, are"
            raise ExceededLimit.of("columns", what, render(path), "Leave out with emit what is not needed further on")

    def has_type(self, type: Type, path: Path) -> None:
        """Check the size of the type of an expression at ``path`` that combines other types.

        Raises:
            ExceededLimit: it is too large.
        """
        if self.type_sizes.of(type) > self.limits.columns:
            raise ExceededLimit.of("columns", "the fields and elements of this type are", render(path))

    def once(
        self, memo: dict[_Key, _T], key: _Key, mark: tuple[object, ...], what: str, path: Path, bind: Callable[[], _T]
    ) -> _T:
        """Return the result of ``bind``, which is called at most once for a key.

        Raises:
            InvalidPlanError: the part that ``mark`` identifies refers to itself.
        """
        found = memo.get(key)
        if found is None:
            if mark in self.unfinished:
                raise invalid(f"{what} refers to itself", path, code=Code.LINK_CYCLE)
            self.unfinished.add(mark)
            before = self.nodes
            try:
                found = memo[key] = bind()
            finally:
                self.unfinished.discard(mark)
            self.part_sizes[mark] = self.nodes - before
        else:
            self.nodes += self.part_sizes.get(mark, 0)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """The record of an enclosing relation, as a query inside it sees it.

    ``lateral``: the left record of a lateral join, seen from its right input; no subquery boundary lies between.
    ``input``: the relation that the record comes from as it is.
    """

    record: Struct | None
    anchor: int | None
    lateral: bool = False
    input: Relation | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """The records and parameters that expressions at one place can refer to.

    Args:
        reading: the message.
        record: the input record, or None where there is none.
        anchor: the ``rel_anchor`` of the relation that the expressions belong to.
        outer: the records of the enclosing relations, the innermost last.
        lambdas: the parameters of the enclosing lambdas, the innermost last.
        detached: the lists that detached parts come from.
        closed: whether the tree is read by itself, so that an outer reference that leads out of it can't be bound.
        fence: how many of ``outer`` are outside of the tree; only ``rel_reference`` can refer to these.
        input: the one input of the relation that the expressions belong to, whose record is ``record``.
    """

    reading: Reading
    record: Struct | None = None
    anchor: int | None = None
    outer: tuple[Frame, ...] = ()
    lambdas: tuple[Struct, ...] = ()
    detached: Detached = Detached()
    closed: bool = False
    fence: int = 0
    input: Relation | None = None

    def over(self, record: Struct | None, anchor: int | None, input: Relation | None = None) -> Scope:
        """The scope of a relation's expressions, which see ``record``."""
        return Scope(
            self.reading, record, anchor, self.outer, self.lambdas, self.detached, self.closed, self.fence, input
        )

    def inside_subquery(self) -> Scope:
        """The scope of the relations of a subquery in an expression of this scope."""
        frame = Frame(self.record, self.anchor, input=self.input)
        return replace(self, record=None, anchor=None, input=None, outer=(*self.outer, frame))

    def beside(self, record: Struct, anchor: int | None) -> Scope:
        """The scope of the right input of a lateral join whose left input has ``record``."""
        return replace(self, record=None, anchor=None, input=None, outer=(*self.outer, Frame(record, anchor, True)))

    def inside_lambda(self, parameters: Struct) -> Scope:
        """The scope of a lambda's body."""
        return replace(self, lambdas=(*self.lambdas, parameters))

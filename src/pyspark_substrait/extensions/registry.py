"""The extensions that plans can refer to: the official ones, and those that a user adds.

Extensions are parsed on demand. An official file is found by its URN (``extension:io.substrait:<file stem>``), cut into
functions, and only the requested ones are parsed; a bare name is looked up in the outlines of all files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import InvalidPlanError, at
from pyspark_substrait.extensions.definitions import FunctionDefinition, Kind, TypeDefinition, VariationDefinition
from pyspark_substrait.extensions.derivation import Scope
from pyspark_substrait.extensions.document import (
    check_expressions,
    read_type,
    read_urn,
    read_variation,
)
from pyspark_substrait.extensions.engines import ENGINES
from pyspark_substrait.extensions.extension_files import (
    ExtensionFile,
    official_file,
    official_stems,
    own_file,
    own_stems,
)
from pyspark_substrait.extensions.implementations import ArrowFunction, Implementation, SqlTemplate, checked
from pyspark_substrait.extensions.matching import Phase
from pyspark_substrait.extensions.missing_functions import missing_function_hint, no_overload
from pyspark_substrait.extensions.relation_handlers import (
    RelationHandler,
    RowsFunction,
    SchemaFunction,
    TableHandler,
)
from pyspark_substrait.extensions.resolution import Resolved, choose, kinds_for, standard_calls
from pyspark_substrait.extensions.signatures import Argument, call_text
from pyspark_substrait.extensions.yaml_text import load_yaml
from pyspark_substrait.model.computed_once import computed_once
from pyspark_substrait.model.types import Type, TypeVariation

__all__ = ["OFFICIAL", "OWN", "Registry"]

#: the prefix of the URNs of the specification's own extensions
OFFICIAL: Final = "extension:io.substrait:"
#: the prefix of the URNs of the extensions that this package ships (``extensions/own``)
OWN: Final = "extension:pyspark_substrait:"

_CACHED_CALLS: Final = 8192
_Handler = TypeVar("_Handler", RelationHandler, TableHandler)
#: the types, by URN and name, whose structures this thread is currently reading
_READING: Final[ContextVar[frozenset[tuple[str, str]]]] = ContextVar("_READING", default=frozenset())


@dataclass(frozen=True, eq=False, repr=False)
class Registry:
    """The known extensions, and the Spark implementations of a user's own functions, relations and tables.

    A registry is immutable: its methods ``with_…`` return a larger one. Use :meth:`default` for the official
    extensions.

    Examples:
        >>> registry = substrait.Registry.default()
        >>> registry
        <Registry: the specification>
        >>> plan = substrait.load(substrait.samples.plan(), registry=registry)
    """

    _added: Mapping[str, ExtensionFile] = field(default_factory=dict)
    _implementations: Mapping[str, tuple[Implementation, ...]] = field(default_factory=dict)
    _relations: Mapping[str, RelationHandler] = field(default_factory=dict)
    _tables: Mapping[str, TableHandler] = field(default_factory=dict)
    _calls: dict[tuple[Any, ...], Resolved] = field(default_factory=dict)

    def __repr__(self) -> str:
        counts = {
            "extension": len(self._added),
            "function": sum(map(len, self._implementations.values())),
            "relation": len(self._relations),
            "table": len(self._tables),
        }
        yours = ", ".join(f"{number} {kind}{'s' * (number > 1)}" for kind, number in counts.items() if number)
        return f"<Registry: the specification{f', and {yours} of yours' if yours else ''}>"

    @staticmethod
    def default() -> Registry:
        """The official extensions of the current release, always the same object."""
        return _default()

    def with_yaml(self, source: str | os.PathLike[str]) -> Registry:
        """Return a registry that also has the extension in ``source``: a path, or the text of the file.

        Everything in it is checked immediately: the schema, type expressions, distinct signatures, the types it uses.
        Add an extension after those it depends on.

        Raises:
            InvalidPlanError: the file is invalid, or its URN is already known.
        """
        is_text = isinstance(source, str) and ("\n" in source or source.lstrip().startswith("urn:"))
        if is_text:
            return self._with_file(ExtensionFile(str(source)))
        try:
            text = Path(source).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidPlanError(f"the extension file {source} cannot be read: {error}") from error
        with at(str(source)):
            return self._with_file(ExtensionFile(text))

    def _with_file(self, file: ExtensionFile) -> Registry:
        urn, dependencies = read_urn(load_yaml(file.text))
        if self._file(urn) is not None:
            raise InvalidPlanError(f"the extension `{urn}` is known already", hint="Give yours a URN of its own")
        larger = replace(self, _added={**self._added, urn: file}, _calls={})
        with at(urn):
            for alias, other in dependencies:
                if larger._file(other) is None:
                    raise InvalidPlanError(
                        f"the dependency `{alias}` names `{other}`, which is not known", hint="Add that extension first"
                    )
            larger._check(file)
        return larger

    def with_function(
        self,
        urn: str,
        name: str,
        *,
        sql: str | None = None,
        arrow: Callable[..., Any] | None = None,
        options: Mapping[str, str | tuple[str, ...]] | None = None,
        enums: Mapping[str, str | tuple[str, ...]] | None = None,
    ) -> Registry:
        """Return a registry with a Spark implementation of a function of an added extension.

        Several implementations of one function are tried in the order in which they were added.

            >>> registry = Registry.default().with_yaml(path)                                # doctest: +SKIP
            >>> registry = registry.with_function(urn, "shout", sql="upper({text}) || '!'")  # doctest: +SKIP

        Args:
            urn: the extension.
            name: the function, or one of its overloads by its signature: ``slope:fp64_fp64``.
            sql: Spark SQL with the arguments in braces, by name or position; ``{output}`` is the Spark type of the
                result. In an aggregate, ``[sum({x})]`` marks the call that DISTINCT, FILTER and OVER belong to. The
                text is trusted. Its value must have the type that the extension derives.
            arrow: a function that gets an Arrow array for each value argument. Of a scalar function it returns an
                array of the same length, of an aggregate function one value. It runs in Python on the executors.
            options: the option values for which the implementation is correct, by option; options that aren't named
                don't affect it.
            enums: the same for enumeration arguments, by argument.

        Raises:
            InvalidPlanError: the extension has no such function, argument, option or value, or is one of the
                specification's own.
        """
        if (sql is None) == (arrow is None):
            raise InvalidPlanError(f"`{name}` needs one implementation: `sql` or `arrow`")
        if urn not in self._added:
            official = urn.startswith((OFFICIAL, OWN))
            whose = "the specification" if urn.startswith(OFFICIAL) else "this package"
            fault = f"is one of {whose}'s own" if official else "is not known"
            hint = "Declare a function of your own" if official else "Add its file first: registry.with_yaml(...)"
            raise InvalidPlanError(f"the extension `{urn}` {fault}", hint=hint)
        simple, colon, signature = name.partition(":")
        body = SqlTemplate(sql) if sql is not None else ArrowFunction(arrow) if arrow is not None else None
        assert body is not None
        made = Implementation(
            name=simple,
            signature=signature if colon else None,
            body=body,
            options=_values(options),
            enums=_values(enums),
        )
        with at(urn):
            known = checked(made, self.overloads(urn, simple))
        before = self._implementations.get(urn, ())
        return replace(self, _implementations={**self._implementations, urn: (*before, known)}, _calls={})

    def implementations(self, urn: str) -> tuple[Implementation, ...]:
        """The implementations that :meth:`with_function` added for an extension, in that order."""
        return self._implementations.get(urn, ())

    def with_relation(self, type_url: str, *, schema: SchemaFunction, rows: RowsFunction) -> Registry:
        """Return a registry with a handler for the extension relations (leaf, single, multi) of one kind.

            >>> registry = Registry.default().with_relation(                                 # doctest: +SKIP
            ...     "type.googleapis.com/org.example.Distinct",
            ...     schema=lambda detail, records: records,
            ...     rows=lambda detail, records: records.distinct(),
            ... )

        Both functions are trusted. Each gets the detail first, which has a ``type_url`` and the bytes of the message,
        ``value``: ``Message.FromString(detail.value)``.

        Args:
            type_url: the type URL of the relation's detail in plans.
            schema: a function of the detail and of the schema (``model.types.NamedStruct``) of each input, which
                returns that of the output: a NamedStruct, or a ``pyarrow.Schema``. It is called when a plan is loaded.
            rows: a function of the detail and of the DataFrame of each input (of the session where there are none),
                which returns the rows: a DataFrame, Arrow data or a path of Parquet files. Its columns are matched to
                the schema by name. It is called when a plan is run, once for each such relation in it.

        Raises:
            InvalidPlanError: the kind is already known.
        """
        handler = RelationHandler(schema=schema, rows=rows)
        return replace(self, _relations=_with_kind(self._relations, type_url, handler, "relation"), _calls={})

    def with_table(self, type_url: str, *, rows: RowsFunction) -> Registry:
        """Return a registry with a handler for the extension tables of one kind.

        Args:
            type_url: the type URL of the table's detail in plans.
            rows: a function of the detail and of the session, as for :meth:`with_relation`. The schema of the table is
                in the plan.

        Raises:
            InvalidPlanError: the kind is already known.
        """
        handler = TableHandler(rows=rows)
        return replace(self, _tables=_with_kind(self._tables, type_url, handler, "table"), _calls={})

    def relation_handler(self, type_url: str) -> RelationHandler | None:
        """The handler that :meth:`with_relation` added for a kind of relation; None if there is none."""
        return self._relations.get(type_url)

    def table_handler(self, type_url: str) -> TableHandler | None:
        """The handler that :meth:`with_table` added for a kind of table; None if there is none."""
        return self._tables.get(type_url)

    def handled_type_urls(self) -> tuple[str, ...]:
        """The type URLs of the relations and tables that have handlers."""
        return (*self._relations, *self._tables)

    def _check(self, file: ExtensionFile) -> None:
        keys: dict[str, str] = {}
        for name in file.names():
            for definition in file.functions(name):
                if definition.key in keys:
                    raise InvalidPlanError(f"two implementations have the signature `{definition.key}`")
                keys[definition.key] = name
        urn, dependencies = file.head
        for name in self._declared_types(urn):
            self.type(urn, name)
        self._variation_definitions(urn)
        for name in file.names():
            for definition in file.functions(name):
                check_expressions(definition, self._scope(urn, dependencies))

    # contents --------------------------------------------------------------------------------------------------------

    def urns(self) -> tuple[str, ...]:
        """The URNs of the known extensions, where bare names are looked up: the official ones, then those added."""
        return tuple(f"{OFFICIAL}{stem}" for stem in official_stems()) + tuple(self._added)

    @staticmethod
    def own_urns() -> tuple[str, ...]:
        """The URNs of the extensions that this package ships; plans must name them."""
        return tuple(f"{OWN}{stem}" for stem in own_stems())

    @staticmethod
    def spark_urns() -> tuple[str, ...]:
        """The :meth:`own_urns` of functions that only Spark has; the others are of functions of other engines."""
        return tuple(f"{OWN}{stem}" for stem in own_stems() if stem.startswith("functions_spark"))

    def function_names(self, urn: str) -> tuple[str, ...]:
        """The names of the functions of an extension, in the order of its file; none if it isn't known."""
        file = self._file(urn)
        return () if file is None else file.names()

    def functions(self) -> Iterator[tuple[str, str, tuple[FunctionDefinition, ...]]]:
        """All functions of all extensions: URN, simple name, implementations. This parses everything."""
        for urn in self.urns():
            file = self._file(urn)
            if file is not None:
                for name in file.names():
                    yield urn, name, file.functions(name)

    def overloads(self, urn: str, name: str) -> tuple[FunctionDefinition, ...]:
        """The implementations of a function by its simple name; empty if the extension or the function isn't known."""
        file = self._file(urn)
        return () if file is None else file.functions(name)

    def function(self, urn: str, key: str) -> FunctionDefinition | None:
        """The implementation with exactly this signature; None if there is none."""
        overloads = self.overloads(urn, key.partition(":")[0])
        return next((overload for overload in overloads if overload.key == key), None)

    def type(self, urn: str, name: str) -> TypeDefinition | None:
        """A user-defined type; None if the extension or the type isn't known."""
        declared = self._declared_types(urn)
        found = declared.get(name)
        if found is None or isinstance(found, TypeDefinition):
            return found
        file = self._file(urn)
        # a structure may use other types of the file; a type that is met again while it is read contains itself
        around = _READING.get()
        if (urn, name) in around or file is None:
            raise InvalidPlanError(f"the type `{name}` of `{urn}` contains itself")
        token = _READING.set(around | {(urn, name)})
        try:
            declared[name] = definition = read_type(found, self._scope(urn, file.head[1]))
        finally:
            _READING.reset(token)
        return definition

    def type_names(self, urn: str) -> tuple[str, ...]:
        """The names of the types that an extension declares; none if it isn't known."""
        return tuple(self._declared_types(urn))

    def variation_names(self, urn: str) -> tuple[str, ...]:
        """The names of the type variations that an extension declares; none if it isn't known."""
        return tuple(self._variation_definitions(urn))

    def variation(self, urn: str, name: str) -> VariationDefinition | None:
        """A type variation; None if the extension or the variation isn't known."""
        return self._variation_definitions(urn).get(name)

    def _file(self, urn: str) -> ExtensionFile | None:
        added = self._added.get(urn)
        if added is not None:
            return added
        if urn.startswith(OWN):
            own = urn.removeprefix(OWN)
            return own_file(own) if own in own_stems() else None
        stem = urn[len(OFFICIAL) :] if urn.startswith(OFFICIAL) else None
        return official_file(stem) if stem in official_stems() else None

    @computed_once
    def _types(self) -> dict[str, dict[str, Any]]:
        """By URN and name: the definition, or until it is first requested, the parsed YAML."""
        return {}

    @computed_once
    def _variations(self) -> dict[str, dict[str, VariationDefinition]]:
        return {}

    def _declared_types(self, urn: str) -> dict[str, Any]:
        known = self._types.get(urn)
        if known is None:
            file = self._file(urn)
            known = {}
            for item in () if file is None else file.items("types"):
                name = item.get("name") if isinstance(item, Mapping) else None
                if not isinstance(name, str):
                    raise InvalidPlanError("a type needs a `name`")
                if name in known:
                    raise InvalidPlanError(f"the type `{name}` is declared twice")
                known[name] = item
            known = self._types.setdefault(urn, known)  # whole, as other threads may be asking too
        return known

    def _variation_definitions(self, urn: str) -> dict[str, VariationDefinition]:
        known = self._variations.get(urn)
        if known is None:
            file = self._file(urn)
            read = [read_variation(item, urn) for item in (() if file is None else file.items("type_variations"))]
            known = self._variations[urn] = {definition.name: definition for definition in read}
        return known

    def _structure(self, urn: str, name: str) -> Type | None:
        definition = self.type(urn, name)
        if definition is None:
            raise InvalidPlanError(f"the extension `{urn}` declares no type `{name}`")
        return definition.structure

    def _separate(self, variation: TypeVariation) -> bool:
        definition = self.variation(variation.urn, variation.name)
        return definition is not None and definition.separate

    def _scope(self, urn: str, dependencies: tuple[tuple[str, str], ...]) -> Scope:
        return Scope(urn, dependencies, self._structure, self._separate)

    # calls -----------------------------------------------------------------------------------------------------------

    def resolve(
        self,
        urn: str | None,
        name: str,
        arguments: Sequence[Argument] = (),
        kind: Kind | None = None,
        *,
        phase: Phase = "INITIAL_TO_RESULT",
        strict: bool = False,
    ) -> Resolved:
        """Find the implementation that a call refers to, and derive the type of the call.

        The rules are in :mod:`pyspark_substrait.extensions.resolution`. For an extension that isn't known and isn't one
        of the specification's own, the result has no definition, as the meaning of its functions is unknown.

        Args:
            urn: the extension that the plan names; None or empty when it names none.
            name: the function as the plan names it, with or without a signature.
            arguments: the arguments of the call.
            kind: how it is called; None for any kind. Aggregate functions may be called as window functions.
            phase: the part of an aggregation. After ``INITIAL`` phases, the argument is the intermediate value.
            strict: accept only what the specification allows.

        Raises:
            InvalidPlanError: nothing fits, or several implementations do.
        """
        arguments, urn = tuple(arguments), urn or None
        call = (urn, name, arguments, kind, phase, strict)
        known = self._calls.get(call)
        if known is None:
            known = self._resolve(urn, name, arguments, kind, phase, strict)
            if len(self._calls) >= _CACHED_CALLS:
                self._calls.clear()
            self._calls[call] = known
        return known

    def _resolve(
        self,
        urn: str | None,
        name: str,
        arguments: tuple[Argument, ...],
        kind: Kind | None,
        phase: Phase,
        strict: bool,
    ) -> Resolved:
        if urn is not None and self._file(urn) is None and not urn.startswith((OFFICIAL, OWN)):
            return Resolved(
                definition=None,
                output_type=None,
                arguments=arguments,
                sources=tuple(range(len(arguments))),
                notes=(f"`{name}` is not known, since its extension `{urn}` is not",),
            )
        kinds = kinds_for(kind)
        calls = list(standard_calls(name, arguments))[: 1 if strict else None]
        named = () if urn is None else (urn,)
        # a function of this package isn't the specification's of the same name
        alone = strict or (urn is not None and urn.startswith(OWN) and bool(self.overloads(urn, calls[0].simple_name)))
        for urns in (named,) if alone else (named, self.urns()):
            for call in calls:
                found = [
                    definition
                    for one in urns
                    for definition in self.overloads(one, call.simple_name)
                    if definition.kind in kinds
                ]
                resolved = choose(call, found, self._scope_of, phase=phase, strict=strict, qualified=urns is named)
                if resolved is not None:
                    return resolved
        raise self._nothing_fits(urn, name, arguments, kind, phase, strict)

    def _scope_of(self, definition: FunctionDefinition) -> Scope:
        return self._scope(definition.urn, definition.dependencies)

    def _nothing_fits(
        self, urn: str | None, name: str, arguments: tuple[Argument, ...], kind: Kind | None, phase: Phase, strict: bool
    ) -> InvalidPlanError:
        simple = name.partition(":")[0]
        place = f" of `{urn}`" if urn is not None else ""
        same_name = [definition for one in self.urns() for definition in self.overloads(one, simple)]
        if urn is not None and urn.startswith(OWN):
            same_name = [*self.overloads(urn, simple)] or same_name
        if not same_name:
            names = {known for one in self.urns() if (file := self._file(one)) for known in file.names()}
            bare = urn is None
            engines = [
                producer for producer, one in ENGINES.items() if bare and self.overloads(one.urn, simple.lower())
            ]
            return InvalidPlanError(
                f"there is no function `{simple}`{place}",
                hint=missing_function_hint(simple, names, engines),
                code=Code.LINK_UNRESOLVED_NAME,
            )
        return no_overload(simple, place, same_name, call_text(name, arguments), kind, phase, strict=strict)


def _values(named: Mapping[str, str | tuple[str, ...]] | None) -> dict[str, tuple[str, ...]]:
    return {name: (value,) if isinstance(value, str) else tuple(value) for name, value in (named or {}).items()}


def _with_kind(known: Mapping[str, _Handler], type_url: str, handler: _Handler, what: str) -> Mapping[str, _Handler]:
    if type_url in known:
        raise InvalidPlanError(f"the {what} `{type_url}` is known already")
    return {**known, type_url: handler}


@cache
def _default() -> Registry:
    return Registry()

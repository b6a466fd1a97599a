"""Dialect files: the description of what an engine can run. Spec: text/dialect_schema.yaml.

A section that is missing restricts nothing; neither does an empty list of types, relations or expressions. The schema
doesn't say so of functions: an empty list means that no function runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from pyspark_substrait.errors import PlanFormatError, SubstraitError, UnsupportedPlanError
from pyspark_substrait.extensions.yaml_text import load_yaml
from pyspark_substrait.model.dialect_terms import Term

__all__ = ["Dialect", "Entry", "FunctionEntry", "dialect", "parsed"]


@dataclass(frozen=True, slots=True)
class Entry:
    """The entry of a dialect for a kind of relation, expression or type.

    Args:
        lists: the values that it lists, by field, like ``join_types``; a field that is missing restricts nothing.
        numbers: its limits, like ``max_length``.
        as_column: whether a column of a table may have the type.
    """

    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    numbers: Mapping[str, int] = field(default_factory=dict)
    as_column: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionEntry:
    """The entry of a dialect for a function.

    Args:
        options: the options that a call states, no more and no fewer, with the values that each may have.
        implementations: the signatures, like ``i32_i32``.
        minimum, maximum: how many arguments there may be; None for no limit.
    """

    options: Mapping[str, tuple[str, ...]]
    implementations: frozenset[str]
    minimum: int | None = None
    maximum: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """A dialect file. What is None isn't restricted.

    Args:
        name: the name that the file states, or else the name of the file.
        types, relations, expressions: entries by kind; a relation or type may have several.
        own_types: user-defined types, by URN and name.
        functions: for ``scalar``, ``aggregate`` and ``window``, the entries by URN and name.
        evaluation_modes: how context variables may be evaluated.
    """

    name: str
    types: Mapping[str, Sequence[Entry]] | None
    own_types: Mapping[tuple[str, str], Entry]
    relations: Mapping[str, Sequence[Entry]] | None
    expressions: Mapping[str, Sequence[Entry]] | None
    functions: Mapping[str, Mapping[tuple[str, str], Sequence[FunctionEntry]]]
    evaluation_modes: frozenset[str] | None

    @staticmethod
    def allows(entries: Mapping[str, Sequence[Entry]] | None, term: Term) -> bool:
        """Whether the entries of a section allow a term."""
        if entries is None:
            return True
        return any(_lists(entry, term) for entry in entries.get(term.name, ()))


def _lists(entry: Entry, term: Term) -> bool:
    allowed = entry.lists.get(term.field)
    if allowed is None or not term.field:
        return True
    if term.field == "message_types":
        # the part before the last slash only says where a message could be looked up
        return _message(term.value) in map(_message, allowed)
    return term.value in allowed


def _message(type_url: str) -> str:
    return type_url.rpartition("/")[2]


def dialect(target: str) -> Dialect:
    """Return the dialect that a file describes.

    Raises:
        UnsupportedPlanError: there is no such file.
        PlanFormatError: it isn't a dialect file.
    """
    path = Path(target)
    if not path.is_file():
        raise UnsupportedPlanError(
            f"there is no target {target}", hint="A target is spark, or the path of a dialect file (YAML or JSON)"
        )
    state = path.stat()
    return _of_file(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=16)
def _of_file(path: Path, changed: int, size: int) -> Dialect:
    """Return the dialect in a file, cached by its time of change and its size."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PlanFormatError(f"the dialect file {path} cannot be read: {error}") from error
    return parsed(text, path.stem)


def parsed(text: str, name: str) -> Dialect:
    """Return the dialect that a text describes.

    Args:
        text: YAML or JSON.
        name: the name of the dialect if the text states none.

    Raises:
        PlanFormatError: it isn't a dialect file.
    """
    try:
        content = load_yaml(text)
        return _Reading(content).dialect(name)
    except SubstraitError as error:
        raise PlanFormatError(f"{name} is not a dialect file: {error.message}", path=error.path) from error


_FUNCTIONS: Final = {
    "scalar": "supported_scalar_functions",
    "aggregate": "supported_aggregate_functions",
    "window": "supported_window_functions",
}
_SECTIONS: Final = frozenset(
    {
        "name",
        "metadata",
        "dependencies",
        "supported_types",
        "supported_relations",
        "supported_expressions",
        "supported_execution_behavior",
        *_FUNCTIONS.values(),
    }
)
#: Fields of entries that restrict nothing.
_SILENT: Final = frozenset({"metadata", "system_metadata", "source", "name", "type", "relation", "expression"})


class _Reading:
    """A dialect file, whose scalars are all strings."""

    def __init__(self, content: Any) -> None:
        self._content: dict[str, Any] = _mapping(content, "the file")
        unknown = sorted(set(self._content) - _SECTIONS)
        if unknown:
            raise PlanFormatError(f"a dialect has no field {unknown[0]}", path=unknown[0])
        self._dependencies = {
            alias: str(urn) for alias, urn in _mapping(self._content.get("dependencies") or {}, "dependencies").items()
        }

    def dialect(self, name: str) -> Dialect:
        """Return the dialect."""
        own: dict[tuple[str, str], Entry] = {}
        types = self._entries("supported_types", "type", own)
        modes = _mapping(self._content.get("supported_execution_behavior") or {}, "supported_execution_behavior")
        allowed = modes.get("supported_variable_evaluation_mode")
        return Dialect(
            name=str(self._content.get("name") or name),
            types=types,
            own_types=own,
            relations=self._entries("supported_relations", "relation", {}),
            expressions=self._entries("supported_expressions", "expression", {}),
            functions={
                kind: self._functions(section) for kind, section in _FUNCTIONS.items() if section in self._content
            },
            evaluation_modes=None if not allowed else frozenset(map(str, allowed)),
        )

    def _entries(
        self, section: str, key: str, own: dict[tuple[str, str], Entry]
    ) -> Mapping[str, Sequence[Entry]] | None:
        listed = _list(self._content.get(section), section)
        if not listed:
            return None
        found: dict[str, list[Entry]] = {}
        for position, item in enumerate(listed):
            where = f"{section}[{position}]"
            if isinstance(item, str):
                found.setdefault(item, []).append(Entry())
                continue
            fields = _mapping(item, where)
            kind = fields.get(key)
            if not isinstance(kind, str):
                raise PlanFormatError(f"{key} is missing", path=where)
            entry = _entry(fields, where)
            if kind == "USER_DEFINED":
                own[self._urn(fields, where), str(fields.get("name", ""))] = entry
            else:
                found.setdefault(kind, []).append(entry)
        return found

    def _functions(self, section: str) -> Mapping[tuple[str, str], Sequence[FunctionEntry]]:
        found: dict[tuple[str, str], list[FunctionEntry]] = {}
        for position, item in enumerate(_list(self._content.get(section), section)):
            where = f"{section}[{position}]"
            fields = _mapping(item, where)
            name = (self._urn(fields, where), str(fields.get("name", "")))
            limits = _mapping(fields.get("variadic") or {}, f"{where}.variadic")
            options = _mapping(fields.get("required_options") or {}, f"{where}.required_options")
            entry = FunctionEntry(
                options={option: tuple(map(str, _several(value))) for option, value in options.items()},
                implementations=frozenset(map(str, _list(fields.get("supported_impls"), f"{where}.supported_impls"))),
                minimum=_number(limits.get("min"), f"{where}.variadic.min"),
                maximum=_number(limits.get("max"), f"{where}.variadic.max"),
            )
            found.setdefault(name, []).append(entry)
        return found

    def _urn(self, fields: Mapping[str, Any], where: str) -> str:
        source = fields.get("source")
        urn = self._dependencies.get(str(source))
        if urn is None:
            raise PlanFormatError(f"the source {source} is not among the dependencies", path=where)
        return urn


def _entry(fields: Mapping[str, Any], where: str) -> Entry:
    system = _mapping(fields.get("system_metadata") or {}, f"{where}.system_metadata")
    lists: dict[str, tuple[str, ...]] = {}
    numbers: dict[str, int] = {}
    for name, value in fields.items():
        if name in _SILENT:
            continue
        if isinstance(value, list):
            lists[name] = tuple(map(str, value))
        else:
            number = _number(value, f"{where}.{name}")
            if number is not None:
                numbers[name] = number
    return Entry(lists, numbers, str(system.get("supported_as_column", "true")).lower() != "false")


def _several(value: Any) -> Iterator[Any]:
    yield from value if isinstance(value, list) else [value]


def _mapping(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise PlanFormatError(f"{where} is not a mapping")
    return value


def _list(value: Any, where: str) -> list[Any]:
    if value in (None, ""):
        return []
    if not isinstance(value, list):
        raise PlanFormatError(f"{where} is not a list")
    return value


def _number(value: Any, where: str) -> int | None:
    if value is None:
        return None
    try:
        return int(value)
    except (TypeError, ValueError) as error:
        raise PlanFormatError(f"{value!r} is not a number", path=where) from error

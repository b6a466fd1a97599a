"""The support for each function, in words: for the command ``functions`` and for the page in the documentation."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.extensions.definitions import EnumArgument, FunctionDefinition
from pyspark_substrait.extensions.registry import OFFICIAL, Registry
from pyspark_substrait.message_text import escaped
from pyspark_substrait.model.computed_once import computed_once
from pyspark_substrait.sql import functions
from pyspark_substrait.sql.functions.catalog import Combination, combinations, example, example_call
from pyspark_substrait.sql.functions.registered import registered_table
from pyspark_substrait.sql.functions.table import Table
from pyspark_substrait.sql.spark_version import NEWEST, SparkVersion

if TYPE_CHECKING:
    from rich.table import Table as RichTable

__all__ = ["Support", "listed", "markdown", "shown", "supported"]

_NO_FORM: Final = "no Spark form yet"
_MOST_VALUES: Final = 20
_WIDTH: Final = 110
_NUMBERS: Final = ("overloads", "combinations", "refused")


@dataclass(frozen=True)
class Support:
    """The support for one function.

    Args:
        urn: its extension.
        name: its name.
        definitions: its overloads.
        registry: the extensions.
        spark: the version of Spark.
    """

    urn: str
    name: str
    definitions: tuple[FunctionDefinition, ...]
    registry: Registry
    spark: SparkVersion = NEWEST

    @property
    def kind(self) -> str:
        return self.definitions[0].kind

    @property
    def extension(self) -> str:
        """The extension; for the specification's own, the name of its file."""
        return self.urn.removeprefix(OFFICIAL)

    @computed_once
    def table(self) -> Table | None:
        return functions.table(self.urn, self.spark) or registered_table(self.registry, self.urn, self.spark)

    @computed_once
    def combinations(self) -> tuple[Combination, ...]:
        return tuple(item for definition in self.definitions for item in combinations(definition, self.table))

    @property
    def refused(self) -> int:
        """The number of combinations that don't run."""
        return sum(item.row is None or item.refusal is not None for item in self.combinations)

    @computed_once
    def values(self) -> dict[str, tuple[str, ...]]:
        """The values of each option and enumeration argument, over all overloads."""
        found: dict[str, tuple[str, ...]] = {}
        for definition in self.definitions:
            for name, values in _values(definition).items():
                found[name] = tuple(dict.fromkeys((*found.get(name, ()), *values)))
        return found

    @computed_once
    def refusals(self) -> dict[str, str]:
        """The refused option values, enumeration values and overloads, by the reason for the refusal."""
        by_reason: dict[str, list[Combination]] = {}
        for item in self.combinations:
            if item.row is None or item.refusal is not None:
                by_reason.setdefault(item.refusal or _NO_FORM, []).append(item)
        return {reason: self._condition(items) for reason, items in by_reason.items()}

    @computed_once
    def constants(self) -> tuple[str, ...]:
        """The reasons why a call with columns as arguments is refused, mostly because one must be a constant."""
        found: dict[str, None] = {}
        for item in self.combinations:
            if item.row is not None and callable(item.row.body):
                try:
                    item.row.body(example_call(item, self.registry, spark=self.spark))
                except SubstraitError as error:
                    found[error.message] = None
        return tuple(found)

    def _condition(self, items: Sequence[Combination]) -> str:
        """Return the properties that the combinations share, but not all combinations of the function."""
        parts = []
        keys = dict.fromkeys(item.definition.key for item in items)
        if len(keys) < len(self.definitions):
            parts.append(", ".join(keys))
        declared: dict[str, set[str]] = {}
        for key in keys:
            for definition in self.definitions:
                if definition.key == key:
                    for name, values in _values(definition).items():
                        declared.setdefault(name, set()).update(values)
        for name, possible in declared.items():
            chosen = dict.fromkeys({**item.enums, **item.options}[name] for item in items)
            if len(chosen) < len(possible):
                parts.append(f"{name}: {' | '.join(chosen)}")
        return "; ".join(parts) or "always"

    def forms(self) -> tuple[FunctionDefinition, list[tuple[str, str]]] | None:
        """The first overload that runs, and each Spark SQL of it with the values that it is for; None if none runs."""
        for definition in self.definitions:
            texts: dict[str, list[Combination]] = {}
            for item in combinations(definition, self.table):
                with suppress(SubstraitError):
                    texts.setdefault(example(item, self.registry, self.spark), []).append(item)
            if texts:
                usual = self._usual(definition)
                return definition, [(text, _condition(items, text == usual)) for text, items in texts.items()]
        return None

    def _usual(self, definition: FunctionDefinition) -> str | None:
        """Return the Spark SQL of an overload without stated options; None if enumeration arguments must be stated."""
        unstated = replace(definition, options=())
        with suppress(SubstraitError, ValueError):
            (item,) = combinations(unstated, self.table)
            return example(item, self.registry, self.spark)
        return None


def _condition(items: Sequence[Combination], usual: bool) -> str:
    """The values that some combinations of one overload have."""
    declared = _values(items[0].definition)
    chosen = {name: dict.fromkeys({**item.enums, **item.options}[name] for item in items) for name in declared}
    parts = [f"{name}: {' | '.join(values)}" for name, values in chosen.items() if len(values) < len(declared[name])]
    return "; ".join(parts) + ("; the default" if usual and parts else "")


def _values(definition: FunctionDefinition) -> Mapping[str, tuple[str, ...]]:
    """The values of each enumeration argument and option of an overload."""
    words = {argument.name: argument.options for argument in definition.arguments if isinstance(argument, EnumArgument)}
    return {**words, **dict(definition.options)}


def supported(registry: Registry, name: str | None = None, spark: SparkVersion = NEWEST) -> list[Support]:
    """Return the support of a Spark for every function, or for those with a name or of an extension."""
    found = [Support(urn, own, definitions, registry, spark) for urn, own, definitions in registry.functions()]
    if name is None:
        return found
    return [item for item in found if name in (item.name, item.urn, item.extension)]


# for a terminal ------------------------------------------------------------------------------------------------------


def listed(items: Iterable[Support]) -> RichTable:
    """Return the functions as a table, one line each."""
    from rich.table import Table as RichTable
    from rich.text import Text

    made = RichTable(box=None, pad_edge=False)
    for title in ("extension", "function", "kind", "overloads", "combinations", "refused"):
        made.add_column(title, justify="right" if title in _NUMBERS else "left")
    for item in items:
        numbers = (len(item.definitions), len(item.combinations), item.refused)
        texts = (item.extension, item.name, item.kind, *map(str, numbers))
        made.add_row(*(Text(escaped(text)) for text in texts))
    return made


def shown(item: Support, *, full: bool) -> str:
    """Return a function as text: its description, overloads, options, Spark SQL and refusals."""
    lines = [f"{item.name}: {item.kind} function of {item.urn}"]
    for description in dict.fromkeys(definition.description for definition in item.definitions):
        for paragraph in description.replace(" * ", "\n* ").splitlines():
            lines += textwrap.wrap(paragraph, _WIDTH, initial_indent="  ", subsequent_indent="  ")
    lines += ["", "Overloads", *(f"  {definition.signature()}" for definition in item.definitions)]
    if item.values:
        lines += ["", "Options and enumeration arguments"]
        lines += [f"  {name}: {' | '.join(values)}" for name, values in item.values.items()]
    forms = item.forms()
    if forms is not None:
        lines += ["", f"{forms[0].key} in Spark SQL"]
        for text, condition in forms[1]:
            lines.append(f"  {text if full else textwrap.shorten(text, _WIDTH, placeholder=' …')}")
            if condition:
                lines.append(f"      {condition}")
    if item.constants:
        lines += ["", "Some arguments are refused", *(f"  {reason}" for reason in item.constants)]
    if item.refusals:
        lines += ["", "Refused", *(f"  {condition}: {reason}" for reason, condition in item.refusals.items())]
    return "\n".join(lines)


# the page ------------------------------------------------------------------------------------------------------------


def markdown(items: Iterable[Support]) -> str:
    """The functions as a page: a section for each extension, a line for each function."""
    items = list(items)
    total = sum(len(item.combinations) for item in items)
    refused = sum(item.refused for item in items)
    lines = [
        "# Functions",
        "",
        "The functions of the specification's extensions, and what Spark runs of them. A *combination* is an overload",
        "with a value for each option and enumeration argument.",
        f"Of {total:,} combinations, {total - refused:,} run exactly, and {refused:,} are refused for the reason in",
        "the last column.",
        "",
        "`pyspark-substrait functions NAME` prints a function's overloads and its Spark SQL.",
        "`pyspark-substrait functions --markdown` generates this page.",
    ]
    extensions = dict.fromkeys(item.extension for item in items)
    for extension in extensions:
        lines += ["", f"## {extension}", "", "| function | overloads | options and enumeration arguments | refused |"]
        lines.append("|---|---|---|---|")
        for item in items:
            if item.extension == extension:
                values = "<br>".join(f"{name}: {_listed(known)}" for name, known in item.values.items())
                refusals = [f"{condition}: {reason}" for reason, condition in item.refusals.items()]
                reasons = "<br>".join([*refusals, *(f"some arguments: {reason}" for reason in item.constants)])
                cells = (f"`{item.name}`", str(len(item.definitions)), values, reasons)
                lines.append(
                    f"| {' | '.join(cell.replace(' | ', ', ').replace('|', chr(92) + '|') for cell in cells)} |"
                )
    return "\n".join(lines) + "\n"


def _listed(values: Sequence[str]) -> str:
    if len(values) <= _MOST_VALUES:
        return " | ".join(values)
    return f"{' | '.join(values[:_MOST_VALUES])} and {len(values) - _MOST_VALUES} more"

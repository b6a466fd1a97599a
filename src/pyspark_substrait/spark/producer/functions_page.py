"""Generate the documentation of the functions of this package's extensions: ``docs/spark-functions.md``.

python -m pyspark_substrait.spark.producer.functions_page > docs/spark-functions.md
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pyspark_substrait.extensions.definitions import FunctionDefinition
from pyspark_substrait.extensions.registry import OWN, Registry
from pyspark_substrait.spark.producer.refusals import FUNCTIONS

__all__ = ["markdown"]

_HEAD: Final = """# Functions that only Spark has

Most functions of a Spark query are functions of the specification: [functions.md](functions.md) lists them with what
they are in Spark SQL. Other functions of Spark are functions of the extensions below, which this package ships as YAML
files (`pyspark_substrait/extensions/own`). A plan with them runs on Spark again, with the same results; other engines
need definitions of them.

- `plan.portability` lists every place where a plan uses one: the function, its extension, the path in the plan.
- `to_substrait(df, portable=True)` and `from_sql(text, portable=True)` refuse them, with the place in the query.
- Substrait's structs have no field names. A function that looks at them (`to_json`) gets them as a constant, a JSON
  array of the names inside the type, depth first.
- A function whose result is of a type that the query states (`from_json`) gets a null of that type.
- Options of a function, names and values in turn, are its last arguments. The time zone that it reckons in is one.

This page is made from the YAML files: `python -m pyspark_substrait.spark.producer.functions_page`.
"""


def markdown() -> str:
    """Return the page as Markdown."""
    registry = Registry.default()
    return "\n".join(
        [_HEAD, *(line for urn in registry.spark_urns() for line in _extension(registry, urn)), *_refused()]
    )


def _extension(registry: Registry, urn: str) -> Iterator[str]:
    yield f"## {urn.removeprefix(OWN)}\n"
    yield f"`{urn}`\n"
    yield "| Function | Meaning |"
    yield "| --- | --- |"
    for name in sorted(registry.function_names(urn)):
        overloads = registry.overloads(urn, name)
        signatures = "<br>".join(f"`{_signature(one)}`" for one in overloads)
        yield f"| {signatures} | {_meaning(overloads[0])} |"
    yield ""


def _signature(definition: FunctionDefinition) -> str:
    return definition.signature().replace("|", "\\|")


def _meaning(definition: FunctionDefinition) -> str:
    text = " ".join(definition.description.split()).replace("|", "\\|")
    if not definition.deterministic:
        text += " Not deterministic."
    if definition.session_dependent:
        text += " It depends on the session."
    return text


def _refused() -> Iterator[str]:
    yield "## Functions without a Substrait form\n"
    yield "These functions of Spark 4.3 are refused, with an error that names the call as the query has it.\n"
    yield "| Function | Why |"
    yield "| --- | --- |"
    reasons: dict[str, list[str]] = {}
    for name, reason in FUNCTIONS.items():
        reasons.setdefault(reason, []).append(name)
    for reason, names in reasons.items():
        yield f"| {', '.join(f'`{name}`' for name in sorted(names))} | {reason[0].upper()}{reason[1:]} |"
    yield ""


if __name__ == "__main__":
    print(markdown(), end="")

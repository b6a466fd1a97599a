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

Most functions of a Spark query become functions of the specification, which [functions.md](functions.md) lists. The
other functions of Spark become functions of the extensions below, which this package includes as YAML files
(`pyspark_substrait/extensions/own`). A plan with them runs on Spark again, with the same results. Other engines need
definitions of them.

- `plan.portability` lists every place where a plan uses one: the function, its extension, the path in the plan.
- `to_substrait(df, portable=True)` and `from_sql(text, portable=True)` refuse them, with the place in the query.
- Substrait's structs have no field names. A function that needs them (`to_json`) takes them as a constant: a JSON
  array of the names inside the type, depth first.
- A function whose result type the query states (`from_json`) takes a null of that type.
- The last arguments are the function's options, as names and values in turn. The time zone that it uses is one.

`python -m pyspark_substrait.spark.producer.functions_page` generates this page from the YAML files.
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
    yield "These functions of Spark 4.3 are refused, with an error that quotes the call from the query.\n"
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

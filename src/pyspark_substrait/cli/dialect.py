"""The commands that describe, for other tools, what runs on Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import pyspark_substrait
from pyspark_substrait.cli.files import counted, output_name
from pyspark_substrait.cli.options import SPARK
from pyspark_substrait.cli.output import print_text, write_text

if TYPE_CHECKING:
    from pyspark_substrait.sql.capabilities import Capabilities

__all__ = ["capabilities", "dialect", "dialect_text"]

_OUTPUT = click.Path(dir_okay=False, allow_dash=True, path_type=Path)


@click.command(short_help="Write a dialect file of what runs on Spark.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=_OUTPUT,
    default="-",
    help="Write the dialect here, as JSON (.json) or YAML (any other suffix); by default to standard output.",
)
@SPARK
def dialect(output: Path, version: str | None) -> None:
    """Write a dialect file: the types, relations, expressions and functions of Substrait that run on Spark.

    Tools that make or check plans can read it; the specification defines the format. Needs no Spark.

    \b
    Examples:
      pyspark-substrait dialect -o spark.yaml
      pyspark-substrait dialect --spark 3.5 -o spark-3.5.yaml
      pyspark-substrait validate plan.pb --target spark.yaml
    """
    content = pyspark_substrait.dialect(version=version)
    text = dialect_text(content, output)
    if str(output) == "-":
        write_text(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.FileError(str(output), error.strerror or str(error)) from error
    print_text(f"written to {output_name(output)}", err=True)


def dialect_text(content: dict[str, Any], output: Path) -> str:
    """Return a dialect in the form of a file: JSON for the suffix .json, else YAML."""
    import yaml

    if output.suffix.lower() == ".json":
        return json.dumps(content, indent=2) + "\n"

    dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return str(yaml.dump(content, Dumper=dumper, sort_keys=False, width=120, default_flow_style=None))


@click.command(short_help="Print the supported releases, extensions and messages.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def capabilities(form: str) -> None:
    """Print the supported Substrait releases, and how much of each extension runs on Spark. Needs no Spark.

    The JSON is the message Capabilities, which was part of the specification until release 0.81.

    \b
    Examples:
      pyspark-substrait capabilities
      pyspark-substrait capabilities --format json
    """
    found = pyspark_substrait.capabilities()
    print_text(found.to_json() if form == "json" else _text(found))


def _text(found: Capabilities) -> str:
    versions = found.substrait_versions
    lines = [f"reads {versions[0]} to {versions[-1]}, writes {found.written}", "", "messages:"]
    lines += [f"  {url}" for url in found.advanced_extension_type_urls]
    lines += ["", "extensions:"]
    width = max(len(item.urn) for item in found.simple_extensions)
    for item in found.simple_extensions:
        kinds = (("function", item.function_keys), ("type", item.type_keys), ("variation", item.type_variation_keys))
        counts = ", ".join(counted(len(keys), name) for name, keys in kinds if keys)
        lines.append(f"  {item.urn:<{width}}  {counts}".rstrip())
    return "\n".join(lines)

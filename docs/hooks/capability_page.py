"""The page that says what is supported, from what ``pyspark_substrait.capabilities()`` gives."""

from __future__ import annotations

import pyspark_substrait


def markdown() -> str:
    """The page."""
    found = pyspark_substrait.capabilities()
    oldest = found.substrait_versions[0]
    lines = [
        "# Capabilities",
        "",
        f"This package reads plans of releases {oldest} to {found.written}, and writes plans of {found.written}.",
        "`pyspark-substrait capabilities` prints these facts, with `--format json` in the specification's terms;",
        "`pyspark-substrait dialect` writes a [dialect file](../dialects.md) for tools that make or check plans.",
        "",
        "## Extensions",
        "",
        "A function counts once for each overload that runs, with at least some of its options.",
        "[Functions](../functions.md) and [functions that only Spark has](../spark-functions.md) list them all.",
        "",
        "| extension | functions | types | type variations |",
        "|---|--:|--:|--:|",
    ]
    for item in found.simple_extensions:
        counts = (len(item.function_keys), len(item.type_keys), len(item.type_variation_keys))
        lines.append(f"| `{item.urn}` | {' | '.join(str(count) if count else '' for count in counts)} |")
    lines += ["", "## Messages in `Any` fields", "", "These messages are supported:", ""]
    lines += [f"- `{url}`" for url in found.advanced_extension_type_urls]
    lines += ["", "Register a [handler](../extension-relations.md) to run others.", ""]
    return "\n".join(lines)

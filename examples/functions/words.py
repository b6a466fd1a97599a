"""Run a plan that calls functions of an extension of one's own: ``python examples/functions/words.py``.

The command line takes the same: ``pyspark-substrait run plan.json --functions words.yaml --functions words.py …``.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

import pyspark_substrait as substrait

HERE = Path(__file__).parent
WORDS = "extension:org.example:words"


def plain(text: pa.Array) -> pa.Array:
    """Letters without their marks: decomposed, then without what combines."""
    return pc.replace_substring_regex(pc.utf8_normalize(text, form="NFD"), r"\p{Mn}", "")


def with_functions(registry: substrait.Registry) -> substrait.Registry:
    """The registry with what the functions of words.yaml are on Spark."""
    return (
        registry.with_function(WORDS, "plain", arrow=plain)
        .with_function(WORDS, "shout", sql="concat(upper({text}), '!!!')", options={"marks": "THREE"})
        .with_function(WORDS, "shout", sql="concat(upper({text}), '!')")
        .with_function(WORDS, "geometric_mean", sql="exp([avg(ln({x}))])")
    )


REGISTRY = with_functions(substrait.Registry.default().with_yaml(HERE / "words.yaml"))


def main() -> pa.Table:
    """For each word without its marks: how loud it is, and the geometric mean of its weights."""
    words = pa.table({"word": ["Fête", "fete", "Ænima", "fête"], "weight": [2.0, 4.0, 1.0, 8.0]})
    return substrait.run_query(HERE / "plan.json", tables={"words": words}, registry=REGISTRY)


if __name__ == "__main__":
    for row in main().to_pylist():
        print(row)

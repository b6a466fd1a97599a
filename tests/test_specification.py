"""The files of the specification in this package are those of the release that it says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from pyspark_substrait import samples, specification
from tests.official import RELEASE, official

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
#: what is left for others, once a plan was read: the name `substrait` of a module, and protobuf's default pool
LEFT = """
import sys
import pyspark_substrait as ps
from google.protobuf import descriptor_pool
ps.load(sys.argv[1])
assert "substrait" not in sys.modules
try:
    descriptor_pool.Default().FindFileByName("substrait/plan.proto")
except KeyError:
    print("free")
"""


def test_one_release_is_named_everywhere() -> None:
    named = re.findall(r'"substrait-(\w+)==([^"]+)"', PROJECT.read_text())
    assert sorted(set(named)) == [(name, RELEASE) for name in ("antlr", "extensions", "protobuf")]


def test_the_extension_files_are_those_of_the_release() -> None:
    expected = {file.name: file.read_bytes() for file in official("extensions").iterdir() if ".yaml" in file.name}
    del expected["simple_extensions_schema.yaml"]
    assert {file.name: file.read_bytes() for file in specification.folder().glob("*.yaml")} == expected


def test_names_are_left_to_others() -> None:
    plan = samples.plan_2023()
    assert subprocess.run([sys.executable, "-c", LEFT, plan], capture_output=True, text=True).stdout == "free\n"

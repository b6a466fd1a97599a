"""Put the files of the specification into the package, whenever it is built or installed from a tree.

They come from the packages that bring a release of the specification. Those are requirements of the build, and no
dependencies: docs/architecture.md says why. `python hatch_build.py` does the same by itself, where they are installed.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
FOLDER = ROOT / "src" / "pyspark_substrait" / "specification"


def embed() -> None:
    """Write the files of the pinned release."""
    for name, release in re.findall(
        r'"(substrait-(?:protobuf|extensions))==([\d.]+)"', (ROOT / "pyproject.toml").read_text()
    ):
        try:
            found = version(name)
        except PackageNotFoundError:
            found = ""
        if found != release:
            there = f"{found} is installed" if found else "it is not installed"
            sys.exit(f"{name} {release} is needed to build this package, and {there}: pip install {name}=={release}")
    wanted = {"messages.binpb": descriptors()}
    for file in files("substrait_extensions.extensions").iterdir():
        if file.name.endswith(".yaml") and not file.name.endswith("_schema.yaml"):
            wanted[file.name] = file.read_bytes()
    for old in FOLDER.glob("*.yaml"):
        if old.name not in wanted:
            old.unlink()
    for name, content in wanted.items():
        path = FOLDER / name
        if not path.is_file() or path.read_bytes() != content:  # else somebody may be reading it
            path.write_bytes(content)


def descriptors() -> bytes:
    """Return the files of the messages as a ``FileDescriptorSet``, each after those it imports."""
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from substrait import extended_expression_pb2, plan_pb2

    found: dict[str, Any] = {}

    def visit(file: Any) -> None:
        if file.package.startswith("substrait") and file.name not in found:
            for imported in file.dependencies:
                visit(imported)
            found[file.name] = file

    visit(plan_pb2.DESCRIPTOR)
    visit(extended_expression_pb2.DESCRIPTOR)
    described = FileDescriptorSet()
    for file in found.values():
        file.CopyToProto(described.file.add())
    return described.SerializeToString(deterministic=True)


if __name__ == "__main__":
    embed()
else:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    class SpecificationHook(BuildHookInterface):
        """Runs before each build, be it a wheel, an sdist or an editable install."""

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            embed()

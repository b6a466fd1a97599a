"""The specification's own files, as the package ``substrait-extensions`` has them."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from pyspark_substrait.model.plan import CURRENT_VERSION

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

RELEASE = ".".join(map(str, CURRENT_VERSION))


def official(folder: str) -> Traversable:
    """A folder of the package. Tests skip where another release is installed, because another package needs that."""
    try:
        installed = version("substrait-extensions")
    except PackageNotFoundError:
        installed = "none"
    if installed != RELEASE:
        pytest.skip(f"substrait-extensions {RELEASE} is needed, not {installed}")
    return files("substrait_extensions") / folder

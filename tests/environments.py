"""Virtual environments into which the package is installed as users do it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

__all__ = ["ROOT", "built_wheel", "new_environment", "run"]

ROOT = Path(__file__).resolve().parent.parent


def run(*command: str | Path, folder: Path = ROOT, variables: Mapping[str, str] | None = None) -> str:
    """The output of a command, which sees neither this tree's package nor the environment that runs the tests."""
    inherited = os.environ if variables is None else variables
    clean = {name: value for name, value in inherited.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True)
    if done.returncode and "connection broken by" in done.stderr:
        pytest.skip("packages can't be fetched")
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout


def built_wheel(folder: Path) -> Path:
    """The wheel of this tree."""
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT)
    return next(folder.glob("*.whl"))


def new_environment(folder: Path) -> Path:
    """The Python of a new virtual environment."""
    run(sys.executable, "-m", "venv", folder)
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"

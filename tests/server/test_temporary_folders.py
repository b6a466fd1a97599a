"""Temporary folders: those of a killed process go with the next one, those in use stay."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pyspark_substrait.server.temporary_folders import temporary_folder

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there are no such locks")

_HOLDING = """
import sys
from pyspark_substrait.server.temporary_folders import temporary_folder
with temporary_folder("kept-") as folder:
    (folder / "records").write_text("x")
    print(folder, flush=True)
    sys.stdin.read()
"""


def test_a_folder_goes_with_its_process_or_with_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "kept-of-somebody").mkdir()  # without a lock
    (tmp_path / "other").mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        held = Path(process.stdout.readline().strip())
        with temporary_folder("kept-") as folder:
            assert folder.is_dir() and held.is_dir() and (held / "records").read_text() == "x"
        assert not folder.exists() and held.is_dir()
        process.kill()
        process.wait()
        assert held.is_dir()
        with temporary_folder("kept-") as folder:
            assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
                [folder.name, "kept-of-somebody", "other"]
            )

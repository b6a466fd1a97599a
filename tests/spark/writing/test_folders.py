"""A folder's new version takes its place in one step: whatever happens, the old or the new one is there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pyspark_substrait.errors import ExecutionError, UnsupportedPlanError
from pyspark_substrait.spark.writing import folders

_CRASHING = Path(__file__).with_name("crashing.py")


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["keep", "replace"])
def test_a_kill_before_any_step_leaves_the_old_or_the_new_version(tmp_path: Path, kind: str) -> None:
    done = subprocess.run(
        [sys.executable, _CRASHING, tmp_path / "table", kind], capture_output=True, text=True, check=True
    )
    crashes = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(crashes) > 30, "every step is one to be killed before"
    assert [crash["killed"] for crash in crashes] == [True] * (len(crashes) - 1) + [False]
    outcomes = []
    for step, crash in enumerate(crashes):
        old = crash["before"]
        new = {f"part-{step}a": f"{step}a", f"p=1/part-{step}a": f"{step}a"} | (old if kind == "keep" else {})
        assert crash["after"] in (old, new), crash
        assert crash["beside"] == [], "the next change removes what a crash leaves"
        outcomes.append(crash["after"] == new)
    # from one step on it is the new one, and before that the old one
    assert outcomes == sorted(outcomes)
    assert not outcomes[0]
    assert outcomes[-1]


def _folder(path: Path) -> Path:
    folder = path / "table"
    folder.mkdir()
    (folder / "part-0").write_text("old")
    return folder


def test_a_change_that_fails_leaves_everything_as_it_was(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    with pytest.raises(ZeroDivisionError), folders.changing(folder) as version:
        version.written.mkdir()
        version.keep()
        raise ZeroDivisionError
    assert os.listdir(tmp_path) == ["table"]
    assert (folder / "part-0").read_text() == "old"


@pytest.mark.parametrize("by_others", ["added", "rewritten", "removed"])
def test_a_folder_that_others_change_meanwhile_stays_theirs(tmp_path: Path, by_others: str) -> None:
    folder = _folder(tmp_path)
    with pytest.raises(ExecutionError, match="another process changed"), folders.changing(folder) as version:
        version.written.mkdir()
        (version.written / "part-1").write_text("new")
        version.add()
        match by_others:
            case "added":
                (folder / "part-2").write_text("theirs")
            case "rewritten":
                (folder / "part-0").unlink()
                (folder / "part-0").write_text("wow")
            case _:
                (folder / "part-0").unlink()
        theirs = folders.listing(folder)
        version.take_effect()
    assert folders.listing(folder) == theirs
    assert os.listdir(tmp_path) == ["table"]


def test_only_one_changes_a_folder_at_a_time(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    with (
        folders.changing(folder),
        pytest.raises(ExecutionError, match="another process is changing"),
        folders.changing(folder),
    ):
        pass
    with folders.changing(folder):
        pass


def test_a_lock_that_nobody_holds_is_no_lock(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    (tmp_path / ".table.lock").touch()
    with folders.changing(folder):
        pass
    assert os.listdir(tmp_path) == ["table"]


def test_files_that_are_kept_are_not_copied(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    (folder / "p=1").mkdir()
    (folder / "p=1" / "part-1").write_text("old too")
    numbers = {file.name: file.stat().st_ino for file in folders.data_files(folder)}
    with folders.changing(folder) as version:
        version.written.mkdir()
        version.keep()
        version.add()
        version.take_effect()
    assert {file.name: file.stat().st_ino for file in folders.data_files(folder)} == numbers


def test_where_there_are_no_hard_links_files_are_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)
    folder = _folder(tmp_path)
    with folders.changing(folder) as version:
        version.written.mkdir()
        (version.written / "part-1").write_text("new")
        version.keep()
        version.add()
        version.take_effect()
    assert {file.name: file.read_text() for file in folder.iterdir()} == {"part-0": "old", "part-1": "new"}


def test_where_folders_cannot_be_exchanged_nothing_is_changed(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    with pytest.raises(UnsupportedPlanError, match="in one step"):
        folders.exchange(folder, tmp_path / "missing")
    assert (folder / "part-0").read_text() == "old"


def test_other_things_beside_the_folder_stay(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    others = [".table.other", f".table2.{'0' * 32}.version", f".table.{'0' * 31}.version", "table2"]
    for name in others:
        (tmp_path / name).mkdir()
    with folders.changing(folder):
        pass
    assert sorted(os.listdir(tmp_path)) == sorted(["table", *others])


def test_the_data_of_a_folder_are_the_files_that_spark_reads(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    for name in ("_SUCCESS", ".part-0.crc", "_temporary/x", "p=1/part-1", "_odd=1/part-2", ".hidden/part-3"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
    found = {str(file.relative_to(folder)) for file in folders.data_files(folder)}
    assert found == {"part-0", "p=1/part-1", "_odd=1/part-2"}

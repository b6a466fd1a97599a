"""The class-data archive: what it depends on, who may have written it, and that it never stands in a run's way.

What makes it is a small program here; that Java makes one of Spark is measured in ``benchmarks/starting.py``.
"""

from __future__ import annotations

import importlib
import json
import os
import stat
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from pyspark_substrait.cli import main
from pyspark_substrait.errors import SubstraitError, SubstraitWarning
from pyspark_substrait.spark import archive as archives
from pyspark_substrait.spark import session_start
from pyspark_substrait.spark.archive import SWITCH, Archive, archive, java_option, make, make_at_exit, refusal

pytestmark = [pytest.mark.sweep, pytest.mark.skipif(os.name == "nt", reason="there are no archives on Windows")]

#: writes so many bytes, as Java would
TRAINING = (sys.executable, "-c", "import pathlib, sys; pathlib.Path(sys.argv[1]).write_bytes(b'c' * 5000)")
FAILING = (sys.executable, "-c", "import sys; sys.exit('error: Spark did not start: no room')")
SILENT = (sys.executable, "-c", "pass")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of its own, on a machine that says nothing of archives."""
    for name in (SWITCH, "CI", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "PYSPARK_SUBMIT_ARGS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def found() -> Archive:
    here = archive()
    assert here is not None
    return here


@pytest.fixture
def made(cache: Path) -> Archive:
    here = found()
    assert make(here, TRAINING)
    return here


def started_with(here: Archive) -> tuple[str | None, list[str]]:
    """The option for Java, and the warnings."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        option = java_option(here)
    assert all(warning.category is SubstraitWarning for warning in told)
    return option, [str(warning.message) for warning in told]


def test_it_is_made_once_and_then_used(cache: Path) -> None:
    here = found()
    assert started_with(here) == (None, [])
    assert make(here, TRAINING)
    assert not make(here, TRAINING)
    option, told = started_with(found())
    assert option is not None
    assert option.startswith(f'"-XX:SharedArchiveFile={here.file}" ')
    assert told == []


def test_what_java_says_of_it_stays_off_standard_output(made: Archive) -> None:
    option, _ = started_with(made)
    assert option is not None
    assert option.split()[1:] == ["-Xlog:cds*=off:stdout", "-Xlog:cds*=warning:stderr"]


def test_nobody_else_can_read_or_write_it(made: Archive) -> None:
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (made.folder.parent, made.folder, made.file, made.record)]
    assert modes == [0o700, 0o700, 0o400, 0o600]


@pytest.mark.parametrize("name", ["parent", "folder", "file", "record"])
def test_what_others_could_have_written_is_not_used(made: Archive, name: str) -> None:
    path: Path = made.folder.parent if name == "parent" else getattr(made, name)
    path.chmod(path.stat().st_mode | stat.S_IWGRP)
    option, [told] = started_with(made)
    assert option is None
    assert f"users other than you may have changed {path}" in told


def test_a_link_to_somewhere_else_is_not_followed(made: Archive, tmp_path: Path) -> None:
    made.folder.rename(tmp_path / "elsewhere")
    made.folder.symlink_to(tmp_path / "elsewhere")
    option, [told] = started_with(made)
    assert option is None
    assert "users other than you" in told


def damage(made: Archive, how: str) -> None:
    if how == "cut":
        os.truncate(made.file, 100)
    elif how == "written to":
        made.file.chmod(0o600)
        made.file.write_bytes(b"d" * 5000)
    elif how == "file gone":
        made.file.unlink()
    elif how == "record gone":
        made.record.unlink()
    else:
        made.record.write_text(how)


@pytest.mark.parametrize("how", ["cut", "written to", "file gone", "record gone", "[]", '{"size": 1', "{}"])
def test_a_damaged_one_is_warned_of_and_made_anew(made: Archive, how: str) -> None:
    made.file.chmod(0o600)
    damage(made, how)
    option, [told] = started_with(made)
    assert option is None
    assert str(made.file) in told
    assert "warmup --again" in told
    assert SWITCH in told
    assert make(made, TRAINING)
    assert started_with(made)[0] is not None


@pytest.fixture
def bare_java(cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A Java without an archive of its own classes, which can make one."""
    program = tmp_path / "bare" / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\n[ "$1" = -Xshare:dump ] && echo base > "${2#-XX:SharedArchiveFile=}"\n')
    program.chmod(0o755)
    (tmp_path / "bare" / "release").write_text('JAVA_VERSION="25.0.2"\n')
    monkeypatch.setattr(archives, "find_java", lambda: program)
    return program


def test_java_without_an_archive_of_its_own_gets_one_below_ours(bare_java: Path) -> None:
    here = found()
    given = (sys.executable, "-c", "import shutil, sys; shutil.copy(sys.argv[2], sys.argv[1])")
    assert make(here, given)
    assert (here.files, here.file.read_text()) == ((here.base, here.file), "base\n")
    option, told = started_with(here)
    assert option is not None
    assert option.startswith(f'"-XX:SharedArchiveFile={here.file}" ')
    assert told == []
    seen = identity(here.base)
    assert make(here, given, again=True)
    assert identity(here.base) == seen  # what was made of it before finds it by its path, and as it was


def identity(file: Path) -> tuple[int, ...]:
    """The facts about a file that change with it, and not when it is read."""
    found = file.stat()
    return found.st_ino, found.st_size, found.st_mode, found.st_mtime_ns, found.st_ctime_ns


def test_a_base_that_was_changed_is_not_used(bare_java: Path) -> None:
    here = found()
    assert make(here, TRAINING)
    base = here.base
    assert stat.S_IMODE(base.stat().st_mode) == 0o400
    base.chmod(0o600)
    base.write_text("other")
    option, [told] = started_with(here)
    assert option is None
    assert "java.jsa was changed since it was made" in told
    assert make(here, TRAINING)
    assert started_with(here)[0] is not None
    assert base.read_text() == "base\n"


def test_a_base_goes_with_the_archive_that_builds_on_it(bare_java: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for number in range(4):
        monkeypatch.setenv("JDK_JAVA_OPTIONS", f"-Dnumber={number}")
        made.append(found())
        assert make(made[-1], TRAINING)
        os.utime(made[-1].record, (time.time() - 100 + number, time.time() - 100 + number))
    assert [one.folder.is_dir() for one in made] == [one.base.is_file() for one in made] == [False, True, True, True]


def test_a_java_that_makes_no_archives_is_asked_first(bare_java: Path) -> None:
    bare_java.write_text("#!/bin/sh\necho no archives here >&2\nexit 1\n")
    with pytest.raises(SubstraitError, match="not made: no archives here"):
        make(found(), FAILING)


def test_it_depends_on_java_and_its_options(made: Archive, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "-XX:+UseSerialGC")
    assert found().folder != made.folder
    monkeypatch.delenv("JDK_JAVA_OPTIONS")
    assert found() == made

    program = tmp_path / "java" / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    release = tmp_path / "java" / "release"
    release.write_text('JAVA_VERSION="21.0.1"\n')
    monkeypatch.setattr(archives, "find_java", lambda: program)
    other = found()
    assert other.folder != made.folder
    release.write_text('JAVA_VERSION="21.0.2" \n')
    assert found().folder != other.folder


def test_it_depends_on_spark_and_the_class_path(cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import pyspark

    jar = tmp_path / "spark" / "jars" / "one.jar"
    jar.parent.mkdir(parents=True)
    jar.write_bytes(b"one")
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))
    seen = [found().folder]
    jar.write_bytes(b"other")
    seen.append(found().folder)
    os.utime(jar, (1, 1))
    seen.append(found().folder)
    (jar.parent / "two.jar").touch()
    seen.append(found().folder)
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    seen.append(found().folder)
    monkeypatch.setattr(pyspark.version, "__version__", "9.9.9")
    seen.append(found().folder)
    assert len(set(seen)) == len(seen)


def test_a_home_without_jars_has_none(cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    assert archive() is None


def test_only_those_used_last_are_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for number in range(5):
        monkeypatch.setenv("JDK_JAVA_OPTIONS", f"-Dnumber={number}")
        made.append(found())
        assert make(made[-1], TRAINING)
        os.utime(made[-1].record, (time.time() - 100 + number, time.time() - 100 + number))
    assert [one.folder.is_dir() for one in made] == [False, False, True, True, True]
    assert started_with(made[2])[0] is not None  # the use counts, not when it was made
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "-Dnumber=5")
    assert make(found(), TRAINING)
    assert [one.folder.is_dir() for one in made] == [False, False, True, False, True]


def test_what_a_killed_process_left_goes_with_the_day(made: Archive) -> None:
    young, old = made.folder.parent / "new-young", made.folder.parent / "new-old"
    for folder in (young, old):
        folder.mkdir()
    os.utime(old, (1, 1))
    assert make(made, TRAINING, again=True)
    assert [folder.is_dir() for folder in (young, old, made.folder)] == [True, False, True]


def test_processes_that_make_it_at_the_same_time_do_no_harm(cache: Path) -> None:
    here = found()
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: make(here, TRAINING, again=True), range(8)))
    assert True in results
    assert here.fault() is None
    assert [entry.name for entry in here.folder.parent.iterdir()] == [here.folder.name]


def test_nothing_is_left_where_making_fails(cache: Path) -> None:
    here = found()
    with pytest.raises(SubstraitError, match="not made: Spark did not start: no room"):
        make(here, FAILING)
    with pytest.raises(SubstraitError, match="without a message"):
        make(here, SILENT)
    assert list(here.folder.parent.iterdir()) == []


def test_a_good_one_survives_a_failure_to_make_it_again(made: Archive) -> None:
    with pytest.raises(SubstraitError):
        make(made, FAILING, again=True)
    assert started_with(made)[0] is not None


def test_a_cache_folder_that_cannot_be_written(cache: Path) -> None:
    cache.write_text("a file in its place")
    here = found()
    assert started_with(here) == (None, [])
    with pytest.raises(SubstraitError, match="XDG_CACHE_HOME"):
        make(here, TRAINING)
    make_at_exit(here, TRAINING)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        (SWITCH, "0"),
        ("JAVA_TOOL_OPTIONS", "-XX:SharedArchiveFile=/mine.jsa"),
        ("JDK_JAVA_OPTIONS", "-Xmx1g -Xshare:off"),
        ("_JAVA_OPTIONS", "-XX:AOTCache=mine.aot"),
        ("PYSPARK_SUBMIT_ARGS", "--driver-java-options -XX:ArchiveClassesAtExit=mine.jsa pyspark-shell"),
    ],
)
def test_it_can_be_turned_off(cache: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    monkeypatch.setenv(variable, value)
    assert archive() is None
    told = CliRunner().invoke(main, ["warmup"])
    assert told.exit_code == 1
    assert "turned off" in told.output


def test_sessions_of_others_never_get_it(made: Archive) -> None:
    assert session_start._archive("local[2]", {}) == made
    assert session_start._archive("spark://host:7077", {}) is None
    assert session_start._archive("local[2]", {"spark.driver.extraJavaOptions": "-Xss1m"}) is None
    assert session_start._archive("local[2]", {"spark.driver.extraClassPath": "mine.jar"}) is None


class Launching:
    """Stands for pyspark's ``launch_gateway``: fails as often as told, and prints what Java would."""

    def __init__(self, failures: int = 0, said: str = "") -> None:
        self.failures, self.said = failures, said
        self.options: list[str] = []

    def __call__(self, conf: Any, kwargs: Any) -> Any:
        from pyspark.errors import PySparkRuntimeError

        self.options.append(dict(conf)["spark.driver.extraJavaOptions"])
        kwargs["stdout"].write(self.said.encode())
        kwargs["stdout"].flush()
        if len(self.options) <= self.failures:
            raise PySparkRuntimeError("Java gateway process exited before sending its port number.")
        return SimpleNamespace(number=len(self.options))


def launched(launching: Launching, made: Archive, monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[str]:
    """What is warned of when a session starts."""
    monkeypatch.setattr("pyspark.java_gateway.launch_gateway", launching)
    monkeypatch.setattr(session_start, "_conf", lambda settings: settings)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", SubstraitWarning)
        session_start._launched({"spark.driver.extraJavaOptions": "-Xss16m"}, made, folder / "java.log")
    return [str(warning.message) for warning in told if warning.category is SubstraitWarning]


def test_java_gets_it_beside_our_own_options(made: Archive, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    launching = Launching()
    assert launched(launching, made, monkeypatch, tmp_path) == []
    assert launching.options == [f"-Xss16m {java_option(made)}"]


def test_a_java_that_dies_of_it_is_started_without(
    made: Archive, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    launching = Launching(failures=1)
    [told] = launched(launching, made, monkeypatch, tmp_path)
    assert "Java did not start with it" in told
    assert launching.options[1] == "-Xss16m"


def test_a_java_that_never_starts_says_so_itself(
    made: Archive, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from pyspark.errors import PySparkRuntimeError

    with pytest.raises(PySparkRuntimeError):
        launched(Launching(failures=2), made, monkeypatch, tmp_path)


def test_a_java_that_refuses_it_is_quoted(made: Archive, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    said = "[0.465s][warning][cds,dynamic] Unable to use shared archive. The top archive failed to load: a.jsa\n"
    [told] = launched(Launching(said=said), made, monkeypatch, tmp_path)
    assert "Java's message: Unable to use shared archive. The top archive failed to load: a.jsa" in told


def test_other_words_of_java_are_no_refusal(tmp_path: Path) -> None:
    log = tmp_path / "java.log"
    assert refusal(log) is None
    log.write_text("WARNING: Using incubator modules: jdk.incubator.vector\n")
    assert refusal(log) is None


def test_an_archive_that_is_used_for_classes_but_not_for_modules_is_no_refusal(tmp_path: Path) -> None:
    log = tmp_path / "java.log"
    log.write_text(
        "[0.024s][error][cds] An error has occurred while processing the shared archive file. Run with -Xlog:aot,cds\n"
        "[0.024s][error][cds] Mismatched values for property jdk.module.addopens: java.base/java.lang=ALL-UNNAMED "
        "specified during runtime but not during dump time\n"
        "[0.024s][error][cds] Disabling optimized module handling\n"
    )
    assert refusal(log) is None
    with log.open("a") as lines:
        lines.write(
            "[0.1s][warning][cds,dynamic] Unable to use shared archive. The top archive failed to load: a.jsa\n"
        )
    assert refusal(log) == "Unable to use shared archive. The top archive failed to load: a.jsa"


def test_the_path_may_hold_spaces_and_quotes(cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / 'a "b" c'))
    here = found()
    assert make(here, TRAINING)
    option, _ = started_with(here)
    assert option is not None
    assert option.startswith('"-XX:SharedArchiveFile=')
    assert 'a \\"b\\" c' in option


def test_the_path_may_not_hold_what_java_splits_at(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", f"{cache}:there")
    assert archive() is None


@pytest.fixture
def at_exit(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What is to be called when the process ends."""
    calls: list[tuple[Any, ...]] = []
    monkeypatch.setattr("atexit.register", lambda *call: calls.append(call))
    return calls


def test_the_first_command_lets_it_be_made_once_a_day(cache: Path, at_exit: list[tuple[Any, ...]]) -> None:
    here = found()
    for _ in range(3):
        make_at_exit(here, TRAINING)
    assert len(at_exit) == 1
    os.utime(here.attempt, (1, 1))
    make_at_exit(here, TRAINING)
    assert len(at_exit) == 2
    assert make(here, TRAINING)
    assert not here.attempt.exists()
    make_at_exit(here, TRAINING)
    assert len(at_exit) == 2


def test_it_is_not_made_by_itself_in_ci(
    cache: Path, at_exit: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    make_at_exit(found(), TRAINING)
    assert at_exit == []
    assert not cache.exists()


def test_what_makes_it_in_the_background_holds_no_output(
    cache: Path, at_exit: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_at_exit(found(), TRAINING)
    begun: dict[str, Any] = {}
    monkeypatch.setattr("subprocess.Popen", lambda command, **how: begun.update(how, command=command))
    [(call, *arguments)] = at_exit
    call(*arguments)
    assert begun["command"] == TRAINING
    assert begun["start_new_session"]
    assert {begun[name] for name in ("stdin", "stdout", "stderr")} == {subprocess.DEVNULL}


def test_the_command_says_where_it_is(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = importlib.import_module("pyspark_substrait.cli.warmup")  # the package has the command of that name
    monkeypatch.setattr(command, "_TRAINING", TRAINING)
    here = found()
    for arguments, word in (([], "made"), ([], "exists already"), (["--again"], "made")):
        told = CliRunner().invoke(main, ["warmup", *arguments])
        assert (told.exit_code, told.output) == (0, f"{word}: {here.file} (0 MB)\n")
    monkeypatch.setattr(command, "_TRAINING", FAILING)
    told = CliRunner().invoke(main, ["warmup", "--again"])
    assert told.exit_code == 1
    assert "error: the class-data archive was not made" in told.output


@pytest.mark.skipif("TEST_REMOTE" in os.environ, reason="it is about a classic session")
def test_a_run_goes_on_without_a_damaged_one(made: Archive, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from pyspark_substrait.builder import read

    table, plan = tmp_path / "t.parquet", tmp_path / "plan.pb"
    pq.write_table(pa.table({"a": pa.array([3, 1, 2], pa.int64())}), table)
    read("t", {"a": "i64?"}).sort("a").to_plan("a").save(plan)
    damage(made, "written to")
    command = [sys.executable, "-m", "pyspark_substrait", "run", str(plan), "--table", f"t={table}"]
    done = subprocess.run(
        [*command, "--master", "local[1]", "--format", "json"],
        capture_output=True,
        text=True,
        env={**os.environ, "CI": "true"},
    )
    assert done.returncode == 0, done.stderr
    assert [json.loads(line) for line in done.stdout.splitlines()] == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert [line for line in done.stderr.splitlines() if line.startswith("note: Spark starts without")]

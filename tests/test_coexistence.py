"""Environments with other packages of Substrait: this one installs beside them, and all import, in every order."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import pytest

from tests.environments import built_wheel, new_environment, run

pytestmark = pytest.mark.sweep(sample=0)

OURS = ("pyspark_substrait.proto.messages", "pyarrow.substrait")
#: tests of what messages and extension files concern
TESTS = ("tests/proto", "tests/extensions", "tests/model", "tests/lossless", "tests/sql/test_dialect.py")


@dataclass(frozen=True)
class Environment:
    """What is installed beside this package, the modules of it to import, and a program that makes a plan with it."""

    packages: Sequence[str]
    modules: Sequence[str]
    program: str


ENVIRONMENTS = {
    "alone": Environment(
        ["protobuf==5.29.5"],  # the oldest that is taken
        [],
        """
from pyspark_substrait.builder import read
theirs = read("orders", {"id": "i64"}).to_plan().to_message()
""",
    ),
    "substrait": Environment(
        ["substrait[extensions]==0.37.1"],
        ["substrait.builders.plan"],
        """
from substrait.builders.plan import read_named_table
from substrait.builders.type import i64, named_struct, struct
schema = named_struct(["id"], struct([i64(nullable=False)], nullable=False))
theirs = read_named_table("orders", schema)(None)
""",
    ),
    # ibis-substrait imports `substrait.gen`, which later releases of substrait don't have; protobuf is the newest here
    "ibis-substrait": Environment(
        ["ibis-substrait==4.0.1", "substrait==0.24.2"],
        ["ibis_substrait.compiler.core"],
        """
import ibis
from ibis_substrait.compiler.core import SubstraitCompiler
orders = ibis.table([("id", "int64"), ("price", "float64")], name="orders")
theirs = SubstraitCompiler().compile(orders.group_by("id").aggregate(total=orders.price.sum()))
""",
    ),
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module", params=ENVIRONMENTS)
def environment(
    request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Path, Environment]]:
    """The Python of an environment into which all was installed in one go, and what is in it."""
    described = ENVIRONMENTS[request.param]
    folder = tmp_path_factory.mktemp("environment")
    python = new_environment(folder)
    tools = ("jsonschema", "hypothesis", "pytest")
    run(python, "-m", "pip", "install", "--quiet", wheel, "pyarrow", *described.packages, *tools)
    yield python, described
    shutil.rmtree(folder)  # each has a Spark of its own


def test_nothing_conflicts(environment: tuple[Path, Environment]) -> None:
    python, _ = environment
    run(python, "-m", "pip", "check")


def test_all_import_in_every_order(environment: tuple[Path, Environment]) -> None:
    python, described = environment
    for order in permutations((*OURS, *described.modules)):
        run(python, "-c", "\n".join(f"import {module}" for module in order))


def test_messages_of_others_are_taken_and_ours_are_read(environment: tuple[Path, Environment]) -> None:
    python, described = environment
    use = """
import pyspark_substrait as ps
ours = ps.load(theirs)
assert ours.to_bytes() == ps.load(theirs.SerializeToString()).to_bytes()
assert ps.load(type(theirs).FromString(ours.to_bytes())).to_bytes() == ours.to_bytes()
print(ps.to_sql(ours))
"""
    assert "orders" in run(python, "-c", described.program + use)


def test_tests_pass_that_need_no_spark(environment: tuple[Path, Environment]) -> None:
    python, _ = environment
    without = ["--ignore=tests/extensions/test_type_syntax.py", "--ignore=tests/extensions/test_user_extensions.py"]
    run(python, "-m", "pytest", "-p", "no:cacheprovider", *TESTS, *without)

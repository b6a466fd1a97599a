"""The specification's function test cases and ours, run on Spark: all must pass but the listed conflicts.

``python -m tests.conformance`` (``make conformance``) prints the same as a table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyspark_substrait.conformance.case_files import read_cases
from pyspark_substrait.conformance.conflicts import CONFLICTS, conflict
from pyspark_substrait.conformance.function_cases import Case
from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.sql.spark_version import NEWEST
from tests.conformance.running import Way, is_failure, is_refused_here, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PARTS = 10


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    """All cases; one that can't be read is an error."""
    found = []
    for case in read_cases():
        assert isinstance(case, Case), f"cannot be read: {case}"
        found.append(case)
    return found


@pytest.mark.sweep(sample=0.02)
@pytest.mark.parametrize("way", list(Way))
@pytest.mark.parametrize("part", range(_PARTS))
def test_all_cases_pass_but_the_conflicts(spark: SparkSession, cases: list[Case], part: int, way: Way) -> None:
    # a part has some cases of every function; the first one has all those that belong to a conflict
    right = [case for case in cases if conflict(case) is None][part::_PARTS]
    cases = right if part else [*right, *(case for case in cases if conflict(case) is not None)]
    if way is Way.COLUMNS:
        cases = [case for case in cases if case.rows is None]
    outcomes = run(spark, cases, way)
    faults = [outcome for outcome in outcomes if outcome.fault is not None]
    version = session_version(spark)
    wrong = [f"{item.case.file}: {item.case.text}: {item.fault}" for item in faults if is_failure(item, version)]
    refused = sum(is_refused_here(item, version) for item in faults)
    dropped = sorted({text for outcome in outcomes for text in outcome.dropped})
    constants = sorted({f"{item.case.function}{list(item.constants)}" for item in outcomes if item.constants})
    conflicts = len(faults) - len(wrong) - refused
    print(
        f"\n{len(outcomes)} cases, {len(outcomes) - len(faults)} passed, {conflicts} conflicts, {refused} refused here"
    )
    print(f"options that no implementation declares, left out: {', '.join(dropped)}")
    print(f"arguments that stayed literals: {', '.join(constants) or 'none'}")
    assert not wrong, "\n".join(wrong)
    # a conflict that has gone must go from the list
    if version == NEWEST:
        assert {conflict(item.case) for item in faults} == set(CONFLICTS) & {conflict(case) for case in cases}

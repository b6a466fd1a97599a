"""The function cases of the specification, and ours, through each dialect: passed or refused, never wrong."""

from __future__ import annotations

import pytest

from pyspark_substrait.conformance.case_files import read_cases
from pyspark_substrait.conformance.function_cases import Case
from tests.dialects.engines import Engine
from tests.dialects.function_cases import outcomes

_PARTS = 10


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    """All cases."""
    return [case for case in read_cases() if isinstance(case, Case)]


@pytest.mark.sweep
@pytest.mark.parametrize("columns", [False, True], ids=["literals", "columns"])
@pytest.mark.parametrize("part", range(_PARTS))
def test_no_case_is_wrong(engine: Engine, cases: list[Case], part: int, columns: bool) -> None:
    found = list(outcomes(engine, cases[part::_PARTS], columns=columns))
    wrong = [f"{item.case.file}: {item.case.text}: {item.fault}" for item in found if item.fault]
    assert wrong == []
    assert sum(not (item.refused or item.fails) for item in found) > 20

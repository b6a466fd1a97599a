"""DataFusion's plans of random queries: the same rows on Spark, and back in DataFusion, or a note says why not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.peers import plan_outcomes
from tests.peers.random_sql import query

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

datafusion = pytest.importorskip("datafusion")

_BATCH = 20


@pytest.mark.sweep
@pytest.mark.parametrize("optimized", [pytest.param(False, id="logical"), pytest.param(True, id="optimized")])
@pytest.mark.parametrize("batch", range(15))
def test_no_rows_differ_without_a_note(batch: int, optimized: bool, spark: SparkSession) -> None:
    engine = plan_outcomes.context()
    queries = [query(seed) for seed in range(batch * _BATCH, (batch + 1) * _BATCH)]
    outcomes = [plan_outcomes.outcomes(text, engine, spark, optimized=optimized) for text in queries]
    there, back = [one for one, _ in outcomes], [one for _, one in outcomes if one is not None]
    wrong = [f"{one.outcome}: {one.query}\n    {one.why}" for one in (*there, *back) if one.outcome == "differs"]
    assert not wrong, "\n".join(wrong)
    written = [one for one in there if one.outcome not in ("refused by DataFusion", "not written")]
    for outcomes_of, least in ((written, 0.9), (back, 0.9)):
        ran = [one for one in outcomes_of if one.outcome in ("agrees", "noted")]
        assert len(ran) >= least * len(outcomes_of), [f"{one.outcome}: {one.why}" for one in outcomes_of]


def test_what_is_compared() -> None:
    """A query has the same text for everybody, and a difference in one cell is found."""
    assert [query(seed) for seed in range(50)] == [query(seed) for seed in range(50)]
    assert len({query(seed) for seed in range(200)}) > 150
    engine = plan_outcomes.context()
    agreed, back = plan_outcomes.outcomes("SELECT t.id, t.f FROM t", engine, None, optimized=False)
    assert agreed.outcome == "agrees" and back is not None and back.outcome == "agrees"
    refused, none = plan_outcomes.outcomes("SELECT nothing FROM t", engine, None, optimized=False)
    assert refused.outcome == "refused by DataFusion" and none is None
    # DataFusion makes an anti join of it, which isn't null-aware any more when it is read again
    lost, again = plan_outcomes.outcomes(
        "SELECT t.id FROM t WHERE t.g NOT IN (SELECT u.g FROM u)", engine, None, optimized=True
    )
    assert again is not None and again.outcome == "noted" and "datafusion-anti-join" in lost.notes

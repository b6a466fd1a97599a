"""How much clients may ask: requests at once of all and of one user, the size of results, and who is next."""

from __future__ import annotations

import random
import re
import threading
from collections import Counter
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyarrow import flight

import pyspark_substrait
from pyspark_substrait.builder import values
from pyspark_substrait.cli.serve import serve
from pyspark_substrait.server.limits import ServerLimits
from pyspark_substrait.server.refusals import Cancelled, Unavailable
from pyspark_substrait.server.turns import Turns
from tests.conftest import ROOT
from tests.server.clients import RawClient, command, field
from tests.server.test_protocol import SLOW, fetched, jobs, plan_command, query, until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# turns ----------------------------------------------------------------------------------------------------------------


class Queue:
    """Requests that wait in threads, and the order in which they ran."""

    def __init__(self, **limits: Any) -> None:
        self.turns = Turns(ServerLimits(**limits))
        self.order: list[str] = []
        self.refused: list[str] = []

    def start(self, user: str) -> threading.Thread:
        """Start a request that waits, runs and ends; return when it is in the queue."""
        before = (self.turns.waiting, len(self.order), len(self.refused))

        def run() -> None:
            try:
                self.turns.enter(user, lambda: None)
            except Unavailable:
                self.refused.append(user)
                return
            self.order.append(user)
            self.turns.leave(user)

        thread = threading.Thread(target=run)
        thread.start()
        until(lambda: (self.turns.waiting, len(self.order), len(self.refused)) != before)
        return thread


def test_users_take_turns() -> None:
    queue = Queue(requests=1)
    queue.turns.enter("ana", lambda: None)
    threads = [queue.start(user) for user in ("ana", "ana", "ana", "bob", "cem")]
    assert (queue.turns.running, queue.turns.waiting) == (1, 5)
    queue.turns.leave("ana")
    for thread in threads:
        thread.join()
    assert queue.order == ["ana", "bob", "cem", "ana", "ana"]
    assert (queue.turns.running, queue.turns.waiting) == (0, 0)


def test_a_user_at_his_limit_holds_up_nobody() -> None:
    queue = Queue(requests=2, user_requests=1)
    queue.turns.enter("ana", lambda: None)
    waits = queue.start("ana")
    queue.turns.enter("bob", lambda: None)
    queue.turns.leave("bob")
    assert (queue.order, queue.turns.waiting) == ([], 1)
    queue.turns.leave("ana")
    waits.join()
    assert queue.order == ["ana"]


def test_the_user_with_most_is_refused_first() -> None:
    queue = Queue(requests=1, waiting=3)
    queue.turns.enter("ana", lambda: None)
    threads = [queue.start(user) for user in ("ana", "ana", "ana")]
    threads.append(queue.start("bob"))
    until(lambda: queue.refused == ["ana"])
    threads.append(queue.start("ana"))  # two of hers wait, and one of his
    until(lambda: queue.refused == ["ana", "ana"])
    queue.turns.leave("ana")
    for thread in threads:
        thread.join()
    assert Counter(queue.order) == {"ana": 2, "bob": 1}


def test_turns_are_neither_lost_nor_made() -> None:
    """Many requests, of which some give up while they wait: never more run than may, and in the end none."""
    turns = Turns(ServerLimits(requests=3, user_requests=2, waiting=6))
    running: Counter[str] = Counter()
    lock = threading.Lock()
    wrong: list[Any] = []

    def work(seed: int) -> None:
        dice = random.Random(seed)
        for _ in range(60):
            user = dice.choice("abc")
            left = dice.randrange(3)

            def look(left: list[int] = [left]) -> None:  # noqa: B006
                if not left[0]:
                    raise Cancelled("")
                left[0] -= 1

            try:
                turns.enter(user, look)
            except (Cancelled, Unavailable):
                continue
            with lock:
                running[user] += 1
                if running.total() > 3 or running[user] > 2:
                    wrong.append(dict(running))
            threading.Event().wait(dice.random() / 500)
            with lock:
                running[user] -= 1
            turns.leave(user)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (wrong, turns.running, turns.waiting) == ([], 0, 0)


# the server -----------------------------------------------------------------------------------------------------------


def test_requests_of_one_user(classic: SparkSession) -> None:
    tokens = {"ana": "a-token", "bob": "b-token"}
    with pyspark_substrait.serve(classic, tokens=tokens, allow_sql=True, user_requests=1, waiting=0) as server:
        ana, bob = RawClient(server.uri, "a-token"), RawClient(server.uri, "b-token")
        reader = threading.Thread(target=fetched, args=(ana, ana.info(query(SLOW)), []))
        reader.start()
        until(lambda: jobs(classic) > 0)
        with pytest.raises(flight.FlightUnavailableError, match=r"1 requests of this user run, .*\(--user-requests"):
            ana.info(query("SELECT 1"))
        assert bob.info(query("SELECT 1 AS a")).schema.names == ["a"]  # its rows would wait for a core
        server.stop()
        reader.join()


@pytest.mark.parametrize(
    ("limits", "fits", "message"),
    [
        ({"result_rows": 1000}, 1000, r"more than 1,000 rows, .*\(--result-rows, result_rows=1000\); ask for less"),
        ({"result_bytes": 100_000}, 10_000, r"more than 100,000 bytes, .*\(--result-bytes, result_bytes=100000\)"),
    ],
)
def test_a_result_that_is_too_large_is_an_error(
    limits: dict[str, Any], fits: int, message: str, classic: SparkSession
) -> None:
    with pyspark_substrait.serve(classic, allow_sql=True, **limits) as server:
        client = RawClient(server.uri, server.token)
        assert client.table(query(f"SELECT id FROM range({fits})")).num_rows == fits
        for text in (f"SELECT id FROM range({fits + 5000})", "SELECT id FROM range(0, 1000000000, 1, 4000)"):
            rows = 0
            with pytest.raises(pa.ArrowInvalid, match=message):
                for chunk in client.reader(client.info(query(text))):
                    rows += chunk.data.num_rows
            assert rows <= 13_000  # 100,000 bytes of numbers
        until(lambda: jobs(classic) == 0)


def test_answers_about_the_server_have_any_size(spark: SparkSession) -> None:
    with pyspark_substrait.serve(spark, result_rows=1, result_bytes=1) as server:
        assert RawClient(server.uri, server.token).table(command("CommandGetTableTypes")).num_rows > 1


def test_a_statement_that_changed_something_says_so(classic: SparkSession) -> None:
    records = values([(1,), (2,), (3,)], {"a": "i64?"})
    plan = records.write("limited", "create table as", output="modified records").to_plan().to_bytes()
    with pyspark_substrait.serve(classic, allow_sql=True, allow_writes=True, result_rows=2) as server:
        client = RawClient(server.uri, server.token)
        errors: list[Exception] = []
        fetched(client, client.info(plan_command(plan)), errors)
        assert "more than 2 rows" in str(errors[0]) and "what the statement changes is changed" in str(errors[0])
        assert client.table(query("SELECT count(*) AS n FROM limited")).to_pylist() == [{"n": 3}]
        client.put(command("CommandStatementUpdate", field(1, "DROP TABLE limited")))


# what is given --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"requests": 0}, "the limit requests is 0, and must be 1 or more"),
        ({"user_requests": -1}, "the limit user_requests is -1, and must be 1 or more"),
        ({"waiting": -1}, "the limit waiting is -1, and must be 0 or more"),
        ({"seconds": 0}, "the limit seconds is 0, and must be more than 0"),
        ({"message_bytes": None}, "the limit message_bytes is None"),
    ],
)
def test_limits_that_make_no_sense(given: dict[str, Any], message: str) -> None:
    with pytest.raises(pyspark_substrait.SubstraitError, match=message):
        pyspark_substrait.serve(None, **given)


OPTIONS = {spelling: option for option in serve.params for spelling in option.opts}


def test_the_options_are_the_limits() -> None:
    by_name = {option.name: option for option in OPTIONS.values()}
    for limit in fields(ServerLimits):
        assert by_name[limit.name].default == limit.default


def test_the_page_has_every_option() -> None:
    """But those that many commands have."""
    page = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
    others = {"--functions", "--progress"}
    assert [option for option in OPTIONS if option not in others and not re.search(rf"`{option}\b", page)] == []


def test_the_examples_name_options_that_exist() -> None:
    folder = ROOT / "examples" / "serve"
    container = (folder / "Containerfile").read_text(encoding="utf-8").partition("\nCMD ")[2]
    unit = (folder / "pyspark-substrait.service").read_text(encoding="utf-8")
    unit = unit.partition("\nExecStart=")[2].partition("\n#")[0]
    for text in (container, unit):
        named = set(re.findall(r"--[a-z][a-z-]+", text))
        assert {"--password-file", "--metrics-port"} <= named <= OPTIONS.keys()

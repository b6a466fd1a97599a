"""The collector of reference cycles, which is paused while a large plan is read, and goes on whatever happens."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest

import pyspark_substrait as substrait
from pyspark_substrait.model import collector
from pyspark_substrait.model.collector import paused_collection

LARGE = b"x" * 100_000


@pytest.fixture
def enabled() -> Iterator[None]:
    was = gc.isenabled()
    gc.enable()
    yield
    (gc.enable if was else gc.disable)()


@pytest.mark.usefixtures("enabled")
def test_it_is_paused_for_large_messages() -> None:
    with paused_collection(LARGE[:1_000]):
        assert gc.isenabled()
    for content in (LARGE, None):
        with paused_collection(content):
            assert not gc.isenabled()
        assert gc.isenabled()


@pytest.mark.usefixtures("enabled")
def test_it_goes_on_after_an_error() -> None:
    with pytest.raises(ValueError, match="bad"), paused_collection(LARGE):
        raise ValueError("bad")
    assert gc.isenabled()


@pytest.mark.usefixtures("enabled")
def test_one_that_was_off_stays_off() -> None:
    gc.disable()
    with paused_collection(LARGE):
        pass
    assert not gc.isenabled()


@pytest.mark.usefixtures("enabled")
def test_it_goes_on_when_the_last_thread_has_ended() -> None:
    started, may_end = threading.Event(), threading.Event()

    def long() -> None:
        with paused_collection(LARGE):
            started.set()
            may_end.wait(10)

    thread = threading.Thread(target=long)
    thread.start()
    assert started.wait(10)
    with paused_collection(LARGE):
        assert not gc.isenabled()
    assert not gc.isenabled()
    may_end.set()
    thread.join()
    assert gc.isenabled()


@pytest.mark.usefixtures("enabled")
def test_loading_and_checking_a_large_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """No cycle is left behind by them, which would stay until the collector runs."""
    monkeypatch.setattr(collector, "_LARGE", 1)
    content = substrait.samples.plan_2023().read_bytes()
    substrait.validate(content, "spark")
    gc.collect()
    substrait.validate(content, "spark")
    substrait.load(content)
    assert gc.isenabled()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        left = [item for item in gc.garbage if type(item).__module__.startswith("pyspark_substrait")]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    assert not left

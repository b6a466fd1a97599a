"""The producer needs a classic session: its tests stand aside where the run is one of Spark Connect."""

from __future__ import annotations

import os

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("TEST_REMOTE"):
        for item in items:
            if "/spark/producer/" in item.nodeid.replace(os.sep, "/"):
                item.add_marker(pytest.mark.skip(reason="plans are made in classic sessions only"))

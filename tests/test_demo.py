"""``make demo``: the tutorial's plan, run as a newcomer runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.sweep

DEMO = Path(__file__).resolve().parent.parent / "examples" / "demo" / "demo.py"


def test_the_demo_gives_the_tutorials_rows() -> None:
    """Sales outside the category of computers; by hand from the tables beside the demo."""
    done = subprocess.run([sys.executable, DEMO], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    for name, sales in (("Oak Desk", "1665.90"), ("Trail Bicycle", "1487.50"), ("Reading Lamp", "199.50")):
        assert any(name in line and sales in line for line in done.stdout.splitlines())

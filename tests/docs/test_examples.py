"""The commands and programs on the pages of the documentation print what stands below them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.examples import PAGES, ROOT, blocks, with_outputs

pytestmark = pytest.mark.sweep


def test_pages_show_what_is_printed() -> None:
    pytest.importorskip("datafusion")
    assert all((ROOT / name).is_file() for name in PAGES)
    command = [sys.executable, "-m", "tests.docs.examples", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, f"make it anew: python -m tests.docs.examples\n{done.stderr}"


def test_a_block_gets_what_it_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = '```json title="x.json"\n{}\n```\n\n```console\n$ echo one \\\n    two\nold\n```\n\n'
    page += "```python\nprint(open('x.json').read(), end='')\n```\n\n```text\nold\n```\n\n```text\nkept\n```\n"
    assert with_outputs(page) == page.replace("old\n", "one\ntwo\n", 1).replace("old\n", "{}\n", 1)
    assert blocks(page) == 3

"""Findings in every sample and in plans with many faults, beside golden pages that were looked through."""

from __future__ import annotations

from tests.validation.goldens import PAGES, pages


def test_pages() -> None:
    for name, text in pages().items():
        assert text == (PAGES / name).read_text(encoding="utf-8"), f"{name}; tests.validation.goldens writes it anew"

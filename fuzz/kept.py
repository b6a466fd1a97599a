"""Findings as files in ``build/fuzz``: the plan as text, and a page of what was seen."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pyspark_substrait as ps
from fuzz.bytes import Finding
from fuzz.trials import Outcome
from pyspark_substrait.documents import Plan
from pyspark_substrait.errors import SubstraitError

__all__ = ["FOLDER", "keep_finding", "keep_plan", "keep_query"]

FOLDER = Path("build/fuzz")
"""Where the files are, from the top of the repository."""


def keep_plan(seed: int, outcome: Outcome, plan: Plan, original: Plan, folder: Path = FOLDER) -> Path:
    """Write a plan that failed, and the one that it was made of; return the path of its text."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"plan-{seed}-{outcome.trial.replace(' ', '-').replace('--', '')}"
    path = folder / f"{name}.substrait"
    plan.save(path, format="text")
    original.save(folder / f"{name}.original.substrait", format="text")
    try:
        statement = ps.to_sql(plan)
    except SubstraitError as error:
        statement = str(error)
    seen = f"seed {seed}, {outcome.trial}: {outcome.outcome}\n{outcome.why}\n\n{ps.explain(plan)}\n\n{statement}\n"
    (folder / f"{name}.txt").write_text(seen, encoding="utf-8")
    return path


def keep_query(seed: int, outcome: Outcome, text: str, folder: Path = FOLDER) -> Path:
    """Write a query that failed, and what was seen; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"query-{seed}-{'-'.join(re.findall('[A-Za-z]+', outcome.trial))}.sql"
    seen = f"seed {seed}, {outcome.trial}: {outcome.outcome}; {outcome.why}".replace("\n", " ")
    path.write_text(f"-- {seen}\n{text}\n", encoding="utf-8")
    return path


def keep_finding(found: Finding, folder: Path = FOLDER) -> Path:
    """Write an input that ended in something that it may not end in; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(found.content).hexdigest()[:8]
    suffix = {"JSON": "json", "JSON text": "json", "text": "substrait"}.get(found.how, "pb")
    path = folder / f"bytes-{found.seed}-{digest}.{suffix}"
    path.write_bytes(found.content)
    origin = f"seed {found.seed} ({found.how} of {found.original})"
    seen = f"{origin}, {found.verb}: {found.kind} at {found.place}\n{found.text}\n"
    path.with_suffix(".txt").write_text(seen, encoding="utf-8")
    return path

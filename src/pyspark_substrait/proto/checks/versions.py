"""The version that a plan states. Spec: ``Version`` and ``Plan.version`` in plan.proto, spec/versioning."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pyspark_substrait.codes import Code, Level
from pyspark_substrait.model.findings import Finding
from pyspark_substrait.model.notes import Note
from pyspark_substrait.model.plan import CURRENT_VERSION, Version

__all__ = ["findings"]

_HASH = re.compile(r"[0-9a-f]{40}")
_STATE = "State the release that the producer writes, in version"


def findings(stated: Version | None, upgrades: Sequence[Note]) -> Iterator[Finding]:
    """Yield the findings about the version.

    Args:
        stated: the version that the plan states; None when it states none.
        upgrades: what was rewritten: forms of earlier releases show that the plan is an old one.
    """
    if stated is None:
        yield _missing(old=bool(upgrades))
        return
    numbers = (stated.major_number, stated.minor_number, stated.patch_number)
    current = ".".join(map(str, CURRENT_VERSION))
    if not any(numbers):
        level = Level.WARNING if upgrades else Level.ERROR
        yield Finding.of(
            Code.VERSIONING, "version", "the version is 0.0.0, which is not a release", level=level, fix=_STATE
        )
    elif numbers > CURRENT_VERSION:
        what = f"the plan was written for {stated}, which is later than {current}, the release that is checked against"
        fix = "Use a newer release of this package; what this release does not know may have another meaning"
        yield Finding.of(Code.VERSIONING, "version", what, fix=fix)
    elif numbers[:2] < CURRENT_VERSION[:2] and not upgrades:
        what = f"the plan was written for {stated} and is read as one of {current}; nothing in it had to be changed"
        yield Finding.of(Code.VERSIONING, "version", what, level=Level.INFO)
    elif numbers[:2] < CURRENT_VERSION[:2]:
        what = f"the plan was written for {stated} and was upgraded to {current}"
        yield Finding.of(Code.VERSIONING, "version", what, level=Level.INFO)
    if stated.git_hash:
        yield from _git_hash(stated.git_hash)
    if not stated.producer:
        what = "the plan does not state its producer"
        why = "Consumers may need to work around faults of certain producers"
        fix = "Name the producer, in version.producer"
        yield Finding.of(Code.VERSIONING, "version.producer", what, level=Level.INFO, why=why, fix=fix)


def _missing(*, old: bool) -> Finding:
    why = "The version is optional up to 0.17.0 and required since"
    if old:
        what = "the version is missing, and the plan has forms of earlier releases"
        return Finding.of(Code.PROTO_MISSING_FIELD, "version", what, level=Level.WARNING, why=why, fix=_STATE)
    return Finding.of(Code.PROTO_MISSING_FIELD, "version", "the version is missing", why=why, fix=_STATE)


def _git_hash(text: str) -> Iterator[Finding]:
    path = "version.git_hash"
    if not _HASH.fullmatch(text):
        why = "A git hash is 40 hexadecimal digits in lower case"
        yield Finding.of(
            Code.ILLEGAL_VALUE, path, f"the git hash {text!r} is none", why=why, fix="Correct it, or leave it out"
        )
    what = "the plan was written for a state between releases, which may differ from the specification"
    yield Finding.of(Code.VERSIONING, path, what)

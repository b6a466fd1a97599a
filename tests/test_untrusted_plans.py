"""The threat model of docs/untrusted-plans.md: each line has a test. Those of no other file are here."""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pytest
from google.protobuf.descriptor import FieldDescriptor

import pyspark_substrait as ps
from fuzz.wire import varint
from pyspark_substrait.builder import read, read_files
from pyspark_substrait.errors import PlanFormatError, SubstraitError, UnsupportedPlanError
from pyspark_substrait.proto.messages import current
from tests.hostile_inputs import READING, SHOWING, faults

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "untrusted-plans.md").read_text(encoding="utf-8")
PLAN: Any = current().named("Plan").DESCRIPTOR


# the page -------------------------------------------------------------------------------------------------------------


def threats() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield each line of the threat model with the tests that it names."""
    model = PAGE.partition("## Threat model\n")[2].partition("\n## ")[0]
    for line in model.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and len(cells) == 4 and cells[0] != "who sends what":
            yield line, re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", cells[3])


def test_each_line_of_the_threat_model_names_tests_that_exist() -> None:
    lines = list(threats())
    assert len(lines) > 20
    for line, tests in lines:
        assert tests, line
        for file, name in tests:
            text = (ROOT / file).read_text(encoding="utf-8")
            assert not name or re.search(rf"^def {name}\(", text, re.MULTILINE), (file, name)


# messages in each other -----------------------------------------------------------------------------------------------


def _nested(message: Any) -> list[Any]:
    return [field for field in message.fields if field.message_type is not None]


def _way(start: Any, goal: Any) -> tuple[FieldDescriptor, ...] | None:
    """The fewest fields that lead from a message to another one inside it; none if it is the same."""
    if start.full_name == goal.full_name:
        return ()
    seen = {start.full_name}
    pending: deque[tuple[Any, tuple[FieldDescriptor, ...]]] = deque([(start, ())])
    while pending:
        message, path = pending.popleft()
        for field in _nested(message):
            inner = field.message_type
            if inner.full_name == goal.full_name:
                return (*path, field)
            if inner.full_name not in seen:
                seen.add(inner.full_name)
                pending.append((inner, (*path, field)))
    return None


@cache
def cycles() -> dict[str, tuple[tuple[FieldDescriptor, ...], tuple[FieldDescriptor, ...]]]:
    """The fields of messages that lead back to their message: the way to it from a plan, and around."""
    found: dict[str, tuple[tuple[FieldDescriptor, ...], tuple[FieldDescriptor, ...]]] = {}
    pending, seen = [PLAN], set()
    while pending:
        message = pending.pop()
        if message.full_name in seen:
            continue
        seen.add(message.full_name)
        for field in _nested(message):
            pending.append(field.message_type)
            back, there = _way(field.message_type, message), _way(PLAN, message)
            if back is not None and there is not None:
                found[field.full_name] = (there, (field, *back))
    return found


def nested_deep(name: str, depth: int) -> bytes:
    """A plan with a message in itself, by a field, until it is as many messages deep."""
    there, around = cycles()[name]
    fields = [*there, *around * (depth // len(around))]
    headers, size = [], 0
    for field in reversed(fields):
        headers.append(varint(field.number << 3 | 2) + varint(size))
        size += len(headers[-1])
    return b"".join(reversed(headers))


VERBS = [name for name in (*SHOWING, *READING) if name not in ("view", "lineage", "diff")]


@pytest.mark.sweep
def test_every_message_that_may_be_in_itself_may_be_so_often() -> None:
    """The fields are found in the descriptors: a new message of the specification is tried, too."""
    assert len(cycles()) > 190
    for number, name in enumerate(cycles()):
        verbs = ("load", VERBS[number % len(VERBS)])
        found = [(name, verb, f"{error!r}"[:200]) for verb, error in faults(nested_deep(name, 400), verbs)]
        assert found == []


@pytest.mark.sweep
def test_no_message_may_be_in_itself_without_end() -> None:
    for name in list(cycles())[::40]:
        with pytest.raises(PlanFormatError, match="nested more than 30,000 messages deep"):
            ps.load(nested_deep(name, 40_000))


# what looking at a plan does ------------------------------------------------------------------------------------------

HOSTILE_PLACES = (
    "/etc/hostile.parquet",
    "../../hostile.parquet",
    "file:///etc/hostile.parquet",
    "file://somewhere.example/hostile.parquet",
    "http://127.0.0.1:9/hostile.yaml",
    "https://somewhere.example/hostile.yaml",
    "s3://bucket/hostile.parquet",
    "hdfs://somewhere.example/hostile",
    "jar:file:///etc/hostile.jar!/x",
    "/etc/*hostile*",
    "\\\\somewhere.example\\hostile",
)

_events: list[str] | None = None


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if _events is None:
        return
    reaching = event.startswith(
        ("socket.", "urllib.", "http.", "subprocess.", "os.system", "os.exec", "os.posix_spawn")
    )
    if reaching or (event in ("open", "os.listdir", "os.scandir", "glob.glob") and "hostile" in str(arguments[0])):
        _events.append(f"{event} {arguments!r:.100}")


@contextmanager
def audited() -> Iterator[list[str]]:
    """Collect what the body does that reaches out of the process: connections, programs, files of hostile names."""
    global _events
    if not hasattr(audited, "installed"):
        sys.addaudithook(_audit)  # for the rest of the process
        audited.installed = True  # type: ignore[attr-defined]
    found: list[str] = []
    _events = found
    try:
        yield found
    finally:
        _events = None


def naming(place: str) -> dict[str, Any]:
    """A plan that names a place wherever one may stand: files, metadata of a table, an exchange, extensions, types."""
    schema = {"names": ["x"], "struct": {"types": [{"i32": {"nullability": "NULLABILITY_NULLABLE"}}]}}
    files = [{kind: place, "parquet": {}} for kind in ("uriFile", "uriFolder", "uriPath", "uriPathGlob")]
    reads: list[dict[str, Any]] = [
        {"localFiles": {"items": files}},
        {"icebergTable": {"direct": {"metadataUri": place}}},
        {"namedTable": {"names": [place]}},
        {"namedTable": {"names": ["parquet", place]}},
    ]
    return {
        "version": {"minorNumber": 108, "producer": place, "gitHash": ""},
        "extensionUrns": [{"extensionUrnAnchor": 1, "urn": place}],
        "extensions": [
            {"extensionFunction": {"extensionUrnReference": 1, "functionAnchor": 1, "name": "f:i32"}},
            {"extensionType": {"extensionUrnReference": 1, "typeAnchor": 1, "name": "t"}},
        ],
        "expectedTypeUrls": [place],
        "relations": [{"root": {"names": ["x"], "input": {"read": {"baseSchema": schema, **kind}}}} for kind in reads],
    }


def test_looking_at_a_plan_opens_no_file_that_it_names_and_connects_nowhere() -> None:
    """Addresses of extensions are names: nothing is fetched."""
    for verb in (SHOWING | READING).values():
        with suppress(SubstraitError):
            verb(ps.samples.plan())  # what is imported and read once
    with audited() as events:
        for place in HOSTILE_PLACES:
            for verb in (SHOWING | READING).values():
                with suppress(SubstraitError):
                    verb(naming(place))
    assert events == []


def test_the_audit_sees_what_it_is_for(tmp_path: Path) -> None:
    import socket

    (tmp_path / "hostile").write_text("")
    with audited() as events:
        (tmp_path / "hostile").read_text()
        (tmp_path / "other").write_text("")
        with socket.socket() as made, suppress(OSError):
            made.connect(("127.0.0.1", 9))
    assert [event.split()[0] for event in events] == ["open", "socket.__new__", "socket.connect"]


@pytest.mark.parametrize("dependency", HOSTILE_PLACES)
def test_extension_files_fetch_nothing(dependency: str) -> None:
    quoted = dependency.replace("'", "''")
    text = f"urn: extension:a:b\ndependencies:\n  x: '{quoted}'\nscalar_functions:\n- name: f\n  impls: []\n"
    with audited() as events, suppress(SubstraitError):
        ps.Registry.default().with_yaml(text)
    assert events == []


def test_huge_extension_files_are_refused() -> None:
    with pytest.raises(SubstraitError) as caught:
        ps.Registry.default().with_yaml("urn: extension:a:b\n" + "# x\n" * 1_200_000)
    assert "4,000,000" in str(caught.value)


# other engines --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["acero", "datafusion", "duckdb"])
def test_a_comparison_reads_no_files_that_the_plan_names(engine: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.arrow"
    feather.write_feather(pa.table({"x": pa.array([42], pa.int64())}), secret, "uncompressed")
    plan = read_files([secret.as_uri()], {"x": "i64?"}, "arrow").to_plan()
    with pytest.raises(UnsupportedPlanError, match="names files"):
        ps.compare(plan, [engine], tables={})
    changing = read("t", {"x": "i64"}).insert_into("u").to_plan()
    with pytest.raises(UnsupportedPlanError, match="a comparison changes nothing"):
        ps.compare(changing, [engine], tables={"t": pa.table({"x": [1]})})

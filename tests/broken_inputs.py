"""Files that are no plans, each with what an error about it names."""

from __future__ import annotations

import base64
import bz2
import gzip
import json
import lzma
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.orc as orc
import pyarrow.parquet as pq

from pyspark_substrait.documents import as_document
from tests.samples import PLANS

__all__ = ["BROKEN_INPUTS", "broken_input"]

PLAN = as_document(
    PLANS["dynamic_parameters"] if "dynamic_parameters" in PLANS else next(iter(PLANS.values())), deep=False
)
BINARY, JSON = PLAN.to_bytes(), PLAN.to_json()
TABLE = pa.table({"a": [1, 2]})


def _parquet(path: Path) -> None:
    pq.write_table(TABLE, path)


def _feather(path: Path) -> None:
    feather.write_feather(TABLE, path)


def _orc(path: Path) -> None:
    orc.write_table(TABLE, path)


def _stream(path: Path) -> None:
    with pa.ipc.new_stream(path, TABLE.schema) as writer:
        writer.write_table(TABLE)


def _zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("plan.json", JSON)


def _tar(path: Path) -> None:
    path.write_bytes(b"plan.json".ljust(257, b"\0") + b"ustar\0" + b"00" + bytes(300))


def _folder(path: Path) -> None:
    path.mkdir()


#: name of the file, what makes it (a text, bytes, or a function), and what the error about it says
BROKEN_INPUTS: Mapping[str, tuple[str | bytes | Callable[[Path], None], str]] = {
    "data.parquet": (_parquet, "a Parquet file"),
    "data.feather": (_feather, "an Arrow IPC (Feather) file"),
    "data.arrows": (_stream, "an Arrow IPC stream"),
    "data.orc": (_orc, "an ORC file"),
    "plan.pb.gz": (gzip.compress(BINARY), "gzip-compressed data"),
    "plan.pb.zst": (pa.compress(BINARY, "zstd", asbytes=True), "zstd-compressed data"),
    "plan.pb.bz2": (bz2.compress(BINARY), "bzip2-compressed data"),
    "plan.pb.xz": (lzma.compress(BINARY), "xz-compressed data"),
    "plan.zip": (_zip, "a zip archive"),
    "plan.tar": (_tar, "a tar archive"),
    "marked.json": (JSON.encode("utf-16"), "text in UTF-16"),
    "wide.json": (JSON.encode("utf-16-le"), "text in UTF-16"),
    "big-endian.json": (JSON.encode("utf-16-be"), "text in UTF-16"),
    "latin.json": (b'{"relations": [], "\xe9": 1}', "not UTF-8, at byte 19"),
    "query.sql": ("SELECT a FROM t WHERE b > 3\n", "SQL text"),
    "commented.sql": ("-- the first\n/* and\n the second */ WITH x AS (SELECT 1) SELECT * FROM x\n", "SQL text"),
    "made.sql": ("create or replace temporary view v as select 1", "SQL text"),
    "page.html": ("<!DOCTYPE html>\n<html><body>404</body></html>", "an HTML page"),
    "data.xml": ('<?xml version="1.0"?><a/>', "XML"),
    "functions.yaml": (
        "%YAML 1.2\n---\nurn: extension:a:b\nscalar_functions:\n  - name: f\n    impls: []\n",
        "a YAML extension file",
    ),
    "dialect.yaml": ("name: mine\nsupported_relations: []\n", "a YAML dialect file"),
    "plan.textproto": ("version {\n  minor_number: 85\n}\n", "a message in protobuf's text format"),
    "explained.txt": ("Plan (0.85.0)\nRoot[a: i64]\n", "the output of explain"),
    "plan.base64": (base64.b64encode(BINARY), "base64 text"),
    "plan.hex": (BINARY.hex(), "hexadecimal digits"),
    "table.csv": ("a,b\n1,2\n", "text that begins with 'a,b'"),
    "folder": (_folder, "a directory"),
    "empty.json": (b"", "the plan is empty"),
    "blank.json": ("  \n", "white space"),
    "cut.pb": (BINARY[: len(BINARY) - 1], "cut off at byte"),
    "damaged.pb": (BINARY[:-40] + b"\xff" * 40, "damaged at byte"),
    "cut.json": (JSON[: len(JSON) // 2], "ends too early"),
    "lines.json": (json.dumps({"relations": []}) + "\n" + json.dumps({"relations": []}), "goes on after its end"),
    "list.json": ("[1, 2]", "a list, not an object"),
    "picture.png": (b"\x89PNG\r\n\x1a\n" + bytes(range(200)), "a PNG picture"),
    "zeros.bin": (bytes(100), "neither a protobuf message of a plan nor JSON text"),
}


def broken_input(name: str, folder: Path) -> Path:
    """Make one of the files in a folder, and return its path."""
    path, made = folder / name, BROKEN_INPUTS[name][0]
    if isinstance(made, str):
        path.write_text(made)
    elif isinstance(made, bytes):
        path.write_bytes(made)
    else:
        made(path)
    return path

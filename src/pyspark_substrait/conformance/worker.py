"""The process of an engine in Python: ``python -m pyspark_substrait.conformance.worker ENGINE``.

It answers requests on standard input until that ends, in messages (``frames``). A request is the plan, ``1`` for a plan
that may be converted or ``0``, and the name and the Arrow stream of each table in turn. A reply is ``rows`` and an
Arrow stream, or the kind of a failure and its text. The first message is ``ready`` and the engine's release, or
``refused`` and why it does not start.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Final

import pyarrow as pa

from pyspark_substrait.conformance.adapters import ADAPTERS, Adapter
from pyspark_substrait.conformance.frames import MOST_BYTES, arrow_bytes, read_blocks, table_of, write_blocks
from pyspark_substrait.errors import ExecutionError, SubstraitError

__all__ = ["answer"]

_MOST_CHARACTERS: Final = 400
#: the class of the exceptions that panics of Rust become
_PANIC: Final = "PanicException"


def answer(start: Callable[[], Adapter]) -> None:
    """Start an engine, and answer the requests on standard input until it ends.

    Args:
        start: makes the engine's adapter. Anything that it or the engine prints goes to standard error.
    """
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        adapter = start()
        write_blocks(replies, [b"ready", adapter.version.encode()])
    except Exception as error:
        write_blocks(replies, [b"refused", _text(error).encode()])
        return
    while True:
        try:
            plan, convert, *tables = read_blocks(sys.stdin.buffer)
        except EOFError:
            return
        named = {name.decode(): table_of(content) for name, content in zip(tables[::2], tables[1::2], strict=True)}
        write_blocks(replies, _reply(adapter, plan, named, convert == b"1"))


def _reply(adapter: Adapter, plan: bytes, tables: dict[str, pa.Table], convert: bool) -> list[bytes]:
    loaded: Callable[[], pa.Table] | None = None
    try:
        loaded = adapter.load(plan, tables, convert=convert)
        content = arrow_bytes(loaded())
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic is no Exception
        refused = loaded is None or (isinstance(error, SubstraitError) and not isinstance(error, ExecutionError))
        kind = "crash" if type(error).__name__ == _PANIC else "refused" if refused else "error"
        return [kind.encode(), _text(error).encode()]
    if len(content) > MOST_BYTES:
        return [b"garbage", f"a result of {len(content):,} bytes".encode()]
    return [b"rows", content]


def _text(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return (text if isinstance(error, SubstraitError) else f"{type(error).__name__}: {text}")[:_MOST_CHARACTERS]


if __name__ == "__main__":
    answer(ADAPTERS[sys.argv[1]])

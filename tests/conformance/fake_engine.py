"""An engine for tests: ``python fake_engine.py ANSWER`` reads a plan and answers in one of several ways."""

from __future__ import annotations

import os
import signal
import struct
import sys
import time

import pyarrow as pa


def _write(table: pa.Table) -> None:
    with pa.ipc.new_stream(sys.stdout.buffer, table.schema) as stream:
        stream.write_table(table)


def _message(*blocks: bytes) -> bytes:
    return struct.pack("<I", len(blocks)) + b"".join(struct.pack("<Q", len(block)) + block for block in blocks)


def _block() -> bytes:
    return sys.stdin.buffer.read(struct.unpack("<Q", sys.stdin.buffer.read(8))[0])


def _many(right: pa.Table) -> None:
    """Answer messages: rows to the first plan, a refusal to others, and a crash to those that may be converted."""
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, right.schema) as writer:
        writer.write_table(right)
    replies = [_message(b"rows", stream.getvalue().to_pybytes())]
    sys.stdout.buffer.write(_message(b"ready", b"1.0"))
    sys.stdout.buffer.flush()
    while head := sys.stdin.buffer.read(4):
        assert struct.unpack("<I", head) == (2,), "the plan, and whether it may be converted"
        _, convert = _block(), _block()
        if convert == b"1":
            os.kill(os.getpid(), signal.SIGSEGV)
        sys.stdout.buffer.write(replies.pop() if replies else _message(b"refused", b"a filter? never heard of it"))
        sys.stdout.buffer.flush()


def main(answer: str) -> None:
    """Answer in a way: the rows of the case ``filter:comparison-with-nulls``, or what is wrong with them."""
    right = pa.table({"x": [2, 4], "name": ["b", "d"], "flag": [False, True]})
    if answer == "many":
        _many(right)
        return
    if answer == "another message":
        sys.stdout.buffer.write(_message(b"hello", b"1.0"))
        return
    if answer == "words":
        print("loading tables", flush=True)
    plan = sys.stdin.buffer.read()
    assert plan, "there is no plan"
    if answer == "right":
        _write(right)
    elif answer == "in another order":
        _write(right.take([1, 0]))
    elif answer == "wrong rows":
        _write(right.slice(1))
    elif answer == "wrong type":
        _write(right.set_column(0, "x", right["x"].cast(pa.int32())))
    elif answer == "wrong name":
        _write(right.rename_columns(["y", "name", "flag"]))
    elif answer == "too few columns":
        _write(right.select(["x"]))
    elif answer == "null":
        _write(pa.table({"x": [2, 4], "name": pa.array(["b", None], pa.string()), "flag": [False, True]}))
    elif answer == "garbage":
        sys.stdout.write("no Arrow\n")
    elif answer in ("nothing", "words"):
        pass
    elif answer == "endless":
        while True:
            sys.stdout.buffer.write(b"x" * (1 << 20))
    elif answer == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif answer == "hang":
        time.sleep(600)
    elif answer == "refusal":
        print("a filter? never heard of it", file=sys.stderr)
        sys.exit(2)
    elif answer == "error":
        print("division by zero", file=sys.stderr)
        sys.exit(1)
    else:
        raise AssertionError(answer)


if __name__ == "__main__":
    main(sys.argv[1])

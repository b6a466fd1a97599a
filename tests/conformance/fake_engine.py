"""An engine for tests: ``python fake_engine.py ANSWER`` reads a plan and answers in one of several ways."""

from __future__ import annotations

import os
import signal
import sys
import time

import pyarrow as pa


def _write(table: pa.Table) -> None:
    with pa.ipc.new_stream(sys.stdout.buffer, table.schema) as stream:
        stream.write_table(table)


def main(answer: str) -> None:
    """Answer in a way: the rows of the case ``filter:comparison-with-nulls``, or what is wrong with them."""
    plan = sys.stdin.buffer.read()
    assert plan, "there is no plan"
    right = pa.table({"x": [2, 4], "name": ["b", "d"], "flag": [False, True]})
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
    elif answer == "nothing":
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

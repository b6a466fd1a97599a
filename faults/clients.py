"""Kill a client of a Java process that goes on: what it was carrying out for the client is finished while others write.

The client is a copy of this process (a fork), which needs no start of its own. Its Java process is also that of the
next writer, which begins at once, or a second later.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faults.conditions import Bench
    from faults.subjects import Write

__all__ = ["killed_client"]


def killed_client(bench: Bench) -> None:
    """Kill a client at a random moment of a write."""
    subject, write = bench.choose()
    before = bench.states[subject.name]
    after = write.after(before)
    began, says = os.pipe()
    child = os.fork()
    if child == 0:
        _write(write, says)
    os.close(says)
    os.read(began, 1)  # it begins
    os.close(began)
    started = time.monotonic()
    end = started + bench.moment(write.kind)
    ended = False
    while time.monotonic() < end and not ended:
        time.sleep(0.002)
        ended = os.waitpid(child, os.WNOHANG) != (0, 0)
    if ended:
        bench.seconds[write.kind] = time.monotonic() - started
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    wait = bench.chance.choice((0.0, 1.0))
    time.sleep(wait)
    group = f"a client is killed, the next writes {'at once' if not wait else 'a second later'}"
    bench.forget(subject)
    bench.settle(group, subject, write, {"new": after} if ended else {"old": before, "new": after})


def _write(write: Write, says: int) -> None:
    """Write in a new thread of a copied process, which has connections to Java of its own; then end."""
    gc.disable()  # what the original still needs isn't released

    def run() -> None:
        os.write(says, b".")
        status = 1
        try:
            write.run()
            status = 0
        finally:
            os._exit(status)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    os._exit(1)

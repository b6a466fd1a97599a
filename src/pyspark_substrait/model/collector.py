"""Python's collector of reference cycles, paused while a large plan is read.

A plan in memory is a tree without cycles, of which the collector finds nothing to collect. But it looks through all of
it again whenever the number of objects has grown by a quarter, so that reading a plan of twice the size would take more
than twice the time.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

__all__ = ["paused_collection"]

#: the bytes of a message from which on it is large
_LARGE: Final = 64 * 1024

_lock = threading.Lock()
_pauses = 0
_was_enabled = False


@contextmanager
def paused_collection(content: bytes | None) -> Iterator[None]:
    """Pause the collector in the body, for all threads, and let it go on afterwards if it was running.

    Args:
        content: the message that the body reads: nothing is done for one of less than 64 KiB. None for one that is
            nested too deep to be written.
    """
    global _pauses, _was_enabled
    if content is not None and len(content) < _LARGE:
        yield
        return
    with _lock:
        if _pauses == 0:
            _was_enabled = gc.isenabled()
            gc.disable()
        _pauses += 1
    try:
        yield
    finally:
        with _lock:
            _pauses -= 1
            if _pauses == 0 and _was_enabled:
                gc.enable()

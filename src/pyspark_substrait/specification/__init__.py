"""The specification as data: its messages (``messages.binpb``, a ``FileDescriptorSet``) and its extension files.

``hatch_build.py`` puts the files here when the package is built, or installed from a tree.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["MESSAGES", "folder"]

MESSAGES: Final = "messages.binpb"


@cache
def folder() -> Path:
    """Return the folder of the files.

    Raises:
        ImportError: they aren't there.
    """
    found = Path(__file__).parent
    if not (found / MESSAGES).is_file():
        raise ImportError(
            f"the files of the specification aren't in {found}, because this tree was never installed; "
            "run `pip install -e .` or `python hatch_build.py`"
        )
    return found

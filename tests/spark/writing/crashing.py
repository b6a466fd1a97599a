"""Changes a folder again and again, each time killed one step later, and says what is there after each crash.

Run as a program of its own, which starts no threads and so can be forked: ``python crashing.py FOLDER KIND``. A line of
JSON for each crash says what the folder held, and what stood beside it after the next change.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from pyspark_substrait.spark.writing import folders

_STEPS = ("open", "os.", "shutil.", "ctypes.")


def change(folder: Path, text: str, *, keep: bool) -> None:
    """A change as a write makes it: two files, one of them in a partition, appear in the place of or beside the old."""
    with folders.changing(folder) as version:
        (version.written / "p=1").mkdir(parents=True)
        (version.written / f"part-{text}").write_text(text)
        (version.written / "p=1" / f"part-{text}").write_text(text)
        if keep:
            version.keep()
        version.add()
        version.take_effect()


def crash(folder: Path, text: str, step: int, *, keep: bool) -> bool:
    """Whether a change is killed before it comes to this step; otherwise it is done."""
    child = os.fork()
    if child == 0:
        left = step

        def count(event: str, _: object) -> None:
            nonlocal left
            if event.startswith(_STEPS) and event != "os.kill":
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        change(folder, text, keep=keep)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def content(folder: Path) -> dict[str, str]:
    return {str(file.relative_to(folder)): file.read_text() for file in folders.data_files(folder)}


def main(folder: Path, keep: bool) -> None:
    folder.mkdir()
    for name in ("part-0", "part-1"):
        (folder / name).write_text(name)
    step = 0
    while True:
        before = content(folder)
        killed = crash(folder, f"{step}a", step, keep=keep)
        after = content(folder)
        change(folder, f"{step}b", keep=False)
        beside = sorted(set(os.listdir(folder.parent)) - {folder.name})
        print(json.dumps({"killed": killed, "before": before, "after": after, "beside": beside}))
        if not killed:
            return
        step += 1


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] == "keep")

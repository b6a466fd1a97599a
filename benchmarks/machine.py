"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from importlib.metadata import version
from pathlib import Path

__all__ = ["cores", "described"]


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def described() -> str:
    """The machine in a line: processor, cores, memory, system, and the versions that matter."""
    packages = ("pyspark", "pyarrow", "protobuf", "datafusion")
    parts = [
        f"{_processor()}, {cores()} cores",
        *_memory(),
        f"{platform.system()} {platform.release().partition('-')[0]}",
        f"Python {platform.python_version()}",
        *_java(),
        *(f"{package} {version(package)}" for package in packages),
    ]
    return ", ".join(parts)


def _processor() -> str:
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return re.sub(r"\s+", " ", found[1]).strip() if found else platform.processor() or platform.machine()


def _memory() -> list[str]:
    try:
        pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return []
    return [f"{pages * size / 2**30:.0f} GiB"]


def _java() -> list[str]:
    from pyspark_substrait.spark.java import find_java

    said = subprocess.run([find_java(), "-version"], capture_output=True, text=True, check=True).stderr
    found = re.search(r'version "([^"]+)"', said)
    return [f"Java {found[1]}"] if found else []

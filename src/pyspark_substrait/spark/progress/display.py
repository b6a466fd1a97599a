"""Displays of a run's progress: a bar on a terminal or in a notebook, or lines elsewhere."""

from __future__ import annotations

import sys
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

from pyspark_substrait.spark.progress.jobs import JobProgress

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Display", "InLines", "InNotebook", "OnTerminal", "notebook", "progress_text"]


_SEPARATOR = " · "


class Display(Protocol):
    """Shows the progress of a run. All methods are called from one thread."""

    def show(self, standing: JobProgress, seconds: float) -> None:
        """Show the progress after ``seconds`` seconds."""

    def clear(self) -> None:
        """Remove the display after the run."""


def progress_text(standing: JobProgress, room: int | None = None) -> str:
    """Return the progress of a run as text; empty while nothing is known.

    Args:
        standing: the progress.
        room: the most characters; the last parts are left out if they don't fit.
    """
    if not standing.tasks:
        return ""
    parts = [f"{standing.done:,}/{standing.tasks:,} tasks"]
    if standing.active:
        parts.append(f"{standing.active:,} running")
    if standing.failed:
        parts.append(f"{standing.failed:,} failed")
    parts.append(f"{standing.stages_done:,}/{standing.stages:,} stages")
    if standing.rows:
        parts.append(f"{standing.rows:,} row{'' if standing.rows == 1 else 's'} read")
    elif standing.bytes:
        parts.append(f"{_size(standing.bytes)} read")
    while room is not None and parts and len(_SEPARATOR.join(parts)) > room:
        del parts[-1]
    return _SEPARATOR.join(parts)


def _size(bytes: float) -> str:
    """Format an amount of data, in the units that Spark uses."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if bytes < 1024:
            return f"{bytes:.0f} {unit}" if unit == "B" else f"{bytes:.1f} {unit}"
        bytes /= 1024
    return f"{bytes:,.1f} TiB"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"


#: the spaces that rich puts between the four columns of a bar, and one for the cursor
_SPACES = 4


class OnTerminal:
    """A bar in the last line of a terminal."""

    def __init__(self, what: str, console: Console) -> None:
        from rich.progress import BarColumn, Progress, TextColumn

        bar = min(40, max(5, console.width // 5))
        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=bar),
            TextColumn("{task.fields[clock]}", style="progress.elapsed"),
            TextColumn("{task.fields[text]}"),
        )
        self._room = console.width - bar - len(what)
        self._progress = Progress(*columns, console=console, transient=True, auto_refresh=False, redirect_stdout=False)
        self._bar = self._progress.add_task(what, total=None, text="", clock=_clock(0))

    def show(self, standing: JobProgress, seconds: float) -> None:
        if not self._progress.live.is_started:
            self._progress.start()
        self._progress.update(
            self._bar,
            completed=standing.done,
            total=standing.tasks or None,
            text=progress_text(standing, self._room - len(_clock(seconds)) - _SPACES),
            clock=_clock(seconds),
            refresh=True,
        )

    def clear(self) -> None:
        self._progress.stop()


class InNotebook:
    """A bar below the notebook cell, updated in place."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._handle: Any = None

    def show(self, standing: JobProgress, seconds: float) -> None:
        from IPython.display import display

        value = f'max="{standing.tasks}" value="{standing.done}"' if standing.tasks else ""
        text = _SEPARATOR.join(part for part in (self._what, _clock(seconds), progress_text(standing)) if part)
        content = {
            "text/html": f'<div style="display: flex; gap: 0.6em; align-items: center; font-size: 0.9em">'
            f"<progress {value}></progress><span>{escape(text)}</span></div>",
            "text/plain": text,
        }
        if self._handle is None:
            self._handle = display(content, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(content, raw=True)

    def clear(self) -> None:
        if self._handle is not None:
            self._handle.update({"text/html": "", "text/plain": ""}, raw=True)


class InLines:
    """Lines at intervals, for a log."""

    _SECONDS = 10.0

    def __init__(self, what: str) -> None:
        self._what = what
        self._next = 0.0
        self._last = ""

    def show(self, standing: JobProgress, seconds: float) -> None:
        text = progress_text(standing)
        if seconds < self._next or text == self._last:
            return
        print(
            _SEPARATOR.join(part for part in (self._what, _clock(seconds), text) if part), file=sys.stderr, flush=True
        )
        self._next, self._last = seconds + self._SECONDS, text

    def clear(self) -> None:
        """Do nothing: lines stay."""


def notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return getattr(shell, "kernel", None) is not None

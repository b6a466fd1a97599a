"""The command that lists and stops the sessions that commands keep for the next ones."""

from __future__ import annotations

import time

import click

from pyspark_substrait.cli.files import console, counted
from pyspark_substrait.cli.output import print_text

__all__ = ["sessions"]


@click.command(short_help="List or stop the Spark sessions kept for the next commands.")
@click.option("--stop", is_flag=True, help="Stop them all.")
def sessions(stop: bool) -> None:
    """List the local Spark sessions that `run`, `evaluate` and `plan` have kept, or stop them.

    A command that starts Spark on this machine keeps it for ten minutes. The next one that is called in the same
    folder, with the same Spark, settings and environment, gets a new session in it and needs no start. The variable
    PYSPARK_SUBSTRAIT_KEEP sets the seconds. Nothing is kept if it is 0, with --no-keep, or if the variable CI is set.

    \b
    Examples:
      pyspark-substrait sessions
      pyspark-substrait sessions --stop
    """
    from pyspark_substrait.spark.kept_session import kept_sessions, stop_kept_sessions

    if stop:
        print_text(f"{counted(stop_kept_sessions(), 'session')} stopped")
        return
    found = kept_sessions().values()
    if not found:
        print_text("no session is kept")
        return
    from rich.table import Table

    table = Table("Java process", "Spark", "master", "folder", "uses", "kept for", "ends", box=None)
    for each in found:
        left = each["seconds left"]
        table.add_row(
            str(each["java"]),
            each["spark"],
            each["master"],
            each["folder"],
            str(each["uses"]),
            _minutes(time.time() - each["since"]),
            "busy" if left is None else f"in {_minutes(left)}",
        )
    console().print(table)


def _minutes(seconds: float) -> str:
    """Return a duration for people."""
    whole = max(round(seconds), 0)
    return f"{whole} s" if whole < 120 else f"{whole // 60} min"

"""The command that makes Spark start faster."""

from __future__ import annotations

import os
import sys

import click

from pyspark_substrait.cli.output import print_text
from pyspark_substrait.errors import SubstraitError

__all__ = ["warmup"]

_TRAINING = (sys.executable, "-m", "pyspark_substrait.cli.training")
"""The command of the training run in a process of its own; the path of the archive to make is appended."""


@click.command(short_help="Make Spark start faster on this machine.")
@click.option("--again", is_flag=True, help="Make the archive again, even if a valid one exists.")
@click.option("--background", is_flag=True, hidden=True, help="Run at the lowest priority.")
def warmup(again: bool, background: bool) -> None:
    """Make the class-data archive, with which Spark starts on this machine in about half the time.

    The archive is a file in the user's cache folder, for one version of Java and Spark; sessions that this package
    starts use it. The first command that starts Spark also makes it, in the background after the command has ended,
    unless the variable CI is set. PYSPARK_SUBSTRAIT_ARCHIVE=0 turns this off.

    \b
    Examples:
      pyspark-substrait warmup
      pyspark-substrait warmup --again
    """
    from pyspark_substrait.spark.archive import archive, make
    from pyspark_substrait.spark.progress import waiting

    if background and hasattr(os, "nice"):
        os.nice(10)
    found = archive()
    if found is None:
        raise SubstraitError(
            "class-data archives are turned off here",
            hint="The variable PYSPARK_SUBSTRAIT_ARCHIVE or options of Java may do that; Windows does not support them",
        )
    with waiting("Making the archive", None):
        made = make(found, _TRAINING, again=again)
    size = found.file.stat().st_size / 1e6
    print_text(f"{'made' if made else 'exists already'}: {found.file} ({size:.0f} MB)")

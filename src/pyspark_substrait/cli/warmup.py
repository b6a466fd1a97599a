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
@click.option("--again", is_flag=True, help="Make the archive anew, even if there is a good one.")
@click.option("--background", is_flag=True, hidden=True, help="Run at the lowest priority.")
def warmup(again: bool, background: bool) -> None:
    """Make the class-data archive, with which Spark starts on this machine in about half the time.

    It is a file in the user's cache folder, for one Java and one Spark; a session that this package starts itself finds
    it there. The first command that starts Spark makes it too, afterwards and in the background, but not where the
    variable CI is set. PYSPARK_SUBSTRAIT_ARCHIVE=0 turns it off.

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
    print_text(f"{'made' if made else 'there already'}: {found.file} ({size:.0f} MB)")

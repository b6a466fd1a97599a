"""The command that writes the sample files."""

from __future__ import annotations

from pathlib import Path

import click

from pyspark_substrait.cli.output import print_text

__all__ = ["samples"]


@click.command(short_help="Write sample tables and plans to a folder.")
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
def samples(folder: Path) -> None:
    """Write sample files to the folder DIR: two small tables, plans over them, and an extended expression.

    Files with the same names that are something else are left alone, and nothing is written.

    \b
    Examples:
      pyspark-substrait samples .
      pyspark-substrait samples shop
    """
    from pyspark_substrait.samples import FILES, write

    paths = write(folder)
    width = max(len(str(path)) for path in paths)
    print_text("\n".join(f"{path!s:{width}}  {FILES[path.name]}" for path in paths))

"""The command that writes a plan in another form."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from pyspark_substrait.cli.files import counted, plan_source, save
from pyspark_substrait.cli.options import FUNCTIONS, PLAN, loaded_from
from pyspark_substrait.cli.output import print_text

if TYPE_CHECKING:
    from pyspark_substrait.extensions.registry import Registry

__all__ = ["convert"]


@click.command(short_help="Write a plan as JSON, text or binary.")
@click.argument("source", metavar="IN", type=PLAN)
@click.argument("target", metavar="OUT", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path))
@click.option(
    "--to", "form", type=click.Choice(["json", "pb", "text"]), help="The form of OUT; by default, its suffix decides."
)
@FUNCTIONS
def convert(source: Path, target: Path, form: Literal["json", "pb", "text"] | None, registry: Registry | None) -> None:
    """Write the plan IN to OUT, upgraded to the current release: as JSON (.json), text (.txt, .substrait) or binary.

    \b
    Examples:
      pyspark-substrait convert plan.pb plan.json
      pyspark-substrait convert plan.pb plan.substrait
      pyspark-substrait convert plan.pb - --to json
    """
    from pyspark_substrait.documents import FORMS

    loaded = loaded_from(plan_source(source), registry)
    save(loaded, target, form or FORMS.get(target.suffix.lower(), "pb"))
    if loaded.upgrades:
        print_text(f"{counted(len(loaded.upgrades), 'old form')} upgraded (upgrade --check lists them)", err=True)

"""The files of function cases: the specification's, and ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark_substrait.conformance.function_cases import Case, UnreadCase
from pyspark_substrait.errors import UnsupportedPlanError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = ["OWN", "read_cases"]

#: the folder of the cases of this package, in the names of files
OWN = "ours"


def read_cases(
    folder: Path | None = None, *, own: bool = True, is_chosen: Callable[[str], bool] | None = None
) -> Iterator[Case | UnreadCase]:
    """Yield every function case: the specification's, then ours.

    Args:
        folder: the folder of the specification's cases (``tests/cases`` in its repository); by default those of the
            package ``substrait-extensions``.
        own: whether to yield the cases of this package, too.
        is_chosen: whether the file of a name, like ``arithmetic/add``, is read; by default all are.

    Raises:
        UnsupportedPlanError: a package that has the cases or their grammar isn't installed.
        PlanFormatError: a file doesn't follow the grammar.
    """
    try:
        from pyspark_substrait.conformance.case_parser import parsed

        found = [*_texts(files("substrait_extensions") / "testcases" if folder is None else folder)]
    except ModuleNotFoundError as error:
        raise UnsupportedPlanError(
            f"the function cases need the package {(error.name or '').partition('.')[0].replace('_', '-')}",
            hint="pip install 'pyspark-substrait[conformance]'",
        ) from None
    if own:
        found += ((f"{OWN}/{name}", text) for name, text in _texts(files(__package__) / "cases" / "functions"))
    for name, text in found:
        if is_chosen is None or is_chosen(name.removesuffix(".test")):
            yield from parsed(text, name)


def _texts(folder: Traversable | Path, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each file of cases in a folder and those in it."""
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.is_dir():
            yield from _texts(item, f"{prefix}{item.name}/")
        elif item.name.endswith(".test"):
            yield f"{prefix}{item.name}", item.read_text(encoding="utf-8")

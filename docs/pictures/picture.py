"""What a picture is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

Scheme: TypeAlias = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")


@dataclass(frozen=True, slots=True)
class Picture:
    """A file in ``docs/images``.

    Args:
        name: the file's name.
        make: makes it; it gets the folder with the files of :func:`docs.pictures.plans.write_plans`, and a path.
    """

    name: str
    make: Callable[[Path, Path], None]

"""Makes the pictures of the documentation anew, in ``docs/images``: ``python -m docs.pictures [NAME ...]``.

Without names, all of them; with names, those that begin so (``terminal``, ``report-dark``). Look at what you made.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from docs.pictures import compare, growth, notebook, page, report, terminal
from docs.pictures.picture import Picture
from docs.pictures.plans import write_plans

IMAGES = Path(__file__).resolve().parents[1] / "images"
#: Each of these modules has its ``PICTURES``.
MODULES = (terminal, report, page, compare, notebook, growth)
PICTURES: tuple[Picture, ...] = tuple(picture for module in MODULES for picture in module.PICTURES)


def main(names: list[str]) -> None:
    chosen = [picture for picture in PICTURES if not names or picture.name.startswith(tuple(names))]
    if not chosen:
        sys.exit(f"there is no such picture; there are {', '.join(picture.name for picture in PICTURES)}")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_plans(folder)
        for picture in chosen:
            target = IMAGES / picture.name
            picture.make(folder, target)
            print(f"{target.name}: {target.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])

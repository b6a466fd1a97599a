"""The templates of outputs, and the escaping of texts in them."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from markupsafe import escape as escaped_markup

from pyspark_substrait.text.explain.columns import escaped

__all__ = ["markup"]

_LONGEST = 2_000
_LEFT_TO_RIGHT = re.compile(r"[\x20-\x7e\u00a0-\u036f\u2000-\u2bff]*")


def markup(template: str, **parts: Any) -> str:
    """Render a template; values that aren't ``Markup`` are escaped."""
    made: str = _environment().get_template(f"{template}.html.j2").render(parts)
    # the unpaired half of a surrogate pair, which JSON can name, can't be encoded
    return made.encode("utf-8", "replace").decode("utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("pyspark_substrait.notebooks"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["shown"] = _shown
    return environment


def _shown(text: str) -> Markup:
    """Return text with every character visible, cut to a readable length; text from right to left is isolated."""
    cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)"
    visible = escaped(cut)
    if _LEFT_TO_RIGHT.fullmatch(visible):
        return escaped_markup(visible)
    return Markup("<bdi>{}</bdi>").format(visible)
